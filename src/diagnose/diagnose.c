/*
 * diagnose.c - the diagnosis of each device: facts, detectors, the verdict.
 *
 *   inspect ──► case ──► failures  leaks  fragmentation  spikes  growth ──► verdict
 *                        composition  settings  host  advice
 */
#include "diagnose/case/case.h"

#include "base/assert.h"
#include "base/error.h"
#include "diagnose/keepers/moment.h"

#include <string.h>

struct plim_diagnosis {
    const plim_mem *mem;
    plim_arena arena;
    plim_inspection *inspection;
    plim_device_diagnosis *devices; /* in the arena */
    size_t device_count;
};

/* In this order: a later one may read what earlier ones found. */
static plim_status (*const detectors[])(plim_case *one, plim_error *err) = {
    plim_compose,     plim_find_failures, plim_find_leaks,          plim_find_fragmentation,
    plim_find_spikes, plim_find_growth,   plim_find_gradients_kept, plim_find_batches_ahead,
    plim_find_cycles, plim_find_garbage,  plim_find_settings,       plim_find_host,
    plim_find_advice,
};

/* Memory that the allocator could have, as an error text shows it: what it held and what was free.
 * 0: the text does not say. */
static uint64_t capacity_of_text(const plim_judgement *judgement)
{
    const uint64_t reserved = plim_finding_figure(&judgement->finding, "reserved_bytes");
    const uint64_t free = plim_finding_figure(&judgement->finding, "free_bytes");
    const uint64_t held = reserved != PLIM_BYTES_UNKNOWN ? reserved : judgement->held_bytes;
    return held != PLIM_BYTES_UNKNOWN && free != PLIM_BYTES_UNKNOWN ? held + free : 0;
}

/* The capacity, as given or as a failure shows it: what the driver had left and what was held. */
static void find_capacity(plim_case *one)
{
    plim_device_diagnosis *const out = one->out;
    if (one->options->capacity_bytes > 0) {
        out->capacity_bytes = one->options->capacity_bytes;
        out->capacity_source =
            one->options->capacity_source != NULL ? one->options->capacity_source : "given";
    }
    for (size_t i = 0; i < one->facts->oom_count && out->capacity_bytes == 0; i++) {
        const plim_oom_moment *const oom = &one->facts->ooms[i];
        if (oom->has_device_free) {
            out->capacity_bytes = oom->moment.reserved_bytes + oom->device_free_bytes;
            out->capacity_source = "oom";
        }
    }
    for (size_t i = 0; i < one->options->judgement_count && out->capacity_bytes == 0; i++) {
        out->capacity_bytes = capacity_of_text(&one->options->judgements[i]);
        out->capacity_source = out->capacity_bytes > 0 ? "message" : NULL;
    }
    one->capacity_bytes = out->capacity_bytes;
}

static plim_status keep_findings(plim_case *one, plim_error *err)
{
    const size_t count = one->findings.count;
    if (count == 0) {
        return PLIM_OK;
    }
    plim_diagnosis_finding *const kept =
        plim_arena_alloc(one->arena, count * sizeof *one->findings.items);
    if (kept == NULL) {
        return plim_fail_memory(err, "keeping findings");
    }
    memcpy(kept, one->findings.items, count * sizeof *kept);
    one->out->findings = kept;
    one->out->finding_count = count;
    return PLIM_OK;
}

/* True if any request was recorded. A recording of the state alone may have a snapshot event or a
 * lone free_completed. */
static bool has_requests(const plim_events *events)
{
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_ALLOC || events->action[i] == PLIM_OOM) {
            return true;
        }
    }
    return false;
}

static plim_status diagnose_case(plim_case *one, plim_error *err)
{
    PLIM_TRY(plim_case_init(one, err));
    if (one->options->holders != NULL) {
        plim_holders_categorise(one);
    }
    one->out->step_count = one->view.steps.count;
    one->out->step_source = one->view.steps.source;
    one->out->has_events = has_requests(&one->device->events);
    one->out->has_stacks = one->has_stacks;
    find_capacity(one);
    for (size_t i = 0; i < sizeof detectors / sizeof detectors[0]; i++) {
        PLIM_TRY(detectors[i](one, err));
    }
    plim_choose_verdict(one);
    return keep_findings(one, err);
}

