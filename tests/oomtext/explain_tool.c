/*
 * explain_tool.c - explains texts, for test_messages.py.
 *
 * A filter: for each text on standard input, its length and a number in four bytes each
 * (little-endian) before it, it answers with a line of JSON: the messages with all they say. The
 * number is 0 to give the text at once, else the seed of random cuts to feed it in.
 */
#include "base/error.h"
#include "base/json_out.h"
#include "verdict/names.h"

#include "plimsoll/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES_MAX 97u

static bool read_number(uint32_t *ret)
{
    unsigned char bytes[4];
    if (fread(bytes, 1, 4, stdin) != 4) {
        return false;
    }
    *ret = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
    return true;
}

/* --- what was found --- */

/* Every figure that is said: its bytes, and where it stands. */
static void write_figures(plim_json *json, const plim_oom_message *message)
{
    plim_json_key(json, "figures");
    plim_json_begin_object(json);
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        const plim_figure *const figure = &message->request.figures[i];
        if (figure->bytes != PLIM_BYTES_UNKNOWN) {
            plim_json_key(json, plim_figure_name((plim_figure_id)i));
            plim_json_begin_array(json);
            plim_json_u64(json, figure->bytes);
            plim_json_u64(json, figure->offset);
            plim_json_u64(json, figure->length);
            plim_json_end_array(json);
        }
    }
    plim_json_end_object(json);
    plim_json_key(json, "processes");
    plim_json_begin_array(json);
    for (size_t i = 0; i < message->request.process_count; i++) {
        plim_json_begin_array(json);
        plim_json_u64(json, message->request.processes[i].pid);
        plim_json_u64(json, message->request.processes[i].bytes);
        if (message->request.processes[i].name != NULL) {
            plim_json_string(json, message->request.processes[i].name);
        }
        plim_json_end_array(json);
    }
    plim_json_end_array(json);
}

static void write_message(plim_json *json, const plim_oom_message *message)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "form", message->form);
    plim_json_member_string(json, "framework", message->framework);
    plim_json_member_string(json, "program", plim_names_of_families.names[message->request.family]);
    plim_json_member_string(json, "excerpt", message->excerpt);
    plim_json_member_string(json, "verdict", plim_verdict_name(message->judgement.verdict));
    plim_json_key(json, "alternatives");
    plim_json_begin_array(json);
    for (size_t i = 0; i < message->judgement.alternative_count; i++) {
        plim_json_string(json, plim_verdict_name(message->judgement.alternatives[i]));
    }
    plim_json_end_array(json);
    plim_json_member_u64(json, "line", message->line);
    plim_json_member_u64(json, "offset", message->offset);
    plim_json_member_u64(json, "length", message->length);
    plim_json_member_u64(json, "count", message->count);
    plim_json_key(json, "device");
    if (message->request.subject.device == PLIM_DEVICE_UNKNOWN) {
        plim_json_null(json);
    } else {
        plim_json_u64(json, (uint64_t)message->request.subject.device);
    }
    write_figures(json, message);
    plim_json_end_object(json);
}

static bool write_explanation(const plim_explanation *explanation)
{
    plim_json json;
    plim_json_init(&json, plim_sink_to_file(stdout), PLIM_JSON_COMPACT);
    plim_json_begin_object(&json);
    plim_json_member_u64(&json, "bytes", plim_explanation_byte_count(explanation));
    plim_json_member_u64(&json, "lines", plim_explanation_line_count(explanation));
    plim_json_key(&json, "messages");
    plim_json_begin_array(&json);
    for (size_t i = 0; i < plim_explanation_message_count(explanation); i++) {
        write_message(&json, plim_explanation_message(explanation, i));
    }
    plim_json_end_array(&json);
    plim_json_key(&json, "main");
    const plim_oom_message *const main_one = plim_explanation_main(explanation);
    if (main_one == NULL) {
        plim_json_null(&json);
    } else {
        plim_json_u64(&json, (uint64_t)(main_one - plim_explanation_message(explanation, 0)));
    }
    plim_json_end_object(&json);
    return plim_json_finish(&json);
}

/* --- feeding --- */

/* Numerical Recipes' generator: any would do. */
static size_t next_piece(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return 1 + (*state >> 16) % PIECE_BYTES_MAX;
}

static plim_status explain_in_pieces(const char *text, size_t bytes, uint32_t seed,
                                     const plim_explain_options *options, plim_explanation **ret,
                                     plim_error *err)
{
    plim_explainer *explainer = NULL;
    PLIM_TRY(plim_explainer_create(options, &explainer, err));
    for (size_t at = 0; at < bytes;) {
        const size_t piece = next_piece(&seed);
        const size_t part = piece < bytes - at ? piece : bytes - at;
        const plim_status status = plim_explainer_feed(explainer, text + at, part, err);
        if (status != PLIM_OK) {
            plim_explainer_destroy(explainer);
            return status;
        }
        at += part;
    }
    return plim_explainer_finish(explainer, ret, err);
}

static bool answer(const char *text, size_t bytes, uint32_t seed)
{
    const plim_explain_options options = { .without_series = true };
    plim_explanation *explanation = NULL;
    plim_error err = { .status = PLIM_OK };
    const plim_status status =
        seed == 0 ? plim_explain_text(text, bytes, &options, &explanation, &err)
                  : explain_in_pieces(text, bytes, seed, &options, &explanation, &err);
    if (status != PLIM_OK) {
        (void)fprintf(stderr, "explain_tool: %s\n", err.message);
        return false;
    }
    const bool is_written = write_explanation(explanation);
    plim_explanation_destroy(explanation);
    return is_written && fflush(stdout) == 0;
}

int main(void)
{
    uint32_t length = 0;
    uint32_t seed = 0;
    bool ok = true;
    while (ok && read_number(&length) && read_number(&seed)) {
        char *const text = malloc(length > 0 ? length : 1u); /* no more: sanitizers watch */
        ok = text != NULL && fread(text, 1, length, stdin) == length && answer(text, length, seed);
        free(text);
    }
    return ok ? 0 : 1;
}
