/* SPDX-License-Identifier: ISC */
/*
 * The least a FastCGI responder can do: what a replay is held against. Serves the listening socket
 * that spawn-fcgi hands it as descriptor 0.
 */
#include <config.h>

#include "answer.h"

#include <fcgiapp.h>
#include <stdlib.h>

int main(void)
{
	FCGX_Request request;
	if (FCGX_Init() != 0 || FCGX_InitRequest(&request, 0, 0) != 0)
		return EXIT_FAILURE;
	while (FCGX_Accept_r(&request) == 0) {
		char input[4096];
		while (FCGX_GetStr(input, sizeof(input), request.in) == (int)sizeof(input))
			;
		FCGX_PutS("Status: 200 OK\r\n" ANSWER_HEADERS "\r\n" ANSWER_BODY, request.out);
		FCGX_Finish_r(&request);
	}
	return EXIT_FAILURE;
}
