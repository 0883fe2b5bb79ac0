/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/part.h"

#include <string.h>

/* As every name is that a version of ours has written. */
static bool is_plain(const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (word[i] <= ' ' || word[i] > '~')
			return false;
	return length > 0;
}

size_t part_list(const char *scheme, const unsigned char *digests, size_t length,
		 struct part parts[FINGERPRINT_MOST_PARTS])
{
	size_t count = 0;
	/* the version stands in front */
	const char *word = scheme + strcspn(scheme, " ");
	while (*word == ' ') {
		word++;
		size_t word_length = strcspn(word, " ");
		if (count == FINGERPRINT_MOST_PARTS || !is_plain(word, word_length))
			return 0;
		parts[count] = (struct part){
		    .name = word,
		    .name_length = word_length,
		    .digest = digests + count * FINGERPRINT_PART_LENGTH,
		};
		count++;
		word += word_length;
	}
	return count * FINGERPRINT_PART_LENGTH == length ? count : 0;
}
