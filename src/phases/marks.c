/*
 * marks.c - annotations sorted by time and merged with the events. See marks.h.
 */
#include "phases/marks.h"

#include "base/ascii.h"
#include "base/error.h"

#include <string.h>

/* An annotation that means something here. */
typedef struct moment {
    int64_t time_us;
    uint32_t order; /* among the annotations: what a tie goes by */
    uint8_t kind;
    bool is_start;
} moment;

typedef PLIM_VEC(moment) moments;

/* Spans of one kind that are open at an event. */
typedef struct open_mark {
    uint64_t depth;
    uint64_t first;
} open_mark;

/* --- names --- */

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* A name's letters in small, so that "Train Step #3", "train_step_4" and "## TrainStep 5 ##" are
 * one; false where they are too many to be any word here. */
static bool letters_of(const char *name, char letters[16])
{
    size_t count = 0;
    for (; *name != '\0'; name++) {
        if (!plim_is_letter(*name)) {
            continue;
        }
        if (count == 15) {
            return false;
        }
        letters[count++] = plim_lower(*name);
    }
    letters[count] = '\0';
    return true;
}

static plim_mark_kind kind_of(const char *name)
{
    static const char *const words[] = {
        "step",      "trainstep", "trainingstep", "globalstep", "iteration",
        "trainiter", "iter",      "trainbatch",   "onestep",    "trainonestep",
    };
    if (begins(name, "ProfilerStep#")) {
        return PLIM_MARK_PROFILER;
    }
    if (begins(name, "Optimizer.step#")) {
        return PLIM_MARK_OPTIMIZER;
    }
    if (begins(name, "Optimizer.zero_grad#")) {
        return PLIM_MARK_ZERO_GRAD;
    }
    if (begins(name, "enumerate(DataLoader)#")) {
        return PLIM_MARK_LOADER;
    }
    char letters[16];
    if (letters_of(name, letters)) {
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            if (strcmp(letters, words[i]) == 0) {
                return PLIM_MARK_STEP;
            }
        }
    }
    return PLIM_MARK_KIND_COUNT;
}

/* --- order --- */

static bool comes_before(const moment *a, const moment *b)
{
    return a->time_us != b->time_us ? a->time_us < b->time_us : a->order < b->order;
}

/* Merges the sorted runs [0, middle) and [middle, count) of `from` into `to`. */
static void merge(const moment *from, size_t middle, size_t count, moment *to)
{
    size_t left = 0;
    size_t right = middle;
    for (size_t i = 0; i < count; i++) {
        const bool takes_left =
            left < middle && (right == count || !comes_before(&from[right], &from[left]));
        to[i] = takes_left ? from[left++] : from[right++];
    }
}

/* Merge sort from the bottom up: no depth, no bad case. The result lies in list->items. */
static bool sort_moments(moments *list, const plim_mem *mem)
{
    const size_t count = list->count;
    bool is_sorted = true;
    for (size_t i = 1; i < count; i++) {
        is_sorted = is_sorted && !comes_before(&list->items[i], &list->items[i - 1]);
    }
    if (is_sorted) {
        return true;
    }
    moment *spare = plim_mem_alloc(mem, list->capacity, sizeof *spare);
    if (spare == NULL) {
        return false;
    }
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            const size_t rest = count - at;
            const size_t both = rest < 2 * width ? rest : 2 * width;
            merge(list->items + at, width < both ? width : both, both, spare + at);
        }
        moment *const sorted = spare;
        spare = list->items;
        list->items = sorted;
    }
    plim_mem_free(mem, spare, list->capacity, sizeof *spare);
    return true;
}

/* --- the merge with events --- */

static bool take_moment(plim_marks *marks, open_mark *open, const moment *one, uint64_t event)
{
    if (one->is_start) {
        if (open->depth++ == 0) {
            open->first = event;
        }
        return true;
    }
    if (open->depth == 0 || --open->depth > 0) { /* ends what began before the recording */
        return true;
    }
    const plim_mark mark = { .first = open->first, .end = event, .is_ended = true };
    return PLIM_VEC_PUSH(marks->mem, &marks->of[one->kind], mark);
}

static bool close_all(plim_marks *marks, const open_mark *open, uint64_t event_count)
{
    for (size_t kind = 0; kind < PLIM_MARK_KIND_COUNT; kind++) {
        const plim_mark mark = { .first = open[kind].first, .end = event_count };
        if (open[kind].depth > 0 && !PLIM_VEC_PUSH(marks->mem, &marks->of[kind], mark)) {
            return false;
        }
    }
    return true;
}

/* A start comes before the events of its microsecond, an end after them. */
static bool place(plim_marks *marks, const moments *list, const plim_events *events)
{
    open_mark open[PLIM_MARK_KIND_COUNT] = { { 0 } };
    size_t next = 0;
    int64_t clock_us = INT64_MIN;
    for (uint64_t i = 0; i < events->count && next < list->count; i++) {
        const int64_t time_us = events->time_us[i];
        if (time_us == PLIM_TIME_UNKNOWN || time_us < clock_us) {
            continue;
        }
        clock_us = time_us;
        while (next < list->count) {
            const moment *one = &list->items[next];
            if (one->is_start ? one->time_us > clock_us : one->time_us >= clock_us) {
                break;
            }
            next++;
            if (!take_moment(marks, &open[one->kind], one, i)) {
                return false;
            }
        }
    }
    while (next < list->count) {
        const moment *one = &list->items[next++];
        if (!take_moment(marks, &open[one->kind], one, events->count)) {
            return false;
        }
    }
    return close_all(marks, open, events->count);
}

static bool collect(moments *list, const plim_history *history, const plim_device_history *device,
                    const plim_mem *mem)
{
    uint64_t count = 0;
    const plim_annotation *annotations = plim_history_annotations(history, &count);
    uint32_t name = PLIM_NONE; /* the one judged last: they come in pairs */
    plim_mark_kind kind = PLIM_MARK_KIND_COUNT;
    for (uint64_t i = 0; i < count; i++) {
        const plim_annotation *one = &annotations[i];
        if (one->device != device->device || one->time_us == PLIM_TIME_UNKNOWN) {
            continue;
        }
        if (one->name != name) {
            name = one->name;
            kind = kind_of(plim_history_string(history, name, NULL));
        }
        const moment found = { .time_us = one->time_us,
                               .order = (uint32_t)i,
                               .kind = (uint8_t)kind,
                               .is_start = one->is_start };
        if (kind != PLIM_MARK_KIND_COUNT && !PLIM_VEC_PUSH(mem, list, found)) {
            return false;
        }
    }
    return true;
}

plim_status plim_marks_init(plim_marks *ret_marks, const plim_history *history,
                            const plim_device_history *device, const plim_mem *mem, plim_error *err)
{
    plim_marks marks = { .mem = mem };
    moments list = { 0 };
    const bool is_done = collect(&list, history, device, mem) && sort_moments(&list, mem) &&
                         place(&marks, &list, &device->events);
    PLIM_VEC_FREE(mem, &list);
    if (!is_done) {
        plim_marks_deinit(&marks);
        return plim_fail_memory(err, "placing annotations");
    }
    *ret_marks = marks;
    return PLIM_OK;
}

void plim_marks_deinit(plim_marks *marks)
{
    if (marks->mem == NULL) {
        return;
    }
    for (size_t kind = 0; kind < PLIM_MARK_KIND_COUNT; kind++) {
        PLIM_VEC_FREE(marks->mem, &marks->of[kind]);
    }
    *marks = (plim_marks){ 0 };
}
