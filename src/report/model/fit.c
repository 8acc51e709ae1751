/*
 * fit.c - the page of a search for techniques. See fit.h.
 *
 * The order: does it fit, with what, at which price; what was tried; how to write it down; and
 * what the answer rests on.
 */
#include "report/model/fit.h"
#include "report/model/fit_parts.h"

#include "base/numbers.h"

#include <string.h>

typedef plim_fit_trial trial;

/* Below it, a few numbers that the program copies: nothing to make room for. */
#define HOST_LEAST ((uint64_t)1 << 20)

/* ---- the answer ------------------------------------------------------------------------------ */

/* True of figures that more may be missing from: values were not computed, or memory ran out. */
static bool is_at_least(const trial *of)
{
    return of->verdict == PLIM_REHEARSED_AT_LEAST || of->verdict == PLIM_REHEARSED_OUT_OF_MEMORY;
}

static plim_fact at_least(const trial *of)
{
    return plim_words(is_at_least(of) ? "at least " : "");
}

static void more_price(plim_page *page, const trial *of)
{
    if (of->slowdown > 1.005) {
        plim_page_more(page, ", about {} more time by the model",
                       PLIM_FACTS(plim_percent("more", of->slowdown - 1)));
    } else if (of->slowdown > 0 && of->slowdown < 0.995) {
        plim_page_more(page, ", about {} less time by the model",
                       PLIM_FACTS(plim_percent("less", 1 - of->slowdown)));
    } else if (of->slowdown > 0) {
        plim_page_more(page, ", at the same speed by the model", NULL);
    }
}

static void say_stack(plim_page *page, const char *id, const char *lead, const trial *of)
{
    plim_page_say(page, id, PLIM_TONE_IN_USE, "{} {} ({}): {}{}",
                  PLIM_FACTS(plim_words(lead), plim_words(plim_fit_stack_text(page, of)),
                             plim_words(plim_technique_label_name(of->label)), at_least(of),
                             plim_bytes("device_bytes", of->peak.device_bytes)));
    if (of->host_bytes >= HOST_LEAST) {
        plim_page_more(page, " and {} of host memory",
                       PLIM_FACTS(plim_bytes("host_bytes", of->host_bytes)));
    }
    more_price(page, of);
    plim_page_more(page, ".", NULL);
}

/* With a figure below the capacity the reason says why it does not do: its bar, a margin. What ran
 * out with far more memory has no figure at all. */
static void say_plain(plim_page *page, const plim_fitted *fitted)
{
    const trial *const plain = fitted->plain;
    if (plain->verdict == PLIM_REHEARSED_OUT_OF_MEMORY && plain->reason != NULL) {
        plim_page_say(page, "needs", PLIM_TONE_BAD, "As it is, it does not fit into {}: {}.",
                      PLIM_FACTS(plim_bytes("capacity_bytes", fitted->capacity_bytes),
                                 plim_words(plain->reason)));
        return;
    }
    plim_page_say(page, "needs", PLIM_TONE_BAD, "As it is, it does not fit into {}: it needs {}{}",
                  PLIM_FACTS(plim_bytes("capacity_bytes", fitted->capacity_bytes), at_least(plain),
                             plim_bytes("device_bytes", plain->peak.device_bytes)));
    if (plain->peak.device_bytes <= fitted->capacity_bytes) {
        plim_page_more(page, " (at most {})",
                       PLIM_FACTS(plim_bytes("high_bytes", plain->bar.high_bytes)));
        if (plain->reason != NULL) {
            plim_page_more(page, ", and {}", PLIM_FACTS(plim_words(plain->reason)));
        }
    }
    plim_page_more(page, ".", NULL);
}

static void say_failure(plim_page *page, const plim_fitted *fitted)
{
    const char *const reason = fitted->plain->reason;
    plim_page_say(page, "failed", PLIM_TONE_BAD, "It could not be rehearsed as it is: {}.",
                  PLIM_FACTS(plim_words(reason != NULL ? reason : "the program failed")));
    plim_page_say(page, "see_rehearse", PLIM_TONE_FAINT,
                  "plimsoll rehearse shows what the program prints.", NULL);
}

/* Of the smallest: by how much it is too large, or why it does not do otherwise; of the program as
 * it is that was said. */
