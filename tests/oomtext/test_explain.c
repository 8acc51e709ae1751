/*
 * test_explain.c - a whole text becomes messages and series, however it comes in pieces, and
 * whatever memory fails.
 */
#include "harness.h"

#include "plimsoll/explain.h"

static const char torch_line[] =
    "CUDA out of memory. Tried to allocate %zu.00 MiB. GPU 0 has a total capacity of 23.99 GiB of "
    "which 15.44 MiB is free. Process 12 has 1.00 GiB memory in use. Including non-PyTorch memory, "
    "this process has 22.97 GiB memory in use. Of the allocated memory 22.10 GiB is allocated by "
    "PyTorch, and 64.52 MiB is reserved by PyTorch but unallocated.\n";

/* A log of so many steps and failures; the caller frees it. */
static char *write_log(size_t steps, size_t failures, size_t *ret_bytes)
{
    const size_t room = steps * 80 + failures * 500 + 1;
    char *const text = malloc(room);
    size_t length = 0;
    T_NOT_NULL(text);
    for (size_t i = 0; i < steps; i++) {
        length +=
            (size_t)snprintf(text + length, room - length,
                             "step %zu | loss 2.5 | memory allocated: %zu MiB\n", i, 4000 + 10 * i);
    }
    for (size_t i = 0; i < failures; i++) {
        length += (size_t)snprintf(text + length, room - length, torch_line, 2 + i);
    }
    *ret_bytes = length;
    return text;
}

static void messages_and_series_come_out(void)
{
    size_t bytes = 0;
    char *const text = write_log(60, 3, &bytes);
    plim_explanation *explanation = NULL;
    plim_error err;
    T_EQ_U64(plim_explain_text(text, bytes, NULL, &explanation, &err), PLIM_OK);
    T_EQ_U64(plim_explanation_message_count(explanation), 3);
    T_EQ_U64(plim_explanation_byte_count(explanation), bytes);
    T_EQ_U64(plim_explanation_line_count(explanation), 63);
    T_EQ_U64(plim_explanation_series_count(explanation), 1);
    T_NOT_NULL(plim_explanation_main(explanation));
    const plim_oom_message *const last = plim_explanation_message(explanation, 2);
    T_EQ_STR(last->form, "pytorch-2.x-both-process-clauses");
    T_EQ_STR(last->framework, "pytorch");
    T_EQ_U64(last->line, 63);
    T_EQ_U64(last->request.process_count, 1);
    T_TRUE(strlen(last->why) > 0 && last->advice_count > 0);
    T_NULL(plim_explanation_message(explanation, 3));
    T_NULL(plim_explanation_series(explanation, 1));
    plim_explanation_destroy(explanation);
    free(text);
}

static void nothing_is_no_error(void)
{
    plim_explanation *explanation = NULL;
    plim_error err;
    T_EQ_U64(plim_explain_text("", 0, NULL, &explanation, &err), PLIM_OK);
    T_EQ_U64(plim_explanation_message_count(explanation), 0);
    T_EQ_U64(plim_explanation_line_count(explanation), 0);
    T_NULL(plim_explanation_main(explanation));
    plim_explanation_destroy(explanation);
    plim_explanation_destroy(NULL);
    plim_explainer_destroy(NULL);
}

static void what_is_said_again_is_counted(void)
{
    char text[8000] = "";
    for (size_t i = 0; i < 10; i++) {
        char one[600];
        (void)snprintf(one, sizeof one, torch_line, i % 2 == 0 ? (size_t)2 : (size_t)20);
        strcat(text, one);
    }
    plim_explanation *explanation = NULL;
    plim_error err;
    T_EQ_U64(plim_explain_text(text, strlen(text), NULL, &explanation, &err), PLIM_OK);
    T_EQ_U64(plim_explanation_message_count(explanation), 2);
    T_EQ_U64(plim_explanation_message(explanation, 0)->count, 5);
    T_EQ_U64(plim_explanation_message(explanation, 1)->count, 5);
    T_EQ_U64(plim_explanation_unkept_count(explanation), 0);
    plim_explanation_destroy(explanation);
}

static void too_many_messages_are_counted(void)
{
    const size_t more = 7;
    size_t bytes = 0;
    char *const text = write_log(0, PLIM_EXPLAIN_MESSAGES_MAX + more, &bytes);
    plim_explanation *explanation = NULL;
    plim_error err;
    T_EQ_U64(plim_explain_text(text, bytes, NULL, &explanation, &err), PLIM_OK);
    T_EQ_U64(plim_explanation_message_count(explanation), PLIM_EXPLAIN_MESSAGES_MAX);
    T_EQ_U64(plim_explanation_unkept_count(explanation), more);
    plim_explanation_destroy(explanation);
    free(text);
}

/* Puts a string's characters into a text, without the end of the string. */
static void place(char *text, const char *string)
{
    for (; *string != '\0'; string++) {
        *text++ = *string;
    }
}

