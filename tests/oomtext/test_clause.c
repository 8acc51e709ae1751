/*
 * test_clause.c - clauses read from flat text: figures, devices, processes, and where to stop.
 */
#include "oomtext/flattened.h"

#include "base/units.h"
#include "oomtext/clause.h"
#include "oomtext/table.h"

#define NONE PLIM_BYTES_UNKNOWN

/* Reads all of a text, which begins with the words that give the message away. */
static plim_said read_all(const char *text, const char *sets, size_t anchor)
{
    const plim_mem *const mem = plim_mem_or_heap(NULL);
    plim_arena arena;
    plim_arena_init(&arena, mem);
    plim_clause_index *const index = plim_clause_index_create(&arena);
    const uint64_t bits = plim_clause_sets(plim_message_tables(), sets);
    plim_flat flat = t_flatten(text);
    plim_said said;
    T_NOT_NULL(index);
    plim_clauses_read(index, &flat, bits, (plim_reach){ 0, anchor, flat.word_count }, &said);
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        if (said.figures[i].bytes != NONE && i != PLIM_FIGURE_OTHER_PROCESSES) {
            T_TRUE(said.figures[i].offset + said.figures[i].length <= strlen(text));
        }
    }
    plim_flat_deinit(&flat, mem);
    plim_arena_deinit(&arena);
    return said;
}

static void every_clause_is_read_on_its_own(void)
{
    static const struct {
        const char *sets;
        const char *text;
        plim_figure_id figure;
        uint64_t bytes;
    } cases[] = {
        { "torch", "tried to allocate 20.00 MiB", PLIM_FIGURE_REQUESTED, 20 * MIB },
        { "torch", "; 8.00 GiB total capacity;", PLIM_FIGURE_TOTAL, 8 * GIB },
        { "torch", "total capacty of 8.00 GiB", PLIM_FIGURE_TOTAL, 8 * GIB },
        { "torch", "3.00 GiB already allocated", PLIM_FIGURE_ALLOCATED, 3 * GIB },
        { "torch", "of which 0 bytes is free", PLIM_FIGURE_FREE, 0 },
        { "torch", "2.00 GiB allowed", PLIM_FIGURE_LIMIT, 2 * GIB },
        { "torch", "64.00 MiB cached", PLIM_FIGURE_RESERVED_UNALLOCATED, 64 * MIB },
        { "torch", "4.00 GiB reserved in total", PLIM_FIGURE_RESERVED, 4 * GIB },
        { "torch", "this process has 5.00 GiB", PLIM_FIGURE_PROCESS, 5 * GIB },
        { "mps", "other allocations: 1.00 GB", PLIM_FIGURE_OTHER_ALLOCATIONS, GIB },
        { "cupy", "allocated so far: 1,024 bytes", PLIM_FIGURE_ALLOCATED, 1024 },
        { "kernel", "Hardware limit: 101376", PLIM_FIGURE_SHARED_LIMIT, 101376 },
        { "tf", "OOM when allocating tensor with shape[2,3] and type half",
          PLIM_FIGURE_REQUESTED_FROM_SHAPE, 12 },
        { "torch", "tried to allocate 20.00", PLIM_FIGURE_REQUESTED, NONE },
        { "torch", "tried to allocate", PLIM_FIGURE_REQUESTED, NONE },
        { "mps", "3.00 GiB already allocated", PLIM_FIGURE_ALLOCATED, NONE },
        { "torch", "retried to allocate 2 MiB", PLIM_FIGURE_REQUESTED, NONE },
        { "torch", "64.00 MiB\n\ncached", PLIM_FIGURE_RESERVED_UNALLOCATED, NONE },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        const plim_said said = read_all(cases[i].text, cases[i].sets, 0);
        T_EQ_U64(said.figures[cases[i].figure].bytes, cases[i].bytes);
    }
}

static void processes_are_listed_and_summed(void)
{
    const plim_said said = read_all("Process 12 has 1.00 GiB memory in use. Process 7 has 512.00 "
                                    "MiB memory in use. Process has 9.00 GiB",
                                    "torch", 0);
    T_EQ_U64(said.process_count, 2);
    T_EQ_U64(said.processes[0].pid, 12);
    T_EQ_U64(said.processes[0].bytes, GIB);
    T_EQ_U64(said.processes[1].pid, 7);
    T_EQ_U64(said.processes[1].bytes, 512 * MIB);
    T_EQ_U64(said.figures[PLIM_FIGURE_OTHER_PROCESSES].bytes, GIB + 512 * MIB);
}

static void more_processes_than_are_kept_are_summed(void)
{
    char text[100 * 40] = "";
    for (size_t i = 0; i < 100; i++) {
        char one[40];
        (void)snprintf(one, sizeof one, "Process %zu has 1.00 MiB. ", i);
        strcat(text, one);
    }
    const plim_said said = read_all(text, "torch", 0);
    T_EQ_U64(said.process_count, PLIM_PROCESSES_MAX);
    T_EQ_U64(said.figures[PLIM_FIGURE_OTHER_PROCESSES].bytes, 100 * MIB);
}

static void a_device_is_an_index(void)
{
    static const struct {
        const char *text;
        int32_t device;
    } cases[] = {
        { "GPU 3; 8.00 GiB total capacity", 3 }, { "GPU  0 has a total capacity", 0 },
        { "GPU memory", PLIM_DEVICE_UNKNOWN },   { "GPU 98% busy", PLIM_DEVICE_UNKNOWN },
        { "GPU 01:00.0", PLIM_DEVICE_UNKNOWN },  { "GPU\n2024-05-01 step", PLIM_DEVICE_UNKNOWN },
        { "GPU 123456", PLIM_DEVICE_UNKNOWN },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        T_EQ_I64(read_all(cases[i].text, "torch", 0).device, cases[i].device);
    }
}