static void more_missing(plim_page *page, const plim_fitted *fitted)
{
    const trial *const smallest = fitted->smallest;
    const bool is_plain = smallest == NULL || smallest->use_count == 0;
    if (is_plain) {
        return;
    }
    if (smallest->peak.device_bytes > fitted->capacity_bytes || smallest->reason == NULL) {
        plim_page_more(page, ": {}{} are missing with {}",
                       PLIM_FACTS(at_least(smallest),
                                  plim_bytes("missing_bytes", fitted->missing_bytes),
                                  plim_words(plim_fit_stack_text(page, smallest))));
    } else {
        plim_page_more(page, ": with {} {}",
                       PLIM_FACTS(plim_words(plim_fit_stack_text(page, smallest)),
                                  plim_words(smallest->reason)));
    }
}

static void say_nothing_fits(plim_page *page, const plim_fitted *fitted)
{
    plim_page_say(page, "nothing_fits", PLIM_TONE_BAD, "Nothing that was tried fits", NULL);
    more_missing(page, fitted);
    plim_page_more(page, ".", NULL);
    if (fitted->enough != NULL) {
        plim_page_more(page,
                       fitted->is_enough_rehearsed
                           ? " That fits on {} with {}."
                           : " By these figures that would fit on {} with {}; it was not "
                             "rehearsed.",
                       PLIM_FACTS(plim_words(fitted->enough->name),
                                  plim_bytes("enough_bytes", fitted->enough->memory_bytes)));
    }
}

static void say_fits_plain(plim_page *page, const plim_fitted *fitted)
{
    const trial *const plain = fitted->cheapest;
    if (fitted->enough != NULL) {
        plim_page_say(page, "enough", PLIM_TONE_IN_USE,
                      fitted->is_enough_rehearsed
                          ? "The smallest GPU that is enough is {}: "
                          : "By the figures of a larger one, the smallest GPU that is enough is "
                            "{}; it was not rehearsed: ",
                      PLIM_FACTS(plim_words(fitted->enough->name)));
    } else {
        plim_page_say(page, "fits", PLIM_TONE_IN_USE, "It fits as it is: ", NULL);
    }
    plim_page_more(page, "{}{} of {}.",
                   PLIM_FACTS(at_least(plain), plim_bytes("device_bytes", plain->peak.device_bytes),
                              plim_bytes("capacity_bytes", fitted->capacity_bytes)));
}

static void warn_unconfirmed(plim_page *page, const trial *of)
{
    if (!of->is_confirmed) {
        plim_page_warn(page, "unconfirmed",
                       "That stack was not rehearsed with the GPU's own memory: its figures are of "
                       "a rehearsal with more.",
                       NULL);
    }
}

static void say_roomy(plim_page *page, const plim_fitted *fitted)
{
    if (fitted->roomy == NULL) {
        plim_page_say(page, "no_roomy", PLIM_TONE_PLAIN,
                      "Nothing that was tried leaves a tenth of the device free.", NULL);
    } else if (fitted->roomy == fitted->cheapest) {
        plim_page_say(page, "is_roomy", PLIM_TONE_PLAIN, "It leaves a tenth of the device free.",
                      NULL);
    } else {
        say_stack(page, "roomy", "With a tenth of the device to spare:", fitted->roomy);
        warn_unconfirmed(page, fitted->roomy);
    }
}

static void say_answer(plim_page *page, const plim_fitted *fitted)
{
    const trial *const cheapest = fitted->cheapest;
    if (fitted->plain->answer == PLIM_FIT_UNKNOWN) {
        say_failure(page, fitted);
    } else if (cheapest == NULL) {
        say_plain(page, fitted);
        say_nothing_fits(page, fitted);
    } else if (cheapest->use_count == 0) {
        say_fits_plain(page, fitted);
        if (fitted->enough == NULL) { /* a GPU that is looked for is the smallest, without room */
            say_roomy(page, fitted);
        }
    } else {
        say_plain(page, fitted);
        say_stack(page, "cheapest", "It fits with", cheapest);
        warn_unconfirmed(page, cheapest);
        say_roomy(page, fitted);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool has_figures(const trial *of)
{
    return (of->answer == PLIM_FIT_FITS || of->answer == PLIM_FIT_SHORT) && !of->is_predicted &&
           of->peak.device_bytes > 0;
}

/* Of the program as it is the figure itself, then what a stack adds to that or takes from it. */
static void put_change(plim_page *page, const plim_fitted *fitted, const trial *of, uint64_t bytes,
                       uint64_t plain_bytes)
{
    const double change = (double)bytes - (double)plain_bytes;
    if (of == fitted->plain) {
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, bytes));
    } else {
        plim_page_cell_text(page, PLIM_TONE_PLAIN, "{}{}",
                            PLIM_FACTS(plim_words(change > 0 ? "+" : ""),
                                       plim_real(PLIM_UNIT_LEVEL, NULL, change)));
    }
}

