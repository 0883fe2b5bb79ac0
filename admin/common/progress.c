/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

enum { REDRAW_AFTER = 200, MOST_BAR = 40, LEAST_BAR = 8, DEFAULT_WIDTH = 80 };

void progress_begin(struct progress *progress, const char *program, const char *noun,
		    uint64_t every, bool quiet)
{
	*progress = (struct progress){
	    .program = program,
	    .noun = noun,
	    .every = every,
	    .bar = !quiet && isatty(STDERR_FILENO),
	    .next = every,
	    .began = clock_now(),
	};
}

static int width_of_terminal(void)
{
	struct winsize size;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return DEFAULT_WIDTH;
	return size.ws_col;
}

static uint64_t rate_of(const struct progress *progress, uint64_t count, int64_t now)
{
	int64_t spent = now - progress->began;
	return spent > 0 ? count * 1000 / (uint64_t)spent : 0;
}

/* What stands behind the bar: how many, how fast, and for how long still. */
static int describe(const struct progress *progress, uint64_t count, double fraction, int64_t now,
		    char *text, size_t size)
{
	int length = snprintf(text, size, " %" PRIu64 " %s, %" PRIu64 "/s", count, progress->noun,
			      rate_of(progress, count, now));
	if (fraction > 0.01 && length > 0 && (size_t)length < size) {
		double spent = (double)(now - progress->began) / 1000;
		length += snprintf(text + length, size - (size_t)length, ", %.0f s left",
				   spent / fraction - spent);
	}
	return length;
}

static void draw(struct progress *progress, uint64_t count, double fraction, int64_t now)
{
	static const char full[] = "########################################";
	static const char empty[] = "........................................";
	char text[128];
	int length = describe(progress, count, fraction, now, text, sizeof(text));
	int bar = width_of_terminal() - length - 9; /* "[] 100%" and the cursor */
	if (fraction < 0 || bar < LEAST_BAR) {
		fprintf(stderr, "\r%.*s\033[K", width_of_terminal() - 1, text + 1);
	} else {
		bar = bar < MOST_BAR ? bar : MOST_BAR;
		int filled = (int)(fraction * bar);
		fprintf(stderr, "\r[%.*s%.*s] %3.0f%%%s\033[K", filled, full, bar - filled, empty,
			fraction * 100, text);
	}
	fflush(stderr);
	progress->shown = true;
	progress->redrawn = now;
}

void progress_show(struct progress *progress, uint64_t count, double fraction)
{
	int64_t now = clock_now();
	if (progress->bar) {
		if (!progress->shown || now - progress->redrawn >= REDRAW_AFTER)
			draw(progress, count, fraction, now);
		return;
	}
	if (progress->every == 0 || count < progress->next)
		return;
	fprintf(stderr, "%s: %" PRIu64 " %s, %" PRIu64 "/s\n", progress->program, count,
		progress->noun, rate_of(progress, count, now));
	progress->next = (count / progress->every + 1) * progress->every;
}

void progress_hide(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->shown = false;
}
