/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/multipart.h"

#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

#define TYPE       "multipart/form-data; boundary=XX"
#define NAME(name) "Content-Disposition: form-data; name=\"" name "\"\r\n"

/* From a copy of just that size, so that a step too far is seen; owned by the caller, as the parts
 * point into it. */
static int parse(struct multipart *multipart, const char *type, const void *body, size_t length,
		 char **copy, struct error *why)
{
	*copy = malloc(length > 0 ? length : 1);
	ck_assert_ptr_nonnull(*copy);
	memcpy(*copy, body, length);
	return multipart_parse(multipart, type, *copy, length, why);
}

static void show_text(struct buffer *out, const char *before, struct multipart_text *text)
{
	if (text->present)
		buffer_printf(out, "%s%s", before, buffer_text(&text->text));
}

/* name file=... file*=... type=... =content, parts set apart by | */
static void show(struct buffer *out, struct multipart *multipart)
{
	for (size_t i = 0; i < multipart->count; i++) {
		struct multipart_part *part = &multipart->parts[i];
		buffer_printf(out, "%s%s", i > 0 ? "|" : "", buffer_text(&part->name));
		show_text(out, " file=", &part->file_name);
		show_text(out, " file*=", &part->extended_file_name);
		show_text(out, " type=", &part->content_type);
		buffer_append_byte(out, '=');
		buffer_append(out, part->content, part->content_length);
	}
}

