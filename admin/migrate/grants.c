/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/migrate/grants.h"

#include <stdbool.h>
#include <string.h>

#include "store/option_file.h"
#include "store/rights.h"

/* The wrapper's own account is that of the configured group, whatever its name. */
static const char wrapper_account[] = "oncewrap";

struct writing {
	struct buffer *out;
	const struct config *config;
	const char *host;
	char account[RIGHT_LENGTH]; /* that the user is of; "": none yet */
	struct buffer user;         /* as SQL names it, with its host; empty: not of this place */
};

/* As a pattern, which the name of a database is in a GRANT on all of its tables. */
static void append_database(struct buffer *out, const char *name, bool as_pattern)
{
	struct buffer pattern = {0};
	for (; *name != '\0'; name++) {
		if (as_pattern && (*name == '_' || *name == '%'))
			buffer_append_byte(&pattern, '\\');
		buffer_append_byte(&pattern, (unsigned char)*name);
	}
	rights_quote(out, buffer_text(&pattern), '`');
	out->failed = out->failed || pattern.failed;
	buffer_free(&pattern);
}

static bool is_wrapper(const char *account)
{
	return strcmp(account, wrapper_account) == 0;
}

/* As it logs in (connection.c). */
static const char *choose_user(const struct config *config, const char *account,
			       const struct credentials *credentials)
{
	if (credentials->user != NULL)
		return credentials->user;
	if (is_wrapper(account) && *config->store.user != '\0')
		return config->store.user;
	return is_wrapper(account) && *config->store.option_file == '\0' && *config->user != '\0'
		   ? config->user
		   : account;
}

/* Who that account is here. 0 also when nobody is; -1 with *error. */
static int find_user(struct writing *writing, const char *account, struct error *error)
{
	const struct config_store *store = &writing->config->store;
	const char *group = is_wrapper(account) ? store->option_group : account;
	struct credentials credentials = {0};
	bool found = is_wrapper(account);
	if (*store->option_file != '\0' &&
	    option_file_read(store->option_file, group, &credentials, &found, error) < 0)
		return -1;
	buffer_clear(&writing->user);
	if (found) {
		rights_quote(&writing->user, choose_user(writing->config, account, &credentials),
			     '\'');
		buffer_append_byte(&writing->user, '@');
		rights_quote(&writing->user, writing->host, '\'');
		buffer_printf(writing->out,
			      "\n-- [%s]\n-- CREATE USER IF NOT EXISTS %s IDENTIFIED BY '...';\n",
			      group, buffer_text(&writing->user));
	}
	credentials_free(&credentials);
	return 0;
}

static int write_right(struct writing *writing, const struct right *right, struct error *error)
{
	if (strcmp(right->account, writing->account) != 0) {
		memcpy(writing->account, right->account, sizeof(writing->account));
		if (find_user(writing, right->account, error) < 0)
			return -1;
	}
	if (writing->user.length == 0)
		return 0;
	bool all = strcmp(right->table, "*") == 0;
	buffer_printf(writing->out, "GRANT %s ON ", right->privileges);
	append_database(writing->out, writing->config->store.database, all);
	buffer_printf(writing->out, ".%s TO %s;\n", right->table, buffer_text(&writing->user));
	return 0;
}

int grants_write(struct buffer *out, const struct config *config, const char *host,
		 struct error *error)
{
	struct writing writing = {.out = out, .config = config, .host = host};
	struct rights rights;
	struct right right;
	int result = 0;
	if (host == NULL)
		writing.host = *config->store.socket != '\0' ? "localhost" : "%";
	buffer_append_text(out, "-- The rights that oncewrap needs: to be run by an administrator "
				"of the database, once the\n-- accounts are there.\n");
	rights_begin(&rights);
	while (result == 0 && rights_next(&rights, &right))
		result = write_right(&writing, &right, error);
	rights_end(&rights);
	buffer_free(&writing.user);
	return result;
}
