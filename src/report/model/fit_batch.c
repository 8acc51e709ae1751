/*
 * fit_batch.c - the largest batches on the page of `plimsoll fit`.
 */
#include "report/model/fit_parts.h"

#include <string.h>

/* "Training: 37 rows at most with autocast=bf16 (now 64): 11.2 GiB; 38 do not fit." */
static void say_batch(plim_page *page, const char *id, const char *of, const plim_fit_batch *batch)
{
    if (batch->why_unknown != NULL) {
        plim_page_note(page, id, PLIM_TONE_PLAIN, "{}: not known: {}.",
                       PLIM_FACTS(plim_words(of), plim_words(batch->why_unknown)));
        return;
    }
    if (batch->largest == 0) {
        plim_page_note(page, id, PLIM_TONE_BAD, "{}: not even a batch of 1 fits.",
                       PLIM_FACTS(plim_words(of)));
        return;
    }
    plim_page_note(page, id, PLIM_TONE_IN_USE, "{}: {}",
                   PLIM_FACTS(plim_words(of), plim_count("largest", batch->largest)));
    if (batch->now > 0) {
        plim_page_more(page, " (the program has {})", PLIM_FACTS(plim_count("now", batch->now)));
    }
    plim_page_more(page, ", with {} on the device",
                   PLIM_FACTS(plim_bytes("device_bytes", batch->peak.device_bytes)));
    if (batch->why_not_more != NULL) {
        plim_page_more(page, "; {}.", PLIM_FACTS(plim_words(batch->why_not_more)));
    } else {
        plim_page_more(page, "; {} does not fit.",
                       PLIM_FACTS(plim_count("too_large", batch->largest + 1)));
    }
}

void plim_fit_say_batches(plim_page *page, const plim_fitted *fitted)
{
    const char *const stack = fitted->training.stack;
    if (stack == NULL) {
        return;
    }
    plim_page_heading(page, "Largest batch, {}{}",
                      PLIM_FACTS(plim_words(stack[0] != '\0' ? "with " : "the program as it is"),
                                 plim_words(stack)));
    say_batch(page, "training_batch", "training", &fitted->training);
    const char *const other = fitted->evaluation.stack;
    say_batch(page, "evaluation_batch",
              strcmp(other, stack) == 0
                  ? "evaluation"
                  : plim_page_text(page, "evaluation, with {}", PLIM_FACTS(plim_words(other))),
              &fitted->evaluation);
}
