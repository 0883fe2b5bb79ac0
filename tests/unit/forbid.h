/* SPDX-License-Identifier: ISC */
/* A kernel that lacks a system call, as old ones and containers' filters do. */
#ifndef ONCEWRAP_TESTS_UNIT_FORBID_H
#define ONCEWRAP_TESTS_UNIT_FORBID_H

/* From here on SYS_... fails with ENOSYS, in this process and its children. */
void forbid_call(long number);

#endif
