/* SPDX-License-Identifier: ISC */
/*
 * What an error number of the database, or of Connector/C, means for a statement: whether issuing
 * it again can help, whether it may have been done, and what a person should do.
 */
#ifndef ONCEWRAP_STORE_TROUBLE_H
#define ONCEWRAP_STORE_TROUBLE_H

#include "base/error.h"
#include "metrics/series.h"

#include <stdbool.h>

enum trouble {
	TROUBLE_BUSY,     /* another session holds the row; nothing done, no fault (case C2) */
	TROUBLE_DEADLOCK, /* rolled back: the same statement again */
	TROUBLE_STOPPED,  /* killed on the server, the connection lives: the same statement again */
	TROUBLE_GONE,     /* the connection or the server: the same statement over a new one */
	TROUBLE_REFUSED,  /* will be refused again until a person cures it */
};

enum trouble trouble_of(unsigned code);

/* As what it is counted. */
enum metrics_reason trouble_reason(unsigned code);

/* May a statement that ended with this error have been done all the same? */
bool trouble_leaves_doubt(unsigned code);

/* "TEXT (CODE): CURE", the cure naming what to run or look at next. */
void trouble_describe(struct error *error, unsigned code, const char *text);

#endif
