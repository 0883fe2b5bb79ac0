/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/lib/proxy.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared with the proxy's process. */
struct proxy_orders {
	atomic_uint harm;
	atomic_uint spared; /* executions before it is done */
	atomic_uint code;
	atomic_uint connections;
	atomic_uint executions;
	atomic_uint preparations;
};

/* The client/server protocol: a packet is a length of three bytes, a sequence number, and that many
 * bytes. */
enum { HEADER = 4 };
enum { COM_QUERY = 0x03, COM_STMT_PREPARE = 0x16, COM_STMT_EXECUTE = 0x17 };
enum { OK_MARK = 0x00, EOF_MARK = 0xfe, ERROR_MARK = 0xff, EOF_LONGEST = 8 };

/* What was read from one side and not yet dealt with. */
struct side {
	int fd;
	unsigned char *data;
	size_t length, capacity;
};

struct session {
	struct proxy_orders *orders;
	struct side client, server;
	enum proxy_harm harm; /* being done to the reply that is under way */
	unsigned packets;     /* of that reply, so far */
	bool row;             /* a row was among them */
};

static void write_all(int fd, const void *data, size_t length)
{
	for (const unsigned char *place = data; length > 0;) {
		ssize_t written = send(fd, place, length, MSG_NOSIGNAL);
		if (written < 0)
			return; /* that side has gone; its end is read soon */
		place += written;
		length -= (size_t)written;
	}
}

/* false at the end of that side. */
static bool read_more(struct side *side)
{
	if (side->capacity - side->length < 65536) {
		side->capacity += 65536;
		side->data = realloc(side->data, side->capacity);
		if (side->data == NULL)
			_exit(2);
	}
	ssize_t got = read(side->fd, side->data + side->length, side->capacity - side->length);
	if (got <= 0)
		return false;
	side->length += (size_t)got;
	return true;
}

/* The length of the first whole packet, header included; 0 when there is none yet. */
static size_t packet_length(const struct side *side)
{
	if (side->length < HEADER)
		return 0;
	size_t length =
	    HEADER + side->data[0] + ((size_t)side->data[1] << 8) + ((size_t)side->data[2] << 16);
	return side->length >= length ? length : 0;
}

static void take(struct side *side, size_t length)
{
	memmove(side->data, side->data + length, side->length - length);
	side->length -= length;
}

static bool is_execution(const struct side *client, size_t length)
{
	static const char commit[] = {COM_QUERY, 'C', 'O', 'M', 'M', 'I', 'T'};
	if (client->data[HEADER] == COM_STMT_EXECUTE)
		return true;
	return length == HEADER + sizeof(commit) &&
	       memcmp(client->data + HEADER, commit, sizeof(commit)) == 0;
}

/* The harm to be done to this execution. */
static enum proxy_harm next_harm(struct proxy_orders *orders)
{
	orders->executions++;
	if (orders->harm == PROXY_NONE)
		return PROXY_NONE;
	if (orders->spared > 0) {
		orders->spared--;
		return PROXY_NONE;
	}
	return atomic_exchange(&orders->harm, PROXY_NONE);
}

/* false: the connection is to break. */
static bool pass_requests(struct session *session)
{
	struct side *client = &session->client;
	size_t length;
	while ((length = packet_length(client)) > 0) {
		bool command = length > HEADER && client->data[3] == 0;
		if (command && client->data[HEADER] == COM_STMT_PREPARE)
			session->orders->preparations++;
		if (command && is_execution(client, length)) {
			session->harm = next_harm(session->orders);
			session->packets = 0;
			session->row = false;
			if (session->harm == PROXY_LOSE_REQUEST)
				return false;
		}
		write_all(session->server.fd, client->data, length);
		take(client, length);
	}
	return true;
}