static const struct {
	const char *type, *body;
	const char *parts; /* NULL: malformed */
	const char *why;
} bodies[] = {
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XX--\r\n", "a=1", "a field"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XX--", "a=1", "without a last line break"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XX\r\n" NAME("b") "\r\n2\r\n--XX--\r\n", "a=1|b=2",
     "two"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XX\r\n" NAME("a") "\r\n2\r\n--XX--\r\n", "a=1|a=2",
     "two of one name"},
    {TYPE, "--XX--\r\n", "", "none"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n\r\n--XX--\r\n", "a=", "an empty one"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n--XX--\r\n", "a=", "an empty one, a line break saved"},
    {TYPE, "--XX\r\n" NAME("") "\r\n1\r\n--XX--\r\n", "=1", "an empty name"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n\r\n2\r\n\r\n--XX--\r\n", "a=1\r\n\r\n2\r\n",
     "line breaks in the content"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n--XY\n--XX\r\n--X\r\n--XX--\r\n", "a=--XY\n--XX\r\n--X",
     "what looks like a boundary and is none"},
    {TYPE,
     "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n"
     "Content-Type: text/plain\r\n\r\nhello\r\n--XX--\r\n",
     "f file=x.txt type=text/plain=hello", "a file"},
    {TYPE,
     "--XX\r\nContent-Disposition: form-data; name=f; filename=\"\"\r\n"
     "Content-Type: application/octet-stream\r\n\r\n\r\n--XX--\r\n",
     "f file= type=application/octet-stream=", "a file not chosen"},
    {TYPE,
     "--XX\r\ncontent-type:text/plain\r\nCONTENT-DISPOSITION:Form-Data;NAME=f;FileName=x;"
     "filename*=utf-8''%C3%A9\r\n\r\n1\r\n--XX--\r\n",
     "f file=x file*=utf-8''%C3%A9 type=text/plain=1", "spelled otherwise"},
    {TYPE, "--XX\r\nX-Other: y\r\nContent-Length: 9\r\n" NAME("a") "\r\n1\r\n--XX--\r\n", "a=1",
     "fields that say nothing here"},
    {TYPE, "--XX\r\nContent-Transfer-Encoding: 8BIT\r\n" NAME("a") "\r\n1\r\n--XX--\r\n", "a=1",
     "an encoding that is none"},
    {TYPE, "--XX\r\n" NAME("a\\\"b") "\r\n1\r\n--XX--\r\n", "a\"b=1", "a quote in a name"},
    {TYPE, "before\r\n--XX\r\n" NAME("a") "\r\n1\r\n--XX--\r\nbehind\r\n--XX\r\n", "a=1",
     "before the first and behind the last boundary"},
    {TYPE, "\r\n--XX\r\n" NAME("a") "\r\n1\r\n--XX--", "a=1", "a line break in front"},
    {TYPE, "--XX \t\r\n" NAME("a") "\r\n1\r\n--XX-- \r\n", "a=1", "blanks behind boundaries"},
    {"Multipart/Form-Data; charset=utf-8; Boundary=\"X X\"",
     "--X X\r\n" NAME("a") "\r\n1\r\n--X X--\r\n", "a=1", "a boundary in quotes"},
    {"multipart/form-data; boundary=----=_Part_0:/?",
     "------=_Part_0:/?\r\n" NAME("a") "\r\n1\r\n------=_Part_0:/?--\r\n", "a=1",
     "one that should be in quotes"},
    {TYPE, "", NULL, "nothing"},
    {TYPE, "a=1", NULL, "another form"},
    {TYPE, "--XX", NULL, "only a boundary"},
    {TYPE, "--XX\r\n", NULL, "no part behind it"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1", NULL, "cut in the content"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XX", NULL, "cut in the last boundary"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XX-", NULL, "and behind one dash"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XX\r\n", NULL, "no closing one"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--YY--\r\n", NULL, "another boundary"},
    {TYPE, "--XXY\r\n" NAME("a") "\r\n1\r\n--XXY--\r\n", NULL, "a longer one"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XXY\r\n2\r\n--XX--\r\n", NULL,
     "a line that begins with it and goes on"},
    {TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XX--Y\r\n", NULL, "and one with the last"},
    {TYPE,
     "--XX\n"
     "Content-Disposition: form-data; name=a\n\n1\n--XX--\n",
     NULL, "only newlines"},
    {TYPE, "--XX\r\n\r\n1\r\n--XX--\r\n", NULL, "no headers"},
    {TYPE, "--XX\r\nContent-Type: text/plain\r\n\r\n1\r\n--XX--\r\n", NULL, "no disposition"},
    {TYPE, "--XX\r\nContent-Disposition: form-data\r\n\r\n1\r\n--XX--\r\n", NULL, "no name"},
    {TYPE, "--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--XX--\r\n", NULL,
     "another disposition"},
    {TYPE, "--XX\r\nContent-Disposition: form-data; name=\"a\r\n\r\n1\r\n--XX--\r\n", NULL,
     "a quote that does not end"},
    {TYPE, "--XX\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\n1\r\n--XX--\r\n", NULL,
     "two names"},
    {TYPE, "--XX\r\n" NAME("a") NAME("a") "\r\n1\r\n--XX--\r\n", NULL, "two dispositions"},
    {TYPE, "--XX\r\n" NAME("a") "Content-Type: a/b\r\nContent-Type: a/b\r\n\r\n1\r\n--XX--\r\n",
     NULL, "two types"},
    {TYPE, "--XX\r\n" NAME("a") "Content-Transfer-Encoding: base64\r\n\r\nMQ==\r\n--XX--\r\n", NULL,
     "encoded content"},
    {TYPE, "--XX\r\n" NAME("a") "no colon\r\n\r\n1\r\n--XX--\r\n", NULL, "a line without colon"},
    {TYPE, "--XX\r\n" NAME("a") ": x\r\n\r\n1\r\n--XX--\r\n", NULL, "a line without name"},
    {TYPE, "--XX\r\n" NAME("a") " folded: x\r\n\r\n1\r\n--XX--\r\n", NULL, "a folded line"},
    {TYPE, "--XX\r\nX: \nY: z\r\n" NAME("a") "\r\n1\r\n--XX--\r\n", NULL, "a bare newline"},
    {"multipart/form-data", "--XX--\r\n", NULL, "no boundary named"},
    {"multipart/form-data; boundary=", "--\r\n--\r\n", NULL, "an empty one"},
    {"multipart/form-data; boundary=\"\"", "--\r\n----\r\n", NULL, "an empty one in quotes"},
    {"multipart/form-data; boundary=\"X \"", "--X \r\n--X --\r\n", NULL,
     "one that ends in a blank"},
    {"multipart/form-data; boundary=\"X\tX\"", "--X\tX--\r\n", NULL, "one with a control byte"},
    {"multipart/form-data; boundary=XX; boundary=XX", "--XX--\r\n", NULL, "two"},
    {"multipart/form-data; boundary", "--XX--\r\n", NULL, "a malformed type"},
    {"multipart/mixed; boundary=XX", "--XX--\r\n", NULL, "another multipart"},
    {"", "--XX--\r\n", NULL, "no type"},
};

START_TEST(a_body_is_cut_into_its_parts_or_is_malformed)
{
	struct multipart multipart;
	struct error why = {.message = ""};
	char *copy;
	int result = parse(&multipart, bodies[_i].type, bodies[_i].body, strlen(bodies[_i].body),
			   &copy, &why);
	ck_assert_msg((result == 0) == (bodies[_i].parts != NULL), "%s: %s", bodies[_i].why,
		      why.message);
	if (result == 0) {
		struct buffer shown = {.limit = 0};
		show(&shown, &multipart);
		ck_assert_msg(strcmp(buffer_text(&shown), bodies[_i].parts) == 0, "%s: %s",
			      bodies[_i].why, buffer_text(&shown));
		buffer_free(&shown);
		multipart_free(&multipart);
	} else {
		ck_assert_int_eq(why.kind, ERROR_INPUT);
		ck_assert_uint_gt(strlen(why.message), 0);
	}
	free(copy);
}
END_TEST

START_TEST(no_beginning_of_a_body_is_a_body)
{
	static const char body[] =
	    "--XX\r\n" NAME("a") "\r\n1\r\n--XX\r\n" NAME("b") "\r\n2\r\n--XX--";
	struct multipart multipart;
	struct error why;
	char *copy;
	for (size_t length = 0; length < sizeof(body) - 1; length++) {
		ck_assert_int_eq(parse(&multipart, TYPE, body, length, &copy, &why), -1);
		free(copy);
	}
	ck_assert_int_eq(parse(&multipart, TYPE, body, sizeof(body) - 1, &copy, &why), 0);
	multipart_free(&multipart);
	free(copy);
}
END_TEST

START_TEST(content_may_be_any_bytes)
{
	static const char body[] = "--XX\r\n" NAME("a") "\r\n\0\xff\r\0\r\n--XX--";
	struct multipart multipart;
	struct error why;
	char *copy;
	ck_assert_int_eq(parse(&multipart, TYPE, body, sizeof(body) - 1, &copy, &why), 0);
	ck_assert_uint_eq(multipart.count, 1);
	ck_assert_uint_eq(multipart.parts[0].content_length, 4);
	ck_assert_mem_eq(multipart.parts[0].content, "\0\xff\r\0", 4);
	multipart_free(&multipart);
	free(copy);
}
END_TEST

static void digest_body(const char *type, const char *body, unsigned char out[DIGEST_LENGTH])
{
	struct multipart multipart;
	struct error why;
	ck_assert_int_eq(multipart_parse(&multipart, type, body, strlen(body), &why), 0);
	struct digest *digest = digest_new();
	ck_assert_ptr_nonnull(digest);
	multipart_digest(&multipart, digest);
	digest_finish(digest, out);
	digest_free(digest);
	multipart_free(&multipart);
}

#define FILE_PART(more, type, content)                                                             \
	"--XX\r\nContent-Disposition: form-data; name=a" more "\r\n" type "\r\n" content           \
	"\r\n--XX--"

static const struct {
	const char *type, *body;
	bool equal;
	const char *why;
} pairs[] = {
    {TYPE, FILE_PART("; filename=f", "Content-Type: a/b\r\n", "1"), true, "the same"},
    {"multipart/form-data; boundary=ZZZ",
     "--ZZZ\r\nContent-Type: a/b\r\nContent-Disposition: form-data; filename=\"f\"; name=\"a\""
     "\r\n\r\n1\r\n--ZZZ--",
     true, "another boundary, another order of headers, other quotes"},
    {TYPE, FILE_PART("; filename=f", "Content-Type: a/b\r\n", "2"), false, "another content"},
    {TYPE, FILE_PART("; filename=g", "Content-Type: a/b\r\n", "1"), false, "another file name"},
    {TYPE, FILE_PART("", "Content-Type: a/b\r\n", "1"), false, "no file name"},
    {TYPE, FILE_PART("; filename*=f", "Content-Type: a/b\r\n", "1"), false, "an extended one"},
    {TYPE, FILE_PART("; filename=f; filename*=f", "Content-Type: a/b\r\n", "1"), false, "both"},
    {TYPE, FILE_PART("; filename=f", "Content-Type: a/c\r\n", "1"), false, "another type"},
    {TYPE, FILE_PART("; filename=f", "", "1"), false, "no type"},
    {TYPE, "--XX--", false, "no part"},
};

START_TEST(parts_that_say_the_same_have_one_digest)
{
	unsigned char one[DIGEST_LENGTH], other[DIGEST_LENGTH];
	digest_body(TYPE, FILE_PART("; filename=f", "Content-Type: a/b\r\n", "1"), one);
	digest_body(pairs[_i].type, pairs[_i].body, other);
	ck_assert_msg((memcmp(one, other, DIGEST_LENGTH) == 0) == pairs[_i].equal, "%s",
		      pairs[_i].why);
}
END_TEST

START_TEST(parts_count_in_their_order)
{
	unsigned char one[DIGEST_LENGTH], other[DIGEST_LENGTH];
	digest_body(TYPE, "--XX\r\n" NAME("a") "\r\n1\r\n--XX\r\n" NAME("b") "\r\n2\r\n--XX--",
		    one);
	digest_body(TYPE, "--XX\r\n" NAME("b") "\r\n2\r\n--XX\r\n" NAME("a") "\r\n1\r\n--XX--",
		    other);
	ck_assert_mem_ne(one, other, DIGEST_LENGTH);
}
END_TEST

/* `times` parts, each with `filler` as a header of its own. */
static int parse_many(size_t times, const char *filler, struct error *why)
{
	struct buffer body = {.limit = 0};
	for (size_t i = 0; i < times; i++)
		buffer_printf(&body, "--XX\r\n%s%s\r\n1\r\n", NAME("a"), filler);
	buffer_append_text(&body, "--XX--");
	ck_assert(!body.failed);
	struct multipart multipart;
	int result = multipart_parse(&multipart, TYPE, body.data, body.length, why);
	if (result == 0)
		multipart_free(&multipart);
	buffer_free(&body);
	return result;
}

START_TEST(the_number_of_parts_is_limited)
{
	struct error why;
	ck_assert_int_eq(parse_many(MULTIPART_MOST_PARTS, "", &why), 0);
	ck_assert_int_eq(parse_many(MULTIPART_MOST_PARTS + 1, "", &why), -1);
	ck_assert_int_eq(why.kind, ERROR_LIMIT);
	ck_assert_int_eq(parse_many(100000, "", &why), -1);
	ck_assert_int_eq(why.kind, ERROR_LIMIT);
}
END_TEST

START_TEST(the_headers_of_a_part_are_limited)
{
	enum { FIXED = sizeof(NAME("a")) - 1 + sizeof("X: \r\n\r\n") - 1 };
	char line[MULTIPART_MOST_HEADER_BYTES] = "X: ";
	size_t most = MULTIPART_MOST_HEADER_BYTES - FIXED;
	memset(line + 3, 'x', most);
	strcpy(line + 3 + most, "\r\n");
	struct error why = {.message = ""};
	ck_assert_msg(parse_many(1, line, &why) == 0, "%s", why.message);
	strcpy(line + 3 + most, "x\r\n");
	ck_assert_int_eq(parse_many(1, line, &why), -1);
	ck_assert_int_eq(why.kind, ERROR_LIMIT);
}
END_TEST

static const size_t boundary_lengths[] = {1, MULTIPART_MOST_BOUNDARY, MULTIPART_MOST_BOUNDARY + 1,
					  5000};

START_TEST(a_boundary_has_at_most_seventy_characters)
{
	struct buffer type = {.limit = 0};
	struct buffer body = {.limit = 0};
	char boundary[5001] = "";
	memset(boundary, 'x', boundary_lengths[_i]);
	buffer_printf(&type, "multipart/form-data; boundary=%s", boundary);
	buffer_printf(&body, "--%s\r\n%s\r\n1\r\n--%s--", boundary, NAME("a"), boundary);
	struct multipart multipart;
	struct error why;
	bool good = boundary_lengths[_i] <= MULTIPART_MOST_BOUNDARY;
	ck_assert_int_eq(
	    multipart_parse(&multipart, buffer_text(&type), body.data, body.length, &why),
	    good ? 0 : -1);
	if (good)
		multipart_free(&multipart);
	buffer_free(&type);
	buffer_free(&body);
}
END_TEST

/* What looks at each of them again and again is not done within the test's time. */
START_TEST(four_million_bytes_that_are_nearly_boundaries_are_passed_over)
{
	struct buffer body = {.limit = 0};
	buffer_append_text(&body, "--XX\r\n" NAME("a") "\r\n");
	for (size_t i = 0; i < 1000000; i++)
		buffer_append_text(&body, "\r\n--");
	buffer_append_text(&body, "\r\n--XX--");
	struct multipart multipart;
	struct error why;
	ck_assert_int_eq(multipart_parse(&multipart, TYPE, body.data, body.length, &why), 0);
	ck_assert_uint_eq(multipart.parts[0].content_length, 4000000);
	multipart_free(&multipart);
	buffer_free(&body);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("multipart");
	TCase *cases = tcase_create("multipart");
	tcase_add_loop_test(cases, a_body_is_cut_into_its_parts_or_is_malformed, 0, COUNT(bodies));
	tcase_add_test(cases, no_beginning_of_a_body_is_a_body);
	tcase_add_test(cases, content_may_be_any_bytes);
	tcase_add_loop_test(cases, parts_that_say_the_same_have_one_digest, 0, COUNT(pairs));
	tcase_add_test(cases, parts_count_in_their_order);
	tcase_add_test(cases, the_headers_of_a_part_are_limited);
	tcase_add_loop_test(cases, a_boundary_has_at_most_seventy_characters, 0,
			    COUNT(boundary_lengths));
	TCase *bombs = tcase_create("bombs");
	tcase_set_timeout(bombs, 60);
	tcase_add_test(bombs, the_number_of_parts_is_limited);
	tcase_add_test(bombs, four_million_bytes_that_are_nearly_boundaries_are_passed_over);
	suite_add_tcase(suite, cases);
	suite_add_tcase(suite, bombs);
	return suite_run(suite);
}
