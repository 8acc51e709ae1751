/*
 * fuzz_explain.c - any text explained: places and numbers hold, however it is fed.
 *
 * The first two bytes are the seed of the cuts that the rest is fed in.
 */
#include "base/assert.h"

#include "plimsoll/explain.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX ((size_t)64 << 10)
#define PIECE_BYTES_MAX 61u

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_digit(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            return true;
        }
    }
    return false;
}

static void check_message(const plim_oom_message *message, const char *text, size_t bytes)
{
    PLIM_ASSERT(message->offset <= bytes && message->length <= bytes - message->offset);
    PLIM_ASSERT(message->length > 0 && message->line > 0 && message->count > 0);
    PLIM_ASSERT(message->request.subject.device >= PLIM_DEVICE_UNKNOWN);
    PLIM_ASSERT(message->form != NULL && message->framework != NULL && message->why != NULL);
    PLIM_ASSERT(strchr(message->excerpt, '\n') == NULL);
    PLIM_ASSERT((unsigned)message->judgement.verdict < PLIM_VERDICT_COUNT);
    PLIM_ASSERT(message->judgement.alternative_count < PLIM_VERDICT_COUNT);
    PLIM_ASSERT(message->judgement.confidence >= 0 && message->judgement.confidence <= 1);
    for (size_t i = 0; i < message->judgement.alternative_count; i++) {
        PLIM_ASSERT((unsigned)message->judgement.alternatives[i] < PLIM_VERDICT_COUNT);
        PLIM_ASSERT(message->judgement.alternatives[i] != message->judgement.verdict);
    }
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        const plim_figure *const figure = &message->request.figures[i];
        if (figure->bytes == PLIM_BYTES_UNKNOWN || i == PLIM_FIGURE_OTHER_PROCESSES) {
            continue; /* a sum stands nowhere */
        }
        PLIM_ASSERT(figure->offset <= bytes && figure->length <= bytes - figure->offset);
        PLIM_ASSERT(has_digit(text + figure->offset, figure->length));
    }
}

static void check(const plim_explanation *explanation, const char *text, size_t bytes)
{
    uint64_t line = 1;
    uint64_t offset = 0;
    PLIM_ASSERT(plim_explanation_byte_count(explanation) == bytes);
    PLIM_ASSERT(plim_explanation_line_count(explanation) <= bytes);
    for (size_t i = 0; i < plim_explanation_message_count(explanation); i++) {
        const plim_oom_message *const message = plim_explanation_message(explanation, i);
        check_message(message, text, bytes);
        PLIM_ASSERT(message->line >= line && message->offset >= offset);
        PLIM_ASSERT(message->line <= plim_explanation_line_count(explanation));
        line = message->line;
        offset = message->offset;
    }
    for (size_t i = 0; i < plim_explanation_series_count(explanation); i++) {
        const plim_series *const series = plim_explanation_series(explanation, i);
        PLIM_ASSERT(series->name != NULL && series->count > 0 && series->seen >= series->count);
        PLIM_ASSERT(series->first_line <= series->last_line);
    }
}

static void check_same(const plim_explanation *a, const plim_explanation *b)
{
    PLIM_ASSERT(plim_explanation_line_count(a) == plim_explanation_line_count(b));
    PLIM_ASSERT(plim_explanation_series_count(a) == plim_explanation_series_count(b));
    PLIM_ASSERT(plim_explanation_message_count(a) == plim_explanation_message_count(b));
    for (size_t i = 0; i < plim_explanation_message_count(a); i++) {
        const plim_oom_message *const one = plim_explanation_message(a, i);
        const plim_oom_message *const other = plim_explanation_message(b, i);
        PLIM_ASSERT(strcmp(one->form, other->form) == 0);
        PLIM_ASSERT(strcmp(one->excerpt, other->excerpt) == 0);
        PLIM_ASSERT(one->offset == other->offset && one->length == other->length);
        PLIM_ASSERT(one->line == other->line && one->count == other->count);
        PLIM_ASSERT(one->judgement.verdict == other->judgement.verdict &&
                    one->request.subject.device == other->request.subject.device);
        for (size_t f = 0; f < PLIM_FIGURE_COUNT; f++) {
            PLIM_ASSERT(one->request.figures[f].bytes == other->request.figures[f].bytes);
            PLIM_ASSERT(one->request.figures[f].offset == other->request.figures[f].offset);
        }
    }
}

static plim_explanation *explain_in_pieces(const char *text, size_t bytes, uint32_t seed)
{
    plim_explainer *explainer = NULL;
    plim_explanation *explanation = NULL;
    if (plim_explainer_create(NULL, &explainer, NULL) != PLIM_OK) {
        return NULL;
    }
    for (size_t at = 0; at < bytes;) {
        seed = seed * 1664525u + 1013904223u; /* Numerical Recipes: any would do */
        const size_t piece = 1 + (seed >> 16) % PIECE_BYTES_MAX;
        const size_t part = piece < bytes - at ? piece : bytes - at;
        if (plim_explainer_feed(explainer, text + at, part, NULL) != PLIM_OK) {
            plim_explainer_destroy(explainer);
            return NULL;
        }
        at += part;
    }
    return plim_explainer_finish(explainer, &explanation, NULL) == PLIM_OK ? explanation : NULL;
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > INPUT_BYTES_MAX) {
        return 0;
    }
    const size_t bytes = size - 2;
    char *const text = malloc(bytes > 0 ? bytes : 1); /* no more: sanitizers watch */
    plim_explanation *whole = NULL;
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data + 2, bytes);
    if (plim_explain_text(text, bytes, NULL, &whole, NULL) == PLIM_OK) {
        plim_explanation *const pieced =
            explain_in_pieces(text, bytes, (uint32_t)data[0] | (uint32_t)data[1] << 8);
        check(whole, text, bytes);
        if (pieced != NULL) {
            check_same(whole, pieced);
        }
        plim_explanation_destroy(pieced);
    }
    plim_explanation_destroy(whole);
    free(text);
    return 0;
}
