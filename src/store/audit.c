/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/audit.h"

#include "store/query.h"

static const char write_text[] =
    "INSERT INTO once_audit (done_at, record_id, token, state_before, state_after, who, host,"
    " program, reason) VALUES (UTC_TIMESTAMP(6), ?, ?, ?, ?, ?, ?, ?, ?) RETURNING entry";

static const char has_text[] =
    "SELECT COUNT(*) FROM once_audit WHERE entry = ? AND record_id = ? AND token <=> ?";

static void add_token(struct query *query, const struct audit_entry *entry)
{
	if (entry->token != NULL)
		query_add_bytes(query, entry->token, TOKEN_LENGTH);
	else
		query_add_null(query);
}

/* Run it and read the one number that it returns. */
static int run_for_number(struct query *query, uint64_t *number, int64_t deadline,
			  struct error *error)
{
	if (query_run(query, deadline, error) < 0)
		return -1;
	if (!query_next(query, error)) {
		if (error->kind == ERROR_NONE)
			error_set(error, ERROR_STORE, "once_audit: the database returned no row");
		return -1;
	}
	*number = (uint64_t)query_number(query, 0);
	return 0;
}

int audit_write(struct connection *connection, const struct audit_entry *entry,
		const struct audit_author *author, uint64_t *number, int64_t deadline,
		struct error *error)
{
	struct query query;
	query_init(&query, connection);
	buffer_append_text(&query.text, write_text);
	query_add_bytes(&query, entry->record, DIGEST_LENGTH);
	add_token(&query, entry);
	query_add_text(&query, record_state_name(entry->before));
	if (entry->deleted)
		query_add_null(&query);
	else
		query_add_text(&query, record_state_name(entry->after));
	query_add_text(&query, author->who);
	query_add_text(&query, author->host);
	query_add_text(&query, author->program);
	query_add_text(&query, author->reason);
	int result = run_for_number(&query, number, deadline, error);
	query_free(&query);
	return result;
}

int audit_has(struct connection *connection, const struct audit_entry *entry, uint64_t number,
	      int64_t deadline, struct error *error)
{
	struct query query;
	uint64_t count = 0;
	query_init(&query, connection);
	buffer_append_text(&query.text, has_text);
	query_add_number(&query, (int64_t)number);
	query_add_bytes(&query, entry->record, DIGEST_LENGTH);
	add_token(&query, entry);
	int result = run_for_number(&query, &count, deadline, error);
	query_free(&query);
	return result < 0 ? -1 : count > 0;
}
