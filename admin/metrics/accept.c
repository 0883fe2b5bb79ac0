/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/metrics/accept.h"

#include <stdbool.h>

#include "admin/common/preference.h"

enum exposition_format accept_choose(const char *accept)
{
	static const struct media_type types[] = {
	    [EXPOSITION_TEXT] = {"text", "plain", "0.0.4"},
	    [EXPOSITION_OPENMETRICS] = {"application", "openmetrics-text", "1.0.0"},
	};
	struct preference text = preference_of(accept, &types[EXPOSITION_TEXT]);
	struct preference openmetrics = preference_of(accept, &types[EXPOSITION_OPENMETRICS]);
	bool named = openmetrics.precision >= PREFERENCE_BY_NAME && openmetrics.weight > 0;
	return named && openmetrics.weight >= text.weight ? EXPOSITION_OPENMETRICS
							  : EXPOSITION_TEXT;
}
