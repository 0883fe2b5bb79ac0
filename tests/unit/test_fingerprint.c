/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/fingerprint.h"

#include "base/encode.h"
#include "tests/unit/suite.h"

#include <string.h>

enum {
	M = FINGERPRINT_METHOD,
	P = FINGERPRINT_PATH,
	Q = FINGERPRINT_QUERY,
	T = FINGERPRINT_CONTENT_TYPE,
	B = FINGERPRINT_BODY,
	ALL = M | P | Q | T | B,
};

struct request {
	const char *method, *path, *query, *type, *body;
};

static int make(int parts, const struct request *request, const char *scheme,
		struct fingerprint *out)
{
	unsigned char body[DIGEST_LENGTH];
	digest_of(request->body, strlen(request->body), body);
	struct fingerprint_source source = {
	    request->method, request->path, request->query, request->type, body, NULL, NULL};
	struct route route = {.fingerprint_parts = parts};
	return scheme != NULL ? fingerprint_by_scheme(scheme, &source, out)
			      : fingerprint_make(&route, &source, out);
}

static char *headers[] = {(char[]){"x-unit"}, (char[]){"x-date"}, (char[]){"content-type"}};

/* With request headers and a form of the body among the parts. */
static int make_wide(const struct route *route, const char *scheme, const char *const entries[4],
		     const char *body, struct fingerprint *out)
{
	unsigned char digest[DIGEST_LENGTH];
	digest_of(body, strlen(body), digest);
	struct params params = {.entries = entries, .count = 0};
	while (params.count < 4 && entries[params.count] != NULL)
		params.count++;
	struct document *document = document_new(body, strlen(body), "application/json");
	ck_assert_ptr_nonnull(document);
	struct fingerprint_source source = {"POST", "/", "", "", digest, &params, document};
	int result = scheme != NULL ? fingerprint_by_scheme(scheme, &source, out)
				    : fingerprint_make(route, &source, out);
	document_free(document);
	return result;
}

static const struct request base = {"POST", "/orders", "a=1", "application/json", "{}"};

static const struct {
	int parts;
	struct request other;
	const char *differs; /* "": equal */
	const char *why;
} pairs[] = {
    {ALL, {"POST", "/orders", "a=1", "application/json", "{}"}, "", "a retry"},
    {ALL, {"PATCH", "/orders", "a=1", "application/json", "{}"}, "method", "another method"},
    {ALL, {"post", "/orders", "a=1", "application/json", "{}"}, "method", "methods have a case"},
    {ALL, {"POST", "/order", "a=1", "application/json", "{}"}, "path", "another path"},
    {ALL,
     {"POST", "/orders/", "a=1", "application/json", "{}"},
     "path",
     "a slash behind is another path"},
    {ALL, {"POST", "/orders", "a=2", "application/json", "{}"}, "query", "another query"},
    {ALL, {"POST", "/orders", "", "application/json", "{}"}, "query", "no query"},
    {ALL, {"POST", "/orders", "a=1", "text/plain", "{}"}, "content-type", "another type"},
    {ALL,
     {"POST", "/orders", "a=1", "Application/json", "{}"},
     "content-type",
     "as sent, case and all"},
    {ALL,
     {"POST", "/orders", "a=1", " \tapplication/json\t ", "{}"},
     "",
     "blanks around are no part of it"},
    {ALL,
     {"POST", "/orders", "a=1", "application/ json", "{}"},
     "content-type",
     "blanks inside are"},
    {ALL,
     {"POST", "/orders", "a=1", "application/json;charset=utf-8", "{}"},
     "content-type",
     "parameters count"},
    {ALL, {"POST", "/orders", "a=1", "", "{}"}, "content-type", "no type"},
    {ALL, {"POST", "/orders", "a=1", "application/json", "{ }"}, "body", "raw: a blank is a byte"},
    {ALL, {"POST", "/orders", "a=1", "application/json", ""}, "body", "no body"},
    {ALL, {"PUT", "/", "", "", ""}, "method, path, query, content-type, body", "all of it"},
    {ALL,
     {"POST", "/order", "sa=1", "application/json", "{}"},
     "path, query",
     "a byte moved between parts"},
    {M | P, {"POST", "/orders", "b", "c", "d"}, "", "only what is named counts: method and path"},
    {M | P,
     {"PUT", "/orders", "a=1", "application/json", "{}"},
     "method",
     "method of method and path"},
    {M | P | B, {"POST", "/orders", "b", "c", "{}"}, "", "neither query nor type"},
    {M | P | B, {"POST", "/orders", "a=1", "application/json", "[]"}, "body", "body behind a gap"},
    {B, {"PUT", "/", "", "", "{}"}, "", "body alone"},
    {0, {"PUT", "/", "", "", ""}, "", "nothing: a key is enough"},
};

