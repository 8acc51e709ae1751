/*
 * texts.c - explaining texts one after the other, and saying which could not be read, and why.
 */
#include "cli/texts.h"

#include "base/error.h"
#include "base/progress.h"
#include "cli/output.h"
#include "cli/reading.h"

#include <stdlib.h>

typedef struct plim_text_parts {
    plim_explanation *explanation;
    const plim_oom_message **messages;
    const plim_series **series;
} plim_text_parts;

/* The library's callback cannot stop the work, the bar's could. */
static void draw_progress(void *bar, uint64_t done, uint64_t total)
{
    (void)plim_progress_bar_update(bar, done, total);
}

static plim_status explain(const char *path, double capacity_bytes, plim_explanation **ret,
                           plim_error *err)
{
    char label[64];
    plim_reading_label(label, sizeof label, path);
    plim_progress_bar bar;
    plim_output_progress(&bar, label, NULL);
    const plim_explain_options options = { .capacity_bytes = capacity_bytes,
                                           .progress = draw_progress,
                                           .progress_ctx = &bar };
    const plim_status status = plim_explain_file(path, &options, ret, err);
    plim_progress_bar_finish(&bar);
    return status;
}

/* Lists of what parts->explanation holds. */
static plim_status fill(plim_explained *text, plim_text_parts *parts)
{
    const plim_explanation *explanation = parts->explanation;
    const size_t message_count = plim_explanation_message_count(explanation);
    const size_t series_count = plim_explanation_series_count(explanation);
    parts->messages = calloc(message_count > 0 ? message_count : 1, sizeof *parts->messages);
    parts->series = calloc(series_count > 0 ? series_count : 1, sizeof *parts->series);
    if (parts->messages == NULL || parts->series == NULL) {
        return plim_fail_memory(&text->error, "listing messages");
    }
    for (size_t i = 0; i < message_count; i++) {
        parts->messages[i] = plim_explanation_message(explanation, i);
    }
    for (size_t i = 0; i < series_count; i++) {
        parts->series[i] = plim_explanation_series(explanation, i);
    }
    text->bytes = plim_explanation_byte_count(explanation);
    text->lines = plim_explanation_line_count(explanation);
    text->messages = parts->messages;
    text->message_count = message_count;
    text->main_message = plim_explanation_main(explanation);
    text->unkept_count = plim_explanation_unkept_count(explanation);
    text->series = parts->series;
    text->series_count = series_count;
    text->leak_advice_count = plim_explanation_leak_advice(explanation, &text->leak_advice);
    text->is_read = true;
    return PLIM_OK;
}

static bool make_list(const char *who, size_t count, plim_texts *ret)
{
    *ret = (plim_texts){ .count = count };
    ret->items = calloc(count, sizeof *ret->items);
    ret->parts = calloc(count, sizeof *ret->parts);
    if (ret->items == NULL || ret->parts == NULL) {
        free(ret->items);
        free(ret->parts);
        *ret = (plim_texts){ 0 };
        plim_say(who, "out of host memory while listing files");
        return false;
    }
    return true;
}

bool plim_texts_load(const char *who, char *const *paths, size_t count, double capacity_bytes,
                     plim_texts *ret)
{
    if (!make_list(who, count, ret)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        plim_explained *text = &ret->items[i];
        plim_text_parts *parts = &ret->parts[i];
        text->path = paths[i];
        plim_status status = explain(paths[i], capacity_bytes, &parts->explanation, &text->error);
        if (status == PLIM_OK) {
            status = fill(text, parts);
        }
        if (status != PLIM_OK) {
            plim_reading_failed(who, paths[i], &text->error);
            ret->failed_count++;
        }
    }
    return true;
}

bool plim_texts_take(const char *who, const char *name, plim_explanation *explanation,
                     plim_texts *ret)
{
    if (!make_list(who, 1, ret)) {
        plim_explanation_destroy(explanation);
        return false;
    }
    ret->items[0].path = name;
    ret->parts[0].explanation = explanation;
    if (fill(&ret->items[0], &ret->parts[0]) != PLIM_OK) {
        plim_say(who, "%s", ret->items[0].error.message);
        ret->failed_count = 1;
    }
    return true;
}

void plim_texts_deinit(plim_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->parts[i].messages);
        free(texts->parts[i].series);
        plim_explanation_destroy(texts->parts[i].explanation);
    }
    free(texts->items);
    free(texts->parts);
    *texts = (plim_texts){ 0 };
}
