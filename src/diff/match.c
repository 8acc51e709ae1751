/*
 * match.c - stages that match stacks, the surest first; each sees what those before it left.
 */
#include "diff/match.h"

#include "base/error.h"
#include "base/hash.h"
#include "diff/pairs.h"
#include "diff/renames.h"

#include <stdlib.h>

/* --- stages --- */

typedef enum stage_frames {
    FRAMES_ALL,
    FRAMES_COMMON,     /* functions that both sides have */
    FRAMES_USER_LINES, /* the user's, with their lines */
    FRAMES_USER,       /* the user's that both sides have */
    FRAMES_OPERATOR,   /* the one that names the stack best; of stacks without one of the user's */
} stage_frames;

typedef struct match_stage {
    stage_frames frames;
    bool needs_sizes; /* a pair shares sizes */
    bool takes_all;   /* what has no pair of its own joins the rest of its key */
    const char *because;
} match_stage;

static const match_stage stage_functions = { FRAMES_ALL, false, false, NULL };
static const match_stage stages_likely[] = {
    { FRAMES_COMMON, true, false, "called through other functions" },
    { FRAMES_USER_LINES, false, true, "the same line, through other code of a library" },
    { FRAMES_USER, true, false, "the same functions, through other code of a library" },
    { FRAMES_OPERATOR, false, true, "the same operator, called from elsewhere" },
};

typedef struct matcher {
    plim_diff_classes *classes;
    plim_diff_code *code;
    plim_diff_renames renames;
    PLIM_VEC(plim_diff_row) rows;
    uint64_t hash_key;
    uint8_t *labels; /* by function: plim_frame_label + 1, or 0 where it is not looked up yet */
} matcher;

#define NO_KEY UINT64_C(0) /* nothing of the stack counts in this stage */

static bool is_in_both(const matcher *job, uint32_t function)
{
    const plim_diff_function *const one = &job->code->functions.items[function];
    return (one->is_in[PLIM_DIFF_BEFORE] && one->is_in[PLIM_DIFF_AFTER]) ||
           plim_diff_is_renamed(&job->renames, function);
}

static plim_frame_label label_of(matcher *job, uint32_t function)
{
    if (job->labels[function] == 0) {
        const plim_diff_function *const one = &job->code->functions.items[function];
        job->labels[function] =
            (uint8_t)(plim_frame_label_of(job->code->texts.items[one->name].data) + 1);
    }
    return (plim_frame_label)(job->labels[function] - 1);
}

/* The function that names the stack best, the innermost of several; of the user's none. */
static uint64_t operator_key(matcher *job, const plim_diff_side *side, plim_stack stack)
{
    uint32_t best = PLIM_NONE;
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const uint32_t function = side->functions[stack.frames[i]];
        if (job->code->functions.items[function].owner == PLIM_FRAME_USER) {
            return NO_KEY;
        }
        if (best == PLIM_NONE || label_of(job, function) < label_of(job, best)) {
            best = function;
        }
    }
    return best == PLIM_NONE ? NO_KEY : plim_hash_u64(best, job->hash_key) | 1;
}

static uint64_t key_of(matcher *job, const plim_diff_side *side, uint32_t number,
                       stage_frames frames)
{
    const plim_stack stack = plim_history_stack(side->history, number);
    if (frames == FRAMES_OPERATOR) {
        return operator_key(job, side, stack);
    }
    uint64_t key = NO_KEY;
    for (uint32_t i = stack.frame_count; i > 0; i--) {
        const uint32_t frame = stack.frames[i - 1];
        const uint32_t function = side->functions[frame];
        const bool is_user = job->code->functions.items[function].owner == PLIM_FRAME_USER;
        if ((frames == FRAMES_COMMON && !is_in_both(job, function)) ||
            (frames == FRAMES_USER && !(is_user && is_in_both(job, function))) ||
            (frames == FRAMES_USER_LINES && !is_user)) {
            continue;
        }
        const uint64_t line =
            frames == FRAMES_USER_LINES ? plim_history_frame(side->history, frame)->line : 0;
        const uint64_t place = (uint64_t)plim_diff_renamed(&job->renames, function) << 32 | line;
        key =
            plim_hash_u64(plim_hash_fold(key ^ job->hash_key, place ^ UINT64_C(0x2545f4914f6cdd1d)),
                          job->hash_key) |
            1;
    }
    return key;
}

/* --- rows without a class --- */

