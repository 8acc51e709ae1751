/*
 * fit.c - the page of a search for techniques. See fit.h.
 *
 * The order: does it fit, with what, at which price; what was tried; how to write it down; and
 * what the answer rests on.
 */
#include "report/model/fit.h"

#include "base/numbers.h"

#include <string.h>

typedef plim_fit_trial trial;

const char *plim_fit_answer_name(plim_fit_answer answer)
{
    static const char *const names[] = {
        [PLIM_FIT_FITS] = "fits",       [PLIM_FIT_SHORT] = "short",
        [PLIM_FIT_REFUSED] = "refused", [PLIM_FIT_NO_EFFECT] = "no_effect",
        [PLIM_FIT_BROKEN] = "broken",   [PLIM_FIT_UNKNOWN] = "unknown",
    };
    return names[answer];
}

const char *plim_fit_stack_text(plim_page *page, const plim_fit_trial *of)
{
    const char *text = of->use_count == 0 ? "as it is" : of->uses[0].text;
    for (size_t i = 1; i < of->use_count; i++) {
        text = plim_page_text(page, "{} {}",
                              PLIM_FACTS(plim_words(text), plim_words(of->uses[i].text)));
    }
    return text;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static bool is_at_least(const trial *of)
{
    return of->verdict == PLIM_REHEARSED_AT_LEAST;
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
                             plim_words(plim_technique_label_name(of->label)),
                             plim_words(is_at_least(of) ? "at least " : ""),
                             plim_bytes("device_bytes", of->peak.device_bytes)));
    more_price(page, of);
    plim_page_more(page, ".", NULL);
}

static void say_plain(plim_page *page, const plim_fitted *fitted)
{
    const trial *const plain = fitted->plain;
    plim_page_say(page, "needs", PLIM_TONE_BAD, "As it is, it does not fit into {}: it needs {}{}.",
                  PLIM_FACTS(plim_bytes("capacity_bytes", fitted->capacity_bytes),
                             plim_words(is_at_least(plain) ? "at least " : ""),
                             plim_bytes("device_bytes", plain->peak.device_bytes)));
}

static void say_nothing_fits(plim_page *page, const plim_fitted *fitted)
{
    plim_page_say(page, "nothing_fits", PLIM_TONE_BAD, "Nothing that was tried fits", NULL);
    if (fitted->smallest != NULL) {
        plim_page_more(page, ": {} are missing with {}",
                       PLIM_FACTS(plim_bytes("missing_bytes", fitted->missing_bytes),
                                  plim_words(plim_fit_stack_text(page, fitted->smallest))));
    }
    plim_page_more(page, ".", NULL);
    if (fitted->enough != NULL) {
        plim_page_more(page, " By these figures it would fit on {} with {}.",
                       PLIM_FACTS(plim_words(fitted->enough->name),
                                  plim_bytes("enough_bytes", fitted->enough->memory_bytes)));
    }
}

static void say_answer(plim_page *page, const plim_fitted *fitted)
{
    const trial *const cheapest = fitted->cheapest;
    if (cheapest == NULL) {
        say_plain(page, fitted);
        say_nothing_fits(page, fitted);
        return;
    }
    if (cheapest->use_count == 0) {
        plim_page_say(page, "fits", PLIM_TONE_IN_USE, "It fits as it is: {}{} of {}.",
                      PLIM_FACTS(plim_words(is_at_least(cheapest) ? "at least " : ""),
                                 plim_bytes("device_bytes", cheapest->peak.device_bytes),
                                 plim_bytes("capacity_bytes", fitted->capacity_bytes)));
    } else {
        say_plain(page, fitted);
        say_stack(page, "cheapest", "It fits with", cheapest);
        if (!cheapest->is_confirmed) {
            plim_page_warn(page, "unconfirmed",
                           "That stack was not rehearsed with the GPU's own capacity.", NULL);
        }
    }
    if (fitted->roomy != NULL && fitted->roomy != cheapest) {
        say_stack(page, "roomy", "With a tenth of the device to spare:", fitted->roomy);
    } else if (fitted->roomy == NULL) {
        plim_page_say(page, "no_roomy", PLIM_TONE_PLAIN,
                      "Nothing that was tried leaves a tenth of the device free.", NULL);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool has_figures(const trial *of)
{
    return (of->answer == PLIM_FIT_FITS || of->answer == PLIM_FIT_SHORT) &&
           of->peak.device_bytes > 0;
}

static void put_row(plim_page *page, const trial *of)
{
    const bool fits = of->answer == PLIM_FIT_FITS;
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(plim_fit_stack_text(page, of)));
    plim_page_cell(page, fits ? PLIM_TONE_IN_USE : PLIM_TONE_BAD,
                   plim_words(of->is_predicted ? "bound"
                              : fits           ? "fits"
                                               : "short"));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, of->peak.allocated_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, of->peak.reserved_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, of->peak.device_bytes));
    if (of->slowdown > 0) {
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_ratio("slowdown", of->slowdown));
    } else {
        plim_page_cell(page, PLIM_TONE_FAINT, plim_words("-"));
    }
    plim_page_cell(page, PLIM_TONE_PLAIN,
                   plim_words(of->use_count > 0 ? plim_technique_label_name(of->label) : ""));
}

