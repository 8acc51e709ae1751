/*
 * diagnose.c - the page of a file: its devices, and of the worst the verdict, the evidence, what is
 * missing and what helps; with --all of every device all that is known.
 */
#include "report/model/diagnose.h"

#include "base/ascii.h"
#include "base/numbers.h"
#include "report/model/diagnose_parts.h"
#include "report/model/frame_text.h"
#include "report/model/inspect_parts.h"

#include <string.h>

static plim_fact fact_of(plim_page *page, const plim_history *history,
                         const plim_evidence_figure *figure)
{
    switch (figure->unit) {
    case PLIM_FIGURE_BYTES:
    case PLIM_FIGURE_BYTES_PER_STEP:
        return plim_bytes(figure->name, plim_whole(figure->value));
    case PLIM_FIGURE_AMOUNT:
        return plim_count(figure->name, plim_whole(figure->value));
    case PLIM_FIGURE_STEP:
        return plim_plain(figure->name, plim_whole(figure->value));
    case PLIM_FIGURE_STEPS:
        return plim_number(figure->name, figure->value);
    case PLIM_FIGURE_SHARE:
        return plim_percent(figure->name, figure->value);
    case PLIM_FIGURE_FRAME:
        return plim_frame_words(page, "", history, (uint32_t)figure->value, false);
    case PLIM_FIGURE_WORD:
        break;
    }
    return plim_words(figure->word);
}

static bool ends_sentence(const char *text)
{
    return strchr(".:?!", text[strlen(text) - 1]) != NULL;
}

#define PLURAL_BYTES_MIN 5u /* "times"; shorter words are "is", "was" */

/* The text with its nouns in the singular after an amount of 1: "{} allocations" of 1 is "{}
 * allocation". "1 of the {} stacks" stays. NULL: no memory. */
static const char *agreeing_text(plim_page *page, const plim_evidence_line *line)
{
    static const char the[] = "the ";
    const char *from = line->text;
    char *const text = plim_page_alloc(page, strlen(from) + 1, 1);
    char *to = text;
    for (size_t hole = 0; text != NULL && *from != '\0';) {
        const bool is_hole = strncmp(from, "{}", 2) == 0 && hole < line->figure_count;
        if (!is_hole) {
            *to++ = *from++;
            continue;
        }
        const plim_evidence_figure *const figure = &line->figures[hole++];
        const bool is_one = figure->unit == PLIM_FIGURE_AMOUNT && plim_whole(figure->value) == 1 &&
                            !(from - line->text >= (ptrdiff_t)sizeof the - 1 &&
                              strncmp(from - (sizeof the - 1), the, sizeof the - 1) == 0);
        size_t word = 3; /* "{} " */
        while (is_one && from[2] == ' ' && plim_is_lower(from[word])) {
            word++;
        }
        const bool is_plural = is_one && word >= 3 + PLURAL_BYTES_MIN && from[word - 1] == 's';
        const size_t kept = is_plural ? word - 1 : 2;
        memcpy(to, from, kept);
        to += kept;
        from += is_plural ? word : 2;
    }
    return text;
}

/* Detectors write half sentences and whole ones; both become whole. */
static const char *sentence_of(plim_page *page, const plim_history *history,
                               const plim_evidence_line *line)
{
    plim_fact facts[PLIM_EVIDENCE_FIGURES_MAX + 1];
    size_t count = 0;
    for (; count < line->figure_count; count++) {
        facts[count] = fact_of(page, history, &line->figures[count]);
    }
    facts[count] = (plim_fact){ .unit = PLIM_UNIT_END };
    const char *const agreeing = agreeing_text(page, line);
    const char *const text = plim_page_text(page, agreeing != NULL ? agreeing : line->text, facts);
    const char first[] = { line->text[0] == '{' ? text[0] : plim_upper(text[0]), '\0' };
    return *text != '\0' ? plim_page_text(page, ends_sentence(text) ? "{}{}" : "{}{}.",
                                          PLIM_FACTS(plim_words(first), plim_words(text + 1)))
                         : text;
}

static size_t sentence_count(const plim_diagnosis *diagnosis)
{
    size_t count = 0;
    for (size_t d = 0; d < plim_diagnosis_device_count(diagnosis); d++) {
        const plim_device_diagnosis *const device = plim_diagnosis_device(diagnosis, d);
        for (size_t i = 0; i < device->finding_count; i++) {
            count += device->findings[i].evidence_count;
        }
    }
    return count;
}

void plim_diagnose_sentences(plim_page *page, plim_diagnosed *file)
{
    size_t next = 0;
    if (file->sentences != NULL) {
        return;
    }
    file->sentences =
        plim_page_alloc(page, sentence_count(file->diagnosis) + 1, sizeof *file->sentences);
    if (file->sentences == NULL) {
        return;
    }
    for (size_t d = 0; d < plim_diagnosis_device_count(file->diagnosis); d++) {
        const plim_device_diagnosis *const device = plim_diagnosis_device(file->diagnosis, d);
        for (size_t i = 0; i < device->finding_count; i++) {
            for (size_t k = 0; k < device->findings[i].evidence_count; k++) {
                file->sentences[next++] =
                    sentence_of(page, file->history, &device->findings[i].evidence[k]);
            }
        }
    }
}

/* --- the page --- */

