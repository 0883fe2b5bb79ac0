/* SPDX-License-Identifier: ISC */
/*
 * The configuration in force, as plain values. Filled by config/load from libconfig files by way of
 * the tables in config/settings; read by everybody, changed by nobody. Sizes are bytes, durations
 * milliseconds.
 */
#ifndef ONCEWRAP_CONFIG_CONFIG_H
#define ONCEWRAP_CONFIG_CONFIG_H

#include "base/log.h"
#include "config/route.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum config_tls { CONFIG_TLS_OFF, CONFIG_TLS_VERIFY };

struct config_store {
	char *socket; /* unix socket path; "": TCP, as always where host alone is given */
	char *host;
	int64_t port;
	char *database;
	char *user;         /* "": from the option file, or the name of the running account */
	char *option_file;  /* absolute path or ""; credentials live there, never here */
	char *option_group; /* group of the option file, "oncewrap" */
	enum config_tls tls;
	char *tls_ca;
	int64_t connect_timeout;
	int64_t read_timeout;   /* max_statement_time stays below it, lock wait below that */
	int64_t settle_timeout; /* how long a settlement is tried */
};

struct config_handlers {
	struct string_list roots;       /* where scripts may lie, after symlinks */
	struct string_list environment; /* names passed on from our own environment */
	int64_t timeout;                /* a handler's deadline */
	int64_t kill_grace;             /* between TERM and KILL */
	int64_t exit_grace;             /* how long output is awaited after the handler's exit */
	int64_t stderr_limit;           /* bytes of standard error logged a run */
};

struct config_limits {
	int64_t max_body;
	int64_t body_memory;
	int64_t max_answer;       /* the largest answer body that is stored */
	int64_t max_output;       /* the largest at all; a handler that writes more is ended */
	int64_t max_header_bytes; /* of an answer's header block */
	int64_t request_timeout;  /* for a peer to deliver a whole request */
	int64_t silent_timeout;   /* for a peer to deliver its first bytes */
	int64_t reply_timeout;    /* for a peer to take a whole reply */
};

struct config_spool {
	char *directory; /* bodies beyond body_memory, as unlinked files */
};

struct config {
	char *listen; /* unix socket path, "HOST:PORT" or "[IPV6]:PORT"; "" : none */
	int64_t socket_mode;
	char *socket_group;
	int64_t workers;
	char *user;           /* account to become when started as root; "": stay */
	int64_t stop_timeout; /* TERM to the last worker's end, beyond the handler's own deadline */
	enum log_target log_target;
	enum log_level log_level;
	char *log_socket;                   /* of a target that has one; "": the usual one */
	bool log_keys;                      /* show keys in clear in the log */
	struct source_list log_request_ids; /* where a request's id is looked for */
	char *log_request_header;           /* of the answer, that gives it back; "": none */
	bool core_dumps;                    /* may a worker that crashes leave its memory? */
	char *run_directory;                /* what the processes of one host share */
	char *preset_directory;             /* where presets are looked for by name */
	struct config_store store;
	struct config_handlers handlers;
	struct config_limits limits;
	struct config_spool spool;
	struct route *routes; /* in file order: the first that matches serves */
	size_t route_count;
};

#endif