static plim_status diagnose_devices(plim_diagnosis *diagnosis, const plim_history *history,
                                    const plim_diagnose_options *options, plim_error *err)
{
    const size_t count = plim_inspection_device_count(diagnosis->inspection);
    if (count == 0) {
        return PLIM_OK;
    }
    diagnosis->devices = plim_arena_alloc(&diagnosis->arena, count * sizeof *diagnosis->devices);
    if (diagnosis->devices == NULL) {
        return plim_fail_memory(err, "diagnosing the history");
    }
    for (size_t i = 0; i < count; i++) {
        const plim_device_history *const device = plim_history_device(history, i);
        if (count > 1 && device->events.count == 0 && device->segment_count == 0) {
            continue; /* a GPU that the process never used */
        }
        plim_device_diagnosis *const out = &diagnosis->devices[diagnosis->device_count];
        *out = (plim_device_diagnosis){ .device = device->device,
                                        .facts = plim_inspection_device(diagnosis->inspection, i) };
        plim_case one = { .mem = diagnosis->mem,
                          .arena = &diagnosis->arena,
                          .options = options,
                          .history = history,
                          .device = device,
                          .facts = out->facts,
                          .out = out };
        const plim_status status = diagnose_case(&one, err);
        plim_case_deinit(&one);
        PLIM_TRY(status);
        diagnosis->device_count++;
    }
    return PLIM_OK;
}

plim_status plim_diagnose(const plim_history *history, const plim_diagnose_options *options,
                          plim_diagnosis **ret_diagnosis, plim_error *err)
{
    static const plim_diagnose_options defaults;
    const plim_diagnose_options *const chosen = options != NULL ? options : &defaults;
    const plim_mem *const mem = plim_mem_or_heap(chosen->mem);
    plim_diagnosis *const diagnosis = plim_mem_alloc_zeroed(mem, 1, sizeof *diagnosis);
    if (diagnosis == NULL) {
        return plim_fail_memory(err, "diagnosing the history");
    }
    diagnosis->mem = mem;
    plim_arena_init(&diagnosis->arena, mem);
    const plim_inspect_options inspect = { .mem = mem };
    plim_status status = plim_inspect(history, &inspect, &diagnosis->inspection, err);
    if (status == PLIM_OK) {
        status = diagnose_devices(diagnosis, history, chosen, err);
    }
    if (status != PLIM_OK) {
        plim_diagnosis_destroy(diagnosis);
        return status;
    }
    *ret_diagnosis = diagnosis;
    return PLIM_OK;
}

void plim_diagnosis_destroy(plim_diagnosis *diagnosis)
{
    if (diagnosis == NULL) {
        return;
    }
    plim_inspection_destroy(diagnosis->inspection);
    plim_arena_deinit(&diagnosis->arena);
    plim_mem_free(diagnosis->mem, diagnosis, 1, sizeof *diagnosis);
}

size_t plim_diagnosis_device_count(const plim_diagnosis *diagnosis)
{
    return diagnosis->device_count;
}

const plim_device_diagnosis *plim_diagnosis_device(const plim_diagnosis *diagnosis, size_t index)
{
    PLIM_ASSERT(index < diagnosis->device_count);
    return &diagnosis->devices[index];
}

plim_verdict plim_diagnosis_verdict(const plim_diagnosis *diagnosis)
{
    plim_verdict worst = PLIM_VERDICT_HEALTHY;
    for (size_t i = 0; i < diagnosis->device_count; i++) {
        if (plim_verdict_precedes(diagnosis->devices[i].verdict, worst)) {
            worst = diagnosis->devices[i].verdict;
        }
    }
    return worst;
}