/* A technique a span, so that a stack breaks between them; those beyond the holes are one. */
static void put_stack(plim_page *page, const trial *of)
{
    static const char holes[] = "{}{}{}{}{}{}{}{}{}{}";
    enum { HOLES = (sizeof(holes) - 1) / 2 };
    const char *texts[HOLES - 1] = { "as it is" };
    plim_fact facts[HOLES + 1];
    size_t count = of->use_count == 0;
    for (size_t i = 0; i < of->use_count; i++) {
        const bool is_more = count == HOLES - 1;
        const size_t at = is_more ? count - 1 : count++;
        texts[at] =
            plim_page_text(page, "{}{}{}",
                           PLIM_FACTS(plim_words(is_more ? texts[at] : ""),
                                      plim_words(i > 0 ? " " : ""), plim_words(of->uses[i].text)));
    }
    for (size_t i = 0; i < count; i++) {
        facts[i] = plim_apart(plim_words(texts[i]));
    }
    if (of->host_bytes >= HOST_LEAST) {
        facts[count++] = plim_apart(plim_words(plim_page_text(
            page, " ({} host)", PLIM_FACTS(plim_bytes("host_bytes", of->host_bytes)))));
    }
    facts[count] = (plim_fact){ .unit = PLIM_UNIT_END };
    plim_page_cell_text(page, PLIM_TONE_PLAIN, holes + 2 * (HOLES - count), facts);
}

static void put_row(plim_page *page, const plim_fitted *fitted, const trial *of)
{
    static const char *const labels[] = {
        [PLIM_TECHNIQUE_SAME] = "same",
        [PLIM_TECHNIQUE_IN_EXPECTATION] = "in expectation",
        [PLIM_TECHNIQUE_CHANGED] = "changed",
    };
    const bool fits = of->answer == PLIM_FIT_FITS;
    const plim_rehearsed_peak *const plain = &fitted->plain->peak;
    plim_page_cell(page, fits ? PLIM_TONE_IN_USE : PLIM_TONE_BAD, plim_words(fits ? "yes" : "no"));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, of->peak.device_bytes));
    put_change(page, fitted, of, of->peak.allocated_bytes, plain->allocated_bytes);
    put_change(page, fitted, of, of->peak.reserved_bytes, plain->reserved_bytes);
    put_change(page, fitted, of, of->peak.device_bytes, plain->device_bytes);
    if (of->slowdown > 0) {
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_ratio("slowdown", of->slowdown));
    } else {
        plim_page_cell(page, PLIM_TONE_FAINT, plim_words("-"));
    }
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(of->use_count > 0 ? labels[of->label] : ""));
    put_stack(page, of);
}

/* A "no" beside a figure that is below the memory needs a reason; as it is has one above. */
static void say_bars(plim_page *page, const plim_fitted *fitted)
{
    for (size_t i = 0; i < fitted->trial_count; i++) {
        const trial *const of = &fitted->trials[i];
        if (of != fitted->plain && has_figures(of) && of->answer == PLIM_FIT_SHORT &&
            of->peak.device_bytes <= fitted->capacity_bytes) {
            plim_page_note(page, "bars", PLIM_TONE_FAINT,
                           "\"no\" beside less than {}: for the end of its error bar, the margin, "
                           "the host's memory, or because it ran out with the GPU's own memory. "
                           "The document has the reason of each.",
                           PLIM_FACTS(plim_bytes("capacity_bytes", fitted->capacity_bytes)));
            return;
        }
    }
}

