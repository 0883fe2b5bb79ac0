/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/settings.h"

#include <string.h>

#include "config/config.h"
#include "config/grammar.h"
#include "config/template.h"

#define GLOBAL(member) offsetof(struct config, member)
#define ROUTE(member)  offsetof(struct route, member)

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define KIB    (INT64_C(1) << 10)
#define MIB    (INT64_C(1) << 20)
#define GIB    (INT64_C(1) << 30)

/* SETTING_WORD keeps every enum as an unsigned int. */
_Static_assert(sizeof(enum config_tls) == sizeof(unsigned), "enums are ints");

static const struct setting_word log_targets[] = {{"stderr", LOG_TARGET_STDERR},
						  {"syslog", LOG_TARGET_SYSLOG},
						  {"journald", LOG_TARGET_JOURNALD},
						  {0}};

static const struct setting_word log_levels[] = {{"debug", LOG_LEVEL_DEBUG},
						 {"info", LOG_LEVEL_INFO},
						 {"warning", LOG_LEVEL_WARNING},
						 {"error", LOG_LEVEL_ERROR},
						 {0}};

static const struct setting_word tls_modes[] = {
    {"off", CONFIG_TLS_OFF}, {"verify", CONFIG_TLS_VERIFY}, {0}};

static const struct setting_word modes[] = {
    {"enforce", ROUTE_ENFORCE}, {"observe", ROUTE_OBSERVE}, {"off", ROUTE_OFF}, {0}};

static const struct setting_word scopes[] = {
    {"tenant", SCOPE_TENANT}, {"route", SCOPE_ROUTE}, {"method+path", SCOPE_METHOD_PATH}, {0}};

static const struct setting_word in_flights[] = {
    {"reject", IN_FLIGHT_REJECT}, {"wait", IN_FLIGHT_WAIT}, {0}};

static const struct setting_word store_downs[] = {
    {"refuse", STORE_DOWN_REFUSE}, {"run", STORE_DOWN_RUN}, {0}};

static const struct setting_word syntaxes[] = {
    {"any", KEY_SYNTAX_ANY}, {"raw", KEY_SYNTAX_RAW}, {"structured", KEY_SYNTAX_STRUCTURED}, {0}};

static const struct setting_word charsets[] = {
    {"ascii", KEY_CHARSET_ASCII}, {"utf8", KEY_CHARSET_UTF8}, {0}};

static const struct setting_word missings[] = {
    {"refuse", TENANT_REFUSE}, {"anonymous", TENANT_ANONYMOUS}, {0}};

static const struct setting_word parts[] = {
    {"method", FINGERPRINT_METHOD}, {"path", FINGERPRINT_PATH},
    {"query", FINGERPRINT_QUERY},   {"content-type", FINGERPRINT_CONTENT_TYPE},
    {"body", FINGERPRINT_BODY},     {0}};

static const struct setting_word ends[] = {
    {"release", OUTCOME_RELEASE}, {"store", OUTCOME_STORE}, {"unknown", OUTCOME_UNKNOWN}, {0}};

static const struct setting_word exits[] = {{"by_status", OUTCOME_BY_STATUS},
					    {"release", OUTCOME_RELEASE},
					    {"store", OUTCOME_STORE},
					    {"unknown", OUTCOME_UNKNOWN},
					    {0}};

static const struct setting_word lapses[] = {
    {"rerun", LAPSE_RERUN}, {"unknown", LAPSE_UNKNOWN}, {0}};

/* A literal would be one key for everybody. */
static const struct setting_word key_kinds[] = {{"header", SOURCE_HEADER}, {"env", SOURCE_ENV},
						{"json", SOURCE_JSON},     {"form", SOURCE_FORM},
						{"cookie", SOURCE_COOKIE}, {0}};

static const struct setting_word tenant_kinds[] = {
    {"env", SOURCE_ENV}, {"header", SOURCE_HEADER}, {"literal", SOURCE_LITERAL}, {0}};

