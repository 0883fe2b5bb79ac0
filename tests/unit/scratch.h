/* SPDX-License-Identifier: ISC */
/* A directory of a test program's own, gone at its end, and what it takes to fill it. */
#ifndef ONCEWRAP_TESTS_UNIT_SCRATCH_H
#define ONCEWRAP_TESTS_UNIT_SCRATCH_H

#include <sys/types.h>

/* Fixtures: make it (its path has no symlink in it), and remove it with all that is in it. */
void scratch_set_up(void);
void scratch_tear_down(void);

/* The path of NAME in it ("" : its own), in one of several static buffers that are used in turn. */
const char *scratch_path(const char *name);

/* Make a directory, a file, an executable shell script of these lines, or a symlink. */
void scratch_directory(const char *name);
void scratch_file(const char *name, mode_t mode, const char *text);
const char *scratch_script(const char *name, const char *lines);
void scratch_link(const char *name, const char *target);

/* The content of a file in it, in a static buffer; "" when there is none yet. */
const char *scratch_read(const char *name);

#endif
