/*
 * gpus.c - the smallest GPU that is enough for a trial.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "fit/search.h"

#include <string.h>

#define CAPABILITY_LEAST 7 /* PyTorch 2.11 for CUDA 13 has no kernels for older GPUs: 7.5 */
#define TRIES_MAX        3

uint64_t plim_fit_need_on(const plim_fit_search *search, size_t index, const plim_gpu *gpu)
{
    const uint64_t rest =
        plim_minus(search->trials[index].bar.high_bytes, search->gpu->context_bytes);
    return plim_plus(plim_plus(rest, gpu->context_bytes), search->margin_bytes);
}

static bool is_candidate(const plim_fit_search *search, const plim_gpu *gpu)
{
    const uint32_t least = search->gpu->capability_major >= 8 ? 8 : CAPABILITY_LEAST;
    return gpu->capability_major >= least &&
           (gpu->capability_major > 7 || gpu->capability_minor >= 5) &&
           strstr(gpu->key, "laptop") == NULL;
}

/* By memory, then by the order of the table; NULL: no larger one. */
static const plim_gpu *next_larger(const plim_fit_search *search, size_t index,
                                   const plim_gpu *than)
{
    const plim_gpu *found = NULL;
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *const gpu = plim_gpu_at(i);
        if (is_candidate(search, gpu) &&
            plim_fit_need_on(search, index, gpu) <= gpu->memory_bytes &&
            (than == NULL || gpu->memory_bytes > than->memory_bytes) &&
            (found == NULL || gpu->memory_bytes < found->memory_bytes)) {
            found = gpu;
        }
    }
    return found;
}

const plim_gpu *plim_fit_largest_gpu(const plim_fit_search *search)
{
    const plim_gpu *found = search->gpu;
    for (size_t i = 0; i < plim_gpu_count(); i++) {
        const plim_gpu *const gpu = plim_gpu_at(i);
        found = is_candidate(search, gpu) && gpu->memory_bytes > found->memory_bytes ? gpu : found;
    }
    return found;
}

plim_status plim_fit_enough(plim_fit_search *search, size_t trial, const plim_gpu **ret,
                            plim_error *err)
{
    char lines[PLIM_FIT_LINES_BYTES];
    plim_fit_trial_write(&search->trials[trial], PLIM_FIT_ALL_USES, '\n', lines, sizeof(lines));
    search->is_enough_rehearsed = false;
    *ret = search->known[trial].is_measured ? next_larger(search, trial, NULL) : NULL;
    for (size_t tries = 0; *ret != NULL && tries < TRIES_MAX && plim_fit_may_go_on(search, 0);
         tries++) {
        plim_fit_request request;
        PLIM_TRY(plim_fit_request_make(search, lines, 0, &request, err));
        request.gpu = (*ret)->key;
        PLIM_TRY(plim_fit_run(search, &request, 1, err));
        const plim_fit_sample *const sample = &search->samples[0];
        if (plim_fit_sample_fits(sample)) {
            search->is_enough_rehearsed = true;
            return PLIM_OK;
        }
        if (sample->is_out_of_time) {
            return PLIM_OK;
        }
        if (sample->verdict != PLIM_REHEARSED_OUT_OF_MEMORY &&
            sample->verdict != PLIM_REHEARSED_TIGHT) { /* the program fails there: none is known */
            *ret = NULL;
            return PLIM_OK;
        }
        *ret = next_larger(search, trial, *ret);
    }
    return PLIM_OK;
}
