/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/value.h"

#include "config/load.h"
#include "config/value_type.h"
#include "tests/unit/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

#define KEY_KINDS "header:NAME, env:NAME, json:/NAME, form:NAME, cookie:NAME"
#define PARTS                                                                                      \
	"a list of method, path, query, content-type, body, header:NAME, not empty, as [ "         \
	"\"method\", \"path\", \"query\", \"content-type\", \"body\" ]"

#define SIXTY_FOUR "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct refused {
	const char *text;
	const char *message; /* NULL: it is fine */
};

static void expect(const char *text, const char *place, const char *message)
{
	char *problems, expected[1024] = "";
	struct config *config = config_parse("t.conf", text, &problems);
	if (message != NULL)
		snprintf(expected, sizeof(expected), "t.conf:1: %s%s\n", place, message);
	ck_assert_str_eq(problems, expected);
	ck_assert((config == NULL) == (message != NULL));
	config_free(config);
	free(problems);
}

static const struct refused globals[] = {
    /* text */
    {"listen = \"/run/x.sock\";", NULL},
    {"listen = \"localhost:9000\";", NULL},
    {"listen = \"[::1]:9000\";", NULL},
    {"listen = 9000;",
     "listen: is a whole number, but takes a text: socket path, HOST:PORT, [IPV6]:PORT or empty, "
     "as \"a text in quotes\""},
    {"listen = \"9000\";", "listen: \"9000\" is no address; write a socket's absolute path, "
			   "HOST:PORT or [IPV6]:PORT"},
    {"listen = \":9000\";", "listen: \":9000\" is no address; write a socket's absolute path, "
			    "HOST:PORT or [IPV6]:PORT"},
    {"listen = \"localhost:65536\";",
     "listen: \"localhost:65536\" is no address; write a socket's absolute path, HOST:PORT or "
     "[IPV6]:PORT"},
    {"listen = \"[::1]\";", "listen: \"[::1]\" is no address; write a socket's absolute path, "
			    "HOST:PORT or [IPV6]:PORT"},
    {"listen = \"::1:80\";", "listen: \"::1:80\" is no address; write a socket's absolute path, "
			     "HOST:PORT or [IPV6]:PORT"},
    {"listen = \"/run/\\x01\";", "listen: holds a control byte; remove it"},
    {"listen = \"/run/\\n\";", "listen: holds a control byte; remove it"},
    {"listen = \"/" SIXTY_FOUR SIXTY_FOUR "\";",
     "listen: \"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
     "\" is too long for a unix socket; at most 107 bytes fit"},
    {"user = { };",
     "user: is a group, but takes a text: account name or empty, as \"a text in quotes\""},
    {"store: { database = \"\"; };",
     "store.database: is empty, but takes a text: name, not empty, as \"oncewrap\""},
    {"store: { database = \"" SIXTY_FOUR "a\"; };",
     "store.database: is 65 bytes long, above the maximum of 64"},
    {"store: { option_file = \"my.cnf\"; };",
     "store.option_file: \"my.cnf\" is not an absolute path; write one that begins with /"},
    {"store: { socket = \"mysqld.sock\"; };",
     "store.socket: \"mysqld.sock\" is not an absolute path; write one that begins with /"},
    {"spool: { directory = \"\"; };",
     "spool.directory: \"\" is not an absolute path; write one that begins with /"},
    /* mode */
    {"socket_mode = \"0777\";", NULL},
    {"socket_mode = 660;", "socket_mode: is a whole number, but takes an octal mode in quotes, "
			   "0000 to 0777, as \"0660\""},
    {"socket_mode = \"rw\";", "socket_mode: is \"rw\", but takes an octal mode in quotes, 0000 to "
			      "0777, as \"0660\""},
    {"socket_mode = \"1777\";", "socket_mode: 1777 is above the maximum of 0777"},
    /* whole number */
    {"workers = 1024;", NULL},
    {"workers = 5L;", NULL},
    {"workers = 0x10;", NULL},
    {"workers = 0;", "workers: 0 is below the minimum of 1"},
    {"workers = -1;", "workers: -1 is below the minimum of 1"},
    {"workers = 1025;", "workers: 1025 is above the maximum of 1024"},
    {"workers = 4294967304;", "4294967304 is too large a number for any setting"},
    {"workers = 1e3;",
     "workers: is a fraction, but takes a whole number of processes, 1 to 1024, as 8"},
    {"workers = \"8\";",
     "workers: is text, but takes a whole number of processes, 1 to 1024, as 8"},
    {"workers = true;",
     "workers: is true or false, but takes a whole number of processes, 1 to 1024, as 8"},
    {"workers = [8];",
     "workers: is a list, but takes a whole number of processes, 1 to 1024, as 8"},
    /* duration */
    {"stop_timeout = \"0s\";", NULL},
    {"stop_timeout = 10;",
     "stop_timeout: 10 has no unit; write \"10s\" for seconds (units: ms, s, m, h, d)"},
    {"stop_timeout = \"10\";",
     "stop_timeout: 10 has no unit; write \"10s\" for seconds (units: ms, s, m, h, d)"},
    {"stop_timeout = 1.5;",
     "stop_timeout: is a fraction, but takes a duration, 0s to 1h, as \"10s\""},
    {"stop_timeout = \"\";", "stop_timeout: is \"\", but takes a duration, 0s to 1h, as \"10s\""},
    {"stop_timeout = \"10 s\";",
     "stop_timeout: is \"10 s\", but takes a duration, 0s to 1h, as \"10s\""},
    {"stop_timeout = \"61m\";", "stop_timeout: 61m is above the maximum of 1h"},
    {"handlers: { timeout = \"99ms\"; };", "handlers.timeout: 99ms is below the minimum of 100ms"},
    /* size */
    {"limits: { max_body = 1000; };", NULL},
    {"limits: { max_body = \"1000\"; };", NULL},
    {"limits: { max_body = \"1G\"; };", NULL},
    {"limits: { max_body = \"16MB\"; };",
     "limits.max_body: is \"16MB\", but takes a size in bytes or with K, M or G, 1 to 1024G, as "
     "\"16M\""},
    {"limits: { max_body = 0; };", "limits.max_body: 0 is below the minimum of 1"},
    {"limits: { max_header_bytes = \"65K\"; };",
     "limits.max_header_bytes: 65K is above the maximum of 64K"},
    {"limits: { max_body = [\"1M\"]; };",
     "limits.max_body: is a list, but takes a size in bytes or with K, M or G, 1 to 1024G, as "
     "\"16M\""},
    /* yes and no */
    {"log: { keys = TRUE; };", NULL},
    {"log: { keys = \"yes\"; };", "log.keys: is text, but takes true or false, as false"},
    {"log: { keys = 1; };", "log.keys: is a whole number, but takes true or false, as false"},
    /* words */
    {"log: { level = \"warn\"; };", "log.level: is \"warn\", but takes one of \"debug\", \"info\", "
				    "\"warning\", \"error\", as \"info\""},
    {"store: { tls = true; };",
     "store.tls: is true or false, but takes one of \"off\", \"verify\", as \"off\""},
    /* lists */
    {"handlers: { roots = \"/srv\"; };", NULL},
    {"handlers: { roots = ( \"/srv\" ); };", NULL},
    {"handlers: { roots = []; };", "handlers.roots: is empty, but takes a list of absolute paths, "
				   "not empty, as [ \"/usr/lib/cgi-bin\" ]"},
    {"handlers: { roots = [ \"/srv\", \"cgi\" ]; };",
     "handlers.roots: \"cgi\" is not an absolute path; write one that begins with /"},
    {"handlers: { roots = [ 1 ]; };",
     "handlers.roots: holds a whole number, but takes a list of absolute paths, not empty, as [ "
     "\"/usr/lib/cgi-bin\" ]"},
    {"handlers: { roots = ( \"/srv\", [ \"/srv\" ] ); };",
     "handlers.roots: holds a list, but takes a list of absolute paths, not empty, as [ "
     "\"/usr/lib/cgi-bin\" ]"},
    {"handlers: { roots: { }; };",
     "handlers.roots: is a group, but takes a list of absolute paths, not empty, as [ "
     "\"/usr/lib/cgi-bin\" ]"},
    {"handlers: { environment = []; };", NULL},
    {"handlers: { environment = [ \"path\" ]; };",
     "handlers.environment: \"path\" is not a name that is handed on; write capitals, digits and "
     "_"},
    {"handlers: { environment = [ \"1A\" ]; };",
     "handlers.environment: \"1A\" is not a name that is handed on; write capitals, digits and _"},
    {"handlers: { environment = [ \"LD_PRELOAD\" ]; };",
     "handlers.environment: \"LD_PRELOAD\" changes which code a handler runs and is never handed "
     "on; remove it"},
    {"handlers: { environment = [ \"BASH_ENV\" ]; };",
     "handlers.environment: \"BASH_ENV\" changes which code a handler runs and is never handed "
     "on; remove it"},
    {"handlers: { environment = [ \"HTTP_PROXY\" ]; };",
     "handlers.environment: \"HTTP_PROXY\" would pass for a request's header and is never handed "
     "on; remove it"},
};

