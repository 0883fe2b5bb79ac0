/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define FIRST_PASSED_FD  3 /* sd_listen_fds(3): SD_LISTEN_FDS_START */
#define LOCK_DEADLINE_MS 10000

static int option_of(int fd, int option)
{
	int value = -1;
	socklen_t length = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 ? value : -1;
}

static bool is_listening(int fd)
{
	return option_of(fd, SO_ACCEPTCONN) == 1 && option_of(fd, SO_TYPE) == SOCK_STREAM;
}

/* Workers wake up together and race to accept: the loser must not block, whoever made the socket.
 */
static int prepare(struct listener *listener, int fd, struct error *error)
{
	int status = fcntl(fd, F_GETFL);
	if (status == -1 || fcntl(fd, F_SETFL, status | O_NONBLOCK) == -1 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1) {
		error_set_errno(error, errno, "cannot set up the listening socket");
		return -1;
	}
	listener->fd = fd;
	listener->tcp = option_of(fd, SO_DOMAIN) != AF_UNIX;
	return 0;
}

/* The number of sockets the service manager passed to this very process; 0: none. */
static long passed_count(void)
{
	const char *pid = getenv("LISTEN_PID");
	const char *count = getenv("LISTEN_FDS");
	if (pid == NULL || count == NULL || strtol(pid, NULL, 10) != (long)getpid())
		return 0;
	return strtol(count, NULL, 10);
}

static int take_passed(struct listener *listener, long count, struct error *error)
{
	if (count != 1) {
		error_set(error, ERROR_INPUT, "LISTEN_FDS: %ld sockets were passed: one is wanted",
			  count);
		return -1;
	}
	if (!is_listening(FIRST_PASSED_FD)) {
		error_set(error, ERROR_INPUT,
			  "LISTEN_FDS: descriptor 3 is not a listening stream socket "
			  "(ListenStream= and Accept=no are "
			  "wanted)");
		return -1;
	}
	return prepare(listener, FIRST_PASSED_FD, error);
}

static int take_standard_input(struct listener *listener, struct error *error)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (null == -1 || fd == -1 || dup2(null, STDIN_FILENO) == -1) {
		error_set_errno(error, errno,
				"cannot move the listening socket away from standard input");
		return -1;
	}
	close(null);
	return prepare(listener, fd, error);
}

int listener_take(struct listener *listener, struct error *error)
{
	*listener = (struct listener){.fd = -1};
	long count = passed_count();
	if (count != 0)
		return take_passed(listener, count, error);
	if (is_listening(STDIN_FILENO))
		return take_standard_input(listener, error);
	return 0;
}

/*
 * Of two starters that both find a stale socket file, the slower would remove what the faster has
 * just made. They take turns by a lock on the directory itself, which leaves no lock file behind.
 * -1 with *error.
 */
static int lock_directory(const char *path, struct error *error)
{
	char *directory = strdup(path);
	if (directory == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return -1;
	}
	char *slash = strrchr(directory, '/');
	slash[slash == directory ? 1 : 0] = '\0';
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int64_t deadline = clock_now() + LOCK_DEADLINE_MS;
	while (fd != -1 && flock(fd, LOCK_EX | LOCK_NB) == -1) {
		if (errno == EWOULDBLOCK && clock_now() < deadline) {
			clock_pause(20);
			continue;
		}
		int reason = errno;
		close(fd);
		fd = -1;
		errno = reason;
	}
	if (fd == -1)
		error_set_errno(error, errno, "cannot lock the directory %s", directory);
	free(directory);
	return fd;
}

/* Make sure that nothing stands at the path: a socket nobody answers on is removed, all else is
 * refused. */
static int clear_path(const struct sockaddr_un *address, struct error *error)
{
	const char *path = address->sun_path;
	struct stat status;
	if (lstat(path, &status) == -1) {
		if (errno == ENOENT)
			return 0;
		error_set_errno(error, errno, "%s", path);
		return -1;
	}
	if (!S_ISSOCK(status.st_mode)) {
		error_set(error, ERROR_INPUT,
			  "%s exists and is not a socket: it is left alone, name another path",
			  path);
		return -1;
	}
	int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (probe == -1) {
		error_set_errno(error, errno, "cannot make a socket");
		return -1;
	}
	int answered = connect(probe, (const struct sockaddr *)address, sizeof(*address));
	int reason = errno;
	close(probe);
	/* EAGAIN: its backlog is full, so there is somebody. */
	if (answered == 0 || reason == EAGAIN) {
		error_set(error, ERROR_INPUT, "%s: another process is serving this socket", path);
		return -1;
	}
	if (reason != ECONNREFUSED) {
		error_set_errno(error, reason,
				"%s: cannot tell whether somebody serves this socket", path);
		return -1;
	}
	if (unlink(path) == -1 && errno != ENOENT) {
		error_set_errno(error, errno, "%s: cannot remove the stale socket", path);
		return -1;
	}
	return 0;
}

/* A named group is put in its place. */
static int find_group(struct listener_access *access, struct error *error)
{
	if (*access->group == '\0')
		return 0;
	const struct group *group = getgrnam(access->group);
	if (group == NULL) {
		error_set(error, ERROR_INPUT, "socket_group: there is no group \"%s\"",
			  access->group);
		return -1;
	}
	access->uid = (uid_t)-1;
	access->gid = group->gr_gid;
	return 0;
}

