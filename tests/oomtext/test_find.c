/*
 * test_find.c - from a piece of text to messages: where they stand, and where to go on.
 */
#include "harness.h"

#include "base/memory.h"
#include "base/units.h"
#include "oomtext/find.h"

static const char torch_message[] =
    "CUDA out of memory. Tried to allocate 38.00 MiB (GPU 1; 7.79 GiB total capacity; 6.61 GiB "
    "already allocated; 19.12 MiB free; 6.80 GiB reserved in total by PyTorch)";

/* Puts the message into a text, without the end of the string. */
static void place(char *text)
{
    for (const char *c = torch_message; *c != '\0'; c++) {
        *text++ = *c;
    }
}

#define FOUND_MAX 16u

typedef struct finding {
    plim_found found[FOUND_MAX];
    size_t count;
    size_t refused_at; /* the message that is not taken, counted from 1; 0: all are */
} finding;

static bool take(void *ctx, const plim_found *found)
{
    finding *const all = ctx;
    if (all->count + 1 == all->refused_at) {
        return false;
    }
    T_TRUE(all->count < FOUND_MAX);
    all->found[all->count++] = *found;
    return true;
}

/* Searches a whole text. */
static void search(const char *text, finding *ret)
{
    plim_finder *finder = NULL;
    size_t done = 0;
    plim_error err;
    *ret = (finding){ .count = 0 };
    T_EQ_U64(plim_finder_create(plim_mem_or_heap(NULL), &finder, &err), PLIM_OK);
    T_EQ_U64(plim_finder_search(finder, &(plim_piece){ text, strlen(text), 0, true },
                                (plim_taker){ take, ret }, &done, &err),
             PLIM_OK);
    T_EQ_U64(done, strlen(text));
    plim_finder_destroy(finder);
}

static void a_message_has_its_place_and_words(void)
{
    char text[600];
    (void)snprintf(text, sizeof text, "step 1\nRuntimeError: \x1b[31m%s\n", torch_message);
    finding all;
    search(text, &all);
    T_EQ_U64(all.count, 1);
    const plim_found *const one = &all.found[0];
    T_EQ_STR(one->form->name, "pytorch-1.4-reserved");
    T_EQ_MEM(text + one->begin, "CUDA out of memory", 18);
    T_TRUE(one->end <= strlen(text));
    T_EQ_I64(one->said.device, 1);
    const plim_figure requested = one->said.figures[PLIM_FIGURE_REQUESTED];
    T_EQ_U64(requested.bytes, 38 * MIB);
    T_EQ_U64(requested.length, strlen("38.00 MiB"));
    T_EQ_MEM(text + requested.offset, "38.00 MiB", 9);
    T_TRUE(strstr(one->excerpt, "CUDA out of memory. Tried to allocate 38.00 MiB") != NULL);
    T_NULL(strchr(one->excerpt, '\x1b'));
}

static void the_most_telling_form_wins(void)
{
    static const struct {
        const char *text;
        const char *form;
    } cases[] = {
        { "CUDA failed with error out of memory", "cuda-runtime-oom" },
        { "RuntimeError: CUDA error: out of memory", "pytorch-bare-cuda-error" },
        { "terminate called: std::bad_alloc", "std-bad-alloc" },
        { "MemoryError: std::bad_alloc: CUDA error at: a.hpp:7: cudaErrorMemoryAllocation",
          "rmm-bad-alloc" },
        { "std::bad_alloc: RMM failure at:a.hpp:7: Maximum pool size exceeded",
          "rmm-pool-exceeded" },
        { "fatal: out of memory", "out-of-memory" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        finding all;
        search(cases[i].text, &all);
        T_EQ_U64(all.count, 1);
        T_EQ_STR(all.found[0].form->name, cases[i].form);
    }
}

static void messages_come_in_order(void)
{
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "%s\nOSError: [Errno 28] No space left on device\nstep 4\n%s\nKilled\n",
                   torch_message, torch_message);
    finding all;
    search(text, &all);
    T_EQ_U64(all.count, 4);
    T_EQ_STR(all.found[0].form->name, "pytorch-1.4-reserved");
    T_EQ_STR(all.found[1].form->name, "negative-disk-full");
    T_EQ_STR(all.found[2].form->name, "pytorch-1.4-reserved");
    T_EQ_STR(all.found[3].form->name, "shell-killed");
    for (size_t i = 1; i < all.count; i++) {
        T_TRUE(all.found[i].begin >= all.found[i - 1].end);
    }
}

static void nothing_is_found_in_nothing(void)
{
    finding all;
    search("", &all);
    T_EQ_U64(all.count, 0);
    search("step 1 | loss 2.3\nstep 2 | loss 2.2\n", &all);
    T_EQ_U64(all.count, 0);
}

