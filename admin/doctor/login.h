/* SPDX-License-Identifier: ISC */
/* How the database is reached, and whether both accounts may log in there (examination.h). */
#ifndef ONCEWRAP_ADMIN_DOCTOR_LOGIN_H
#define ONCEWRAP_ADMIN_DOCTOR_LOGIN_H

#include "admin/doctor/examination.h"

/* Does the database run on this host? */
bool login_is_local(const struct config_store *store);

#endif
