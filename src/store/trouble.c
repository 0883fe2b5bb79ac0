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
};

#define MIGRATE "run: once-migrate up"
#define GRANTS  "compare the account's rights with sql/grants.sql"
#define DISK    "free space for the database's data directory"

static const struct meaning meanings[] = {
    {ER_LOCK_WAIT_TIMEOUT, TROUBLE_BUSY, false, NULL},

    {ER_LOCK_DEADLOCK, TROUBLE_DEADLOCK, false, NULL},
    {ER_CHECKREAD, TROUBLE_DEADLOCK, false, NULL},      /* innodb_snapshot_isolation */
    {ER_NEED_REPREPARE, TROUBLE_DEADLOCK, false, NULL}, /* the table was altered meanwhile */

    /* The kill may have come when the commit was done and only the reply was owed. */
    {ER_STATEMENT_TIMEOUT, TROUBLE_STOPPED, true, "see whether the database's disk is slow"},
    {ER_QUERY_INTERRUPTED, TROUBLE_STOPPED, true, NULL},

    {CR_SERVER_GONE_ERROR, TROUBLE_GONE, true, "see whether the database runs"},
    {CR_SERVER_LOST, TROUBLE_GONE, true, "see whether the database runs"},
    {CR_SERVER_LOST_EXTENDED, TROUBLE_GONE, true, "see whether the database runs"},
    {ER_CONNECTION_KILLED, TROUBLE_GONE, true, NULL},
    {ER_SERVER_SHUTDOWN, TROUBLE_GONE, true, "see whether the database runs"},
    {CR_COMMANDS_OUT_OF_SYNC, TROUBLE_GONE, true, NULL},
    {CR_MALFORMED_PACKET, TROUBLE_GONE, true, NULL},
    {ER_UNKNOWN_STMT_HANDLER, TROUBLE_GONE, false, NULL},
    {CR_CONNECTION_ERROR, TROUBLE_GONE, false,
     "see whether the database runs and store.socket is its socket"},
    {CR_CONN_HOST_ERROR, TROUBLE_GONE, false,
     "see whether the database runs and store.host, store.port are right"},
    {CR_UNKNOWN_HOST, TROUBLE_GONE, false,
     "see whether store.host is a name that the resolver knows"},
    {ER_CON_COUNT_ERROR, TROUBLE_GONE, false, "raise the database's max_connections"},
    {ER_TOO_MANY_USER_CONNECTIONS, TROUBLE_GONE, false, "raise the account's MAX_USER_CONNECTIONS"},
    {ER_OUT_OF_RESOURCES, TROUBLE_GONE, false, "the database is out of memory"},
    {ER_UNKNOWN_COM_ERROR, TROUBLE_GONE, false,
     "see whether the Galera node is part of the primary component"},

    {ER_ACCESS_DENIED_ERROR, TROUBLE_REFUSED, false,
     "see user and password in the file that store.option_file names"},
    {ER_ACCESS_DENIED_NO_PASSWORD_ERROR, TROUBLE_REFUSED, false,
     "see user and password in the file that store.option_file names"},
    {ER_MUST_CHANGE_PASSWORD, TROUBLE_REFUSED, false, "the account's password has expired"},
    {ER_MUST_CHANGE_PASSWORD_LOGIN, TROUBLE_REFUSED, false, "the account's password has expired"},
    {ER_HOST_IS_BLOCKED, TROUBLE_REFUSED, false, "run: mariadb-admin flush-hosts"},
    {CR_SSL_CONNECTION_ERROR, TROUBLE_REFUSED, false,
     "see store.tls and store.tls_ca, and the server's certificate"},
    {ER_DBACCESS_DENIED_ERROR, TROUBLE_REFUSED, false, GRANTS},
    {ER_TABLEACCESS_DENIED_ERROR, TROUBLE_REFUSED, false, GRANTS},
    {ER_COLUMNACCESS_DENIED_ERROR, TROUBLE_REFUSED, false, GRANTS},
    {ER_SPECIFIC_ACCESS_DENIED_ERROR, TROUBLE_REFUSED, false, GRANTS},
    {ER_BAD_DB_ERROR, TROUBLE_REFUSED, false,
     "create the database that store.database names, then run: once-migrate up"},
    {ER_NO_SUCH_TABLE, TROUBLE_REFUSED, false, MIGRATE},
    {ER_BAD_FIELD_ERROR, TROUBLE_REFUSED, false, MIGRATE},
    {ER_OPTION_PREVENTS_STATEMENT, TROUBLE_REFUSED, false,
     "the server is read-only: point the store at the server that takes writes"},
    {ER_RECORD_FILE_FULL, TROUBLE_REFUSED, false, DISK},
    {ER_DISK_FULL, TROUBLE_REFUSED, false, DISK},
    {ER_BINLOG_STMT_MODE_AND_ROW_ENGINE, TROUBLE_REFUSED, false,
     "set the database's binlog_format to ROW or MIXED"},
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
