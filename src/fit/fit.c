/*
 * fit.c - the search from start to end. See plimsoll/fit.h, docs/design/fit.md.
 */
#include "plimsoll/fit.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/units.h"
#include "fit/search.h"
#include "rehearse/largest.h"
#include "rehearse/rehearsal.h"

#include <stdio.h>
#include <string.h>

#define STEPS         3
#define TRIAL_STEPS   2 /* the first makes states, the second has them */
#define PARALLEL      2
#define SPARE_DIVISOR 10                  /* what a roomy stack leaves */
#define FAR_LEAST     ((uint64_t)1 << 40) /* memory of trials: batches of any size fit */
#define CARDS_MAX     16 /* rehearsals for the table of cards, beside those of the search */

/* ---- before ---------------------------------------------------------------------------------- */

static plim_status check_also(const char *lines, plim_error *err)
{
    while (lines != NULL && lines[0] != '\0') {
        char text[PLIM_FIT_LINES_BYTES];
        const size_t length = strcspn(lines, " \n");
        const plim_technique *row = NULL;
        (void)snprintf(text, sizeof(text), "%.*s", (int)length, lines);
        if (length > 0) {
            PLIM_TRY(plim_technique_find(text, &row, err));
        }
        lines += length + (lines[length] != '\0');
    }
    return PLIM_OK;
}

static size_t trials_max(const plim_fit_options *options)
{
    return options->trials_max > 0 ? options->trials_max : PLIM_FIT_TRIALS_MAX;
}

static plim_status begin(plim_fit_search *search, plim_error *err)
{
    const plim_fit_options *const options = search->options;
    const uint64_t share =
        plim_whole(options->rehearse.margin_share * (double)search->capacity_bytes);
    search->margin_bytes = plim_max(options->rehearse.margin_bytes, share);
    search->far_bytes = plim_max(FAR_LEAST, search->capacity_bytes * PLIM_NEED_CAPACITY_TIMES);
    search->host_bytes = options->host_bytes > 0 ? options->host_bytes : plim_fit_host_available();
    search->made_max = trials_max(options);
    search->expected = trials_max(options) / 2;
    if (options->budget_seconds > 0) {
        search->until = (double)plim_clock_now_ns(&plim_clock_system) / (double)NS_PER_S +
                        options->budget_seconds;
    }
    plim_fit_space_init(&search->space, options, search->gpu);
    search->trials = plim_arena_alloc(search->arena, PLIM_FIT_KEPT_MAX * sizeof(*search->trials));
    search->known = plim_arena_alloc(search->arena, PLIM_FIT_KEPT_MAX * sizeof(*search->known));
    search->samples =
        plim_arena_alloc(search->arena, PLIM_FIT_ROUND_MAX * sizeof(*search->samples));
    if (search->trials == NULL || search->known == NULL || search->samples == NULL) {
        return plim_fail_memory(err, "preparing a search");
    }
    return check_also(options->also, err);
}

/* ---- the program as it is -------------------------------------------------------------------- */

/* With the GPU's own memory, and with all that it wants. */
static plim_status try_plain(plim_fit_search *search, plim_error *err)
{
    plim_fit_request requests[2];
    PLIM_TRY(plim_fit_request_make(search, "", search->capacity_bytes, &requests[0], err));
    PLIM_TRY(plim_fit_request_make(search, "", search->far_bytes, &requests[1], err));
    requests[0].counts_step = 1; /* of the first, where there is one step alone */
    requests[1].counts_step = 1;
    requests[1].is_trial = false;
    PLIM_TRY(plim_fit_run(search, requests, 2, err));
    const plim_fit_sample *const own = &search->samples[0];
    const plim_fit_sample *const far = &search->samples[1];
    if (own->status != PLIM_OK) {
        return plim_fail(err, own->status, "%s", own->error);
    }
    const bool fits = plim_fit_sample_fits(own);
    const plim_fit_stack nothing = { { 0 } };
    PLIM_TRY(plim_fit_record(search, fits ? own : far, &nothing, "", false, err));
    plim_fit_trial *const plain = &search->trials[0];
    plain->is_confirmed = fits;
    if (fits) {
        plain->answer = PLIM_FIT_FITS;
        plain->reason = NULL;
    } else if (plain->answer == PLIM_FIT_FITS && own->verdict == PLIM_REHEARSED_OUT_OF_MEMORY) {
        search->known[0].is_refuted = true;
        plain->answer = PLIM_FIT_SHORT;
        plain->reason = "with the GPU's own memory it ran out";
    }
    const double seconds = own->seconds > far->seconds ? own->seconds : far->seconds;
    search->seconds_max = seconds * PLIM_NEED_SECONDS_TIMES;
    if (search->seconds_max < PLIM_NEED_SECONDS_LEAST) {
        search->seconds_max = PLIM_NEED_SECONDS_LEAST;
    }
    return PLIM_OK;
}

