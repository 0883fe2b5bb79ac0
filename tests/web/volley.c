/* SPDX-License-Identifier: ISC */
/*
 * Many identical requests in the same instant: opens COUNT connections to a loopback port, sends
 * all but the last byte of the request on each, then releases the last bytes all at once, and reads
 * every answer to its end. Prints one line an answer: status, SHA-256 of the body, and the headers
 * asked for as name=value; "cut" in place of the status where the answer is not whole. With -k the
 * requests differ in one thing, their keys: PREFIX and a number.
 */
#include <config.h>

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_HEADERS 16
#define MOST_SECONDS 120

struct options {
	size_t count;
	const char *method;
	const char *headers[MOST_HEADERS]; /* "Name: value", to send */
	size_t header_count;
	const char *shown[MOST_HEADERS]; /* names, to print */
	size_t shown_count;
	const char *key_prefix;
	const char *body;      /* text, or */
	const char *body_file; /* a file's name */
	unsigned short port;
	const char *path;
};

struct bytes {
	char *data; /* owned, a NUL behind it */
	size_t length;
};

struct caller {
	int fd;
	struct bytes request;
	size_t sent;
	struct bytes answer;
	bool ended;
};

static void add(struct bytes *bytes, const void *data, size_t length)
{
	char *grown = realloc(bytes->data, bytes->length + length + 1);
	if (!grown)
		err(2, "memory");
	memcpy(grown + bytes->length, data, length);
	bytes->data = grown;
	bytes->length += length;
	grown[bytes->length] = '\0';
}

static struct bytes read_file(const char *name)
{
	struct bytes content = {NULL, 0};
	char block[65536];
	FILE *file = fopen(name, "re");
	if (!file)
		err(2, "%s", name);
	for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;)
		add(&content, block, got);
	if (ferror(file))
		errx(2, "%s: cannot be read", name);
	fclose(file);
	return content;
}

/* HTTP/1.0, so that no answer comes in chunks and each ends with its connection. */
static struct bytes make_request(const struct options *options, size_t number)
{
	struct bytes body = {NULL, 0}, request = {NULL, 0};
	char line[1024];

	if (options->body_file)
		body = read_file(options->body_file);
	else if (options->body)
		add(&body, options->body, strlen(options->body));
	snprintf(line, sizeof(line), "%s %s HTTP/1.0\r\nHost: localhost\r\nContent-Length: %zu\r\n",
		 options->method, options->path, body.length);
	add(&request, line, strlen(line));
	for (size_t i = 0; i < options->header_count; i++) {
		add(&request, options->headers[i], strlen(options->headers[i]));
		add(&request, "\r\n", 2);
	}
	if (options->key_prefix) {
		snprintf(line, sizeof(line), "Idempotency-Key: %s%zu\r\n", options->key_prefix,
			 number);
		add(&request, line, strlen(line));
	}
	add(&request, "\r\n", 2);
	if (body.data)
		add(&request, body.data, body.length);
	free(body.data);
	return request;
}

static int connect_to(unsigned short port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		err(2, "port %u", port);
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		err(2, "fcntl");
	return fd;
}

/* One step of sending, all but `withheld` bytes, or of reading once that is done. */
static void advance(struct caller *caller, size_t withheld)
{
	char block[65536];
	size_t end = caller->request.length - withheld;

	if (caller->sent < end) {
		ssize_t sent = send(caller->fd, caller->request.data + caller->sent,
				    end - caller->sent, MSG_NOSIGNAL);
		if (sent > 0)
			caller->sent += (size_t)sent;
		else if (errno != EAGAIN && errno != EINTR)
			caller->sent = caller->request.length; /* it has answered early: read why */
		return;
	}
	ssize_t got = recv(caller->fd, block, sizeof(block), 0);
	if (got > 0)
		add(&caller->answer, block, (size_t)got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		caller->ended = true;
}

/* Drive every caller until all but `withheld` bytes are sent, or with 0 until every answer has
 * ended. */
static void drive(struct caller *callers, size_t count, size_t withheld, time_t deadline)
{
	struct pollfd *fds = calloc(count, sizeof(*fds));
	if (!fds)
		err(2, "memory");
	for (;;) {
		size_t busy = 0;
		for (size_t i = 0; i < count; i++) {
			bool sending = callers[i].sent + withheld < callers[i].request.length;
			bool wanted = sending || (withheld == 0 && !callers[i].ended);
			fds[i].fd = wanted ? callers[i].fd : -1;
			fds[i].events = sending ? POLLOUT : POLLIN;
			busy += wanted;
		}
		if (busy == 0 || time(NULL) > deadline)
			break;
		if (poll(fds, count, 1000) < 0 && errno != EINTR)
			err(2, "poll");
		for (size_t i = 0; i < count; i++) {
			if (fds[i].fd >= 0 && fds[i].revents)
				advance(&callers[i], withheld);
		}
	}
	free(fds);
}

/* The value of a header in the block, its length in *length; NULL when absent. */
static const char *find_header(const char *block, const char *name, size_t *length)
{
	for (const char *line = strstr(block, "\r\n"); line; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, strlen(name)) != 0 || line[strlen(name)] != ':')
			continue;
		line += strlen(name) + 1;
		line += strspn(line, " \t");
		*length = strcspn(line, "\r\n");
		return line;
	}
	return NULL;
}