static bool gather(matcher *job, stage_frames frames)
{
    job->rows.count = 0;
    for (uint8_t kind = 0; kind < PLIM_DIFF_SIDES; kind++) {
        const plim_diff_side *const side = &job->code->sides[kind];
        for (uint32_t i = 0; i < job->classes->counts[kind]; i++) {
            if (side->profiles[i].count == 0 || job->classes->of[kind][i] != PLIM_DIFF_NO_CLASS) {
                continue;
            }
            const plim_diff_row row = { .key = key_of(job, side, i, frames),
                                        .side = side,
                                        .stack = i,
                                        .kind = kind,
                                        .pair = PLIM_NONE };
            if (row.key != NO_KEY && !PLIM_VEC_PUSH(job->classes->mem, &job->rows, row)) {
                return false;
            }
        }
    }
    if (job->rows.count > 0) {
        qsort(job->rows.items, job->rows.count, sizeof *job->rows.items, plim_diff_compare_rows);
    }
    return true;
}

/* Rows of one key: those of before, then those of after. */
typedef struct key_run {
    plim_diff_row *before, *after;
    size_t before_count, after_count;
} key_run;

/* The run that starts at row `first`; returns where the next one does. */
static size_t run_at(const matcher *job, size_t first, key_run *ret)
{
    plim_diff_row *const rows = job->rows.items;
    size_t after = first;
    while (after < job->rows.count && rows[after].key == rows[first].key &&
           rows[after].kind == PLIM_DIFF_BEFORE) {
        after++;
    }
    size_t end = after;
    while (end < job->rows.count && rows[end].key == rows[first].key) {
        end++;
    }
    *ret = (key_run){ .before = rows + first,
                      .after = rows + after,
                      .before_count = after - first,
                      .after_count = end - after };
    return end;
}

static bool add_class(matcher *job, plim_diff_match match, const char *because, uint32_t *ret)
{
    const plim_diff_class fresh = { .match = match, .because = because };
    *ret = (uint32_t)job->classes->items.count;
    return PLIM_VEC_PUSH(job->classes->mem, &job->classes->items, fresh);
}

static void put(matcher *job, const plim_diff_row *row, uint32_t class)
{
    job->classes->of[row->kind][row->stack] = class;
}

/* --- a pair --- */

/* The functions of both stacks, frame by frame, are the same number or one renamed. */
static bool has_rename(const plim_diff_row *before, const plim_diff_row *after)
{
    const plim_stack a = plim_history_stack(before->side->history, before->stack);
    const plim_stack b = plim_history_stack(after->side->history, after->stack);
    for (uint32_t i = 0; i < a.frame_count && i < b.frame_count; i++) {
        if (before->side->functions[a.frames[i]] != after->side->functions[b.frames[i]]) {
            return true;
        }
    }
    return false;
}

static bool join_equals(matcher *job, const key_run *run, const plim_diff_row *before,
                        const plim_diff_row *after)
{
    const bool is_moved = !plim_diff_has_equal_lines(before, after);
    const bool is_renamed = has_rename(before, after);
    /* Several stacks differ in their lines alone: which is which is as sure as their sizes. */
    const bool is_alone = run->before_count == 1 && run->after_count == 1;
    const bool is_sure =
        plim_diff_alike(before, after) > 0 || (!is_renamed && (!is_moved || is_alone));
    const char *const because = is_renamed
                                    ? is_moved ? "renamed, and lines moved" : "renamed in place"
                                : is_moved ? "lines moved"
                                           : NULL;
    uint32_t class = 0;
    if (!add_class(job, is_sure ? PLIM_DIFF_SURE : PLIM_DIFF_LIKELY, because, &class)) {
        return false;
    }
    put(job, before, class);
    put(job, after, class);
    return true;
}

static bool join_likely(matcher *job, const match_stage *stage, const plim_diff_row *before,
                        const plim_diff_row *after)
{
    if (stage->needs_sizes && plim_diff_alike(before, after) == 0) {
        return true;
    }
    /* What shares nothing but its key joins the rest, if anything does. */
    if (stage->takes_all && plim_diff_alike(before, after) == 0) {
        return true;
    }
    uint32_t class = 0;
    if (!add_class(job, PLIM_DIFF_LIKELY, stage->because, &class)) {
        return false;
    }
    put(job, before, class);
    put(job, after, class);
    return true;
}

/* One class of what is left of a key, where there is some on both sides. */
static bool join_rest(matcher *job, const match_stage *stage, const key_run *run)
{
    size_t left[PLIM_DIFF_SIDES] = { 0 };
    const size_t count = run->before_count + run->after_count;
    for (size_t i = 0; i < count; i++) {
        const plim_diff_row *const row = &run->before[i];
        left[row->kind] += job->classes->of[row->kind][row->stack] == PLIM_DIFF_NO_CLASS;
    }
    uint32_t class = 0;
    if (left[PLIM_DIFF_BEFORE] == 0 || left[PLIM_DIFF_AFTER] == 0) {
        return true;
    }
    if (!add_class(job, PLIM_DIFF_LIKELY, stage->because, &class)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const plim_diff_row *const row = &run->before[i];
        if (job->classes->of[row->kind][row->stack] == PLIM_DIFF_NO_CLASS) {
            put(job, row, class);
        }
    }
    return true;
}

