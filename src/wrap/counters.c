/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/counters.h"

#include "base/log.h"
#include "metrics/count.h"
#include "wrap/account.h"

void counters_open(const struct config *config, bool is_pool)
{
	uid_t user;
	gid_t group;
	struct error error;
	if (account_ids(config->user, &user, &group, &error) != 0)
		return; /* account_become will say why nothing comes of it */
	enum count_opening opening = count_open(config->run_directory, user, group, &error);
	if (is_pool)
		count_tell(opening, &error);
	log_count_by(count_log);
}

void counters_refresh(void)
{
	struct error error;
	enum count_opening opening = count_refresh(&error);
	count_tell(opening, &error);
}

void counters_number(struct config *config)
{
	for (size_t i = 0; i < config->route_count; i++)
		config->routes[i].counters = count_route(config->routes[i].name);
}