static void print_answer(const struct caller *caller, const struct options *options)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int digest_length = 0;
	size_t length;
	int status = 0;
	char *end = caller->answer.data ? strstr(caller->answer.data, "\r\n\r\n") : NULL;

	if (!caller->ended || !end ||
	    sscanf(caller->answer.data, "HTTP/%*d.%*d %3d", &status) != 1) {
		printf("cut\n");
		return;
	}
	const char *body = end + 4;
	size_t body_length = caller->answer.length - (size_t)(body - caller->answer.data);
	end[2] = '\0';
	const char *declared = find_header(caller->answer.data, "Content-Length", &length);
	if (declared && strtoull(declared, NULL, 10) != body_length)
		printf("cut");
	else
		printf("%d", status);
	if (EVP_Digest(body, body_length, digest, &digest_length, EVP_sha256(), NULL) != 1)
		errx(2, "no SHA-256");
	putchar(' ');
	for (unsigned int i = 0; i < digest_length; i++)
		printf("%02x", digest[i]);
	for (size_t i = 0; i < options->shown_count; i++) {
		const char *value = find_header(caller->answer.data, options->shown[i], &length);
		printf(" %s=%.*s", options->shown[i], value ? (int)length : 0, value ? value : "");
	}
	putchar('\n');
}

static void usage(void)
{
	fprintf(
	    stderr,
	    "usage: volley [-n COUNT] [-m METHOD] [-H 'NAME: VALUE']... [-k PREFIX] [-s NAME]... "
	    "[-b TEXT | -d FILE] PORT PATH\n");
	exit(2);
}

static void read_options(struct options *options, int argc, char **argv)
{
	*options = (struct options){.count = 20, .method = "POST"};
	for (int c; (c = getopt(argc, argv, "n:m:H:k:s:b:d:")) != -1;) {
		if (c == 'n')
			options->count = strtoul(optarg, NULL, 10);
		else if (c == 'm')
			options->method = optarg;
		else if (c == 'H' && options->header_count < MOST_HEADERS)
			options->headers[options->header_count++] = optarg;
		else if (c == 'k')
			options->key_prefix = optarg;
		else if (c == 's' && options->shown_count < MOST_HEADERS)
			options->shown[options->shown_count++] = optarg;
		else if (c == 'b')
			options->body = optarg;
		else if (c == 'd')
			options->body_file = optarg;
		else
			usage();
	}
	if (argc - optind != 2 || options->count == 0)
		usage();
	options->port = (unsigned short)strtoul(argv[optind], NULL, 10);
	options->path = argv[optind + 1];
}

int main(int argc, char **argv)
{
	struct options options;
	read_options(&options, argc, argv);
	struct caller *callers = calloc(options.count, sizeof(*callers));
	if (!callers)
		err(2, "memory");

	time_t deadline = time(NULL) + MOST_SECONDS;
	for (size_t i = 0; i < options.count; i++) {
		callers[i].request = make_request(&options, i);
		callers[i].fd = connect_to(options.port);
	}
	drive(callers, options.count, 1, deadline);
	drive(callers, options.count, 0, deadline);

	for (size_t i = 0; i < options.count; i++) {
		print_answer(&callers[i], &options);
		close(callers[i].fd);
		free(callers[i].request.data);
		free(callers[i].answer.data);
	}
	free(callers);
	return EXIT_SUCCESS;
}
