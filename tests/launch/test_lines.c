/*
 * test_lines.c - two streams merged by lines, with an explainer that only keeps the text.
 */
#include "launch/lines.h"

#include "base/error.h"
#include "harness.h"

#define TEXT_BYTES_MAX ((size_t)16 << 20)

struct plim_explainer {
    const plim_mem *mem;
    plim_text text;
};

struct plim_explanation {
    const plim_mem *mem;
    size_t capacity;
    char *text; /* with a final zero */
};

plim_status plim_explainer_create(const plim_explain_options *options, plim_explainer **ret,
                                  plim_error *err)
{
    const plim_mem *mem = plim_mem_or_heap(options == NULL ? NULL : options->mem);
    plim_explainer *explainer = plim_mem_alloc_zeroed(mem, 1, sizeof *explainer);
    if (explainer == NULL) {
        return plim_fail_memory(err, "beginning");
    }
    explainer->mem = mem;
    plim_text_init(&explainer->text, mem, TEXT_BYTES_MAX);
    *ret = explainer;
    return PLIM_OK;
}

plim_status plim_explainer_feed(plim_explainer *explainer, const void *data, size_t bytes,
                                plim_error *err)
{
    plim_text_append(&explainer->text, data, bytes);
    return plim_text_status(&explainer->text, "keeping", err);
}

plim_status plim_explainer_finish(plim_explainer *explainer, plim_explanation **ret,
                                  plim_error *err)
{
    plim_explanation *explanation = plim_mem_alloc(explainer->mem, 1, sizeof *explanation);
    if (explanation == NULL) {
        plim_explainer_destroy(explainer);
        return plim_fail_memory(err, "finishing");
    }
    *explanation = (plim_explanation){ .mem = explainer->mem,
                                       .capacity = explainer->text.capacity,
                                       .text = explainer->text.data };
    explainer->text.data = NULL;
    plim_explainer_destroy(explainer);
    *ret = explanation;
    return PLIM_OK;
}

void plim_explainer_destroy(plim_explainer *explainer)
{
    if (explainer != NULL) {
        plim_text_deinit(&explainer->text);
        plim_mem_free(explainer->mem, explainer, 1, sizeof *explainer);
    }
}

void plim_explanation_destroy(plim_explanation *explanation)
{
    if (explanation->text != NULL) {
        plim_mem_free(explanation->mem, explanation->text, explanation->capacity, 1);
    }
    plim_mem_free(explanation->mem, explanation, 1, sizeof *explanation);
}

static void lines_are_fed_whole(void)
{
    static const struct {
        const char *name;
        const char *pieces[6]; /* "0…" for the first stream, "1…" for the second */
        const char *fed;
    } cases[] = {
        { "nothing", { NULL }, "" },
        { "one", { "0a\nb\n", NULL }, "a\nb\n" },
        { "in turn", { "0a\n", "1b\n", "0c\n", NULL }, "a\nb\nc\n" },
        { "within a line", { "0a", "1b\n", "0c\n", NULL }, "b\nac\n" },
        { "only whole lines of a piece", { "0a\nb\nc", "1x\n", "0d\n", NULL }, "a\nb\nx\ncd\n" },
        { "none ends", { "0a", "1b", "0c", NULL }, "ac\nb" },
        { "one ends", { "0a", "1b\n", NULL }, "b\na" },
        { "redrawn", { "1 1%", "1\r 2%", "0step\n", "1\r 3%\n", NULL }, "step\n 1%\r 2%\r 3%\n" },
        { "empty lines", { "0\n\n", "1\n", "0x", "1\n", NULL }, "\n\n\n\nx" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        plim_launch_lines text;
        plim_error err = { 0 };
        plim_launch_lines_begin(&text, NULL, 2);
        for (const char *const *piece = cases[i].pieces; *piece != NULL; piece++) {
            plim_launch_lines_feed(&text, **piece == '0' ? 0 : 1, *piece + 1, strlen(*piece) - 1);
        }
        plim_explanation *explanation = plim_launch_lines_finish(&text, &err);
        T_NOT_NULL(explanation);
        T_EQ_STR(explanation->text == NULL ? "" : explanation->text, cases[i].fed);
        plim_explanation_destroy(explanation);
    }
}

/* Feeds `pieces` pieces of random lines; stream s writes lines that begin with 'A' + s. */
static void feed_random(plim_launch_lines *text, size_t pieces, uint64_t line_bytes_most)
{
    static char piece[1 << 16];
    uint64_t left[2] = { 0 };
    for (size_t i = 0; i < pieces; i++) {
        const size_t stream = (size_t)t_random_between(0, 1);
        const size_t bytes = (size_t)t_random_bytes(1, sizeof piece);
        for (size_t j = 0; j < bytes; j++) {
            if (left[stream] == 0) {
                left[stream] = t_random_bytes(2, line_bytes_most);
            }
            left[stream]--;
            piece[j] = left[stream] == 0 ? '\n' : (char)('A' + stream);
        }
        plim_launch_lines_feed(text, stream, piece, bytes);
    }
}

static void no_line_holds_both_streams(void)
{
    plim_launch_lines text;
    plim_error err = { 0 };
    plim_launch_lines_begin(&text, NULL, 2);
    feed_random(&text, 300, PLIM_LAUNCH_LINE_BYTES_MAX);
    plim_explanation *explanation = plim_launch_lines_finish(&text, &err);
    T_NOT_NULL(explanation);
    T_NOT_NULL(explanation->text);
    const char *line = explanation->text;
    while (*line != '\0') {
        const size_t length = strcspn(line, "\n");
        T_EQ_U64(strspn(line, line[0] == 'A' ? "A" : "B"), length);
        line += length + (line[length] == '\n');
    }
    plim_explanation_destroy(explanation);
}

static void long_lines_cost_no_more_than_is_stated(void)
{
    t_mem heap;
    t_mem_init(&heap);
    const plim_explain_options options = { .mem = &heap.mem };
    plim_launch_lines text;
    plim_error err = { 0 };
    plim_launch_lines_begin(&text, &options, 2);
    static char piece[1000];
    memset(piece, 'x', sizeof piece);
    for (int i = 0; i < 4000; i++) {
        plim_launch_lines_feed(&text, (size_t)i % 2, piece, sizeof piece);
        T_TRUE(text.begun[i % 2].length <= PLIM_LAUNCH_LINE_BYTES_MAX);
    }
    plim_explanation *explanation = plim_launch_lines_finish(&text, &err);
    T_NOT_NULL(explanation);
    T_EQ_U64(strlen(explanation->text), 4000 * sizeof piece + 1); /* and an end between the two */
    plim_explanation_destroy(explanation);
    T_EQ_U64(heap.live_bytes, 0);
}

static bool read_both(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    const plim_explain_options options = { .mem = mem };
    plim_launch_lines text;
    plim_error err = { 0 };
    plim_launch_lines_begin(&text, &options, 2);
    feed_random(&text, 20, 5000);
    plim_explanation *explanation = plim_launch_lines_finish(&text, &err);
    if (explanation == NULL) {
        T_EQ_I64(err.status, PLIM_OUT_OF_HOST_MEMORY);
        return false;
    }
    plim_explanation_destroy(explanation);
    return true;
}

static void without_memory_the_reading_ends_and_tells(void)
{
    t_fail_each_allocation(read_both, NULL);
}

T_MAIN(T_TEST(lines_are_fed_whole), T_TEST(no_line_holds_both_streams),
       T_TEST(long_lines_cost_no_more_than_is_stated),
       T_TEST(without_memory_the_reading_ends_and_tells))
