/* SPDX-License-Identifier: ISC */
/* A trivial CGI program: reads its input to the end, as any handler of a POST does, and answers. */
#include <config.h>

#include "answer.h"

#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	static const char answer[] = "Status: 200 OK\r\n" ANSWER_HEADERS "\r\n" ANSWER_BODY;
	char input[4096];
	ssize_t got;
	do
		got = read(STDIN_FILENO, input, sizeof(input));
	while (got > 0);
	if (got < 0)
		return EXIT_FAILURE;
	ssize_t put = write(STDOUT_FILENO, answer, sizeof(answer) - 1);
	return put == (ssize_t)sizeof(answer) - 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