/* Mode and owner are right before listen(2), so nobody connects whom they shut out. */
static int bind_path(struct listener *listener, int fd, const struct sockaddr_un *address,
		     const struct listener_access *access, struct error *error)
{
	const char *path = address->sun_path;
	mode_t mask = umask(~access->mode & 0777);
	int bound = bind(fd, (const struct sockaddr *)address, sizeof(*address));
	int reason = errno;
	umask(mask);
	if (bound == -1) {
		error_set_errno(error, reason, "cannot bind %s", path);
		return -1;
	}
	struct stat status;
	if (lchown(path, access->uid, access->gid) == -1 || lstat(path, &status) == -1 ||
	    listen(fd, SOMAXCONN) == -1) {
		error_set_errno(error, errno, "cannot listen at %s", path);
		unlink(path);
		return -1;
	}
	listener->device = status.st_dev;
	listener->inode = status.st_ino;
	return 0;
}

static int make_path(struct listener *listener, const char *path, struct listener_access access,
		     struct error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path)) {
		error_set(error, ERROR_INPUT,
			  "listen: %s is longer than the %zu bytes a socket's path may have", path,
			  sizeof(address.sun_path) - 1);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (find_group(&access, error) != 0)
		return -1;

	int result = -1;
	int fd = -1;
	int lock = lock_directory(path, error);
	if (lock == -1)
		return -1;
	listener->path = strdup(path);
	if (listener->path == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		goto out;
	}
	if (clear_path(&address, error) != 0)
		goto out;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1) {
		error_set_errno(error, errno, "cannot make a socket");
		goto out;
	}
	if (bind_path(listener, fd, &address, &access, error) != 0 ||
	    prepare(listener, fd, error) != 0)
		goto out;
	result = 0;
out:
	if (result != 0) {
		free(listener->path);
		listener->path = NULL;
		if (fd != -1)
			close(fd);
	}
	close(lock);
	return result;
}

/* "HOST:PORT" and "[IPV6]:PORT" in two, in place. -1 with *error. */
static int split_address(char *address, const char **host, const char **port, struct error *error)
{
	bool bracketed = address[0] == '[';
	char *colon = strrchr(address, ':');
	if (colon == NULL || colon[1] == '\0') {
		error_set(error, ERROR_INPUT,
			  "listen: \"%s\" is neither a path nor HOST:PORT nor [IPV6]:PORT",
			  address);
		return -1;
	}
	if (bracketed ? colon[-1] != ']' : strchr(address, ':') != colon) {
		error_set(error, ERROR_INPUT,
			  "listen: \"%s\": an IPv6 address is written [ADDRESS]:PORT", address);
		return -1;
	}
	colon[bracketed ? -1 : 0] = '\0';
	*host = bracketed ? address + 1 : address;
	*port = colon + 1;
	return 0;
}

static bool is_loopback(const struct addrinfo *info)
{
	if (info->ai_family == AF_INET) {
		struct sockaddr_in address;
		memcpy(&address, info->ai_addr, sizeof(address));
		return ntohl(address.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	struct sockaddr_in6 address;
	memcpy(&address, info->ai_addr, sizeof(address));
	return IN6_IS_ADDR_LOOPBACK(&address.sin6_addr);
}

static int make_tcp(struct listener *listener, const char *text, struct error *error)
{
	int result = -1;
	int fd = -1;
	struct addrinfo *found = NULL;
	char *address = strdup(text);
	if (address == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return -1;
	}
	const char *host, *port;
	if (split_address(address, &host, &port, error) != 0)
		goto out;
	const struct addrinfo wanted = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
					.ai_socktype = SOCK_STREAM};
	int failure = getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, port, &wanted, &found);
	if (failure != 0) {
		error_set(error, ERROR_INPUT, "listen: %s: %s", text, gai_strerror(failure));
		goto out;
	}
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;
	/* Without SO_REUSEADDR a restart fails while old connections are in TIME_WAIT; two
	 * listeners still collide. */
	if (fd == -1 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1 ||
	    bind(fd, found->ai_addr, found->ai_addrlen) == -1 || listen(fd, SOMAXCONN) == -1) {
		error_set_errno(error, errno, "cannot listen at %s", text);
		goto out;
	}
	if (!is_loopback(found))
		log_message(LOG_LEVEL_WARNING, "listen",
			    "%s is reachable from outside: FastCGI has no authentication, so "
			    "whoever connects can run the "
			    "handlers; guard it with a packet filter",
			    text);
	result = prepare(listener, fd, error);
out:
	if (result != 0 && fd != -1)
		close(fd);
	if (found != NULL)
		freeaddrinfo(found);
	free(address);
	return result;
}

int listener_make(struct listener *listener, const char *address,
		  const struct listener_access *access, struct error *error)
{
	*listener = (struct listener){.fd = -1};
	return address[0] == '/' ? make_path(listener, address, *access, error)
				 : make_tcp(listener, address, error);
}

void listener_remove(struct listener *listener)
{
	if (listener->fd != -1)
		close(listener->fd);
	struct stat status;
	if (listener->path != NULL && lstat(listener->path, &status) == 0 &&
	    status.st_dev == listener->device && status.st_ino == listener->inode &&
	    unlink(listener->path) == -1)
		log_message(LOG_LEVEL_INFO, "stop", "the socket %s stays behind: %s",
			    listener->path, strerror(errno));
	free(listener->path);
	*listener = (struct listener){.fd = -1};
}
