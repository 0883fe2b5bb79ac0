/* SPDX-License-Identifier: ISC */
/*
 * Asks for one operation until its outcome is known: the client's half of an idempotency key, with
 * libcurl. Why each step is as it is: docs/clients.md. retry.sh is the same in shell.
 *
 * BODY is the file with the request's body, and stands for the operation: its key is made before
 * the first send and kept in BODY.key, so that a client that dies and comes back asks for the same
 * operation, and not for a second one.
 *
 * Stands alone: cc -o retry retry.c -lcurl (7.84 or later).
 */
#include <curl/curl.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_PAUSE 30000       /* ms */
#define LONGEST_ASKED (24 * 3600) /* s: a Retry-After beyond it is no different */
#define UUID_LENGTH   36
#define LONGEST_KEY   255

enum exit_status {
	EXIT_DONE = 0,
	EXIT_REFUSED = 1,
	EXIT_UNABLE = 2,
	EXIT_LATER = 75, /* EX_TEMPFAIL of sysexits.h */
};

enum outcome { OUTCOME_DONE, OUTCOME_REFUSED, OUTCOME_AGAIN, OUTCOME_STOP };

struct job {
	const char *name; /* of the key's header */
	const char *method;
	const char *headers; /* file of further headers; NULL: none */
	long timeout;        /* s, of one attempt */
	long patience;       /* s, of all */
	long pause;          /* ms, the next one */
	long oldest;         /* s: no older key is sent */
	const char *body;
	const char *url;
	char key_file[PATH_MAX];
	char key[LONGEST_KEY + 2]; /* room for the end of its line */
};

struct attempt {
	int number;
	CURLcode trouble; /* CURLE_OK: an answer came, whole */
	char message[CURL_ERROR_SIZE];
	long status;
	bool replayed;
	bool told_when;   /* the answer has a Retry-After */
	curl_off_t asked; /* what it says, s */
	char *answer;     /* owned */
	size_t answer_length;
};

static void usage(FILE *out)
{
	fputs(
	    "usage: retry [-n NAME] [-X METHOD] [-H FILE] [-t SECONDS] [-w SECONDS] "
	    "[-b MILLISECONDS] [-k SECONDS] BODY URL\n"
	    "  -n  name of the key's header (Idempotency-Key)\n"
	    "  -X  method (POST)\n"
	    "  -H  a file of further headers, one a line: the content type, the credentials\n"
	    "  -t  how long to wait for one answer (60)\n"
	    "  -w  how long to go on in all (300)\n"
	    "  -b  the first pause, doubled after each attempt up to half a minute (500)\n"
	    "  -k  how old a key may be when it is sent: below what the API keeps it for (82800)\n"
	    "The final answer's body goes to standard output. Exit status: 0 done; 1 the API\n"
	    "refuses, for good; 75 not known yet, ask again later with the same BODY; 2 nothing\n"
	    "can be sent: wrong use, no key, or a key that is too old.\n",
	    out);
}

/*
 * The key
 */

/* A version 4 UUID (RFC 9562 5.4): random, so it says nothing about anybody and meets no other. */
static void make_uuid(char *text)
{
	unsigned char random[16];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		err(EXIT_UNABLE, "no randomness for a key");
	random[6] = (unsigned char)((random[6] & 0x0f) | 0x40);
	random[8] = (unsigned char)((random[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(random); i++) {
		bool dash = i == 4 || i == 6 || i == 8 || i == 10;
		text += sprintf(text, "%s%02x", dash ? "-" : "", random[i]);
	}
}

static bool write_durably(int fd, const char *text, size_t length)
{
	return write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
}

static bool sync_directory_of(const char *path)
{
	char copy[PATH_MAX];
	snprintf(copy, sizeof(copy), "%s", path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY);
	bool done = fd >= 0 && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return done;
}

/* link(2) lets one of two clients that start at once win, and both go on with the winner's key. */
static bool make_key(const char *path)
{
	char draft[PATH_MAX + 8], text[UUID_LENGTH + 2];
	make_uuid(text);
	strcat(text, "\n");
	snprintf(draft, sizeof(draft), "%s.XXXXXX", path);
	int fd = mkstemp(draft);
	if (fd < 0)
		return false;
	bool done = write_durably(fd, text, strlen(text)) &&
		    (link(draft, path) == 0 || errno == EEXIST) && sync_directory_of(path);
	close(fd);
	unlink(draft);
	return done;
}

static bool read_key(const char *path, char *key, size_t size)
{
	FILE *file = fopen(path, "r");
	if (!file)
		return false;
	bool whole = fgets(key, (int)size, file) != NULL && strchr(key, '\n') != NULL;
	fclose(file);
	if (!whole)
		return false;
	key[strcspn(key, "\n")] = '\0';
	return key[0] != '\0';
}

static long key_age(const char *path)
{
	struct stat status;
	if (stat(path, &status) != 0)
		err(EXIT_UNABLE, "%s", path);
	return (long)(time(NULL) - status.st_mtime);
}

/*
 * One attempt
 */

static struct curl_slist *add_header(struct curl_slist *list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(list, line);
	if (!longer)
		errx(EXIT_UNABLE, "no memory for a header");
	return longer;
}

/* The header lines of the file, and the key. Credentials come from a file, as every account of this
 * machine sees the arguments of a process. */
static struct curl_slist *make_headers(const struct job *job)
{
	char line[8192];
	snprintf(line, sizeof(line), "%s: %s", job->name, job->key);
	struct curl_slist *list = add_header(NULL, line);
	FILE *file = job->headers ? fopen(job->headers, "r") : NULL;
	if (job->headers && !file)
		err(EXIT_UNABLE, "%s", job->headers);
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] != '\0')
			list = add_header(list, line);
	}
	if (file)
		fclose(file);
	return list;
}

