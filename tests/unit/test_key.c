/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/key.h"

#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct source sources[] = {
    {SOURCE_HEADER, (char[]){"Idempotency-Key"}}, {SOURCE_HEADER, (char[]){"X-Idempotency-Key"}},
    {SOURCE_ENV, (char[]){"ORDER_KEY"}},          {SOURCE_COOKIE, (char[]){"order"}},
    {SOURCE_JSON, (char[]){"/cart/id"}},          {SOURCE_FORM, (char[]){"token"}},
};

static struct route route_of(enum route_key_syntax syntax, enum route_key_charset charset)
{
	return (struct route){
	    .key_sources = {sources, sizeof(sources) / sizeof(sources[0])},
	    .key_syntax = syntax,
	    .key_charset = charset,
	    .key_min_length = 1,
	    .key_max_length = 255,
	};
}

/* Nothing of a client's bytes may stand in a message: log and answer show it (case C18). */
static void expect_told(const struct error *why)
{
	ck_assert_int_ne(why->kind, ERROR_NONE);
	ck_assert_uint_gt(strlen(why->message), 0);
	for (const char *next = why->message; *next != '\0'; next++)
		ck_assert_msg(*next >= 0x20 && *next < 0x7f, "a raw byte in a message");
}

enum { ANY = KEY_SYNTAX_ANY, RAW = KEY_SYNTAX_RAW, STRUCTURED = KEY_SYNTAX_STRUCTURED };
enum { ASCII = KEY_CHARSET_ASCII, UTF8 = KEY_CHARSET_UTF8 };