START_TEST(a_setting_of_the_service_takes_what_its_row_says)
{
	expect(globals[_i].text, "", globals[_i].message);
}
END_TEST

static const struct refused routes[] = {
    {"", NULL},
    {"host = \"*.example\";", NULL},
    {"host = \"::1\";", NULL},
    {"host = \"x.example:80\";",
     "host: \"x.example:80\" has a port; write the host alone, hosts match on any port"},
    {"host = \":80\";", "host: \":80\" has a port; write the host alone, hosts match on any port"},
    {"host = \"[::1]\";", "host: \"[::1]\" has brackets; write an IPv6 address without them"},
    {"host = \"[ab\";", "host: \"[ab\" has a [ without its ]; write [[] for the bracket itself"},
    {"methods = [];", "methods: is empty, but takes a list of methods, not empty, as [ \"POST\", "
		      "\"PATCH\" ]"},
    {"methods = [ \"M-SEARCH\" ];", NULL},
    {"methods = [ \"Post\" ];", "methods: \"Post\" is not a method; write it in capitals, as POST"},
    {"methods = [ \"PO ST\" ];",
     "methods: \"PO ST\" is not a method; write it in capitals, as POST"},
    {"methods = [ \"\" ];", "methods: \"\" is not a method; write it in capitals, as POST"},
    {"methods = [ \"HEAD\" ];",
     "methods: \"HEAD\" cannot be guarded: its answer has no body to replay; remove it"},
    {"mode = \"observe\";", NULL},
    {"mode = \"watch\";", "mode: is \"watch\", but takes one of \"enforce\", \"observe\", "
			  "\"off\", as \"enforce\""},
    {"preset = \"a b\";",
     "preset: \"a b\" is no preset; write its name, as \"stripe\", or an absolute path"},
    {"preset = \"../x\";",
     "preset: \"../x\" is no preset; write its name, as \"stripe\", or an absolute path"},
    {"preset = [];", "preset: is a list, but takes a text: preset's name, absolute path or empty, "
		     "as \"a text in quotes\""},
    {"keep = \"nothing\";", "keep: is \"nothing\", but takes one of \"full\", \"reference\", "
			    "\"marker\", as \"full\""},
    {"oversize = \"full\";",
     "oversize: is \"full\", but takes one of \"marker\", \"reference\", as \"marker\""},
    {"documentation = \"https://x.example/keys\";", NULL},
    {"documentation = \"keys.html\";",
     "documentation: \"keys.html\" is not a URL; write one that begins with https://"},
    {"documentation = \"https://x.example/a b\";",
     "documentation: \"https://x.example/a b\" is not a URL; write one that begins with https://"},
    {"key: { sources = \"header:X-Key\"; };", NULL},
    {"key: { sources = [ \"env:KEY\", \"header:X-Key\" ]; };", NULL},
    {"key: { sources = [ \"json:/cart/id\", \"json:/~0~1\", \"form:a b\", \"cookie:x\" ]; };",
     NULL},
    {"key: { sources = []; };",
     "key.sources: is empty, but takes a list of " KEY_KINDS ", not empty, as [ "
     "\"header:Idempotency-Key\" ]"},
    {"key: { sources = [ \"X-Key\" ]; };",
     "key.sources: holds \"X-Key\", but takes a list of " KEY_KINDS ", not empty, as [ "
     "\"header:Idempotency-Key\" ]"},
    {"key: { sources = [ \"literal:x\" ]; };",
     "key.sources: holds \"literal:x\", but takes a list of " KEY_KINDS ", not empty, as "
     "[ \"header:Idempotency-Key\" ]"},
    {"key: { sources = [ \"json:id\" ]; };",
     "key.sources: \"id\" is not a JSON Pointer; write it as json:/cart/id"},
    {"key: { sources = [ \"json:/a~\" ]; };",
     "key.sources: \"/a~\" is not a JSON Pointer; write it as json:/cart/id"},
    {"key: { sources = [ \"json:/a~2\" ]; };",
     "key.sources: \"/a~2\" is not a JSON Pointer; write it as json:/cart/id"},
    {"key: { sources = [ \"cookie:a=b\" ]; };",
     "key.sources: \"a=b\" is not a cookie's name; write it as cookie:checkout"},
    {"key: { sources = [ \"form:\" ]; };",
     "key.sources: has nothing behind a colon; write 1 to 200 bytes there, as header:ApiKey"},
    {"key: { sources = [ \"header:\" ]; };",
     "key.sources: has nothing behind a colon; write 1 to 200 bytes there, as header:ApiKey"},
    {"key: { sources = [ \"header:X Key\" ]; };",
     "key.sources: \"X Key\" is not a header's name; write it as X-Request-Id"},
    {"key: { sources = [ \"env:A-B\" ]; };",
     "key.sources: \"A-B\" is not a variable's name; write it as env:REMOTE_USER"},
    {"key: { required = \"POST\"; };", NULL},
    {"key: { required = \"yes\"; };",
     "key.required: is \"yes\", but takes true, false or a list of methods, as false"},
    {"key: { required = 1; };",
     "key.required: is a whole number, but takes true, false or a list of methods, as false"},
    {"key: { required = [ \"post\" ]; };",
     "key.required: \"post\" is not a method; write it in capitals, as POST"},
    {"key: { max_length = 256; };", "key.max_length: 256 is above the maximum of 255"},
    {"key: { min_length = 0; };", "key.min_length: 0 is below the minimum of 1"},
    {"tenant: { sources = []; };", NULL},
    {"tenant: { sources = [ \"header:ApiKey\", \"literal:a b:c\" ]; };", NULL},
    {"tenant: { sources = [ \"literal:\" ]; };",
     "tenant.sources: has nothing behind a colon; write 1 to 255 bytes there, as header:ApiKey"},
    {"tenant: { sources = [ \"literal:" SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR "\" ]; };",
     "tenant.sources: has too much behind a colon; write 1 to 255 bytes there, as header:ApiKey"},
    {"tenant: { sources = [ \"header:" SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR "012345678\" ]; };",
     "tenant.sources: has too much behind a colon; write 1 to 200 bytes there, as header:ApiKey"},
    {"fingerprint: { parts = [ \"body\" ]; };", NULL},
    {"fingerprint: { parts = [ \"header:X-Unit\" ]; };", NULL},
    {"fingerprint: { parts = [ \"header:A\", \"header:B\", \"path\", \"header:C\" ]; };", NULL},
    {"fingerprint: { parts = [ \"header:A\", \"header:B\", \"header:C\", \"header:D\" ]; };",
     "fingerprint.parts: holds more than 3 headers, but takes " PARTS},
    {"fingerprint: { parts = [ \"header:X-A\", \"header:x-a\" ]; };",
     "fingerprint.parts: holds \"header:x-a\" twice, but takes " PARTS},
    {"fingerprint: { parts = [ \"body\", \"body\" ]; };",
     "fingerprint.parts: holds \"body\" twice, but takes " PARTS},
    {"fingerprint: { parts = [ \"header:\" ]; };",
     "fingerprint.parts: has nothing behind a colon; write 1 to 200 bytes there, as header:ApiKey"},
    {"fingerprint: { parts = [ \"header:a b\" ]; };",
     "fingerprint.parts: \"a b\" is not a header's name; write it as X-Request-Id"},
    {"fingerprint: { parts = [ \"header:content-type\" ]; };",
     "fingerprint.parts: \"content-type\" is a part of its own; write \"content-type\""},
    {"fingerprint: { parts = [ \"header:Content-Length\" ]; };",
     "fingerprint.parts: \"Content-Length\" is part of the body; write \"body\""},
    {"fingerprint: { parts = [ \"cookies\" ]; };",
     "fingerprint.parts: holds \"cookies\", but takes " PARTS},
    {"fingerprint: { parts = []; };", "fingerprint.parts: is empty, but takes " PARTS},
    {"fingerprint: { body = \"xml\"; };", "fingerprint.body: is \"xml\", but takes one of \"raw\", "
					  "\"json\", \"form\", \"multipart\", as "
					  "\"raw\""},
    {"status: { in_flight = 399; };", "status.in_flight: 399 is below the minimum of 400"},
    {"status: { mismatch = 600; };", "status.mismatch: 600 is above the maximum of 599"},
    {"settle: { on_crash = \"by_status\"; };",
     "settle.on_crash: is \"by_status\", but takes one of \"release\", \"store\", \"unknown\", as "
     "\"release\""},
    {"settle: { store_statuses = [ \"*\", \"!5xx\", \"503\", \"!404\" ]; };", NULL},
    {"settle: { store_statuses = []; };", NULL},
    {"settle: { store_statuses = [ \"6xx\" ]; };",
     "settle.store_statuses: \"6xx\" is not a status pattern; write *, 2xx or 404, with ! before "
     "it to except"},
    {"settle: { store_statuses = [ \"20x\" ]; };",
     "settle.store_statuses: \"20x\" is not a status pattern; write *, 2xx or 404, with ! before "
     "it to except"},
    {"settle: { store_statuses = [ \"!!404\" ]; };",
     "settle.store_statuses: \"!!404\" is not a status pattern; write *, 2xx or 404, with ! before "
     "it to except"},
    {"settle: { store_statuses = [ \"\" ]; };",
     "settle.store_statuses: \"\" is not a status pattern; write *, 2xx or 404, with ! before it "
     "to except"},
    {"settle: { store_statuses = [ 404 ]; };",
     "settle.store_statuses: holds a whole number, but takes a list of status patterns, as [ "
     "\"*\", \"!401\", \"!407\", \"!429\" ]"},
    {"replay: { header = \"X-Replay: yes, it is\"; };", NULL},
    {"replay: { header = []; };", NULL},
    {"replay: { header = [ \"A: 1\", \"B: 2\" ]; };", NULL},
    {"replay: { header = \"X-Replay:yes\"; };",
     "replay.header: \"X-Replay:yes\" is not a header line; write it as \"Name: value\""},
    {"replay: { header = \"X-Replay: \"; };",
     "replay.header: \"X-Replay: \" is not a header line; write it as \"Name: value\""},
    {"replay: { header = \"X-Replay:  x\"; };",
     "replay.header: \"X-Replay:  x\" is not a header line; write it as \"Name: value\""},
    {"replay: { header = \": x\"; };",
     "replay.header: \": x\" is not a header line; write it as \"Name: value\""},
    {"replay: { header = \"X Replay: x\"; };",
     "replay.header: \"X Replay: x\" is not a header line; write it as \"Name: value\""},
    {"replay: { header = \"X: a\\r\\nY: b\"; };", "replay.header: holds a control byte; remove it"},
    {"replay: { header = \"X: a\\x7f\"; };", "replay.header: holds a control byte; remove it"},
    {"replay: { header = \"content-length: 5\"; };",
     "replay.header: \"content-length: 5\" is set by the server itself; mark replays with a header "
     "of your own"},
    {"replay: { header = \"Status: 200\"; };",
     "replay.header: \"Status: 200\" is set by the server itself; mark replays with a header of "
     "your own"},
    {"replay: { header = \"Transfer-Encoding: chunked\"; };",
     "replay.header: \"Transfer-Encoding: chunked\" is set by the server itself; mark replays with "
     "a header of your own"},
    {"replay: { header = \"once-outcome: store\"; };",
     "replay.header: \"once-outcome: store\" is set by the server itself; mark replays with "
     "a header of your own"},
    {"replay: { header = \"Set-Cookie: a=b\"; };",
     "replay.header: \"Set-Cookie: a=b\" is set by the server itself; mark replays with "
     "a header of your own"},
    {"replay: { drop_headers = [ \"Date:\" ]; };",
     "replay.drop_headers: \"Date:\" is not a header's name; write it as X-Request-Id"},
    {"replay: { status = \"original\"; };", NULL},
    {"replay: { status = \"first\"; };",
     "replay.status: is text, but takes a whole number, 200 to 299, or \"original\", as "
     "\"original\""},
    {"replay: { status = 0; };", "replay.status: 0 is below the minimum of 200"},
    {"replay: { first_seen_header = \"X-First-Seen\"; };", NULL},
    {"replay: { first_seen_header = \"X-First-Seen: yes\"; };",
     "replay.first_seen_header: \"X-First-Seen: yes\" is not a header's name; write it as "
     "X-Request-Id"},
    {"replay: { first_seen_header = \"Content-Length\"; };",
     "replay.first_seen_header: \"Content-Length\" is set by the server itself; write a name of "
     "your own"},
    {"settle: { exit_not_done = 75; };", NULL},
    {"settle: { exit_not_done = \"none\"; };", NULL},
    {"settle: { exit_not_done = -1; };", "settle.exit_not_done: -1 is below the minimum of 1"},
    {"settle: { exit_not_done = \"never\"; };",
     "settle.exit_not_done: is text, but takes a whole number, 1 to 255, or \"none\", as \"none\""},
    {"times: { lease = \"0s\"; };", "times.lease: 0s is below the minimum of 1s"},
    {"times: { tombstone = \"off\"; };", NULL},
    {"times: { tombstone = \"30d\"; };", NULL},
    {"times: { tombstone = false; };", "times.tombstone: is true or false, but takes a duration, "
				       "1s to 3650d, or \"off\", as \"off\""},
    {"times: { tombstone = \"forever\"; };",
     "times.tombstone: is \"forever\", but takes a duration, 1s to 3650d, or \"off\", as \"off\""},
    {"natural_key: { values = [ \"json:/n\", \"form:n\", \"header:N\", \"env:N\" ]; };", NULL},
    {"natural_key: { values = [ \"cookie:n\" ]; };",
     "natural_key.values: holds \"cookie:n\", but takes a list of json:/NAME, form:NAME, "
     "header:NAME, env:NAME, as []"},
    {"natural_key: { window = \"forever\"; };", NULL},
    {"natural_key: { window = \"90d\"; };", NULL},
    {"natural_key: { window = \"99999999999999999999d\"; };",
     "natural_key.window: 99999999999999999999d is above the maximum of 3650d"},
    {"natural_key: { window = \"always\"; };",
     "natural_key.window: is \"always\", but takes a duration, 1s to 3650d, or \"forever\", as "
     "\"forever\""},
    {"errors: { body = \"{\\\"a\\\":\\n\\t\\\"{code}\\\"}\"; };", NULL},
    {"errors: { body = \"a\\rb\"; };", "errors.body: holds a control byte; remove it"},
    {"errors: { mismatch = 5; };", "errors.mismatch: is a whole number, but takes a text: "
				   "template or empty, as \"a text in quotes\""},
    {"errors: { content_type = \"\"; };",
     "errors.content_type: is empty, but takes a text: media type, not empty, as "
     "\"application/json\""},
    {"errors: { content_type = \"text/plain\\n\"; };",
     "errors.content_type: holds a control byte; remove it"},
};

