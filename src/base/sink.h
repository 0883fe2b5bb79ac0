/* SPDX-License-Identifier: ISC */
/*
 * Where finished lines of the log go: standard error, the system's log (RFC 3164 by its unix
 * socket), or the journal (systemd's native protocol, a field for each of the line's own). Whole
 * lines, each by one system call. Never waits for long: who does not take lines is waited for once,
 * and then not again until it does; what it misses is counted and told. A socket that nobody serves
 * is told once, and standard error has the lines until it is served.
 */
#ifndef ONCEWRAP_BASE_SINK_H
#define ONCEWRAP_BASE_SINK_H

#include <stddef.h>

enum sink_kind { SINK_STDERR, SINK_SYSLOG, SINK_JOURNAL };

#define SINK_MOST_FIELDS 32

/* A value as it stands in the line, without its quotes. */
struct sink_field {
	const char *name;
	const char *value;
	size_t length;
};

struct sink_line {
	int priority;  /* as syslog(3) has it, without a facility */
	char *text;    /* without a newline, and with room for one behind it */
	size_t length; /* of the text: less than PIPE_BUF */
	const struct sink_field *fields;
	size_t field_count;
};

/* May be called again. `socket`: the path of the socket, NULL or "" for the usual one; not looked
 * at yet, for it may come later. */
void sink_open(enum sink_kind kind, const char *socket);

/* Where there is something to tell of the sink itself, `tell` is called when the line is written,
 * and may write a line about it. */
void sink_write(const struct sink_line *line, void (*tell)(const char *message));

#endif
