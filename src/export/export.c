/*
 * export.c - from a history to a file: which format, which devices and moments, and the file
 * itself.
 *
 *   history ──► views ──► profiles ──► writer ──► buffer ──► (gzip) ──► file
 */
#include "export/export.h"

#include "base/error.h"
#include "base/fixed_text.h"
#include "base/save_file.h"
#include "codec/gzip_sink.h"

#include <inttypes.h>
#include <string.h>

#define NAME_BYTES_MAX 192

/* --- what was asked --- */

static plim_status fail_ending(const char *path, plim_error *err)
{
    char endings[PLIM_ERROR_MESSAGE_BYTES];
    plim_fixed_text out = plim_fixed_text_begin(endings, sizeof endings);
    const plim_export_format *format = NULL;
    for (size_t i = 0; (format = plim_export_format_at(i)) != NULL; i++) {
        plim_fixed_text_put(&out, "%s%s", i > 0 ? " " : "", format->endings[0]);
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "which format? \"%s\" ends in none of %s; --to names one", path, endings);
}

static plim_status check_scope(const plim_export_format *format, const plim_export_options *options,
                               plim_error *err)
{
    const bool is_live = options->what == PLIM_EXPORT_LIVE;
    const bool has_span = options->from != NULL || options->until != NULL;
    if (format->scope == PLIM_EXPORT_WHOLE && (!is_live || has_span || options->moment_count > 0)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "%s holds the whole history: neither moments nor weights of stacks apply",
                         format->name);
    }
    if (options->lives_min_bytes > 0 && !format->has_lives) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%s does not draw lives of allocations",
                         format->name);
    }
    if (format->scope == PLIM_EXPORT_ONE && options->moment_count > 1) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%s holds one moment, not %zu", format->name,
                         options->moment_count);
    }
    if (is_live && has_span) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "a span is for growth, difference, churn or temporary; what is live has "
                         "a moment");
    }
    if (!is_live && options->moment_count > 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%s has a span, not a moment",
                         plim_export_what_name(options->what));
    }
    if (options->table != NULL && !format->has_tables) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%s holds no single table: --table is for csv",
                         format->name);
    }
    if (options->what == PLIM_EXPORT_DIFFERENCE && !format->has_differences) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "%s has one figure for each stack, a difference two", format->name);
    }
    return PLIM_OK;
}

/* --- devices --- */

static plim_status view_devices(plim_export_job *job, plim_error *err)
{
    const size_t count = plim_history_device_count(job->history);
    const int32_t *const wanted = job->options->device;
    job->views = plim_arena_alloc(&job->arena, count * sizeof *job->views);
    if (job->views == NULL) {
        return plim_fail_memory(err, "listing devices");
    }
    for (size_t i = 0; i < count; i++) {
        const plim_device_history *const device = plim_history_device(job->history, i);
        if (wanted != NULL && device->device != *wanted) {
            continue;
        }
        plim_device_view *const view = &job->views[job->view_count++];
        PLIM_TRY(plim_device_view_init(view, job->history, device, job->mem, err));
    }
    if (job->view_count > 0) {
        return PLIM_OK;
    }
    return wanted != NULL ? plim_fail(err, PLIM_INVALID_ARGUMENT,
                                      "there is no device %" PRId32 " in it", *wanted)
                          : plim_fail(err, PLIM_UNSUPPORTED, "no device is recorded in it");
}

/* --- profiles --- */

/* "peak (event 497)", "start" */
static void name_moment(plim_fixed_text *out, plim_moment_choice choice, int64_t event)
{
    char text[PLIM_MOMENT_TEXT_BYTES];
    plim_moment_text(choice, text);
    plim_fixed_text_put(out, "%s", text);
    if (event != PLIM_AT_START && choice.kind != PLIM_MOMENT_EVENT) {
        plim_fixed_text_put(out, " (event %" PRId64 ")", event);
    }
}

static plim_status name_profile(plim_export_job *job, plim_export_profile *profile, plim_error *err)
{
    char name[NAME_BYTES_MAX];
    const plim_export_part *const part = profile->part;
    const plim_export_what what = job->options->what;
    plim_fixed_text out = plim_fixed_text_begin(name, sizeof name);
    plim_fixed_text_put(&out, "%s, %s ", plim_export_device_name(part->device).text,
                        plim_export_what_name(what));
    plim_fixed_text_put(&out, what == PLIM_EXPORT_LIVE ? "at " : "from ");
    if (what != PLIM_EXPORT_LIVE) {
        name_moment(&out, part->span_from, part->from);
        plim_fixed_text_put(&out, " to ");
    }
    name_moment(&out, part->moment, part->event);
    profile->name = plim_arena_copy(&job->arena, name, strlen(name));
    return profile->name != NULL ? PLIM_OK : plim_fail_memory(err, "naming profiles");
}

