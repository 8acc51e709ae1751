/*
 * lines.c - merging two streams by lines, into one explainer.
 */
#include "launch/lines.h"

#include "base/assert.h"

#include <string.h>

/* The first failure ends the reading, and is returned once the command has ended. */
static void give_up(plim_launch_lines *text, const plim_error *err)
{
    text->err = *err;
    plim_explainer_destroy(text->explainer);
    text->explainer = NULL;
    for (size_t i = 0; i < text->stream_count; i++) {
        plim_text_deinit(&text->begun[i]);
    }
}

void plim_launch_lines_begin(plim_launch_lines *text, const plim_explain_options *options,
                             size_t stream_count)
{
    PLIM_ASSERT(stream_count <= PLIM_LAUNCH_STREAMS);

    *text = (plim_launch_lines){ .stream_count = stream_count };
    for (size_t i = 0; i < stream_count; i++) {
        plim_text_init(&text->begun[i], options == NULL ? NULL : options->mem,
                       PLIM_LAUNCH_LINE_BYTES_MAX);
    }
    plim_error err = { 0 };
    if (plim_explainer_create(options, &text->explainer, &err) != PLIM_OK) {
        text->explainer = NULL;
        give_up(text, &err);
    }
}

static void feed(plim_launch_lines *text, const char *data, size_t bytes)
{
    plim_error err = { 0 };
    if (bytes > 0 && text->explainer != NULL &&
        plim_explainer_feed(text->explainer, data, bytes, &err) != PLIM_OK) {
        give_up(text, &err);
    }
}

static void feed_begun(plim_launch_lines *text, size_t stream)
{
    plim_text *begun = &text->begun[stream];
    feed(text, plim_text_string(begun), begun->length);
    plim_text_reset(begun);
}

/* Keep what did not end yet, or cut it when there is too much. */
static void keep(plim_launch_lines *text, size_t stream, const char *data, size_t bytes)
{
    plim_text *begun = &text->begun[stream];
    if (bytes > PLIM_LAUNCH_LINE_BYTES_MAX - begun->length) {
        feed_begun(text, stream);
        feed(text, data, bytes);
        return;
    }
    plim_text_append(begun, data, bytes);
    plim_error err = { 0 };
    if (plim_text_status(begun, "reading the command's output", &err) != PLIM_OK) {
        give_up(text, &err);
    }
}

void plim_launch_lines_feed(plim_launch_lines *text, size_t stream, const char *data, size_t bytes)
{
    PLIM_ASSERT(stream < text->stream_count);

    if (text->stream_count == 1) {
        feed(text, data, bytes);
        return;
    }
    const char *last = memrchr(data, '\n', bytes);
    const size_t ended = last == NULL ? 0 : (size_t)(last - data) + 1;
    if (ended > 0 && text->explainer != NULL) {
        feed_begun(text, stream);
        feed(text, data, ended);
    }
    if (ended < bytes && text->explainer != NULL) {
        keep(text, stream, data + ended, bytes - ended);
    }
}

plim_explanation *plim_launch_lines_finish(plim_launch_lines *text, plim_error *ret_err)
{
    bool is_inside = false; /* of a line that will never end */
    for (size_t i = 0; text->explainer != NULL && i < text->stream_count; i++) {
        if (text->begun[i].length > 0) {
            feed(text, "\n", is_inside ? 1 : 0);
            feed_begun(text, i);
            is_inside = true;
        }
    }
    plim_explanation *explanation = NULL;
    if (text->explainer != NULL) {
        plim_error err = { 0 };
        plim_explainer *explainer = text->explainer;
        text->explainer = NULL; /* finish destroys it, also on failure */
        if (plim_explainer_finish(explainer, &explanation, &err) != PLIM_OK) {
            explanation = NULL;
            give_up(text, &err);
        }
    }
    for (size_t i = 0; i < text->stream_count; i++) {
        plim_text_deinit(&text->begun[i]);
    }
    *ret_err = text->err;
    return explanation;
}
