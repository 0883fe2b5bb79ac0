/* SPDX-License-Identifier: ISC */
/* Does anything clear expired records away? */
#include <config.h>

#include "admin/doctor/examination.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "admin/doctor/systemd.h"
#include "store/maintenance.h"

/* A daily purge that is a day late has been missed once. */
enum { LATE = 2 * 24 * 60 * 60 };

#define TIMER     "oncewrap-expire.timer"
#define CRON_FILE "/etc/cron.d/oncewrap-expire"

/* A line that leaves the work to systemd where that runs, does nothing there. */
static bool file_names_it(const char *path, bool systemd)
{
	char line[1024];
	bool found = false;
	struct stat status;
	FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
	if (file == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), file) != NULL)
		found = line[strspn(line, " \t")] != '#' && strstr(line, "once-expire") != NULL &&
			!(systemd && strstr(line, "/run/systemd/system") != NULL);
	fclose(file);
	return found;
}

static bool directory_names_it(const char *directory, bool systemd)
{
	char path[PATH_MAX];
	bool found = false;
	DIR *stream = opendir(directory);
	if (stream == NULL)
		return false;
	for (const struct dirent *entry; !found && (entry = readdir(stream)) != NULL;) {
		int length = snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		found = length > 0 && (size_t)length < sizeof(path) && file_names_it(path, systemd);
	}
	closedir(stream);
	return found;
}

static bool cron_names_it(bool systemd)
{
	static const char *const directories[] = {
	    "/etc/cron.d",      "/etc/cron.hourly",         "/etc/cron.daily",
	    "/etc/cron.weekly", "/var/spool/cron/crontabs", "/var/spool/cron",
	};
	bool found =
	    file_names_it("/etc/crontab", systemd) || file_names_it("/etc/anacrontab", systemd);
	for (size_t i = 0; !found && i < sizeof(directories) / sizeof(directories[0]); i++)
		found = directory_names_it(directories[i], systemd);
	return found;
}

static bool anything_runs_it(void)
{
	return systemd_is_enabled(TIMER) || cron_names_it(systemd_runs());
}

/* What is installed reads the standard configuration; of another one its user says so there. */
static void cure_by_starting(struct examination *examination)
{
	bool elsewhere = strcmp(examination->file, examination->standard_file) != 0;
	if (systemd_runs())
		findings_cure(&examination->findings, "%ssystemctl enable --now " TIMER,
			      elsewhere ? "systemctl edit oncewrap-expire.service && " : "");
	else
		findings_cure(&examination->findings,
			      "install -m 0644 " DOCDIR "/deploy/oncewrap-expire.cron " CRON_FILE
			      "%s",
			      elsewhere ? " && ${EDITOR:-vi} " CRON_FILE : "");
}

/* What is known of the last purge, in seconds; -1: never. */
struct last_purge {
	int64_t started;   /* only of one that has not ended */
	int64_t succeeded; /* when the last one did that the database let do its work */
	int64_t held_for;
	char holder[128];
};

static void take_last(const struct query *query, struct last_purge *last)
{
	last->started = query_number(query, 4) != 0 ? query_number(query, 0) : -1;
	last->succeeded = query_number(query, 1);
	last->held_for = query_number(query, 2);
	snprintf(last->holder, sizeof(last->holder), "%s", query_cell(query, 3).data);
}

/* Whoever purges holds its row: without that nobody can. */
static bool read_last(struct examination *examination, struct last_purge *last)
{
	struct query query;
	query_init(&query, &examination->admin.connection);
	buffer_append_text(
	    &query.text, "SELECT COALESCE(TIMESTAMPDIFF(SECOND, started_at, UTC_TIMESTAMP(6)), -1),"
			 " COALESCE(TIMESTAMPDIFF(SECOND, succeeded_at, UTC_TIMESTAMP(6)), -1),"
			 " TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), held_until), holder,"
			 " started_at > COALESCE(finished_at, '1970-01-01')"
			 " FROM once_maintenance WHERE task = '" MAINTENANCE_PURGE "'");
	bool asked = examination_ask(examination, &examination->admin, &query);
	size_t before = examination->findings.count;
	bool found = asked && examination_next(examination, &query);
	if (found) {
		take_last(&query, last);
	} else if (asked && examination->findings.count == before) {
		findings_add(&examination->findings, FINDING_FAIL,
			     "once_maintenance has no row of the purge, so none can run");
		examination_cure_sql(examination, true,
				     "INSERT INTO once_maintenance (task) VALUES"
				     " ('" MAINTENANCE_PURGE "')");
	}
	query_free(&query);
	return found;
}

/* A holder that has died loses the task by the database's clock, and the next purge takes it. */
static void check_cut_short(struct examination *examination, const struct last_purge *last)
{
	char span[SPAN_LENGTH];
	if (last->started < 0 || last->held_for > 0)
		return;
	span_format(last->started, span);
	findings_add(&examination->findings, FINDING_WARN,
		     "the purge that %s began %s ago did not come to its end", last->holder, span);
	examination_cure_program(examination, "once-expire", "%s", "");
}

static void check_lateness(struct examination *examination, const struct last_purge *last)
{
	struct findings *findings = &examination->findings;
	bool runs = anything_runs_it();
	char span[SPAN_LENGTH], ago[3 * SPAN_LENGTH] = "no purge has ever done its work";
	if (last->succeeded >= 0 && last->succeeded < LATE)
		return;
	span_format(last->succeeded, span);
	if (last->succeeded >= 0)
		snprintf(ago, sizeof(ago), "the last purge that did its work ended %s ago", span);
	if (!runs) {
		findings_add(findings, FINDING_WARN,
			     "%s, and neither " TIMER " nor cron starts one", ago);
		cure_by_starting(examination);
	} else if (last->succeeded >= 0) {
		findings_add(findings, FINDING_WARN, "%s, although something is set up to start it",
			     ago);
		examination_cure_program(examination, "once-expire", "%s", "");
	}
}

static int64_t longest_tombstone(const struct config *config)
{
	int64_t longest = 0;
	for (size_t i = 0; i < config->route_count; i++)
		if (config->routes[i].tombstone > longest)
			longest = config->routes[i].tombstone;
	return longest / 1000;
}

/* By the index (state, expires_at ...). Unknown and released ones stay. */
static void check_backlog(struct examination *examination)
{
	enum { MOST = 100000 };
	struct query query;
	query_init(&query, &examination->admin.connection);
	buffer_printf(&query.text,
		      "SELECT COUNT(*) FROM (SELECT 1 FROM once_record"
		      " WHERE expires_at < UTC_TIMESTAMP(6) - INTERVAL ? SECOND"
		      " AND state IN ('complete', 'expired') LIMIT %d) AS late",
		      MOST);
	query_add_number(&query, LATE + longest_tombstone(examination->config));
	if (examination_ask(examination, &examination->admin, &query) &&
	    examination_next(examination, &query) && query_number(&query, 0) > 0) {
		int64_t count = query_number(&query, 0);
		findings_add(&examination->findings, FINDING_WARN,
			     "%s%" PRId64
			     " record%s expired more than two days ago and still there",
			     count == MOST ? "at least " : "", count, count == 1 ? "" : "s");
		examination_cure_program(examination, "once-expire", "%s", "");
	}
	query_free(&query);
}

void purge_check(struct examination *examination)
{
	struct last_purge last = {.started = -1, .succeeded = -1};
	if (!examination_login(examination, &examination->admin))
		return;
	if (read_last(examination, &last)) {
		check_cut_short(examination, &last);
		check_lateness(examination, &last);
		check_backlog(examination);
	}
}
