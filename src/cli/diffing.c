/*
 * diffing.c - see diffing.h.
 */
#include "cli/diffing.h"

#include "base/error.h"
#include "base/sweep.h"
#include "cli/reading.h"

#include "plimsoll/load.h"

#include <stdlib.h>
#include <string.h>

/* --- one pair --- */

plim_status plim_diff_parts_compare(plim_diffed_side before, plim_diffed_side after,
                                    const plim_diff_options *options, plim_diff_parts *ret,
                                    plim_error *err)
{
    const bool is_one = before.history == after.history;
    ret->diffed.before = before;
    ret->diffed.after = after;
    PLIM_TRY(plim_inspect(before.history, NULL, &ret->inspections[0], err));
    if (!is_one) {
        PLIM_TRY(plim_inspect(after.history, NULL, &ret->inspections[1], err));
    }
    ret->diffed.before.inspection = ret->inspections[0];
    ret->diffed.after.inspection = ret->inspections[is_one ? 0 : 1];
    PLIM_TRY(plim_diff(before.history, after.history, options, &ret->result, err));
    ret->diffed.result = ret->result;
    return PLIM_OK;
}

void plim_diff_parts_deinit(plim_diff_parts *parts)
{
    plim_diff_destroy(parts->result);
    for (int i = 0; i < 2; i++) {
        plim_inspection_destroy(parts->inspections[i]);
        plim_history_destroy(parts->histories[i]);
    }
    *parts = (plim_diff_parts){ 0 };
}

typedef plim_status load_file(const char *path, plim_history **ret, plim_error *err);

static plim_status load_quietly(const char *path, plim_history **ret, plim_error *err)
{
    return plim_history_load(path, NULL, ret, err);
}

/* One file, given once, is both sides. */
static plim_status load_pair(plim_diffed_pair *pair, load_file *load, plim_diff_parts *parts,
                             plim_error *err)
{
    pair->failed_path = pair->before_path;
    PLIM_TRY(load(pair->before_path, &parts->histories[0], err));
    if (pair->after_path != pair->before_path) {
        pair->failed_path = pair->after_path;
        PLIM_TRY(load(pair->after_path, &parts->histories[1], err));
    }
    pair->failed_path = NULL;
    return PLIM_OK;
}

static plim_status keep(const plim_diffing *work, size_t index, const plim_diff_parts *parts,
                        plim_error *err)
{
    plim_diffed_pair *const pair = &work->pairs[index];
    const size_t count = plim_diff_device_count(parts->result);
    free(pair->ranks); /* of an earlier comparison of it */
    plim_text_deinit(&pair->document);
    pair->rank_count = 0;
    pair->ranks = calloc(count > 0 ? count : 1, sizeof *pair->ranks);
    if (pair->ranks == NULL) {
        return plim_fail_memory(err, "keeping figures of a pair of files");
    }
    for (size_t i = 0; i < count; i++) {
        const plim_diff_device *const device = plim_diff_device_at(parts->result, i);
        plim_diffed_rank *const rank = &pair->ranks[pair->rank_count];
        const bool is_wanted = !work->view->one_device || work->view->device == device->device;
        if (is_wanted && plim_diff_has_memory(&parts->diffed, device)) {
            PLIM_TRY(plim_diffed_rank_of(&parts->diffed, device, rank, err));
            rank->pair = index;
            rank->has_rank = pair->has_rank;
            rank->rank = pair->rank;
            pair->rank_count++;
        }
    }
    return work->wants_document
               ? plim_diff_json_part(work->view, &parts->diffed, &pair->document, err)
               : PLIM_OK;
}

static plim_status compare(const plim_diffing *work, size_t index, load_file *load,
                           plim_diff_parts *parts, plim_error *err)
{
    plim_diffed_pair *const pair = &work->pairs[index];
    PLIM_TRY(load_pair(pair, load, parts, err));
    const plim_history *const after =
        parts->histories[1] != NULL ? parts->histories[1] : parts->histories[0];
    PLIM_TRY(plim_diff_parts_compare(
        (plim_diffed_side){ .name = pair->before_path, .history = parts->histories[0] },
        (plim_diffed_side){ .name = pair->after_path, .history = after }, work->options, parts,
        err));
    parts->diffed.before_at = work->before_at;
    parts->diffed.after_at = work->after_at;
    return keep(work, index, parts, err);
}

plim_status plim_diffing_show(plim_diffing *work, size_t index, plim_diff_parts *ret)
{
    plim_diffed_pair *const pair = &work->pairs[index];
    pair->error = (plim_error){ .offset = PLIM_NO_OFFSET };
    pair->status = compare(work, index, plim_reading_history, ret, &pair->error);
    return pair->status;
}

/* --- all of them --- */

/* A pair's failure stays with the pair: the others go on. */
static plim_status compare_pair(void *ctx, size_t index, plim_error *err)
{
    (void)err;
    plim_diffing *const work = ctx;
    plim_diffed_pair *const pair = &work->pairs[index];
    plim_diff_parts parts = { 0 };
    if (pair->before_path != NULL && pair->after_path != NULL) {
        pair->error = (plim_error){ .offset = PLIM_NO_OFFSET };
        pair->status = compare(work, index, load_quietly, &parts, &pair->error);
    }
    plim_diff_parts_deinit(&parts);
    return PLIM_OK;
}

plim_status plim_diffing_run(plim_diffing *work, uint32_t threads, plim_error *err)
{
    const plim_sweep_jobs jobs = { .run = compare_pair, .ctx = work, .count = work->count };
    return plim_sweep(&jobs, threads > 0 ? threads : plim_sweep_default_threads(), err);
}

plim_status plim_diffing_gather(plim_diffing *work, plim_error *err)
{
    size_t count = 0;
    free(work->ranks);
    work->rank_count = 0;
    for (size_t i = 0; i < work->count; i++) {
        count += work->pairs[i].rank_count;
    }
    work->ranks = calloc(count > 0 ? count : 1, sizeof *work->ranks);
    if (work->ranks == NULL) {
        return plim_fail_memory(err, "listing ranks");
    }
    for (size_t i = 0; i < work->count; i++) {
        const plim_diffed_pair *const pair = &work->pairs[i];
        for (size_t k = 0; pair->status == PLIM_OK && k < pair->rank_count; k++) {
            work->ranks[work->rank_count++] = pair->ranks[k];
        }
    }
    return PLIM_OK;
}

void plim_diffing_deinit(plim_diffing *work)
{
    for (size_t i = 0; i < work->count; i++) {
        free(work->pairs[i].ranks);
        plim_text_deinit(&work->pairs[i].document);
    }
    free(work->ranks);
    *work = (plim_diffing){ 0 };
}
