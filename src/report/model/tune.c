/*
 * tune.c - the page of a search.
 *
 * The answer comes before the table: whether a setting saves the run, the line to paste, what it
 * saves. Where none does, that is the answer, with what is missing.
 */
#include "base/numbers.h"
#include "report/model/replay.h"

#define RELEASE_TOLD PLIM_TORCH(2, 6) /* what came before, nearly everybody has */

/* The page of a search while it is made. */
typedef struct tuned {
    plim_replayed replayed;
    plim_page *page;
    const plim_tune_view *view;
    const plim_tuning *tuning;
    const plim_tune_row *best;
    const plim_tune_row *reference; /* the recorded settings, as they fare better */
    uint64_t capacity_bytes;
} tuned;

plim_replay_row plim_tune_row_of(const plim_tuning *tuning, size_t index)
{
    const plim_tune_row *row = &tuning->rows[index];
    const bool starts = row->result.survives || row->result.failed_event != PLIM_NO_EVENT;
    return (plim_replay_row){
        .conf = &row->conf,
        .is_recorded = row->is_recorded,
        .wants_torch = row->is_too_new ? row->needs_torch : 0,
        .is_start_requested = row->is_start_requested && tuning->baseline != tuning->recorded,
        .is_winner = index == tuning->best,
        .result = starts ? &row->result : NULL,
        .results = row->results,
        .failure = row->failure,
        .min_capacity_bytes = row->min_capacity_bytes,
        .is_min_capacity_bound = row->is_min_capacity_bound,
        .empty_cache = row->empty_cache,
        .empty_cache_event = row->empty_cache_event,
    };
}

/* ---- the answer ------------------------------------------------------------------------------ */

static bool knows_capacity(const tuned *self)
{
    return self->capacity_bytes != PLIM_UNLIMITED;
}

static bool is_recorded_best(const tuned *self)
{
    return self->best->is_recorded && self->best->empty_cache == PLIM_EMPTY_NEVER;
}

static plim_fact capacity(const tuned *self)
{
    return plim_bytes("capacity_bytes", self->capacity_bytes);
}

static plim_fact floor_of(const tuned *self)
{
    return plim_bytes("floor_bytes", self->tuning->floor_bytes);
}

/* What no setting can help: more is live than there is. */
static void say_hopeless(const tuned *self)
{
    plim_page_say(self->page, "hopeless", PLIM_TONE_BAD,
                  "No allocator setting saves this run: it needs {} live, the device has {}, {} "
                  "less. plimsoll inspect shows what holds it.",
                  PLIM_FACTS(floor_of(self), capacity(self),
                             plim_bytes("missing_bytes", plim_minus(self->tuning->floor_bytes,
                                                                    self->capacity_bytes))));
}

/* The device has more than the capacity, or not. */
static void say_undecided(const tuned *self)
{
    plim_page_say(
        self->page, "undecided", PLIM_TONE_WARN,
        "No setting that was tried is sure to survive: the best of them needs {}{}, and the device "
        "had at least {}. The floor is {}.",
        PLIM_FACTS(plim_words(self->best->is_min_capacity_bound ? "at least " : ""),
                   plim_bytes("needed_bytes", self->best->min_capacity_bytes), capacity(self),
                   floor_of(self)));
}

static void say_unsaved(const tuned *self)
{
    const plim_fact needs = plim_bytes("needed_bytes", self->best->min_capacity_bytes);
    if (self->best->min_capacity_bytes <= self->capacity_bytes) {
        plim_page_say(self->page, "unsaved_with_all", PLIM_TONE_BAD,
                      "No setting that was tried saves this run with all that the device has. The "
                      "best of them survives with {} and not with {}: a cache that is given back "
                      "earlier may break up less. The floor is {}.",
                      PLIM_FACTS(needs, capacity(self), floor_of(self)));
        return;
    }
    plim_page_say(self->page, "unsaved", PLIM_TONE_BAD,
                  "No setting that was tried saves this run. The best of them needs {}, {} more "
                  "than the device has; the floor is {}.",
                  PLIM_FACTS(needs,
                             plim_bytes("missing_bytes",
                                        self->best->min_capacity_bytes - self->capacity_bytes),
                             floor_of(self)));
}

