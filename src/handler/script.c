/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/script.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/encode.h"

/* Where a path led to. */
struct find {
	char *path; /* owned; cut behind the file's name */
	char *rest; /* owned; what stood behind it, as it was */
	char *
	    unescaped; /* owned; the rest decoded, where it may have been sent encoded; else NULL */
};

static enum script_result out_of_memory(struct error *error)
{
	error_set(error, ERROR_MEMORY, "out of memory for a script's path");
	return SCRIPT_FAILED;
}

static const char *text_or_empty(const char *text)
{
	return text != NULL ? text : "";
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);
	size_t end_length = strlen(end);
	return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

/* What no path may hold, whichever parameter it came in: a server that splits the path and one that
 * leaves it whole are to be answered alike. NULL: nothing wrong. */
static const char *objection(const char *path)
{
	for (const char *byte = path; *byte != '\0'; byte++) {
		if ((unsigned char)*byte < 0x20 || *byte == 0x7f)
			return "a control byte";
	}
	for (const char *segment = path; segment != NULL; segment = strchr(segment, '/')) {
		segment += *segment == '/';
		size_t length = strcspn(segment, "/");
		if (length == 2 && memcmp(segment, "..", 2) == 0)
			return "a `..` segment";
	}
	return NULL;
}

/*
 * Cut `path` behind the regular file it leads to: errno's value, 0 when there is one. Goes down
 * from the top, so that the cost is the file's depth, not the number of segments a client appends;
 * no regular file has another below it, so it finds what going up from the end would.
 */
static int cut_at_file(char *path, char **rest)
{
	struct stat status;
	size_t length = strlen(path);
	*rest = path + length;
	if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
		return 0;
	for (size_t i = 1; i <= length; i++) {
		if ((path[i] != '/' && path[i] != '\0') || path[i - 1] == '/')
			continue;
		char end = path[i];
		path[i] = '\0';
		int outcome = stat(path, &status);
		path[i] = end;
		if (outcome == -1)
			return errno;
		if (S_ISREG(status.st_mode)) {
			*rest = path + i;
			return 0;
		}
		if (!S_ISDIR(status.st_mode))
			return ENOENT;
	}
	return EISDIR;
}

/* mod_proxy_fcgi sends where it thinks the file is at the back-end: proxy:fcgi://authority/path, or
 * proxy:balancer://authority/path. */
static const char *strip_proxy(const char *path)
{
	static const char prefix[] = "proxy:";
	if (strncmp(path, prefix, sizeof(prefix) - 1) != 0)
		return path;
	const char *authority = strstr(path, "://");
	const char *slash = authority != NULL ? strchr(authority + 3, '/') : NULL;
	return slash != NULL ? slash : "";
}

/* The path as the web server names it; owned. NULL: none (ERROR_INPUT), or no memory. */
static char *named_path(const struct params *params, bool *may_be_encoded, struct error *error)
{
	const char *filename = params_get_filled(params, "SCRIPT_FILENAME");
	const char *root = params_get_filled(params, "DOCUMENT_ROOT");
	const char *name = params_get_filled(params, "SCRIPT_NAME");
	char *path = NULL;
	*may_be_encoded = filename != NULL;
	if (filename != NULL) {
		const char *start = strip_proxy(filename);
		if (*start != '/') {
			error_set(error, ERROR_INPUT, "SCRIPT_FILENAME %s names no absolute path",
				  filename);
			return NULL;
		}
		path = strdup(start + strspn(start, "/") - 1);
	} else if (root != NULL && *root == '/' && name != NULL) {
		size_t length = strlen(root);
		while (length > 0 && root[length - 1] == '/')
			length--;
		if (asprintf(&path, "%.*s/%s", (int)length, root, name + strspn(name, "/")) == -1)
			path = NULL;
	} else {
		error_set(error, ERROR_INPUT,
			  "the web server sent neither SCRIPT_FILENAME nor DOCUMENT_ROOT and "
			  "SCRIPT_NAME");
		return NULL;
	}
	if (path == NULL)
		out_of_memory(error);
	return path;
}

static enum script_result explain(int number, const char *path, struct error *error)
{
	if (number == EACCES) {
		error_set_errno(error, number, "%s", path);
		return SCRIPT_FORBIDDEN;
	}
	if (number == EISDIR)
		error_set(error, ERROR_INPUT, "%s is a directory", path);
	else
		error_set(error, ERROR_INPUT, "%s is no file, nor leads to one", path);
	return SCRIPT_NOT_FOUND;
}

