/*
 * lock_groups.c - the peak of a history by the user's lines, as short texts that read the same on
 * another machine; and such texts as a history again.
 */
#include "rehearse/lock.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/text.h"
#include "history/builder.h"
#include "inspect/stack_label.h"

#include "plimsoll/inspect.h"
#include "plimsoll/load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_BYTES_MAX ((size_t)4096)
#define PATH_BYTES_MAX  4096u

/* --- a history's peak --- */

typedef struct gathering {
    const plim_history *history;
    plim_arena *arena;
    const plim_mem *mem;
    char folder[PATH_BYTES_MAX]; /* the current one; paths in it are kept relative */
} gathering;

/* Relative to the current folder; else the last folder and the name: what other machines share. */
static const char *short_path(const gathering *self, const char *path)
{
    const size_t length = strlen(self->folder);
    if (length > 0 && strncmp(path, self->folder, length) == 0 && path[length] == '/') {
        return path + length + 1;
    }
    const char *const name = strrchr(path, '/');
    if (path[0] != '/' || name == NULL || name == path) {
        return path;
    }
    const char *begin = name;
    while (begin > path && begin[-1] != '/') {
        begin--;
    }
    return begin;
}

/* "train.py:50 in forward"; NULL: no memory. */
static const char *frame_words(const gathering *self, uint32_t frame)
{
    const plim_frame *const row = plim_history_frame(self->history, frame);
    plim_text text;
    plim_text_init(&text, self->mem, FRAME_BYTES_MAX);
    plim_text_append_string(
        &text, short_path(self, plim_history_string(self->history, row->filename, NULL)));
    plim_text_append_format(&text, ":%" PRIu32 " in ", row->line);
    plim_text_append_string(&text, plim_history_string(self->history, row->name, NULL));
    const char *const kept =
        text.status == PLIM_OUT_OF_HOST_MEMORY
            ? NULL
            : plim_arena_copy(self->arena, plim_text_string(&text), text.length);
    plim_text_deinit(&text);
    return kept;
}

/* The frames of the user's code; without such, the one that speaks for the stack. */
static bool add_frames(const gathering *self, const plim_stack_group *from, plim_lock_group *group)
{
    uint32_t chosen[PLIM_LOCK_FRAMES_MAX] = { 0 };
    const plim_stack stack = plim_history_stack(self->history, from->stack);
    for (uint32_t i = 0; i < stack.frame_count && group->frame_count < PLIM_LOCK_FRAMES_MAX; i++) {
        if (plim_stack_frame_is_user(self->history, stack.frames[i])) {
            chosen[group->frame_count++] = stack.frames[i];
        }
    }
    const uint32_t label = plim_stack_label_frame(self->history, from);
    if (group->frame_count == 0 && label != PLIM_NONE) {
        chosen[group->frame_count++] = label;
    }
    if (group->frame_count == 0) {
        return true;
    }
    const char **const frames = plim_arena_alloc(self->arena, group->frame_count * sizeof *frames);
    for (size_t i = 0; frames != NULL && i < group->frame_count; i++) {
        frames[i] = frame_words(self, chosen[i]);
        if (frames[i] == NULL) {
            return false;
        }
    }
    group->frames = frames;
    return frames != NULL;
}

static int compare_frames(const void *left, const void *right)
{
    const plim_lock_group *const a = left;
    const plim_lock_group *const b = right;
    for (size_t i = 0; i < a->frame_count && i < b->frame_count; i++) {
        const int order = strcmp(a->frames[i], b->frames[i]);
        if (order != 0) {
            return order;
        }
    }
    return (a->frame_count > b->frame_count) - (a->frame_count < b->frame_count);
}

static int compare_bytes(const void *left, const void *right)
{
    const plim_lock_group *const a = left;
    const plim_lock_group *const b = right;
    return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : compare_frames(left, right);
}

static void join(plim_lock_group *into, const plim_lock_group *group)
{
    into->bytes = plim_plus(into->bytes, group->bytes);
    into->count = plim_plus(into->count, group->count);
}

/* Groups that read alike become one; the smallest become one without frames, the last. */
static size_t condense(plim_lock_group *groups, size_t count)
{
    qsort(groups, count, sizeof *groups, compare_frames);
    size_t kept = 1;
    for (size_t i = 1; i < count; i++) {
        if (compare_frames(&groups[kept - 1], &groups[i]) == 0) {
            join(&groups[kept - 1], &groups[i]);
        } else {
            groups[kept++] = groups[i];
        }
    }
    qsort(groups, kept, sizeof *groups, compare_bytes);
    if (kept <= PLIM_LOCK_GROUPS_MAX) {
        return kept;
    }
    plim_lock_group rest = { 0 };
    size_t shown = 0;
    for (size_t i = 0; i < kept; i++) {
        if (shown < PLIM_LOCK_GROUPS_MAX && groups[i].frame_count > 0) {
            groups[shown++] = groups[i];
        } else {
            join(&rest, &groups[i]);
        }
    }
    groups[shown] = rest;
    return shown + 1;
}

