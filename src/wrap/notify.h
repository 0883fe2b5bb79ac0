/* SPDX-License-Identifier: ISC */
/* Tells the service manager how we are: the protocol of sd_notify(3), without its library. */
#ifndef ONCEWRAP_WRAP_NOTIFY_H
#define ONCEWRAP_WRAP_NOTIFY_H

void notify_ready(void);
void notify_reloading(void); /* to be followed by notify_ready */
void notify_stopping(void);

#endif
