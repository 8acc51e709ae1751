/*
 * groups.c - what each class of stacks holds on both sides, in the order in which it is read.
 */
#include "diff/groups.h"

#include "base/error.h"

#include <stdlib.h>

/* --- one group --- */

static int64_t change_of(uint64_t before, uint64_t after)
{
    const uint64_t most = INT64_MAX;
    if (after >= before) {
        return after - before > most ? INT64_MAX : (int64_t)(after - before);
    }
    return before - after > most ? INT64_MIN : -(int64_t)(before - after);
}

static plim_category category_of(const plim_diff_sum *before, const plim_diff_sum *after)
{
    const plim_diff_sum *const sum = after->bytes > 0 ? after : before;
    size_t largest = 0;
    for (size_t i = 1; i < PLIM_CATEGORY_COUNT; i++) {
        largest = sum->of_category[i] > sum->of_category[largest] ? i : largest;
    }
    return (plim_category)largest;
}

/* The innermost frame whose function the other side has not. */
static uint32_t differing_frame(const plim_diff_writer *writer, plim_diff_side_kind side,
                                uint32_t stack)
{
    const plim_diff_side_kind other = side == PLIM_DIFF_BEFORE ? PLIM_DIFF_AFTER : PLIM_DIFF_BEFORE;
    const plim_stack frames = plim_history_stack(writer->code->sides[side].history, stack);
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        if (plim_diff_function_of(writer->code, side, frames.frames[i])->stacks[other] == 0) {
            return i;
        }
    }
    return PLIM_NONE;
}

/* The outermost call of a module that a line of the user's makes. */
static uint32_t model_frame(const plim_diff_writer *writer, plim_diff_side_kind side,
                            uint32_t stack)
{
    plim_diff_side *const one = &writer->code->sides[side];
    const plim_stack frames = plim_history_stack(one->history, stack);
    uint32_t found = PLIM_NONE;
    bool is_called = false; /* by the next frame of the user's */
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        if (plim_frame_is_module_call(&one->kinds, frames.frames[i])) {
            is_called = true;
        } else if (plim_group_owner(&one->grouper, frames.frames[i]) == PLIM_FRAME_USER) {
            found = is_called ? i : found;
            is_called = false;
        }
    }
    return found;
}

static plim_diff_share share_of(const plim_diff_writer *writer, plim_diff_side_kind side,
                                const plim_diff_sum *sum)
{
    plim_diff_share share = { .bytes = plim_total_bytes(sum->bytes),
                              .count = sum->count,
                              .stack = sum->stack,
                              .user_frame = PLIM_NONE,
                              .model_frame = PLIM_NONE,
                              .differing_frame = PLIM_NONE };
    if (sum->stack != PLIM_NONE) {
        share.user_frame = plim_group_user_frame(&writer->code->sides[side].grouper, sum->stack);
        share.model_frame = model_frame(writer, side, sum->stack);
        share.differing_frame = differing_frame(writer, side, sum->stack);
    }
    return share;
}

/*
 * The package of the innermost frame of a library; where the user's code is further in, "", or
 * PyTorch's or Python's if it goes through their Python. Compiled code alone is PyTorch's.
 */
static const char *package_of(const plim_diff_writer *writer, plim_diff_side_kind side,
                              uint32_t stack)
{
    plim_diff_side *const one = &writer->code->sides[side];
    const plim_stack frames = plim_history_stack(one->history, stack);
    const char *found = NULL;
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        const plim_frame_owner owner = plim_group_owner(&one->grouper, frames.frames[i]);
        if (owner == PLIM_FRAME_USER) {
            return found != NULL ? found : "";
        }
        if (owner == PLIM_FRAME_LIBRARY) {
            const plim_frame *const frame = plim_history_frame(one->history, frames.frames[i]);
            const char *const path =
                plim_frame_installed_path(plim_history_string(one->history, frame->filename, NULL));
            size_t bytes = 0;
            const char *const name = path != NULL ? plim_frame_package(path, &bytes) : "";
            return plim_arena_copy(writer->arena, name, bytes);
        }
        if (found == NULL && owner != PLIM_FRAME_NATIVE) {
            found = owner == PLIM_FRAME_TORCH ? "torch" : "python";
        }
    }
    return found != NULL ? found : "torch";
}

static bool write_group(const plim_diff_writer *writer, const plim_diff_sums *sums, uint32_t class,
                        plim_diff_group *ret)
{
    const plim_diff_class *const one = &writer->classes->items.items[class];
    const plim_diff_sum *const before = &sums->items[PLIM_DIFF_BEFORE][class];
    const plim_diff_sum *const after = &sums->items[PLIM_DIFF_AFTER][class];
    *ret = (plim_diff_group){ .match = one->match,
                              .before = share_of(writer, PLIM_DIFF_BEFORE, before),
                              .after = share_of(writer, PLIM_DIFF_AFTER, after),
                              .category = category_of(before, after),
                              .because = one->because,
                              .is_by_engine = one->is_by_engine,
                              .package = "" };
    ret->change_bytes = change_of(ret->before.bytes, ret->after.bytes);
    if (after->stack != PLIM_NONE) {
        ret->package = package_of(writer, PLIM_DIFF_AFTER, after->stack);
    } else if (before->stack != PLIM_NONE) {
        ret->package = package_of(writer, PLIM_DIFF_BEFORE, before->stack);
    }
    return ret->package != NULL;
}

/* --- all of them --- */

/* Most growth first; of equal ones the larger, then in order of the stacks. */
static int compare_groups(const void *left, const void *right)
{
    const plim_diff_group *const a = left;
    const plim_diff_group *const b = right;
    if (a->change_bytes != b->change_bytes) {
        return a->change_bytes > b->change_bytes ? -1 : 1;
    }
    if (a->after.bytes != b->after.bytes) {
        return a->after.bytes > b->after.bytes ? -1 : 1;
    }
    if (a->after.stack != b->after.stack) {
        return a->after.stack < b->after.stack ? -1 : 1;
    }
    return (a->before.stack > b->before.stack) - (a->before.stack < b->before.stack);
}

static bool is_same(const plim_diff_moment *moment)
{
    for (size_t i = 0; i < moment->group_count; i++) {
        if (moment->groups[i].before.bytes != moment->groups[i].after.bytes) {
            return false;
        }
    }
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        if (moment->categories[i].before_bytes != moment->categories[i].after_bytes) {
            return false;
        }
    }
    return true;
}

plim_status plim_diff_write_groups(const plim_diff_writer *writer, const plim_diff_sums *sums,
                                   plim_diff_moment *moment, plim_error *err)
{
    const size_t count = sums->seen.count;
    plim_diff_group *groups = NULL;
    if (count > 0) {
        groups = plim_arena_alloc(writer->arena, count * sizeof *groups);
        if (groups == NULL) {
            return plim_fail_memory(err, "comparing histories");
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!write_group(writer, sums, sums->seen.items[i], &groups[i])) {
            return plim_fail_memory(err, "comparing histories");
        }
    }
    if (count > 0) {
        qsort(groups, count, sizeof *groups, compare_groups);
    }
    moment->groups = groups;
    moment->group_count = count;
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        moment->categories[i] = (plim_diff_amount){
            .before_bytes = plim_total_bytes(sums->categories[PLIM_DIFF_BEFORE][i]),
            .after_bytes = plim_total_bytes(sums->categories[PLIM_DIFF_AFTER][i])
        };
    }
    moment->is_same = is_same(moment);
    return PLIM_OK;
}
