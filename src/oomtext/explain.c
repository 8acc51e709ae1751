/*
 * explain.c - text in, messages and series out.
 *
 * Text arrives in pieces cut anywhere. The buffer holds what is not reported yet, with as much
 * before it as a message may reach back:
 *
 *   [ kept .... | undecided .... | new piece ................ ]
 *               ^ decided: messages that begin before it are reported
 */
#include "plimsoll/explain.h"

#include "advice/advice.h"
#include "base/assert.h"
#include "base/content.h"
#include "base/error.h"
#include "base/input.h"
#include "base/plain.h"
#include "codec/codec.h"
#include "oomtext/collect.h"
#include "series/reader.h"

#include <string.h>

#define BUFFER_BYTES ((size_t)512 << 10)

struct plim_explainer {
    plim_mem mem;
    plim_explain_options options;
    plim_explanation *result;
    plim_finder *finder;
    plim_series_reader *series;
    plim_collection messages;
    char *buffer;
    size_t length;  /* bytes in the buffer */
    size_t decided; /* index in the buffer */
    size_t plain;   /* index in the buffer: before it, colours are blanks */
    uint64_t base;  /* what stands before the buffer */
    uint64_t line;  /* of the byte at counted, from 1 */
    size_t counted; /* index in the buffer: lines before it are counted */
};

struct plim_explanation {
    plim_mem mem;
    plim_arena arena;
    plim_oom_message *messages;
    size_t message_count;
    size_t main; /* index, or SIZE_MAX */
    uint64_t unkept_count;
    const plim_series *series;
    size_t series_count;
    const plim_advice *leak_advice;
    size_t leak_advice_count;
    uint64_t byte_count;
    uint64_t line_count;
};

plim_status plim_explainer_create(const plim_explain_options *options, plim_explainer **ret,
                                  plim_error *err)
{
    const plim_mem *mem = plim_mem_or_heap(options != NULL ? options->mem : NULL);
    plim_explainer *explainer = plim_mem_alloc_zeroed(mem, 1, sizeof *explainer);
    plim_explanation *result = plim_mem_alloc_zeroed(mem, 1, sizeof *result);
    char *buffer = plim_mem_alloc(mem, BUFFER_BYTES, 1);
    if (explainer == NULL || result == NULL || buffer == NULL) {
        plim_mem_free(mem, explainer, 1, sizeof *explainer);
        plim_mem_free(mem, result, 1, sizeof *result);
        plim_mem_free(mem, buffer, BUFFER_BYTES, 1);
        return plim_fail_memory(err, "preparing to read text");
    }
    explainer->mem = *mem;
    explainer->options = options != NULL ? *options : (plim_explain_options){ 0 };
    explainer->buffer = buffer;
    explainer->line = 1;
    explainer->result = result;
    result->mem = *mem;
    result->main = SIZE_MAX;
    plim_arena_init(&result->arena, &result->mem);
    plim_collection_init(&explainer->messages, &explainer->mem, &result->arena);
    plim_status status = plim_finder_create(&explainer->mem, &explainer->finder, err);
    if (status == PLIM_OK && !explainer->options.without_series) {
        status = plim_series_reader_create(&explainer->mem, &explainer->series, err);
    }
    if (status != PLIM_OK) {
        plim_explainer_destroy(explainer);
        return status;
    }
    *ret = explainer;
    return PLIM_OK;
}

void plim_explainer_destroy(plim_explainer *explainer)
{
    if (explainer == NULL) {
        return;
    }
    const plim_mem mem = explainer->mem;
    plim_collection_deinit(&explainer->messages);
    plim_finder_destroy(explainer->finder);
    plim_series_reader_destroy(explainer->series);
    plim_explanation_destroy(explainer->result);
    plim_mem_free(&mem, explainer->buffer, BUFFER_BYTES, 1);
    plim_mem_free(&mem, explainer, 1, sizeof *explainer);
}

/* --- reading --- */

static void count_lines(plim_explainer *explainer, size_t to)
{
    if (to > explainer->counted) {
        explainer->line +=
            plim_plain_line_count(explainer->buffer + explainer->counted, to - explainer->counted);
        explainer->counted = to;
    }
}

static bool take_message(void *ctx, const plim_found *found)
{
    plim_explainer *explainer = ctx;
    count_lines(explainer, found->begin);
    return plim_collection_add(&explainer->messages, found, explainer->base, explainer->line);
}

