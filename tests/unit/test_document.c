/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/document.h"

#include "base/encode.h"
#include "tests/unit/suite.h"

#include <string.h>

#define JSON  "application/json"
#define FORM  "application/x-www-form-urlencoded"
#define PARTS "multipart/form-data; boundary=X"
#define PART(name, more, content)                                                                  \
	"--X\r\nContent-Disposition: form-data; name=" name more "\r\n\r\n" content "\r\n"

enum {
	FOUND = DOCUMENT_FOUND,
	ABSENT = DOCUMENT_ABSENT,
	REPEATED = DOCUMENT_REPEATED,
	NO_SCALAR = DOCUMENT_NO_SCALAR,
	MALFORMED = DOCUMENT_MALFORMED,
};

static const struct {
	const char *type, *body;
	const char *where; /* a pointer when it begins with a slash, else a field */
	int lookup;
	const char *value; /* when found */
	const char *why;
} lookups[] = {
    {JSON, "{\"cart\":{\"id\":\"c-1\"}}", "/cart/id", FOUND, "c-1", "a string"},
    {JSON, "{\"id\":1.50}", "/id", FOUND, "1.5", "a number, by its one spelling"},
    {JSON, "{\"id\":\"\"}", "/id", FOUND, "", "there, and empty"},
    {JSON, "{\"id\":{}}", "/id", NO_SCALAR, NULL, "an object"},
    {JSON, "{\"id\":[1]}", "/id", NO_SCALAR, NULL, "an array"},
    {JSON, "{\"id\":null}", "/id", NO_SCALAR, NULL, "null"},
    {JSON, "{\"id\":true}", "/id", NO_SCALAR, NULL, "true"},
    {JSON, "{\"id\":1}", "/other", ABSENT, NULL, "no such member"},
    {JSON, "", "/id", ABSENT, NULL, "no body"},
    {JSON, "{\"id\":", "/id", MALFORMED, NULL, "a body cut short"},
    {JSON, "{\"id\":1,\"id\":1}", "/id", MALFORMED, NULL, "a name twice"},
    {JSON, "id=1", "/id", MALFORMED, NULL, "what claims to be JSON"},
    {"", "id=1", "/id", MALFORMED, NULL, "what claims nothing"},
    {"text/json", "id=1", "/id", MALFORMED, NULL, "what claims it by the old name"},
    {"application/problem+JSON; a=b", "id=1", "/id", MALFORMED, NULL, "what claims it by suffix"},
    {"text/plain", "id=1", "/id", ABSENT, NULL, "what claims to be text"},
    {"text/plain", "{\"id\":\"a\"}", "/id", FOUND, "a", "JSON that claims to be text"},
    {"", "{\"id\":1}", "/id", FOUND, "1", "JSON without a content type"},
    {FORM, "{\"id\":1}", "/id", FOUND, "1", "JSON sent as curl -d sends it"},
    {FORM, "id=1", "/id", ABSENT, NULL, "a form, which has no such value"},
    {PARTS, PART("id", "", "1") "--X--", "/id", ABSENT, NULL, "nor have parts"},
    {FORM, "id=1&x=2", "id", FOUND, "1", "a field"},
    {FORM "; charset=utf-8", "%69d=a+b", "id", FOUND, "a b", "by its decoded name"},
    {"Application/X-WWW-Form-UrlEncoded", "id=1", "id", FOUND, "1", "types have no case"},
    {FORM, "id", "id", FOUND, "", "there, and empty"},
    {FORM, "id=1&id=1", "id", REPEATED, NULL, "twice, though alike"},
    {FORM, "x=2", "id", ABSENT, NULL, "no such field"},
    {FORM, "", "id", ABSENT, NULL, "no body"},
    {FORM, "id=%", "id", MALFORMED, NULL, "a bad escape"},
    {FORM, "id=1&x=%zz", "id", MALFORMED, NULL, "a bad escape elsewhere"},
    {PARTS, PART("id", "", "1") PART("x", "", "2") "--X--", "id", FOUND, "1", "a part"},
    {PARTS, PART("id", "", "1") PART("id", "", "2") "--X--", "id", REPEATED, NULL, "two parts"},
    {PARTS, PART("id", "; filename=f", "1") "--X--", "id", NO_SCALAR, NULL, "a file"},
    {PARTS, PART("id", "; filename*=f", "1") "--X--", "id", NO_SCALAR, NULL, "an extended name"},
    {PARTS, PART("x", "", "1") "--X--", "id", ABSENT, NULL, "no such part"},
    {PARTS, PART("id", "", "1"), "id", MALFORMED, NULL, "parts without end"},
    {PARTS, "", "id", ABSENT, NULL, "no body"},
    {"multipart/form-data", "--X--", "id", MALFORMED, NULL, "no boundary"},
    {JSON, "{\"id\":1}", "id", ABSENT, NULL, "JSON has no fields"},
    {"", "id=1", "id", ABSENT, NULL, "nor has what claims nothing"},
    {"multipart/mixed; boundary=X", "--X--", "id", ABSENT, NULL, "nor has another multipart"},
};

