/*
 * tune_text.c - the page of a search. See tune_text.h.
 *
 * The answer comes before the table: whether a setting saves the run, the line to paste, what it
 * saves. Where none does, that is the answer, with what is missing.
 */
#include "report/tune_text.h"

#include "base/size.h"
#include "report/counted.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RELEASE_TOLD    PLIM_TORCH(2, 6) /* what came before, nearly everybody has */
#define COMMAND_INDENT  6u
#define COMMAND_COLUMNS 4096u /* lines to paste are never cut */

/* Where a search's page is being written. */
typedef struct tune_page {
    plim_replay_page page;
    const plim_tune_view *view;
    const plim_tuning *tuning;
    const plim_tune_row *best;
    const plim_tune_row *reference; /* the recorded settings */
} tune_page;

static void say(const tune_page *self, plim_tone tone, const char *words)
{
    plim_paragraph_write(self->page.out, self->page.style, 0, tone, "", words);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static bool knows_capacity(const tune_page *self)
{
    return self->page.input->capacity_bytes != PLIM_UNLIMITED;
}

static bool is_recorded_best(const tune_page *self)
{
    return self->best->is_recorded && self->best->empty_cache == PLIM_EMPTY_NEVER;
}

/* What no setting can help: more is live than there is. */
static void write_hopeless(const tune_page *self)
{
    char words[256];
    const uint64_t floor_bytes = self->tuning->floor_bytes;
    const uint64_t capacity = self->page.input->capacity_bytes;
    (void)snprintf(words, sizeof words,
                   "No allocator setting saves this run: it needs %s live, the device has %s, "
                   "%s less. plimsoll inspect tells what holds it.",
                   plim_format_bytes(floor_bytes).text, plim_format_bytes(capacity).text,
                   plim_format_bytes(floor_bytes - capacity).text);
    say(self, PLIM_TONE_BAD, words);
}

/* The device has more than the capacity, or not. */
static void write_undecided(const tune_page *self)
{
    plim_paragraph_format(
        self->page.out, self->page.style, 0, PLIM_TONE_WARN,
        "No setting that was tried is sure to survive: the best of them needs %s%s, and the device "
        "had at least %s. The floor is %s.",
        self->best->is_min_capacity_bound ? "at least " : "",
        plim_format_bytes(self->best->min_capacity_bytes).text,
        plim_format_bytes(self->page.input->capacity_bytes).text,
        plim_format_bytes(self->tuning->floor_bytes).text);
}

static void write_unsaved(const tune_page *self)
{
    char words[320];
    const uint64_t capacity = self->page.input->capacity_bytes;
    const uint64_t needs = self->best->min_capacity_bytes;
    if (needs <= capacity) {
        plim_paragraph_format(
            self->page.out, self->page.style, 0, PLIM_TONE_BAD,
            "No setting that was tried saves this run with all that the device has. The best of "
            "them survives with %s and not with %s: a cache that is given back earlier may break "
            "up less. The floor is %s.",
            plim_format_bytes(needs).text, plim_format_bytes(capacity).text,
            plim_format_bytes(self->tuning->floor_bytes).text);
        return;
    }
    (void)snprintf(words, sizeof words,
                   "No setting that was tried saves this run. The best of them needs %s, %s more "
                   "than the device has; the floor is %s.",
                   plim_format_bytes(needs).text, plim_format_bytes(needs - capacity).text,
                   plim_format_bytes(self->tuning->floor_bytes).text);
    say(self, PLIM_TONE_BAD, words);
}

static void write_saved(const tune_page *self)
{
    char words[256];
    char before[64] = "not even what stood before fits";
    if (self->reference->result.failed_event != PLIM_NO_EVENT) {
        (void)snprintf(before, sizeof before, "it dies at event %s",
                       plim_format_count(self->reference->result.failed_event).text);
    }
    (void)snprintf(words, sizeof words,
                   "Saved: with these settings the run survives at %s, where %s under those it was "
                   "recorded with.",
                   plim_format_bytes(self->page.input->capacity_bytes).text, before);
    say(self, PLIM_TONE_IN_USE, words);
}

/* What a row takes, beside what the recorded settings take. */
static void add_difference(char *words, size_t bytes, const char *lead, uint64_t before,
                           uint64_t after, bool is_bound)
{
    const char *at_least = is_bound ? "at least " : "";
    const uint64_t change = before > after ? before - after : after - before;
    if (change == 0) {
        (void)snprintf(words, bytes, "%s %s%s, as the recorded settings do.", lead, at_least,
                       plim_format_bytes(after).text);
        return;
    }
    (void)snprintf(words, bytes, "%s %s instead of %s%s: %s%s %s (%s).", lead,
                   plim_format_bytes(after).text, at_least, plim_format_bytes(before).text,
                   at_least, plim_format_bytes(change).text, before > after ? "less" : "more",
                   plim_format_percent((double)change / (double)before).text);
}

static void write_difference(const tune_page *self, const plim_tune_row *row)
{
    const plim_tune_row *before = self->reference;
    if (row->is_min_capacity_bound) {
        return; /* the search was ended before its need was known */
    }
    char needs[192];
    char reserves[192] = "";
    const bool is_bound = before->is_min_capacity_bound;
    if (is_bound && before->min_capacity_bytes <= row->min_capacity_bytes) {
        (void)snprintf(needs, sizeof needs, "It needs a capacity of %s.",
                       plim_format_bytes(row->min_capacity_bytes).text);
    } else {
        add_difference(needs, sizeof needs, "It needs a capacity of", before->min_capacity_bytes,
                       row->min_capacity_bytes, is_bound);
    }
    if (before->result.survives && row->result.survives && before->result.peak_reserved_bytes > 0) {
        add_difference(reserves, sizeof reserves, " It reserves",
                       before->result.peak_reserved_bytes, row->result.peak_reserved_bytes, false);
    }
    plim_paragraph_format(self->page.out, self->page.style, 0, PLIM_TONE_PLAIN,
                          "%s%s The floor is %s.", needs, reserves,
                          plim_format_bytes(self->tuning->floor_bytes).text);
}

/* conf   named behind it, or "" */
static void write_hardly(const tune_page *self, const char *conf)
{
    plim_paragraph_format(self->page.out, self->page.style, 0, PLIM_TONE_PLAIN,
                          "Hardly worth it, with %s of needed and reserved memory saved:%s%s",
                          plim_format_percent(self->tuning->gain).text, *conf != '\0' ? " " : "",
                          conf);
}

static void write_kept(const tune_page *self)
{
    say(self, PLIM_TONE_HEADING,
        "Keep the recorded settings: of PyTorch's own that its release knows, none that was tried "
        "takes 1% less memory.");
    if (self->tuning->hardly_better != SIZE_MAX) {
        const plim_tune_row *row = &self->tuning->rows[self->tuning->hardly_better];
        write_hardly(self, plim_replay_conf_words(&row->conf));
        write_difference(self, row);
    }
}

static void write_better(const tune_page *self)
{
    const bool survives = self->reference->result.survives;
    if (self->tuning->hardly_better == self->tuning->best) {
        write_hardly(self, "");
    } else if (!knows_capacity(self)) {
        say(self, PLIM_TONE_HEADING,
            "These settings take less memory than those it was recorded under:");
    } else if (!survives) {
        plim_paragraph_format(self->page.out, self->page.style, 0, PLIM_TONE_IN_USE,
                              "With these settings the run survives with %s, the least the device "
                              "had:",
                              plim_format_bytes(self->page.input->capacity_bytes).text);
    } else if (self->tuning->reference == self->tuning->recorded) {
        say(self, PLIM_TONE_HEADING,
            "It survives as recorded, and these settings take less memory:");
    } else {
        say(self, PLIM_TONE_HEADING,
            "It survives under the recorded settings, if what stood before is requested anew, and "
            "these take less memory:");
    }
}

static void write_verdict(const tune_page *self)
{
    plim_replay_blank(&self->page);
    if (self->tuning->is_hopeless) {
        write_hopeless(self);
    } else if (self->tuning->is_saved) {
        write_saved(self);
    } else if (knows_capacity(self) && !self->best->result.survives) {
        if (plim_replay_is_capacity_bound(self->page.input)) {
            write_undecided(self);
        } else {
            write_unsaved(self);
        }
    } else if (is_recorded_best(self)) {
        write_kept(self);
    } else {
        write_better(self);
    }
}

/* Whether a shell would take a conf for one word. */
static bool needs_quotes(const char *text)
{
    for (; *text != '\0'; text++) {
        if (isalnum((unsigned char)*text) == 0 && strchr("_:,.+-", *text) == NULL) {
            return true;
        }
    }
    return false;
}

static void write_command(const tune_page *self)
{
    const plim_conf *conf = &self->best->conf;
    const char *quote = needs_quotes(conf->text) ? "'" : "";
    plim_style endless = *self->page.style;
    endless.width = COMMAND_COLUMNS;
    plim_line line = plim_line_begin(self->page.out, &endless, COMMAND_INDENT);
    if (conf->text[0] == '\0') {
        plim_line_add(&line, PLIM_TONE_USER, "unset PYTORCH_CUDA_ALLOC_CONF");
    } else {
        plim_line_add(&line, PLIM_TONE_USER, "export PYTORCH_CUDA_ALLOC_CONF=");
        plim_line_add(&line, PLIM_TONE_USER, quote);
        plim_line_add(&line, PLIM_TONE_USER, conf->text);
        plim_line_add(&line, PLIM_TONE_USER, quote);
    }
    plim_line_end(&line);
}

static void write_empty_cache(const tune_page *self)
{
    const plim_tune_row *best = self->best;
    if (best->empty_cache == PLIM_EMPTY_AFTER_STEPS) {
        say(self, PLIM_TONE_PLAIN, "and call torch.cuda.empty_cache() after each optimizer step.");
    } else if (best->empty_cache == PLIM_EMPTY_AT_EVENT) {
        plim_paragraph_format(
            self->page.out, self->page.style, 0, PLIM_TONE_PLAIN,
            "and call torch.cuda.empty_cache() once, before %s.",
            plim_replay_event_words(&self->page, best->result.device, best->empty_cache_event)
                .text);
    }
}

/* Older releases refuse settings they do not know. */
static void write_release(const tune_page *self)
{
    const uint32_t release = self->best->needs_torch;
    if (release >= RELEASE_TOLD) {
        plim_paragraph_format(self->page.out, self->page.style, 0, PLIM_TONE_PLAIN,
                              "PyTorch knows all of this since release %u.%u.",
                              (unsigned)(release / 100), (unsigned)(release % 100));
    }
}

static void write_answer(const tune_page *self)
{
    write_verdict(self);
    if (!is_recorded_best(self) && !self->tuning->is_hopeless) {
        write_command(self);
        write_empty_cache(self);
        write_release(self);
        write_difference(self, self->best);
    }
    if (self->best->result.ooms_survived > 0) {
        plim_paragraph_write(self->page.out, self->page.style, 0, PLIM_TONE_FAINT, "",
                             "What failed in the recording is served here; what the program would "
                             "have asked for next is not recorded.");
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The first rows, and those somebody asked about: other allocators are only there when asked for.
 */
static bool is_shown(const tune_page *self, size_t index)
{
    const uint32_t top = self->view->top != 0 ? self->view->top : PLIM_TUNE_TOP_DEFAULT;
    const plim_tune_row *row = &self->tuning->rows[index];
    return index < top || index == self->tuning->recorded || index == self->tuning->baseline ||
           index == self->tuning->best || row->is_given;
}

static void write_table(const tune_page *self, plim_replay_row *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < self->tuning->row_count; i++) {
        if (is_shown(self, i)) {
            rows[count++] = plim_tune_row_of(self->tuning, i);
        }
    }
    plim_replay_heading(&self->page, "Tried, best first");
    plim_replay_rows_write(&self->page, rows, count, true);
    if (count < self->tuning->row_count) {
        plim_paragraph_format(self->page.out, self->page.style, 2, PLIM_TONE_FAINT,
                              "(%s more: --top shows them, --json has all)",
                              plim_counted(self->tuning->row_count - count, "row").text);
    }
}

static void write_rows(const tune_page *self)
{
    const plim_mem *mem = self->page.out->mem;
    const size_t count = self->tuning->row_count;
    plim_replay_row *rows = plim_mem_alloc(mem, count, sizeof *rows);
    if (rows == NULL) {
        self->page.out->status = PLIM_OUT_OF_HOST_MEMORY;
        return;
    }
    write_table(self, rows);
    plim_mem_free(mem, rows, count, sizeof *rows);
}

static void write_end(const tune_page *self)
{
    plim_replay_blank(&self->page);
    if (self->tuning->is_incomplete) {
        plim_paragraph_format(self->page.out, self->page.style, 0, PLIM_TONE_WARN,
                              "The budget of %g s ended the search: there may be better settings.",
                              self->view->budget_s);
    }
    plim_paragraph_format(self->page.out, self->page.style, 0, PLIM_TONE_FAINT,
                          "%s. Needs: the smallest capacity it survives with, to 2 MiB; with > "
                          "before it, it was not searched further. The order is that of what is "
                          "needed and reserved, added up; within 1%% the plainest settings win. "
                          "Calls and time are the driver's, by a model of what calls cost.",
                          plim_counted(self->tuning->runs, "replay").text);
}

void plim_tune_text_write(plim_text *out, const plim_style *style, const plim_tune_view *view,
                          const plim_replay_input *input, const plim_tuning *tuning)
{
    const tune_page self = {
        .page = { .out = out, .style = style, .input = input },
        .view = view,
        .tuning = tuning,
        .best = &tuning->rows[tuning->best],
        .reference = &tuning->rows[tuning->reference],
    };
    plim_replay_head_write(&self.page);
    plim_replay_fidelity_write(&self.page);
    plim_replay_blank(&self.page);
    plim_replay_limits_write(&self.page);
    write_answer(&self);
    write_rows(&self);
    write_end(&self);
}
