/*
 * folded.c - folded stacks: "root;caller;leaf 4096", a line for each stack, as flamegraph.pl and
 * its relatives read them. A difference has two figures, as difffolded.pl writes them.
 *
 * flamegraph.pl takes the last number of a line for the figure and, where another number stands
 * before it, both for a difference. So a leaf that ends in a blank and a number gets its blank
 * replaced.
 */
#include "export/export.h"

#include "base/ascii.h"
#include "base/error.h"

#include <inttypes.h>

#define LINE_BYTES_MAX ((size_t)1 << 30)

/* A number at the end of a line, after a blank, is one more figure to flamegraph.pl. */
static void guard_end(plim_text *line)
{
    size_t i = line->length;
    while (i > 0 && (plim_is_digit(line->data[i - 1]) || line->data[i - 1] == '.')) {
        i--;
    }
    if (i > 0 && i < line->length && line->data[i - 1] == ' ') {
        line->data[i - 1] = '_';
    }
}

/* A file while it is written. */
typedef struct folder {
    const plim_export_job *job;
    plim_sink sink;
    plim_frame_namer namer;
    plim_text line;
} folder;

static void add_frames(folder *self, const plim_export_profile *profile, const plim_weight *row)
{
    plim_text *const line = &self->line;
    const plim_stack stack = plim_history_stack(self->job->history, row->stack);
    const char *lead = "";
    if (self->job->view_count > 1) {
        plim_text_append_string(line, plim_export_device_name(profile->part->device).text);
        lead = ";";
    }
    const char *const origin = plim_weight_origin_frame(row->origin);
    if (origin[0] != '\0' || stack.frame_count == 0) {
        plim_text_append_string(line, lead);
        plim_text_append_string(line, origin[0] != '\0' ? origin : PLIM_EXPORT_NO_FRAMES);
        lead = ";";
    }
    for (uint32_t i = stack.frame_count; i > 0; i--) {
        plim_text_append_string(line, lead);
        plim_frame_name_add(&self->namer, line, stack.frames[i - 1]);
        lead = ";";
    }
    guard_end(line);
}

static plim_status write_profile(folder *self, const plim_export_profile *profile, plim_error *err)
{
    plim_text *const line = &self->line;
    for (size_t i = 0; i < profile->weights.count; i++) {
        const plim_weight *const row = &profile->weights.rows[i];
        plim_text_reset(line);
        add_frames(self, profile, row);
        if (self->job->options->what == PLIM_EXPORT_DIFFERENCE) {
            plim_text_append_format(line, " %" PRIu64, row->before_bytes);
        }
        plim_text_append_format(line, " %" PRIu64 "\n", row->bytes);
        PLIM_TRY(plim_text_status(line, "writing folded stacks", err));
        if (!self->sink.write(self->sink.ctx, line->data, line->length)) {
            break; /* which is found at the end */
        }
    }
    return PLIM_OK;
}

plim_status plim_export_folded(plim_export_job *job, plim_sink sink, plim_error *err)
{
    folder self = { .job = job, .sink = sink };
    plim_frame_namer_init(&self.namer, job->history, ';', job->mem);
    self.namer.full_paths = job->options->full_paths;
    plim_text_init(&self.line, job->mem, LINE_BYTES_MAX);
    plim_status status = PLIM_OK;
    for (size_t i = 0; i < job->profile_count && status == PLIM_OK; i++) {
        status = write_profile(&self, &job->profiles[i], err);
    }
    plim_text_deinit(&self.line);
    plim_frame_namer_deinit(&self.namer);
    return status;
}