/* Search what is in the buffer, then keep of it what the next search may need. */
static plim_status search_buffer(plim_explainer *explainer, bool is_last, plim_error *err)
{
    /* A mark may go on in the next piece: what could be part of one waits for it. */
    const size_t ready = explainer->length - (is_last ? 0 : PLIM_PLAIN_MARK_BYTES_MAX);
    const size_t plain = explainer->plain;
    plim_plain_blank(explainer->buffer + plain, explainer->length - plain, ready - plain);
    explainer->plain = ready;
    if (explainer->base + explainer->length > PLIM_PASTE_BYTES_MAX) {
        plim_finder_ignore_reports(explainer->finder);
    }
    const plim_piece piece = { explainer->buffer, ready, explainer->decided, is_last };
    PLIM_TRY(plim_finder_search(explainer->finder, &piece, (plim_taker){ take_message, explainer },
                                &explainer->decided, err));
    const size_t decided = explainer->decided;
    const size_t dropped = is_last ? explainer->length
                           : decided > 2 * PLIM_FIND_BEFORE_BYTES
                               ? decided - 2 * PLIM_FIND_BEFORE_BYTES
                               : 0;
    count_lines(explainer, dropped);
    memmove(explainer->buffer, explainer->buffer + dropped, explainer->length - dropped);
    explainer->length -= dropped;
    explainer->decided -= dropped < decided ? dropped : decided;
    explainer->counted -= dropped;
    explainer->plain -= is_last ? explainer->plain : dropped;
    explainer->base += dropped;
    return PLIM_OK;
}

plim_status plim_explainer_feed(plim_explainer *explainer, const void *data, size_t bytes,
                                plim_error *err)
{
    PLIM_ASSERT(explainer != NULL);
    const char *text = data;
    while (bytes > 0) {
        const size_t room = BUFFER_BYTES - explainer->length;
        const size_t part = bytes < room ? bytes : room;
        memcpy(explainer->buffer + explainer->length, text, part);
        explainer->length += part;
        if (explainer->series != NULL) {
            PLIM_TRY(plim_series_reader_feed(explainer->series, text, part, err));
        }
        if (explainer->length == BUFFER_BYTES) {
            PLIM_TRY(search_buffer(explainer, false, err));
        }
        text += part;
        bytes -= part;
    }
    return PLIM_OK;
}

/* The device's size, if a message names it: trends end there. */
static double named_capacity(const plim_explainer *explainer)
{
    for (size_t i = 0; i < explainer->messages.items.count; i++) {
        const uint64_t bytes = explainer->messages.items.items[i].figures[PLIM_FIGURE_TOTAL].bytes;
        if (bytes != PLIM_BYTES_UNKNOWN && bytes > 0) {
            return (double)bytes;
        }
    }
    return 0;
}

static plim_status finish_series(plim_explainer *explainer, plim_error *err)
{
    plim_explanation *result = explainer->result;
    if (explainer->series == NULL) {
        return PLIM_OK;
    }
    const plim_series_capacity capacity = { .given_bytes = explainer->options.capacity_bytes,
                                            .named_bytes = named_capacity(explainer) };
    return plim_series_reader_finish(explainer->series, &capacity, &result->arena, &result->series,
                                     &result->series_count, err);
}

static plim_oom_family family_of_main(const plim_explainer *explainer)
{
    const plim_explanation *result = explainer->result;
    return result->main == SIZE_MAX ? PLIM_FAMILY_PYTORCH
                                    : explainer->messages.items.items[result->main].form->family;
}

static plim_status finish(plim_explainer *explainer, plim_error *err)
{
    plim_explanation *result = explainer->result;
    const bool is_cut = explainer->length > 0 && explainer->buffer[explainer->length - 1] != '\n';
    PLIM_TRY(search_buffer(explainer, true, err));
    result->byte_count = explainer->base;
    result->line_count = explainer->line - 1 + is_cut;
    PLIM_TRY(finish_series(explainer, err));
    plim_circumstances around = plim_finder_circumstances(explainer->finder);
    const plim_series *const all = result->series;
    const size_t count = all != NULL ? result->series_count : 0;
    for (size_t i = 0; i < count; i++) {
        around.leaks |= all[i].trend.kind == PLIM_TREND_LEAK && !all[i].is_host;
    }
    plim_judged judged;
    PLIM_TRY(
        plim_collection_judge(&explainer->messages, &around, result->byte_count, &judged, err));
    result->messages = judged.messages;
    result->message_count = judged.count;
    result->main = judged.main;
    result->unkept_count = explainer->messages.unkept_count;
    if (count == 0 || all[0].trend.kind != PLIM_TREND_LEAK) {
        return PLIM_OK; /* the worst series is not a leak */
    }
    const plim_oom_family family = all[0].is_host ? PLIM_FAMILY_HOST : family_of_main(explainer);
    const plim_finding leak = { .id = PLIM_FINDING_LEAK };
    plim_failed_request program = plim_failed_request_of(PLIM_TOPIC_ALLOCATION, family);
    program.in_force = around.in_force;
    program.leaks = true;
    return plim_advise_finding(&leak, &program, &result->arena, &result->leak_advice,
                               &result->leak_advice_count, err);
}