/* One literal would name all requests alike, and a body is not read for it. */
static const struct setting_word id_kinds[] = {{"env", SOURCE_ENV}, {"header", SOURCE_HEADER}, {0}};

/* A cookie says who somebody is, not what is asked. */
static const struct setting_word natural_kinds[] = {{"json", SOURCE_JSON},
						    {"form", SOURCE_FORM},
						    {"header", SOURCE_HEADER},
						    {"env", SOURCE_ENV},
						    {0}};

static const struct setting_word body_forms[] = {{"raw", BODY_FORM_RAW},
						 {"json", BODY_FORM_JSON},
						 {"form", BODY_FORM_FORM},
						 {"multipart", BODY_FORM_MULTIPART},
						 {0}};

static const struct setting_word keeps[] = {
    {"full", KEEP_FULL}, {"reference", KEEP_REFERENCE}, {"marker", KEEP_MARKER}, {0}};

static const struct setting_word oversizes[] = {
    {"marker", KEEP_MARKER}, {"reference", KEEP_REFERENCE}, {0}};

/* Numbers that are written as a word. */
static const struct setting_word no_exit[] = {{"none", EXIT_NOT_DONE_NONE}, {0}};
static const struct setting_word original[] = {{"original", REPLAY_STATUS_ORIGINAL}, {0}};
static const struct setting_word no_time[] = {{"off", 0}, {0}};
static const struct setting_word for_ever[] = {{"forever", WINDOW_FOR_EVER}, {0}};

/* A body template of one refusal. */
#define TEMPLATE(member, what)                                                                     \
	{                                                                                          \
		.path = "errors." #member, .type = SETTING_TEXT, .standard = "\"\"",               \
		.offset = ROUTE(errors.member), .most = 16 * KIB, .may_wrap = true,                \
		.unit = "template or empty", .check = template_check,                              \
		.help = "Body " what "; empty: errors.body.",                                      \
	}

