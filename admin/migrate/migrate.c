/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/migrate/migrate.h"

#include <stdarg.h>
#include <stdio.h>
#include <sysexits.h>

#include "admin/common/hint.h"
#include "admin/common/writer.h"
#include "base/clock.h"

int migrate_open(struct migrate *migrate, enum connection_use use)
{
	return connect_open(&migrate->connect, MIGRATE_NAME, use, MIGRATE_GROUP);
}

int migrate_read(struct migrate *migrate, struct schema *schema)
{
	struct connect *connect = &migrate->connect;
	struct error error;
	int64_t deadline = clock_now() + connect->timeout * 1000;
	if (schema_read(&connect->connection, schema, deadline, &error) == 0)
		return GO_ON;
	return connect_failed(connect, MIGRATE_NAME, &error);
}

void migrate_say(struct migrate *migrate, const char *format, ...)
{
	struct buffer text = {0};
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	if (migrate->said == GO_ON && !migrate->quiet)
		migrate->said = writer_write(MIGRATE_NAME, &text);
	buffer_free(&text);
}

int migrate_failed(const struct migrate *migrate, enum schema_result result,
		   const struct error *error)
{
	int status = connect_failed(&migrate->connect, MIGRATE_NAME, error);
	return result == SCHEMA_LOCKED    ? EX_TEMPFAIL
	       : result == SCHEMA_REFUSED ? EX_CONFIG
					  : status;
}

void migrate_tell(const struct migrate *migrate, const char *message)
{
	struct buffer text = {0};
	hint_append(&text, message, migrate->connect.file);
	fprintf(stderr, MIGRATE_NAME ": %s\n", buffer_text(&text));
	buffer_free(&text);
}
