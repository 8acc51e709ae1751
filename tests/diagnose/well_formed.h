/*
 * well_formed.h - what holds of every diagnosis, whatever the history.
 */
#ifndef PLIMSOLL_TESTS_WELL_FORMED_H
#define PLIMSOLL_TESTS_WELL_FORMED_H

#include "harness.h"
#include "plimsoll/diagnose.h"

#include <math.h>

static inline size_t holes_in(const char *text)
{
    size_t holes = 0;
    for (const char *hole = text; (hole = strstr(hole, "{}")) != NULL; hole += 2) {
        holes++;
    }
    return holes;
}

static inline void place_is_there(const plim_history *history, plim_code_place place)
{
    T_TRUE(place.stack == PLIM_NONE || place.stack < plim_history_stack_count(history));
    T_TRUE(place.frame == PLIM_NONE || place.frame < plim_history_frame_count(history));
}

static inline void evidence_is_well_formed(const plim_history *history,
                                           const plim_evidence_line *line)
{
    T_TRUE(line->id != NULL && line->text != NULL);
    T_TRUE(line->figure_count <= PLIM_EVIDENCE_FIGURES_MAX);
    T_EQ_U64(holes_in(line->text), line->figure_count);
    for (size_t i = 0; i < line->figure_count; i++) {
        const plim_evidence_figure *const figure = &line->figures[i];
        T_TRUE(figure->name != NULL);
        T_TRUE(figure->unit == PLIM_FIGURE_WORD || isfinite(figure->value));
        T_TRUE(figure->unit != PLIM_FIGURE_WORD || figure->word != NULL);
        T_TRUE(figure->unit != PLIM_FIGURE_FRAME ||
               figure->value < (double)plim_history_frame_count(history));
    }
}

static inline void finding_is_well_formed(const plim_history *history,
                                          const plim_device_diagnosis *device,
                                          const plim_diagnosis_finding *finding)
{
    T_TRUE(finding->kind < PLIM_VERDICT_COUNT && finding->cause < PLIM_CAUSE_COUNT);
    T_TRUE(finding->finding.id != NULL && finding->finding.figure_count <= PLIM_MEASURES_MAX);
    T_TRUE(finding->confidence >= 0 && finding->confidence <= 1);
    T_TRUE(finding->keeper_confidence >= 0 && finding->keeper_confidence <= 1);
    T_TRUE(finding->growth_bytes_per_step >= 0 && isfinite(finding->growth_bytes_per_step));
    T_TRUE(finding->growth_low_bytes_per_step <= finding->growth_bytes_per_step &&
           finding->growth_bytes_per_step <= finding->growth_high_bytes_per_step);
    T_TRUE(finding->period_steps >= 0 && isfinite(finding->period_steps));
    T_TRUE(!finding->has_full_step || isfinite(finding->full_at_step));
    T_TRUE(finding->first_step == PLIM_NO_STEP || finding->first_step < device->step_count ||
           device->step_count == 0);
    place_is_there(history, finding->root);
    place_is_there(history, finding->keeper);
    for (size_t i = 0; i < finding->member_count; i++) {
        place_is_there(history, finding->members[i].place);
    }
    for (size_t i = 0; i < finding->evidence_count; i++) {
        evidence_is_well_formed(history, &finding->evidence[i]);
    }
}

static inline void sums_add_up(const plim_device_composition *made)
{
    uint64_t bytes = 0;
    bool is_cut = false; /* at 2^64 - 1 */
    for (size_t i = 0; i < made->sum_count; i++) {
        T_TRUE(made->sums[i].name != NULL);
        is_cut = is_cut || made->sums[i].bytes > UINT64_MAX / 16;
        bytes += made->sums[i].bytes;
    }
    if (made->sum_count > 0 && !is_cut && made->requested_bytes < UINT64_MAX / 16) {
        T_EQ_U64(bytes, made->requested_bytes);
    }
    T_TRUE(made->unknown_bytes <= made->requested_bytes);
}

static inline void device_is_well_formed(const plim_history *history,
                                         const plim_device_diagnosis *device)
{
    bool is_decided = false;
    for (size_t i = 0; i < device->finding_count; i++) {
        const plim_diagnosis_finding *const finding = &device->findings[i];
        finding_is_well_formed(history, device, finding);
        T_TRUE(!finding->decides || i == 0 || device->findings[i - 1].decides);
        T_TRUE(!finding->decides || !plim_verdict_precedes(finding->kind, device->verdict));
        is_decided = is_decided || finding->decides;
    }
    T_TRUE(is_decided || device->verdict == PLIM_VERDICT_HEALTHY);
    T_TRUE(!is_decided || device->verdict == device->findings[0].kind);
    T_TRUE(device->confidence >= 0 && device->confidence <= 1);
    sums_add_up(&device->peak);
    for (size_t i = 0; i < device->failure_count; i++) {
        sums_add_up(&device->failures[i]);
    }
    for (size_t i = 0; i < device->composition_step_count; i++) {
        sums_add_up(&device->steps[i]);
    }
    for (size_t i = 0; i < device->advice_count; i++) {
        T_TRUE(device->advice[i].technique != NULL && device->advice[i].text != NULL);
        T_TRUE(!device->advice[i].has_saving ||
               device->advice[i].saves_bytes <= device->facts->peak.requested_bytes ||
               device->advice[i].saves_bytes <= device->facts->peak.reserved_bytes);
    }
}

static inline void diagnosis_is_well_formed(const plim_history *history,
                                            const plim_diagnosis *diagnosis)
{
    for (size_t i = 0; i < plim_diagnosis_device_count(diagnosis); i++) {
        device_is_well_formed(history, plim_diagnosis_device(diagnosis, i));
    }
}

#endif
