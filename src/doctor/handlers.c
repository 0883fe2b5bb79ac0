/* SPDX-License-Identifier: ISC */
/* What under handlers.roots looks like a program and cannot be run, with the eyes of the service.
 */
#include <config.h>

#include "doctor/host.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A tree that is no directory of handlers must not hold anybody up, nor fill the screen. */
enum { MOST_ENTRIES = 20000, MOST_FINDINGS = 10 };

/* The kernel reads no more of a script's first line. */
enum { FIRST_LINE = 256 };

static const char utf8_mark[] = "\xef\xbb\xbf";
static const char elf_mark[] = "\x7f\x45LF"; /* the E would continue the number */

struct walk {
	const struct host *host;
	struct findings *findings;
	size_t entries;
	size_t told, untold;
};

static bool may_tell(struct walk *walk)
{
	if (walk->told < MOST_FINDINGS) {
		walk->told++;
		return true;
	}
	walk->untold++;
	return false;
}

/* The file's first bytes, with a NUL behind them; "" when they cannot be read. */
static void read_start(const char *path, char start[FIRST_LINE + 1])
{
	*start = '\0';
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t length = read(fd, start, FIRST_LINE);
	start[length > 0 ? length : 0] = '\0';
	close(fd);
}

/* Where a program of that name lies; NULL: nowhere. */
static const char *find_program(const char *name, char place[PATH_MAX])
{
	static const char *const directories[] = {"/usr/bin", "/bin", "/usr/local/bin",
						  "/usr/sbin"};
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		int length = snprintf(place, PATH_MAX, "%s/%s", directories[i], name);
		if (length > 0 && length < PATH_MAX && access(place, X_OK) == 0)
			return place;
	}
	return NULL;
}

/* `line` begins with "#!". */
static void check_interpreter(struct walk *walk, const char *path, char *line)
{
	char place[PATH_MAX];
	line[strcspn(line, "\n")] = '\0';
	bool carriage_return = *line != '\0' && line[strlen(line) - 1] == '\r';
	if (carriage_return && may_tell(walk)) {
		findings_add(walk->findings, FINDING_WARN,
			     "%s: its lines end as on Windows, so no interpreter is found for it",
			     path);
		findings_cure_file(walk->findings, path, "sed -i 's/\\r$//'");
	}
	char *interpreter = line + strlen("#!");
	interpreter += strspn(interpreter, " \t");
	interpreter[strcspn(interpreter, " \t\r")] = '\0';
	if (carriage_return || access(interpreter, F_OK) == 0 || !may_tell(walk))
		return;
	findings_add(walk->findings, FINDING_WARN, "%s: its interpreter %s: %s", path, interpreter,
		     strerror(errno));
	const char *slash = strrchr(interpreter, '/');
	const char *other = find_program(slash != NULL ? slash + 1 : interpreter, place);
	if (other != NULL && strpbrk(interpreter, "|\\'*.[]^$&") == NULL)
		findings_cure_file(walk->findings, path, "sed -i '1s|^#![ \\t]*%s|#!%s|'",
				   interpreter, other);
}

static void check_program(struct walk *walk, const FTSENT *entry)
{
	const char *path = entry->fts_path;
	char start[FIRST_LINE + 1];
	bool runs = eaccess(path, X_OK) == 0;
	read_start(path, start);
	bool marked = strncmp(start, utf8_mark, strlen(utf8_mark)) == 0;
	const char *begin = marked ? start + strlen(utf8_mark) : start;
	bool script = strncmp(begin, "#!", 2) == 0;
	bool program = script || strncmp(start, elf_mark, strlen(elf_mark)) == 0 ||
		       (entry->fts_statp->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
	if (!program)
		return;
	if (!runs && may_tell(walk)) {
		findings_add(walk->findings, FINDING_WARN, "%s: %s may not run it", path,
			     walk->host->service.name);
		findings_cure_file(walk->findings, path, "chmod a+rx");
	}
	if (runs && (entry->fts_statp->st_mode & S_IWOTH) != 0 && may_tell(walk)) {
		findings_add(walk->findings, FINDING_WARN,
			     "%s: everybody on this host may write it, and so choose what is run",
			     path);
		findings_cure_file(walk->findings, path, "chmod o-w");
	}
	if (script && marked && may_tell(walk)) {
		findings_add(
		    walk->findings, FINDING_WARN,
		    "%s: an invisible mark (UTF-8 BOM) before the #! keeps the kernel from "
		    "seeing that",
		    path);
		findings_cure_file(walk->findings, path, "sed -i '1s/^\\xef\\xbb\\xbf//'");
	}
	if (script && !marked)
		check_interpreter(walk, path, start);
}

static void visit(struct walk *walk, FTS *tree, FTSENT *entry)
{
	/* A hidden file or directory is nobody's URL. */
	if (entry->fts_level > 0 && *entry->fts_name == '.') {
		fts_set(tree, entry, FTS_SKIP);
		return;
	}
	if (entry->fts_info == FTS_F) {
		check_program(walk, entry);
	} else if (entry->fts_info == FTS_SLNONE && may_tell(walk)) {
		findings_add(walk->findings, FINDING_WARN, "%s: a link to what is not there",
			     entry->fts_path);
		findings_cure_file(walk->findings, entry->fts_path, "rm");
	} else if (entry->fts_info == FTS_DNR && may_tell(walk)) {
		findings_add(walk->findings, FINDING_WARN, "%s: %s cannot look into it: %s",
			     entry->fts_path, walk->host->service.name, strerror(entry->fts_errno));
		findings_cure_file(walk->findings, entry->fts_path, "chmod a+rx");
	}
}

static void walk_root(struct walk *walk, char *root)
{
	char *const roots[] = {root, NULL};
	FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
	if (tree == NULL) {
		findings_add(walk->findings, FINDING_SKIP, "%s: %s", root, strerror(errno));
		return;
	}
	FTSENT *entry;
	while (walk->entries < MOST_ENTRIES && (entry = fts_read(tree)) != NULL) {
		walk->entries++;
		visit(walk, tree, entry);
	}
	fts_close(tree);
}

void handlers_check(const struct host *host, struct findings *findings)
{
	const struct string_list *roots = &host->config->handlers.roots;
	struct walk walk = {.host = host, .findings = findings};
	struct error error;
	if (service_enter(&host->service, &error) < 0) {
		findings_add(findings, FINDING_SKIP, "%s", error.message);
		return;
	}
	for (size_t i = 0; i < roots->count; i++)
		walk_root(&walk, roots->items[i]);
	service_leave(&host->service);
	if (walk.untold > 0)
		findings_add(findings, FINDING_WARN, "%zu more like these", walk.untold);
	if (walk.entries == MOST_ENTRIES)
		findings_add(findings, FINDING_OK,
			     "handlers.roots hold more than %d files: the rest was not looked at",
			     MOST_ENTRIES);
}