START_TEST(a_setting_of_a_route_takes_what_its_row_says)
{
	char text[1024];
	snprintf(text, sizeof(text), "routes = ( { name = \"r\"; path = \"/\"; %s } );",
		 routes[_i].text);
	expect(text, "routes[0].", routes[_i].message);
}
END_TEST

static const struct refused names[] = {
    {"name = \"orders_2-b\"; path = \"/\";", NULL},
    {"name = \"" SIXTY_FOUR "\"; path = \"*\";", NULL},
    {"name = \"" SIXTY_FOUR "a\"; path = \"/\";",
     ".name: \"" SIXTY_FOUR "a\" is not a route's name; write 1 to 64 letters, digits, _ or -"},
    {"name = \"\"; path = \"/\";",
     ".name: \"\" is not a route's name; write 1 to 64 letters, digits, _ or -"},
    {"name = \"a.b\"; path = \"/\";",
     ".name: \"a.b\" is not a route's name; write 1 to 64 letters, digits, _ or -"},
    {"name = 5; path = \"/\";", ".name: is a whole number, but takes a text: letters, digits, _ "
				"and -, as \"a text in quotes\""},
    {"name = \"r\"; path = \"orders\";",
     ".path: \"orders\" matches no URL path; write a pattern that begins with / or *"},
    {"name = \"r\"; path = \"\";",
     ".path: \"\" matches no URL path; write a pattern that begins with / or *"},
    {"name = \"r\"; path = \"/[a\";",
     ".path: \"/[a\" has a [ without its ]; write [[] for the bracket itself"},
    {"name = \"r\"; path = \"/[]\";",
     ".path: \"/[]\" has a [ without its ]; write [[] for the bracket itself"},
    {"name = \"r\"; path = \"/[!]\";",
     ".path: \"/[!]\" has a [ without its ]; write [[] for the bracket itself"},
    {"name = \"r\"; path = \"/[ab][\";",
     ".path: \"/[ab][\" has a [ without its ]; write [[] for the bracket itself"},
    {"name = \"r\"; path = \"/[[]x\";", NULL},
    {"name = \"r\";", ": path is missing; write path = \"/cgi-bin/orders*\""},
    {"path = \"/\";", ": name is missing; write name = \"orders\""},
};