static struct document *document_of(const char *type, const char *body)
{
	struct document *document = document_new(body, strlen(body), type);
	ck_assert_ptr_nonnull(document);
	return document;
}

START_TEST(a_value_is_found_in_the_body_or_it_is_told_why_not)
{
	struct document *document = document_of(lookups[_i].type, lookups[_i].body);
	for (int time = 0; time < 2; time++) { /* the second from what was parsed */
		struct document_value value = {NULL, 0};
		const char *where = lookups[_i].where;
		enum document_lookup lookup = *where == '/'
						  ? document_json(document, where, &value)
						  : document_field(document, where, &value);
		ck_assert_msg((int)lookup == lookups[_i].lookup, "%s: %d", lookups[_i].why,
			      (int)lookup);
		if (lookups[_i].value == NULL)
			continue;
		ck_assert_uint_eq(value.length, strlen(lookups[_i].value));
		ck_assert_mem_eq(value.data, lookups[_i].value, value.length);
	}
	document_free(document);
}
END_TEST

static const struct {
	enum route_body_form form;
	const char *type, *body;
	const char *told; /* NULL: it is */
} forms[] = {
    {BODY_FORM_RAW, "", "", NULL},
    {BODY_FORM_JSON, "", "{}", NULL},
    {BODY_FORM_JSON, FORM, " 1 ", NULL},
    {BODY_FORM_JSON, JSON, "", "the body is not well-formed JSON: there is none"},
    {BODY_FORM_JSON, JSON, "[1,]",
     "the body is not well-formed JSON: byte 4: here a value must stand"},
    {BODY_FORM_JSON, JSON, "{\"a\":1,\"a\":1}",
     "the body is not well-formed JSON: byte 14: the object that ends before here names a member "
     "twice"},
    {BODY_FORM_FORM, FORM, "a=1", NULL},
    {BODY_FORM_FORM, FORM, "", NULL},
    {BODY_FORM_FORM, JSON, "a=1",
     "the body is not a well-formed form: the content type is not "
     "application/x-www-form-urlencoded"},
    {BODY_FORM_FORM, FORM, "a=%",
     "the body is not a well-formed form: byte 3: two hex digits must follow %"},
    {BODY_FORM_MULTIPART, PARTS, "--X--", NULL},
    {BODY_FORM_MULTIPART, FORM, "--X--",
     "the body is not a well-formed multipart form: the content type is not "
     "multipart/form-data"},
    {BODY_FORM_MULTIPART, PARTS, "--X\r\n",
     "the body is not a well-formed multipart form: byte 6: a part's headers do not end"},
};

START_TEST(a_body_is_of_a_form_or_it_is_told_where_it_is_not)
{
	struct document *document = document_of(forms[_i].type, forms[_i].body);
	for (int time = 0; time < 2; time++) {
		struct error why = {.message = ""};
		ck_assert(document_is(document, forms[_i].form, &why) == (forms[_i].told == NULL));
		ck_assert_str_eq(why.message, forms[_i].told != NULL ? forms[_i].told : "");
		if (forms[_i].form == BODY_FORM_JSON)
			ck_assert(document_is_json(document, &why) == (forms[_i].told == NULL));
	}
	document_free(document);
}
END_TEST

static void digest_body(enum route_body_form form, const char *type, const char *body,
			unsigned char out[DIGEST_LENGTH])
{
	unsigned char raw[DIGEST_LENGTH];
	digest_of(body, strlen(body), raw);
	struct document *document = document_of(type, body);
	ck_assert_int_eq(document_digest(document, form, raw, out), 0);
	document_free(document);
}

