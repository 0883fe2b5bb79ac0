/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/picture.h"

#include <inttypes.h>
#include <stdio.h>

#include "cgi-bin/status/words.h"

enum { BAR = 2, STEP = 3, HEIGHT = 28, WIDTH = METRICS_MINUTES * STEP };

/* Tenths of a unit, at least one unit where there is something at all. */
static uint64_t height_of(uint64_t count, uint64_t most)
{
	uint64_t height = count * HEIGHT * 10 / most;
	return count > 0 && height < 10 ? 10 : height;
}

struct bar {
	uint64_t bottom, top; /* in tenths */
};

static void append_bar(struct buffer *path, size_t minute, struct bar bar)
{
	uint64_t y = HEIGHT * 10 - bar.bottom, height = bar.top - bar.bottom;
	if (bar.top > bar.bottom)
		buffer_printf(path,
			      "M%zu %" PRIu64 ".%" PRIu64 "v-%" PRIu64 ".%" PRIu64 "h%dv%" PRIu64
			      ".%" PRIu64 "z",
			      minute * STEP, y / 10, y % 10, height / 10, height % 10, BAR,
			      height / 10, height % 10);
}

static void write_path(struct html *html, const char *class, struct buffer *path)
{
	if (path->length > 0) {
		html_open(html, "path", "class", class, "d", buffer_text(path), NULL);
		html_close(html);
	}
	html->out.failed = html->out.failed || path->failed;
	buffer_free(path);
}

void picture_tell(struct buffer *out, const struct tally *tally)
{
	words_counted(out, tally->hour.requests, "request", "requests");
	buffer_append_text(out, ", ");
	words_count(out, tally->hour.replayed);
	buffer_append_text(out, " replayed, ");
	words_counted(out, tally->hour.errors, "error", "errors");
	if (tally->hour.most == 0)
		return;
	buffer_append_text(out, "; most in one minute: ");
	words_count(out, tally->hour.most);
	buffer_append_text(out, " at ");
	words_minute(out, tally->hour.when);
	buffer_append_text(out, " UTC");
}

void picture_write(struct html *html, const struct reading_route *route, const struct tally *tally)
{
	struct buffer told = {0}, replayed = {0}, others = {0}, errors = {0};
	uint64_t most = tally->hour.most;
	for (size_t i = 0; i < METRICS_MINUTES && most > 0; i++) {
		const struct reading_minute *minute = &route->minutes[i];
		uint64_t top = height_of(minute->requests, most);
		uint64_t failed = height_of(minute->errors, most);
		uint64_t middle = failed < top ? top - failed : 0;
		uint64_t low = height_of(minute->replayed, most);
		if (low > middle)
			low = middle;
		append_bar(&replayed, i, (struct bar){0, low});
		append_bar(&others, i, (struct bar){low, middle});
		append_bar(&errors, i, (struct bar){middle, top});
	}
	buffer_append_text(&told, "The last hour: ");
	picture_tell(&told, tally);
	char size[32], width[16], height[16];
	snprintf(size, sizeof(size), "0 0 %d %d", WIDTH, HEIGHT + 1);
	snprintf(width, sizeof(width), "%d", WIDTH);
	snprintf(height, sizeof(height), "%d", HEIGHT + 1);
	html_open(html, "svg", "viewBox", size, "width", width, "height", height, "role", "img",
		  "aria-label", buffer_text(&told), NULL);
	write_path(html, "replayed", &replayed);
	write_path(html, "others", &others);
	write_path(html, "errors", &errors);
	html_open(html, "path", "class", "ground", "d", "M0 28.5h180", NULL);
	html_close(html);
	html_close(html);
	buffer_free(&told);
}
