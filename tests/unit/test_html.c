/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/html.h"

#include "tests/unit/suite.h"

static const struct {
	const char *text;
	size_t length;
	const char *own, *foreign;
	const char *why;
} cases[] = {
    {"plain", 5, "plain", "plain", "nothing to escape"},
    {"<script>alert(1)</script>", 25, "&lt;script&gt;alert(1)&lt;/script&gt;",
     "&lt;script&gt;alert(1)&lt;/script&gt;", "no element"},
    {"\" onx='y", 8, "&quot; onx=&#39;y", "&quot; onx=&#39;y", "no attribute"},
    {"&lt;", 4, "&amp;lt;", "&amp;lt;", "no entity"},
    {"]]>-->", 6, "]]&gt;--&gt;", "]]&gt;--&gt;", "no end of a comment"},
    {"\x1b[2J\x7f", 5, "\x1b[2J\x7f", "\\x1b[2J\\x7f", "controls, of strangers only"},
    {"\xe2\x80\xae"
     "abc",
     6,
     "\xe2\x80\xae"
     "abc",
     "\\xe2\\x80\\xae"
     "abc",
     "a turn of direction"},
    {"\xff\xfe", 2, "\xff\xfe", "\\xff\\xfe", "no UTF-8"},
    {"\xc3\xa9", 2, "\xc3\xa9", "\xc3\xa9", "a letter"},
};

START_TEST(text_is_escaped_wherever_it_stands)
{
	struct html html = {0};
	struct buffer expected = {0};
	html_open(&html, "p", "title", cases[_i].text, NULL);
	html_text(&html, cases[_i].text);
	html_close(&html);
	html_foreign(&html, cases[_i].text, cases[_i].length);
	buffer_printf(&expected, "\n<p title=\"%s\">%s</p>%s", cases[_i].own, cases[_i].own,
		      cases[_i].foreign);
	ck_assert_msg(strcmp(buffer_text(&html.out), buffer_text(&expected)) == 0, "%s: %s",
		      cases[_i].why, buffer_text(&html.out));
	buffer_free(&html.out);
	buffer_free(&expected);
}
END_TEST

START_TEST(what_is_open_at_the_end_is_closed)
{
	struct html html = {0};
	html_begin(&html);
	html_open(&html, "body", NULL);
	html_leaf(&html, "code", "a<b", "class", "x", NULL);
	html_void(&html, "meta", "charset", "utf-8", NULL);
	html_printf(&html, "%d&", 1);
	html_end(&html);
	ck_assert_str_eq(buffer_text(&html.out),
			 "<!DOCTYPE html>\n<html lang=\"en\">\n<body>"
			 "<code class=\"x\">a&lt;b</code>\n<meta charset=\"utf-8\">1&amp;"
			 "</body></html>\n");
	ck_assert_uint_eq(html.depth, 0);
	buffer_free(&html.out);
}
END_TEST

int main(void)
{
	Suite *tests = suite_create("html");
	TCase *all = tcase_create("html");
	tcase_add_loop_test(all, text_is_escaped_wherever_it_stands, 0,
			    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(all, what_is_open_at_the_end_is_closed);
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
