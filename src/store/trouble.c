/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/trouble.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <stddef.h>

struct meaning {
	unsigned code;
	enum trouble trouble;
	bool doubt;
	const char *cure;
	enum metrics_reason reason;
};

/* Either number is said of a socket and of a host. */
#define AWAY                                                                                       \
	"see whether the database runs and is where store.socket, or store.host and store.port, "  \
	"say"
#define MIGRATE "run: once-migrate up"
#define GRANTS  "compare the account's rights with sql/grants.sql"
#define DISK    "free space for the database's data directory"

static const struct meaning meanings[] = {
    {ER_LOCK_WAIT_TIMEOUT, TROUBLE_BUSY, false, NULL, STORE_ERROR_LOCK_TIMEOUT},

    {ER_LOCK_DEADLOCK, TROUBLE_DEADLOCK, false, NULL, STORE_ERROR_DEADLOCK},
    {ER_CHECKREAD, TROUBLE_DEADLOCK, false, NULL,
     STORE_ERROR_DEADLOCK}, /* innodb_snapshot_isolation */
    {ER_NEED_REPREPARE, TROUBLE_DEADLOCK, false, NULL,
     STORE_ERROR_DEADLOCK}, /* the table was altered meanwhile */

    /* The kill may have come when the commit was done and only the reply was owed. */
    {ER_STATEMENT_TIMEOUT, TROUBLE_STOPPED, true, "see whether the database's disk is slow",
     STORE_ERROR_OTHER},
    {ER_QUERY_INTERRUPTED, TROUBLE_STOPPED, true, NULL, STORE_ERROR_OTHER},

    {CR_SERVER_GONE_ERROR, TROUBLE_GONE, true, "see whether the database runs", STORE_ERROR_GONE},
    {CR_SERVER_LOST, TROUBLE_GONE, true, "see whether the database runs", STORE_ERROR_GONE},
    {CR_SERVER_LOST_EXTENDED, TROUBLE_GONE, true, "see whether the database runs",
     STORE_ERROR_GONE},
    {ER_CONNECTION_KILLED, TROUBLE_GONE, true, NULL, STORE_ERROR_GONE},
    {ER_SERVER_SHUTDOWN, TROUBLE_GONE, true, "see whether the database runs", STORE_ERROR_GONE},
    {CR_COMMANDS_OUT_OF_SYNC, TROUBLE_GONE, true, NULL, STORE_ERROR_GONE},
    {CR_MALFORMED_PACKET, TROUBLE_GONE, true, NULL, STORE_ERROR_GONE},
    {ER_UNKNOWN_STMT_HANDLER, TROUBLE_GONE, false, NULL, STORE_ERROR_GONE},
    {CR_CONNECTION_ERROR, TROUBLE_GONE, false, AWAY, STORE_ERROR_GONE},
    {CR_CONN_HOST_ERROR, TROUBLE_GONE, false, AWAY, STORE_ERROR_GONE},
    {CR_UNKNOWN_HOST, TROUBLE_GONE, false,
     "see whether store.host is a name that the resolver knows", STORE_ERROR_GONE},
    {ER_CON_COUNT_ERROR, TROUBLE_GONE, false, "raise the database's max_connections",
     STORE_ERROR_GONE},
    {ER_TOO_MANY_USER_CONNECTIONS, TROUBLE_GONE, false, "raise the account's MAX_USER_CONNECTIONS",
     STORE_ERROR_GONE},
    {ER_OUT_OF_RESOURCES, TROUBLE_GONE, false, "the database is out of memory", STORE_ERROR_GONE},
    {ER_UNKNOWN_COM_ERROR, TROUBLE_GONE, false,
     "see whether the Galera node is part of the primary component", STORE_ERROR_GONE},

    {ER_ACCESS_DENIED_ERROR, TROUBLE_REFUSED, false,
     "see user and password in the file that store.option_file names", STORE_ERROR_DENIED},
    {ER_ACCESS_DENIED_NO_PASSWORD_ERROR, TROUBLE_REFUSED, false,
     "see user and password in the file that store.option_file names", STORE_ERROR_DENIED},
    {ER_MUST_CHANGE_PASSWORD, TROUBLE_REFUSED, false, "the account's password has expired",
     STORE_ERROR_DENIED},
    {ER_MUST_CHANGE_PASSWORD_LOGIN, TROUBLE_REFUSED, false, "the account's password has expired",
     STORE_ERROR_DENIED},
    {ER_HOST_IS_BLOCKED, TROUBLE_REFUSED, false, "run: mariadb-admin flush-hosts",
     STORE_ERROR_DENIED},
    {CR_SSL_CONNECTION_ERROR, TROUBLE_REFUSED, false,
     "see store.tls and store.tls_ca, and the server's certificate", STORE_ERROR_OTHER},
    {ER_DBACCESS_DENIED_ERROR, TROUBLE_REFUSED, false, GRANTS, STORE_ERROR_DENIED},
    {ER_TABLEACCESS_DENIED_ERROR, TROUBLE_REFUSED, false, GRANTS, STORE_ERROR_DENIED},
    {ER_COLUMNACCESS_DENIED_ERROR, TROUBLE_REFUSED, false, GRANTS, STORE_ERROR_DENIED},
    {ER_SPECIFIC_ACCESS_DENIED_ERROR, TROUBLE_REFUSED, false, GRANTS, STORE_ERROR_DENIED},
    {ER_BAD_DB_ERROR, TROUBLE_REFUSED, false,
     "create the database that store.database names, then run: once-migrate up", STORE_ERROR_OTHER},
    {ER_NO_SUCH_TABLE, TROUBLE_REFUSED, false, MIGRATE, STORE_ERROR_OTHER},
    {ER_BAD_FIELD_ERROR, TROUBLE_REFUSED, false, MIGRATE, STORE_ERROR_OTHER},
    {ER_OPTION_PREVENTS_STATEMENT, TROUBLE_REFUSED, false,
     "the server is read-only: point the store at the server that takes writes", STORE_ERROR_OTHER},
    {ER_RECORD_FILE_FULL, TROUBLE_REFUSED, false, DISK, STORE_ERROR_FULL},
    {ER_DISK_FULL, TROUBLE_REFUSED, false, DISK, STORE_ERROR_FULL},
    {ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, TROUBLE_REFUSED, false,
     "set the database's binlog_format to ROW or MIXED", STORE_ERROR_OTHER},
};

static const struct meaning *find(unsigned code)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].code == code)
			return &meanings[i];
	return NULL;
}

enum trouble trouble_of(unsigned code)
{
	const struct meaning *meaning = find(code);
	return meaning != NULL ? meaning->trouble : TROUBLE_REFUSED;
}

enum metrics_reason trouble_reason(unsigned code)
{
	const struct meaning *meaning = find(code);
	return meaning != NULL ? meaning->reason : STORE_ERROR_OTHER;
}

bool trouble_leaves_doubt(unsigned code)
{
	const struct meaning *meaning = find(code);
	return meaning != NULL && meaning->doubt;
}

void trouble_describe(struct error *error, unsigned code, const char *text)
{
	const struct meaning *meaning = find(code);
	const char *cure = meaning != NULL ? meaning->cure : NULL;
	error_set(error, ERROR_STORE, "%s (%u)%s%s", text, code, cure != NULL ? "; " : "",
		  cure != NULL ? cure : "");
}