START_TEST(a_route_has_a_good_name_and_a_good_path)
{
	char text[512];
	snprintf(text, sizeof(text), "routes = ( { %s } );", names[_i].text);
	expect(text, "routes[0]", names[_i].message);
}
END_TEST

/* Every setting, whatever it is: a value that no setting of its type takes, told once. */

static const struct setting_table *const tables[] = {&settings_global, &settings_route};

/* A configuration with that value at that path, on one line; a route has nothing else beside what
 * it must have. */
static void write_setting(const struct setting_table *table, const char *path, const char *value,
			  char text[512])
{
	char assignment[256];
	const char *dot = strchr(path, '.');
	if (dot != NULL)
		snprintf(assignment, sizeof(assignment), "%.*s: { %s = %s; };", (int)(dot - path),
			 path, dot + 1, value);
	else
		snprintf(assignment, sizeof(assignment), "%s = %s;", path, value);
	if (table == &settings_global)
		snprintf(text, 512, "%s", assignment);
	else
		snprintf(text, 512, "routes = ( { %s%s%s } );",
			 strcmp(path, "name") == 0 ? "" : "name = \"r\"; ",
			 strcmp(path, "path") == 0 ? "" : "path = \"/\"; ", assignment);
}

/* One problem, at that place, whose message begins so and ends so. */
static void expect_one(const struct setting_table *table, const char *path, const char *value,
		       const char *begins, const char *ends)
{
	char text[512], start[256], *problems;
	write_setting(table, path, value, text);
	snprintf(start, sizeof(start), "t.conf:1: %s%s: %s",
		 table == &settings_global ? "" : "routes[0].", path, begins);
	struct config *config = config_parse("t.conf", text, &problems);
	ck_assert_ptr_null(config);
	ck_assert_msg(strncmp(problems, start, strlen(start)) == 0, "%s\n%s, not %s", text,
		      problems, start);
	char *end = strchr(problems, '\n');
	ck_assert_msg(end != NULL && end[1] == '\0', "%s: more than one problem", problems);
	*end = '\0';
	size_t length = strlen(problems), wanted = strlen(ends);
	ck_assert_msg(length >= wanted && strcmp(problems + length - wanted, ends) == 0,
		      "%s does not end with %s", problems, ends);
	free(problems);
}

