/* SPDX-License-Identifier: ISC */
/* One accepted connection's descriptor: how it is taken, and how it is given back so that the peer
 * gets what was written. */
#ifndef ONCEWRAP_WRAP_PEER_H
#define ONCEWRAP_WRAP_PEER_H

#include <stdbool.h>

/* Accept one connection from a non-blocking listener: blocking, close on exec, without Nagle's
 * delay on TCP. -1 when there is none (somebody else took it) or, with a log line, when the system
 * could not. */
int peer_accept(int listener, bool tcp);

/* Close. Input that is left, or that the peer may still be sending (`more_expected`), would make
 * TCP send a reset that overtakes our answer: then first wait, within a short bound, for the peer
 * to close. */
void peer_close(int fd, bool more_expected);

#endif