static plim_status weigh(plim_export_job *job, plim_export_profile *profile, plim_error *err)
{
    static const plim_category temporary = PLIM_CATEGORY_TEMPORARY;
    plim_export_part *const part = profile->part;
    const plim_weights_span span = { .from = part->from, .until = part->event };
    plim_device_view *const view = profile->view;
    plim_weights *const weights = &profile->weights;
    switch (job->options->what) {
    case PLIM_EXPORT_DIFFERENCE:
        return plim_weights_difference(view, &job->arena, span, weights, err);
    case PLIM_EXPORT_GROWTH:
        return plim_weights_growth(view, &job->arena, span, weights, &part->shrunk_bytes, err);
    case PLIM_EXPORT_TEMPORARY:
        return plim_weights_allocated(view, &job->arena, span, &temporary, weights, err);
    case PLIM_EXPORT_CHURN:
        return plim_weights_allocated(view, &job->arena, span, NULL, weights, err);
    case PLIM_EXPORT_LIVE:
    case PLIM_EXPORT_WHAT_COUNT:
        break;
    }
    return plim_weights_live(view, &job->arena, part->event, weights, err);
}

static void add_up(const plim_weights *weights, plim_export_part *part)
{
    plim_total bytes = 0;
    plim_total before = 0;
    for (size_t i = 0; i < weights->count; i++) {
        bytes += weights->rows[i].bytes;
        before += weights->rows[i].before_bytes;
        part->count += weights->rows[i].count;
    }
    part->bytes = plim_total_bytes(bytes);
    part->before_bytes = plim_total_bytes(before);
    part->stacks = weights->count;
}

static plim_status add_profile(plim_export_job *job, plim_device_view *view,
                               plim_moment_choice moment, plim_export_result *result,
                               plim_error *err)
{
    static const plim_moment_choice start = { .kind = PLIM_MOMENT_START };
    const plim_moment_choice from = job->options->from != NULL ? *job->options->from : start;
    plim_export_part *const part = &result->parts[job->profile_count];
    plim_export_profile *const profile = &job->profiles[job->profile_count++];
    *part =
        (plim_export_part){ .device = view->device->device, .span_from = from, .moment = moment };
    *profile = (plim_export_profile){ .view = view, .part = part };
    PLIM_TRY(plim_device_view_moment(view, moment, &part->event, err));
    part->from = part->event;
    if (job->options->what != PLIM_EXPORT_LIVE) {
        PLIM_TRY(plim_device_view_moment(view, from, &part->from, err));
    }
    PLIM_TRY(weigh(job, profile, err));
    add_up(&profile->weights, part);
    result->part_count = job->profile_count;
    return name_profile(job, profile, err);
}

static plim_status make_profiles(plim_export_job *job, const plim_export_format *format,
                                 plim_export_result *result, plim_error *err)
{
    static const plim_moment_choice usual[] = { { .kind = PLIM_MOMENT_PEAK },
                                                { .kind = PLIM_MOMENT_END } };
    const plim_export_options *const options = job->options;
    const plim_moment_choice *moments = usual;
    size_t count = format->scope == PLIM_EXPORT_SEVERAL ? 2 : 1;
    if (options->what != PLIM_EXPORT_LIVE) {
        moments = options->until != NULL ? options->until : &usual[1];
        count = 1;
    } else if (options->moment_count > 0) {
        moments = options->moments;
        count = options->moment_count;
    }
    const size_t most = job->view_count * count;
    job->profiles = plim_arena_alloc(&job->arena, most * sizeof *job->profiles);
    result->parts = plim_mem_alloc_zeroed(job->mem, most, sizeof *result->parts);
    result->part_room = most;
    if (job->profiles == NULL || result->parts == NULL) {
        return plim_fail_memory(err, "listing profiles");
    }
    for (size_t i = 0; i < job->view_count; i++) {
        for (size_t j = 0; j < count; j++) {
            PLIM_TRY(add_profile(job, &job->views[i], moments[j], result, err));
        }
    }
    return PLIM_OK;
}

/* --- the file --- */

