/* SPDX-License-Identifier: ISC */
/* What settings must be to each other, beyond what each must be by itself. */
#ifndef ONCEWRAP_CONFIG_CHECK_H
#define ONCEWRAP_CONFIG_CHECK_H

#include "config/config.h"
#include "config/layer.h"
#include "config/problems.h"

/* Where the settings of a configuration come from, for the messages. */
struct check_route {
	struct layer own;
	const struct layer *preset; /* NULL: none; its group is NULL when it could not be used */
};
struct check {
	const struct config *config;
	struct problems *problems;
	const struct layer *global;
	const struct layer *defaults;     /* NULL: the file has none */
	const struct check_route *routes; /* one for each route of config */
};

void check_config(const struct check *check);

#endif
