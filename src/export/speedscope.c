/*
 * speedscope.c - the JSON of speedscope: frames once, and a sampled profile for each device and
 * moment whose samples are stacks and whose weights are bytes.
 *
 * source  speedscope 1.22, file-format-schema.json
 */
#include "export/export.h"

#include "base/error.h"
#include "base/json_out.h"

#define SCHEMA    "https://www.speedscope.app/file-format-schema.json"
#define NO_NUMBER 0u

/* Frames in order of first use. Beyond the history's own stand those that say how a stack is
 * known, by plim_weight_origin, and last that of an empty stack. */
typedef struct numbering {
    uint32_t *numbers; /* by frame: place in the file + 1, or NO_NUMBER */
    uint32_t *used;    /* by place: frame */
    uint32_t count;
    uint32_t room;
} numbering;

static uint32_t origin_frame(const plim_history *history, plim_weight_origin origin)
{
    return plim_history_frame_count(history) + (uint32_t)origin;
}

static uint32_t empty_frame(const plim_history *history)
{
    return origin_frame(history, PLIM_WEIGHT_RECORDED); /* which has no frame of its own */
}

static void use(numbering *self, uint32_t frame)
{
    if (self->numbers[frame] == NO_NUMBER) {
        self->used[self->count++] = frame;
        self->numbers[frame] = self->count;
    }
}

/* Calls with each frame of a row, root first. */
static uint32_t next_frame(const plim_history *history, const plim_weight *row, uint32_t index,
                           bool *ret_more)
{
    const plim_stack stack = plim_history_stack(history, row->stack);
    const uint32_t lead = row->origin != PLIM_WEIGHT_RECORDED || stack.frame_count == 0 ? 1 : 0;
    *ret_more = index + 1 < stack.frame_count + lead;
    if (index < lead) {
        return row->origin != PLIM_WEIGHT_RECORDED ? origin_frame(history, row->origin)
                                                   : empty_frame(history);
    }
    return stack.frames[stack.frame_count - 1 - (index - lead)];
}

static void use_all(numbering *self, const plim_export_job *job)
{
    for (size_t i = 0; i < job->profile_count; i++) {
        const plim_weights *const weights = &job->profiles[i].weights;
        for (size_t j = 0; j < weights->count; j++) {
            bool more = true;
            for (uint32_t k = 0; more; k++) {
                use(self, next_frame(job->history, &weights->rows[j], k, &more));
            }
        }
    }
}

static void write_frame(plim_json *json, const plim_history *history, uint32_t frame)
{
    plim_json_begin_object(json);
    if (frame >= plim_history_frame_count(history)) {
        const uint32_t origin = frame - plim_history_frame_count(history);
        plim_json_member_string(json, "name",
                                origin == PLIM_WEIGHT_RECORDED
                                    ? PLIM_EXPORT_NO_FRAMES
                                    : plim_weight_origin_frame((plim_weight_origin)origin));
        plim_json_end_object(json);
        return;
    }
    const plim_frame *const row = plim_history_frame(history, frame);
    size_t bytes = 0;
    const char *const name = plim_history_string(history, row->name, &bytes);
    plim_json_key(json, "name");
    plim_json_string_bytes(json, bytes > 0 ? name : PLIM_EXPORT_UNNAMED,
                           bytes > 0 ? bytes : sizeof PLIM_EXPORT_UNNAMED - 1);
    if (plim_frame_has_file(history, row)) {
        const char *const file = plim_history_string(history, row->filename, &bytes);
        plim_json_key(json, "file");
        plim_json_string_bytes(json, file, bytes);
        if (row->line > 0) {
            plim_json_member_u64(json, "line", row->line);
        }
    }
    plim_json_end_object(json);
}

static void write_profile(plim_json *json, const plim_export_profile *profile,
                          const numbering *frames)
{
    const plim_weights *const weights = &profile->weights;
    plim_json_begin_object(json);
    plim_json_member_string(json, "type", "sampled");
    plim_json_member_string(json, "name", profile->name);
    plim_json_member_string(json, "unit", "bytes");
    plim_json_member_u64(json, "startValue", 0);
    plim_json_member_u64(json, "endValue", profile->part->bytes);
    plim_json_member_array(json, "samples");
    for (size_t i = 0; i < weights->count; i++) {
        bool more = true;
        plim_json_begin_array(json);
        for (uint32_t k = 0; more; k++) {
            const uint32_t frame = next_frame(profile->view->history, &weights->rows[i], k, &more);
            plim_json_u64(json, frames->numbers[frame] - 1);
        }
        plim_json_end_array(json);
    }
    plim_json_end_array(json);
    plim_json_member_array(json, "weights");
    for (size_t i = 0; i < weights->count; i++) {
        plim_json_u64(json, weights->rows[i].bytes);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

static bool write_document(const plim_export_job *job, const numbering *frames, plim_sink sink)
{
    plim_json json;
    plim_json_init(&json, sink, PLIM_JSON_COMPACT);
    plim_json_begin_object(&json);
    plim_json_member_string(&json, "$schema", SCHEMA);
    plim_json_member_object(&json, "shared");
    plim_json_member_array(&json, "frames");
    for (uint32_t i = 0; i < frames->count; i++) {
        write_frame(&json, job->history, frames->used[i]);
    }
    plim_json_end_array(&json);
    plim_json_end_object(&json);
    plim_json_member_array(&json, "profiles");
    for (size_t i = 0; i < job->profile_count; i++) {
        write_profile(&json, &job->profiles[i], frames);
    }
    plim_json_end_array(&json);
    plim_json_member_optional_string(&json, "name", job->options->title);
    plim_json_member_u64(&json, "activeProfileIndex", 0);
    char exporter[64];
    (void)snprintf(exporter, sizeof exporter, "plimsoll@%s", plim_version());
    plim_json_member_string(&json, "exporter", exporter);
    plim_json_end_object(&json);
    return plim_json_finish(&json);
}

plim_status plim_export_speedscope(plim_export_job *job, plim_sink sink, plim_error *err)
{
    const uint32_t room = origin_frame(job->history, PLIM_WEIGHT_ORIGIN_COUNT);
    numbering frames = { .room = room };
    frames.numbers = plim_mem_alloc_zeroed(job->mem, room, sizeof *frames.numbers);
    frames.used = plim_mem_alloc(job->mem, room, sizeof *frames.used);
    plim_status status = PLIM_OK;
    if (frames.numbers == NULL || frames.used == NULL) {
        status = plim_fail_memory(err, "numbering frames");
    } else {
        use_all(&frames, job);
        (void)write_document(job, &frames, sink); /* a failed sink is found at the end */
    }
    plim_mem_free(job->mem, frames.numbers, room, sizeof *frames.numbers);
    plim_mem_free(job->mem, frames.used, room, sizeof *frames.used);
    return status;
}