static const struct {
	enum route_body_form form;
	const char *type, *one, *other;
	bool equal;
	const char *why;
} pairs[] = {
    {BODY_FORM_RAW, JSON, "{}", "{}", true, "the same bytes"},
    {BODY_FORM_RAW, JSON, "{}", "{ }", false, "raw: a blank is a byte"},
    {BODY_FORM_JSON, JSON, "{\"a\":1,\"b\":2}", "{ \"b\": 2.0, \"a\": 1e0 }", true,
     "the same JSON"},
    {BODY_FORM_JSON, JSON, "{\"a\":[1,2]}", "{\"a\":[2,1]}", false, "another order in an array"},
    {BODY_FORM_JSON, JSON, "9007199254740993", "9007199254740992", false, "beyond doubles"},
    {BODY_FORM_JSON, JSON, "1", "\"1\"", false, "a number is no string"},
    {BODY_FORM_JSON, JSON, "{\"a\":1,\"a\":2}", "{\"a\":1, \"a\":2}", false,
     "no canonical form: raw"},
    {BODY_FORM_JSON, JSON, "{\"a\":1,}", "{\"a\":1,}", true, "malformed alike"},
    {BODY_FORM_JSON, JSON, "{\"a\":1,}", "{\"a\":1, }", false, "malformed otherwise"},
    {BODY_FORM_JSON, JSON, "", "", true, "no body"},
    {BODY_FORM_JSON, JSON, "{}", "j{}", false, "nobody can spell a canonical form"},
    {BODY_FORM_FORM, FORM, "a=1&b=2", "b=%32&a=1", true, "the same form"},
    {BODY_FORM_FORM, FORM, "a=1&a=2", "a=2&a=1", false, "another order of one name"},
    {BODY_FORM_FORM, JSON, "a=1&b=2", "b=2&a=1", false, "no form by its type: raw"},
    {BODY_FORM_FORM, FORM, "a=%", "a=%", true, "malformed alike"},
    {BODY_FORM_MULTIPART, PARTS, PART("a", "", "1") "--X--", PART("\"a\"", "", "1") "--X--\r\n",
     true, "the same parts"},
    {BODY_FORM_MULTIPART, PARTS, PART("a", "", "1") "--X--", PART("a", "", "2") "--X--", false,
     "other parts"},
    {BODY_FORM_MULTIPART, PARTS, PART("a", "", "1"), PART("a", "", "1") "\r\n", false,
     "malformed: raw"},
};

START_TEST(bodies_are_compared_by_what_their_form_says)
{
	unsigned char one[DIGEST_LENGTH], other[DIGEST_LENGTH];
	digest_body(pairs[_i].form, pairs[_i].type, pairs[_i].one, one);
	digest_body(pairs[_i].form, pairs[_i].type, pairs[_i].other, other);
	ck_assert_msg((memcmp(one, other, DIGEST_LENGTH) == 0) == pairs[_i].equal, "%s",
		      pairs[_i].why);
}
END_TEST

START_TEST(one_multipart_body_may_have_another_boundary)
{
	unsigned char one[DIGEST_LENGTH], other[DIGEST_LENGTH];
	digest_body(BODY_FORM_MULTIPART, PARTS, PART("a", "", "1") "--X--", one);
	digest_body(BODY_FORM_MULTIPART, "multipart/form-data; boundary=\"other\"",
		    "--other\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--other--",
		    other);
	ck_assert_mem_eq(one, other, DIGEST_LENGTH);
}
END_TEST

/* What sha256sum(1) says of the canonical form with its letter; of the multipart's fields, eight
 * bytes of length before each. Records are kept for long: it must not change. */
static const struct {
	enum route_body_form form;
	const char *type, *body, *digest;
} kept[] = {
    {BODY_FORM_RAW, "", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {BODY_FORM_JSON, JSON, " {\"b\":[1.10,\"\\u00e9\\n\\\"\"],\"a\":null}",
     "f823ab609ca01b1c7a067d57fd0eb57f62c9c4f4cf2206af9eec739fec28896c"},
    {BODY_FORM_JSON, JSON, "abc",
     "97b864a0b552469171bb269384f5af7f904aa13b9148e4b469aa4f1a6ade9d81"},
    {BODY_FORM_FORM, FORM, "b=2+3&a=%31",
     "3173c61fb5f8de320b8065239c94c84c9dcca3862950b57d659d3c8b368ee652"},
    {BODY_FORM_MULTIPART, PARTS, PART("a", "; filename=f", "1") "--X--",
     "c6f6883a3bf2b5d9c68d0d76722652483b889b6bd2928796d77febd4a9880ba0"},
};

START_TEST(a_digest_is_the_same_in_every_release)
{
	unsigned char digest[DIGEST_LENGTH];
	char hex[2 * DIGEST_LENGTH + 1];
	digest_body(kept[_i].form, kept[_i].type, kept[_i].body, digest);
	encode_hex(hex, digest, DIGEST_LENGTH);
	ck_assert_str_eq(hex, kept[_i].digest);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("document");
	TCase *cases = tcase_create("document");
	tcase_add_loop_test(cases, a_value_is_found_in_the_body_or_it_is_told_why_not, 0,
			    COUNT(lookups));
	tcase_add_loop_test(cases, a_body_is_of_a_form_or_it_is_told_where_it_is_not, 0,
			    COUNT(forms));
	tcase_add_loop_test(cases, bodies_are_compared_by_what_their_form_says, 0, COUNT(pairs));
	tcase_add_test(cases, one_multipart_body_may_have_another_boundary);
	tcase_add_loop_test(cases, a_digest_is_the_same_in_every_release, 0, COUNT(kept));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
