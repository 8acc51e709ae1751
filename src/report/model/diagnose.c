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

void plim_diagnose_say_evidence(plim_page *page, const plim_history *history,
                                const plim_evidence_line *line)
{
    plim_fact facts[PLIM_EVIDENCE_FIGURES_MAX + 1];
    size_t count = 0;
    for (; count < line->figure_count; count++) {
        facts[count] = fact_of(page, history, &line->figures[count]);
    }
    facts[count] = (plim_fact){ .unit = PLIM_UNIT_END };
    plim_page_note(page, line->id, PLIM_TONE_PLAIN, line->text, facts);
}

static void say_finding(plim_page *page, const plim_diagnosed *file,
                        const plim_diagnosis_finding *finding)
{
    plim_page_say(page, finding->finding.id, PLIM_TONE_HEADING, "{}: {}",
                  PLIM_FACTS(plim_words(plim_verdict_name(finding->kind)),
                             plim_words(plim_cause_text(finding->cause))));
    for (size_t i = 0; i < finding->evidence_count; i++) {
        plim_diagnose_say_evidence(page, file->history, &finding->evidence[i]);
    }
}

void plim_diagnose_page(plim_page *page, const plim_diagnose_view *view,
                        const plim_diagnosed *files, size_t count)
{
    (void)view;
    for (size_t i = 0; i < count; i++) {
        if (files[i].history == NULL) {
            continue;
        }
        plim_page_file(page, files[i].path);
        for (size_t d = 0; d < plim_diagnosis_device_count(files[i].diagnosis); d++) {
            const plim_device_diagnosis *const device =
                plim_diagnosis_device(files[i].diagnosis, d);
            plim_page_say(page, "verdict", PLIM_TONE_HEADING, "{}",
                          PLIM_FACTS(plim_words(plim_verdict_name(device->verdict))));
            for (size_t k = 0; k < device->finding_count; k++) {
                say_finding(page, &files[i], &device->findings[k]);
            }
        }
    }
}