static void say_saved(const tuned *self)
{
    plim_page_say(self->page, "saved", PLIM_TONE_IN_USE,
                  "Saved: with these settings the run survives at {}, where ",
                  PLIM_FACTS(capacity(self)));
    if (self->reference->result.failed_event != PLIM_NO_EVENT) {
        plim_page_more(
            self->page, "it dies at event {}",
            PLIM_FACTS(plim_count("failed_event", self->reference->result.failed_event)));
    } else {
        plim_page_more(self->page, "not even what stood before fits", NULL);
    }
    plim_page_more(self->page, " under those it was recorded with.", NULL);
}

/* What a row takes, beside what the recorded settings take. */
static void more_difference(const tuned *self, const char *lead, uint64_t before, uint64_t after,
                            bool is_bound)
{
    const plim_fact at_least = plim_words(is_bound ? "at least " : "");
    const uint64_t change = plim_max(before, after) - plim_min(before, after);
    if (change == 0) {
        plim_page_more(self->page, "{} {}{}, as the recorded settings do.",
                       PLIM_FACTS(plim_words(lead), at_least, plim_bytes("bytes", after)));
        return;
    }
    plim_page_more(self->page, "{} {} instead of {}{}: {}{} {} ({}).",
                   PLIM_FACTS(plim_words(lead), plim_bytes("bytes", after), at_least,
                              plim_bytes("recorded_bytes", before), at_least,
                              plim_bytes("change_bytes", change),
                              plim_words(before > after ? "less" : "more"),
                              plim_percent("change", (double)change / (double)before)));
}

static void say_difference(const tuned *self, const plim_tune_row *row)
{
    const plim_tune_row *before = self->reference;
    const bool is_bound = before->is_min_capacity_bound;
    if (row->is_min_capacity_bound) {
        return; /* the search was ended before its need was known */
    }
    plim_page_say(self->page, "needs", PLIM_TONE_PLAIN, "", NULL);
    if (is_bound && before->min_capacity_bytes <= row->min_capacity_bytes) {
        plim_page_more(self->page, "It needs a capacity of {}.",
                       PLIM_FACTS(plim_bytes("bytes", row->min_capacity_bytes)));
    } else {
        more_difference(self, "It needs a capacity of", before->min_capacity_bytes,
                        row->min_capacity_bytes, is_bound);
    }
    plim_page_say(self->page, "reserves", PLIM_TONE_PLAIN, "", NULL);
    if (before->result.survives && row->result.survives && before->result.peak_reserved_bytes > 0) {
        more_difference(self, "It reserves", before->result.peak_reserved_bytes,
                        row->result.peak_reserved_bytes, false);
        plim_page_more(self->page, " ", NULL);
    }
    plim_page_more(self->page, "The floor is {}.", PLIM_FACTS(floor_of(self)));
}

/* conf  named after it, or "" */
static void say_hardly(const tuned *self, const char *conf)
{
    plim_page_say(self->page, "hardly_better", PLIM_TONE_PLAIN,
                  "Hardly worth it, with {} of needed and reserved memory saved:{}{}",
                  PLIM_FACTS(plim_percent("gain", self->tuning->gain),
                             plim_words(*conf != '\0' ? " " : ""), plim_words(conf)));
}

static void say_kept(const tuned *self)
{
    plim_page_say(self->page, "kept", PLIM_TONE_HEADING,
                  "Keep the recorded settings: of PyTorch's own that its release knows, none that "
                  "was tried takes 1% less memory.",
                  NULL);
    if (self->tuning->hardly_better != SIZE_MAX) {
        const plim_tune_row *row = &self->tuning->rows[self->tuning->hardly_better];
        say_hardly(self, plim_replayed_conf(&row->conf));
        say_difference(self, row);
    }
}

