/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/change/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "broker/sender.h"
#include "handler/cgi_response.h"

/* Of an answer that ends a request; 1xx does not. And of one by which nothing was done. */
enum { LEAST_STATUS = 200, LEAST_REFUSAL = 400, MOST_STATUS = 599 };

/* The status under which a record stands of which nobody has told an answer. */
enum { UNTOLD_STATUS = 200 };

static int take_status(void *target, const char *argument, struct error *error)
{
	return options_number(argument, LEAST_STATUS, MOST_STATUS,
			      &((struct answer *)target)->status, error);
}

/* One line, by the rules that a handler's output has to keep: what these drop is not theirs to say,
 * and a person's neither. */
static int take_header(void *target, const char *argument, struct error *error)
{
	struct answer *answer = target;
	struct cgi_response response;
	int result = -1;
	cgi_response_init(&response, SIZE_MAX);
	if (strpbrk(argument, "\r\n") != NULL) {
		error_set(error, ERROR_INPUT, "takes one line");
		goto out;
	}
	cgi_response_feed(&response, argument, strlen(argument));
	cgi_response_feed(&response, "\n\n", 2);
	if (response.state != CGI_RESPONSE_BODY)
		*error = response.error;
	else if (response.headers.length == 0 || response.once_trouble.kind != ERROR_NONE)
		error_set(error, ERROR_INPUT, "%.*s is not for a stored answer to say",
			  (int)strcspn(argument, ":"), argument);
	else if (buffer_append(&answer->lines, response.headers.data, response.headers.length) < 0)
		error_set(error, ERROR_MEMORY, "out of memory");
	else
		result = 0;
out:
	cgi_response_free(&response);
	return result;
}

static int take_body_file(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct answer *)target)->body_file = argument;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "status",
     .argument = "N",
     .help = "with --applied: the status that retries get",
     .take = take_status},
    {.name = "header",
     .argument = "NAME:VALUE",
     .help = "a header field of that answer, as often as needed",
     .take = take_header},
    {.name = "body-file",
     .argument = "FILE",
     .help = "the body of that answer",
     .take = take_body_file,
     .file = true},
};

struct option_group answer_options(struct answer *answer)
{
	return (struct option_group)OPTION_GROUP(entries, answer);
}

bool answer_is_given(const struct answer *answer)
{
	return answer->status != 0 || answer->lines.length > 0 || answer->body_file != NULL;
}

static bool has_content_type(const struct answer *answer)
{
	struct buffer value = {0};
	bool has = sender_field(&value, &answer->lines, "Content-Type");
	buffer_free(&value);
	return has;
}

int answer_check(const struct answer *answer, const struct program *program)
{
	if (answer_is_given(answer) && answer->status == 0)
		return options_refuse(program, "--header and --body-file need --status");
	if (answer->body_file == NULL)
		return GO_ON;
	if (!sender_has_body("GET", (int)answer->status))
		return options_refuse(program,
				      "--body-file: an answer of status %" PRId64 " has no body",
				      answer->status);
	/* RFC 3875 6.3.1 */
	if (!has_content_type(answer))
		return options_refuse(program, "--body-file needs --header=Content-Type:...");
	return GO_ON;
}

/* 0; 1: there is more than the limit; -1 with errno. */
static int read_all(const char *file, struct buffer *body, size_t limit)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -1;
	int result = 0;
	ssize_t count = 1;
	while (result == 0 && count > 0) {
		unsigned char *room = buffer_reserve(body, 65536);
		errno = ENOMEM;
		count = room != NULL ? read(fd, room, 65536) : -1;
		if (count > 0)
			body->length += (size_t)count;
		if (body->length > limit)
			result = 1;
		else if (count < 0)
			result = -1;
	}
	int number = errno;
	close(fd);
	errno = number;
	return result;
}

static int compose_body(struct answer *answer, const char *program, int64_t limit)
{
	if (answer->body_file == NULL)
		return GO_ON;
	switch (read_all(answer->body_file, &answer->body, (size_t)limit)) {
	case 0:
		return GO_ON;
	case 1:
		fprintf(stderr, "%s: %s: more than the %" PRId64 " bytes of limits.max_answer\n",
			program, answer->body_file, limit);
		return EX_DATAERR;
	default:
		fprintf(stderr, "%s: %s: %s\n", program, answer->body_file, strerror(errno));
		return EX_DATAERR;
	}
}

int answer_compose(struct answer *answer, const char *program, const struct config_limits *limits,
		   uint64_t largest)
{
	if (answer->status == 0)
		return GO_ON;
	int status = compose_body(answer, program, limits->max_answer);
	if (status != GO_ON)
		return status;
	buffer_printf(&answer->headers, "Status: %" PRId64 "\r\n", answer->status);
	buffer_append(&answer->headers, answer->lines.data, answer->lines.length);
	sender_field(&answer->location, &answer->lines, "Location");
	if (answer->headers.failed || answer->location.failed) {
		fprintf(stderr, "%s: out of memory\n", program);
		return EX_SOFTWARE;
	}
	if ((int64_t)answer->headers.length > limits->max_header_bytes) {
		fprintf(stderr,
			"%s: --header: more than the %" PRId64
			" bytes of limits.max_header_bytes\n",
			program, limits->max_header_bytes);
		return EX_DATAERR;
	}
	if (answer->headers.length + answer->body.length > largest) {
		fprintf(stderr,
			"%s: the answer: more than the %" PRIu64
			" bytes that the database's max_allowed_packet leaves\n",
			program, largest);
		return EX_DATAERR;
	}
	return GO_ON;
}

struct store_answer answer_to_store(const struct answer *answer)
{
	if (answer->status == 0)
		return (struct store_answer){
		    .status = UNTOLD_STATUS, .flags = RECORD_NOT_KEPT, .natural_done = true};
	return (struct store_answer){
	    .status = (int)answer->status,
	    .natural_done = answer->status < LEAST_REFUSAL,
	    .headers = answer->headers.data,
	    .headers_length = answer->headers.length,
	    .body = answer->body.data,
	    .body_length = answer->body.length,
	    .location = answer->location.data,
	    .location_length = answer->location.length,
	};
}

void answer_free(struct answer *answer)
{
	buffer_free(&answer->lines);
	buffer_free(&answer->headers);
	buffer_free(&answer->body);
	buffer_free(&answer->location);
}
