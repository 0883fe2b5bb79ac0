/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/store/renew.h"

#include <poll.h>

enum renewal_state renew_on(struct renewal *renewal, enum renewal_state state)
{
	struct error error;
	while (state == RENEWAL_PENDING) {
		struct pollfd fd;
		int wait = -1;
		renewal_poll(renewal, &fd, &wait);
		int ready = poll(&fd, 1, wait);
		state = renewal_step(renewal, ready > 0 ? fd.revents : 0, &error);
	}
	return state;
}

enum renewal_state renew(struct renewal *renewal, const struct store_claim *claim, int64_t lease)
{
	struct error error;
	return renew_on(renewal, renewal_start(renewal, claim->token, lease, &error));
}
