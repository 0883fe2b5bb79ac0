/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"

#define IDENTITY "oncewrap"

/* How long one that does not take a line is waited for; the next ones are dropped at once. */
#define STALL_MS 1000

/* A journal entry has each field twice: in the line and by itself. */
enum { ENTRY_SIZE = 3 * PIPE_BUF };

static const char *const usual_sockets[] = {
    [SINK_SYSLOG] = "/dev/log",
    [SINK_JOURNAL] = "/run/systemd/journal/socket",
};

static struct {
	enum sink_kind kind;
	struct sockaddr_un address;
	int fd;           /* -1: not connected */
	bool unreachable; /* told; standard error has the lines */
	bool stalled;     /* the last line was not taken */
	uint64_t dropped; /* since that was so */
	bool telling;
} sink = {.fd = -1};

void sink_open(enum sink_kind kind, const char *socket)
{
	if (sink.fd != -1)
		close(sink.fd);
	sink.fd = -1;
	sink.kind = kind;
	sink.unreachable = false;
	sink.address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (kind == SINK_STDERR)
		return;
	if (socket == NULL || *socket == '\0')
		socket = usual_sockets[kind];
	snprintf(sink.address.sun_path, sizeof(sink.address.sun_path), "%s", socket);
}

/* Does `fd` take a line now? A pipe and a stream socket that poll(2) calls writable take PIPE_BUF
 * bytes without blocking; should another process be faster, that one write waits. */
static bool has_room(int fd)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};
	int ready = poll(&room, 1, 0);
	if (ready == 0 && !sink.stalled) {
		int64_t deadline = clock_now() + STALL_MS;
		do
			ready = poll(&room, 1, clock_wait(deadline));
		while (ready == -1 && errno == EINTR);
	}
	sink.stalled = ready == 0;
	if (sink.stalled)
		sink.dropped++;
	return !sink.stalled;
}

static void write_stderr(const struct sink_line *line)
{
	if (!has_room(STDERR_FILENO))
		return;
	line->text[line->length] = '\n';
	ssize_t written;
	do
		written = write(STDERR_FILENO, line->text, line->length + 1);
	while (written < 0 && errno == EINTR);
	line->text[line->length] = '\0';
}

static bool connect_socket(void)
{
	sink.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sink.fd == -1)
		return false;
	if (connect(sink.fd, (const struct sockaddr *)&sink.address, sizeof(sink.address)) == 0)
		return true;
	int reason = errno;
	close(sink.fd);
	sink.fd = -1;
	errno = reason;
	return false;
}

/* True also where it was dropped for want of room: its reader is there. */
static bool send_datagram(const struct iovec *parts, size_t count)
{
	const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)parts,
				       .msg_iovlen = count};
	/* Once more, since the reader may have been started anew. */
	for (int attempt = 0; attempt < 2; attempt++) {
		if (sink.fd == -1 && !connect_socket())
			return false;
		if (!has_room(sink.fd))
			return true;
		if (sendmsg(sink.fd, &message, MSG_NOSIGNAL) >= 0)
			return true;
		if (errno == EAGAIN || errno == ENOBUFS) {
			sink.dropped++;
			return true;
		}
		int reason = errno;
		close(sink.fd);
		sink.fd = -1;
		errno = reason;
	}
	return false;
}

/* RFC 3164 4.1: local time, and English whatever the locale. */
static bool send_syslog(const struct sink_line *line)
{
	static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	char head[96];
	time_t now = time(NULL);
	struct tm local;
	if (localtime_r(&now, &local) == NULL)
		return true;
	int length = snprintf(head, sizeof(head), "<%d>%s %2d %02d:%02d:%02d " IDENTITY "[%ld]: ",
			      LOG_DAEMON | line->priority, months[local.tm_mon], local.tm_mday,
			      local.tm_hour, local.tm_min, local.tm_sec, (long)getpid());
	const struct iovec parts[] = {{head, (size_t)length}, {line->text, line->length}};
	return send_datagram(parts, 2);
}

/* The journal's native protocol: NAME=value, a line each; no value has a line feed. Names are
 * capital letters, digits and underscores. */
static void add_field(struct buffer *entry, const struct sink_field *field)
{
	size_t start = entry->length;
	buffer_append_text(entry, "ONCEWRAP_");
	for (const char *at = field->name; *at != '\0'; at++)
		buffer_append_byte(entry, *at >= 'a' && *at <= 'z'
					      ? (unsigned char)(*at - 'a' + 'A')
					      : (unsigned char)*at);
	buffer_append_byte(entry, '=');
	buffer_append(entry, field->value, field->length);
	if (buffer_append_byte(entry, '\n') == 0)
		return;
	entry->failed = false;
	entry->length = start;
}

static bool send_journal(const struct sink_line *line)
{
	static unsigned char memory[ENTRY_SIZE];
	struct buffer entry = {
	    .data = memory, .capacity = sizeof(memory), .limit = sizeof(memory) - 1};
	buffer_printf(&entry,
		      "PRIORITY=%d\nSYSLOG_FACILITY=%d\nSYSLOG_IDENTIFIER=" IDENTITY "\nMESSAGE=",
		      line->priority, LOG_FAC(LOG_DAEMON));
	buffer_append(&entry, line->text, line->length);
	buffer_append_byte(&entry, '\n');
	for (size_t i = 0; i < line->field_count; i++)
		add_field(&entry, &line->fields[i]);
	return send_datagram(&(struct iovec){entry.data, entry.length}, 1);
}

static void tell_dropped(void (*tell)(const char *message))
{
	char message[128];
	snprintf(message, sizeof(message),
		 "%" PRIu64 " lines of the log are lost: nobody took them", sink.dropped);
	sink.dropped = 0;
	sink.telling = true;
	tell(message);
	sink.telling = false;
}

static void tell_unreachable(int reason, void (*tell)(const char *message))
{
	char message[sizeof(sink.address.sun_path) + 160];
	sink.unreachable = true;
	snprintf(message, sizeof(message),
		 "%s: %s; standard error has the log until that socket is served",
		 sink.address.sun_path, strerror(reason));
	sink.telling = true;
	tell(message);
	sink.telling = false;
}

void sink_write(const struct sink_line *line, void (*tell)(const char *message))
{
	bool sent = sink.kind == SINK_SYSLOG    ? send_syslog(line)
		    : sink.kind == SINK_JOURNAL ? send_journal(line)
						: false;
	if (sent) {
		sink.unreachable = false;
	} else {
		int reason = errno;
		write_stderr(line);
		if (sink.kind != SINK_STDERR && !sink.unreachable && !sink.telling)
			tell_unreachable(reason, tell);
	}
	if (sink.dropped > 0 && !sink.stalled && !sink.telling)
		tell_dropped(tell);
}