START_TEST(two_requests_are_equal_exactly_when_every_named_part_is)
{
	struct fingerprint one, other;
	ck_assert_int_eq(make(pairs[_i].parts, &base, NULL, &one), 0);
	ck_assert_int_eq(make(pairs[_i].parts, &pairs[_i].other, NULL, &other), 0);
	bool equal = memcmp(one.digest, other.digest, DIGEST_LENGTH) == 0;
	ck_assert_msg(equal == (*pairs[_i].differs == '\0'), "%s", pairs[_i].why);
	ck_assert_str_eq(one.scheme, other.scheme);

	char text[128] = "left over";
	size_t count = fingerprint_difference(&one, other.scheme, other.parts, other.parts_length,
					      text, sizeof(text));
	ck_assert_msg(strcmp(text, pairs[_i].differs) == 0, "%s: %s", pairs[_i].why, text);
	size_t named = *text != '\0';
	for (const char *comma = text; (comma = strchr(comma, ',')) != NULL; comma++)
		named++;
	ck_assert_uint_eq(count, named);
}
END_TEST

static const struct {
	int parts;
	const char *scheme;
	const char *digest; /* of `base`; what sha256sum(1) says of scheme and parts, eight bytes of
			       length before each */
} kept[] = {
    {ALL, "1 method path query content-type body",
     "a3acd43466c5fc235c8249f578a54d2ee7b5c5042d233a5c683432e13c6fb572"},
    {M | P | B, "1 method path body",
     "254828727d385c31dd23771ac70f1bdccbdf301542784ed9952b7aba69ed0794"},
    {M | P, "1 method path", "c77e690d9b7b2827f70dfa7b172fcb2affa6657dd2c3760d7991a40810fab32a"},
    {0, "1", "031dc88d0ec0c52d518bbc28b322da9334c69a177be1cfa7fd4d819024452f23"},
};

START_TEST(a_fingerprint_is_the_same_in_every_release)
{
	struct fingerprint fingerprint;
	ck_assert_int_eq(make(kept[_i].parts, &base, NULL, &fingerprint), 0);
	ck_assert_str_eq(fingerprint.scheme, kept[_i].scheme);
	char hex[2 * DIGEST_LENGTH + 1];
	encode_hex(hex, fingerprint.digest, DIGEST_LENGTH);
	ck_assert_str_eq(hex, kept[_i].digest);
}
END_TEST

START_TEST(the_scheme_of_a_record_gives_its_fingerprint_again)
{
	struct fingerprint made, again;
	ck_assert_int_eq(make(kept[_i].parts, &base, NULL, &made), 0);
	ck_assert_int_eq(make(0, &base, made.scheme, &again), 0);
	ck_assert_mem_eq(made.digest, again.digest, DIGEST_LENGTH);
	ck_assert_str_eq(made.scheme, again.scheme);
	ck_assert_uint_eq(made.parts_length, again.parts_length);
	ck_assert_mem_eq(made.parts, again.parts, made.parts_length);
}
END_TEST

START_TEST(fingerprints_of_two_schemes_never_agree)
{
	/* the same values, and a part that is empty in both */
	static const struct request plain = {"POST", "/", "", "", ""};
	struct fingerprint one, other;
	ck_assert_int_eq(make(M | P, &plain, NULL, &one), 0);
	ck_assert_int_eq(make(M | P | Q, &plain, NULL, &other), 0);
	ck_assert_mem_ne(one.digest, other.digest, DIGEST_LENGTH);
	ck_assert_int_eq(make(Q, &plain, NULL, &one), 0);
	ck_assert_int_eq(make(T, &plain, NULL, &other), 0);
	ck_assert_mem_ne(one.digest, other.digest, DIGEST_LENGTH);
}
END_TEST

