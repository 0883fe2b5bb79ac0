/* SPDX-License-Identifier: ISC */
/* Findings on their way to standard output: for people, as JSON Lines, as a Nagios plugin does. */
#ifndef ONCEWRAP_ADMIN_DOCTOR_REPORT_H
#define ONCEWRAP_ADMIN_DOCTOR_REPORT_H

#include "doctor/findings.h"

#include <stdbool.h>

enum report_format { REPORT_HUMAN, REPORT_JSON, REPORT_NAGIOS };

/* `quiet` leaves out what is ok. GO_ON, or the exit status of what was told (writer.h). */
int report_print(const char *program, const struct findings *findings, enum report_format format,
		 bool quiet) __attribute__((warn_unused_result));

/* 0 all is ok, 1 warnings, 2 failures, 3 something could not be looked at, and the rest is ok: as
 * Nagios counts. */
int report_status(const struct findings *findings);

#endif