/* A table, one setting a paragraph. */
/* clang-format off */
static const struct setting global_rows[] = {
    {.path = "listen", .type = SETTING_TEXT, .standard = "\"\"", .offset = GLOBAL(listen),
     .unit = "socket path, HOST:PORT, [IPV6]:PORT or empty", .check = grammar_listen,
     .needs_restart = true,
     .help = "Where to listen: a socket's path or HOST:PORT; empty: a socket that is handed over."},
    {.path = "socket_mode", .type = SETTING_MODE, .standard = "\"0660\"",
     .offset = GLOBAL(socket_mode), .least = 0, .most = 0777, .needs_restart = true,
     .help = "Mode of the unix socket that is made for listen."},
    {.path = "socket_group", .type = SETTING_TEXT, .standard = "\"\"",
     .offset = GLOBAL(socket_group), .unit = "group name or empty", .needs_restart = true,
     .help = "Group of that socket; empty: it goes to user when started as root, else it is ours."},
    {.path = "workers", .type = SETTING_INTEGER, .standard = "8", .offset = GLOBAL(workers),
     .least = 1, .most = 1024, .unit = "processes",
     .help = "How many requests are served at the same time, one by each worker."},
    {.path = "user", .type = SETTING_TEXT, .standard = "\"\"", .offset = GLOBAL(user),
     .unit = "account name or empty", .needs_restart = true,
     .help = "Account to become when started as root; empty: stay."},
    {.path = "core_dumps", .type = SETTING_BOOL, .standard = "false",
     .offset = GLOBAL(core_dumps),
     .help = "Whether a worker that crashes may leave its memory, which holds secrets, in a file."},
    {.path = "stop_timeout", .type = SETTING_DURATION, .standard = "\"10s\"",
     .offset = GLOBAL(stop_timeout), .least = 0, .most = HOUR,
     .help = "How long a stop may take beyond the deadline of a running handler."},
    {.path = "run_directory", .type = SETTING_TEXT, .standard = "\"/run/oncewrap\"",
     .offset = GLOBAL(run_directory), .unit = "absolute path", .check = grammar_directory,
     .needs_restart = true,
     .help = "Where the processes of this host keep what they share while they run."},
    {.path = "preset_directory", .type = SETTING_TEXT, .standard = "\"\"",
     .offset = GLOBAL(preset_directory), .unit = "absolute path or empty", .check = grammar_file,
     .help = "Where presets are looked for by name; empty: where those of oncewrap are installed."},
    {.path = "log.target", .type = SETTING_WORD, .standard = "\"stderr\"",
     .offset = GLOBAL(log_target), .words = log_targets,
     .help = "Where the log goes: standard error, the system's log, or the journal."},
    {.path = "log.socket", .type = SETTING_TEXT, .standard = "\"\"",
     .offset = GLOBAL(log_socket), .unit = "absolute path or empty",
     .check = grammar_socket,
     .help = "The socket of syslog or journald; empty: /dev/log, /run/systemd/journal/socket."},
    {.path = "log.level", .type = SETTING_WORD, .standard = "\"info\"",
     .offset = GLOBAL(log_level), .words = log_levels,
     .help = "The least level that is logged."},
    {.path = "log.keys", .type = SETTING_BOOL, .standard = "false", .offset = GLOBAL(log_keys),
     .help = "Show keys in clear; else as a hash prefix."},
    {.path = "log.request_id", .type = SETTING_SOURCES,
     .standard = "[ \"env:UNIQUE_ID\", \"env:REQUEST_ID\", \"header:X-Request-Id\" ]",
     .offset = GLOBAL(log_request_ids), .words = id_kinds,
     .help = "Where a request's id is looked for, in this order; where none is good one is made."},
    {.path = "log.request_header", .type = SETTING_TEXT, .standard = "\"X-Request-Id\"",
     .offset = GLOBAL(log_request_header), .unit = "header name or empty",
     .check = grammar_answer_header,
     .help = "The header that gives it back in every answer; empty: none."},
    {.path = "store.socket", .type = SETTING_TEXT, .standard = "\"/run/mysqld/mysqld.sock\"",
     .offset = GLOBAL(store.socket), .unit = "absolute path or empty", .check = grammar_socket,
     .help = "The database server's unix socket; empty, or store.host given: TCP."},
    {.path = "store.host", .type = SETTING_TEXT, .standard = "\"\"", .offset = GLOBAL(store.host),
     .unit = "host name, address or empty",
     .help = "The database server's host name or address, for TCP."},
    {.path = "store.port", .type = SETTING_INTEGER, .standard = "3306",
     .offset = GLOBAL(store.port), .least = 1, .most = 65535,
     .help = "Its TCP port."},
    {.path = "store.database", .type = SETTING_TEXT, .standard = "\"oncewrap\"",
     .offset = GLOBAL(store.database), .least = 1, .most = 64, .unit = "name",
     .help = "The database that holds the records."},
    {.path = "store.user", .type = SETTING_TEXT, .standard = "\"\"", .offset = GLOBAL(store.user),
     .unit = "account name or empty",
     .help = "Database account; empty: the option file's, else the name of the running account."},
    {.path = "store.option_file", .type = SETTING_TEXT, .standard = "\"\"",
     .offset = GLOBAL(store.option_file), .unit = "absolute path or empty", .check = grammar_file,
     .help = "MariaDB option file with the credentials, which never stand here."},
    {.path = "store.option_group", .type = SETTING_TEXT, .standard = "\"oncewrap\"",
     .offset = GLOBAL(store.option_group), .least = 1, .unit = "name",
     .help = "The group of the option file that is read."},
    {.path = "store.tls", .type = SETTING_WORD, .standard = "\"off\"", .offset = GLOBAL(store.tls),
     .words = tls_modes,
     .help = "Whether the connection must be encrypted and the server's certificate verified."},
    {.path = "store.tls_ca", .type = SETTING_TEXT, .standard = "\"\"",
     .offset = GLOBAL(store.tls_ca), .unit = "absolute path or empty", .check = grammar_file,
     .help = "Certificates that store.tls trusts; empty: the system's."},
    {.path = "store.connect_timeout", .type = SETTING_DURATION, .standard = "\"2s\"",
     .offset = GLOBAL(store.connect_timeout), .least = 100, .most = MINUTE,
     .help = "How long one attempt to connect may take."},
    {.path = "store.read_timeout", .type = SETTING_DURATION, .standard = "\"5s\"",
     .offset = GLOBAL(store.read_timeout), .least = 100, .most = 5 * MINUTE,
     .help = "How long an answer of the database is awaited; its own limits stay below."},
    {.path = "store.settle_timeout", .type = SETTING_DURATION, .standard = "\"10s\"",
     .offset = GLOBAL(store.settle_timeout), .least = 100, .most = HOUR,
     .help = "How long it is tried to store a handler's answer."},
    {.path = "handlers.roots", .type = SETTING_TEXTS, .standard = "[ \"/usr/lib/cgi-bin\" ]",
     .offset = GLOBAL(handlers.roots), .least = 1, .unit = "absolute paths",
     .check = grammar_directory,
     .help = "Directories under which handlers may lie, after symbolic links."},
    {.path = "handlers.environment", .type = SETTING_TEXTS, .standard = "[ \"PATH\", \"TZ\" ]",
     .offset = GLOBAL(handlers.environment), .unit = "variable names", .check = grammar_variable,
     .help = "Variables handed on to handlers from the environment of oncewrap."},
    {.path = "handlers.timeout", .type = SETTING_DURATION, .standard = "\"55s\"",
     .offset = GLOBAL(handlers.timeout), .least = 100, .most = DAY,
     .help = "A handler's deadline."},
    {.path = "handlers.kill_grace", .type = SETTING_DURATION, .standard = "\"2s\"",
     .offset = GLOBAL(handlers.kill_grace), .least = 0, .most = 5 * MINUTE,
     .help = "Time between SIGTERM and SIGKILL for a handler past its deadline."},
    {.path = "handlers.exit_grace", .type = SETTING_DURATION, .standard = "\"500ms\"",
     .offset = GLOBAL(handlers.exit_grace), .least = 0, .most = MINUTE,
     .help = "How long output is awaited after a handler has exited."},
    {.path = "handlers.stderr_limit", .type = SETTING_SIZE, .standard = "\"64K\"",
     .offset = GLOBAL(handlers.stderr_limit), .least = 0, .most = 16 * MIB,
     .help = "How much of one run's standard error is logged."},
    {.path = "limits.max_body", .type = SETTING_SIZE, .standard = "\"16M\"",
     .offset = GLOBAL(limits.max_body), .least = 1, .most = 1024 * GIB,
     .help = "Largest request body; above it the answer is 413."},
    {.path = "limits.body_memory", .type = SETTING_SIZE, .standard = "\"256K\"",
     .offset = GLOBAL(limits.body_memory), .least = 0, .most = GIB,
     .help = "How much of a body is kept in memory; the rest goes to spool.directory."},
    {.path = "limits.max_answer", .type = SETTING_SIZE, .standard = "\"8M\"",
     .offset = GLOBAL(limits.max_answer), .least = 1, .most = GIB,
     .help = "Largest answer body that is stored for replay."},
    {.path = "limits.max_output", .type = SETTING_SIZE, .standard = "\"1G\"",
     .offset = GLOBAL(limits.max_output), .least = 1, .most = 1024 * GIB,
     .help = "Largest answer body at all; a handler that writes more is ended."},
    {.path = "limits.max_header_bytes", .type = SETTING_SIZE, .standard = "\"4K\"",
     .offset = GLOBAL(limits.max_header_bytes), .least = 256, .most = 64 * KIB,
     .help = "Largest header block of an answer; web servers have limits of their own."},
    {.path = "limits.request_timeout", .type = SETTING_DURATION, .standard = "\"30s\"",
     .offset = GLOBAL(limits.request_timeout), .least = 100, .most = HOUR,
     .help = "How long a web server may take to deliver a whole request."},
    {.path = "limits.silent_timeout", .type = SETTING_DURATION, .standard = "\"5s\"",
     .offset = GLOBAL(limits.silent_timeout), .least = 100, .most = HOUR,
     .help = "How long it may take to deliver the first bytes."},
    {.path = "limits.reply_timeout", .type = SETTING_DURATION, .standard = "\"30s\"",
     .offset = GLOBAL(limits.reply_timeout), .least = 100, .most = HOUR,
     .help = "How long it may take to accept a whole reply."},
    {.path = "spool.directory", .type = SETTING_TEXT, .standard = "\"/var/lib/oncewrap/spool\"",
     .offset = GLOBAL(spool.directory), .unit = "absolute path", .check = grammar_directory,
     .help = "Where bodies beyond limits.body_memory go, as files without a name."},
    {.path = "defaults", .type = SETTING_SECTION,
     .help = "Settings of all routes; a route's own come after and win."},
    {.path = "routes", .type = SETTING_SECTION,
     .help = "The routes, in order: the first whose path and host match serves."},
};