static void say_better(const tuned *self)
{
    if (self->tuning->hardly_better == self->tuning->best) {
        say_hardly(self, "");
        return;
    }
    if (knows_capacity(self) && !self->reference->result.survives) {
        plim_page_say(self->page, "better", PLIM_TONE_IN_USE,
                      "With these settings the run survives with {}, the least the device had:",
                      PLIM_FACTS(capacity(self)));
        return;
    }
    plim_page_say(self->page, "better", PLIM_TONE_HEADING,
                  !knows_capacity(self)
                      ? "These settings take less memory than those it was recorded under:"
                  : self->tuning->reference == self->tuning->recorded
                      ? "It survives as recorded, and these settings take less memory:"
                      : "It survives under the recorded settings, if what stood before is "
                        "requested anew, and these take less memory:",
                  NULL);
}

static void say_verdict(const tuned *self)
{
    plim_page_gap(self->page);
    if (self->tuning->is_hopeless) {
        say_hopeless(self);
    } else if (self->tuning->is_saved) {
        say_saved(self);
    } else if (knows_capacity(self) && !self->best->result.survives) {
        (plim_replay_is_capacity_bound(self->replayed.input) ? say_undecided : say_unsaved)(self);
    } else if (is_recorded_best(self)) {
        say_kept(self);
    } else {
        say_better(self);
    }
}

static void say_command(const tuned *self)
{
    const char *conf = self->best->conf.text;
    const plim_fact quote = plim_words(plim_page_quote(conf));
    plim_item *item = plim_page_say(self->page, "command", PLIM_TONE_USER,
                                    conf[0] == '\0' ? "unset PYTORCH_CUDA_ALLOC_CONF{}{}{}"
                                                    : "export PYTORCH_CUDA_ALLOC_CONF={}{}{}",
                                    PLIM_FACTS(quote, plim_words(conf), quote));
    item->layout = PLIM_LAYOUT_COPY;
    item->indent = PLIM_PAGE_COMMAND_INDENT;
}

static void say_empty_cache(const tuned *self)
{
    const plim_tune_row *best = self->best;
    if (best->empty_cache == PLIM_EMPTY_AFTER_STEPS) {
        plim_page_say(self->page, "empty_cache", PLIM_TONE_PLAIN,
                      "and call torch.cuda.empty_cache() after each optimizer step.", NULL);
    } else if (best->empty_cache == PLIM_EMPTY_AT_EVENT) {
        plim_page_say(
            self->page, "empty_cache", PLIM_TONE_PLAIN,
            "and call torch.cuda.empty_cache() once, before event {}{}.",
            PLIM_FACTS(plim_count("event", best->empty_cache_event),
                       plim_words(plim_replayed_place(&self->replayed, best->result.device,
                                                      best->empty_cache_event))));
    }
}

static void say_answer(const tuned *self)
{
    say_verdict(self);
    if (!is_recorded_best(self) && !self->tuning->is_hopeless) {
        say_command(self);
        say_empty_cache(self);
        if (self->best->needs_torch >= RELEASE_TOLD) { /* older releases refuse what they lack */
            plim_page_say(self->page, "needs_torch", PLIM_TONE_PLAIN,
                          "PyTorch knows all of this since release {}.",
                          PLIM_FACTS(plim_words(plim_release_text(self->best->needs_torch).text)));
        }
        say_difference(self, self->best);
    }
    plim_replayed_caution(&self->replayed);
    if (self->best->result.ooms_survived > 0) {
        plim_page_say(self->page, "ooms_survived", PLIM_TONE_FAINT,
                      "What failed in the recording is served here; what the program would have "
                      "requested next is not recorded.",
                      NULL);
    }
}

/* The call alone, where the settings stay as they are. */
static void say_call(const tuned *self)
{
    const plim_tune_row *const best = self->best;
    plim_item *const line =
        plim_page_say(self->page, "command", PLIM_TONE_USER, "torch.cuda.empty_cache()", NULL);
    line->layout = PLIM_LAYOUT_COPY;
    line->indent = PLIM_PAGE_COMMAND_INDENT;
    if (best->empty_cache == PLIM_EMPTY_AFTER_STEPS) {
        plim_page_more(self->page, "  # after each optimizer step", NULL);
    } else {
        plim_page_more(
            self->page, "  # once, before event {}{}",
            PLIM_FACTS(plim_count("event", best->empty_cache_event),
                       plim_words(plim_replayed_place(&self->replayed, best->result.device,
                                                      best->empty_cache_event))));
    }
}

