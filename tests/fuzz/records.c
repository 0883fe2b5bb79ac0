/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/fuzz/records.h"

#include <fastcgi.h>
#include <stdlib.h>

#define HUGE_LENGTH (1u << 20)

bool records_next(struct records *records, struct record *record)
{
	const unsigned char *header = records->at;
	if (records->left < FCGI_HEADER_LEN || header[0] != FCGI_VERSION_1)
		return false;
	*record = (struct record){
	    .type = header[1],
	    .id = (unsigned)header[2] << 8 | header[3],
	    .content = header + FCGI_HEADER_LEN,
	    .length = (size_t)header[4] << 8 | header[5],
	    .padding = header[6],
	};
	size_t left = records->left - FCGI_HEADER_LEN;
	size_t whole = record->length + record->padding;
	record->have = record->length < left ? record->length : left;
	records->left = whole < left ? left - whole : 0;
	records->at = whole < left ? record->content + whole : record->content + left;
	return true;
}

/* FastCGI 1.0, 3.4. */
static bool take_length(const unsigned char **at, const unsigned char *end, size_t *length)
{
	size_t bytes = *at != end && **at >= 0x80 ? 4 : 1;
	if ((size_t)(end - *at) < bytes)
		return false;
	*length = bytes == 4 ? **at & 0x7f : **at;
	for (size_t i = 1; i < bytes; i++)
		*length = *length << 8 | (*at)[i];
	*at += bytes;
	return true;
}

enum pair_step pair_next(const unsigned char **at, const unsigned char *end, struct pair *pair)
{
	if (!take_length(at, end, &pair->name_length) || !take_length(at, end, &pair->value_length))
		return PAIR_CUT;
	if (pair->name_length > HUGE_LENGTH || pair->value_length > HUGE_LENGTH)
		return PAIR_HUGE;
	if ((size_t)(end - *at) < pair->name_length + pair->value_length)
		return PAIR_CUT;
	pair->name = *at;
	pair->value = *at + pair->name_length;
	*at += pair->name_length + pair->value_length;
	return PAIR_WHOLE;
}

static bool is_taken_wrongly(const struct record *record, unsigned id)
{
	if (record->id == FCGI_NULL_REQUEST_ID)
		return true;
	if (record->id != id)
		return record->length == 0;
	return record->type == FCGI_BEGIN_REQUEST ||
	       (record->type == FCGI_PARAMS && record->length == 0 && record->padding > 0);
}

/* The content of this request's records of one type, up to the empty one. */
static bool read_stream(struct expected *expected, struct records *records, unsigned type,
			struct buffer *content)
{
	for (;;) {
		size_t before = records->left;
		struct record record;
		if (!records_next(records, &record))
			return false;
		if (is_taken_wrongly(&record, expected->id)) {
			expected->length -= before;
			return false;
		}
		if (record.id != expected->id) {
			if (record.type == FCGI_BEGIN_REQUEST &&
			    record.length != sizeof(FCGI_BeginRequestBody))
				return false;
			continue;
		}
		if (record.type != type)
			return false;
		if (record.length == 0)
			return true;
		if (record.have > 0 && buffer_append(content, record.content, record.have) != 0)
			abort();
	}
}

static enum pair_step read_pairs(struct buffer *params)
{
	enum pair_step step = PAIR_WHOLE;
	const unsigned char *at = (const unsigned char *)buffer_text(params);
	const unsigned char *end = at + params->length;
	for (struct pair pair; at != end && step == PAIR_WHOLE;)
		step = pair_next(&at, end, &pair);
	return step;
}

bool expected_read(struct expected *expected, const unsigned char *data, size_t size)
{
	struct records records = {.at = data, .left = size};
	struct record begin;
	*expected = (struct expected){.end = EXPECTED_CUT_IN_PARAMS, .length = size};
	if (!records_next(&records, &begin) || begin.padding > 0)
		return false;
	expected->id = begin.id;
	bool whole = read_stream(expected, &records, FCGI_PARAMS, &expected->params);
	enum pair_step pairs = read_pairs(&expected->params);
	if (pairs == PAIR_HUGE)
		return false;
	if (!whole || pairs == PAIR_CUT)
		return true;
	whole = read_stream(expected, &records, FCGI_STDIN, &expected->body);
	expected->end = whole ? EXPECTED_WHOLE : EXPECTED_CUT_IN_BODY;
	return true;
}

void expected_free(struct expected *expected)
{
	buffer_free(&expected->params);
	buffer_free(&expected->body);
}
