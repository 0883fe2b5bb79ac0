/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/list/wishes.h"

#include <string.h>

#include "config/unit.h"

enum { DEFAULT_LIMIT = 100, MOST_WATCH = 24 * 60 * 60 };

#define BIT(state) (1u << (state))

void wishes_init(struct wishes *wishes)
{
	*wishes = (struct wishes){.filter.limit = DEFAULT_LIMIT};
}

static int take_states(void *target, const char *argument, struct error *error)
{
	struct listing_filter *filter = &((struct wishes *)target)->filter;
	for (const char *name = argument;; name++) {
		size_t length = strcspn(name, ",");
		int state = record_state_parse(name, length);
		if (state < 0) {
			error_set(
			    error, ERROR_INPUT,
			    "\"%.*s\" is none of in_flight, complete, unknown, released, expired",
			    (int)length, name);
			return -1;
		}
		filter->states |= BIT(state);
		name += length;
		if (*name == '\0')
			return 0;
	}
}

static void offer_states(const void *target, struct buffer *names)
{
	(void)target;
	for (enum record_state state = RECORD_IN_FLIGHT; state <= RECORD_EXPIRED; state++)
		options_offer(names, record_state_name(state));
}

static int take_route(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct wishes *)target)->filter.route = argument;
	return 0;
}

static int take_tenant(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct wishes *)target)->filter.tenant = argument;
	return 0;
}

static int take_key_prefix(void *target, const char *argument, struct error *error)
{
	if (*argument == '\0') {
		error_set(error, ERROR_INPUT, "every key begins with nothing; leave it out");
		return -1;
	}
	((struct wishes *)target)->filter.key_prefix = argument;
	return 0;
}

/* As long as a DATETIME can be away from now. */
#define MOST_SPAN (1000LL * 365 * 86400 * 1000)

static int read_span(const char *argument, int64_t *span, struct error *error)
{
	if (unit_parse_duration(argument, span) < 0 || *span <= 0 || *span > MOST_SPAN) {
		error_set(error, ERROR_INPUT, "\"%s\" is no time span, as 90s, 15m, 6h or 7d",
			  argument);
		return -1;
	}
	return 0;
}

static int take_older(void *target, const char *argument, struct error *error)
{
	return read_span(argument, &((struct wishes *)target)->filter.older, error);
}

static int take_younger(void *target, const char *argument, struct error *error)
{
	return read_span(argument, &((struct wishes *)target)->filter.younger, error);
}

static const char *const orders[] = {
    [LISTING_BY_AGE] = "age",
    [LISTING_BY_SIZE] = "size",
    [LISTING_BY_EXPIRY] = "expiry",
};
#define ORDERS (sizeof(orders) / sizeof(orders[0]))

static void offer_orders(const void *target, struct buffer *names)
{
	(void)target;
	for (size_t i = LISTING_BY_AGE; i < ORDERS; i++)
		options_offer(names, orders[i]);
}

static int take_sort(void *target, const char *argument, struct error *error)
{
	struct wishes *wishes = target;
	for (size_t i = LISTING_BY_AGE; i < ORDERS; i++)
		if (strcmp(orders[i], argument) == 0) {
			wishes->filter.sort = (enum listing_sort)i;
			wishes->sorted = true;
			return 0;
		}
	error_set(error, ERROR_INPUT, "\"%s\" is none of age, size, expiry", argument);
	return -1;
}

static int take_limit(void *target, const char *argument, struct error *error)
{
	struct wishes *wishes = target;
	int64_t limit;
	if (options_number(argument, 0, INT64_MAX, &limit, error) < 0)
		return -1;
	wishes->filter.limit = (uint64_t)limit;
	wishes->limited = true;
	return 0;
}

static int take_after(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct wishes *)target)->after = argument;
	return 0;
}

static int take_largest(void *target, const char *argument, struct error *error)
{
	return options_number(argument, 1, INT64_MAX, &((struct wishes *)target)->largest, error);
}

static int take_watch(void *target, const char *argument, struct error *error)
{
	return options_number(argument, 1, MOST_WATCH, &((struct wishes *)target)->watch, error);
}

static int take_mode(struct wishes *wishes, enum list_mode mode)
{
	wishes->both = wishes->both || (wishes->mode != LIST_RECORDS && wishes->mode != mode);
	wishes->mode = mode;
	return 0;
}

static int take_count(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	return take_mode(target, LIST_COUNT);
}