/* Does this packet end the reply? One row is all that a statement of the store returns. */
static bool is_last(struct session *session, size_t length)
{
	unsigned char mark = session->server.data[HEADER];
	bool first = session->packets++ == 0;
	if (mark == ERROR_MARK || (first && mark == OK_MARK))
		return true;
	if (mark == EOF_MARK && length <= HEADER + EOF_LONGEST)
		return session->row;
	if (!first && mark == OK_MARK)
		session->row = true;
	return false;
}

static void send_error(const struct session *session)
{
	static const char text[] = "#HY000made by the test";
	unsigned code = session->orders->code;
	size_t length = 3 + sizeof(text) - 1;
	unsigned char packet[64] = {
	    (unsigned char)length,      0,          0,
	    session->server.data[3],    ERROR_MARK, (unsigned char)code,
	    (unsigned char)(code >> 8),
	};
	memcpy(packet + HEADER + 3, text, sizeof(text) - 1);
	write_all(session->client.fd, packet, HEADER + length);
}

static bool pass_replies(struct session *session)
{
	struct side *server = &session->server;
	size_t length;
	while ((length = packet_length(server)) > 0) {
		bool last = session->harm != PROXY_NONE && is_last(session, length);
		if (last && session->harm == PROXY_FAIL_END)
			send_error(session);
		else if (last)
			return false;
		else if (session->harm != PROXY_LOSE_REPLY)
			write_all(session->client.fd, server->data, length);
		if (last)
			session->harm = PROXY_NONE;
		take(server, length);
	}
	return true;
}

static void serve(struct session *session)
{
	for (;;) {
		struct pollfd fds[] = {{.fd = session->client.fd, .events = POLLIN},
				       {.fd = session->server.fd, .events = POLLIN}};
		if (poll(fds, 2, -1) < 0)
			return;
		if (fds[0].revents != 0 &&
		    (!read_more(&session->client) || !pass_requests(session)))
			return;
		if (fds[1].revents != 0 && (!read_more(&session->server) || !pass_replies(session)))
			return;
	}
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* One client after the other, each in a process of its own. */
static void run(int listener, const char *server, struct proxy_orders *orders)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int client = accept(listener, NULL, NULL);
		if (client < 0)
			continue;
		pid_t child = fork();
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(listener);
			orders->connections++;
			struct session session = {
			    .orders = orders,
			    .client = {.fd = client},
			    .server = {.fd = connect_to(server)},
			};
			if (session.server.fd >= 0)
				serve(&session);
			_exit(0);
		}
		close(client);
	}
}

void proxy_start(struct proxy *proxy, const char *directory, const char *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(proxy->socket, sizeof(proxy->socket), "%s/proxy.%d", directory, (int)getpid());
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", proxy->socket);
	proxy->orders = mmap(NULL, sizeof(*proxy->orders), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(proxy->orders, MAP_FAILED);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_ge(listener, 0);
	unlink(proxy->socket);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 16), 0);
	proxy->process = fork();
	ck_assert_int_ge(proxy->process, 0);
	if (proxy->process == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(listener, server, proxy->orders);
	}
	close(listener);
}

void proxy_stop(struct proxy *proxy)
{
	kill(proxy->process, SIGKILL);
	waitpid(proxy->process, NULL, 0);
	unlink(proxy->socket);
	munmap(proxy->orders, sizeof(*proxy->orders));
}

void proxy_harm(struct proxy *proxy, enum proxy_harm harm, unsigned code)
{
	proxy_harm_later(proxy, 0, harm, code);
}

void proxy_harm_later(struct proxy *proxy, unsigned spared, enum proxy_harm harm, unsigned code)
{
	proxy->orders->code = code;
	proxy->orders->spared = spared;
	proxy->orders->harm = harm;
}

int proxy_is_armed(const struct proxy *proxy)
{
	return proxy->orders->harm != PROXY_NONE;
}

unsigned proxy_connections(const struct proxy *proxy)
{
	return proxy->orders->connections;
}

unsigned proxy_executions(const struct proxy *proxy)
{
	return proxy->orders->executions;
}

unsigned proxy_preparations(const struct proxy *proxy)
{
	return proxy->orders->preparations;
}
