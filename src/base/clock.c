/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/clock.h"

#include "base/digest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

static int64_t milliseconds_of(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now); /* fails only for a clock the kernel does not have */
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_now(void)
{
	return milliseconds_of(CLOCK_BOOTTIME);
}

int clock_wait(int64_t when)
{
	if (when == CLOCK_NEVER)
		return -1;
	int64_t now = clock_now();
	if (when <= now)
		return 0;
	/* now was rounded down, so the difference is never short */
	return when - now > INT_MAX ? INT_MAX : (int)(when - now);
}

void clock_pause(int64_t milliseconds)
{
	uint32_t random = 0;
	if (random_bytes(&random, sizeof(random)) < 0)
		random = 0; /* a pause without jitter is still a pause */
	int64_t nanoseconds =
	    milliseconds * 1000000 + milliseconds * 500 * (int64_t)(random % 1001);

	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	nanoseconds += until.tv_nsec;
	until.tv_sec += (time_t)(nanoseconds / 1000000000);
	until.tv_nsec = (long)(nanoseconds % 1000000000);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

void clock_format(char text[CLOCK_STAMP_LENGTH], int64_t milliseconds)
{
	time_t seconds = (time_t)(milliseconds / 1000);
	struct tm utc;
	gmtime_r(&seconds, &utc);
	size_t length = strftime(text, CLOCK_STAMP_LENGTH, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + length, CLOCK_STAMP_LENGTH - length, ".%03uZ",
		 (unsigned)(milliseconds % 1000) % 1000);
}

void clock_stamp(char text[CLOCK_STAMP_LENGTH])
{
	clock_format(text, milliseconds_of(CLOCK_REALTIME));
}