static bool join_run(matcher *job, const match_stage *stage, const key_run *run)
{
    if (!plim_diff_pair(run->before, run->before_count, run->after, run->after_count,
                        job->classes->mem)) {
        return false;
    }
    for (size_t i = 0; i < run->before_count; i++) {
        const plim_diff_row *const before = &run->before[i];
        if (before->pair == PLIM_NONE) {
            continue;
        }
        const plim_diff_row *const after = &run->after[before->pair];
        if (stage->frames == FRAMES_ALL ? !join_equals(job, run, before, after)
                                        : !join_likely(job, stage, before, after)) {
            return false;
        }
    }
    return !stage->takes_all || join_rest(job, stage, run);
}

static bool do_stage(matcher *job, const match_stage *stage)
{
    if (!gather(job, stage->frames)) {
        return false;
    }
    key_run run;
    for (size_t i = 0; i < job->rows.count;) {
        i = run_at(job, i, &run);
        if (run.before_count > 0 && run.after_count > 0 && !join_run(job, stage, &run)) {
            return false;
        }
    }
    return true;
}

/* --- both sides --- */

/* What has no counterpart is a class of its own. */
static bool name_rest(matcher *job)
{
    for (uint8_t kind = 0; kind < PLIM_DIFF_SIDES; kind++) {
        const plim_diff_match match = kind == PLIM_DIFF_BEFORE ? PLIM_DIFF_GONE : PLIM_DIFF_NEW;
        for (uint32_t i = 0; i < job->classes->counts[kind]; i++) {
            const plim_diff_side *const side = &job->code->sides[kind];
            uint32_t *const class = &job->classes->of[kind][i];
            if (*class == PLIM_DIFF_NO_CLASS && side->profiles[i].count > 0 &&
                plim_history_stack(side->history, i).frame_count > 0 &&
                !add_class(job, match, NULL, class)) {
                return false;
            }
        }
    }
    return true;
}

/* One history: each stack is itself. */
static bool match_itself(matcher *job)
{
    for (uint32_t i = 0; i < job->classes->counts[PLIM_DIFF_BEFORE]; i++) {
        uint32_t class = 0;
        if (!add_class(job, PLIM_DIFF_SURE, NULL, &class)) {
            return false;
        }
        job->classes->of[PLIM_DIFF_BEFORE][i] = class;
        job->classes->of[PLIM_DIFF_AFTER][i] = class;
    }
    return true;
}

static bool match_stacks(matcher *job)
{
    const plim_diff_side *const sides = job->code->sides;
    uint32_t none = 0;
    if (!add_class(job, PLIM_DIFF_SURE, NULL, &none)) {
        return false;
    }
    if (sides[PLIM_DIFF_BEFORE].history == sides[PLIM_DIFF_AFTER].history) {
        return match_itself(job);
    }
    if (!do_stage(job, &stage_functions)) {
        return false;
    }
    for (size_t i = 0; i < sizeof stages_likely / sizeof stages_likely[0]; i++) {
        if (!do_stage(job, &stages_likely[i])) {
            return false;
        }
    }
    return name_rest(job);
}

plim_status plim_diff_classes_init(plim_diff_classes *classes, plim_diff_code *code,
                                   plim_error *err)
{
    *classes = (plim_diff_classes){ .mem = code->mem };
    matcher job = { .classes = classes, .code = code, .hash_key = plim_hash_key() };
    bool fits = true;
    for (size_t kind = 0; kind < PLIM_DIFF_SIDES; kind++) {
        const uint32_t count = plim_history_stack_count(code->sides[kind].history);
        if (count > 0) {
            classes->of[kind] = plim_mem_alloc_zeroed(code->mem, count, sizeof(uint32_t));
            classes->counts[kind] = count;
            fits = fits && classes->of[kind] != NULL;
        }
    }
    const size_t functions = code->functions.count;
    if (functions > 0) {
        job.labels = plim_mem_alloc_zeroed(code->mem, functions, sizeof *job.labels);
        fits = fits && job.labels != NULL;
    }
    fits = fits && plim_diff_renames_init(&job.renames, functions, code->mem) && match_stacks(&job);
    plim_mem_free(code->mem, job.labels, functions, sizeof *job.labels);
    plim_diff_renames_deinit(&job.renames);
    PLIM_VEC_FREE(code->mem, &job.rows);
    return fits ? PLIM_OK : plim_fail_memory(err, "matching stacks");
}

void plim_diff_classes_deinit(plim_diff_classes *classes)
{
    if (classes->mem == NULL) {
        return;
    }
    for (size_t kind = 0; kind < PLIM_DIFF_SIDES; kind++) {
        plim_mem_free(classes->mem, classes->of[kind], classes->counts[kind], sizeof(uint32_t));
    }
    PLIM_VEC_FREE(classes->mem, &classes->items);
    *classes = (plim_diff_classes){ 0 };
}
