/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/digest.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>

struct digest {
	EVP_MD_CTX *context; /* owned */
};

/* A hash that went wrong unseen would let two requests meet in one record: better no process than
 * that. SHA-256 in memory that is already there does not fail. */
static void must(int succeeded)
{
	if (succeeded != 1)
		abort();
}

static const EVP_MD *sha256(void)
{
	static EVP_MD *fetched; /* kept for the life of the process */
	if (fetched == NULL)
		fetched = EVP_MD_fetch(NULL, "SHA256", NULL);
	return fetched;
}

struct digest *digest_new(void)
{
	struct digest *digest = malloc(sizeof(*digest));
	if (digest == NULL)
		return NULL;
	digest->context = EVP_MD_CTX_new();
	if (digest->context == NULL || EVP_DigestInit_ex2(digest->context, sha256(), NULL) != 1) {
		digest_free(digest);
		return NULL;
	}
	return digest;
}

void digest_start(struct digest *digest)
{
	must(EVP_DigestInit_ex2(digest->context, sha256(), NULL));
}

void digest_add(struct digest *digest, const void *data, size_t length)
{
	if (length > 0)
		must(EVP_DigestUpdate(digest->context, data, length));
}

void digest_add_field(struct digest *digest, const void *data, size_t length)
{
	unsigned char prefix[8];
	uint64_t rest = length;
	for (size_t i = sizeof(prefix); i-- > 0; rest >>= 8)
		prefix[i] = (unsigned char)(rest & 0xff);
	digest_add(digest, prefix, sizeof(prefix));
	digest_add(digest, data, length);
}

void digest_finish(struct digest *digest, unsigned char out[DIGEST_LENGTH])
{
	must(EVP_DigestFinal_ex(digest->context, out, NULL));
}

void digest_free(struct digest *digest)
{
	if (digest == NULL)
		return;
	EVP_MD_CTX_free(digest->context);
	free(digest);
}

void digest_of(const void *data, size_t length, unsigned char out[DIGEST_LENGTH])
{
	static struct digest *kept; /* made once: most callers hash a few bytes */
	if (kept == NULL)
		kept = digest_new();
	must(kept != NULL);
	digest_start(kept);
	digest_add(kept, data, length);
	digest_finish(kept, out);
}

int random_bytes(void *data, size_t length)
{
	return length <= INT_MAX && RAND_bytes(data, (int)length) == 1 ? 0 : -1;
}
