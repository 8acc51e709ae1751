/*
 * load.c - hands a file to the room that reads such files, by its first bytes, or to the one that
 * writes them, by its name.
 */
#include "plimsoll/load.h"

#include "base/content.h"
#include "base/error.h"
#include "codec/codec.h"
#include "profiler/read.h"
#include "rmm/read.h"
#include "torch/read.h"
#include "trace/read/recording.h"

#include "plimsoll/recorder.h"
#include "plimsoll/snapshot.h"

#include <string.h>

#define SEEN_BYTES PLIM_RMM_HEADER_BYTES_MAX /* of a file, to know what it is */

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

/* As the rooms declare theirs. */
typedef plim_status read_history(plim_input *input, const plim_load_options *options,
                                 plim_history **ret_history, plim_error *err);

static read_history *reader_of(const plim_window *window, plim_content content)
{
    if (content == PLIM_CONTENT_RECORDING) {
        return plim_recording_read;
    }
    if (content == PLIM_CONTENT_TEXT && plim_rmm_looks_like(window->data, window->length)) {
        return plim_rmm_read;
    }
    if (content != PLIM_CONTENT_PICKLE && plim_profiler_looks_like(window->data, window->length)) {
        return plim_profiler_read;
    }
    return plim_snapshot_read; /* which says what it is not */
}

plim_status plim_history_load(const char *path, const plim_load_options *options,
                              plim_history **ret_history, plim_error *err)
{
    plim_input *input = NULL;
    plim_window window = { 0 };
    const plim_input_options how = { .mem = options == NULL ? NULL : options->mem,
                                     .codecs = plim_codecs };
    PLIM_TRY(plim_input_open(path, &how, &input, err));
    plim_status status = plim_input_refill(input, 0, SEEN_BYTES, &window, NULL);
    if (status != PLIM_OK) { /* damage that begins later: what comes before it may be a recording */
        status = plim_input_refill(input, 0, PLIM_CONTENT_BYTES, &window, err);
    }
    if (status == PLIM_OK) {
        const plim_content content = plim_content_of(window.data, window.length);
        const bool begins_with_word = is_one_word(&window); /* which reading moves on */
        plim_error why = { 0 };
        read_history *const read = reader_of(&window, content);
        status = read(input, options, ret_history, &why);
        /* A pickle of protocol 0 is text too, its lines without blanks; a log fails at once. */
        if (status != PLIM_OK && read == plim_snapshot_read && content == PLIM_CONTENT_TEXT &&
            why.offset < PLIM_CONTENT_BYTES && !(status == PLIM_FORBIDDEN && begins_with_word)) {
            status = plim_fail(
                &why, PLIM_UNSUPPORTED,
                "this is text, not a snapshot, recording or log of RMM: \"plimsoll explain\" "
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
        const plim_recording_save_options options = { .compression = PLIM_RECORDING_SAVE_LEVEL };
        return plim_recording_save(history, path, &options, err);
    }
    if (ends_in(path, ".pickle")) {
        return plim_snapshot_save(history, path, NULL, err);
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT, "\"%s\" is neither FILE.plim nor FILE.pickle",
                     path);
}
