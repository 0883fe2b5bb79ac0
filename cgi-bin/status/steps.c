/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/steps.h"

#include <string.h>

#include "admin/show/advice.h"
#include "base/encode.h"
#include "cgi-bin/status/command.h"

const char *steps_state(const struct attention_entry *entry)
{
	return entry->state == RECORD_UNKNOWN ? "outcome unknown" : "stale lease";
}

void steps_name(const struct attention_entry *entry, char name[STEPS_NAME_LENGTH])
{
	encode_hex(name, entry->id, (STEPS_NAME_LENGTH - 1) / 2);
}

void steps_key(const struct attention_entry *entry, char key[STEPS_KEY_LENGTH])
{
	static const char kind[] = "sha256:";
	memcpy(key, kind, strlen(kind));
	encode_hex(key + strlen(kind), entry->key_digest, (STEPS_KEY_LENGTH - sizeof(kind)) / 2);
}

void steps_find(struct steps *steps, const struct attention_entry *entry,
		const struct snapshot *snapshot)
{
	/* As much of it as the advice looks at. */
	struct inspection seen = {
	    .record = {.state = entry->state, .flags = entry->flags},
	    .route = entry->route,
	    .stale = entry->state == RECORD_IN_FLIGHT,
	};
	struct advice advice[ADVICE_MOST];
	char name[STEPS_NAME_LENGTH];
	memcpy(seen.id, entry->id, DIGEST_LENGTH);
	steps_name(entry, name);
	*steps =
	    (struct steps){.note = "", .count = 1, .items = {{.what = "all that is known of it:"}}};
	command_append(&steps->items[0].command, "once-show", snapshot->connect.file);
	buffer_printf(&steps->items[0].command, " %s", name);
	size_t count = advice_give(&seen, &snapshot->connect, advice);
	for (size_t i = 0; i < count; i++)
		if (advice[i].command.length == 0)
			steps->note = advice[i].what;
		else /* it changes hands */
			steps->items[steps->count++] =
			    (struct step){.what = advice[i].what, .command = advice[i].command};
}

void steps_free(struct steps *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		buffer_free(&steps->items[i].command);
	*steps = (struct steps){0};
}
