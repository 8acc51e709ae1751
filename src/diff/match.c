/*
 * match.c - stages that match stacks, the surest first; each sees what those before it left.
 */
#include "diff/match.h"

#include "base/error.h"
#include "base/hash.h"
#include "diff/anchors.h"
#include "diff/calls.h"
#include "diff/pairs.h"
#include "diff/renames.h"

#include <stdlib.h>

/* --- stages --- */

/* The frames that make a stack's key, and as what they count. */
typedef enum stage_frames {
    FRAMES_ALL,
    FRAMES_PYTHON, /* Python's, and compiled ones that name an operator */
    FRAMES_NAMED,  /* likewise; functions of one side alone by their name in any file or class */
    FRAMES_PLACES, /* likewise; those count as being there */
    FRAMES_COMMON, /* functions that both sides have */
    FRAMES_SHAPE,  /* those of Python; the user's count as being there */
    FRAMES_USER_LINES, /* the user's, with their lines */
    FRAMES_USER,       /* the user's that both sides have */
    FRAMES_LIBRARIES,  /* Python's that are not the user's */
    FRAMES_OPERATOR,   /* the one that names the stack best; of stacks without one of the user's */
} stage_frames;

typedef struct match_stage {
    stage_frames frames;
    bool is_sure;       /* of pairs that share sizes */
    bool needs_sizes;   /* a pair shares sizes */
    bool needs_balance; /* a key has as many stacks on both sides */
    bool takes_all;     /* what has no pair of its own joins the rest of its key */
    const char *because;
} match_stage;

static const match_stage stage_balanced = { .frames = FRAMES_ALL, .needs_balance = true };
static const match_stage stage_balanced_common = { .frames = FRAMES_COMMON,
                                                   .needs_sizes = true,
                                                   .needs_balance = true,
                                                   .because = "called through other functions" };
static const match_stage stages_rest[] = {
    { .frames = FRAMES_ALL },
    { .frames = FRAMES_PYTHON, .is_sure = true, .because = "through other compiled code" },
    { .frames = FRAMES_COMMON, .needs_sizes = true, .because = "called through other functions" },
    { .frames = FRAMES_SHAPE, .needs_sizes = true, .because = "the same calls under other names" },
    { .frames = FRAMES_USER_LINES,
      .takes_all = true,
      .because = "the same line, through other code of a library" },
    { .frames = FRAMES_USER,
      .needs_sizes = true,
      .because = "the same functions, through other code of a library" },
    { .frames = FRAMES_LIBRARIES,
      .needs_sizes = true,
      .because = "the same requests from other code" },
    { .frames = FRAMES_OPERATOR,
      .takes_all = true,
      .because = "the same operator, called from elsewhere" },
};

typedef struct matcher {
    plim_diff_classes *classes;
    plim_diff_code *code;
    plim_diff_renames renames;
    plim_diff_anchors anchors;
    PLIM_VEC(plim_diff_row) rows;
    uint64_t hash_key;
    uint8_t *labels; /* by function: plim_frame_label + 1, or 0 where it is not looked up yet */
} matcher;

#define NO_KEY UINT64_C(0) /* nothing of the stack counts in this stage */

