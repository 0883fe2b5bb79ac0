/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/log.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/encode.h"
#include "base/sink.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

enum {
	LINE_SIZE = PIPE_BUF,       /* what a pipe takes in one piece: POSIX write(2) */
	VALUE_SIZE = LINE_SIZE / 2, /* so that one long value leaves room for the others */
	TAIL_SIZE = 8,              /* kept free for `..."`, `}` and the newline */
	KEY_DIGEST_SHOWN = 6,       /* bytes */
};

static const struct {
	const char *name;
	int priority;
} levels[] = {
    [LOG_LEVEL_DEBUG] = {"debug", LOG_DEBUG},
    [LOG_LEVEL_INFO] = {"info", LOG_INFO},
    [LOG_LEVEL_WARNING] = {"warning", LOG_WARNING},
    [LOG_LEVEL_ERROR] = {"error", LOG_ERR},
};

static const enum sink_kind sinks[] = {
    [LOG_TARGET_STDERR] = SINK_STDERR,
    [LOG_TARGET_SYSLOG] = SINK_SYSLOG,
    [LOG_TARGET_JOURNALD] = SINK_JOURNAL,
};

static enum log_level log_least = LOG_LEVEL_INFO;

/* The line being built. The buffer never asks for more than the memory it starts with. */
static unsigned char line_memory[LINE_SIZE + 1];
static struct buffer line = {.data = line_memory, .capacity = sizeof(line_memory)};
static enum log_level line_level;
static bool line_open;

/* Where its fields stand in it, for a target that has them one by one. */
static struct {
	const char *name;
	size_t begin; /* of its comma */
	size_t value;
} fields[SINK_MOST_FIELDS];
static size_t field_count;

static const char *request_id;
static void (*on_line)(unsigned level);

void log_open(enum log_target target, const char *socket, enum log_level least)
{
	sink_open(sinks[target], socket);
	log_least = least;
}

void log_count_by(void (*count)(unsigned level))
{
	on_line = count;
}

void log_set_request(const char *id)
{
	request_id = id != NULL && *id != '\0' ? id : NULL;
}

bool log_wants(enum log_level level)
{
	return level >= log_least;
}

/* `,"NAME":` in front of a value; false when there is no line or no room, and then nothing was
 * added. */
static bool begin_field(const char *name, size_t value_length)
{
	if (!line_open)
		return false;
	size_t start = line.length;
	line.limit = LINE_SIZE - TAIL_SIZE;
	if (buffer_printf(&line, ",\"%s\":", name) == 0 &&
	    value_length <= line.limit - line.length) {
		if (field_count < SINK_MOST_FIELDS) {
			fields[field_count].name = name;
			fields[field_count].begin = start;
			fields[field_count++].value = line.length;
		}
		return true;
	}
	buffer_clear(&line);
	line.length = start;
	return false;
}

/* The value of a field begun, in quotes; cut at a character when it is too long. */
static void add_string(const unsigned char *value, size_t length)
{
	size_t start = line.length;
	if (line.limit > start + VALUE_SIZE)
		line.limit = start + VALUE_SIZE;
	buffer_append_byte(&line, '"');
	start = line.length;
	bool whole = encode_json(&line, value, length) == 0;
	if (!whole) {
		/* once more by characters, to fill what room there is */
		line.failed = false;
		line.length = start;
		for (size_t size; length > 0; value += size, length -= size) {
			uint32_t code;
			size = utf8_next(value, length, &code);
			if (size == 0)
				size = 1;
			if (encode_json(&line, value, size) < 0)
				break;
		}
		line.failed = false;
	}
	line.limit = LINE_SIZE;
	buffer_append_text(&line, whole ? "\"" : "...\"");
}

void log_begin(enum log_level level, const char *event)
{
	log_end(); /* a line left open by a caller is told, not lost */
	if (!log_wants(level))
		return;
	char stamp[CLOCK_STAMP_LENGTH];
	clock_stamp(stamp);
	buffer_clear(&line);
	line.limit = LINE_SIZE - TAIL_SIZE;
	buffer_printf(&line, "{\"ts\":\"%s\",\"level\":\"%s\"", stamp, levels[level].name);
	line_level = level;
	line_open = true;
	field_count = 0;
	log_field_text("event", event);
	log_field_text("request_id", request_id);
}

void log_field_text(const char *name, const char *value)
{
	if (value != NULL)
		log_field_bytes(name, value, strlen(value));
}

void log_field_bytes(const char *name, const void *value, size_t length)
{
	if (value != NULL && begin_field(name, sizeof("\"\"")))
		add_string(value, length);
}

void log_field_number(const char *name, int64_t value)
{
	char text[24];
	int length = snprintf(text, sizeof(text), "%" PRId64, value);
	if (begin_field(name, (size_t)length))
		buffer_append(&line, text, (size_t)length);
}

void log_field_bool(const char *name, bool value)
{
	if (begin_field(name, strlen("false")))
		buffer_append_text(&line, value ? "true" : "false");
}

void log_field_time(const char *name, int64_t milliseconds)
{
	char text[CLOCK_STAMP_LENGTH];
	clock_format(text, milliseconds);
	log_field_text(name, text);
}

void log_field_hex(const char *name, const unsigned char *value, size_t length)
{
	if (value == NULL || !begin_field(name, 2 * length + sizeof("\"\"")))
		return;
	buffer_append_byte(&line, '"');
	for (size_t i = 0; i < length; i++) {
		char digits[3];
		encode_hex(digits, value + i, 1);
		buffer_append_text(&line, digits);
	}
	buffer_append_byte(&line, '"');
}

void log_field_key(const char *name, const void *key, size_t length)
{
	if (key == NULL || !line_open)
		return;
	unsigned char digest[DIGEST_LENGTH];
	digest_of(key, length, digest);
	char text[sizeof("sha256:") + 2 * KEY_DIGEST_SHOWN] = "sha256:";
	encode_hex(text + strlen(text), digest, KEY_DIGEST_SHOWN);
	log_field_text(name, text);
}

static void tell(const char *message)
{
	log_message(LOG_LEVEL_WARNING, "log", "%s", message);
}

/* The fields as the sink takes them; how many. */
static size_t list_fields(struct sink_field list[SINK_MOST_FIELDS])
{
	const char *text = (const char *)line.data;
	size_t count = 0;
	for (size_t i = 0; i < field_count; i++) {
		if (strcmp(fields[i].name, "message") == 0)
			continue; /* the journal has another word for it: the whole line */
		size_t end = i + 1 < field_count ? fields[i + 1].begin : line.length;
		size_t from = fields[i].value;
		if (text[from] == '"') {
			from++;
			end--;
		}
		list[count++] = (struct sink_field){fields[i].name, text + from, end - from};
	}
	return count;
}

void log_end(void)
{
	if (!line_open)
		return;
	line_open = false;
	struct sink_field list[SINK_MOST_FIELDS];
	size_t count = list_fields(list);
	line.limit = LINE_SIZE;
	buffer_append_byte(&line, '}');
	if (on_line != NULL)
		on_line(line_level);
	sink_write(&(struct sink_line){.priority = levels[line_level].priority,
				       .text = (char *)line.data,
				       .length = line.length,
				       .fields = list,
				       .field_count = count},
		   tell);
}

void log_message(enum log_level level, const char *event, const char *format, ...)
{
	if (!log_wants(level))
		return;
	char message[VALUE_SIZE];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	log_begin(level, event);
	log_field_text("message", message);
	log_end();
}