static bool gather(gathering *self, const plim_moment *moment, plim_lock_peak *peak)
{
    if (moment->group_count == 0) {
        return true;
    }
    plim_lock_group *const groups =
        plim_arena_alloc(self->arena, moment->group_count * sizeof *groups);
    for (size_t i = 0; groups != NULL && i < moment->group_count; i++) {
        groups[i] =
            (plim_lock_group){ .bytes = moment->groups[i].bytes, .count = moment->groups[i].count };
        if (!add_frames(self, &moment->groups[i], &groups[i])) {
            return false;
        }
    }
    if (groups != NULL) {
        peak->groups = groups;
        peak->group_count = condense(groups, moment->group_count);
    }
    return groups != NULL;
}

static plim_status gather_device(gathering *self, const plim_inspection *inspection,
                                 uint32_t device, plim_lock_peak *peak, plim_error *err)
{
    for (size_t i = 0; i < plim_inspection_device_count(inspection); i++) {
        const plim_device_inspection *const facts = plim_inspection_device(inspection, i);
        if (facts->device == (int32_t)device && !gather(self, &facts->peak, peak)) {
            return plim_fail_memory(err, "gathering what held memory");
        }
    }
    return PLIM_OK;
}

plim_status plim_lock_groups_of(const char *snapshot, uint32_t device, plim_arena *arena,
                                const plim_mem *mem, plim_lock_peak *peak, plim_error *err)
{
    const plim_load_options load = { .mem = mem };
    const plim_inspect_options inspect = { .mem = mem };
    plim_history *history = NULL;
    plim_inspection *inspection = NULL;
    PLIM_TRY(plim_history_load(snapshot, &load, &history, err));
    plim_status status = plim_inspect(history, &inspect, &inspection, err);
    if (status == PLIM_OK) {
        gathering self = { .history = history, .arena = arena, .mem = mem };
        if (getcwd(self.folder, sizeof self.folder) == NULL) {
            self.folder[0] = '\0';
        }
        status = gather_device(&self, inspection, device, peak, err);
    }
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
    return status;
}

/* --- groups as a history --- */

/* "train.py:50 in forward", taken apart; what reads otherwise is a name. */
static plim_status add_frame(plim_history *history, const char *words, uint32_t *ret_frame,
                             plim_error *err)
{
    static const char in[] = " in ";
    plim_frame frame = { .fx = PLIM_NONE };
    size_t file_bytes = 0;
    const char *name = words;
    for (const char *colon = strchr(words, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        const char *end = colon + 1;
        while (plim_is_digit(*end)) {
            end++;
        }
        if (end > colon + 1 && strncmp(end, in, sizeof in - 1) == 0) {
            file_bytes = (size_t)(colon - words);
            frame.line = (uint32_t)plim_min(strtoull(colon + 1, NULL, 10), UINT32_MAX);
            name = end + sizeof in - 1;
            break;
        }
    }
    PLIM_TRY(plim_history_add_string(history, words, file_bytes, &frame.filename, err));
    PLIM_TRY(plim_history_add_string(history, name, strlen(name), &frame.name, err));
    return plim_history_add_frame(history, &frame, ret_frame, err);
}

static plim_status add_group(plim_history *history, const plim_lock_group *group, int32_t device,
                             uint64_t *addr, plim_error *err)
{
    uint32_t frames[PLIM_LOCK_FRAMES_MAX];
    const size_t count =
        group->frame_count < PLIM_LOCK_FRAMES_MAX ? group->frame_count : PLIM_LOCK_FRAMES_MAX;
    plim_event event = { .action = PLIM_ALLOC,
                         .device = device,
                         .addr = *addr,
                         .bytes = group->bytes,
                         .time_ns = PLIM_TIME_UNKNOWN,
                         .stack = PLIM_NONE,
                         .note = PLIM_NONE };
    for (size_t i = 0; i < count; i++) {
        PLIM_TRY(add_frame(history, group->frames[i], &frames[i], err));
    }
    if (count > 0) {
        PLIM_TRY(plim_history_add_stack(history, frames, count, &event.stack, err));
    }
    *addr = plim_plus(*addr, plim_plus(group->bytes, 1)); /* no two at one address */
    return plim_history_push_event(history, &event, err);
}

static plim_status build(plim_history *history, const plim_lock_peak *peak, plim_error *err)
{
    uint64_t addr = 0;
    const int32_t device = (int32_t)peak->device;
    for (size_t i = 0; i < peak->group_count; i++) {
        PLIM_TRY(add_group(history, &peak->groups[i], device, &addr, err));
    }
    const plim_device_ranges ranges = { .device = device,
                                        .events = { .count = peak->group_count } };
    return plim_history_add_device(history, &ranges, err);
}

plim_status plim_lock_history(const plim_lock_peak *peak, const plim_mem *mem, plim_history **ret,
                              plim_error *err)
{
    static const plim_lock_peak nothing;
    plim_history *history = NULL;
    PLIM_TRY(plim_history_create(mem, &history, err));
    uint32_t stream = 0;
    plim_status status = plim_history_add_stream(history, 0, &stream, err);
    if (status == PLIM_OK) {
        status = build(history, peak != NULL ? peak : &nothing, err);
    }
    if (status != PLIM_OK) {
        plim_history_destroy(history);
        return status;
    }
    plim_history_seal(history);
    *ret = history;
    return PLIM_OK;
}
