/*
 * outcome.c - what a rehearsal left, gathered. See rehearsal.h.
 */
#include "base/error.h"
#include "base/vec.h"
#include "rehearse/device_use.h"
#include "rehearse/process_file.h"
#include "rehearse/rehearsal.h"
#include "rehearse/with_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef PLIM_VEC(plim_rehearsed_process) processes;
typedef PLIM_VEC(const char *) lines;

static bool gather_gpus(plim_rehearsal *rehearsal)
{
    const plim_gpu *gpu = &plim_stage_get_settings(rehearsal->stage)->gpu;
    const uint32_t count = plim_stage_get_settings(rehearsal->stage)->device_count;
    plim_rehearsed_gpu *gpus = plim_arena_alloc(&rehearsal->arena, count * sizeof(*gpus));
    for (uint32_t i = 0; gpus != NULL && i < count; i++) {
        plim_stage_figures figures;
        plim_stage_device_figures(rehearsal->stage, i, &figures);
        if (plim_stage_get_settings(rehearsal->stage)->ends_late) {
            figures.waiting_bytes = 0; /* they did wait */
        }
        gpus[i] = (plim_rehearsed_gpu){
            .peak = plim_device_use_bar(gpu, &figures),
            .doubt = plim_device_use_doubt(gpu, &figures),
            .wait_count = figures.wait_count,
            .waiting_bytes = figures.waiting_bytes,
            .peak_bytes = figures.peak_bytes,
            .program_bytes = figures.at_peak_bytes[PLIM_STAGE_PROGRAM],
            .context_bytes = figures.at_peak_bytes[PLIM_STAGE_CONTEXT] +
                             figures.at_peak_bytes[PLIM_STAGE_MODULES] +
                             figures.at_peak_bytes[PLIM_STAGE_GRAPHS],
            .libraries_bytes = figures.at_peak_bytes[PLIM_STAGE_LIBRARIES] +
                               figures.at_peak_bytes[PLIM_STAGE_NCCL],
        };
    }
    rehearsal->outcome.gpus = gpus;
    rehearsal->outcome.ends_late = plim_stage_get_settings(rehearsal->stage)->ends_late;
    return gpus != NULL;
}

static const char *name_of_kind(plim_stage_call kind)
{
    static const char *const names[PLIM_STAGE_CALLS] = {
        [PLIM_STAGE_ANSWERED] = "answered", [PLIM_STAGE_NOTHING] = "nothing",
        [PLIM_STAGE_MODELLED] = "modelled", [PLIM_STAGE_DECLINED] = "declined",
        [PLIM_STAGE_REFUSED] = "refused",   [PLIM_STAGE_UNKNOWN] = "unknown",
    };
    return kind < PLIM_STAGE_CALLS ? names[kind] : "unknown";
}

static bool gather_calls(plim_rehearsal *rehearsal)
{
    plim_rehearsal_outcome *outcome = &rehearsal->outcome;
    plim_stage_call_count call;
    size_t count = 0;
    while (plim_stage_call_at(rehearsal->stage, count, &call)) {
        count++;
    }
    plim_rehearsed_call *calls = plim_arena_alloc(&rehearsal->arena, count * sizeof(*calls));
    for (size_t i = 0; calls != NULL && i < count; i++) {
        (void)plim_stage_call_at(rehearsal->stage, i, &call);
        calls[i] = (plim_rehearsed_call){
            .name = plim_arena_copy(&rehearsal->arena, call.name, strlen(call.name)),
            .kind = name_of_kind(call.kind),
            .note = plim_arena_copy(&rehearsal->arena, call.note, strlen(call.note)),
            .count = call.count,
        };
        outcome->unanswered_count +=
            call.kind == PLIM_STAGE_REFUSED || call.kind == PLIM_STAGE_UNKNOWN;
        if (calls[i].name == NULL || calls[i].note == NULL) {
            return false;
        }
    }
    outcome->calls = calls;
    outcome->call_count = count;
    return calls != NULL;
}

/* A file that cannot be read costs its process, and a warning. False: no memory. */
static bool add_process(plim_rehearsal *rehearsal, const char *folder, const char *name,
                        processes *found, lines *warnings)
{
    plim_arena *arena = &rehearsal->arena;
    plim_rehearsed_process process;
    plim_error err = { 0 };
    const plim_status status = plim_process_file_read(folder, name, arena, &process, &err);
    if (status == PLIM_OK) {
        return PLIM_VEC_PUSH(arena->mem, found, process);
    }
    const char *line = plim_arena_copy(arena, err.message, strlen(err.message));
    return status != PLIM_OUT_OF_HOST_MEMORY && line != NULL &&
           PLIM_VEC_PUSH(arena->mem, warnings, line);
}

static bool read_results(plim_rehearsal *rehearsal, const char *folder, processes *found,
                         lines *warnings)
{
    DIR *results = opendir(folder);
    if (results == NULL) {
        return errno != ENOMEM; /* the program removed it: no results then */
    }
    bool is_kept = true;
    for (const struct dirent *entry = readdir(results); is_kept && entry != NULL;
         entry = readdir(results)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot != NULL && strcmp(dot, ".json") == 0) {
            is_kept = add_process(rehearsal, folder, entry->d_name, found, warnings);
        }
    }
    (void)closedir(results);
    return is_kept;
}