static void say_trials(plim_page *page, const plim_fitted *fitted)
{
    static const plim_column columns[] = {
        { "fits", PLIM_ALIGN_LEFT, 0, 0 },       { "needs", PLIM_ALIGN_RIGHT, 0, 0 },
        { "allocated", PLIM_ALIGN_RIGHT, 1, 0 }, { "reserved", PLIM_ALIGN_RIGHT, 1, 0 },
        { "device", PLIM_ALIGN_RIGHT, 2, 0 },    { "time", PLIM_ALIGN_RIGHT, 0, 0 },
        { "result", PLIM_ALIGN_LEFT, 2, 0 },     { "with", PLIM_ALIGN_COPY, 0, 0 },
    };
    if (!has_figures(fitted->plain) || fitted->plain->verdict == PLIM_REHEARSED_OUT_OF_MEMORY) {
        return;
    }
    plim_page_heading(
        page, "Tried: the device use, and memory and time beside the program as it is", NULL);
    plim_page_table(page, "trials", columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < fitted->trial_count; i++) {
        if (has_figures(&fitted->trials[i])) {
            put_row(page, fitted, &fitted->trials[i]);
        }
    }
    say_bars(page, fitted);
}

/* "checkpoint: it has no blocks" is the reason of "checkpoint". */
static const char *without_name(const char *reason, const char *name)
{
    const size_t length = strlen(name);
    if (reason == NULL) {
        return "";
    }
    return strncmp(reason, name, length) == 0 && strncmp(reason + length, ": ", 2) == 0
               ? reason + length + 2
               : reason;
}

static const char *why_useless(const trial *of)
{
    switch (of->answer) {
    case PLIM_FIT_REFUSED:
        return "refused";
    case PLIM_FIT_NO_EFFECT:
        return "no effect";
    case PLIM_FIT_BROKEN:
        return of->use_count > 1 ? "the program fails with them" : "the program fails with it";
    case PLIM_FIT_FITS:
    case PLIM_FIT_SHORT:
        return "not rehearsed";
    case PLIM_FIT_UNKNOWN:
        break;
    }
    return "it could not be rehearsed";
}

/* Those that came to no figures, with the reason. */
static void say_others(plim_page *page, const plim_fitted *fitted)
{
    bool is_begun = false;
    for (size_t i = 0; i < fitted->trial_count; i++) {
        const trial *const of = &fitted->trials[i];
        if (has_figures(of) || of == fitted->plain) {
            continue;
        }
        if (!is_begun) {
            plim_page_heading(page, "Without an answer, or of no use here", NULL);
            is_begun = true;
        }
        const char *const stack = plim_fit_stack_text(page, of);
        const char *const reason = without_name(of->reason, stack);
        plim_page_note(page, plim_fit_answer_name(of->answer), PLIM_TONE_PLAIN, "{}: {}{}{}",
                       PLIM_FACTS(plim_words(stack), plim_words(why_useless(of)),
                                  plim_words(reason[0] != '\0' ? ": " : ""), plim_words(reason)));
    }
}

/* ---- the changes ----------------------------------------------------------------------------- */

static void say_lines(plim_page *page, const char *id, const char *text)
{
    while (text != NULL && text[0] != '\0') {
        const size_t length = strcspn(text, "\n");
        plim_page_note(page, id, PLIM_TONE_USER, "{}", PLIM_FACTS(plim_words_of(text, length)))
            ->layout = PLIM_LAYOUT_COPY;
        text += length + (text[length] == '\n');
    }
}

/* Diffs of one file stand in each other's way: of several, the one of all is shown. */
static bool is_in_one(const plim_fitted *fitted, size_t index)
{
    size_t count = 0;
    for (size_t i = 0; i < fitted->change_count; i++) {
        count += fitted->changes[i].diff != NULL && !fitted->changes[i].is_left_out;
    }
    const plim_fit_change *const change = &fitted->changes[index];
    return count > 1 && fitted->diff != NULL && change->diff != NULL && !change->is_left_out;
}

static void say_one_diff(plim_page *page, const plim_fitted *fitted)
{
    const char *text = "";
    for (size_t i = 0; i < fitted->change_count; i++) {
        if (is_in_one(fitted, i)) {
            text = plim_page_text(
                page, "{} {}", PLIM_FACTS(plim_words(text), plim_words(fitted->changes[i].text)));
        }
    }
    if (text[0] != '\0') {
        plim_page_heading(page, "In one diff:{}", PLIM_FACTS(plim_words(text)));
        say_lines(page, "diff", fitted->diff);
    }
}