static bool is_in_both(const matcher *job, uint32_t function)
{
    const plim_diff_function *const one = &job->code->functions.items[function];
    return (one->stacks[PLIM_DIFF_BEFORE] > 0 && one->stacks[PLIM_DIFF_AFTER] > 0) ||
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

/* Numbers that no function has. */
#define A_USERS_FUNCTION (UINT64_C(1) << 33)
#define A_FUNCTION       (UINT64_C(1) << 34)
#define A_NAMED_FUNCTION (UINT64_C(1) << 35)
#define NOT_IN_KEY       UINT64_MAX

/* A name without its class: "forward" of "Model.forward". */
static uint64_t short_name(const matcher *job, uint32_t function)
{
    const plim_diff_text *const name =
        &job->code->texts.items[job->code->functions.items[function].name];
    size_t first = name->bytes;
    while (first > 0 && name->data[first - 1] != '.') {
        first--;
    }
    return plim_hash_bytes(name->data + first, name->bytes - first, job->hash_key);
}

/* As what a frame counts in a key. */
static uint64_t value_of(matcher *job, const plim_diff_side *side, uint32_t frame,
                         stage_frames frames)
{
    const uint32_t function = side->functions[frame];
    const uint8_t owner = job->code->functions.items[function].owner;
    const bool is_user = owner == PLIM_FRAME_USER;
    const uint64_t number = plim_diff_renamed(&job->renames, function);
    if (frames != FRAMES_ALL && frames != FRAMES_COMMON && owner == PLIM_FRAME_NATIVE &&
        label_of(job, function) >= PLIM_LABEL_OTHER) {
        return NOT_IN_KEY;
    }
    switch (frames) {
    case FRAMES_NAMED:
        return is_in_both(job, function) ? number : A_NAMED_FUNCTION ^ short_name(job, function);
    case FRAMES_PLACES:
        return is_in_both(job, function) ? number : is_user ? A_USERS_FUNCTION : A_FUNCTION;
    case FRAMES_COMMON:
        return is_in_both(job, function) ? number : NOT_IN_KEY;
    case FRAMES_SHAPE:
        return is_user ? A_USERS_FUNCTION : number;
    case FRAMES_USER_LINES:
        return is_user ? number << 32 | plim_history_frame(side->history, frame)->line : NOT_IN_KEY;
    case FRAMES_USER:
        return is_user && is_in_both(job, function) ? number : NOT_IN_KEY;
    case FRAMES_LIBRARIES:
        return is_user ? NOT_IN_KEY : number;
    case FRAMES_ALL:
    case FRAMES_PYTHON:
    case FRAMES_OPERATOR:
        break;
    }
    return number;
}

static uint64_t key_of(matcher *job, const plim_diff_side *side, uint32_t number,
                       stage_frames frames)
{
    const plim_stack stack = plim_history_stack(side->history, number);
    if (frames == FRAMES_OPERATOR) {
        return operator_key(job, side, stack);
    }
    uint64_t key = frames == FRAMES_LIBRARIES && stack.frame_count > 0 ? 1 : NO_KEY;
    for (uint32_t i = stack.frame_count; i > 0; i--) {
        const uint64_t value = value_of(job, side, stack.frames[i - 1], frames);
        if (value != NOT_IN_KEY) {
            key = plim_hash_u64(key ^ plim_hash_u64(value, job->hash_key), job->hash_key) | 1;
        }
    }
    return key;
}

/* --- rows without a class --- */

/* The innermost line of the user's, and where it is to be looked for. */
static void find_place(matcher *job, plim_diff_row *row)
{
    const plim_stack stack = plim_history_stack(row->side->history, row->stack);
    row->line_last = UINT32_MAX;
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const plim_diff_function *const function =
            &job->code->functions.items[row->side->functions[stack.frames[i]]];
        if (function->owner == PLIM_FRAME_USER) {
            row->line = plim_history_frame(row->side->history, stack.frames[i])->line;
            if (row->kind == PLIM_DIFF_BEFORE) {
                plim_diff_anchors_place(&job->anchors, function->file, row->line, &row->line_first,
                                        &row->line_last);
            }
            return;
        }
    }
}