static enum script_result object(const char *path, struct error *error)
{
	const char *reason = objection(path);
	if (reason == NULL)
		return SCRIPT_FOUND;
	error_set(error, ERROR_INPUT, "the path has %s in it: %s", reason, path);
	return SCRIPT_FORBIDDEN;
}

/* The decoded form of `path`, when it has another; owned. NULL: it has none. */
static enum script_result unescape(const char *path, char **decoded, struct error *error)
{
	*decoded = NULL;
	if (strchr(path, '%') == NULL)
		return SCRIPT_FOUND;
	if (strstr(path, "%00") != NULL) {
		error_set(error, ERROR_INPUT, "the path has %%00 in it: %s", path);
		return SCRIPT_FORBIDDEN;
	}
	*decoded = strdup(path);
	if (*decoded == NULL)
		return out_of_memory(error);
	if (percent_decode(*decoded) < 0) {
		free(*decoded); /* a name that holds a plain per cent sign */
		*decoded = NULL;
		return SCRIPT_FOUND;
	}
	return object(*decoded, error);
}

static enum script_result take_rest(struct find *find, const char *rest, bool may_be_encoded,
				    struct error *error)
{
	find->rest = strdup(rest);
	if (find->rest == NULL)
		return out_of_memory(error);
	return may_be_encoded ? unescape(rest, &find->unescaped, error) : SCRIPT_FOUND;
}

static enum script_result locate(struct find *find, const struct params *params,
				 struct error *error)
{
	bool may_be_encoded;
	char *decoded = NULL;
	char *rest;
	find->path = named_path(params, &may_be_encoded, error);
	if (find->path == NULL)
		return error->kind == ERROR_MEMORY ? SCRIPT_FAILED : SCRIPT_NOT_FOUND;
	enum script_result result = object(find->path, error);
	if (result == SCRIPT_FOUND && may_be_encoded)
		result = unescape(find->path, &decoded, error);
	if (result != SCRIPT_FOUND)
		goto out;
	int number = cut_at_file(find->path, &rest);
	if (number != 0 && decoded != NULL && cut_at_file(decoded, &rest) == 0) {
		free(find->path);
		find->path = decoded;
		decoded = NULL;
		number = 0;
		may_be_encoded = false;
	}
	if (number != 0)
		result = explain(number, find->path, error);
	else
		result = take_rest(find, rest, may_be_encoded, error);
	if (result == SCRIPT_FOUND)
		*rest = '\0';
out:
	free(decoded);
	return result;
}

/* Are `path`'s first bytes the directory `root` (both real paths)? */
static bool lies_under(const char *path, const char *root)
{
	size_t length = strlen(root);
	if (length == 1)
		return true; /* "/" */
	return strncmp(path, root, length) == 0 && path[length] == '/';
}

/* Roots are resolved at each request: one that is a symlink can be switched without a reload. */
static bool is_under_roots(const char *real, const struct string_list *roots)
{
	char root[PATH_MAX];
	for (size_t i = 0; i < roots->count; i++) {
		if (realpath(roots->items[i], root) != NULL && lies_under(real, root))
			return true;
	}
	return false;
}

/* May this regular file be run? `roots` NULL: wherever it lies. */
static enum script_result admit(const char *file, const struct string_list *roots,
				struct error *error)
{
	char real[PATH_MAX];
	if (roots != NULL && realpath(file, real) == NULL)
		return explain(errno, file, error);
	if (roots != NULL && !is_under_roots(real, roots)) {
		error_set(error, ERROR_INPUT, "%s (that is, %s) is outside handlers.roots", file,
			  real);
		return SCRIPT_FORBIDDEN;
	}
	/* RFC 3875 5: such a script writes to the client itself, which FastCGI has no way for. */
	if (strncmp(base_of(file), "nph-", 4) == 0) {
		error_set(error, ERROR_INPUT, "%s: scripts with non-parsed headers cannot be run",
			  file);
		return SCRIPT_FORBIDDEN;
	}
	if (faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) == -1) {
		error_set_errno(error, errno, "%s cannot be executed", file);
		return SCRIPT_FORBIDDEN;
	}
	return SCRIPT_FOUND;
}