size_t plim_diagnose_worst(const plim_diagnosis *diagnosis)
{
    size_t worst = 0;
    for (size_t i = 1; i < plim_diagnosis_device_count(diagnosis); i++) {
        if (plim_verdict_precedes(plim_diagnosis_device(diagnosis, i)->verdict,
                                  plim_diagnosis_device(diagnosis, worst)->verdict)) {
            worst = i;
        }
    }
    return worst;
}

plim_diagnose_part plim_diagnose_part_of(plim_page *page, const plim_diagnose_view *view,
                                         const plim_diagnosed *file, size_t index)
{
    const char *const *sentences = file->sentences;
    for (size_t d = 0; d < index; d++) {
        const plim_device_diagnosis *const before = plim_diagnosis_device(file->diagnosis, d);
        for (size_t i = 0; i < before->finding_count; i++) {
            sentences += before->findings[i].evidence_count;
        }
    }
    return (plim_diagnose_part){ .page = page,
                                 .view = view,
                                 .history = file->history,
                                 .device = plim_diagnosis_device(file->diagnosis, index),
                                 .sentences = sentences };
}

/* A row of each device, where there are several: pinned host memory is one. */
static void say_devices(plim_page *page, const plim_diagnosis *diagnosis)
{
    static const plim_column columns[] = {
        { "device", PLIM_ALIGN_LEFT, 0, 0 },    { "requested", PLIM_ALIGN_RIGHT, 0, 0 },
        { "reserved", PLIM_ALIGN_RIGHT, 0, 0 }, { "OOM", PLIM_ALIGN_RIGHT, 1, 0 },
        { "verdict", PLIM_ALIGN_LEFT, 0, 0 },
    };
    plim_page_gap(page);
    plim_page_table(page, "devices", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < plim_diagnosis_device_count(diagnosis); i++) {
        const plim_device_diagnosis *const device = plim_diagnosis_device(diagnosis, i);
        const plim_device_inspection *const facts = device->facts;
        const bool has_peak = device->has_events;
        plim_page_cell(page, PLIM_TONE_HEADING, plim_words(plim_device_name(page, device->device)));
        plim_page_cell(page, PLIM_TONE_PLAIN,
                       plim_bytes("requested_bytes", has_peak ? facts->peak.requested_bytes
                                                              : facts->end.requested_bytes));
        plim_page_cell(page, PLIM_TONE_PLAIN,
                       plim_bytes("reserved_bytes", has_peak ? facts->peak.reserved_bytes
                                                             : facts->end.reserved_bytes));
        plim_page_cell(page, facts->oom_count > 0 ? PLIM_TONE_BAD : PLIM_TONE_PLAIN,
                       plim_count("ooms", facts->oom_count));
        plim_page_cell(page,
                       device->verdict == PLIM_VERDICT_HEALTHY ? PLIM_TONE_PLAIN : PLIM_TONE_BAD,
                       plim_words(plim_verdict_name(device->verdict)));
    }
}

static void say_device(const plim_diagnose_part *self)
{
    plim_diagnose_verdict(self);
    plim_diagnose_lacks(self);
    plim_diagnose_findings(self);
    plim_diagnose_fixes(self);
    if (self->view->all) {
        plim_diagnose_composition(self);
        plim_diagnose_fragmentation(self);
    }
}

static bool is_shown(const plim_diagnose_view *view, const plim_device_diagnosis *device,
                     bool is_worst)
{
    return view->one_device ? device->device == view->device : view->all || is_worst;
}

/* The devices that are wanted; returns how many there are. */
static size_t say_wanted(plim_page *page, const plim_diagnose_view *view, plim_diagnosed *file)
{
    const size_t worst = plim_diagnose_worst(file->diagnosis);
    size_t shown = 0;
    for (size_t d = 0; d < plim_diagnosis_device_count(file->diagnosis); d++) {
        if (is_shown(view, plim_diagnosis_device(file->diagnosis, d), d == worst)) {
            const plim_diagnose_part part = plim_diagnose_part_of(page, view, file, d);
            say_device(&part);
            shown++;
        }
    }
    return shown;
}

void plim_diagnose_page(plim_page *page, const plim_diagnose_view *view, plim_diagnosed *file)
{
    plim_diagnose_sentences(page, file);
    if (file->sentences == NULL) {
        return;
    }
    const size_t count = plim_diagnosis_device_count(file->diagnosis);
    plim_page_file(page, file->path);
    if (file->holders_error.status != PLIM_OK) {
        plim_page_warn(page, "no_holders", "The document of holders beside it is not used: {}.",
                       PLIM_FACTS(plim_words(file->holders_error.message)));
    }
    if (count > 1) {
        say_devices(page, file->diagnosis);
    }
    const size_t shown = say_wanted(page, view, file);
    plim_page_gap(page);
    if (shown == 0 && view->one_device) {
        plim_page_say(page, "no_such_device", PLIM_TONE_WARN, "The file knows no device {}.",
                      PLIM_FACTS(plim_id("device", view->device)));
    } else if (shown == 0) {
        plim_page_say(page, "empty", PLIM_TONE_WARN, "The file is empty: no events, no segments.",
                      NULL);
    } else {
        plim_page_say(page, "next", PLIM_TONE_FAINT, "Next: {}--json everything",
                      PLIM_FACTS(plim_words(view->all ? "" : "--all shows the rest, ")));
    }
}