/* ---- after ----------------------------------------------------------------------------------- */

typedef struct answers {
    size_t cheapest; /* SIZE_MAX: none */
    size_t roomy;
    const plim_gpu *enough;
} answers;

static uint64_t missing(const plim_fit_search *search, size_t index)
{
    const uint64_t wanted = plim_plus(search->trials[index].bar.high_bytes, search->margin_bytes);
    return plim_max(plim_minus(wanted, search->capacity_bytes), 1);
}

static const plim_fit_trial *trial_at(const plim_fit_search *search, size_t index)
{
    return index == SIZE_MAX ? NULL : &search->trials[index];
}

static void give(const plim_fit_search *search, const answers *found, plim_fitted *ret)
{
    const bool is_missing = found->cheapest == SIZE_MAX;
    const size_t smallest = is_missing ? plim_fit_smallest(search) : SIZE_MAX;
    ret->gpu = search->gpu;
    ret->capacity_bytes = search->capacity_bytes;
    ret->trials = search->trials;
    ret->trial_count = search->count;
    ret->plain = &search->trials[0];
    ret->cheapest = trial_at(search, found->cheapest);
    ret->roomy = trial_at(search, found->roomy);
    ret->smallest = trial_at(search, smallest);
    ret->missing_bytes = is_missing ? missing(search, smallest) : 0;
    ret->enough = found->enough;
    ret->is_enough_rehearsed = found->enough != NULL && search->is_enough_rehearsed;
    ret->stopped = search->stopped;
    ret->steps = search->steps;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* From here on the search is for the GPU that is enough, or for the largest, which is not. */
static plim_status find_gpu(plim_fit_search *search, answers *ret, plim_error *err)
{
    PLIM_TRY(plim_fit_enough(search, 0, &ret->enough, err));
    const plim_gpu *const gpu = ret->enough != NULL ? ret->enough : plim_fit_largest_gpu(search);
    search->gpu = gpu;
    search->capacity_bytes = gpu->memory_bytes;
    if (ret->enough != NULL) {
        search->trials[0].answer = PLIM_FIT_FITS;
        search->trials[0].reason = NULL;
        search->trials[0].is_confirmed = search->is_enough_rehearsed;
        if (search->is_enough_rehearsed) { /* with that GPU's context */
            search->trials[0].verdict = search->samples[0].verdict;
            search->trials[0].peak = search->samples[0].peak;
            search->trials[0].bar = search->samples[0].bar;
        }
        ret->cheapest = 0;
    }
    return search->options->makes_table ? plim_fit_singles(search, err) : PLIM_OK;
}

static plim_status find_answers(plim_fit_search *search, answers *ret, plim_error *err)
{
    const uint64_t capacity = search->capacity_bytes;
    const plim_fit_limit own = { capacity, true };
    /* The margin, which is kept free of any limit, is part of what is spared. */
    const uint64_t spared = plim_minus(capacity / SPARE_DIVISOR, search->margin_bytes);
    const plim_fit_limit roomy = { capacity - spared, false };
    if (search->known[0].is_bad || !search->known[0].is_measured) {
        return PLIM_OK; /* the program fails as it is: there is nothing to compare with */
    }
    if (search->options->finds_gpu) {
        return find_gpu(search, ret, err);
    }
    const bool is_roomy = search->trials[0].is_confirmed && plim_fit_is_within(search, 0, roomy);
    if (!is_roomy || search->options->makes_table) {
        PLIM_TRY(plim_fit_singles(search, err));
    }
    PLIM_TRY(plim_fit_also(search, err));
    if (search->trials[0].is_confirmed) {
        ret->cheapest = 0;
        ret->roomy = is_roomy ? 0 : SIZE_MAX;
    } else {
        PLIM_TRY(plim_fit_answer_for(search, own, &ret->cheapest, err));
    }
    if (ret->cheapest == SIZE_MAX) {
        return plim_fit_enough(search, plim_fit_smallest(search), &ret->enough, err);
    }
    if (!is_roomy) {
        PLIM_TRY(plim_fit_answer_for(search, roomy, &ret->roomy, err));
    }
    if (ret->roomy != SIZE_MAX && ret->cheapest != 0 &&
        plim_fit_compare(search, ret->roomy, ret->cheapest) < 0) {
        ret->cheapest = ret->roomy; /* the second search came to more than the first */
    }
    return PLIM_OK;
}

/* Batches and cards, where options want them, with rehearsals of their own. */
static plim_status find_more(plim_fit_search *search, const answers *found, plim_fitted *ret,
                             plim_error *err)
{
    const plim_fit_options *const options = search->options;
    const bool has_plain = search->known[0].is_measured && !search->known[0].is_bad;
    if (!has_plain || (!options->finds_batch && !options->makes_table)) {
        return PLIM_OK;
    }
    const char *const stopped = search->stopped;
    if (options->finds_batch) {
        const size_t best =
            found->cheapest != SIZE_MAX ? found->cheapest : plim_fit_smallest(search);
        PLIM_TRY(plim_fit_find_batches(search, best, ret, err));
    }
    if (options->makes_table) {
        search->made_max = search->made + CARDS_MAX;
        PLIM_TRY(plim_fit_fill_cards(search, ret, err));
    }
    search->stopped = stopped; /* of the stack; the others say it themselves */
    return PLIM_OK;
}

static plim_status search_all(plim_fit_search *search, plim_fitted *ret, plim_error *err)
{
    PLIM_TRY(begin(search, err));
    PLIM_TRY(try_plain(search, err));
    answers found = { SIZE_MAX, SIZE_MAX, NULL };
    PLIM_TRY(find_answers(search, &found, err));
    PLIM_TRY(find_more(search, &found, ret, err));
    give(search, &found, ret);
    return found.cheapest == SIZE_MAX || search->runner->argv == NULL
               ? PLIM_OK
               : plim_fit_write_changes(search, found.cheapest, ret, err);
}

plim_status plim_fit_with(const plim_fit_runner *runner, const plim_fit_options *options,
                          plim_fitted *ret, plim_error *err)
{
    const plim_mem *const mem = plim_mem_or_heap(options->rehearse.mem);
    plim_arena *const arena = plim_mem_alloc(mem, 1, sizeof(*arena));
    *ret = (plim_fitted){ 0 };
    if (arena == NULL) {
        return plim_fail_memory(err, "preparing a search");
    }
    plim_arena_init(arena, mem);
    plim_fit_search *const search = plim_arena_alloc(arena, sizeof(*search));
    plim_status status = PLIM_OK;
    if (search == NULL) {
        status = plim_fail_memory(err, "preparing a search");
    } else {
        *search = (plim_fit_search){ .options = options, .runner = runner, .arena = arena };
        status = plim_rehearse_gpu(&options->rehearse, &search->gpu, &search->capacity_bytes, err);
        status = status == PLIM_OK ? search_all(search, ret, err) : status;
    }
    ret->memory = arena;
    if (status != PLIM_OK) {
        plim_fitted_deinit(ret);
    }
    return status;
}

plim_status plim_fit(const char *const *argv, const plim_fit_options *options, plim_fitted *ret,
                     plim_error *err)
{
    static const plim_fit_options defaults;
    plim_fit_options how = options != NULL ? *options : defaults;
    const uint64_t trial_steps = how.rehearse.steps > 0 ? 0 : TRIAL_STEPS;
    how.rehearse.steps = how.rehearse.steps > 0 ? how.rehearse.steps : STEPS;
    const plim_mem *const mem = plim_mem_or_heap(how.rehearse.mem);
    plim_arena arena;
    plim_arena_init(&arena, mem);
    const bool has_place = how.finds_batch && plim_rehearse_has_place(argv);
    plim_fit_workers workers = {
        .argv = has_place ? plim_command_with(&arena, argv, 1) : argv,
        .options = &how,
        .trial_steps = trial_steps,
        .parallel = how.parallel > 0 ? how.parallel : PARALLEL,
    };
    const plim_fit_runner runner = { &workers, argv, plim_fit_workers_run };
    const plim_status status = workers.argv != NULL ? plim_fit_with(&runner, &how, ret, err)
                                                    : plim_fail_memory(err, "preparing a search");
    plim_arena_deinit(&arena);
    return status;
}

void plim_fitted_deinit(plim_fitted *fitted)
{
    plim_arena *const arena = fitted->memory;
    if (arena != NULL) {
        const plim_mem *const mem = arena->mem;
        plim_arena_deinit(arena);
        plim_mem_free(mem, arena, 1, sizeof(*arena));
    }
    *fitted = (plim_fitted){ 0 };
}
