/* SPDX-License-Identifier: ISC */
/*
 * Runs a fuzz target without a fuzzer, for `make check`: every file of its corpus, then as many
 * inputs made from those by chance, the same ones each time. With files as arguments it runs those.
 * Where the target aborts, the input is left in fuzz-NAME.input, to be run again.
 *
 * Configured with CC=clang --enable-libfuzzer the targets are built without this file;
 * tests/fuzz/search then runs them.
 */
#include <config.h>

#include "tests/fuzz/driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_SIZE 4096
#define MAX_CORPUS 256
#define ROUNDS     20000

struct input {
	size_t size;
	uint8_t data[INPUT_SIZE];
};

static struct input corpus[MAX_CORPUS];
static size_t corpus_count;

/* What the target is being fed. */
static struct input current;
static char finding[NAME_MAX];

/* The sanitizers, where there are any, then end in SIGABRT, which is heard here. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "abort_on_error=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static void keep_finding(int number)
{
	int fd = open(finding, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd >= 0 && write(fd, current.data, current.size) == (ssize_t)current.size)
		close(fd);
	signal(number, SIG_DFL);
	raise(number);
}

/* xorshift64* */
static uint64_t chance = 0x9e3779b97f4a7c15u;

static size_t below(size_t limit)
{
	chance ^= chance >> 12;
	chance ^= chance << 25;
	chance ^= chance >> 27;
	return (size_t)((chance * 0x2545f4914f6cdd1du) >> 33) % limit;
}

static int read_input(struct input *input, const char *path)
{
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		printf("Bail out! %s: %s\n", path, strerror(errno));
		return -1;
	}
	input->size = fread(input->data, 1, sizeof(input->data), file);
	fclose(file);
	return 0;
}

/* From a copy of just that size, so that a step too far is seen. */
static void feed(void)
{
	uint8_t *copy = malloc(current.size > 0 ? current.size : 1);
	if (copy == NULL)
		abort();
	memcpy(copy, current.data, current.size);
	LLVMFuzzerTestOneInput(copy, current.size);
	free(copy);
}

/* The structure characters of what is parsed here, and the ends of ranges. */
static const uint8_t telling[] = "\n\r\n:: \t\"\\,;=/09azAZ\x00\x1f\x7f\x80\xc3\xff";

static uint8_t some_byte(void)
{
	return below(2) == 0 ? (uint8_t)below(256) : telling[below(sizeof(telling) - 1)];
}

static void insert(size_t at, const uint8_t *data, size_t size)
{
	if (size > INPUT_SIZE - current.size)
		size = INPUT_SIZE - current.size;
	memmove(current.data + at + size, current.data + at, current.size - at);
	memcpy(current.data + at, data, size);
	current.size += size;
}

static void delete (size_t at, size_t size)
{
	if (size > current.size - at)
		size = current.size - at;
	memmove(current.data + at, current.data + at + size, current.size - at - size);
	current.size -= size;
}

static void change_once(void)
{
	size_t at = below(current.size + 1);
	const struct input *other = &corpus[below(corpus_count)];
	size_t from = below(other->size + 1);
	uint8_t byte = some_byte();
	switch (below(5)) {
	case 0:
		if (at < current.size)
			current.data[at] = byte;
		break;
	case 1:
		insert(at, &byte, 1);
		break;
	case 2:
		delete (at, 1);
		break;
	case 3:
		delete (at, 1 + below(32));
		break;
	case 4:
		insert(at, other->data + from, below(other->size - from + 1));
		break;
	}
}

static int read_corpus(void)
{
	char folder[PATH_MAX];
	char path[2 * PATH_MAX];
	const char *source = getenv("srcdir");
	snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", source != NULL ? source : ".",
		 fuzz_corpus);
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort); /* in order: the same each time */
	int result = 0;
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' && corpus_count < MAX_CORPUS && result == 0)
			result = read_input(&corpus[corpus_count++], path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (corpus_count == 0) {
		printf("Bail out! there is no corpus in %s\n", folder);
		return -1;
	}
	return result;
}

static int run_corpus(void)
{
	printf("1..2\n");
	if (read_corpus() == -1)
		return EXIT_FAILURE;
	for (size_t i = 0; i < corpus_count; i++) {
		current = corpus[i];
		feed();
	}
	printf("ok 1 - %s holds its promises for the %zu inputs of its corpus\n", fuzz_corpus,
	       corpus_count);
	fflush(stdout);
	for (int round = 0; round < ROUNDS; round++) {
		current = corpus[below(corpus_count)];
		for (size_t changes = 1 + below(8); changes > 0; changes--)
			change_once();
		feed();
	}
	printf("ok 2 - %s holds its promises for %d inputs made from them\n", fuzz_corpus, ROUNDS);
	return EXIT_SUCCESS;
}

int main(int count, char **arguments)
{
	snprintf(finding, sizeof(finding), "fuzz-%s.input", fuzz_corpus);
	signal(SIGABRT, keep_finding);
	if (count == 1)
		return run_corpus();
	for (int i = 1; i < count; i++) {
		if (read_input(&current, arguments[i]) == -1)
			return EXIT_FAILURE;
		feed();
	}
	return EXIT_SUCCESS;
}
