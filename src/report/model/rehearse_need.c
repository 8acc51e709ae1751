/*
 * rehearse_need.c - what a program that ran out of memory would need. See rehearse_parts.h.
 */
#include "base/numbers.h"
#include "report/model/rehearse_parts.h"

static const char *const labels[PLIM_CATEGORY_COUNT] = {
    [PLIM_CATEGORY_OTHER] = "other",
    [PLIM_CATEGORY_PARAMETERS] = "parameters",
    [PLIM_CATEGORY_GRADIENTS] = "gradients",
    [PLIM_CATEGORY_OPTIMIZER_STATE] = "optimizer states",
    [PLIM_CATEGORY_ACTIVATIONS] = "activations",
    [PLIM_CATEGORY_TEMPORARY] = "temporaries",
    [PLIM_CATEGORY_INPUTS] = "inputs",
};

static void add_category(plim_page *page, const plim_rehearsed_need *need, plim_category category,
                         uint64_t total_bytes)
{
    const uint64_t bytes = need->category_bytes[category];
    const bool is_kept_by_program = category == PLIM_CATEGORY_ACTIVATIONS && !need->has_backward;
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_words(is_kept_by_program ? "made by forward" : labels[category]));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(plim_category_name(category), bytes));
    plim_page_cell_bar(page, PLIM_TONE_IN_USE, bytes, total_bytes);
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_percent(NULL, (double)bytes / (double)total_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(""));
}

/* The largest first. */
static void say_categories(plim_page *page, const plim_rehearsed_need *need)
{
    const uint64_t *const bytes = need->category_bytes;
    uint64_t total = 0;
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        total = plim_plus(total, bytes[i]);
    }
    if (!need->has_categories || total == 0) {
        return;
    }
    plim_page_heading(page, "Allocated at that peak, {}",
                      PLIM_FACTS(plim_bytes("need_allocated_bytes", total)));
    plim_rehearsed_figures(page, "need_categories");
    bool is_said[PLIM_CATEGORY_COUNT] = { false };
    for (size_t turn = 0; turn < PLIM_CATEGORY_COUNT; turn++) {
        size_t most = PLIM_CATEGORY_COUNT;
        for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
            if (!is_said[i] && bytes[i] > 0 &&
                (most == PLIM_CATEGORY_COUNT || bytes[i] > bytes[most])) {
                most = i;
            }
        }
        if (most == PLIM_CATEGORY_COUNT) {
            return;
        }
        is_said[most] = true;
        add_category(page, need, (plim_category)most, total);
    }
}

/* "It would need at least 36.1 GiB, 24.4 GiB more than the GPU has: in step 2, backward." */
static void say_amount(const plim_rehearsing_page *self, const plim_rehearsed_need *need)
{
    plim_page *page = self->page;
    const uint64_t capacity = self->outcome->capacity_bytes;
    const uint64_t bytes = need->peak.device_bytes;
    plim_page_say(page, "need", PLIM_TONE_HEADING, "It would need {}{}",
                  PLIM_FACTS(plim_words(need->why_at_least != NULL ? "at least " : ""),
                             plim_bytes("need_bytes", bytes)));
    if (bytes > capacity) {
        plim_page_more(page, ", {} more than the GPU has",
                       PLIM_FACTS(plim_bytes("need_more_bytes", bytes - capacity)));
    } else {
        plim_page_more(page, ", which the GPU has", NULL);
    }
    if (need->phase[0] != '\0') {
        plim_page_more(
            page, ": at the peak in {}",
            PLIM_FACTS(plim_words(plim_rehearsed_moment(page, need->step, need->phase))));
    }
    plim_page_more(page, ".", NULL);
    if (plim_rehearsed_is_held_by_cache(self->rehearsed)) {
        plim_page_say(page, "need_allocated", PLIM_TONE_PLAIN,
                      "No more than {} are allocated at once, which fits: the rest is reserved and "
                      "not in use.",
                      PLIM_FACTS(plim_bytes("need_allocated_bytes", need->peak.allocated_bytes)));
    }
}

static void say_doubts(plim_page *page, const plim_rehearsed_need *need)
{
    if (need->why_at_least != NULL && need->growth_bytes == 0) {
        plim_page_say(page, "need_at_least", PLIM_TONE_WARN, "A lower bound: {}.",
                      PLIM_FACTS(plim_words(need->why_at_least)));
    }
    if (need->growth_bytes > 0) {
        plim_page_say(page, "need_grows", PLIM_TONE_WARN,
                      "What it keeps grows by {} with each step: no GPU has enough for all steps.",
                      PLIM_FACTS(plim_bytes("growth_bytes", need->growth_bytes)));
    }
    if (need->asks_for_free) {
        plim_page_say(page, "need_asks", PLIM_TONE_WARN,
                      "It asks how much memory is free, and may take more where there is more.",
                      NULL);
    }
    plim_page_say(
        page, "need_run", PLIM_TONE_FAINT, "Rehearsed once more without the limit{}.",
        PLIM_FACTS(plim_words(
            need->has_all ? ""
                          : plim_page_text(page, ", for {}",
                                           PLIM_FACTS(plim_count_of(NULL, need->steps, "step"))))));
}

/* "Tried: --conf=expandable_segments:True fits, 10.9 GiB at the peak." */
static void say_tried(plim_page *page, const plim_rehearsed_tried *tried)
{
    static const struct {
        plim_tone tone;
        const char *text;
    } results[] = {
        [PLIM_REHEARSED_FITS] = { PLIM_TONE_IN_USE, "fits" },
        [PLIM_REHEARSED_TIGHT] = { PLIM_TONE_WARN, "is tight" },
        [PLIM_REHEARSED_AT_LEAST] = { PLIM_TONE_WARN, "needs at least what was measured" },
        [PLIM_REHEARSED_OUT_OF_MEMORY] = { PLIM_TONE_WARN, "still runs out of memory" },
        [PLIM_REHEARSED_FAILED] = { PLIM_TONE_WARN, "gave no answer" },
        [PLIM_REHEARSED_UNANSWERED] = { PLIM_TONE_WARN, "gave no answer" },
    };
    plim_page_say(
        page, "tried", results[tried->verdict].tone, "Tried: --conf={} {}",
        PLIM_FACTS(plim_words(tried->settings), plim_words(results[tried->verdict].text)));
    if (tried->verdict <= PLIM_REHEARSED_AT_LEAST) {
        plim_page_more(page, ", {} at the peak",
                       PLIM_FACTS(plim_bytes("peak_bytes", tried->peak.device_bytes)));
    }
    if (tried->verdict <= PLIM_REHEARSED_AT_LEAST && !tried->has_all) {
        plim_page_more(page, " of {}", PLIM_FACTS(plim_count_of(NULL, tried->steps, "step")));
    }
    plim_page_more(page, ".", NULL);
}

void plim_rehearsed_say_need(const plim_rehearsing_page *self)
{
    const plim_rehearsed_need *need = self->rehearsed->need;
    if (need == NULL) {
        return;
    }
    plim_page_gap(self->page);
    if (need->why_unknown != NULL) {
        plim_page_say(self->page, "need_unknown", PLIM_TONE_WARN,
                      "What it would need is not known: {}.",
                      PLIM_FACTS(plim_words(need->why_unknown)));
        return;
    }
    say_amount(self, need);
    say_doubts(self->page, need);
    for (size_t i = 0; i < self->rehearsed->tried_count; i++) {
        say_tried(self->page, &self->rehearsed->tried[i]);
    }
    say_categories(self->page, need);
}