static const struct {
	int syntax, charset;
	const char *value;
	const char *key; /* NULL: invalid */
	const char *why;
} values[] = {
    {ANY, ASCII, "abc-123", "abc-123", "a bare key"},
    {ANY, ASCII, "\"abc-123\"", "abc-123", "quoted, it is the same key"},
    {ANY, ASCII, "\"a\\\"b\\\\\"", "a\"b\\", "escapes are undone"},
    {ANY, ASCII, "  abc\t ", "abc", "blanks around are no part of it"},
    {ANY, ASCII, "\t \"abc\" \t", "abc", "nor around quotes"},
    {ANY, ASCII, "\" abc \"", " abc ", "within quotes they are"},
    {ANY, ASCII, "a b", "a b", "nor do they hurt inside"},
    {ANY, ASCII, "a;b=c", "a;b=c", "a bare key has no parameters"},
    {ANY, ASCII, "\"abc\";v=1", "abc", "parameters are ignored"},
    {ANY, ASCII, "\"abc\";V", NULL, "and must be well formed"},
    {ANY, ASCII, "a\"b\"", "a\"b\"", "quotes inside a bare key are bytes like others"},
    {ANY, ASCII, "\"abc", NULL, "no closing quote"},
    {ANY, ASCII, "\"", NULL, "one quote"},
    {ANY, ASCII, "\"a\\b\"", NULL, "a bad escape"},
    {ANY, ASCII, "\"a\"b", NULL, "something behind the quote"},
    {ANY, ASCII, "", NULL, "empty"},
    {ANY, ASCII, " \t ", NULL, "only blanks"},
    {ANY, ASCII, "\"\"", NULL, "empty in quotes"},
    {STRUCTURED, ASCII, "\"abc\"", "abc", "quoted"},
    {STRUCTURED, ASCII, " \"abc\";x ", "abc", "with blanks and a parameter"},
    {STRUCTURED, ASCII, "abc", NULL, "a bare key where quotes are demanded"},
    {STRUCTURED, ASCII, "\"\"", NULL, "empty in quotes"},
    {STRUCTURED, UTF8, "\"\xc3\xa9\"", NULL, "RFC 8941 strings are ASCII"},
    {RAW, ASCII, "\"abc\"", "\"abc\"", "raw: quotes are part of it"},
    {RAW, ASCII, "\"abc", "\"abc", "raw: whatever it looks like"},
    {RAW, ASCII, "abc;x", "abc;x", "raw: all of it"},
    {RAW, ASCII, " abc ", "abc", "raw: but for blanks around"},
    {RAW, ASCII, "", NULL, "raw: empty"},
    {RAW, ASCII, "  ", NULL, "raw: only blanks"},
    /* C19: repeated headers that a web server joined */
    {ANY, ASCII, "a,b", NULL, "joined"},
    {ANY, ASCII, "a, b", NULL, "joined with a blank"},
    {ANY, ASCII, "a, a", NULL, "joined, alike"},
    {ANY, ASCII, "a,", NULL, "joined with an empty one"},
    {ANY, ASCII, ",a", NULL, "joined to an empty one"},
    {ANY, ASCII, ",", NULL, "two empty ones"},
    {ANY, ASCII, "\"a\", \"b\"", NULL, "joined quoted ones"},
    {ANY, ASCII, "a, \"b\"", NULL, "joined, one quoted"},
    {ANY, ASCII, "\"a\", b", NULL, "joined, the other quoted"},
    {ANY, ASCII, "\"a,b\"", "a,b", "a comma in quotes is content"},
    {STRUCTURED, ASCII, "\"a\", \"b\"", NULL, "joined quoted ones"},
    {STRUCTURED, ASCII, "\"a,b\"", "a,b", "a comma in quotes is content"},
    {RAW, ASCII, "a,b", NULL, "raw: joined"},
    {RAW, ASCII, "\"a\", \"b\"", NULL, "raw: joined quoted ones"},
    /* C18: bytes */
    {ANY, ASCII, "a\x01", NULL, "a control byte"},
    {ANY, ASCII, "a\nb", NULL, "a newline"},
    {ANY, ASCII, "a\tb", NULL, "a tab inside"},
    {ANY, ASCII, "a\x1f", NULL, "the last control byte"},
    {ANY, ASCII, "a ~", "a ~", "the ends of printable ASCII"},
    {ANY, ASCII, "a\x7f", NULL, "DEL"},
    {ANY, ASCII, "a\x80", NULL, "the first byte above"},
    {ANY, ASCII, "a\xff", NULL, "the last byte"},
    {ANY, ASCII, "caf\xc3\xa9", NULL, "UTF-8 is not ASCII"},
    {RAW, ASCII, "a\x1b[2J", NULL, "raw: an escape sequence"},
    {RAW, ASCII, "a\x80", NULL, "raw: above ASCII"},
    {ANY, UTF8, "caf\xc3\xa9", "caf\xc3\xa9", "two bytes"},
    {ANY, UTF8, "\xe2\x82\xac", "\xe2\x82\xac", "three bytes"},
    {ANY, UTF8, "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "four bytes"},
    {RAW, UTF8, "\"\xc3\xa9\"", "\"\xc3\xa9\"", "raw: quotes and UTF-8"},
    {ANY, UTF8, "\"abc\"", "abc", "quoted ASCII"},
    {ANY, UTF8, "\"\xc3\xa9\"", NULL, "RFC 8941 strings are ASCII"},
    {ANY, UTF8, "a\xff", NULL, "never a byte of UTF-8"},
    {ANY, UTF8, "a\xc3", NULL, "a character cut short"},
    {ANY, UTF8, "\xa9", NULL, "a continuation first"},
    {ANY, UTF8, "\xc0\xaf", NULL, "overlong"},
    {ANY, UTF8, "\xed\xa0\x80", NULL, "a surrogate"},
    {ANY, UTF8, "\xf4\x90\x80\x80", NULL, "above U+10FFFF"},
    {ANY, UTF8, "a\x01", NULL, "a C0 control"},
    {ANY, UTF8, "a\x7f", NULL, "DEL"},
    {ANY, UTF8, "a\xc2\x80", NULL, "the first C1 control"},
    {ANY, UTF8, "a\xc2\x9f", NULL, "the last C1 control"},
    {ANY, UTF8, "a\xc2\xa0z", "a\xc2\xa0z", "the first behind them"},
    {ANY, UTF8, "a\xe2\x80\xa7", "a\xe2\x80\xa7", "U+2027 before the separators"},
    {ANY, UTF8, "a\xe2\x80\xa8", NULL, "U+2028 line separator"},
    {ANY, UTF8, "a\xe2\x80\xa9", NULL, "U+2029 paragraph separator"},
    {ANY, UTF8, "a\xe2\x80\xaa", "a\xe2\x80\xaa", "U+202A behind the separators"},
    {ANY, UTF8, "\xef\xb7\x8f", "\xef\xb7\x8f", "U+FDCF before the noncharacters"},
    {ANY, UTF8, "\xef\xb7\x90", NULL, "U+FDD0, a noncharacter"},
    {ANY, UTF8, "\xef\xb7\xaf", NULL, "U+FDEF, a noncharacter"},
    {ANY, UTF8, "\xef\xb7\xb0", "\xef\xb7\xb0", "U+FDF0 behind them"},
    {ANY, UTF8, "\xef\xbf\xbd", "\xef\xbf\xbd", "U+FFFD is a character"},
    {ANY, UTF8, "\xef\xbf\xbe", NULL, "U+FFFE is none"},
    {ANY, UTF8, "\xef\xbf\xbf", NULL, "U+FFFF is none"},
    {ANY, UTF8, "\xf0\x9f\xbf\xbe", NULL, "U+1FFFE is none"},
    {ANY, UTF8, "\xf4\x8f\xbf\xbf", NULL, "U+10FFFF is none"},
    {ANY, UTF8, "\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd", "U+10FFFD may be one"},
};

START_TEST(a_value_gives_its_key_or_is_invalid)
{
	struct route route = route_of((enum route_key_syntax)values[_i].syntax,
				      (enum route_key_charset)values[_i].charset);
	struct buffer key = {.limit = 0};
	buffer_append_text(&key, "left over");
	struct error why = {.kind = ERROR_NONE};
	enum key_result result = key_parse(&route, values[_i].value, &key, &why);
	ck_assert_msg(result == (values[_i].key != NULL ? KEY_FOUND : KEY_INVALID), "%s",
		      values[_i].why);
	if (values[_i].key != NULL) {
		ck_assert_msg(strcmp(buffer_text(&key), values[_i].key) == 0, "%s: %s",
			      values[_i].why, buffer_text(&key));
	} else {
		ck_assert_uint_eq(key.length, 0);
		expect_told(&why);
	}
	buffer_free(&key);
}
END_TEST

/* Case C18: lengths, in what the charset counts. */
static const struct {
	int syntax, charset;
	const char *unit;
	size_t units;
	int64_t least, most;
	enum key_result result;
	const char *why;
} lengths[] = {
    {ANY, ASCII, "x", 255, 1, 255, KEY_FOUND, "255 bytes"},
    {ANY, ASCII, "x", 256, 1, 255, KEY_INVALID, "256 bytes"},
    {ANY, ASCII, "x", 60000, 1, 255, KEY_INVALID, "far too many"},
    {RAW, ASCII, "x", 255, 1, 255, KEY_FOUND, "raw, 255"},
    {RAW, ASCII, "x", 256, 1, 255, KEY_INVALID, "raw, 256"},
    {ANY, UTF8, "\xf0\x9f\x98\x80", 255, 1, 255, KEY_FOUND, "255 emoji are 1020 bytes"},
    {ANY, UTF8, "\xf0\x9f\x98\x80", 256, 1, 255, KEY_INVALID, "256 emoji"},
    {ANY, ASCII, "x", 64, 1, 64, KEY_FOUND, "another most"},
    {ANY, ASCII, "x", 65, 1, 64, KEY_INVALID, "over another most"},
    {ANY, ASCII, "x", 8, 8, 255, KEY_FOUND, "the least"},
    {ANY, ASCII, "x", 7, 8, 255, KEY_INVALID, "below the least"},
    {ANY, UTF8, "\xc3\xa9", 7, 8, 255, KEY_INVALID, "14 bytes, but 7 characters"},
};

static char *repeated(const char *before, const char *unit, size_t units, const char *after)
{
	size_t size = strlen(before) + strlen(unit) * units + strlen(after) + 1;
	char *text = malloc(size);
	ck_assert_ptr_nonnull(text);
	char *end = stpcpy(text, before);
	for (size_t i = 0; i < units; i++)
		end = stpcpy(end, unit);
	strcpy(end, after);
	return text;
}

START_TEST(a_key_has_as_many_characters_as_the_route_allows)
{
	struct route route = route_of((enum route_key_syntax)lengths[_i].syntax,
				      (enum route_key_charset)lengths[_i].charset);
	route.key_min_length = lengths[_i].least;
	route.key_max_length = lengths[_i].most;
	char *value = repeated(" ", lengths[_i].unit, lengths[_i].units, " ");
	struct buffer key = {.limit = 0};
	struct error why = {.kind = ERROR_NONE};
	ck_assert_msg(key_parse(&route, value, &key, &why) == lengths[_i].result, "%s",
		      lengths[_i].why);
	if (lengths[_i].result == KEY_FOUND)
		ck_assert_uint_eq(key.length, strlen(lengths[_i].unit) * lengths[_i].units);
	else
		expect_told(&why);
	buffer_free(&key);
	free(value);
}
END_TEST

START_TEST(one_character_is_told_in_the_singular)
{
	struct route route = route_of(KEY_SYNTAX_RAW, KEY_CHARSET_ASCII);
	struct buffer key = {.limit = 0};
	struct error why;
	route.key_min_length = 8;
	ck_assert_int_eq(key_parse(&route, "x", &key, &why), KEY_INVALID);
	ck_assert_str_eq(why.message, "the key has 1 character, fewer than the 8 required");
	buffer_free(&key);
}
END_TEST

START_TEST(quotes_and_escapes_do_not_count)
{
	struct route route = route_of(KEY_SYNTAX_STRUCTURED, KEY_CHARSET_ASCII);
	struct buffer key = {.limit = 0};
	struct error why;
	char *value = repeated("\"", "\\\"", 255, "\";v=\"much more\"");
	ck_assert_int_eq(key_parse(&route, value, &key, &why), KEY_FOUND);
	ck_assert_uint_eq(key.length, 255);
	free(value);
	value = repeated("\"", "\\\\", 256, "\"");
	ck_assert_int_eq(key_parse(&route, value, &key, &why), KEY_INVALID);
	free(value);
	buffer_free(&key);
}
END_TEST

START_TEST(an_empty_key_is_refused_whatever_the_least_length_is)
{
	struct route route = route_of(KEY_SYNTAX_ANY, KEY_CHARSET_ASCII);
	route.key_min_length = 0;
	struct buffer key = {.limit = 0};
	struct error why;
	ck_assert_int_eq(key_parse(&route, "", &key, &why), KEY_INVALID);
	ck_assert_int_eq(key_parse(&route, "\"\"", &key, &why), KEY_INVALID);
	buffer_free(&key);
}
END_TEST

START_TEST(every_byte_of_a_bare_key_is_kept_or_refused_by_its_charset)
{
	for (int byte = 1; byte < 256; byte++) {
		char value[] = {'a', (char)byte, 'z', '\0'};
		struct buffer key = {.limit = 0};
		struct error why = {.kind = ERROR_NONE};
		struct route route = route_of(KEY_SYNTAX_RAW, KEY_CHARSET_ASCII);
		bool good = byte >= 0x20 && byte <= 0x7e && byte != ',';
		ck_assert_msg((key_parse(&route, value, &key, &why) == KEY_FOUND) == good,
			      "ascii, %02x", byte);
		route = route_of(KEY_SYNTAX_RAW, KEY_CHARSET_UTF8);
		ck_assert_msg((key_parse(&route, value, &key, &why) == KEY_FOUND) == good,
			      "utf8, %02x", byte);
		if (good)
			ck_assert_str_eq(buffer_text(&key), value);
		else
			expect_told(&why);
		buffer_free(&key);
	}
}
END_TEST

static const struct {
	const char *entries[4];
	enum key_result result;
	const char *key;  /* when found */
	const char *told; /* when invalid: what the message begins with */
	const char *why;
} requests[] = {
    {{"HTTP_IDEMPOTENCY_KEY=abc"}, KEY_FOUND, "abc", NULL, "the first source"},
    {{"HTTP_X_IDEMPOTENCY_KEY=abc"}, KEY_FOUND, "abc", NULL, "the second source"},
    {{"ORDER_KEY=abc"}, KEY_FOUND, "abc", NULL, "a variable"},
    {{"HTTP_X_IDEMPOTENCY_KEY=second", "HTTP_IDEMPOTENCY_KEY=first"},
     KEY_FOUND,
     "first",
     NULL,
     "the sources' order counts, not the request's"},
    {{"HTTP_OTHER=abc"}, KEY_ABSENT, NULL, NULL, "none"},
    {{NULL}, KEY_ABSENT, NULL, NULL, "no parameters at all"},
    {{"IDEMPOTENCY_KEY=abc"}, KEY_ABSENT, NULL, NULL, "a variable is no header"},
    {{"ORDER_KEY="}, KEY_ABSENT, NULL, NULL, "an empty variable is absent"},
    {{"HTTP_IDEMPOTENCY_KEY="}, KEY_INVALID, NULL, "header Idempotency-Key: ", "present and empty"},
    {{"HTTP_IDEMPOTENCY_KEY=", "HTTP_X_IDEMPOTENCY_KEY=abc"},
     KEY_INVALID,
     NULL,
     "header Idempotency-Key: ",
     "an empty one is not passed over"},
    {{"HTTP_IDEMPOTENCY_KEY=\"", "HTTP_X_IDEMPOTENCY_KEY=abc"},
     KEY_INVALID,
     NULL,
     "header Idempotency-Key: ",
     "nor is an invalid one"},
    {{"HTTP_IDEMPOTENCY_KEY=abc", "HTTP_IDEMPOTENCY_KEY=abd"},
     KEY_INVALID,
     NULL,
     "header Idempotency-Key: ",
     "sent twice (C19)"},
    {{"HTTP_IDEMPOTENCY_KEY=abc", "HTTP_OTHER=x", "HTTP_IDEMPOTENCY_KEY=abc"},
     KEY_INVALID,
     NULL,
     "header Idempotency-Key: ",
     "sent twice, alike (C19)"},
    {{"HTTP_IDEMPOTENCY_KEY=abc", "HTTP_IDEMPOTENCY_KEY="},
     KEY_INVALID,
     NULL,
     "header Idempotency-Key: ",
     "sent twice, once empty (C19)"},
    {{"HTTP_X_IDEMPOTENCY_KEY=a,b"},
     KEY_INVALID,
     NULL,
     "header X-Idempotency-Key: ",
     "joined (C19)"},
    {{"ORDER_KEY=abc", "ORDER_KEY=abd"}, KEY_INVALID, NULL, "env ORDER_KEY: ", "a variable twice"},
};

START_TEST(the_first_source_that_is_present_gives_the_key)
{
	struct route route = route_of(KEY_SYNTAX_ANY, KEY_CHARSET_ASCII);
	struct params params = {.entries = requests[_i].entries, .count = 0};
	while (params.count < 4 && params.entries[params.count] != NULL)
		params.count++;
	struct buffer key = {.limit = 0};
	buffer_append_text(&key, "left over");
	struct error why = {.kind = ERROR_NONE};
	ck_assert_msg(key_read(&route, &params, NULL, &key, &why) == requests[_i].result, "%s",
		      requests[_i].why);
	ck_assert_str_eq(buffer_text(&key), requests[_i].key != NULL ? requests[_i].key : "");
	if (requests[_i].told != NULL) {
		expect_told(&why);
		ck_assert_msg(strncmp(why.message, requests[_i].told, strlen(requests[_i].told)) ==
				  0,
			      "%s: %s", requests[_i].why, why.message);
	}
	buffer_free(&key);
}
END_TEST

#define JSON "application/json"
#define FORM "application/x-www-form-urlencoded"

static const struct {
	const char *entry; /* or NULL */
	const char *type, *body;
	enum key_result result;
	const char *key;  /* when found */
	const char *told; /* when invalid */
	const char *why;
} documents[] = {
    {NULL, JSON, "{\"cart\":{\"id\":\"c-1\"}}", KEY_FOUND, "c-1", NULL, "from JSON"},
    {NULL, JSON, "{\"cart\":{\"id\":42}}", KEY_FOUND, "42", NULL, "a number"},
    {NULL, JSON, "{\"cart\":{\"id\":\"\\\"a\\\", b\"}}", KEY_FOUND, "\"a\", b", NULL,
     "the text itself, with quotes, comma and blank"},
    {NULL, JSON, "{\"cart\":{\"id\":\" a \"}}", KEY_FOUND, " a ", NULL, "blanks are part of it"},
    {NULL, FORM, "x=1&token=a%2Cb", KEY_FOUND, "a,b", NULL, "from a form"},
    {NULL, "multipart/form-data; boundary=X",
     "--X\r\nContent-Disposition: form-data; name=token\r\n\r\nt\r\n--X--", KEY_FOUND, "t", NULL,
     "from a part"},
    {"HTTP_IDEMPOTENCY_KEY=h", JSON, "{\"cart\":{\"id\":\"c-1\"}}", KEY_FOUND, "h", NULL,
     "a source before the body"},
    {"HTTP_IDEMPOTENCY_KEY=h", JSON, "{", KEY_FOUND, "h", NULL, "the body is then not looked into"},
    {"HTTP_COOKIE=order=\"o-1\"", JSON, "{", KEY_FOUND, "o-1", NULL, "from a cookie"},
    {"HTTP_COOKIE=order=", JSON, "{}", KEY_INVALID, NULL, "cookie order: the key is empty",
     "an empty cookie is not passed over"},
    {"HTTP_COOKIE=order=a; order=b", JSON, "{}", KEY_INVALID, NULL,
     "cookie order: it is given more than once", "two cookies of one name"},
    {NULL, JSON, "{}", KEY_ABSENT, NULL, NULL, "not in the body"},
    {NULL, "", "", KEY_ABSENT, NULL, NULL, "no body"},
    {NULL, FORM, "x=1", KEY_ABSENT, NULL, NULL, "not in the form"},
    {NULL, JSON, "{\"cart\":{\"id\":\"\"}}", KEY_INVALID, NULL, "json /cart/id: the key is empty",
     "empty"},
    {NULL, JSON, "{\"cart\":{\"id\":null}}", KEY_INVALID, NULL,
     "json /cart/id: it must be a string or a number", "null"},
    {NULL, JSON, "{\"cart\":{\"id\":\"a\\u0000b\"}}", KEY_INVALID, NULL,
     "json /cart/id: the key may hold printable ASCII only", "a NUL in it"},
    {NULL, JSON, "{\"cart\":{\"id\":\"\\u00e9\"}}", KEY_INVALID, NULL,
     "json /cart/id: the key may hold printable ASCII only", "beyond ASCII"},
    {NULL, JSON, "{\"cart\":", KEY_INVALID, NULL,
     "json /cart/id: the body is not well-formed JSON: byte 9: the text ends where a value must "
     "stand",
     "no JSON"},
    {NULL, "", "hello", KEY_INVALID, NULL,
     "json /cart/id: the body is not well-formed JSON: byte 1: here a value must stand",
     "no JSON, though it claims nothing else"},
    {NULL, "text/plain", "hello", KEY_ABSENT, NULL, "", "what claims to be text is no bad JSON"},
    {NULL, FORM, "token=a&token=b", KEY_INVALID, NULL, "form token: it is given more than once",
     "two fields of one name"},
    {NULL, FORM, "token=a%00b", KEY_INVALID, NULL,
     "form token: the key may hold printable ASCII only", "a NUL in a field"},
    {NULL, FORM, "token=%", KEY_INVALID, NULL,
     "form token: the body is not a well-formed form: byte 7: two hex digits must follow %",
     "no form"},
    {NULL, "multipart/form-data; boundary=X", "token=a", KEY_INVALID, NULL,
     "form token: the body is not a well-formed multipart form: byte 8: the closing boundary is "
     "missing",
     "no parts"},
    {NULL, "multipart/form-data; boundary=X",
     "--X\r\nContent-Disposition: form-data; name=token; filename=f\r\n\r\nt\r\n--X--", KEY_INVALID,
     NULL, "form token: it must be a field and not a file", "a file"},
};

/* The syntax is that of headers. */
static const int all_syntaxes[] = {ANY, RAW, STRUCTURED};

START_TEST(a_body_or_cookie_gives_its_text_as_the_key)
{
	for (size_t i = 0; i < 3; i++) {
		if (documents[_i].entry != NULL && all_syntaxes[i] == STRUCTURED)
			continue; /* header sources come first */
		struct route route =
		    route_of((enum route_key_syntax)all_syntaxes[i], KEY_CHARSET_ASCII);
		const char *entries[] = {documents[_i].entry};
		struct params params = {.entries = entries, .count = entries[0] != NULL};
		struct document *document = document_new(
		    documents[_i].body, strlen(documents[_i].body), documents[_i].type);
		struct buffer key = {.limit = 0};
		struct error why = {.message = ""};
		ck_assert_msg(key_read(&route, &params, document, &key, &why) ==
				  documents[_i].result,
			      "%s: %s", documents[_i].why, why.message);
		ck_assert_str_eq(buffer_text(&key),
				 documents[_i].key != NULL ? documents[_i].key : "");
		if (documents[_i].told != NULL)
			ck_assert_str_eq(why.message, documents[_i].told);
		buffer_free(&key);
		document_free(document);
	}
}
END_TEST

START_TEST(a_text_that_is_taken_is_held_against_length_and_charset)
{
	struct route route = route_of(KEY_SYNTAX_STRUCTURED, KEY_CHARSET_UTF8);
	route.key_max_length = 3;
	struct buffer key = {.limit = 0};
	struct error why;
	ck_assert_int_eq(key_take(&route, "a,\xc3\xa9", 4, &key, &why), KEY_FOUND);
	ck_assert_str_eq(buffer_text(&key), "a,\xc3\xa9");
	ck_assert_int_eq(key_take(&route, "abcd", 4, &key, &why), KEY_INVALID);
	ck_assert_uint_eq(key.length, 0);
	ck_assert_int_eq(key_take(&route, "a\0b", 3, &key, &why), KEY_INVALID);
	ck_assert_int_eq(key_take(&route, "", 0, &key, &why), KEY_INVALID);
	buffer_free(&key);
}
END_TEST

START_TEST(a_message_tells_the_length_and_the_limit)
{
	struct route route = route_of(KEY_SYNTAX_ANY, KEY_CHARSET_ASCII);
	char *entry = repeated("HTTP_IDEMPOTENCY_KEY=", "x", 256, "");
	struct params params = {.entries = (const char *[]){entry}, .count = 1};
	struct buffer key = {.limit = 0};
	struct error why;
	ck_assert_int_eq(key_read(&route, &params, NULL, &key, &why), KEY_INVALID);
	ck_assert_str_eq(
	    why.message,
	    "header Idempotency-Key: the key has 256 characters, more than the 255 allowed");
	buffer_free(&key);
	free(entry);
}
END_TEST

START_TEST(a_key_that_its_buffer_cannot_hold_is_not_taken_in_part)
{
	struct route route = route_of(KEY_SYNTAX_ANY, KEY_CHARSET_ASCII);
	struct buffer key = {.limit = 4};
	struct error why;
	ck_assert_int_eq(key_parse(&route, "\"abcde\"", &key, &why), KEY_INVALID);
	ck_assert_int_eq(why.kind, ERROR_MEMORY);
	ck_assert_int_eq(key_parse(&route, "abcd", &key, &why), KEY_FOUND);
	ck_assert_int_eq(key_parse(&route, "abcde", &key, &why), KEY_INVALID);
	ck_assert_uint_eq(key.length, 0);
	buffer_free(&key);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("key");
	TCase *cases = tcase_create("key");
	tcase_add_loop_test(cases, a_value_gives_its_key_or_is_invalid, 0, COUNT(values));
	tcase_add_loop_test(cases, a_key_has_as_many_characters_as_the_route_allows, 0,
			    COUNT(lengths));
	tcase_add_test(cases, one_character_is_told_in_the_singular);
	tcase_add_test(cases, quotes_and_escapes_do_not_count);
	tcase_add_test(cases, an_empty_key_is_refused_whatever_the_least_length_is);
	tcase_add_test(cases, every_byte_of_a_bare_key_is_kept_or_refused_by_its_charset);
	tcase_add_loop_test(cases, the_first_source_that_is_present_gives_the_key, 0,
			    COUNT(requests));
	tcase_add_loop_test(cases, a_body_or_cookie_gives_its_text_as_the_key, 0, COUNT(documents));
	tcase_add_test(cases, a_text_that_is_taken_is_held_against_length_and_charset);
	tcase_add_test(cases, a_message_tells_the_length_and_the_limit);
	tcase_add_test(cases, a_key_that_its_buffer_cannot_hold_is_not_taken_in_part);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