static void no_limit_is_no_figure(void)
{
    const plim_said said =
        read_all("this process has 17179869184.00 GiB memory in use", "torch", 0);
    T_EQ_U64(said.figures[PLIM_FIGURE_PROCESS].bytes, NONE);
}

static void exact_figures_replace_rounded_ones(void)
{
    const plim_said said = read_all("Sum Total of in-use chunks: 3.96GiB\nLimit: 4928097484\n"
                                    "InUse: 4248542720\n",
                                    "bfc", 0);
    T_EQ_U64(said.figures[PLIM_FIGURE_ALLOCATED].bytes, 4248542720);
    T_EQ_U64(said.figures[PLIM_FIGURE_ALLOCATED].slack_bytes, 0);
    T_EQ_U64(said.figures[PLIM_FIGURE_LIMIT].bytes, 4928097484);
}

static void a_pair_shares_its_unit_or_says_nothing(void)
{
    const plim_said whole = read_all("Free memory on device (3.50/8.00 GiB)", "vllm", 0);
    T_EQ_U64(whole.figures[PLIM_FIGURE_FREE].bytes, 3 * GIB + GIB / 2);
    T_EQ_U64(whole.figures[PLIM_FIGURE_TOTAL].bytes, 8 * GIB);
    const plim_said cut = read_all("Free memory on device (3.50/8.00", "vllm", 0);
    T_EQ_U64(cut.figures[PLIM_FIGURE_FREE].bytes, NONE);
    T_EQ_U64(cut.figures[PLIM_FIGURE_TOTAL].bytes, NONE);
}

static void the_next_message_is_left_alone(void)
{
    const plim_said said = read_all("Tried to allocate 1.00 GiB (GPU 0; 8.00 GiB total capacity\n"
                                    "on GPU 1: 9.00 GiB free. Tried to allocate 2.00 GiB",
                                    "torch", 0);
    T_EQ_U64(said.figures[PLIM_FIGURE_REQUESTED].bytes, GIB);
    T_EQ_U64(said.figures[PLIM_FIGURE_TOTAL].bytes, 8 * GIB);
    T_EQ_U64(said.figures[PLIM_FIGURE_FREE].bytes, NONE);
    T_EQ_I64(said.device, 0);
}

static void what_stands_far_behind_is_not_of_it(void)
{
    char text[1024] = "Tried to allocate 1.00 GiB. ";
    for (size_t i = 0; i < 80; i++) {
        strcat(text, "word ");
    }
    strcat(text, "8.00 GiB total capacity");
    const plim_said said = read_all(text, "torch", 0);
    T_EQ_U64(said.figures[PLIM_FIGURE_REQUESTED].bytes, GIB);
    T_EQ_U64(said.figures[PLIM_FIGURE_TOTAL].bytes, NONE);
}

/* Of clauses before the anchor the last ones stand, and those after it replace them. */
static void what_stands_before_yields(void)
{
    static const char text[] = "MPS allocated: 1.00 GB, MPS allocated: 2.00 GB, max allowed: "
                               "3.00 GB. MPS allocated: 4.00 GB, MPS allocated: 5.00 GB";
    const plim_said before = read_all(text, "mps", SIZE_MAX);
    T_EQ_U64(before.figures[PLIM_FIGURE_ALLOCATED].bytes, 5 * GIB);
    const plim_said behind = read_all(text, "mps", 49);
    T_EQ_U64(behind.figures[PLIM_FIGURE_ALLOCATED].bytes, 4 * GIB);
    T_EQ_U64(behind.figures[PLIM_FIGURE_LIMIT].bytes, 3 * GIB);
}

static void phrases_are_compared_by_words(void)
{
    plim_flat flat = t_flatten("Out-of \"Memory\"!");
    size_t end = 0;
    T_TRUE(plim_phrase_at(&flat, 0, "out of memory", &end));
    T_EQ_U64(end, 11);
    T_TRUE(plim_phrase_at(&flat, 0, "OutOfMemory", &end));
    T_FALSE(plim_phrase_at(&flat, 0, "out of memory error", &end));
    T_FALSE(plim_phrase_at(&flat, 1, "out", &end));
    T_TRUE(plim_phrase_stands_alone(&flat, 0, 3));
    T_TRUE(plim_phrase_stands_alone(&flat, 5, 11));
    T_FALSE(plim_phrase_stands_alone(&flat, 6, 11));
    plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
}

static bool create_index(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_arena arena;
    plim_arena_init(&arena, mem);
    plim_clause_index *const index = plim_clause_index_create(&arena);
    plim_arena_deinit(&arena);
    return index != NULL;
}

static void failing_allocations_are_told(void)
{
    t_fail_each_allocation(create_index, NULL);
}

T_MAIN(T_TEST(every_clause_is_read_on_its_own), T_TEST(processes_are_listed_and_summed),
       T_TEST(more_processes_than_are_kept_are_summed), T_TEST(a_device_is_an_index),
       T_TEST(no_limit_is_no_figure), T_TEST(exact_figures_replace_rounded_ones),
       T_TEST(a_pair_shares_its_unit_or_says_nothing), T_TEST(the_next_message_is_left_alone),
       T_TEST(what_stands_far_behind_is_not_of_it), T_TEST(what_stands_before_yields),
       T_TEST(phrases_are_compared_by_words), T_TEST(failing_allocations_are_told))
