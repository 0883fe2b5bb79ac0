/* SPDX-License-Identifier: ISC */
/* How the server is set. What is cured here by SET GLOBAL lasts until the server is started again:
 * the reasons name the variable, to be written into its configuration too. */
#include <config.h>

#include "admin/doctor/examination.h"

#include <inttypes.h>
#include <string.h>

#include "config/unit.h"
#include "store/rights.h"

/* Beside the workers' own: administrators, and the crew of a reload that is ending. */
enum { SPARE_CONNECTIONS = 10 };

/* The one row of a query at the wrapper's login; false where there is none. To be freed by
 * query_free in any case. */
static bool ask(struct examination *examination, struct query *query, const char *text)
{
	query_init(query, &examination->wrapper.connection);
	buffer_append_text(&query->text, text);
	return examination_login(examination, &examination->wrapper) &&
	       examination_ask(examination, &examination->wrapper, query) &&
	       examination_next(examination, query);
}

/* Writes on a replica part it from its primary: there the store is to name another server. */
void variables_check_read_only(struct examination *examination)
{
	struct query query;
	struct findings *findings = &examination->findings;
	bool read_only =
	    ask(examination, &query, "SELECT @@GLOBAL.read_only, @@GLOBAL.gtid_slave_pos <> ''") &&
	    query_number(&query, 0) != 0;
	if (read_only && query_number(&query, 1) != 0) {
		findings_add(findings, FINDING_FAIL,
			     "read_only is on, so nothing can be claimed, and this server is a "
			     "replica: store.host must name its primary");
		findings_cure_file(findings, examination->file, "${EDITOR:-vi}");
	} else if (read_only) {
		findings_add(findings, FINDING_FAIL, "read_only is on: nothing can be claimed");
		examination_cure_sql(examination, false, "SET GLOBAL read_only = OFF");
	}
	query_free(&query);
}

void variables_check_packet(struct examination *examination)
{
	enum { UNIT = 1024 * 1024, RESERVE = 64 * 1024 };
	const struct config_limits *limits = &examination->config->limits;
	struct login *login = &examination->wrapper;
	if (!examination_login(examination, login))
		return;
	uint64_t needed = (uint64_t)limits->max_answer + (uint64_t)limits->max_header_bytes;
	if (connection_largest(&login->connection) >= needed)
		return;
	char packet[UNIT_TEXT_SIZE], answer[UNIT_TEXT_SIZE];
	unit_format_size((int64_t)login->connection.max_packet, packet);
	unit_format_size(limits->max_answer, answer);
	findings_add(&examination->findings, FINDING_WARN,
		     "max_allowed_packet of %s is too small for an answer of %s "
		     "(limits.max_answer): one that does not fit is not kept",
		     packet, answer);
	examination_cure_sql(examination, false, "SET GLOBAL max_allowed_packet = %" PRIu64,
			     (needed + RESERVE + UNIT - 1) / UNIT * UNIT);
}

void variables_check_connections(struct examination *examination)
{
	int64_t workers = examination->config->workers;
	struct query query;
	if (!ask(examination, &query,
		 "SELECT @@GLOBAL.max_connections, @@SESSION.max_user_connections,"
		 " CURRENT_USER()")) {
		query_free(&query);
		return;
	}
	int64_t most = query_number(&query, 0), own = query_number(&query, 1);
	if (most < workers + SPARE_CONNECTIONS) {
		findings_add(&examination->findings, FINDING_WARN,
			     "max_connections of %" PRId64 " is too low for %" PRId64
			     " workers and %d others",
			     most, workers, SPARE_CONNECTIONS);
		examination_cure_sql(examination, false, "SET GLOBAL max_connections = %" PRId64,
				     workers + 2 * SPARE_CONNECTIONS);
	}
	if (own > 0 && own < workers + SPARE_CONNECTIONS) {
		struct buffer account = {0};
		rights_quote_account(&account, query_cell(&query, 2).data);
		findings_add(&examination->findings, FINDING_WARN,
			     "max_user_connections of %s is %" PRId64 ", too low for %" PRId64
			     " workers",
			     buffer_text(&account), own, workers);
		examination_cure_sql(examination, false,
				     "ALTER USER %s WITH MAX_USER_CONNECTIONS %" PRId64,
				     buffer_text(&account), workers + 2 * SPARE_CONNECTIONS);
		buffer_free(&account);
	}
	query_free(&query);
}

void variables_check_durability(struct examination *examination)
{
	struct query query;
	if (ask(examination, &query, "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit") &&
	    query_number(&query, 0) != 1 && query_number(&query, 0) != 3) {
		findings_add(&examination->findings, FINDING_WARN,
			     "innodb_flush_log_at_trx_commit is %" PRId64
			     ": after a power failure the last second's claims and answers are "
			     "gone, and their retries run again",
			     query_number(&query, 0));
		examination_cure_sql(examination, false,
				     "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
	}
	query_free(&query);
}

void variables_check_binlog(struct examination *examination)
{
	struct query query;
	if (ask(examination, &query, "SELECT @@GLOBAL.log_bin, @@GLOBAL.binlog_format") &&
	    query_number(&query, 0) != 0 && strcmp(query_cell(&query, 1).data, "STATEMENT") == 0) {
		findings_add(&examination->findings, FINDING_FAIL,
			     "binlog_format is STATEMENT: with READ COMMITTED, every write is "
			     "refused (error 1665)");
		examination_cure_sql(examination, false, "SET GLOBAL binlog_format = MIXED");
	}
	query_free(&query);
}
