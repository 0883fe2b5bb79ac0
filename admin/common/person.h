/* SPDX-License-Identifier: ISC */
/* Who changes something, and where: what is written beside the change. */
#ifndef ONCEWRAP_ADMIN_PERSON_H
#define ONCEWRAP_ADMIN_PERSON_H

#define PERSON_LENGTH 256 /* with its NUL */

/* The account, and behind it who became it by sudo: "root", "root (sudo: alice)". */
void person_name(char text[PERSON_LENGTH]);

/* This host. */
void person_host(char text[PERSON_LENGTH]);

/* Both: "root@db1", "root@db1 (sudo: alice)". */
void person_describe(char text[PERSON_LENGTH]);

#endif
