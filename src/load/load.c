/*
 * load.c - hands a file to the room that reads such files, by its first bytes, or to the one that
 * writes them, by its name.
 */
#include "plimsoll/load.h"

#include "base/content.h"
#include "base/error.h"
#include "codec/codec.h"
#include "torch/read.h"
#include "trace/read/recording.h"

#include "plimsoll/recorder.h"
#include "plimsoll/snapshot.h"

#include <string.h>

#define RECORDING_LEVEL 3 /* of zstd: small beside what making the history took */

/* True if the first line of a window has no blank in it. */
static bool is_one_word(const plim_window *window)
{
    if (window->length == 0) {
        return true; /* and there may be no data */
    }
    const uint8_t *end = memchr(window->data, '\n', window->length);
    const size_t bytes = end == NULL ? window->length : (size_t)(end - window->data);
    return memchr(window->data, ' ', bytes) == NULL;
}

plim_status plim_history_load(const char *path, const plim_load_options *options,
                              plim_history **ret_history, plim_error *err)
{
    plim_input *input = NULL;
    plim_window window = { 0 };
    const plim_input_options how = { .mem = options == NULL ? NULL : options->mem,
                                     .codecs = plim_codecs };
    PLIM_TRY(plim_input_open(path, &how, &input, err));
    plim_status status = plim_input_refill(input, 0, PLIM_CONTENT_BYTES, &window, err);
    if (status == PLIM_OK) {
        const plim_content content = plim_content_of(window.data, window.length);
        const bool begins_with_word = is_one_word(&window); /* which reading moves on */
        plim_error why = { 0 };
        status = content == PLIM_CONTENT_RECORDING
                     ? plim_recording_read(input, options, ret_history, &why)
                     : plim_snapshot_read(input, options, ret_history, &why);
        /* A pickle of protocol 0 is text too, its lines without blanks; a log fails at once. */
        if (status != PLIM_OK && content == PLIM_CONTENT_TEXT && why.offset < PLIM_CONTENT_BYTES &&
            !(status == PLIM_FORBIDDEN && begins_with_word)) {
            status = plim_fail(&why, PLIM_UNSUPPORTED,
                               "this is text, not a snapshot or recording: \"plimsoll explain\" "
                               "reads logs and error messages");
        }
        if (status != PLIM_OK && err != NULL) {
            *err = why;
        }
    }
    plim_input_close(input);
    return status;
}

static bool ends_in(const char *path, const char *end)
{
    const size_t length = strlen(path);
    const size_t end_length = strlen(end);
    return length > end_length && strcmp(path + length - end_length, end) == 0;
}

bool plim_history_can_save(const char *path)
{
    return ends_in(path, ".plim") || ends_in(path, ".pickle");
}

plim_status plim_history_save(const plim_history *history, const char *path, plim_error *err)
{
    if (ends_in(path, ".plim")) {
        const plim_recording_save_options options = { .compression = RECORDING_LEVEL };
        return plim_recording_save(history, path, &options, err);
    }
    if (ends_in(path, ".pickle")) {
        return plim_snapshot_save(history, path, NULL, err);
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT, "\"%s\" is neither FILE.plim nor FILE.pickle",
                     path);
}
