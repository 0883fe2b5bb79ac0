/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/store/database.h"

#include "base/clock.h"
#include "base/encode.h"

#include <mysql.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static MYSQL *session;

int64_t database_clock_error;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_gettimeofday(struct timeval *now, void *zone);
time_t __wrap_time(time_t *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = __real_clock_gettime(clock, now);
	if (clock == CLOCK_REALTIME)
		now->tv_sec += database_clock_error;
	return result;
}

int __wrap_gettimeofday(struct timeval *now, void *zone)
{
	struct timespec time;
	(void)zone;
	int result = __wrap_clock_gettime(CLOCK_REALTIME, &time);
	*now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
	return result;
}

time_t __wrap_time(time_t *now)
{
	struct timespec time;
	(void)__wrap_clock_gettime(CLOCK_REALTIME, &time);
	if (now != NULL)
		*now = time.tv_sec;
	return time.tv_sec;
}

static char *required(const char *name)
{
	char *value = getenv(name);
	ck_assert_msg(value != NULL, "%s is not set: run tests/store/store", name);
	return value;
}

struct config_store database_config(void)
{
	static char none[] = "", group[] = "oncewrap";
	return (struct config_store){
	    .socket = required("MARIADB_SOCKET"),
	    .host = none,
	    .database = required("STORE_DATABASE"),
	    .user = none,
	    .option_file = required("STORE_OPTION_FILE"),
	    .option_group = group,
	    .tls_ca = none,
	    .connect_timeout = 10000,
	    .read_timeout = 20000,
	};
}

static MYSQL *join(void)
{
	if (session != NULL)
		return session;
	const struct passwd *account = getpwuid(getuid());
	session = mysql_init(NULL);
	ck_assert_ptr_nonnull(session);
	ck_assert_msg(mysql_real_connect(session, NULL, account->pw_name, "",
					 required("STORE_DATABASE"), 0, required("MARIADB_SOCKET"),
					 0) != NULL,
		      "%s", mysql_error(session));
	ck_assert_int_eq(mysql_query(session, "SET time_zone = '+00:00'"), 0);
	return session;
}

void database_leave(void)
{
	mysql_close(session);
	session = NULL;
}

static const char *run(bool each, unsigned column, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* Of each row, or of the first. */
static const char *run(bool each, unsigned column, const char *format, va_list arguments)
{
	static char value[1024];
	char query[4096];
	size_t length = 0;
	MYSQL *mysql = join();
	vsnprintf(query, sizeof(query), format, arguments);
	ck_assert_msg(mysql_query(mysql, query) == 0, "%s: %s", query, mysql_error(mysql));
	value[0] = '\0';
	MYSQL_RES *result = mysql_store_result(mysql);
	MYSQL_ROW row = NULL;
	while (result != NULL && length < sizeof(value) &&
	       (row = mysql_fetch_row(result)) != NULL) {
		const char *text = row[column] != NULL ? row[column] : "";
		length += (size_t)snprintf(value + length, sizeof(value) - length, "%s%s",
					   length > 0 ? " " : "", text);
		if (!each)
			break;
	}
	mysql_free_result(result);
	return value;
}

const char *database_column(unsigned column, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *values = run(true, column, format, arguments);
	va_end(arguments);
	return values;
}

const char *database_text(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *value = run(false, 0, format, arguments);
	va_end(arguments);
	return value;
}

int64_t database_number(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int64_t value = strtoll(run(false, 0, format, arguments), NULL, 10);
	va_end(arguments);
	return value;
}

void database_run(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	run(false, 0, format, arguments);
	va_end(arguments);
}

unsigned database_error(const char *format, ...)
{
	char query[4096];
	va_list arguments;
	MYSQL *mysql = join();
	va_start(arguments, format);
	vsnprintf(query, sizeof(query), format, arguments);
	va_end(arguments);
	if (mysql_query(mysql, query) == 0)
		mysql_free_result(mysql_store_result(mysql));
	return mysql_errno(mysql);
}

pid_t database_hold_until_waited_for(const struct store_claim *claim, const char *then)
{
	int held[2];
	ck_assert_int_eq(pipe(held), 0);
	database_leave();
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		database_run("BEGIN");
		database_run("UPDATE once_record SET checkpoint_seq = checkpoint_seq + 1 WHERE %s",
			     where(claim));
		close(held[1]);
		while (database_number("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
				       " WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS'") ==
		       0)
			;
		if (then != NULL)
			database_run("%s", then);
		database_run("COMMIT");
		_exit(0);
	}
	char nothing;
	close(held[1]);
	ck_assert_int_eq(read(held[0], &nothing, 1), 0);
	close(held[0]);
	return child;
}