static int take_summary(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	return take_mode(target, LIST_SUMMARY);
}

static int set(bool *flag)
{
	*flag = true;
	return 0;
}

static int take_stale(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	return set(&((struct wishes *)target)->filter.stale);
}

static int take_expired(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	return set(&((struct wishes *)target)->filter.expired);
}

static int take_exit_empty(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	return set(&((struct wishes *)target)->exit_empty);
}

static int take_quiet(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	return set(&((struct wishes *)target)->quiet);
}

static const struct option_entry entries[] = {
    {.name = "state",
     .argument = "STATE,...",
     .help = "only records in these states",
     .take = take_states,
     .offer = offer_states,
     .several = true},
    {.name = "route", .argument = "NAME", .help = "only records of this route", .take = take_route},
    {.name = "tenant", .argument = "NAME", .help = "only this tenant's", .take = take_tenant},
    {.name = "key-prefix",
     .argument = "TEXT",
     .help = "only records whose key begins so",
     .take = take_key_prefix},
    {.name = "older",
     .argument = "SPAN",
     .help = "only older than 15m, 6h, 7d",
     .take = take_older},
    {.name = "younger", .argument = "SPAN", .help = "only younger than that", .take = take_younger},
    {.name = "stale",
     .help = "only those in flight that nobody works on any more",
     .take = take_stale},
    {.name = "expired", .help = "only those past their retention", .take = take_expired},
    {.name = "sort",
     .argument = "ORDER",
     .help = "by age, size or expiry, largest first",
     .take = take_sort,
     .offer = offer_orders},
    {.name = "limit",
     .argument = "N",
     .help = "no more than N records (100); 0: all",
     .take = take_limit},
    {.name = "after",
     .argument = "ID",
     .help = "go on after this record of a list before",
     .take = take_after},
    {.name = "largest",
     .argument = "N",
     .help = "the N with the largest answers",
     .take = take_largest},
    {.name = "count", .help = "print only how many there are", .take = take_count},
    {.name = "summary",
     .help = "print how many there are of each route and state",
     .take = take_summary},
    {.name = "watch",
     .argument = "SEC",
     .help = "again each SEC seconds, until interrupted",
     .take = take_watch},
    {.name = "exit-empty", .help = "exit status 1 when nothing matched", .take = take_exit_empty},
    {.letter = 'q', .name = "quiet", .help = "no hints, no progress", .take = take_quiet},
};

struct option_group wishes_options(struct wishes *wishes)
{
	return (struct option_group)OPTION_GROUP(entries, wishes);
}

static int refuse(struct error *error, const char *why)
{
	error_set(error, ERROR_INPUT, "%s", why);
	return -1;
}

/* What can match nothing is a mistake, not an empty list. */
static int check_filter(const struct listing_filter *filter, struct error *error)
{
	if (filter->stale && filter->states != 0 && (filter->states & BIT(RECORD_IN_FLIGHT)) == 0)
		return refuse(error, "--stale is of records in flight, which --state leaves out");
	if (filter->expired && filter->states != 0 &&
	    (filter->states & ~(BIT(RECORD_UNKNOWN) | BIT(RECORD_RELEASED))) == 0)
		return refuse(error, "--expired: what is unknown or released never expires");
	if (filter->older > 0 && filter->younger > 0 && filter->younger <= filter->older)
		return refuse(error, "nothing is both older and younger than these spans");
	return 0;
}

static int check_mode(const struct wishes *wishes, struct error *error)
{
	if (wishes->both)
		return refuse(error, "say --count or --summary, not both");
	if (wishes->largest > 0 && (wishes->sorted || wishes->limited))
		return refuse(error,
			      "--largest is an order and a limit: leave out --sort, --limit");
	if (wishes->mode != LIST_RECORDS &&
	    (wishes->sorted || wishes->limited || wishes->largest > 0 || wishes->after != NULL))
		return refuse(error, "--count and --summary are of all that match: leave out "
				     "--sort, --limit, --after, --largest");
	return 0;
}

int wishes_check(struct wishes *wishes, struct error *error)
{
	if (check_filter(&wishes->filter, error) < 0 || check_mode(wishes, error) < 0)
		return -1;
	if (wishes->largest > 0) {
		wishes->filter.sort = LISTING_BY_SIZE;
		wishes->filter.limit = (uint64_t)wishes->largest;
	}
	return 0;
}
