/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/status.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <stddef.h>
#include <sysexits.h>

#include "store/trouble.h"

/* What a person cures, by who has to. The rest of TROUBLE_REFUSED is ours: a statement that is
 * wrong. */
static const struct {
	unsigned code;
	int status;
} refusals[] = {
    {ER_ACCESS_DENIED_ERROR, EX_NOPERM},
    {ER_ACCESS_DENIED_NO_PASSWORD_ERROR, EX_NOPERM},
    {ER_MUST_CHANGE_PASSWORD, EX_NOPERM},
    {ER_MUST_CHANGE_PASSWORD_LOGIN, EX_NOPERM},
    {ER_HOST_IS_BLOCKED, EX_NOPERM},
    {ER_HOST_NOT_PRIVILEGED, EX_NOPERM},
    {ER_DBACCESS_DENIED_ERROR, EX_NOPERM},
    {ER_TABLEACCESS_DENIED_ERROR, EX_NOPERM},
    {ER_COLUMNACCESS_DENIED_ERROR, EX_NOPERM},
    {ER_SPECIFIC_ACCESS_DENIED_ERROR, EX_NOPERM},
    {CR_SSL_CONNECTION_ERROR, EX_CONFIG},
    {ER_BAD_DB_ERROR, EX_CONFIG},
    {ER_NO_SUCH_TABLE, EX_CONFIG},
    {ER_BAD_FIELD_ERROR, EX_CONFIG},
    {ER_OPTION_PREVENTS_STATEMENT, EX_CONFIG},
    {ER_RECORD_FILE_FULL, EX_UNAVAILABLE},
    {ER_DISK_FULL, EX_UNAVAILABLE},
};

static int status_of_refusal(unsigned code)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].code == code)
			return refusals[i].status;
	return EX_SOFTWARE;
}

int status_of_store(unsigned code)
{
	if (code == 0)
		return EX_SOFTWARE;
	switch (trouble_of(code)) {
	case TROUBLE_BUSY:
	case TROUBLE_DEADLOCK:
	case TROUBLE_STOPPED:
		return EX_TEMPFAIL;
	case TROUBLE_GONE:
		return EX_UNAVAILABLE;
	case TROUBLE_REFUSED:
		break;
	}
	return status_of_refusal(code);
}
