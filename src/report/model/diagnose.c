/*
 * diagnose.c - see diagnose.h.
 */
#include "report/model/diagnose.h"

#include "report/model/frame_text.h"

static plim_fact fact_of(plim_page *page, const plim_history *history,
                         const plim_evidence_figure *figure)
{
    switch (figure->unit) {
    case PLIM_FIGURE_BYTES:
    case PLIM_FIGURE_BYTES_PER_STEP:
        return plim_bytes(figure->name, (uint64_t)figure->value);
    case PLIM_FIGURE_AMOUNT:
        return plim_count(figure->name, (uint64_t)figure->value);
    case PLIM_FIGURE_STEP:
        return plim_plain(figure->name, (uint64_t)figure->value);
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

static const char *sentence_of(plim_page *page, const plim_history *history,
                               const plim_evidence_line *line)
{
    plim_fact facts[PLIM_EVIDENCE_FIGURES_MAX + 1];
    size_t count = 0;
    for (; count < line->figure_count; count++) {
        facts[count] = fact_of(page, history, &line->figures[count]);
    }
    facts[count] = (plim_fact){ .unit = PLIM_UNIT_END };
    return plim_page_text(page, line->text, facts);
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

static void say_finding(plim_page *page, const plim_diagnosis_finding *finding,
                        const char *const *sentences)
{
    plim_page_say(page, finding->finding.id, PLIM_TONE_HEADING, "{}: {}",
                  PLIM_FACTS(plim_words(plim_verdict_name(finding->kind)),
                             plim_words(plim_cause_text(finding->cause))));
    for (size_t i = 0; i < finding->evidence_count; i++) {
        plim_page_note(page, finding->evidence[i].id, PLIM_TONE_PLAIN, "{}",
                       PLIM_FACTS(plim_words(sentences[i])));
    }
}

void plim_diagnose_page(plim_page *page, const plim_diagnose_view *view, plim_diagnosed *file)
{
    (void)view;
    plim_diagnose_sentences(page, file);
    const char *const *sentences = file->sentences;
    if (sentences == NULL) {
        return;
    }
    plim_page_file(page, file->path);
    for (size_t d = 0; d < plim_diagnosis_device_count(file->diagnosis); d++) {
        const plim_device_diagnosis *const device = plim_diagnosis_device(file->diagnosis, d);
        plim_page_say(page, "verdict", PLIM_TONE_HEADING, "{}",
                      PLIM_FACTS(plim_words(plim_verdict_name(device->verdict))));
        for (size_t i = 0; i < device->finding_count; i++) {
            say_finding(page, &device->findings[i], sentences);
            sentences += device->findings[i].evidence_count;
        }
    }
}