static const struct {
	const char *scheme;
	int result;
	const char *why;
} schemes[] = {
    {"1 body method", 0, "any order"},
    {"1", 0, "no part"},
    {"", -1, "nothing"},
    {"2 method", -1, "a version that is not ours"},
    {"11 method", -1, "a version that begins like ours"},
    {"method path", -1, "no version"},
    {"1 method header:X-Tenant", -1, "a part of a later release"},
    {"1 method body=json", -1, "a form of a later release"},
    {"1 body:xml", -1, "another"},
    {"1 body:", -1, "no form"},
    {"1 body body:json", -1, "two forms"},
    {"1 header:", -1, "no name"},
    {"1 header:a/b", -1, "what is no header's name"},
    {"1 header:x-a method header:x-b", 0, "headers in any order"},
    {"1 header:x-a header:x-a", -1, "a header twice"},
    {"1 header:a header:b header:c header:d header:e header:f header:g header:h header:i", -1,
     "more parts than a record holds"},
    {"1 methods", -1, "longer than a word we know"},
    {"1 metho", -1, "shorter"},
    {"1 Method", -1, "in another case"},
    {"1 method method", -1, "a part twice"},
    {"1 method path query content-type body method", -1, "more parts than there are"},
    {"1 method  path", -1, "two spaces"},
    {" 1 method", -1, "a space in front"},
    {"1\tmethod", -1, "a tab"},
};

START_TEST(a_scheme_that_this_build_does_not_know_is_never_equal)
{
	static const char *const nothing[4] = {NULL};
	struct fingerprint out;
	ck_assert_msg(make_wide(NULL, schemes[_i].scheme, nothing, "", &out) == schemes[_i].result,
		      "%s", schemes[_i].why);
}
END_TEST

START_TEST(the_order_of_a_scheme_is_the_order_of_its_parts)
{
	struct fingerprint one, other;
	ck_assert_int_eq(make(0, &base, "1 method body", &one), 0);
	ck_assert_int_eq(make(0, &base, "1 body method", &other), 0);
	ck_assert_mem_eq(one.parts, other.parts + FINGERPRINT_PART_LENGTH, FINGERPRINT_PART_LENGTH);
	ck_assert_mem_eq(one.parts + FINGERPRINT_PART_LENGTH, other.parts, FINGERPRINT_PART_LENGTH);
}
END_TEST

START_TEST(a_part_digest_is_the_beginning_of_the_digest_of_the_part)
{
	struct fingerprint fingerprint;
	unsigned char whole[DIGEST_LENGTH];
	ck_assert_int_eq(make(P | B, &base, NULL, &fingerprint), 0);
	ck_assert_uint_eq(fingerprint.parts_length, 2 * FINGERPRINT_PART_LENGTH);
	digest_of("/orders", 7, whole);
	ck_assert_mem_eq(fingerprint.parts, whole, FINGERPRINT_PART_LENGTH);
	digest_of("{}", 2, whole);
	ck_assert_mem_eq(fingerprint.parts + FINGERPRINT_PART_LENGTH, whole,
			 FINGERPRINT_PART_LENGTH);
}
END_TEST

