/*
 * rewrite.h - a history of the same program after its code was edited: what a recording would have
 * been if functions had been renamed, lines moved, files put elsewhere, helpers taken out.
 */
#ifndef PLIMSOLL_TESTS_REWRITE_H
#define PLIMSOLL_TESTS_REWRITE_H

#include "harness.h"
#include "history/builder.h"
#include "stacks/frames.h"

typedef enum rewrite_edits {
    REWRITE_LINES = 1,       /* the user's lines move, farther down the more */
    REWRITE_NAMES = 2,       /* the user's functions get other names, but those with fixed ones */
    REWRITE_FOLDER = 4,      /* the user's files lie in another folder, */
    REWRITE_PACKAGES = 8,    /* packages in another environment, of another Python */
    REWRITE_FILE_NAMES = 16, /* the user's files have other names */
    REWRITE_WRAPPER = 32,    /* one function of the user's is decorated */
    REWRITE_HELPER = 64,     /* what a function of the user's requested itself, a new one does */
    REWRITE_CLASSES = 128,   /* functions are recorded with their classes */
} rewrite_edits;

typedef struct rewrite {
    const plim_history *from;
    plim_history *to;
    unsigned edits;
    uint32_t *frames;         /* by frame of `from` */
    uint32_t wrapper, helper; /* frames of `to` */
    char text[8192];
} rewrite;

static inline uint32_t rewrite_string(rewrite *job, const char *text, size_t bytes)
{
    uint32_t string = PLIM_NONE;
    T_TRUE(plim_history_add_string(job->to, text, bytes, &string, NULL) == PLIM_OK);
    return string;
}

static inline uint32_t rewrite_same(rewrite *job, uint32_t string)
{
    size_t bytes = 0;
    const char *const text = plim_history_string(job->from, string, &bytes);
    return string == PLIM_NONE ? PLIM_NONE : rewrite_string(job, text, bytes);
}

static inline bool rewrite_is_user(const plim_history *history, const plim_frame *frame)
{
    return plim_frame_owner_of(plim_history_string(history, frame->filename, NULL),
                               plim_history_string(history, frame->name, NULL),
                               frame->line) == PLIM_FRAME_USER;
}

/* Names that Python or PyTorch gives. */
static inline bool rewrite_is_fixed(const char *name)
{
    return name[0] == '<' || strncmp(name, "__", 2) == 0 || strcmp(name, "forward") == 0 ||
           strcmp(name, "backward") == 0 || strcmp(name, "step") == 0;
}

static inline uint32_t rewrite_name(rewrite *job, const char *name)
{
    const bool is_renamed = (job->edits & REWRITE_NAMES) != 0 && !rewrite_is_fixed(name);
    const bool has_class = (job->edits & REWRITE_CLASSES) != 0 && name[0] != '<';
    const int bytes = snprintf(job->text, sizeof job->text, "%s%s%s", has_class ? "Thing." : "",
                               is_renamed ? "now_" : "", name);
    return rewrite_string(job, job->text, (size_t)bytes);
}

static inline uint32_t rewrite_file(rewrite *job, const char *file)
{
    const char *const slash = strrchr(file, '/');
    const char *const folder = (job->edits & REWRITE_FOLDER) != 0 ? "/srv/elsewhere" : "";
    const char *const name = (job->edits & REWRITE_FILE_NAMES) != 0 ? "new_" : "";
    const int bytes = slash == NULL || file[0] != '/'
                          ? snprintf(job->text, sizeof job->text, "%s", file)
                          : snprintf(job->text, sizeof job->text, "%s%.*s/%s%s", folder,
                                     (int)(slash - file), file, name, slash + 1);
    return rewrite_string(job, job->text, (size_t)bytes);
}

static inline uint32_t rewrite_package(rewrite *job, const char *file)
{
    const char *const inner = plim_frame_installed_path(file);
    if ((job->edits & REWRITE_PACKAGES) == 0 || inner == NULL) {
        return rewrite_string(job, file, strlen(file));
    }
    const bool is_python = strstr(file, "-packages") == NULL;
    const int bytes = snprintf(
        job->text, sizeof job->text, "%s%s",
        is_python ? "/opt/py/lib/python3.13/" : "/opt/py/lib/python3.13/site-packages/", inner);
    return rewrite_string(job, job->text, (size_t)bytes);
}

static inline uint32_t rewrite_frame(rewrite *job, uint32_t index)
{
    const plim_frame *const old = plim_history_frame(job->from, index);
    const char *const file = plim_history_string(job->from, old->filename, NULL);
    const char *const name = plim_history_string(job->from, old->name, NULL);
    plim_frame frame = { .line = old->line, .fx = rewrite_same(job, old->fx) };
    if (rewrite_is_user(job->from, old)) {
        frame.filename = rewrite_file(job, file);
        frame.name = rewrite_name(job, name);
        frame.line += (job->edits & REWRITE_LINES) != 0 ? 3 + old->line / 8 : 0;
    } else {
        frame.filename = rewrite_package(job, file);
        frame.name = rewrite_same(job, old->name);
    }
    uint32_t made = 0;
    T_TRUE(plim_history_add_frame(job->to, &frame, &made, NULL) == PLIM_OK);
    return made;
}

