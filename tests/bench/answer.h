/* SPDX-License-Identifier: ISC */
/* The one answer that everything measured gives: 200 and a body of 500 bytes. */
#ifndef ONCEWRAP_BENCH_ANSWER_H
#define ONCEWRAP_BENCH_ANSWER_H

#define ANSWER_LINE "Fifty bytes with the newline: ten of these lines.\n"
#define ANSWER_BODY                                                                                \
	ANSWER_LINE ANSWER_LINE ANSWER_LINE ANSWER_LINE ANSWER_LINE ANSWER_LINE ANSWER_LINE        \
	    ANSWER_LINE ANSWER_LINE ANSWER_LINE
#define ANSWER_HEADERS "Content-Type: text/plain\r\nContent-Length: 500\r\n"

_Static_assert(sizeof(ANSWER_BODY) - 1 == 500, "the body is as long as its Content-Length says");

#endif
