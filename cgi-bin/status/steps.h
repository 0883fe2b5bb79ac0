/* SPDX-License-Identifier: ISC */
/* What can be done about a record that needs attention, as once-show advises. */
#ifndef ONCEWRAP_STATUS_STEPS_H
#define ONCEWRAP_STATUS_STEPS_H

#include "base/buffer.h"
#include "cgi-bin/status/snapshot.h"

#include <stddef.h>

#define STEPS_MOST 4

struct steps {
	const char *note; /* what to think of first, or what will happen by itself; "": nothing */
	struct step {
		const char *what;      /* it is for */
		struct buffer command; /* to be typed as it stands; owned */
	} items[STEPS_MOST];
	size_t count;
};

void steps_find(struct steps *steps, const struct attention_entry *entry,
		const struct snapshot *snapshot);
void steps_free(struct steps *steps);

/* "outcome unknown", "stale lease" */
const char *steps_state(const struct attention_entry *entry);

/* The record as commands name it. */
#define STEPS_NAME_LENGTH 13
void steps_name(const struct attention_entry *entry, char name[STEPS_NAME_LENGTH]);
/* Its key as log lines name it: "sha256:", and the first digits. */
#define STEPS_KEY_LENGTH 20
void steps_key(const struct attention_entry *entry, char key[STEPS_KEY_LENGTH]);

#endif
