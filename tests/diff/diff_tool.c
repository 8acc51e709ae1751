/*
 * diff_tool.c - a comparison as lines of fields, for tests that read labels.
 *
 *   diff_tool BEFORE AFTER [GROUPS]
 *
 *   device N lead MOMENT steps B A
 *   moment NAME same|differs BEFORE_BYTES AFTER_BYTES | moment NAME unknown
 *   category NAME BEFORE AFTER
 *   group MATCH CHANGE BEFORE AFTER CATEGORY PACKAGE BEFORE_PLACE AFTER_PLACE BECAUSE
 */
#include "plimsoll/diff.h"
#include "plimsoll/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_place(const plim_history *history, const plim_diff_share *share)
{
    const plim_stack stack = plim_history_stack(history, share->stack);
    if (stack.frame_count == 0) {
        (void)printf("\t-");
        return;
    }
    const uint32_t at = share->user_frame != PLIM_NONE ? share->user_frame : 0;
    const plim_frame *const frame = plim_history_frame(history, stack.frames[at]);
    (void)printf("\t%s:%" PRIu32, plim_history_string(history, frame->filename, NULL), frame->line);
    if (share->model_frame != PLIM_NONE) {
        const plim_frame *const model =
            plim_history_frame(history, stack.frames[share->model_frame]);
        (void)printf(" %s:%" PRIu32, plim_history_string(history, model->filename, NULL),
                     model->line);
    }
}

static void print_moment(const plim_history *const histories[2], const plim_diff_moment *moment,
                         plim_diff_moment_kind kind, size_t groups_max)
{
    if (!moment->is_known) {
        (void)printf("moment\t%s\tunknown\n", plim_diff_moment_name(kind));
        return;
    }
    (void)printf("moment\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\n", plim_diff_moment_name(kind),
                 moment->is_same ? "same" : "differs", moment->before.requested_bytes,
                 moment->after.requested_bytes);
    for (size_t i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        const plim_diff_amount *const amount = &moment->categories[i];
        if (amount->before_bytes != amount->after_bytes) {
            (void)printf("category\t%s\t%" PRIu64 "\t%" PRIu64 "\n",
                         plim_category_name((plim_category)i), amount->before_bytes,
                         amount->after_bytes);
        }
    }
    for (size_t i = 0; i < moment->group_count; i++) {
        const plim_diff_group *const group = &moment->groups[i];
        if (i >= groups_max && moment->group_count - i > groups_max) {
            continue;
        }
        (void)printf("group\t%s\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s",
                     plim_diff_match_name(group->match), group->change_bytes, group->before.bytes,
                     group->after.bytes, plim_category_name(group->category), group->package);
        print_place(histories[0], &group->before);
        print_place(histories[1], &group->after);
        (void)printf("\t%s\n", group->because != NULL ? group->because : "");
    }
}

static void print_result(const plim_history *const histories[2], const plim_diff_result *result,
                         size_t groups_max)
{
    for (size_t i = 0; i < plim_diff_device_count(result); i++) {
        const plim_diff_device *const device = plim_diff_device_at(result, i);
        (void)printf("device\t%" PRId32 "\tlead\t%s\tsteps\t%" PRIu64 "\t%" PRIu64 "\n",
                     device->device, plim_diff_moment_name(device->lead), device->before_steps,
                     device->after_steps);
        for (size_t kind = 0; kind < PLIM_DIFF_MOMENT_COUNT; kind++) {
            print_moment(histories, &device->moments[kind], (plim_diff_moment_kind)kind,
                         groups_max);
        }
    }
}

int main(int argc, char **argv)
{
    plim_error err = { 0 };
    plim_history *before = NULL;
    plim_history *after = NULL;
    plim_diff_result *result = NULL;
    if (argc < 3) {
        return 2;
    }
    const size_t groups_max = argc > 3 ? strtoul(argv[3], NULL, 10) : SIZE_MAX;
    const bool is_done = plim_history_load(argv[1], NULL, &before, &err) == PLIM_OK &&
                         plim_history_load(argv[2], NULL, &after, &err) == PLIM_OK &&
                         plim_diff(before, after, NULL, &result, &err) == PLIM_OK;
    if (is_done) {
        const plim_history *const histories[] = { before, after };
        print_result(histories, result, groups_max);
    } else {
        (void)fprintf(stderr, "%s\n", err.message);
    }
    plim_diff_destroy(result);
    plim_history_destroy(before);
    plim_history_destroy(after);
    return is_done ? 0 : 3;
}