/* The same messages at the same places. */
static void check_same(const plim_explanation *a, const plim_explanation *b)
{
    T_EQ_U64(plim_explanation_byte_count(a), plim_explanation_byte_count(b));
    T_EQ_U64(plim_explanation_line_count(a), plim_explanation_line_count(b));
    T_EQ_U64(plim_explanation_series_count(a), plim_explanation_series_count(b));
    T_EQ_U64(plim_explanation_message_count(a), plim_explanation_message_count(b));
    for (size_t i = 0; i < plim_explanation_message_count(a); i++) {
        const plim_oom_message *const one = plim_explanation_message(a, i);
        const plim_oom_message *const other = plim_explanation_message(b, i);
        T_EQ_STR(one->form, other->form);
        T_EQ_STR(one->excerpt, other->excerpt);
        T_EQ_U64(one->judgement.verdict, other->judgement.verdict);
        T_EQ_U64(one->offset, other->offset);
        T_EQ_U64(one->length, other->length);
        T_EQ_U64(one->line, other->line);
        for (size_t f = 0; f < PLIM_FIGURE_COUNT; f++) {
            T_EQ_U64(one->request.figures[f].bytes, other->request.figures[f].bytes);
            T_EQ_U64(one->request.figures[f].offset, other->request.figures[f].offset);
        }
    }
}

static void pieces_do_not_matter(void)
{
    size_t bytes = 0;
    char *const text = write_log(20000, 40, &bytes); /* a few buffers */
    plim_explanation *whole = NULL;
    plim_error err;
    for (size_t i = 0; i < 200; i++) { /* colours, also where the buffer ends */
        place(text + t_random_between(0, bytes - (size_t)40 * 500), "\x1b[1;31m");
    }
    T_EQ_U64(plim_explain_text(text, bytes, NULL, &whole, &err), PLIM_OK);
    for (size_t round = 0; round < 5; round++) {
        plim_explainer *explainer = NULL;
        plim_explanation *explanation = NULL;
        T_EQ_U64(plim_explainer_create(NULL, &explainer, &err), PLIM_OK);
        for (size_t at = 0; at < bytes;) {
            const size_t left = bytes - at;
            const size_t piece = (size_t)t_random_bytes(1, left);
            T_EQ_U64(plim_explainer_feed(explainer, text + at, piece, &err), PLIM_OK);
            at += piece;
        }
        T_EQ_U64(plim_explainer_finish(explainer, &explanation, &err), PLIM_OK);
        check_same(whole, explanation);
        plim_explanation_destroy(explanation);
    }
    plim_explanation_destroy(whole);
    free(text);
}

/* A message that begins anywhere near the end of the buffer is read all the same. */
static void the_buffer_ends_in_no_message(void)
{
    const size_t buffer = (size_t)512 << 10;
    const size_t bytes = buffer + 4000;
    char *const text = malloc(bytes);
    char message[600];
    T_NOT_NULL(text);
    (void)snprintf(message, sizeof message, torch_line, (size_t)32);
    for (size_t i = 0; i < 60; i++) {
        const size_t at = buffer - 3500 + (size_t)t_random_between(0, 4000);
        plim_explanation *explanation = NULL;
        plim_error err;
        memset(text, '.', bytes);
        text[at - 1] = '\n';
        place(text + at, message);
        T_EQ_U64(plim_explain_text(text, bytes, NULL, &explanation, &err), PLIM_OK);
        T_EQ_U64(plim_explanation_message_count(explanation), 1);
        const plim_oom_message *const one = plim_explanation_message(explanation, 0);
        T_EQ_U64(one->offset, at);
        T_EQ_U64(one->line, 2);
        T_EQ_STR(one->form, "pytorch-2.x-both-process-clauses");
        T_EQ_U64(one->request.figures[PLIM_FIGURE_REQUESTED].bytes, (uint64_t)32 << 20);
        T_EQ_MEM(text + one->request.figures[PLIM_FIGURE_REQUESTED].offset, "32.00 MiB", 9);
        plim_explanation_destroy(explanation);
    }
    free(text);
}

typedef struct log_text {
    const char *text;
    size_t bytes;
} log_text;

static bool explain(const plim_mem *mem, void *ctx)
{
    const log_text *const log = ctx;
    const plim_explain_options options = { .mem = mem };
    plim_explanation *explanation = NULL;
    plim_error err;
    const plim_status status =
        plim_explain_text(log->text, log->bytes, &options, &explanation, &err);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    if (status == PLIM_OK) {
        T_EQ_U64(plim_explanation_message_count(explanation), 4);
        T_EQ_U64(plim_explanation_series_count(explanation), 1);
    }
    plim_explanation_destroy(explanation);
    return status == PLIM_OK;
}

static void failing_allocations_are_told(void)
{
    log_text log = { .bytes = 0 };
    char *const text = write_log(40, 4, &log.bytes);
    log.text = text;
    t_fail_each_allocation(explain, &log);
    free(text);
}

static void files_that_are_not_there_are_told(void)
{
    plim_explanation *explanation = NULL;
    plim_error err;
    T_EQ_U64(plim_explain_file("/nonexistent/log.txt", NULL, &explanation, &err), PLIM_IO);
    T_NULL(explanation);
}

T_MAIN(T_TEST(messages_and_series_come_out), T_TEST(nothing_is_no_error),
       T_TEST(what_is_said_again_is_counted), T_TEST(too_many_messages_are_counted),
       T_TEST(pieces_do_not_matter), T_TEST(the_buffer_ends_in_no_message),
       T_TEST(failing_allocations_are_told), T_TEST(files_that_are_not_there_are_told))