plim_status plim_explainer_finish(plim_explainer *explainer, plim_explanation **ret,
                                  plim_error *err)
{
    PLIM_ASSERT(explainer != NULL);
    const plim_status status = finish(explainer, err);
    if (status == PLIM_OK) {
        *ret = explainer->result;
        explainer->result = NULL;
    }
    plim_explainer_destroy(explainer);
    return status;
}

plim_status plim_explain_text(const char *text, size_t bytes, const plim_explain_options *options,
                              plim_explanation **ret, plim_error *err)
{
    plim_explainer *explainer = NULL;
    PLIM_TRY(plim_explainer_create(options, &explainer, err));
    const plim_status status = plim_explainer_feed(explainer, text, bytes, err);
    if (status != PLIM_OK) {
        plim_explainer_destroy(explainer);
        return status;
    }
    return plim_explainer_finish(explainer, ret, err);
}

static plim_status feed_input(plim_explainer *explainer, plim_input *input, plim_error *err)
{
    PLIM_ASSERT(explainer != NULL);
    const plim_explain_options *options = &explainer->options;
    plim_window window = { 0 };
    do {
        PLIM_TRY(plim_input_refill(input, window.length, 1, &window, err));
        PLIM_TRY(plim_explainer_feed(explainer, window.data, window.length, err));
        if (options->progress != NULL) {
            options->progress(options->progress_ctx, plim_input_done_bytes(input),
                              plim_input_total_bytes(input));
        }
    } while (window.length > 0);
    return PLIM_OK;
}

/* A history in the place of a text would give no message, or one of the texts in it. */
static plim_status refuse_recording(plim_input *input, plim_error *err)
{
    plim_window window = { 0 };
    PLIM_TRY(plim_input_refill(input, 0, PLIM_CONTENT_BYTES, &window, err));
    const plim_content content = plim_content_of(window.data, window.length);
    if (content != PLIM_CONTENT_PICKLE && content != PLIM_CONTENT_RECORDING) {
        return PLIM_OK;
    }
    return plim_fail(
        err, PLIM_UNSUPPORTED,
        "this is a %s, not a text: \"plimsoll inspect\" reads snapshots and recordings",
        content == PLIM_CONTENT_PICKLE ? "pickle" : "recording");
}

plim_status plim_explain_file(const char *path, const plim_explain_options *options,
                              plim_explanation **ret, plim_error *err)
{
    plim_explainer *explainer = NULL;
    plim_input *input = NULL;
    PLIM_TRY(plim_explainer_create(options, &explainer, err));
    const plim_input_options how = { .mem = &explainer->mem,
                                     .codecs = plim_codecs,
                                     .may_be_empty = true };
    plim_status status = plim_input_open(path, &how, &input, err);
    if (status == PLIM_OK) {
        status = refuse_recording(input, err);
    }
    if (status == PLIM_OK) {
        status = feed_input(explainer, input, err);
    }
    plim_input_close(input);
    if (status != PLIM_OK) {
        plim_explainer_destroy(explainer);
        return status;
    }
    return plim_explainer_finish(explainer, ret, err);
}

/* --- what was found --- */

size_t plim_explanation_message_count(const plim_explanation *explanation)
{
    return explanation->message_count;
}

const plim_oom_message *plim_explanation_message(const plim_explanation *explanation, size_t index)
{
    return index < explanation->message_count ? &explanation->messages[index] : NULL;
}

const plim_oom_message *plim_explanation_main(const plim_explanation *explanation)
{
    return plim_explanation_message(explanation, explanation->main);
}

uint64_t plim_explanation_unkept_count(const plim_explanation *explanation)
{
    return explanation->unkept_count;
}

size_t plim_explanation_series_count(const plim_explanation *explanation)
{
    return explanation->series_count;
}

const plim_series *plim_explanation_series(const plim_explanation *explanation, size_t index)
{
    return index < explanation->series_count ? &explanation->series[index] : NULL;
}

size_t plim_explanation_leak_advice(const plim_explanation *explanation, const plim_advice **ret)
{
    *ret = explanation->leak_advice;
    return explanation->leak_advice_count;
}

uint64_t plim_explanation_byte_count(const plim_explanation *explanation)
{
    return explanation->byte_count;
}

uint64_t plim_explanation_line_count(const plim_explanation *explanation)
{
    return explanation->line_count;
}

void plim_explanation_destroy(plim_explanation *explanation)
{
    if (explanation != NULL) {
        const plim_mem mem = explanation->mem;
        plim_arena_deinit(&explanation->arena);
        plim_mem_free(&mem, explanation, 1, sizeof *explanation);
    }
}