static bool is_number(const struct setting *row)
{
	return row->type == SETTING_INTEGER || row->type == SETTING_SIZE ||
	       row->type == SETTING_DURATION || row->type == SETTING_MODE;
}

/* A number beyond the bound, as the setting's type writes it, is told with the bound. */
static void check_bound(const struct setting_table *table, const struct setting *row,
			int64_t number, const char *what, int64_t bound)
{
	char value[64], limit[UNIT_TEXT_SIZE], told[128];
	if (row->type == SETTING_MODE)
		snprintf(value, sizeof(value), "\"%04" PRIo64 "\"", (uint64_t)number);
	else if (row->type == SETTING_DURATION)
		snprintf(value, sizeof(value), "\"%" PRId64 "ms\"", number);
	else if (row->type == SETTING_SIZE)
		snprintf(value, sizeof(value), "\"%" PRId64 "\"", number);
	else
		snprintf(value, sizeof(value), "%" PRId64, number);
	value_type_of(row)->format(bound, limit);
	snprintf(told, sizeof(told), " is %s of %s", what, limit);
	expect_one(table, row->path, value, "", told);
}

static void check_bounds(const struct setting_table *table, const struct setting *row)
{
	/* Below 0 there is a way to write whole numbers only. */
	if (row->least > 0 || row->type == SETTING_INTEGER)
		check_bound(table, row, row->least - 1, "below the minimum", row->least);
	check_bound(table, row, row->most + 1, "above the maximum", row->most);
}

