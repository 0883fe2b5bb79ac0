/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/metrics/accept.h"

#include "tests/unit/suite.h"

#define OPEN EXPOSITION_OPENMETRICS
#define TEXT EXPOSITION_TEXT

static const struct {
	const char *accept;
	enum exposition_format expected;
	const char *why;
} cases[] = {
    {NULL, TEXT, "nothing is asked for"},
    {"", TEXT, "nothing is asked for"},
    {"*/*", TEXT, "curl: anything is the default"},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", TEXT, "a browser"},
    {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
     OPEN, "Prometheus 2"},
    {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/"
     "openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
     "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
     OPEN, "Prometheus 3"},
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
     "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5",
     OPEN, "Prometheus with native histograms"},
    {"text/plain;version=0.0.4;q=0.9,application/openmetrics-text;version=1.0.0;q=0.8", TEXT,
     "text is liked better"},
    {"application/openmetrics-text", OPEN, "no version: ours"},
    {"application/openmetrics-text; version=\"1.0.0\"", OPEN, "a quoted version"},
    {"APPLICATION/OpenMetrics-Text; Version=1.0.0", OPEN, "names have no case"},
    {" application/openmetrics-text\t; version=1.0.0 , */*", OPEN, "blanks"},
    {"application/openmetrics-text;version=0.0.1", TEXT, "a version that is not ours"},
    {"application/openmetrics-text;version=2.0.0", TEXT, "a version that is not ours"},
    {"application/openmetrics-text;version=1.0.0;q=0", TEXT, "not liked at all"},
    {"application/openmetrics-text;q=0.000", TEXT, "not liked at all"},
    {"application/openmetrics-text;version=1.0.0;q=0,application/openmetrics-text", TEXT,
     "what names the version counts"},
    {"application/openmetrics-text,application/openmetrics-text;version=1.0.0;q=0", TEXT,
     "in either order"},
    {"application/*", TEXT, "not by its name"},
    {"text/*;q=0.9,application/openmetrics-text;q=0.8", TEXT, "text by its type"},
    {"text/*;q=0.7,application/openmetrics-text;q=0.8", OPEN, "less by its type"},
    {"*/*;q=0.1,text/plain;q=0.9,application/openmetrics-text;q=0.8", TEXT, "text by its name"},
    {"application/openmetrics-text;q=1.5", TEXT, "no weight"},
    {"application/openmetrics-text;q=1.0000", TEXT, "no weight: too long"},
    {"application/openmetrics-text;q=-1", TEXT, "no weight"},
    {"application/openmetrics-text;q=", TEXT, "no weight"},
    {"application/openmetrics-text;x=\"a,b;q=0\"", OPEN, "a quoted comma ends nothing"},
    {"image/png", TEXT, "neither is liked: a person sees something"},
    {",,;;,/,*,=;q", TEXT, "rubbish"},
    {"application/openmetrics-text;q=1;\"", OPEN, "an open quote"},
};

START_TEST(the_format_is_the_one_that_the_scrape_likes_best)
{
	ck_assert_msg(accept_choose(cases[_i].accept) == cases[_i].expected, "%s: %s",
		      cases[_i].why, cases[_i].accept);
}
END_TEST

int main(void)
{
	Suite *tests = suite_create("accept");
	TCase *all = tcase_create("accept");
	tcase_add_loop_test(all, the_format_is_the_one_that_the_scrape_likes_best, 0,
			    sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
