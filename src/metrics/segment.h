/* SPDX-License-Identifier: ISC */
/*
 * The segment's file under the run directory, mapped: for writing by those who count, for reading
 * by those who tell. Should somebody cut the file short under the mapping, it turns into memory of
 * this process alone, and says so: no request dies of it.
 */
#ifndef ONCEWRAP_METRICS_SEGMENT_H
#define ONCEWRAP_METRICS_SEGMENT_H

#include "base/error.h"
#include "base/shared_file.h"
#include "metrics/layout.h"

#include <stdbool.h>
#include <sys/types.h>

struct segment_map {
	struct segment *segment; /* NULL: none */
	dev_t device;            /* of the file */
	ino_t inode;
};

/* For writing; made where it is missing (base/shared_file.h). A map that is open already is closed,
 * unless it fails. */
enum shared_found segment_open(struct segment_map *map, const char *directory,
			       const struct shared_owner *owner, struct error *error);

/* For reading, as anybody who may. 0 or -1 with *error. */
int segment_open_to_read(struct segment_map *map, const char *directory, struct error *error)
    __attribute__((warn_unused_result));

void segment_close(struct segment_map *map);

/* Was the file cut short under it? */
bool segment_was_cut(const struct segment_map *map);

/* Is its file still the one that stands in the directory, and whole? */
bool segment_stands(const struct segment_map *map, const char *directory);

/* Would segment_open take what stands in the directory for a segment of that user? Nothing there is
 * fine. 0, or -1 with *error. */
int segment_examine(const char *directory, uid_t user, struct error *error)
    __attribute__((warn_unused_result));

#endif