START_TEST(what_cannot_be_compared_names_no_part)
{
	static const struct request other = {"PUT", "/", "", "", ""};
	struct fingerprint one, two;
	char text[64] = "left over";
	ck_assert_int_eq(make(M | P, &base, NULL, &one), 0);
	ck_assert_int_eq(make(M | Q, &other, NULL, &two), 0);
	ck_assert_uint_eq(fingerprint_difference(&one, two.scheme, two.parts, two.parts_length,
						 text, sizeof(text)),
			  0);
	ck_assert_str_eq(text, "");
	strcpy(text, "left over");
	ck_assert_uint_eq(fingerprint_difference(&one, one.scheme, NULL, 0, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(the_named_parts_are_cut_at_a_whole_name_and_all_counted)
{
	static const struct request other = {"PUT", "/", "", "", ""};
	struct fingerprint one, two;
	ck_assert_int_eq(make(ALL, &base, NULL, &one), 0);
	ck_assert_int_eq(make(ALL, &other, NULL, &two), 0);
	static const char whole[] = "method, path, query, content-type, body";
	for (size_t size = 0; size <= sizeof(whole); size++) {
		char text[sizeof(whole) + 1];
		memset(text, '#', sizeof(text));
		ck_assert_uint_eq(fingerprint_difference(&one, two.scheme, two.parts,
							 two.parts_length, text, size),
				  5);
		ck_assert_int_eq(text[size], '#');
		if (size == 0)
			continue;
		size_t length = strlen(text);
		ck_assert_uint_lt(length, size);
		if (length > 0)
			ck_assert_ptr_nonnull(
			    strchr("dhyek", text[length - 1])); /* the last letters */
	}
}
END_TEST

static const struct {
	const char *one[4], *other[4];
	const char *differs;
	const char *why;
} header_pairs[] = {
    {{"HTTP_X_UNIT=a"}, {"HTTP_X_UNIT=a"}, "", "a retry"},
    {{"HTTP_X_UNIT=a"}, {"HTTP_X_UNIT=b"}, "header:x-unit", "another value"},
    {{"HTTP_X_UNIT=a"}, {"HTTP_X_UNIT= a\t"}, "", "blanks around are no part of it"},
    {{"HTTP_X_UNIT=a"}, {"HTTP_X_UNIT=A"}, "header:x-unit", "values have a case"},
    {{"HTTP_X_UNIT="}, {NULL}, "header:x-unit", "empty is not absent"},
    {{"HTTP_X_UNIT="}, {"HTTP_X_UNIT= "}, "", "only blanks are empty"},
    {{"HTTP_X_UNIT=a", "HTTP_X_UNIT=b"}, {"HTTP_X_UNIT=a, b"}, "", "repeated is a list"},
    {{"HTTP_X_UNIT=a", "HTTP_X_UNIT=b"},
     {"HTTP_X_UNIT=b", "HTTP_X_UNIT=a"},
     "header:x-unit",
     "in its order"},
    {{"HTTP_X_UNIT=", "HTTP_X_UNIT="}, {"HTTP_X_UNIT="}, "header:x-unit", "twice empty"},
    {{"HTTP_X_UNIT=a", "HTTP_TRACE=1"},
     {"HTTP_TRACE=2", "HTTP_X_UNIT=a"},
     "",
     "headers count only when named (C17)"},
    {{"HTTP_X_UNITS=a"}, {NULL}, "", "a longer name is another"},
    {{"CONTENT_TYPE=a"}, {"CONTENT_TYPE=b"}, "header:content-type", "not under HTTP_"},
    {{"CONTENT_TYPE="}, {NULL}, "", "and empty is absent there"},
    {{"HTTP_X_UNIT=a", "HTTP_X_DATE=b"},
     {"HTTP_X_UNIT=b", "HTTP_X_DATE=a"},
     "header:x-unit, header:x-date",
     "each by itself"},
};

START_TEST(a_header_counts_by_its_values)
{
	struct route route = {.fingerprint_parts = M, .fingerprint_headers = {headers, 3}};
	struct fingerprint one, other;
	char text[128];
	ck_assert_int_eq(make_wide(&route, NULL, header_pairs[_i].one, "", &one), 0);
	ck_assert_int_eq(make_wide(&route, NULL, header_pairs[_i].other, "", &other), 0);
	ck_assert_str_eq(one.scheme, "1 method header:x-unit header:x-date header:content-type");
	bool equal = memcmp(one.digest, other.digest, DIGEST_LENGTH) == 0;
	ck_assert_msg(equal == (*header_pairs[_i].differs == '\0'), "%s", header_pairs[_i].why);
	fingerprint_difference(&one, other.scheme, other.parts, other.parts_length, text,
			       sizeof(text));
	ck_assert_msg(strcmp(text, header_pairs[_i].differs) == 0, "%s: %s", header_pairs[_i].why,
		      text);
}
END_TEST

static const struct {
	enum route_body_form form;
	const char *scheme;
	bool equal; /* of {"a":1} and { "a": 1.0 } */
} body_forms[] = {
    {BODY_FORM_RAW, "1 body", false},
    {BODY_FORM_JSON, "1 body:json", true},
    {BODY_FORM_FORM, "1 body:form", false},
    {BODY_FORM_MULTIPART, "1 body:multipart", false},
};

START_TEST(a_body_counts_by_its_form)
{
	static const char *const nothing[4] = {NULL};
	struct route route = {.fingerprint_parts = B, .fingerprint_body = body_forms[_i].form};
	struct fingerprint one, other, again;
	char text[64];
	ck_assert_int_eq(make_wide(&route, NULL, nothing, "{\"a\":1}", &one), 0);
	ck_assert_int_eq(make_wide(&route, NULL, nothing, "{ \"a\": 1.0 }", &other), 0);
	ck_assert_str_eq(one.scheme, body_forms[_i].scheme);
	ck_assert((memcmp(one.digest, other.digest, DIGEST_LENGTH) == 0) == body_forms[_i].equal);
	fingerprint_difference(&one, other.scheme, other.parts, other.parts_length, text,
			       sizeof(text));
	ck_assert_str_eq(text, body_forms[_i].equal ? "" : "body");
	ck_assert_int_eq(make_wide(NULL, one.scheme, nothing, "{\"a\":1}", &again), 0);
	ck_assert_mem_eq(one.digest, again.digest, DIGEST_LENGTH);
}
END_TEST

START_TEST(the_form_of_a_body_is_nothing_where_the_body_is_not_compared)
{
	static const char *const nothing[4] = {NULL};
	struct route route = {.fingerprint_parts = M, .fingerprint_body = BODY_FORM_JSON};
	struct fingerprint out;
	ck_assert_int_eq(make_wide(&route, NULL, nothing, "{}", &out), 0);
	ck_assert_str_eq(out.scheme, "1 method");
}
END_TEST

START_TEST(a_header_named_twice_counts_once)
{
	static const char *const nothing[4] = {NULL};
	char *twice[] = {headers[0], headers[1], headers[0]};
	struct route route = {.fingerprint_headers = {twice, 3}};
	struct fingerprint out;
	ck_assert_int_eq(make_wide(&route, NULL, nothing, "", &out), 0);
	ck_assert_str_eq(out.scheme, "1 header:x-unit header:x-date");
}
END_TEST

/* All parts, the longest form, and three headers. */
START_TEST(names_of_56_bytes_fit_the_scheme_and_longer_ones_fail)
{
	static const char *const nothing[4] = {NULL};
	char one[] = "x-23456789-123456789", two[] = "y-23456789-123456789",
	     three[] = "z-23456789-12345z";
	char *names[] = {one, two, three};
	struct route route = {.fingerprint_parts = ALL,
			      .fingerprint_body = BODY_FORM_MULTIPART,
			      .fingerprint_headers = {names, 3}};
	struct fingerprint out;
	three[16] = '\0';
	ck_assert_uint_eq(strlen(one) + strlen(two) + strlen(three), 56);
	ck_assert_int_eq(make_wide(&route, NULL, nothing, "", &out), 0);
	ck_assert_uint_eq(strlen(out.scheme), FINGERPRINT_SCHEME_LENGTH - 1);
	ck_assert_uint_eq(out.parts_length, FINGERPRINT_MOST_PARTS * FINGERPRINT_PART_LENGTH);
	three[16] = 'z';
	ck_assert_int_eq(make_wide(&route, NULL, nothing, "", &out), -1);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("fingerprint");
	TCase *cases = tcase_create("fingerprint");
	tcase_add_loop_test(cases, two_requests_are_equal_exactly_when_every_named_part_is, 0,
			    COUNT(pairs));
	tcase_add_loop_test(cases, a_fingerprint_is_the_same_in_every_release, 0, COUNT(kept));
	tcase_add_loop_test(cases, the_scheme_of_a_record_gives_its_fingerprint_again, 0,
			    COUNT(kept));
	tcase_add_test(cases, fingerprints_of_two_schemes_never_agree);
	tcase_add_loop_test(cases, a_scheme_that_this_build_does_not_know_is_never_equal, 0,
			    COUNT(schemes));
	tcase_add_test(cases, the_order_of_a_scheme_is_the_order_of_its_parts);
	tcase_add_test(cases, a_part_digest_is_the_beginning_of_the_digest_of_the_part);
	tcase_add_test(cases, what_cannot_be_compared_names_no_part);
	tcase_add_test(cases, the_named_parts_are_cut_at_a_whole_name_and_all_counted);
	tcase_add_loop_test(cases, a_header_counts_by_its_values, 0, COUNT(header_pairs));
	tcase_add_loop_test(cases, a_body_counts_by_its_form, 0, COUNT(body_forms));
	tcase_add_test(cases, the_form_of_a_body_is_nothing_where_the_body_is_not_compared);
	tcase_add_test(cases, a_header_named_twice_counts_once);
	tcase_add_test(cases, names_of_56_bytes_fit_the_scheme_and_longer_ones_fail);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