/* What begins too near to the end of a piece is left to the next one. */
static void the_end_of_a_piece_waits(void)
{
    const size_t bytes = 16 << 10;
    char *const text = malloc(bytes);
    plim_finder *finder = NULL;
    plim_error err;
    T_NOT_NULL(text);
    memset(text, '.', bytes);
    for (size_t at = 100; at < bytes; at += 100) {
        text[at] = '\n';
    }
    place(text + 8000);
    place(text + bytes - 1000);
    T_EQ_U64(plim_finder_create(plim_mem_or_heap(NULL), &finder, &err), PLIM_OK);
    finding all = { .count = 0 };
    size_t done = 0;
    T_EQ_U64(plim_finder_search(finder, &(plim_piece){ text, bytes, 0, false },
                                (plim_taker){ take, &all }, &done, &err),
             PLIM_OK);
    T_EQ_U64(all.count, 1);
    T_EQ_U64(all.found[0].begin, 8000);
    T_TRUE(done >= all.found[0].end && done <= bytes - 1000);
    T_EQ_U64(plim_finder_search(finder, &(plim_piece){ text, bytes, done, true },
                                (plim_taker){ take, &all }, &done, &err),
             PLIM_OK);
    T_EQ_U64(all.count, 2);
    T_EQ_U64(all.found[1].begin, bytes - 1000);
    T_EQ_U64(done, bytes);
    plim_finder_destroy(finder);
    free(text);
}

static void more_hits_than_are_collected_are_found(void)
{
    const size_t count = 3000; /* of each: their phrases fill the list several times */
    const size_t message_bytes = strlen(torch_message);
    const size_t stride = message_bytes + 200;
    char *const text = malloc(count * stride + 1);
    plim_finder *finder = NULL;
    plim_error err;
    T_NOT_NULL(text);
    memset(text, ' ', count * stride);
    for (size_t i = 0; i < count; i++) {
        place(text + i * stride);
        text[(i + 1) * stride - 1] = '\n';
    }
    finding all = { .refused_at = FOUND_MAX };
    size_t done = 0;
    T_EQ_U64(plim_finder_create(plim_mem_or_heap(NULL), &finder, &err), PLIM_OK);
    T_EQ_U64(plim_finder_search(finder, &(plim_piece){ text, count * stride, 0, true },
                                (plim_taker){ take, &all }, &done, &err),
             PLIM_OUT_OF_HOST_MEMORY); /* take() said so */
    T_EQ_U64(all.count, FOUND_MAX - 1);
    for (size_t i = 0; i < all.count; i++) {
        T_EQ_U64(all.found[i].begin, i * stride);
    }
    plim_finder_destroy(finder);
    free(text);
}

static void what_is_in_force_is_noted(void)
{
    static const struct {
        const char *text;
        uint32_t in_force;
    } cases[] = {
        { "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
          PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_EXPANDABLE_SEGMENTS) },
        { "try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", 0 },
        { "max_split_size_mb:128", PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_MAX_SPLIT_SIZE) },
        { "batch_size=1, lr=2", PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_BATCH_OF_ONE) },
        { "batch_size=16", 0 },
        { "nothing", 0 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        plim_finder *finder = NULL;
        finding all = { .count = 0 };
        size_t done = 0;
        plim_error err;
        T_EQ_U64(plim_finder_create(plim_mem_or_heap(NULL), &finder, &err), PLIM_OK);
        T_EQ_U64(plim_finder_search(finder,
                                    &(plim_piece){ cases[i].text, strlen(cases[i].text), 0, true },
                                    (plim_taker){ take, &all }, &done, &err),
                 PLIM_OK);
        T_EQ_U64(plim_finder_circumstances(finder).in_force, cases[i].in_force);
        plim_finder_destroy(finder);
    }
}

static bool create_finder(const plim_mem *mem, void *ctx)
{
    plim_finder *finder = NULL;
    plim_error err;
    (void)ctx;
    const plim_status status = plim_finder_create(mem, &finder, &err);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    plim_finder_destroy(finder);
    return status == PLIM_OK;
}

static void failing_allocations_are_told(void)
{
    t_fail_each_allocation(create_finder, NULL);
    plim_finder_destroy(NULL);
}

T_MAIN(T_TEST(a_message_has_its_place_and_words), T_TEST(the_most_telling_form_wins),
       T_TEST(messages_come_in_order), T_TEST(nothing_is_found_in_nothing),
       T_TEST(the_end_of_a_piece_waits), T_TEST(more_hits_than_are_collected_are_found),
       T_TEST(what_is_in_force_is_noted), T_TEST(failing_allocations_are_told))