static bool ends_in_gz(const char *path)
{
    const size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

static plim_status write_buffered(plim_export_job *job, const plim_export_writer *writer,
                                  plim_sink below, plim_error *err)
{
    plim_sink_buffer *const buffer = plim_arena_alloc(&job->arena, sizeof *buffer);
    if (buffer == NULL) {
        return plim_fail_memory(err, "writing");
    }
    plim_sink_buffer_init(buffer, below);
    PLIM_TRY(writer->write(job, plim_sink_to_buffer(buffer), err));
    return plim_sink_buffer_flush(buffer) ? PLIM_OK : plim_fail(err, PLIM_IO, "cannot write");
}

static plim_status write_gzip(plim_export_job *job, const plim_export_writer *writer,
                              plim_sink below, plim_error *err)
{
    plim_gzip_sink *gzip = NULL;
    PLIM_TRY(plim_gzip_sink_create(below, job->mem, &gzip, err));
    plim_status status = write_buffered(job, writer, plim_gzip_sink_of(gzip), err);
    if (status == PLIM_OK && !plim_gzip_sink_finish(gzip)) {
        status = plim_fail(err, PLIM_IO, "cannot write");
    }
    plim_gzip_sink_destroy(gzip);
    return status;
}

static plim_status write_to(plim_export_job *job, const plim_export_writer *writer,
                            plim_save_file *file, plim_error *err)
{
    const plim_export_gzip gzip = writer->format.gzip;
    if (writer->save != NULL) {
        const char *const name = plim_save_file_name(file);
        return name != NULL ? writer->save(job, name, err)
                            : plim_fail(err, PLIM_INVALID_ARGUMENT,
                                        "%s is written to files alone, not to %s",
                                        writer->format.name, file->path);
    }
    const plim_sink sink = plim_save_file_sink(file);
    if (gzip == PLIM_EXPORT_GZIP_ALWAYS ||
        (gzip == PLIM_EXPORT_GZIP_BY_NAME && ends_in_gz(file->path))) {
        return write_gzip(job, writer, sink, err);
    }
    return write_buffered(job, writer, sink, err);
}

static plim_status write_file(plim_export_job *job, const plim_export_writer *writer,
                              const char *path, plim_export_result *result, plim_error *err)
{
    plim_save_file file;
    PLIM_TRY(plim_save_file_open(&file, path, job->mem, err));
    const plim_status status = write_to(job, writer, &file, err);
    if (status == PLIM_OK) {
        result->written_bytes = plim_save_file_bytes(&file);
    }
    return plim_save_file_close(&file, status, err);
}

/* --- all of it --- */

static plim_status export_to(plim_export_job *job, const char *path, plim_export_result *result,
                             plim_error *err)
{
    const plim_export_writer *const writer = plim_export_writer_of(result->format);
    if (writer == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "the format is not in the table");
    }
    PLIM_TRY(check_scope(&writer->format, job->options, err));
    if (!job->options->replaces && plim_save_file_exists(path)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "\"%s\" is there already; --force replaces it",
                         path);
    }
    if (writer->format.scope != PLIM_EXPORT_WHOLE || writer->needs_views) {
        PLIM_TRY(view_devices(job, err));
    }
    if (writer->format.scope != PLIM_EXPORT_WHOLE) {
        PLIM_TRY(make_profiles(job, &writer->format, result, err));
    }
    return write_file(job, writer, path, result, err);
}

plim_status plim_history_export(const plim_history *history, const char *path,
                                const plim_export_options *options, plim_export_result *ret_result,
                                plim_error *err)
{
    static const plim_export_options defaults = { 0 };
    options = options == NULL ? &defaults : options;
    const plim_mem *const mem = plim_mem_or_heap(options->mem);
    const plim_export_format *const format =
        options->format != NULL ? options->format : plim_export_format_of(path);
    if (format == NULL) {
        return fail_ending(path, err);
    }
    plim_export_result result = { .mem = mem, .format = format };
    plim_export_job job = { .mem = mem, .history = history, .options = options };
    plim_arena_init(&job.arena, mem);
    const plim_status status = export_to(&job, path, &result, err);
    for (size_t i = 0; i < job.view_count; i++) {
        plim_device_view_deinit(&job.views[i]);
    }
    plim_arena_deinit(&job.arena);
    if (status != PLIM_OK) {
        plim_export_result_deinit(&result);
        return status;
    }
    *ret_result = result;
    return PLIM_OK;
}

void plim_export_result_deinit(plim_export_result *result)
{
    if (result->mem != NULL) {
        plim_mem_free(result->mem, result->parts, result->part_room, sizeof *result->parts);
    }
    *result = (plim_export_result){ 0 };
}