START_TEST(every_setting_refuses_the_wrong_type_and_what_is_beyond_its_bounds_with_one_problem)
{
	for (int t = 0; t < COUNT(tables); t++) {
		for (size_t i = 0; i < tables[t]->count; i++) {
			const struct setting *row = &tables[t]->rows[i];
			if (row->type == SETTING_SECTION)
				continue;
			char takes[VALUE_DESCRIPTION_SIZE];
			snprintf(takes, sizeof(takes), ", as %s", value_example(row));
			expect_one(tables[t], row->path, "{ }", "is a group, but takes ", takes);
			expect_one(tables[t], row->path, "1.5", "is a fraction, but takes ", takes);
			if (is_number(row))
				check_bounds(tables[t], row);
		}
	}
}
END_TEST

START_TEST(every_settings_name_misspelt_is_told_with_the_right_one)
{
	for (int t = 0; t < COUNT(tables); t++) {
		for (size_t i = 0; i < tables[t]->count; i++) {
			const char *path = tables[t]->rows[i].path;
			char wrong[SETTING_PATH_SIZE + 8], right[SETTING_PATH_SIZE + 32];
			if (strcmp(path, "name") == 0 || strcmp(path, "path") == 0)
				continue; /* then the route lacks one, too */
			snprintf(wrong, sizeof(wrong), "%sx", path);
			snprintf(right, sizeof(right), "did you mean %s?", path);
			expect_one(tables[t], wrong, "1", "unknown setting; ", right);
		}
	}
}
END_TEST