static const struct setting route_rows[] = {
    {.path = "name", .type = SETTING_TEXT, .offset = ROUTE(name),
     .unit = "letters, digits, _ and -", .check = grammar_route_name, .route_only = true,
     .help = "The route's name in logs, metrics and admin programs; part of a record's identity."},
    {.path = "path", .type = SETTING_TEXT, .offset = ROUTE(path), .unit = "pattern",
     .check = grammar_path_glob, .route_only = true,
     .help = "Which URL paths: a pattern over the whole path, with *, ? and [set]."},
    {.path = "preset", .type = SETTING_TEXT, .standard = "\"\"", .offset = ROUTE(preset),
     .unit = "preset's name, absolute path or empty", .check = grammar_preset,
     .names_preset = true,
     .help = "Whose settings lie under defaults and the route's own; empty: nobody's."},
    {.path = "host", .type = SETTING_TEXT, .standard = "\"\"", .offset = ROUTE(host),
     .unit = "pattern or empty", .check = grammar_host_glob,
     .help = "Which hosts, a pattern without port; empty: any."},
    {.path = "methods", .type = SETTING_TEXTS, .standard = "[ \"POST\", \"PATCH\" ]",
     .offset = ROUTE(methods), .least = 1, .unit = "methods", .check = grammar_method,
     .help = "Which methods are guarded; others pass."},
    {.path = "mode", .type = SETTING_WORD, .standard = "\"enforce\"", .offset = ROUTE(mode),
     .words = modes,
     .help = "Whether the route guards, only counts and logs what it would do, or neither."},
    {.path = "scope", .type = SETTING_WORD, .standard = "\"route\"", .offset = ROUTE(scope),
     .words = scopes,
     .help = "Where within a tenant equal keys meet."},
    {.path = "in_flight", .type = SETTING_WORD, .standard = "\"reject\"",
     .offset = ROUTE(in_flight), .words = in_flights,
     .help = "What a retry meets while the first request still runs."},
    {.path = "store_down", .type = SETTING_WORD, .standard = "\"refuse\"",
     .offset = ROUTE(store_down), .words = store_downs,
     .help = "What happens when the database cannot be reached before the claim."},
    {.path = "documentation", .type = SETTING_TEXT, .standard = "\"\"",
     .offset = ROUTE(documentation), .unit = "URL or empty", .check = grammar_url,
     .help = "URL of your documentation, for the type of a refusal; empty: about:blank."},
    {.path = "require_json", .type = SETTING_BOOL, .standard = "false",
     .offset = ROUTE(require_json),
     .help = "Whether a body that is not JSON is refused before anything else is done."},
    {.path = "keep", .type = SETTING_WORD, .standard = "\"full\"", .offset = ROUTE(keep),
     .words = keeps,
     .help = "What is kept of an answer: all, what its Once-Reference names, or that it was."},
    {.path = "oversize", .type = SETTING_WORD, .standard = "\"marker\"",
     .offset = ROUTE(oversize), .words = oversizes,
     .help = "What is kept of an answer larger than limits.max_answer."},
    {.path = "rebuild", .type = SETTING_BOOL, .standard = "false", .offset = ROUTE(rebuild),
     .help = "Whether the handler can give an answer again that was not kept (ONCE_REPLAY=1)."},
    {.path = "key.sources", .type = SETTING_SOURCES, .standard = "[ \"header:Idempotency-Key\" ]",
     .offset = ROUTE(key_sources), .least = 1, .words = key_kinds,
     .help = "Where the key is looked for, in order."},
    {.path = "key.required", .type = SETTING_REQUIRED, .standard = "false",
     .offset = ROUTE(key_required), .check = grammar_method,
     .help = "Whether a request without a key is refused."},
    {.path = "key.syntax", .type = SETTING_WORD, .standard = "\"any\"",
     .offset = ROUTE(key_syntax), .words = syntaxes,
     .help = "How the key is written."},
    {.path = "key.charset", .type = SETTING_WORD, .standard = "\"ascii\"",
     .offset = ROUTE(key_charset), .words = charsets,
     .help = "What a key may hold."},
    {.path = "key.min_length", .type = SETTING_INTEGER, .standard = "1",
     .offset = ROUTE(key_min_length), .least = 1, .most = 255, .unit = "characters",
     .help = "Shortest key."},
    {.path = "key.max_length", .type = SETTING_INTEGER, .standard = "255",
     .offset = ROUTE(key_max_length), .least = 1, .most = 255, .unit = "characters",
     .help = "Longest key."},
    {.path = "tenant.sources", .type = SETTING_SOURCES, .standard = "[ \"env:REMOTE_USER\" ]",
     .offset = ROUTE(tenant_sources), .words = tenant_kinds,
     .help = "Where the tenant is looked for, in order."},
    {.path = "tenant.missing", .type = SETTING_WORD, .standard = "\"anonymous\"",
     .offset = ROUTE(tenant_missing), .words = missings,
     .help = "What happens to a request that names no tenant."},
    {.path = "fingerprint.parts", .type = SETTING_PARTS,
     .standard = "[ \"method\", \"path\", \"query\", \"content-type\", \"body\" ]",
     .offset = ROUTE(fingerprint_parts), .least = 1, .words = parts,
     .help = "What must be equal for a request to count as the same."},
    {.path = "fingerprint.body", .type = SETTING_WORD, .standard = "\"raw\"",
     .offset = ROUTE(fingerprint_body), .words = body_forms,
     .help = "In what form bodies are compared; one that is not of the form: raw."},
    {.path = "wait.timeout", .type = SETTING_DURATION, .standard = "\"10s\"",
     .offset = ROUTE(wait_timeout), .least = 0, .most = 5 * MINUTE,
     .help = "How long a retry waits for the first one's answer (in_flight = \"wait\")."},
    {.path = "wait.max_waiters", .type = SETTING_INTEGER, .standard = "0",
     .offset = ROUTE(max_waiters), .least = 0, .most = 1023, .unit = "requests",
     .help = "How many may wait on this host, below workers; 0: half the workers."},
    {.path = "status.in_flight", .type = SETTING_INTEGER, .standard = "409",
     .offset = ROUTE(status.in_flight), .least = 400, .most = 599,
     .help = "Status when the first request still runs."},
    {.path = "status.mismatch", .type = SETTING_INTEGER, .standard = "422",
     .offset = ROUTE(status.mismatch), .least = 400, .most = 599,
     .help = "Status when the key was used for another request."},
    {.path = "status.unknown", .type = SETTING_INTEGER, .standard = "409",
     .offset = ROUTE(status.unknown), .least = 400, .most = 599,
     .help = "Status when the outcome is unknown."},
    {.path = "status.not_kept", .type = SETTING_INTEGER, .standard = "409",
     .offset = ROUTE(status.not_kept), .least = 400, .most = 599,
     .help = "Status when the answer was not kept."},
    {.path = "status.expired", .type = SETTING_INTEGER, .standard = "410",
     .offset = ROUTE(status.expired), .least = 400, .most = 599,
     .help = "Status when the key is older than its retention (times.tombstone)."},
    {.path = "status.duplicate", .type = SETTING_INTEGER, .standard = "409",
     .offset = ROUTE(status.duplicate), .least = 400, .most = 599,
     .help = "Status when another key did the same operation (natural_key)."},
    {.path = "status.key_missing", .type = SETTING_INTEGER, .standard = "400",
     .offset = ROUTE(status.key_missing), .least = 400, .most = 599,
     .help = "Status when a key is compulsory and missing."},
    {.path = "status.key_invalid", .type = SETTING_INTEGER, .standard = "400",
     .offset = ROUTE(status.key_invalid), .least = 400, .most = 599,
     .help = "Status when the key is malformed."},
    {.path = "status.tenant_missing", .type = SETTING_INTEGER, .standard = "401",
     .offset = ROUTE(status.tenant_missing), .least = 400, .most = 599,
     .help = "Status when the tenant is missing."},
    {.path = "status.too_large", .type = SETTING_INTEGER, .standard = "413",
     .offset = ROUTE(status.too_large), .least = 400, .most = 599,
     .help = "Status when the body is larger than limits.max_body."},
    {.path = "status.bad_body", .type = SETTING_INTEGER, .standard = "400",
     .offset = ROUTE(status.bad_body), .least = 400, .most = 599,
     .help = "Status when the body is not JSON (require_json)."},
    {.path = "status.store_down", .type = SETTING_INTEGER, .standard = "503",
     .offset = ROUTE(status.store_down), .least = 400, .most = 599,
     .help = "Status when the database cannot be reached."},
    {.path = "settle.store_statuses", .type = SETTING_TEXTS,
     .standard = "[ \"*\", \"!401\", \"!407\", \"!429\" ]", .offset = ROUTE(store_statuses),
     .unit = "status patterns", .check = grammar_status,
     .help = "Which answers stay tied to their key; the last pattern that matches decides."},
    {.path = "settle.on_crash", .type = SETTING_WORD, .standard = "\"release\"",
     .offset = ROUTE(on_crash), .words = ends,
     .help = "What becomes of the key when the handler crashes or answers malformed."},
    {.path = "settle.on_timeout", .type = SETTING_WORD, .standard = "\"unknown\"",
     .offset = ROUTE(on_timeout), .words = ends,
     .help = "What becomes of it when the handler meets its deadline."},
    {.path = "settle.on_exit_nonzero", .type = SETTING_WORD, .standard = "\"by_status\"",
     .offset = ROUTE(on_exit_nonzero), .words = exits,
     .help = "What becomes of it after a whole answer and an exit status that is not 0."},
    {.path = "settle.on_lapse", .type = SETTING_WORD, .standard = "\"rerun\"",
     .offset = ROUTE(on_lapse), .words = lapses,
     .help = "What a retry meets when the first one's worker died or lost its lease."},
    {.path = "settle.exit_not_done", .type = SETTING_INTEGER, .standard = "\"none\"",
     .offset = ROUTE(exit_not_done), .least = 1, .most = 255, .words = no_exit,
     .help = "Exit status by which a handler says, without output, that it has done nothing."},
    {.path = "replay.status", .type = SETTING_INTEGER, .standard = "\"original\"",
     .offset = ROUTE(replay_status), .least = 200, .most = 299, .words = original,
     .help = "Status of a replayed 2xx answer."},
    {.path = "replay.header", .type = SETTING_TEXTS,
     .standard = "[ \"Idempotent-Replayed: true\" ]", .offset = ROUTE(replay_headers),
     .unit = "header lines", .check = grammar_header_line,
     .help = "Header lines that mark a replay."},
    {.path = "replay.first_header", .type = SETTING_BOOL, .standard = "false",
     .offset = ROUTE(first_header),
     .help = "Send the same headers with the value false on a first answer."},
    {.path = "replay.first_seen_header", .type = SETTING_TEXT, .standard = "\"\"",
     .offset = ROUTE(first_seen_header), .unit = "header name or empty",
     .check = grammar_answer_header,
     .help = "Header of a replay that tells when the first request came; empty: none."},
    {.path = "replay.drop_headers", .type = SETTING_TEXTS,
     .standard = "[ \"Set-Cookie\", \"Date\", \"X-Request-Id\" ]", .offset = ROUTE(drop_headers),
     .unit = "header names", .check = grammar_header_name,
     .help = "Headers of the first answer that are not stored."},
    {.path = "times.retention", .type = SETTING_DURATION, .standard = "\"24h\"",
     .offset = ROUTE(retention), .least = SECOND, .most = 3650 * DAY,
     .help = "How long an answer is kept after the record was made."},
    {.path = "times.lease", .type = SETTING_DURATION, .standard = "\"30s\"",
     .offset = ROUTE(lease), .least = SECOND, .most = DAY,
     .help = "How long an owner counts as alive without a renewal."},
    {.path = "times.tombstone", .type = SETTING_DURATION, .standard = "\"off\"",
     .offset = ROUTE(tombstone), .least = SECOND, .most = 3650 * DAY, .words = no_time,
     .help = "How long after its retention a key is still told apart from a new one."},
    {.path = "natural_key.values", .type = SETTING_SOURCES, .standard = "[]",
     .offset = ROUTE(natural_values), .words = natural_kinds,
     .help = "Values that together name the operation, whatever the key; none: not used."},
    {.path = "natural_key.window", .type = SETTING_DURATION, .standard = "\"forever\"",
     .offset = ROUTE(natural_window), .least = SECOND, .most = 3650 * DAY, .words = for_ever,
     .help = "How long after an operation the same values are refused under another key."},
    {.path = "errors.content_type", .type = SETTING_TEXT, .standard = "\"application/json\"",
     .offset = ROUTE(errors.content_type), .least = 1, .most = 255, .unit = "media type",
     .check = template_check_content_type,
     .help = "Content type of the templates below; values are escaped for it."},
    {.path = "errors.body", .type = SETTING_TEXT, .standard = "\"\"",
     .offset = ROUTE(errors.body), .most = 16 * KIB, .may_wrap = true,
     .unit = "template or empty", .check = template_check,
     .help = "Body of all refusals that have none below; empty: problem+json."},
    TEMPLATE(in_flight, "when the first request still runs"),
    TEMPLATE(mismatch, "when the key was used for another request"),
    TEMPLATE(unknown, "when the outcome is unknown"),
    TEMPLATE(not_kept, "when the answer was not kept"),
    TEMPLATE(expired, "when the key is older than its retention"),
    TEMPLATE(duplicate, "when another key did the same operation"),
    TEMPLATE(key_missing, "when a key is compulsory and missing"),
    TEMPLATE(key_invalid, "when the key is malformed"),
    TEMPLATE(tenant_missing, "when the tenant is missing"),
    TEMPLATE(too_large, "when the body is larger than limits.max_body"),
    TEMPLATE(bad_body, "when the body is not JSON"),
    TEMPLATE(store_down, "when the database cannot be reached"),
};
/* clang-format on */

const struct setting_table settings_global = {
    .rows = global_rows,
    .count = sizeof(global_rows) / sizeof(global_rows[0]),
};

const struct setting_table settings_route = {
    .rows = route_rows,
    .count = sizeof(route_rows) / sizeof(route_rows[0]),
};

const struct setting *settings_find(const struct setting_table *table, const char *path)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i].path, path) == 0)
			return &table->rows[i];
	return NULL;
}

bool settings_is_group(const struct setting_table *table, const char *path)
{
	size_t length = strlen(path);
	for (size_t i = 0; i < table->count; i++)
		if (strncmp(table->rows[i].path, path, length) == 0 &&
		    table->rows[i].path[length] == '.')
			return true;
	return false;
}