static const char *header(CURL *curl, const char *name)
{
	struct curl_header *found;
	return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value
										      : NULL;
}

static bool is_replayed(CURL *curl)
{
	static const char *const names[] = {"Idempotent-Replayed", "X-Idempotent-Replayed",
					    "X-Idempotent-Replay"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = header(curl, names[i]);
		if (value && strcasecmp(value, "true") == 0)
			return true;
	}
	return false;
}

/* The same bytes each time: a body that is made anew is another request. */
static void prepare(CURL *curl, const struct job *job, FILE *body, struct curl_slist *headers)
{
	fseeko(body, 0, SEEK_END);
	curl_easy_setopt(curl, CURLOPT_URL, job->url);
	curl_easy_setopt(curl, CURLOPT_POST, 1L);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, job->method);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)ftello(body));
	curl_easy_setopt(curl, CURLOPT_READDATA, body);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, job->timeout);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
}

static void send_request(CURL *curl, FILE *body, struct attempt *attempt)
{
	free(attempt->answer);
	*attempt = (struct attempt){.number = attempt->number + 1};
	FILE *answer = open_memstream(&attempt->answer, &attempt->answer_length);
	if (!answer)
		err(EXIT_UNABLE, "an answer");
	rewind(body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, attempt->message);
	attempt->trouble = curl_easy_perform(curl);
	fclose(answer);
	if (attempt->trouble != CURLE_OK && attempt->message[0] == '\0')
		strcpy(attempt->message, curl_easy_strerror(attempt->trouble));
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &attempt->status);
	curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &attempt->asked);
	attempt->told_when = header(curl, "Retry-After") != NULL;
	attempt->replayed = is_replayed(curl);
}

/* Names, connections, time-outs, answers cut short: nobody can say whether the operation was done,
 * and asking again with the same key finds out. */
static bool may_pass(CURLcode trouble)
{
	switch (trouble) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_HTTP2:
	case CURLE_PARTIAL_FILE:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_HTTP2_STREAM:
		return true;
	default:
		return false;
	}
}

static enum outcome judge(const struct attempt *attempt)
{
	if (attempt->trouble != CURLE_OK)
		return may_pass(attempt->trouble) ? OUTCOME_AGAIN : OUTCOME_STOP;
	long status = attempt->status;
	if (status / 100 == 2)
		return OUTCOME_DONE;
	/* A replay is what the API has stored: it will not change. */
	if (attempt->replayed)
		return OUTCOME_REFUSED;
	if (status / 100 == 5 || status == 408 || status == 425 || status == 429)
		return OUTCOME_AGAIN;
	/* The first request still runs. Every other 409 is final, as are mistakes. */
	return status / 100 == 4 && attempt->told_when ? OUTCOME_AGAIN : OUTCOME_REFUSED;
}

/*
 * All of them
 */

/* Milliseconds until the next attempt: what the API asks for, and between a half and the whole of
 * our own pause, so that many clients that failed together do not come back together. */
static long next_wait(const struct job *job, const struct attempt *attempt)
{
	uint32_t random = 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint32_t)time(NULL);
	curl_off_t asked = attempt->asked < LONGEST_ASKED ? attempt->asked : LONGEST_ASKED;
	long half = job->pause / 2;
	return (long)asked * 1000 + half + (long)(random % (uint32_t)(half + 1));
}

