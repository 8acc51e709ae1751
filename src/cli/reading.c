/*
 * reading.c - histories read with a bar, and files named to people: on the bar, and in complaints.
 */
#include "cli/reading.h"

#include "base/error.h"
#include "base/input.h"
#include "base/progress.h"
#include "cli/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES_MAX ((size_t)1 << 20)

const char *plim_reading_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

void plim_reading_label(char *label, size_t label_bytes, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(label, label_bytes, "reading %.40s",
             slash != NULL ? slash + 1 : plim_reading_name(path));
    for (char *c = label; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f) {
            *c = '?';
        }
    }
}

plim_status plim_reading_history(const char *path, plim_history **ret, plim_error *err)
{
    char label[64];
    plim_reading_label(label, sizeof label, path);
    plim_progress_bar bar;
    plim_output_progress(&bar, label, NULL);
    const plim_load_options options = { .progress = plim_progress_bar_update,
                                        .progress_ctx = &bar };
    const plim_status status = plim_history_load(path, &options, ret, err);
    plim_progress_bar_finish(&bar);
    return status;
}

plim_status plim_reading_text(const char *path, plim_text *ret, plim_error *err)
{
    const plim_input_options options = { .may_be_empty = true };
    plim_input *input = NULL;
    plim_window window = { 0 };
    plim_text_init(ret, NULL, TEXT_BYTES_MAX);
    PLIM_TRY(plim_input_open(path, &options, &input, err));
    plim_status status = PLIM_OK;
    do {
        status = plim_input_refill(input, window.length, 1, &window, err);
        if (status == PLIM_OK && window.length > 0) {
            plim_text_append(ret, window.data, window.length);
        }
    } while (status == PLIM_OK && window.length > 0 && ret->status == PLIM_OK);
    plim_input_close(input);
    return status != PLIM_OK ? status : plim_text_status(ret, "reading", err);
}

void plim_reading_failed(const char *who, const char *path, const plim_error *err)
{
    const char *name = plim_reading_name(path);
    char place[40] = "";
    if (err->offset != PLIM_NO_OFFSET) {
        snprintf(place, sizeof place, " (at byte %" PRIu64 ")", err->offset);
    }
    const char *named = strstr(err->message, name); /* the input's own messages have it quoted */
    if (named != NULL && named > err->message && named[-1] == '"') {
        plim_say(who, "%s%s", err->message, place);
    } else {
        plim_say(who, "%s: %s%s", name, err->message, place);
    }
}