void database_end(pid_t process)
{
	int status;
	ck_assert_int_gt(waitpid(process, &status, 0), 0);
	ck_assert_int_eq(status, 0);
}

void database_server(const char *verb)
{
	char command[1024];
	const char *source = getenv("srcdir");
	snprintf(command, sizeof(command), "sh '%s/tests/lib/mariadb.sh' %s '%s'",
		 source != NULL ? source : ".", verb, required("MARIADB_DIR"));
	ck_assert_msg(system(command) == 0, "%s", command);
}

struct store_claim claim_new(void)
{
	static struct store_owner owner;
	static const unsigned char fingerprint[DIGEST_LENGTH] = "a fingerprint of thirty-two byte";
	static const unsigned char parts[40] = "eight bytes for each of five parts";
	struct error error;
	ck_assert_int_eq(store_owner_self(&owner, &error), 0);
	struct store_claim claim = {
	    .tenant = "tenant",
	    .tenant_length = 6,
	    .route = "orders",
	    .key = "a key",
	    .key_length = 5,
	    .fingerprint = fingerprint,
	    .scheme = "1 method path query content-type body",
	    .parts = parts,
	    .parts_length = sizeof(parts),
	    .lease = 600000,
	    .retention = 86400000,
	    .owner = &owner,
	};
	ck_assert_int_eq(random_bytes(claim.id, sizeof(claim.id)), 0);
	return claim_again(&claim);
}

struct store_claim claim_again(const struct store_claim *claim)
{
	struct store_claim again = *claim;
	ck_assert_int_eq(random_bytes(again.token, sizeof(again.token)), 0);
	return again;
}

struct store_natural natural_new(void)
{
	struct store_natural natural = {.window = 3600000};
	ck_assert_int_eq(random_bytes(natural.id, sizeof(natural.id)), 0);
	return natural;
}

const char *hex(const unsigned char *data, size_t length)
{
	static char texts[8][2 * DIGEST_LENGTH + 1];
	static unsigned next;
	char *text = texts[next++ % 8];
	encode_hex(text, data, length);
	return text;
}

const char *where(const struct store_claim *claim)
{
	static char texts[8][2 * DIGEST_LENGTH + 16];
	static unsigned next;
	char *text = texts[next++ % 8];
	snprintf(text, sizeof(texts[0]), "id = x'%s'", hex(claim->id, DIGEST_LENGTH));
	return text;
}

bool is_mine(const struct record *record, const struct store_claim *claim)
{
	return memcmp(record->token, claim->token, TOKEN_LENGTH) == 0;
}

struct error *test_error(void)
{
	static struct error error;
	return &error;
}

const char *result_name(enum store_result result)
{
	static const char *const names[] = {
	    [STORE_DONE] = "done",           [STORE_NO_ROW] = "no row", [STORE_BUSY] = "busy",
	    [STORE_UNCERTAIN] = "uncertain", [STORE_DOWN] = "down",
	};
	return names[result];
}

void claim_first(struct store *store, const struct store_claim *claim)
{
	struct record record;
	record_init(&record);
	expect(store_claim(store, claim, &record, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	ck_assert(is_mine(&record, claim));
	record_free(&record);
}

void hold_first(struct store *store, const struct store_claim *claim,
		const struct store_natural *natural)
{
	struct store_natural_holder holder;
	expect(store_hold_natural(store, natural, claim->id, claim->token, &holder,
				  clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	ck_assert_mem_eq(holder.token, claim->token, TOKEN_LENGTH);
	buffer_free(&holder.location);
}

void claim_lapsed(struct store *store, struct store_claim *claim)
{
	claim->lease = 1;
	claim_first(store, claim);
	while (database_number("SELECT lease_until > UTC_TIMESTAMP(6) FROM once_record WHERE %s",
			       where(claim)) != 0)
		;
}

void settle_with(struct store *store, const struct store_claim *claim, int status, const char *body)
{
	struct store_answer answer = {
	    .status = status,
	    .headers = "Content-Type: text/plain\r\n",
	    .headers_length = 26,
	    .body = body,
	    .body_length = strlen(body),
	    .retention = claim->retention,
	};
	expect(store_settle(store, claim->id, claim->token, &answer, clock_now() + PATIENCE,
			    test_error()),
	       STORE_DONE);
}

void expire(const struct store_claim *claim)
{
	database_run("UPDATE once_record SET expires_at = UTC_TIMESTAMP(6) WHERE %s", where(claim));
}