static bool gather(matcher *job, stage_frames frames)
{
    job->rows.count = 0;
    for (uint8_t kind = 0; kind < PLIM_DIFF_SIDES; kind++) {
        const plim_diff_side *const side = &job->code->sides[kind];
        for (uint32_t i = 0; i < job->classes->counts[kind]; i++) {
            if (side->profiles[i].count == 0 || job->classes->of[kind][i] != PLIM_DIFF_NO_CLASS) {
                continue;
            }
            plim_diff_row row = { .key = key_of(job, side, i, frames),
                                  .side = side,
                                  .stack = i,
                                  .kind = kind,
                                  .pair = PLIM_NONE };
            find_place(job, &row);
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

/* Differences of two stacks, frame by frame. */
typedef struct difference {
    bool is_renamed;    /* a function has another name, */
    bool is_file_moved; /* or one of the user's lies in another file */
    bool is_line_moved;
} difference;

static difference difference_of(const matcher *job, const plim_diff_row *before,
                                const plim_diff_row *after)
{
    const plim_stack a = plim_history_stack(before->side->history, before->stack);
    const plim_stack b = plim_history_stack(after->side->history, after->stack);
    difference found = { .is_line_moved = !plim_diff_has_equal_lines(before, after) };
    for (uint32_t i = 0; i < a.frame_count && i < b.frame_count; i++) {
        const uint32_t one = before->side->functions[a.frames[i]];
        const uint32_t other = after->side->functions[b.frames[i]];
        const plim_diff_function *const functions = job->code->functions.items;
        found.is_renamed = found.is_renamed || functions[one].name != functions[other].name;
        found.is_file_moved = found.is_file_moved || functions[one].file != functions[other].file;
    }
    return found;
}

static const char *because_of(const difference *found)
{
    if (found->is_renamed) {
        return found->is_line_moved ? "renamed, and lines moved" : "renamed in place";
    }
    if (found->is_file_moved) {
        return found->is_line_moved ? "in another file, and lines moved" : "in another file";
    }
    return found->is_line_moved ? "lines moved" : NULL;
}

static bool join(matcher *job, const plim_diff_row *before, const plim_diff_row *after,
                 plim_diff_match match, const char *because)
{
    uint32_t class = 0;
    if (!add_class(job, match, because, &class)) {
        return false;
    }
    put(job, before, class);
    put(job, after, class);
    return true;
}

/* The lines of two stacks that alone are each other's. */
static bool add_anchors(matcher *job, const plim_diff_row *before, const plim_diff_row *after)
{
    const plim_stack a = plim_history_stack(before->side->history, before->stack);
    const plim_stack b = plim_history_stack(after->side->history, after->stack);
    for (uint32_t i = 0; i < a.frame_count && i < b.frame_count; i++) {
        const plim_diff_function *const function =
            &job->code->functions.items[before->side->functions[a.frames[i]]];
        const plim_diff_anchor anchor = {
            .file = function->file,
            .before = plim_history_frame(before->side->history, a.frames[i])->line,
            .after = plim_history_frame(after->side->history, b.frames[i])->line,
        };
        if (function->owner == PLIM_FRAME_USER && !plim_diff_anchors_add(&job->anchors, anchor)) {
            return false;
        }
    }
    return true;
}

static bool join_equals(matcher *job, const key_run *run, const plim_diff_row *before,
                        const plim_diff_row *after)
{
    const difference found = difference_of(job, before, after);
    /* Of several stacks that differ in their lines alone their sizes say which is which. */
    const bool is_alone = run->before_count == 1 && run->after_count == 1;
    const bool is_sure = plim_diff_alike(before, after) > 0 ||
                         (!found.is_renamed && (!found.is_line_moved || is_alone));
    return join(job, before, after, is_sure ? PLIM_DIFF_SURE : PLIM_DIFF_LIKELY,
                because_of(&found)) &&
           (!is_alone || add_anchors(job, before, after));
}

/* True if both go through the same functions, renamed ones included. */
static bool has_equal_functions(const matcher *job, const plim_diff_row *before,
                                const plim_diff_row *after)
{
    const plim_stack a = plim_history_stack(before->side->history, before->stack);
    const plim_stack b = plim_history_stack(after->side->history, after->stack);
    bool is_equal = a.frame_count == b.frame_count;
    for (uint32_t i = 0; is_equal && i < a.frame_count; i++) {
        is_equal = plim_diff_renamed(&job->renames, before->side->functions[a.frames[i]]) ==
                   plim_diff_renamed(&job->renames, after->side->functions[b.frames[i]]);
    }
    return is_equal;
}

static bool join_others(matcher *job, const match_stage *stage, const plim_diff_row *before,
                        const plim_diff_row *after)
{
    /* Of code that says little the requests must be the same, in sizes and in number. */
    const bool is_alike = stage->frames == FRAMES_LIBRARIES
                              ? plim_diff_has_equal_requests(before, after)
                              : plim_diff_alike(before, after) > 0;
    /* A pair that shares nothing but its key joins the rest, if anything does. */
    if (!is_alike && (stage->needs_sizes || stage->takes_all)) {
        return true;
    }
    return join(job, before, after, is_alike && stage->is_sure ? PLIM_DIFF_SURE : PLIM_DIFF_LIKELY,
                stage->because);
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
        if (has_equal_functions(job, before, after) ? !join_equals(job, run, before, after)
                                                    : !join_others(job, stage, before, after)) {
            return false;
        }
    }
    return !stage->takes_all || join_rest(job, stage, run);
}

/* Keys of one stack a side first: their lines say where others are. */
static bool do_stage(matcher *job, const match_stage *stage)
{
    for (int is_alone = 1; is_alone >= 0; is_alone--) {
        if (!gather(job, stage->frames)) {
            return false;
        }
        key_run run;
        for (size_t i = 0; i < job->rows.count;) {
            i = run_at(job, i, &run);
            const bool is_pair = run.before_count == 1 && run.after_count == 1;
            const bool is_balanced = run.before_count == run.after_count;
            if (run.before_count > 0 && run.after_count > 0 && (is_pair || !is_alone) &&
                (is_balanced || !stage->needs_balance) && !join_run(job, stage, &run)) {
                return false;
            }
        }
        plim_diff_anchors_sort(&job->anchors);
    }
    return true;
}

/* --- renamed functions --- */

#define GAP_MAX      16u /* functions in a row that one side alone has; more do not count */
#define WEIGHT_ALIKE 4u  /* of a pair of stacks that share sizes; any other counts one */

#define WEIGHT_MIN (8 * WEIGHT_ALIKE) /* one such pair, of functions that are used half alike */

/* The functions of one side alone that stand in a stack from frame *at on, up to the next frame
 * that counts in both; *at is after it then. Outermost first. */
static size_t gap_at(matcher *job, const plim_diff_row *row, uint32_t *at,
                     uint32_t functions[GAP_MAX])
{
    const plim_stack stack = plim_history_stack(row->side->history, row->stack);
    size_t count = 0;
    while (*at > 0) {
        const uint32_t frame = stack.frames[--*at];
        if (value_of(job, row->side, frame, FRAMES_PLACES) == NOT_IN_KEY) {
            continue;
        }
        if (is_in_both(job, row->side->functions[frame])) {
            break;
        }
        if (count < GAP_MAX) {
            functions[count++] = row->side->functions[frame];
        }
    }
    return count;
}

/* As many stacks go through both functions: 16; half as many: 8; fewer still: 0. */
static uint32_t alike_use(const matcher *job, uint32_t before, uint32_t after)
{
    const plim_diff_function *const functions = job->code->functions.items;
    const uint64_t one = functions[before].stacks[PLIM_DIFF_BEFORE];
    const uint64_t other = functions[after].stacks[PLIM_DIFF_AFTER];
    const uint64_t share = one < other ? 16 * one / other : 16 * other / one;
    return share >= 8 ? (uint32_t)share : 0;
}

/* In a gap of as many functions each has its place; else each may be each of about its place. */
static bool vote(matcher *job, const plim_diff_row *before, const plim_diff_row *after)
{
    const uint32_t weight = plim_diff_alike(before, after) > 0 ? WEIGHT_ALIKE : 1;
    uint32_t i = plim_history_stack(before->side->history, before->stack).frame_count;
    uint32_t k = plim_history_stack(after->side->history, after->stack).frame_count;
    while (i > 0 && k > 0) {
        uint32_t mine[GAP_MAX];
        uint32_t others[GAP_MAX];
        const size_t m = gap_at(job, before, &i, mine);
        const size_t n = gap_at(job, after, &k, others);
        for (size_t a = 0; a < m; a++) {
            for (size_t b = 0; b < n; b++) {
                const bool is_place = a == b || a + n == b + m; /* from either end */
                const uint32_t share = alike_use(job, mine[a], others[b]);
                if (is_place && share > 0 &&
                    !plim_diff_vote_for(&job->renames, mine[a], others[b], weight * share)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* Learns which functions of one side are which of the other, by their names or by their places in
 * stacks that are equal otherwise; and matches again. */
static bool learn(matcher *job, stage_frames frames, uint32_t weight_min)
{
    if (!gather(job, frames)) {
        return false;
    }
    key_run run;
    for (size_t i = 0; i < job->rows.count;) {
        i = run_at(job, i, &run);
        if (run.before_count == 0 || run.after_count == 0) {
            continue;
        }
        if (!plim_diff_pair(run.before, run.before_count, run.after, run.after_count,
                            job->classes->mem)) {
            return false;
        }
        for (size_t k = 0; k < run.before_count; k++) {
            const uint32_t pair = run.before[k].pair;
            if (pair != PLIM_NONE && !vote(job, &run.before[k], &run.after[pair])) {
                return false;
            }
        }
    }
    return !plim_diff_count_votes(&job->renames, weight_min) || do_stage(job, &stage_balanced);
}

/* A function by its short name, among those of one side alone. */
typedef struct named_function {
    uint64_t name;
    uint32_t function;
    uint8_t kind;
} named_function;

static int compare_named(const void *left, const void *right)
{
    const named_function *const a = left;
    const named_function *const b = right;
    if (a->name != b->name) {
        return a->name < b->name ? -1 : 1;
    }
    return a->kind != b->kind ? a->kind - b->kind
                              : (a->function > b->function) - (a->function < b->function);
}

/* Votes for functions that alone have their names on their sides. */
static bool vote_for_names(matcher *job, named_function *functions, size_t count)
{
    qsort(functions, count, sizeof *functions, compare_named);
    for (size_t i = 0; i + 1 < count; i++) {
        const named_function *const one = &functions[i];
        const bool is_pair = one[0].name == one[1].name && one[0].kind != one[1].kind;
        const bool is_alone =
            (i == 0 || one[-1].name != one->name) && (i + 2 == count || one[2].name != one->name);
        if (is_pair && is_alone &&
            !plim_diff_vote_for(&job->renames, one[0].function, one[1].function, 1)) {
            return false;
        }
    }
    return true;
}

/* Learns renamed files and classes: functions of one side alone whose names are. */
static bool learn_names(matcher *job)
{
    const size_t count = job->code->functions.count;
    size_t listed = 0;
    if (count == 0) {
        return true;
    }
    named_function *const list = plim_mem_alloc(job->classes->mem, count, sizeof *list);
    if (list == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const plim_diff_function *const one = &job->code->functions.items[i];
        if (one->stacks[PLIM_DIFF_BEFORE] + one->stacks[PLIM_DIFF_AFTER] > 0 &&
            !is_in_both(job, i) && one->owner != PLIM_FRAME_NATIVE) {
            list[listed++] = (named_function){ .name = short_name(job, i),
                                               .function = i,
                                               .kind = one->stacks[PLIM_DIFF_AFTER] > 0 };
        }
    }
    const bool fits = vote_for_names(job, list, listed);
    plim_mem_free(job->classes->mem, list, count, sizeof *list);
    return fits && (!plim_diff_count_votes(&job->renames, 1) || do_stage(job, &stage_balanced));
}

/* --- both sides --- */

/* A stack without a counterpart is a class of its own. */
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
    if (!do_stage(job, &stage_balanced) || !learn(job, FRAMES_NAMED, 1) || !learn_names(job) ||
        !learn(job, FRAMES_PLACES, WEIGHT_MIN) || !learn(job, FRAMES_PLACES, WEIGHT_MIN) ||
        !learn(job, FRAMES_COMMON, WEIGHT_MIN) || !do_stage(job, &stage_balanced_common)) {
        return false;
    }
    for (size_t i = 0; i < sizeof stages_rest / sizeof stages_rest[0]; i++) {
        if (!do_stage(job, &stages_rest[i])) {
            return false;
        }
    }
    return name_rest(job);
}

/* The engine's requests are matched as the calls are. */
static bool name_engine_classes(matcher *job)
{
    plim_diff_classes *const classes = job->classes;
    const size_t count = classes->items.count;
    classes->engine_of = plim_mem_alloc_zeroed(classes->mem, count, sizeof *classes->engine_of);
    if (classes->engine_of == NULL) {
        return false;
    }
    classes->engine_count = count;
    for (size_t kind = 0; kind < PLIM_DIFF_SIDES; kind++) {
        const plim_diff_side *const side = &job->code->sides[kind];
        for (uint32_t i = 0; i < classes->counts[kind]; i++) {
            const uint32_t call = classes->of[kind][i];
            if (call == PLIM_DIFF_NO_CLASS || classes->engine_of[call] != PLIM_DIFF_NO_CLASS ||
                !plim_diff_is_call(side, i)) {
                continue;
            }
            const plim_diff_class of_call = classes->items.items[call];
            uint32_t class = 0;
            if (!add_class(job, of_call.match, of_call.because, &class)) {
                return false;
            }
            classes->items.items[class].is_by_engine = true;
            classes->engine_of[call] = class;
        }
    }
    return true;
}

plim_status plim_diff_classes_init(plim_diff_classes *classes, plim_diff_code *code,
                                   plim_error *err)
{
    *classes = (plim_diff_classes){ .mem = code->mem };
    matcher job = { .classes = classes, .code = code, .hash_key = plim_hash_key() };
    plim_diff_anchors_init(&job.anchors, code->mem);
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
    fits = fits && name_engine_classes(&job);
    plim_mem_free(code->mem, job.labels, functions, sizeof *job.labels);
    plim_diff_anchors_deinit(&job.anchors);
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
    plim_mem_free(classes->mem, classes->engine_of, classes->engine_count,
                  sizeof *classes->engine_of);
    PLIM_VEC_FREE(classes->mem, &classes->items);
    *classes = (plim_diff_classes){ 0 };
}
