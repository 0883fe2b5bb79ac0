/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/record.h"

#include <string.h>

static const char *const state_names[] = {
    [RECORD_IN_FLIGHT] = "in_flight", [RECORD_COMPLETE] = "complete", [RECORD_UNKNOWN] = "unknown",
    [RECORD_RELEASED] = "released",   [RECORD_EXPIRED] = "expired",
};

#define STATE_COUNT (sizeof(state_names) / sizeof(state_names[0]))

#define FROM(state) (1u << (state))

static const struct {
	unsigned from;
	enum record_state to;
} moves[] = {
    [MOVE_CLAIM] = {0, RECORD_IN_FLIGHT},
    [MOVE_RECLAIM] = {FROM(RECORD_COMPLETE) | FROM(RECORD_IN_FLIGHT) | FROM(RECORD_EXPIRED),
		      RECORD_IN_FLIGHT},
    [MOVE_TAKE_OVER] = {FROM(RECORD_IN_FLIGHT) | FROM(RECORD_RELEASED), RECORD_IN_FLIGHT},
    [MOVE_STORE] = {FROM(RECORD_IN_FLIGHT) | FROM(RECORD_UNKNOWN), RECORD_COMPLETE},
    [MOVE_RELEASE] = {FROM(RECORD_IN_FLIGHT), RECORD_RELEASED},
    [MOVE_MARK_UNKNOWN] = {FROM(RECORD_IN_FLIGHT), RECORD_UNKNOWN},
    [MOVE_LAPSE] = {FROM(RECORD_IN_FLIGHT), RECORD_UNKNOWN},
    [MOVE_FREE] = {FROM(RECORD_IN_FLIGHT) | FROM(RECORD_UNKNOWN), RECORD_RELEASED},
    [MOVE_RESOLVE] = {FROM(RECORD_IN_FLIGHT) | FROM(RECORD_UNKNOWN), RECORD_COMPLETE},
};

const char *record_state_name(enum record_state state)
{
	return state_names[state];
}

int record_state_parse(const char *name, size_t length)
{
	for (size_t i = 0; i < STATE_COUNT; i++)
		if (strlen(state_names[i]) == length && memcmp(state_names[i], name, length) == 0)
			return (int)i;
	return -1;
}

bool record_may_move(enum record_move move, enum record_state from)
{
	return (moves[move].from & FROM(from)) != 0;
}

enum record_state record_move_target(enum record_move move)
{
	return moves[move].to;
}

void record_init(struct record *record)
{
	*record = (struct record){0};
}

void record_free(struct record *record)
{
	buffer_free(&record->headers);
	buffer_free(&record->body);
	buffer_free(&record->reference);
	record_init(record);
}