/* A frame in the user's first file. */
static inline uint32_t rewrite_new_frame(rewrite *job, const char *name, uint32_t line)
{
    plim_frame frame = { .line = line, .fx = PLIM_NONE };
    for (uint32_t i = 0; i < plim_history_frame_count(job->from); i++) {
        const plim_frame *const old = plim_history_frame(job->from, i);
        if (rewrite_is_user(job->from, old)) {
            frame.filename = rewrite_file(job, plim_history_string(job->from, old->filename, NULL));
            break;
        }
    }
    frame.name = rewrite_string(job, name, strlen(name));
    uint32_t made = 0;
    T_TRUE(plim_history_add_frame(job->to, &frame, &made, NULL) == PLIM_OK);
    return made;
}

/* The stack of a row, which gets the new frames that the edits ask for. */
static inline uint32_t rewrite_stack(rewrite *job, uint32_t index)
{
    enum { FRAMES_MAX = 1024 };
    uint32_t frames[FRAMES_MAX];
    size_t count = 0;
    if (index == PLIM_NONE) {
        return PLIM_NONE;
    }
    const plim_stack old = plim_history_stack(job->from, index);
    T_TRUE(old.frame_count < FRAMES_MAX - 2);
    bool has_user = false;
    for (uint32_t i = 0; i < old.frame_count; i++) {
        const plim_frame *const frame = plim_history_frame(job->from, old.frames[i]);
        const bool is_user = rewrite_is_user(job->from, frame);
        if (is_user && !has_user && (job->edits & REWRITE_HELPER) != 0 && frame->line % 2 == 0) {
            frames[count++] = job->helper;
        }
        has_user = has_user || is_user;
        frames[count++] = job->frames[old.frames[i]];
        if (is_user && (job->edits & REWRITE_WRAPPER) != 0 && i + 2 == old.frame_count) {
            frames[count++] = job->wrapper;
        }
    }
    uint32_t made = 0;
    T_TRUE(plim_history_add_stack(job->to, frames, count, &made, NULL) == PLIM_OK);
    return made;
}

static inline void rewrite_device(rewrite *job, const plim_device_history *device,
                                  plim_device_ranges *ranges)
{
    ranges->device = device->device;
    ranges->events = (plim_range){ plim_history_pushed_events(job->to), device->events.count };
    ranges->segments.first += ranges->segments.count;
    ranges->segments.count = device->segment_count;
    ranges->blocks.first += ranges->blocks.count;
    ranges->blocks.count = device->block_count;
    ranges->capacity_events = device->capacity_events;
    ranges->overflowed = device->overflowed;
    for (uint64_t i = 0; i < device->events.count; i++) {
        plim_event event = plim_history_event(job->from, device, i);
        size_t bytes = 0;
        const char *const name = plim_history_action_name(job->from, device->events.action[i]);
        bytes = strlen(name);
        T_TRUE(plim_history_add_action(job->to, name, bytes, &event.action, NULL) == PLIM_OK);
        event.stack = rewrite_stack(job, event.stack);
        event.note = PLIM_NONE;
        T_TRUE(plim_history_push_event_at(job->to, &event, device->events.time_us[i], NULL) ==
               PLIM_OK);
    }
    for (uint64_t i = 0; i < device->segment_count; i++) {
        plim_segment segment = device->segments[i];
        T_TRUE(plim_history_add_stream(job->to, plim_history_stream(job->from, segment.stream),
                                       &segment.stream, NULL) == PLIM_OK);
        segment.stack = rewrite_stack(job, segment.stack);
        T_TRUE(plim_history_push_segment(job->to, &segment, NULL) == PLIM_OK);
    }
    for (uint64_t i = 0; i < device->block_count; i++) {
        plim_block block = device->blocks[i];
        block.stack = rewrite_stack(job, block.stack);
        T_TRUE(plim_history_push_block(job->to, &block, NULL) == PLIM_OK);
    }
    T_TRUE(plim_history_add_device(job->to, ranges, NULL) == PLIM_OK);
}

static inline void rewrite_annotations(rewrite *job)
{
    uint64_t count = 0;
    const plim_annotation *const annotations = plim_history_annotations(job->from, &count);
    for (uint64_t i = 0; i < count; i++) {
        plim_annotation one = annotations[i];
        one.name = rewrite_same(job, one.name);
        T_TRUE(plim_history_push_annotation(job->to, &one, NULL) == PLIM_OK);
    }
}

/* The caller's. Settings are left out: none of what is compared depends on them. */
static inline plim_history *rewritten(const plim_history *from, unsigned edits)
{
    static rewrite job;
    job = (rewrite){ .from = from, .edits = edits };
    T_TRUE(plim_history_create(NULL, &job.to, NULL) == PLIM_OK);
    const uint32_t count = plim_history_frame_count(from);
    job.frames = calloc(count + 1, sizeof *job.frames);
    T_NOT_NULL(job.frames);
    for (uint32_t i = 0; i < count; i++) {
        job.frames[i] = rewrite_frame(&job, i);
    }
    job.wrapper = rewrite_new_frame(&job, "with_a_clock", 7);
    job.helper = rewrite_new_frame(&job, "taken_out", 9001);
    plim_device_ranges ranges = { 0 };
    for (size_t i = 0; i < plim_history_device_count(from); i++) {
        rewrite_device(&job, plim_history_device(from, i), &ranges);
    }
    rewrite_annotations(&job);
    plim_history_seal(job.to);
    free(job.frames);
    return job.to;
}

#endif