START_TEST(a_refused_value_leaves_the_old_one)
{
	config_t tree;
	config_init(&tree);
	ck_assert_int_eq(config_read_string(&tree, "good = [ \"/a\" ]; bad = [ \"/b\", \"c\" ];"),
			 CONFIG_TRUE);
	const struct setting *row = settings_find(&settings_global, "handlers.roots");
	struct config config = {0};
	struct error error;
	ck_assert_int_eq(value_read(row, config_lookup(&tree, "good"), &config, &error), 0);
	ck_assert_int_eq(value_read(row, config_lookup(&tree, "bad"), &config, &error), -1);
	ck_assert_uint_eq(config.handlers.roots.count, 1);
	ck_assert_str_eq(config.handlers.roots.items[0], "/a");
	ck_assert_int_eq(value_read(row, config_lookup(&tree, "good"), &config, &error), 0);
	value_clear(row, &config);
	ck_assert_ptr_null(config.handlers.roots.items);
	ck_assert_uint_eq(config.handlers.roots.count, 0);
	config_destroy(&tree);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("value");
	TCase *cases = tcase_create("value");
	tcase_add_loop_test(cases, a_setting_of_the_service_takes_what_its_row_says, 0,
			    COUNT(globals));
	tcase_add_loop_test(cases, a_setting_of_a_route_takes_what_its_row_says, 0, COUNT(routes));
	tcase_add_loop_test(cases, a_route_has_a_good_name_and_a_good_path, 0, COUNT(names));
	tcase_add_test(
	    cases,
	    every_setting_refuses_the_wrong_type_and_what_is_beyond_its_bounds_with_one_problem);
	tcase_add_test(cases, every_settings_name_misspelt_is_told_with_the_right_one);
	tcase_add_test(cases, a_refused_value_leaves_the_old_one);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