static void say(const struct attempt *attempt, const char *next)
{
	fprintf(stderr, "retry: attempt %d: ", attempt->number);
	if (attempt->trouble != CURLE_OK)
		fprintf(stderr, "no answer (%s)", attempt->message);
	else
		fprintf(stderr, "%ld%s", attempt->status, attempt->replayed ? ", replayed" : "");
	fprintf(stderr, "%s\n", next);
}

static enum exit_status finish(const struct attempt *attempt, enum outcome outcome)
{
	say(attempt, "");
	if (outcome == OUTCOME_STOP)
		return EXIT_UNABLE;
	if (fwrite(attempt->answer, 1, attempt->answer_length, stdout) != attempt->answer_length ||
	    fflush(stdout) != 0)
		err(EXIT_UNABLE, "standard output");
	return outcome == OUTCOME_DONE ? EXIT_DONE : EXIT_REFUSED;
}

static void rest(long milliseconds)
{
	struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static long seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long)now.tv_sec;
}

static enum exit_status ask(struct job *job, CURL *curl, FILE *body, struct attempt *attempt)
{
	long started = seconds_now();
	for (;;) {
		if (key_age(job->key_file) >= job->oldest)
			errx(EXIT_UNABLE,
			     "%s: too old, the API may have forgotten it; look whether the "
			     "operation was done",
			     job->key_file);
		send_request(curl, body, attempt);
		enum outcome outcome = judge(attempt);
		if (outcome != OUTCOME_AGAIN)
			return finish(attempt, outcome);
		long wait = next_wait(job, attempt);
		if (seconds_now() - started + wait / 1000 >= job->patience) {
			say(attempt, "; not known yet, ask again later");
			return EXIT_LATER;
		}
		char next[64];
		snprintf(next, sizeof(next), "; again in %ld ms", wait);
		say(attempt, next);
		rest(wait);
		job->pause = job->pause < LONGEST_PAUSE / 2 ? job->pause * 2 : LONGEST_PAUSE;
	}
}

static long number(const char *text)
{
	char *end;
	errno = 0;
	long value = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value < 0 || value > 999999999) {
		usage(stderr);
		exit(EXIT_UNABLE);
	}
	return value;
}

static void read_options(struct job *job, int argc, char **argv)
{
	for (int option; (option = getopt(argc, argv, "n:X:H:t:w:b:k:h")) != -1;) {
		switch (option) {
		case 'n':
			job->name = optarg;
			break;
		case 'X':
			job->method = optarg;
			break;
		case 'H':
			job->headers = optarg;
			break;
		case 't':
			job->timeout = number(optarg);
			break;
		case 'w':
			job->patience = number(optarg);
			break;
		case 'b':
			job->pause = number(optarg);
			break;
		case 'k':
			job->oldest = number(optarg);
			break;
		case 'h':
			usage(stdout);
			exit(EXIT_DONE);
		default:
			usage(stderr);
			exit(EXIT_UNABLE);
		}
	}
	if (argc - optind != 2) {
		usage(stderr);
		exit(EXIT_UNABLE);
	}
	job->body = argv[optind];
	job->url = argv[optind + 1];
	if (snprintf(job->key_file, sizeof(job->key_file), "%s.key", job->body) >=
	    (int)sizeof(job->key_file))
		errx(EXIT_UNABLE, "%s: too long a name", job->body);
}

int main(int argc, char **argv)
{
	struct job job = {.name = "Idempotency-Key",
			  .method = "POST",
			  .timeout = 60,
			  .patience = 300,
			  .pause = 500,
			  .oldest = 82800};
	struct attempt attempt = {0};
	read_options(&job, argc, argv);
	FILE *body = fopen(job.body, "rb");
	if (!body)
		err(EXIT_UNABLE, "%s", job.body);
	if (!read_key(job.key_file, job.key, sizeof(job.key)) &&
	    (!make_key(job.key_file) || !read_key(job.key_file, job.key, sizeof(job.key))))
		errx(EXIT_UNABLE, "%s: no key could be made", job.key_file);

	CURL *curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : NULL;
	if (!curl)
		errx(EXIT_UNABLE, "libcurl could not start");
	struct curl_slist *headers = make_headers(&job);
	prepare(curl, &job, body, headers);
	enum exit_status status = ask(&job, curl, body, &attempt);
	free(attempt.answer);
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	fclose(body);
	return (int)status;
}