/* ---- techniques that were switched on -------------------------------------------------------- */

static bool warn(plim_rehearsal *rehearsal, const char *text, lines *warnings)
{
    const char *const line = plim_arena_copy(&rehearsal->arena, text, strlen(text));
    return line != NULL && PLIM_VEC_PUSH(rehearsal->arena.mem, warnings, line);
}

/* A worker of a compiler that was killed is of no interest: techniques only wait in it. */
static bool has_any_applied(const plim_with_report *report)
{
    for (size_t i = 0; i < report->technique_count; i++) {
        if (strcmp(report->techniques[i].state, "applied") == 0) {
            return true;
        }
    }
    return false;
}

/* Gives a report to its process. One that left no results was killed before it wrote any. */
static bool give_report(plim_rehearsal *rehearsal, const plim_with_report *report, processes *found,
                        lines *warnings)
{
    bool is_kept = true;
    for (size_t i = 0; is_kept && i < report->warning_count; i++) {
        is_kept = warn(rehearsal, report->warnings[i], warnings);
    }
    for (size_t i = 0; i < found->count; i++) {
        if (found->items[i].pid == report->pid) {
            found->items[i].techniques = report->techniques;
            found->items[i].technique_count = report->technique_count;
            found->items[i].with_report = report->text;
            return is_kept;
        }
    }
    if (!is_kept || !has_any_applied(report)) {
        return is_kept;
    }
    char text[128];
    (void)snprintf(text, sizeof(text),
                   "process %" PRId64 " had techniques switched on and left no results",
                   report->pid);
    return warn(rehearsal, text, warnings);
}

static bool read_techniques(plim_rehearsal *rehearsal, processes *found, lines *warnings)
{
    plim_rehearsal_outcome *const outcome = &rehearsal->outcome;
    plim_arena *const arena = &rehearsal->arena;
    plim_with_reports reports = { 0 };
    if (rehearsal->techniques == NULL) {
        return true;
    }
    bool is_kept = plim_with_read(rehearsal->folder, arena, &reports, NULL) == PLIM_OK &&
                   plim_with_join(rehearsal->techniques, &reports, arena, &outcome->techniques,
                                  &outcome->technique_count, NULL) == PLIM_OK;
    for (size_t i = 0; is_kept && i < reports.unread_count; i++) {
        is_kept = PLIM_VEC_PUSH(arena->mem, warnings, reports.unread[i]);
    }
    for (size_t i = 0; is_kept && i < reports.count; i++) {
        is_kept = give_report(rehearsal, &reports.items[i], found, warnings);
    }
    return is_kept;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int by_rank_and_pid(const void *a, const void *b)
{
    const plim_rehearsed_process *x = a;
    const plim_rehearsed_process *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Moves what was found to the arena, where it stays. */
static bool keep(plim_rehearsal *rehearsal, const processes *found, const lines *warnings)
{
    plim_arena *arena = &rehearsal->arena;
    plim_rehearsed_process *all = plim_arena_alloc(arena, found->count * sizeof(*all));
    const char **texts = plim_arena_alloc(arena, warnings->count * sizeof(*texts));
    if (all == NULL || texts == NULL) {
        return false;
    }
    if (found->count > 0) {
        memcpy(all, found->items, found->count * sizeof(*all));
        qsort(all, found->count, sizeof(*all), by_rank_and_pid);
    }
    for (size_t i = 0; i < warnings->count; i++) {
        texts[i] = warnings->items[i];
    }
    rehearsal->outcome.processes = all;
    rehearsal->outcome.process_count = found->count;
    rehearsal->outcome.warnings = texts;
    rehearsal->outcome.warning_count = warnings->count;
    return true;
}

plim_status plim_outcome_gather(plim_rehearsal *rehearsal, plim_error *err)
{
    const plim_stage_settings *settings = plim_stage_get_settings(rehearsal->stage);
    rehearsal->outcome = (plim_rehearsal_outcome){
        .gpu = &settings->gpu,
        .capacity_bytes = settings->capacity_bytes,
        .margin_bytes = rehearsal->margin_bytes,
        .device_count = settings->device_count,
        .host_bytes = plim_stage_host_peak(rehearsal->stage),
    };
    char folder[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(folder, sizeof(folder), rehearsal->folder, PLIM_RUN_RESULTS, err));
    const plim_mem *mem = rehearsal->arena.mem;
    processes found = { 0 };
    lines warnings = { 0 };
    const bool is_kept = gather_gpus(rehearsal) && gather_calls(rehearsal) &&
                         read_results(rehearsal, folder, &found, &warnings) &&
                         read_techniques(rehearsal, &found, &warnings) &&
                         keep(rehearsal, &found, &warnings);
    PLIM_VEC_FREE(mem, &found);
    PLIM_VEC_FREE(mem, &warnings);
    return is_kept ? PLIM_OK : plim_fail_memory(err, "gathering the results of a rehearsal");
}