/* SCRIPT_NAME without the PATH_INFO that some servers leave in it; owned. */
static char *without_suffix(const char *name, const char *suffix)
{
	if (!ends_with(name, suffix))
		return strdup(name);
	return strndup(name, strlen(name) - strlen(suffix));
}

/* The file was found where the path ends, so PATH_INFO is what was sent; but SCRIPT_NAME may hold
 * it as well. It does where only without it the name ends as the file's does: a script may be
 * published under another name. */
static char *name_beside(const char *name, const char *path_info, const char *file)
{
	if (*path_info == '\0' || strcmp(base_of(name), base_of(file)) == 0)
		return strdup(name);
	char *shorter = without_suffix(name, path_info);
	if (shorter == NULL || strcmp(base_of(shorter), base_of(file)) == 0)
		return shorter;
	free(shorter);
	return strdup(name);
}

/* Behind the file's name there was more of the path: whether it was sent encoded or not is told by
 * the decoded forms that the server sent beside it. */
static const char *rest_as_meant(const struct find *find, const char *name, const char *path_info)
{
	if (find->unescaped == NULL || ends_with(name, find->rest) ||
	    strcmp(path_info, find->rest) == 0)
		return find->rest;
	return find->unescaped;
}

/* Takes `file` over. */
static enum script_result fill(struct script *script, char *file, char *name, const char *path_info,
			       struct error *error)
{
	const char *slash = strrchr(file, '/');
	script->file = file;
	script->directory = strndup(file, slash == file ? 1 : (size_t)(slash - file));
	script->name = name;
	script->path_info = strdup(path_info);
	if (script->directory != NULL && script->name != NULL && script->path_info != NULL)
		return SCRIPT_FOUND;
	script_free(script);
	return out_of_memory(error);
}

enum script_result script_find(struct script *script, const struct params *params,
			       const struct string_list *roots, struct error *error)
{
	struct find find = {0};
	const char *name = text_or_empty(params_get_filled(params, "SCRIPT_NAME"));
	const char *path_info = text_or_empty(params_get_filled(params, "PATH_INFO"));
	*script = (struct script){0};
	*error = (struct error){0};
	enum script_result result = object(name, error);
	if (result == SCRIPT_FOUND)
		result = object(path_info, error);
	if (result == SCRIPT_FOUND)
		result = locate(&find, params, error);
	if (result == SCRIPT_FOUND)
		result = admit(find.path, roots, error);
	if (result != SCRIPT_FOUND)
		goto out;
	char *file = find.path;
	find.path = NULL;
	if (*find.rest == '\0') {
		result = fill(script, file, name_beside(name, path_info, file), path_info, error);
	} else {
		const char *meant = rest_as_meant(&find, name, path_info);
		result = fill(script, file, without_suffix(name, meant), meant, error);
	}
out:
	free(find.path);
	free(find.rest);
	free(find.unescaped);
	return result;
}

/* `file` from the working directory; owned. NULL with errno. */
static char *absolute(const char *file)
{
	char directory[PATH_MAX];
	char *path = NULL;
	if (*file == '/')
		return strdup(file);
	if (getcwd(directory, sizeof(directory)) == NULL)
		return NULL;
	return asprintf(&path, "%s/%s", directory, file) == -1 ? NULL : path;
}

enum script_result script_fixed(struct script *script, const char *file,
				const struct params *params, struct error *error)
{
	struct stat status;
	*script = (struct script){0};
	char *path = absolute(file);
	if (path == NULL) {
		error_set_errno(error, errno, "%s", file);
		return SCRIPT_FAILED;
	}
	enum script_result result;
	if (stat(path, &status) == -1)
		result = explain(errno, path, error);
	else if (!S_ISREG(status.st_mode))
		result = explain(S_ISDIR(status.st_mode) ? EISDIR : ENOENT, path, error);
	else
		result = admit(path, NULL, error);
	if (result != SCRIPT_FOUND) {
		free(path);
		return result;
	}
	const char *name = text_or_empty(params_get_filled(params, "SCRIPT_NAME"));
	return fill(script, path, strdup(name),
		    text_or_empty(params_get_filled(params, "PATH_INFO")), error);
}

void script_free(struct script *script)
{
	free(script->file);
	free(script->directory);
	free(script->name);
	free(script->path_info);
	*script = (struct script){0};
}
