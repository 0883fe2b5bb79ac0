/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "doctor/host.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "handler/spawn.h"

/* Without it handlers end well all the same, found out by looking again and again. */
const char host_no_pidfd[] =
    "pidfd_open(2) is refused (Linux before 5.3, or a container's seccomp filter): a worker whose "
    "handler runs looks every 10 ms whether it has ended; allow that call";

static void check_account(const struct host *host, struct findings *findings)
{
	const char *group = host->config->socket_group;
	struct service ignored;
	struct error error;
	if (service_find(&ignored, host->config->user, &error) < 0) {
		findings_add(findings, FINDING_FAIL, "%s", error.message);
		findings_cure_file(findings, host->config->user, "useradd --system");
	}
	if (*group != '\0' && getgrnam(group) == NULL) {
		findings_add(findings, FINDING_FAIL, "socket_group: there is no group \"%s\"",
			     group);
		findings_cure_file(findings, group, "groupadd --system");
	}
}

static void check_handlers(const struct host *host, struct findings *findings)
{
	if (host->handler == NULL) {
		handlers_check(host, findings);
	} else if (access(host->handler, X_OK) == -1) {
		int number = errno;
		findings_add(findings, FINDING_FAIL, "--handler: %s: %s", host->handler,
			     strerror(number));
		if (number == EACCES)
			findings_cure_file(findings, host->handler, "chmod a+rx");
	}
}

static void check_kernel(const struct host *host, struct findings *findings)
{
	(void)host;
	if (!spawn_gives_pidfd())
		findings_add(findings, FINDING_WARN, "%s", host_no_pidfd);
}

const struct host_check host_checks[] = {
    {"config_file", "only those who should may write the configuration", places_check_file},
    {"account", "the account and the group are there", check_account},
    {"option_file", "the credentials are readable for whom they should be",
     places_check_option_file},
    {"spool", "large bodies have a place", places_check_spool},
    {"run_directory", "the processes of this host can share what they must",
     places_check_run_directory},
    {"roots", "the directories of the handlers are there", places_check_roots},
    {"handlers", "the handlers can be run", check_handlers},
    {"kernel", "the kernel tells at once when a handler ends", check_kernel},
};
const size_t host_check_count = sizeof(host_checks) / sizeof(host_checks[0]);

void host_init(struct host *host, const char *file, const struct config *config,
	       const char *handler)
{
	struct error ignored;
	*host = (struct host){.file = file, .config = config, .handler = handler};
	(void)service_find(&host->service, config->user, &ignored);
}

void host_examine(const struct host *host, const struct host_check *check,
		  struct findings *findings)
{
	size_t before = findings->count;
	findings_begin(findings, check->name);
	check->run(host, findings);
	if (findings->count == before)
		findings_add(findings, FINDING_OK, "%s", check->about);
}

char *host_obstacles(const struct config *config, const char *handler)
{
	struct findings findings = {0};
	struct buffer text = {0};
	const struct host host = {.config = config, .handler = handler};
	places_has_directory(&host, &findings, "spool.directory", config->spool.directory, "0750");
	if (handler != NULL)
		check_handlers(&host, &findings);
	for (size_t i = 0; handler == NULL && i < config->handlers.roots.count; i++)
		places_has_directory(&host, &findings, "handlers.roots",
				     config->handlers.roots.items[i], "0755");
	for (size_t i = 0; i < findings.count; i++)
		buffer_printf(&text, "%s\n", findings.items[i].reason);
	char *problems = findings.failed || text.failed ? NULL : strdup(buffer_text(&text));
	findings_free(&findings);
	buffer_free(&text);
	return problems;
}
