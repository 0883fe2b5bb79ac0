/* SPDX-License-Identifier: ISC */
/*
 * The name of one request, by which lines of all logs on its way are found together: the web
 * server's where it gives one, else the client's, else made here. What comes from outside is
 * believed only as a short word of harmless letters; anything else is replaced, and never shown.
 */
#ifndef ONCEWRAP_BROKER_REQUEST_ID_H
#define ONCEWRAP_BROKER_REQUEST_ID_H

#include "base/params.h"
#include "config/route.h"

/* Longest one, with its NUL. */
#define REQUEST_ID_SIZE 129

/* The first of the sources that has a good one, or 128 random bits in hex; "" where the system has
 * no randomness either. */
void request_id_choose(char id[REQUEST_ID_SIZE], const struct source_list *sources,
		       const struct params *params);

#endif
