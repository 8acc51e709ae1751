/*
 * result.c - see result.h.
 */
#include "cli/result.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/term/draw.h"

#include <string.h>

bool plim_result_wants_document(const plim_asked *asked)
{
    return asked->as_json || asked->document != NULL;
}

void plim_result_begin(plim_result *self, const char *who, FILE *stream, const plim_asked *asked)
{
    self->has_document = asked->as_json;
    self->sink = plim_sink_to_file(stdout);
    self->err = (plim_error){ .offset = PLIM_NO_OFFSET };
    self->is_said = false;
    self->has_page = true;
    self->prints_page = !asked->as_json && asked->page == NULL;
    self->who = who;
    self->asked = asked;
    self->stream = stream;
    self->is_open = false;
    self->is_out = false;
    if (asked->document != NULL) {
        plim_error err;
        self->is_open = plim_save_file_open(&self->file, asked->document, NULL, &err) == PLIM_OK;
        self->has_document = self->is_open;
        if (!self->is_open) {
            self->err = err;
            return;
        }
        plim_sink_buffer_init(&self->buffer, plim_save_file_sink(&self->file));
        self->sink = plim_sink_to_buffer(&self->buffer);
    }
}

/* --- the page --- */

static plim_status save_page(const char *path, const plim_text *text, plim_error *err)
{
    plim_save_file file;
    PLIM_TRY(plim_text_status(text, "writing the page", err));
    PLIM_TRY(plim_save_file_open(&file, path, NULL, err));
    const plim_sink sink = plim_save_file_sink(&file);
    const char *const from = plim_text_string(text);
    const size_t gap = strspn(from, "\n"); /* of pages after a program's output */
    const bool is_written = sink.write(sink.ctx, from + gap, text->length - gap);
    return plim_save_file_close(&file, is_written ? PLIM_OK : PLIM_IO, err);
}

static int draw(plim_result *self, const plim_page *page)
{
    const plim_asked *const asked = self->asked;
    FILE *const stream = asked->page == NULL ? self->stream : NULL;
    const plim_style style = plim_output_style(stream, asked->color, asked->width);
    int status = PLIM_EXIT_OK;
    plim_error err;
    plim_text text;
    plim_text_init(&text, NULL, PLIM_OUTPUT_BYTES_MAX);
    plim_page_draw(&text, &style, page);
    self->is_out = text.status != PLIM_OK;
    if (stream != NULL) {
        status = plim_output_page(self->who, stream, &text);
    } else if (save_page(asked->page, &text, &err) != PLIM_OK) {
        plim_say(self->who, "%s", err.message);
        status = PLIM_EXIT_FAILED;
    }
    plim_text_deinit(&text);
    return status;
}

/* --- the document --- */

static int finish_document(plim_result *self)
{
    plim_error *const err = &self->err;
    if (self->asked->as_json && (err->status == PLIM_OK || err->status == PLIM_IO)) {
        return plim_output_finish(self->who); /* which says why */
    }
    if (self->is_open) {
        plim_status status = err->status;
        if (!plim_sink_buffer_flush(&self->buffer) && status == PLIM_OK) {
            status = PLIM_IO;
        }
        (void)plim_save_file_close(&self->file, status, err);
        self->is_open = false;
    }
    if (err->status == PLIM_OK) {
        return PLIM_EXIT_OK;
    }
    if (!self->is_said && !(self->is_out && err->status == PLIM_OUT_OF_HOST_MEMORY)) {
        plim_say(self->who, "%s", err->message);
    }
    return PLIM_EXIT_FAILED;
}

int plim_result_end(plim_result *self, plim_page *page)
{
    int drawn = PLIM_EXIT_OK;
    if (self->has_page && (self->prints_page || self->asked->page != NULL)) {
        drawn = draw(self, page);
    }
    plim_page_deinit(page);
    const int finished = finish_document(self);
    return drawn != PLIM_EXIT_OK ? drawn : finished;
}
