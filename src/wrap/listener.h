/* SPDX-License-Identifier: ISC */
/*
 * The listening socket: taken over from whoever started us, or made by us at a configured address.
 * Hides where it came from; only a socket file that we made is ever removed.
 */
#ifndef ONCEWRAP_WRAP_LISTENER_H
#define ONCEWRAP_WRAP_LISTENER_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct listener {
	int fd; /* -1: none; above 2, non-blocking, close on exec */
	bool tcp;
	/* private from here */
	char *path;   /* the socket file we made, owned; NULL: none */
	dev_t device; /* which file that was: another may stand there by now */
	ino_t inode;
};

/* Take over a listening socket: the service manager's (LISTEN_FDS), else descriptor 0, in whose
 * place /dev/null is put. fd is -1 when there is neither. 0, or -1 with *error when there is one
 * that cannot be used. */
int listener_take(struct listener *listener, struct error *error);

/* Whom the file of a socket lets in. */
struct listener_access {
	mode_t mode;
	const char *group; /* its group; "": it is given to the account below */
	uid_t uid;         /* -1: it stays ours */
	gid_t gid;
};

/* Make one at `address`: "/path", "HOST:PORT", "[IPV6]:PORT" or "*:PORT"; `access` is for a path. A
 * stale socket file is replaced; anything else at that path is left alone. 0, or -1 with *error. */
int listener_make(struct listener *listener, const char *address,
		  const struct listener_access *access, struct error *error)
    __attribute__((warn_unused_result));

/* Close, and remove the socket file if it is ours and still there. For the process that made it. */
void listener_remove(struct listener *listener);

#endif