static void say_code(plim_page *page, const plim_fit_change *change)
{
    if (change->diff != NULL) {
        say_lines(page, "diff", change->diff);
    } else {
        say_lines(page, "pytorch", change->pytorch);
    }
}

static void say_changes(plim_page *page, const plim_fitted *fitted)
{
    say_one_diff(page, fitted);
    for (size_t i = 0; i < fitted->change_count; i++) {
        const plim_fit_change *const change = &fitted->changes[i];
        const bool has_more =
            change->arguments != NULL || change->framework != NULL || change->note != NULL;
        if (is_in_one(fitted, i) && !has_more) {
            continue;
        }
        plim_page_heading(page, "{}", PLIM_FACTS(plim_words(change->text)));
        if (!is_in_one(fitted, i)) {
            say_code(page, change);
        }
        if (change->arguments != NULL) {
            plim_page_note(page, "arguments", PLIM_TONE_FAINT, "or, in TrainingArguments:", NULL);
            say_lines(page, "argument", change->arguments);
        }
        if (change->framework != NULL) {
            plim_page_note(page, "framework", PLIM_TONE_FAINT, "or, by the framework:", NULL);
            say_lines(page, "framework_line", change->framework);
        }
        if (change->note != NULL) {
            plim_page_note(page, "note", PLIM_TONE_PLAIN, "{}",
                           PLIM_FACTS(plim_words(change->note)));
        }
    }
}

/* ---- the page -------------------------------------------------------------------------------- */

static void say_head(plim_page *page, const char *const *argv, const plim_fitted *fitted)
{
    plim_page_say(page, "command", PLIM_TONE_HEADING, "", NULL)->layout = PLIM_LAYOUT_CUT;
    for (const char *const *word = argv; *word != NULL; word++) {
        const plim_fact quote = plim_words(plim_page_quote(*word));
        plim_page_more(page, word != argv ? " {}{}{}" : "{}{}{}",
                       PLIM_FACTS(quote, plim_words(*word), quote));
    }
    plim_page_say(page, "gpu", PLIM_TONE_FAINT, "{} with {}",
                  PLIM_FACTS(plim_words(fitted->gpu->name),
                             plim_bytes("capacity_bytes", fitted->capacity_bytes)));
    plim_page_gap(page);
}

/* Stacks that a rehearsal answered for, the program as it is not counted. */
static uint64_t count_tried(const plim_fitted *fitted)
{
    uint64_t count = 0;
    for (size_t i = 0; i < fitted->trial_count; i++) {
        const trial *const of = &fitted->trials[i];
        const bool has_answer = of->answer == PLIM_FIT_REFUSED || of->answer == PLIM_FIT_NO_EFFECT;
        count += of != fitted->plain && (!of->is_predicted || has_answer);
    }
    return count;
}

static void say_stop(plim_page *page, const plim_fitted *fitted)
{
    const bool is_budget = strcmp(fitted->stopped, "budget") == 0;
    plim_page_warn(page, "stopped", "The search ended early, with its budget of {}: {}.",
                   PLIM_FACTS(plim_words(is_budget ? "time" : "rehearsals"),
                              plim_words(fitted->cheapest != NULL
                                             ? "a cheaper stack may have been missed"
                                             : "a stack that fits may have been missed")));
}

static void say_conditions(plim_page *page, const plim_fitted *fitted)
{
    const uint64_t tried = count_tried(fitted);
    if (fitted->plain->answer == PLIM_FIT_UNKNOWN) {
        return;
    }
    plim_page_gap(page);
    plim_page_say(page, "conditions", PLIM_TONE_FAINT, "", NULL);
    if (tried > 0) {
        plim_page_more(page, "Stacks tried: {}. ", PLIM_FACTS(plim_count("trials", tried)));
    }
    plim_page_more(page,
                   "Memory is rehearsed; time is modelled from the work of the calls, not "
                   "measured.",
                   NULL);
    if (fitted->stopped != NULL) {
        say_stop(page, fitted);
    }
}

void plim_fit_page(plim_page *page, const char *const *argv, const plim_fitted *fitted)
{
    say_head(page, argv, fitted);
    say_answer(page, fitted);
    say_trials(page, fitted);
    say_others(page, fitted);
    plim_fit_say_batches(page, fitted);
    plim_fit_say_cards(page, fitted);
    say_changes(page, fitted);
    say_conditions(page, fitted);
}
