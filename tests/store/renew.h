/* SPDX-License-Identifier: ISC */
/* A renewal driven to its end by a poll loop of its own. */
#ifndef ONCEWRAP_TESTS_STORE_RENEW_H
#define ONCEWRAP_TESTS_STORE_RENEW_H

#include "store/renewal.h"

enum renewal_state renew(struct renewal *renewal, const struct store_claim *claim, int64_t lease);
/* Go on from a state. */
enum renewal_state renew_on(struct renewal *renewal, enum renewal_state state);

#endif
