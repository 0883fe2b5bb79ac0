/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/confirm.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>
#include <termios.h>
#include <unistd.h>

static int take_yes(void *target, const char *argument, struct error *error)
{
	(void)argument;
	(void)error;
	((struct confirm *)target)->yes = true;
	return 0;
}

static int take_no_input(void *target, const char *argument, struct error *error)
{
	(void)argument;
	(void)error;
	((struct confirm *)target)->no_input = true;
	return 0;
}

static int take_dry_run(void *target, const char *argument, struct error *error)
{
	(void)argument;
	(void)error;
	((struct confirm *)target)->dry_run = true;
	return 0;
}

static const struct option_entry entries[] = {
    {.letter = 'n',
     .name = "dry-run",
     .help = "only tell what would be done",
     .take = take_dry_run},
    {.letter = 'y', .name = "yes", .help = "do it without asking", .take = take_yes},
    {.name = "no-input", .help = "never ask: end where --yes is missing", .take = take_no_input},
};

struct option_group confirm_options(struct confirm *confirm)
{
	return (struct option_group)OPTION_GROUP(entries, confirm);
}

static int refuse(const char *program, const char *question)
{
	fprintf(stderr, "%s: %s? nobody can be asked here: say --yes, or --dry-run to see\n",
		program, question);
	return EX_USAGE;
}

/* A line of `terminal`, cut to `size`; false at its end. */
static bool read_line(int terminal, char *line, size_t size)
{
	size_t length = 0;
	char byte;
	ssize_t count;
	while ((count = read(terminal, &byte, 1)) == 1 && byte != '\n')
		if (length + 1 < size)
			line[length++] = byte;
	line[length] = '\0';
	return count == 1;
}

static bool means_yes(const char *answer)
{
	return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

/* The terminal itself, for standard input may bring the ids. */
int confirm_ask(const struct confirm *confirm, const char *program, const char *question)
{
	char answer[16];
	if (confirm->yes || confirm->dry_run)
		return GO_ON;
	int terminal = confirm->no_input ? -1 : open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0)
		return refuse(program, question);
	int status = EX_OK;
	/* What was typed, or pasted, before the question is no answer to it. */
	(void)tcflush(terminal, TCIFLUSH);
	if (dprintf(terminal, "%s: %s? [y/N] ", program, question) < 0)
		status = refuse(program, question);
	else if (read_line(terminal, answer, sizeof(answer)) && means_yes(answer))
		status = GO_ON;
	else
		fprintf(stderr, "%s: nothing was changed\n", program);
	close(terminal);
	return status;
}
