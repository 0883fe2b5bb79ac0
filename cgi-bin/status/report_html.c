/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/report_html.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cgi-bin/status/facts.h"
#include "cgi-bin/status/html.h"
#include "cgi-bin/status/html_host.h"
#include "cgi-bin/status/steps.h"
#include "cgi-bin/status/words.h"

static void foreign(struct html *html, const struct buffer *text)
{
	html_foreign(html, text->data, text->length);
}

static void write_command(struct html *html, const struct buffer *command)
{
	html_open(html, "code", NULL);
	foreign(html, command);
	html_close(html);
}

static void write_time(struct html *html, int64_t milliseconds)
{
	char stamp[CLOCK_STAMP_LENGTH];
	struct buffer words = {0};
	clock_format(stamp, milliseconds);
	words_time(&words, milliseconds);
	html_open(html, "time", "datetime", stamp, NULL);
	html_take(html, &words);
	html_close(html);
}

/* The title begins with what is wrong: a tab shows no more than that. */
static void write_head(struct html *html, const struct snapshot *snapshot, struct buffer *headline)
{
	html_open(html, "head", NULL);
	html_void(html, "meta", "charset", "utf-8", NULL);
	html_void(html, "meta", "name", "viewport", "content",
		  "width=device-width, initial-scale=1", NULL);
	html_void(html, "meta", "name", "color-scheme", "content", "light dark", NULL);
	html_open(html, "title", NULL);
	html_text(html, buffer_text(headline));
	html_text(html, " – oncewrap on ");
	html_foreign(html, snapshot->host, strlen(snapshot->host));
	html_close(html);
	html_style(html, style_text);
	html_close(html);
}

static void write_concern(struct html *html, const struct concern *concern)
{
	html_open(html, "li", NULL);
	html_open(html, "p", NULL);
	html_open(html, "strong", "class", concern_level_name(concern->level), NULL);
	html_text(html, concern->level == CONCERN_TROUBLE ? "Trouble: " : "Attention: ");
	foreign(html, &concern->words);
	html_text(html, ".");
	html_close(html);
	html_text(html, " ");
	foreign(html, &concern->detail);
	html_close(html);
	if (concern->command.length > 0) {
		html_open(html, "p", "class", "run", NULL);
		write_command(html, &concern->command);
		html_close(html);
	}
	html_close(html);
}

static void write_headline(struct html *html, const struct snapshot *snapshot,
			   const struct concerns *concerns, struct buffer *headline)
{
	html_open(html, "header", "class", concern_level_name(concerns->worst), NULL);
	html_leaf(html, "h1", buffer_text(headline), NULL);
	html_open(html, "p", "class", "where", NULL);
	html_text(html, "oncewrap " PACKAGE_VERSION " on ");
	html_foreign(html, snapshot->host, strlen(snapshot->host));
	html_text(html, ", ");
	write_time(html, snapshot->now_ms);
	html_close(html);
	if (concerns->count > 0) {
		html_open(html, "ul", NULL);
		for (size_t i = 0; i < concerns->count; i++)
			write_concern(html, &concerns->items[i]);
		html_close(html);
	}
	html_close(html);
}

static void write_store(struct html *html, const struct snapshot *snapshot)
{
	struct facts facts;
	facts_find(&facts, snapshot);
	html_open(html, "section", "aria-labelledby", "store", NULL);
	html_leaf(html, "h2", "Store", "id", "store", NULL);
	html_open(html, "dl", "class", "facts", NULL);
	for (size_t i = 0; i < facts.count; i++) {
		html_open(html, "div", NULL);
		html_leaf(html, "dt", facts.items[i].name, NULL);
		html_open(html, "dd", NULL);
		foreign(html, &facts.items[i].words);
		html_close(html);
		html_close(html);
	}
	html_close(html);
	html_close(html);
	facts_free(&facts);
}

static void write_property(struct html *html, const char *name, const struct buffer *value)
{
	html_text(html, name);
	if (value->length > 0)
		foreign(html, value);
	else
		html_text(html, "(none)");
}

static void write_properties(struct html *html, const struct attention_entry *entry)
{
	char key[STEPS_KEY_LENGTH];
	steps_key(entry, key);
	html_open(html, "p", "class", "soft", NULL);
	write_property(html, "Route ", &entry->route);
	write_property(html, ", tenant ", &entry->tenant);
	html_text(html, ", key ");
	html_leaf(html, "code", key, NULL);
	html_printf(html, ", attempt %" PRIu32, entry->attempt);
	write_property(html, "; claimed on ", &entry->host);
	html_printf(html, " by process %" PRId64 ", ", entry->pid);
	write_time(html, entry->created_ms);
	html_close(html);
}

static void write_steps(struct html *html, const struct steps *steps)
{
	html_open(html, "dl", NULL);
	for (size_t i = 0; i < steps->count; i++) {
		html_leaf(html, "dt", steps->items[i].what, NULL);
		html_open(html, "dd", NULL);
		write_command(html, &steps->items[i].command);
		html_close(html);
	}
	html_close(html);
}

static void write_name(struct html *html, const struct attention_entry *entry)
{
	char name[STEPS_NAME_LENGTH];
	struct buffer age = {0};
	steps_name(entry, name);
	words_span(&age, entry->now_ms - entry->created_ms);
	html_open(html, "h3", NULL);
	html_leaf(html, "code", name, NULL);
	html_text(html, " ");
	html_leaf(html, "span", steps_state(entry), "class", "attention", NULL);
	html_text(html, " for ");
	html_take(html, &age);
	html_close(html);
}

static void write_entry(struct html *html, const struct attention_entry *entry,
			const struct snapshot *snapshot)
{
	struct steps steps;
	steps_find(&steps, entry, snapshot);
	html_open(html, "li", NULL);
	html_open(html, "div", NULL);
	write_name(html, entry);
	if (*steps.note != '\0')
		html_leaf(html, "p", steps.note, "class", "note", NULL);
	write_properties(html, entry);
	html_close(html);
	write_steps(html, &steps);
	html_close(html);
	steps_free(&steps);
}

static void write_attention(struct html *html, const struct snapshot *snapshot)
{
	const struct attention *attention = &snapshot->attention;
	html_open(html, "section", "aria-labelledby", "attention", NULL);
	html_leaf(html, "h2", "Needs attention", "id", "attention", NULL);
	if (!snapshot->listed)
		html_leaf(html, "p", "Not known: the database has not told.", NULL);
	else if (attention->count == 0)
		html_leaf(html, "p", "Nothing: no unknown outcome, no stale lease.", NULL);
	if (attention->count > 0) {
		html_open(html, "ol", "class", "records", NULL);
		for (size_t i = 0; i < attention->count; i++)
			write_entry(html, &attention->entries[i], snapshot);
		html_close(html);
	}
	if (attention->more)
		html_leaf(html, "p", "There are more; these are the oldest.", NULL);
	html_close(html);
}

void report_html(struct buffer *out, const struct snapshot *snapshot,
		 const struct concerns *concerns)
{
	struct html html = {0};
	struct buffer headline = {0};
	concerns_headline(concerns, &headline);
	html_begin(&html);
	write_head(&html, snapshot, &headline);
	html_open(&html, "body", NULL);
	html_open(&html, "main", NULL);
	write_headline(&html, snapshot, concerns, &headline);
	write_store(&html, snapshot);
	write_attention(&html, snapshot);
	html_host(&html, snapshot);
	html_end(&html);
	html.out.failed = html.out.failed || headline.failed;
	buffer_free(&headline);
	*out = html.out;
}
