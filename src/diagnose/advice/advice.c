/*
 * advice.c - what helps, and what it saves: fixes of causes, techniques, the allocator's settings.
 */
#include "diagnose/advice/fixes.h"
#include "diagnose/advice/techniques.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define BOUND_WORTH      0.25
#define SAVING_SHARE_MIN 0.01 /* of the peak: what saves less is not worth a change */

/* The saving, less the more it costs; of a bound a quarter, as it may be far from the outcome. */
static double worth(const plim_diagnosis_advice *advice)
{
    const double likely = advice->basis == PLIM_BASIS_BOUNDED ? BOUND_WORTH : 1;
    return advice->has_saving ? (double)advice->saves_bytes * likely * (1 - advice->cost_rank) : 0;
}

/* Answers to the verdict come first; then by worth; equals by name. */
static int compare(const void *left_item, const void *right_item)
{
    const plim_advice_item *const left = left_item;
    const plim_advice_item *const right = right_item;
    if (left->decides != right->decides) {
        return left->decides ? -1 : 1;
    }
    const double more = worth(&right->advice) - worth(&left->advice);
    return more > 0 ? 1 : more < 0 ? -1 : strcmp(left->advice.technique, right->advice.technique);
}

/* The finding whose cause a technique ends, or NULL. */
static const plim_diagnosis_finding *answered(const plim_case *one, plim_cause cause)
{
    for (size_t i = 0; i < one->findings.count && cause != PLIM_CAUSE_UNKNOWN; i++) {
        if (one->findings.items[i].cause == cause) {
            return &one->findings.items[i];
        }
    }
    return NULL;
}

/* The saving of a technique: as the history shows it, else what the verdict's finding has at stake.
 * False: it is not worth a word. */
static bool find_saving(const plim_advised_technique *technique,
                        const plim_diagnosis_finding *finding, uint64_t saved, uint64_t peak_bytes,
                        plim_diagnosis_advice *advice)
{
    advice->has_saving = true;
    advice->saves_bytes = saved;
    if (saved > 0 && (double)saved >= SAVING_SHARE_MIN * (double)peak_bytes) {
        return true;
    }
    if (finding == NULL || !finding->decides || technique->answers == PLIM_CAUSE_UNKNOWN ||
        finding->bytes == 0) {
        return false;
    }
    advice->saves_bytes = finding->bytes < peak_bytes ? finding->bytes : peak_bytes;
    advice->basis = PLIM_BASIS_BOUNDED;
    return advice->saves_bytes > 0;
}

/* Each technique that applies, with what the history would save with it. */
static bool try_techniques(const plim_program_shape *shape, plim_what_if *what_if,
                           plim_advice_list *list)
{
    size_t count = 0;
    const plim_advised_technique *const techniques = plim_techniques(&count);
    for (size_t i = 0; i < count; i++) {
        const plim_advised_technique *const technique = &techniques[i];
        if (!technique->applies(shape)) {
            continue;
        }
        if (!technique->change_history(shape, what_if)) {
            return false;
        }
        const plim_diagnosis_finding *const finding = answered(shape->one, technique->answers);
        plim_diagnosis_advice advice = {
            .finding = finding != NULL ? finding->finding.id : NULL,
            .technique = technique->name,
            .text = technique->text,
            .basis = shape->is_whole ? technique->basis : PLIM_BASIS_BOUNDED,
            .cost = technique->cost,
            .cost_rank = technique->cost_rank,
            .change = technique->change,
        };
        if (find_saving(technique, finding, plim_what_if_saves(what_if), what_if->peak_bytes,
                        &advice) &&
            !plim_advice_add(list, &advice, finding != NULL && finding->decides)) {
            return false;
        }
    }
    return true;
}

static bool keep(plim_case *one, const plim_advice_list *list)
{
    if (list->count == 0) {
        return true;
    }
    plim_diagnosis_advice *const kept = plim_arena_alloc(one->arena, list->count * sizeof *kept);
    if (kept == NULL) {
        return false;
    }
    qsort(list->items, list->count, sizeof *list->items, compare);
    for (size_t i = 0; i < list->count; i++) {
        kept[i] = list->items[i].advice;
    }
    one->out->advice = kept;
    one->out->advice_count = list->count;
    return true;
}

static plim_status advise(plim_case *one, plim_advice_list *list, plim_error *err)
{
    plim_what_if what_if;
    PLIM_TRY(plim_what_if_init(&what_if, &one->view.timeline, one->mem, err));
    plim_program_shape shape = { 0 };
    plim_status status = plim_program_shape_init(&shape, one, &what_if, err);
    if (status == PLIM_OK && (!plim_advise_findings(&shape, &what_if, list) ||
                              !try_techniques(&shape, &what_if, list))) {
        status = plim_fail_memory(err, "working out what helps");
    }
    plim_program_shape_deinit(&shape);
    plim_what_if_deinit(&what_if);
    return status;
}

plim_status plim_find_advice(plim_case *one, plim_error *err)
{
    if (one->options->findings_only) {
        return PLIM_OK;
    }
    plim_advice_list list = { .mem = one->mem };
    plim_status status = PLIM_OK;
    if (one->facts->events > 0 && one->device->device != PLIM_HOST_DEVICE) {
        status = advise(one, &list, err);
    }
    if (status == PLIM_OK) {
        status = plim_advise_settings(one, &list, err);
    }
    if (status == PLIM_OK && !keep(one, &list)) {
        status = plim_fail_memory(err, "working out what helps");
    }
    PLIM_VEC_FREE(list.mem, &list);
    return status;
}
