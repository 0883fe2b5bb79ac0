/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/account.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const struct passwd *find(const char *user, struct error *error)
{
	errno = 0;
	const struct passwd *account = getpwnam(user);
	if (account == NULL && errno != 0)
		error_set_errno(error, errno, "user: cannot look up \"%s\"", user);
	else if (account == NULL)
		error_set(error, ERROR_INPUT, "user: there is no account \"%s\"", user);
	return account;
}

static bool is_root(void)
{
	return getuid() == 0 || geteuid() == 0;
}

static const struct passwd *find_wanted(const char *user, struct error *error)
{
	if (*user != '\0')
		return find(user, error);
	error_set(error, ERROR_INPUT,
		  "started as root, and no account is named to run handlers as: set user, or user "
		  "= \"root\" to insist");
	return NULL;
}

int account_ids(const char *user, uid_t *uid, gid_t *gid, struct error *error)
{
	*uid = geteuid();
	*gid = getegid();
	if (!is_root())
		return 0;
	const struct passwd *account = find_wanted(user, error);
	if (account == NULL)
		return -1;
	*uid = account->pw_uid;
	*gid = account->pw_gid;
	return 0;
}

int account_become(const char *user, struct error *error)
{
	if (!is_root())
		return 0;
	const struct passwd *account = find_wanted(user, error);
	if (account == NULL)
		return -1;
	if (account->pw_uid == 0)
		return 0;
	/* The groups first: they cannot be changed any more once root is given up. */
	if (initgroups(account->pw_name, account->pw_gid) == -1 ||
	    setresgid(account->pw_gid, account->pw_gid, account->pw_gid) == -1 ||
	    setresuid(account->pw_uid, account->pw_uid, account->pw_uid) == -1) {
		error_set_errno(error, errno, "user: cannot become \"%s\"", user);
		return -1;
	}
	if (setuid(0) == 0) {
		error_set(error, ERROR_SYSTEM, "user: root could be regained after becoming \"%s\"",
			  user);
		return -1;
	}
	return 0;
}
