/* SPDX-License-Identifier: ISC */
/*
 * Named points where a test may stop this process dead, built only with --enable-fault-points; else
 * they are nothing. The file named by ONCEWRAP_FAULT_FILE holds "POINT ACTION" (kill; stop; or
 * exit): when this process reaches POINT, it removes the file (so that one process takes it once)
 * and acts on itself: SIGKILL, SIGSTOP, or _exit(70). A test puts the file there by rename(2), so
 * that no process reads half of it.
 */
#ifndef ONCEWRAP_BASE_FAULT_H
#define ONCEWRAP_BASE_FAULT_H

#ifdef ENABLE_FAULT_POINTS
void fault_point(const char *name);
#else
#define fault_point(name) ((void)0)
#endif

#endif