void plim_tune_saved(plim_page *page, size_t number, const plim_replay_input *input,
                     const plim_tuning *tuning)
{
    const tuned self = {
        .replayed = { .page = page, .input = input },
        .page = page,
        .tuning = tuning,
        .best = &tuning->rows[tuning->best],
        .reference = &tuning->rows[tuning->reference],
        .capacity_bytes = input->capacity_bytes,
    };
    const bool is_call =
        self.best->conf.text[0] == '\0' && self.best->empty_cache != PLIM_EMPTY_NEVER;
    plim_page_note(page, "saved", PLIM_TONE_PLAIN,
                   is_call ? "Give cached memory back in time."
                           : "Run with these settings of the allocator.",
                   NULL)
        ->lead = plim_page_text(page, "{}.", PLIM_FACTS(plim_plain(NULL, number)));
    plim_page_more(page,
                   " Replayed, the run survives at {} with {}, and dies as it was; what it would "
                   "have requested next is not recorded.",
                   PLIM_FACTS(capacity(&self), plim_words(is_call ? "that" : "them")));
    if (is_call) {
        say_call(&self);
    } else {
        say_command(&self);
        say_empty_cache(&self);
    }
    plim_replayed_caution(&self.replayed);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The first rows, and those of the caller: other allocators are only there on request.
 */
static bool is_shown(const tuned *self, size_t index)
{
    const uint32_t top = self->view->top != 0 ? self->view->top : PLIM_TUNE_TOP_DEFAULT;
    const plim_tune_row *row = &self->tuning->rows[index];
    return index < top || index == self->tuning->recorded || index == self->tuning->baseline ||
           index == self->tuning->best || row->is_given;
}

static void say_rows(const tuned *self)
{
    size_t count = 0;
    const size_t all = self->tuning->row_count;
    plim_replay_row *rows = plim_page_alloc(self->page, all, sizeof rows[0]);
    for (size_t i = 0; rows != NULL && i < all; i++) {
        if (is_shown(self, i)) {
            rows[count++] = plim_tune_row_of(self->tuning, i);
        }
    }
    plim_page_heading(self->page, "Tried, best first", NULL);
    plim_replayed_rows(&self->replayed, rows, count);
    if (count < all) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT,
                       "({} more: --top shows them, --json has all)",
                       PLIM_FACTS(plim_count_of("rows_left_out", all - count, "row")));
    }
}

static void say_end(const tuned *self)
{
    plim_page_gap(self->page);
    if (self->tuning->is_incomplete) {
        plim_page_say(self->page, "incomplete", PLIM_TONE_WARN,
                      "The budget of {} s ended the search: there may be better settings.",
                      PLIM_FACTS(plim_number("budget_s", self->view->budget_s)));
    }
    plim_page_say(self->page, "how", PLIM_TONE_FAINT,
                  "{}. Needs: the smallest capacity it survives with, to 2 MiB; with > before it, "
                  "it was not searched further. The order is that of what is needed and reserved, "
                  "added up; within 1% the plainest settings win. Calls and time are the driver's, "
                  "by a model of what calls cost.",
                  PLIM_FACTS(plim_count_of("runs", self->tuning->runs, "replay")));
}

void plim_tune_page(plim_page *page, const plim_tune_view *view, const plim_replay_input *input,
                    const plim_tuning *tuning)
{
    const tuned self = {
        .replayed = { .page = page, .input = input },
        .page = page,
        .view = view,
        .tuning = tuning,
        .best = &tuning->rows[tuning->best],
        .reference = &tuning->rows[tuning->reference],
        .capacity_bytes = input->capacity_bytes,
    };
    plim_page_file(page, input->path);
    say_answer(&self);
    say_rows(&self);
    say_end(&self);
    plim_replayed_basis(&self.replayed, true);
}
