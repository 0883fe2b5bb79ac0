/* SPDX-License-Identifier: ISC */
/* Who changes something: what is written beside the change. */
#ifndef ONCEWRAP_ADMIN_PERSON_H
#define ONCEWRAP_ADMIN_PERSON_H

#define PERSON_LENGTH 256 /* with its NUL */

/* "root@db1", "root@db1 (sudo: alice)". */
void person_describe(char text[PERSON_LENGTH]);

#endif
