/* SPDX-License-Identifier: ISC */
/*
 * What a text in the configuration must look like, one function for each kind of text; rows of the
 * settings table point here. Each gives 0, or -1 with *error telling what is wrong and what would
 * be right. Control bytes were refused before.
 */
#ifndef ONCEWRAP_CONFIG_GRAMMAR_H
#define ONCEWRAP_CONFIG_GRAMMAR_H

#include "base/error.h"
#include "config/route.h"

/* Absolute paths; the latter two also take "", and a socket's must fit its address. */
int grammar_directory(const char *text, struct error *error);
int grammar_file(const char *text, struct error *error);
int grammar_socket(const char *text, struct error *error);

/* A unix socket, HOST:PORT, [IPV6]:PORT, or "". */
int grammar_listen(const char *text, struct error *error);

/* A name that may be handed on to handlers. */
int grammar_variable(const char *text, struct error *error);

int grammar_route_name(const char *text, struct error *error);
int grammar_preset(const char *text, struct error *error); /* a name, an absolute path, or "" */
int grammar_path_glob(const char *text, struct error *error);
int grammar_host_glob(const char *text, struct error *error); /* or "" */

/* A method that can be guarded. */
int grammar_method(const char *text, struct error *error);

int grammar_header_name(const char *text, struct error *error);
int grammar_answer_header(const char *text, struct error *error); /* one of ours, or "" */
int grammar_part_header(const char *text, struct error *error);   /* of a request */
int grammar_header_line(const char *text, struct error *error);   /* "Name: value" */

/* "*", "2xx", "404", or one of them with "!" in front. */
int grammar_status(const char *text, struct error *error);

/* Of http or https, or "". */
int grammar_url(const char *text, struct error *error);

/* What stands behind the colon of a source. */
int grammar_source(enum source_kind kind, const char *name, struct error *error);

#endif
