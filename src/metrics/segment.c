/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "metrics/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- what becomes of a mapping whose file is cut short --- */

/* One to count and one to read, with room for a test's others. */
enum { REGIONS = 4 };

static struct region {
	_Atomic(char *) base; /* NULL: free */
	atomic_int protection;
	atomic_bool cut;
} regions[REGIONS];

static struct region *find_region(const void *address)
{
	for (size_t i = 0; i < REGIONS; i++) {
		const char *base = atomic_load(&regions[i].base);
		if (base != NULL && (const char *)address >= base &&
		    (const char *)address < base + sizeof(struct segment))
			return &regions[i];
	}
	return NULL;
}

/* mmap is no more than its system call, which is safe here. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	struct region *region = find_region(info->si_addr);
	int saved = errno;
	(void)context;
	if (region == NULL || mmap(atomic_load(&region->base), sizeof(struct segment),
				   atomic_load(&region->protection),
				   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		signal(number, SIG_DFL); /* and so it ends, at the same instruction */
	else
		atomic_store(&region->cut, true);
	errno = saved;
}

static int guard(char *base, int protection)
{
	struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < REGIONS; i++) {
		if (atomic_load(&regions[i].base) != NULL)
			continue;
		atomic_store(&regions[i].protection, protection);
		atomic_store(&regions[i].cut, false);
		atomic_store(&regions[i].base, base);
		return sigaction(SIGBUS, &action, NULL);
	}
	errno = ENOMEM;
	return -1;
}

/* --- the file --- */

static int map_file(struct segment_map *map, int fd, int protection, struct error *error)
{
	struct stat status;
	if (fstat(fd, &status) == -1) {
		error_set_errno(error, errno, "the metrics file");
		return -1;
	}
	void *base = mmap(NULL, sizeof(struct segment), protection, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		error_set_errno(error, errno, "the metrics file cannot be mapped");
		return -1;
	}
	if (guard(base, protection) == -1) {
		error_set_errno(error, errno, "the metrics file cannot be guarded");
		munmap(base, sizeof(struct segment));
		return -1;
	}
	*map =
	    (struct segment_map){.segment = base, .device = status.st_dev, .inode = status.st_ino};
	return 0;
}

static struct segment_header header_of_new(void)
{
	struct segment_header header = {.layout = layout_hash()};
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	memcpy(header.magic, LAYOUT_MAGIC, sizeof(header.magic));
	header.created_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	return header;
}

enum shared_found segment_open(struct segment_map *map, const char *directory,
			       const struct shared_owner *owner, struct error *error)
{
	const struct segment_header header = header_of_new();
	char name[LAYOUT_FILE_NAME];
	int fd;
	layout_file_name(name);
	const struct shared_file file = {
	    .name = name,
	    .size = sizeof(struct segment),
	    .mode = S_IRUSR | S_IWUSR | S_IRGRP,
	    .head = &header,
	    .head_length = sizeof(header),
	    .head_fixed = offsetof(struct segment_header, created_ms),
	};
	enum shared_found found = shared_file_open(&file, directory, owner, &fd, error);
	if (found == SHARED_FAILED)
		return SHARED_FAILED;
	struct segment_map new_one;
	if (map_file(&new_one, fd, PROT_READ | PROT_WRITE, error) != 0) {
		error_prefix(error, "%s", directory);
		found = SHARED_FAILED;
	} else {
		segment_close(map);
		*map = new_one;
	}
	close(fd);
	return found;
}

static int path_of(char *path, size_t size, const char *directory)
{
	char name[LAYOUT_FILE_NAME];
	layout_file_name(name);
	return (size_t)snprintf(path, size, "%s/%s", directory, name) < size ? 0 : -1;
}

static bool is_segment(int fd)
{
	struct segment_header header;
	struct stat status;
	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_size == (off_t)sizeof(struct segment) &&
	       pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	       memcmp(header.magic, LAYOUT_MAGIC, sizeof(header.magic)) == 0 &&
	       header.layout == layout_hash();
}

int segment_examine(const char *directory, uid_t user, struct error *error)
{
	struct segment_map map;
	struct stat status;
	char path[4096];
	if (path_of(path, sizeof(path), directory) != 0 || lstat(path, &status) == -1)
		return 0; /* a start will make it, or say why not */
	if (status.st_uid != user) {
		error_set(error, ERROR_INPUT, "%s: belongs to somebody else", path);
		return -1;
	}
	if (segment_open_to_read(&map, directory, error) != 0)
		return -1;
	segment_close(&map);
	return 0;
}

int segment_open_to_read(struct segment_map *map, const char *directory, struct error *error)
{
	char path[4096];
	*map = (struct segment_map){0};
	if (path_of(path, sizeof(path), directory) != 0) {
		error_set(error, ERROR_INPUT, "%s: too long", directory);
		return -1;
	}
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1) {
		error_set_errno(error, errno, "%s", path);
		return -1;
	}
	int result = -1;
	if (!is_segment(fd))
		error_set(error, ERROR_SYSTEM, "%s: is no metrics file of this version", path);
	else
		result = map_file(map, fd, PROT_READ, error);
	close(fd);
	return result;
}

void segment_close(struct segment_map *map)
{
	if (map->segment == NULL)
		return;
	struct region *region = find_region(map->segment);
	munmap(map->segment, sizeof(struct segment));
	if (region != NULL)
		atomic_store(&region->base, NULL);
	*map = (struct segment_map){0};
}

bool segment_was_cut(const struct segment_map *map)
{
	const struct region *region = find_region(map->segment);
	return region != NULL && atomic_load(&region->cut);
}

bool segment_stands(const struct segment_map *map, const char *directory)
{
	char path[4096];
	struct stat status;
	return !segment_was_cut(map) && path_of(path, sizeof(path), directory) == 0 &&
	       lstat(path, &status) == 0 && status.st_dev == map->device &&
	       status.st_ino == map->inode && status.st_size == (off_t)sizeof(struct segment);
}
