/* SPDX-License-Identifier: ISC */
/* What the service manager of this host says, where one runs. */
#ifndef ONCEWRAP_ADMIN_DOCTOR_SYSTEMD_H
#define ONCEWRAP_ADMIN_DOCTOR_SYSTEMD_H

#include <stdbool.h>

/* Asked of systemctl, and not of a directory: it is what cures need. */
bool systemd_runs(void);

/* `unit` is a plain name. */
bool systemd_is_enabled(const char *unit);
bool systemd_is_active(const char *unit);

#endif