static void say_trials(plim_page *page, const plim_fitted *fitted)
{
    static const plim_column columns[] = {
        { "with", PLIM_ALIGN_LEFT, 0, 0 },        { "", PLIM_ALIGN_LEFT, 0, 0 },
        { "allocated", PLIM_ALIGN_RIGHT, 2, 0 },  { "reserved", PLIM_ALIGN_RIGHT, 1, 0 },
        { "device use", PLIM_ALIGN_RIGHT, 0, 0 }, { "time", PLIM_ALIGN_RIGHT, 0, 0 },
        { "result", PLIM_ALIGN_LEFT, 0, 0 },
    };
    plim_page_heading(page, "Tried", NULL);
    plim_page_table(page, "trials", columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < fitted->trial_count; i++) {
        if (has_figures(&fitted->trials[i])) {
            put_row(page, &fitted->trials[i]);
        }
    }
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

/* Those that came to no figures, with the reason. */
static void say_others(plim_page *page, const plim_fitted *fitted)
{
    static const char *const words[] = {
        [PLIM_FIT_FITS] = "not rehearsed",
        [PLIM_FIT_SHORT] = "not rehearsed",
        [PLIM_FIT_REFUSED] = "refused",
        [PLIM_FIT_NO_EFFECT] = "no effect",
        [PLIM_FIT_BROKEN] = "the program fails with it",
        [PLIM_FIT_UNKNOWN] = "could not be rehearsed",
    };
    bool is_begun = false;
    for (size_t i = 0; i < fitted->trial_count; i++) {
        const trial *const of = &fitted->trials[i];
        if (has_figures(of)) {
            continue;
        }
        if (!is_begun) {
            plim_page_heading(page, "Of no use here", NULL);
            is_begun = true;
        }
        const char *const stack = plim_fit_stack_text(page, of);
        const char *const reason = without_name(of->reason, stack);
        plim_page_note(page, plim_fit_answer_name(of->answer), PLIM_TONE_PLAIN, "{}: {}{}{}",
                       PLIM_FACTS(plim_words(stack), plim_words(words[of->answer]),
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

static void say_changes(plim_page *page, const plim_fitted *fitted)
{
    for (size_t i = 0; i < fitted->change_count; i++) {
        const plim_fit_change *const change = &fitted->changes[i];
        plim_page_heading(page, "{}", PLIM_FACTS(plim_words(change->text)));
        if (change->diff != NULL) {
            say_lines(page, "diff", change->diff);
        } else {
            say_lines(page, "pytorch", change->pytorch);
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

static void say_conditions(plim_page *page, const plim_fitted *fitted)
{
    plim_page_gap(page);
    plim_page_say(
        page, "conditions", PLIM_TONE_FAINT,
        "Stacks tried: {}. Memory is rehearsed; time is modelled from the work of the calls, "
        "not measured.",
        PLIM_FACTS(plim_count("trials", fitted->trial_count)));
    if (fitted->stopped != NULL) {
        plim_page_warn(page, "stopped",
                       "The search ended early ({}): a cheaper stack may have been missed.",
                       PLIM_FACTS(plim_words(fitted->stopped)));
    }
}

void plim_fit_page(plim_page *page, const char *const *argv, const plim_fitted *fitted)
{
    say_head(page, argv, fitted);
    say_answer(page, fitted);
    say_trials(page, fitted);
    say_others(page, fitted);
    say_changes(page, fitted);
    say_conditions(page, fitted);
}
