/*
 * test_oom_text.c - the error text of every release, to the character.
 */
#include "harness.h"

#include "base/units.h"
#include "plimsoll/allocator.h"
#include "plimsoll/stats.h"

static char text[PLIM_OOM_TEXT_BYTES];

static const char *text_of(const plim_oom_facts *facts, uint32_t torch)
{
    const size_t length = plim_oom_text(facts, torch, text, sizeof text);
    T_EQ_U64(length, strlen(text));
    return text;
}

/* A training that is 20 MiB short, as a program sees it. */
static plim_oom_facts training(void)
{
    return (plim_oom_facts){
        .device = 1,
        .requested_bytes = 5000000,
        .rounded_bytes = 5000192,
        .segment_bytes = 20 * MIB,
        .device_total_bytes = 24 * GIB,
        .device_free_bytes = 15 * MIB + 512 * KIB,
        .allowed_bytes = PLIM_UNLIMITED,
        .allocated_bytes = 20 * GIB,
        .reserved_bytes = 21 * GIB,
        .pid = 4711,
    };
}

/* … that is also limited, beside another process, and has a graph's pool. */
static plim_oom_facts crowded(void)
{
    plim_oom_facts facts = training();
    facts.allowed_bytes = 22 * GIB;
    facts.private_pools_free_bytes = 256 * MIB;
    facts.processes[0] = (plim_device_process){ .pid = 12, .used_bytes = 1 * GIB + 1 };
    facts.processes[1] = (plim_device_process){ .pid = 4711, .used_bytes = 21 * GIB + 512 * MIB };
    facts.processes[2] = (plim_device_process){ .pid = 13, .used_bytes = PLIM_USED_UNKNOWN };
    facts.process_count = 3;
    return facts;
}

/* --- texts by release --- */

#define FIGURES                                                                          \
    "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 24.00 GiB total capacity; " \
    "20.00 GiB already allocated; 15.50 MiB free; "
#define RESERVED "21.00 GiB reserved in total by PyTorch)"
#define SPLIT                                                                            \
    " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid " \
    "fragmentation.  See documentation for Memory Management and "                       \
    "PYTORCH_CUDA_ALLOC_CONF"
#define TRIED "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 1 has a total "
#define OF    " of 24.00 GiB of which 15.50 MiB is free. "
#define OTHERS                                                                           \
    "Process 12 has 1.00 GiB memory in use. Including non-PyTorch memory, this process " \
    "has 21.50 GiB memory in use. Process 13 has 17179869184.00 GiB memory in use. "
#define LIVE                                                                         \
    "Of the allocated memory 20.00 GiB is allocated by PyTorch, and 1024.00 MiB is " \
    "reserved by PyTorch but unallocated."
#define LIVE_PRIVATE                                                                           \
    "Of the allocated memory 20.25 GiB is allocated by PyTorch, with 256.00 MiB allocated in " \
    "private pools (e.g., CUDA Graphs), and 768.00 MiB is reserved by PyTorch but unallocated."
#define UNUSED " If reserved but unallocated memory is large try setting "
#define AVOID                                                                          \
    "=expandable_segments:True to avoid fragmentation.  See documentation for Memory " \
    "Management  (https://"
#define PAGE "pytorch.org/docs/stable/notes/cuda.html"

#define HINT_2_1                                                                      \
    UNUSED "max_split_size_mb to avoid fragmentation.  See documentation for Memory " \
           "Management and PYTORCH_CUDA_ALLOC_CONF"
#define HINT_2_2  UNUSED "PYTORCH_CUDA_ALLOC_CONF" AVOID PAGE "#environment-variables)"
#define HINT_2_10 UNUSED "PYTORCH_ALLOC_CONF" AVOID PAGE "#environment-variables)"
#define HINT_2_11                                       \
    UNUSED "PYTORCH_CUDA_ALLOC_CONF" AVOID "docs." PAGE \
           "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"

static const struct {
    uint32_t minor_first; /* of release `major`: from here … */
    uint32_t minor_last;  /* … to here */
    uint32_t major;
    const char *plain;
    const char *crowded;
} shapes[] = {
    { 0, 3, 1, FIGURES "1024.00 MiB cached)", FIGURES "1024.00 MiB cached)" },
    { 4, 7, 1, FIGURES RESERVED, FIGURES RESERVED },
    { 8, 9, 1, FIGURES RESERVED, FIGURES "22.00 GiB allowed; " RESERVED },
    { 10, 13, 1, FIGURES RESERVED SPLIT, FIGURES "22.00 GiB allowed; " RESERVED SPLIT },
    { 0, 0, 2, FIGURES RESERVED SPLIT, FIGURES "22.00 GiB allowed; " RESERVED SPLIT },
    { 1, 1, 2, TRIED "capacty" OF LIVE HINT_2_1, TRIED "capacty" OF OTHERS LIVE HINT_2_1 },
    { 2, 3, 2, TRIED "capacity" OF LIVE HINT_2_2, TRIED "capacity" OF OTHERS LIVE HINT_2_2 },
    { 4, 9, 2, TRIED "capacity" OF LIVE HINT_2_2,
      TRIED "capacity" OF OTHERS "22.00 GiB allowed; " LIVE_PRIVATE HINT_2_2 },
    { 10, 10, 2, TRIED "capacity" OF LIVE HINT_2_10,
      TRIED "capacity" OF OTHERS "22.00 GiB allowed; " LIVE_PRIVATE HINT_2_10 },
    { 11, 13, 2, TRIED "capacity" OF LIVE HINT_2_11,
      TRIED "capacity" OF OTHERS "22.00 GiB allowed; " LIVE_PRIVATE HINT_2_11 },
};

static void every_release_writes_its_own_text(void)
{
    const plim_oom_facts plain = training();
    const plim_oom_facts full = crowded();
    for (size_t i = 0; i < T_COUNT(shapes); i++) {
        for (uint32_t minor = shapes[i].minor_first; minor <= shapes[i].minor_last; minor++) {
            const uint32_t torch = PLIM_TORCH(shapes[i].major, minor);
            T_CASE("%" PRIu32, torch);
            T_EQ_STR(text_of(&plain, torch), shapes[i].plain);
            T_EQ_STR(text_of(&full, torch), shapes[i].crowded);
        }
    }
}

static void releases_nobody_knows_write_what_their_neighbours_do(void)
{
    const plim_oom_facts facts = crowded();
    T_EQ_STR(text_of(&facts, 0), shapes[0].crowded);
    T_EQ_STR(text_of(&facts, PLIM_TORCH(0, 4)), shapes[0].crowded);
    T_EQ_STR(text_of(&facts, PLIM_TORCH(1, 14)), shapes[3].crowded);
    T_EQ_STR(text_of(&facts, PLIM_TORCH(9, 99)), shapes[T_COUNT(shapes) - 1].crowded);
    T_EQ_STR(text_of(&facts, UINT32_MAX), shapes[T_COUNT(shapes) - 1].crowded);
}

static void a_refusal_has_a_text_of_its_own(void)
{
    plim_oom_facts facts = crowded();
    facts.is_rejection = true;
    T_EQ_STR(text_of(&facts, PLIM_TORCH_NEWEST),
             "CUDA out of memory. Allocation was preemptively rejected because it would exceed "
             "per_process_memory_fraction limit. Requested size: 4.77 MiB");
}

static void an_exbibyte_is_refused_at_once(void)
{
    plim_oom_facts facts = crowded();
    facts.requested_bytes = PLIM_REQUEST_BYTES_MAX;
    T_EQ_STR(text_of(&facts, PLIM_TORCH(2, 11)),
             "CUDA out of memory. Tried to allocate more than 1EB memory.");
}

/* --- sizes --- */

static void sizes_have_the_unit_whose_threshold_they_do_not_pass(void)
{
    static const struct {
        uint64_t bytes;
        const char *size;
    } rows[] = {
        { 0, "0 bytes" },
        { 1, "1 bytes" },
        { 1024, "1024 bytes" },
        { 1025, "1.00 KiB" },
        { 1536, "1.50 KiB" },
        { MIB, "1024.00 KiB" },
        { MIB + 1, "1.00 MiB" },
        { GIB, "1024.00 MiB" },
        { GIB + 1, "1.00 GiB" },
        { 5000192, "4.77 MiB" },
        /* Ties go to the even digit, as printf() has it: 1.125 and 1.375 KiB. */
        { 1152, "1.12 KiB" },
        { 1408, "1.38 KiB" },
        { 1 * MIB - 1, "1024.00 KiB" },
        { 1000 * GIB, "1000.00 GiB" },
        { (uint64_t)1 << 63, "8589934592.00 GiB" },
        { UINT64_MAX, "17179869184.00 GiB" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        const plim_oom_facts sized = { .segment_bytes = rows[i].bytes };
        char expected[160];
        (void)snprintf(expected, sizeof expected,
                       "CUDA out of memory. Tried to allocate %s (GPU 0; ", rows[i].size);
        T_CASE("%" PRIu64, rows[i].bytes);
        T_TRUE(strncmp(text_of(&sized, PLIM_TORCH(1, 0)), expected, strlen(expected)) == 0);
    }
}

static void sizes_are_what_printf_makes_of_a_double(void)
{
    for (int i = 0; i < 20000; i++) {
        const plim_oom_facts facts = { .segment_bytes = t_random_bytes(1025, UINT64_MAX) };
        const double bytes = (double)facts.segment_bytes;
        char expected[160];
        if (facts.segment_bytes <= MIB) {
            (void)snprintf(expected, sizeof expected, "allocate %.2f KiB (", bytes / 1024);
        } else if (facts.segment_bytes <= GIB) {
            (void)snprintf(expected, sizeof expected, "allocate %.2f MiB (", bytes / 1048576);
        } else {
            (void)snprintf(expected, sizeof expected, "allocate %.2f GiB (", bytes / 1073741824);
        }
        T_CASE("%" PRIu64, facts.segment_bytes);
        T_NOT_NULL(strstr(text_of(&facts, PLIM_TORCH(1, 0)), expected));
    }
}

static void what_is_below_zero_is_huge_as_in_pytorch(void)
{
    plim_oom_facts facts = training();
    facts.reserved_bytes = facts.allocated_bytes - 1;
    T_NOT_NULL(strstr(text_of(&facts, PLIM_TORCH(2, 11)),
                      "and 17179869184.00 GiB is reserved by PyTorch but unallocated."));
    T_NOT_NULL(strstr(text_of(&facts, PLIM_TORCH(1, 0)), "17179869184.00 GiB cached)"));
}

/* --- room --- */

static plim_oom_facts widest(void)
{
    plim_oom_facts facts = {
        .device = INT32_MIN,
        .segment_bytes = UINT64_MAX,
        .device_total_bytes = UINT64_MAX,
        .device_free_bytes = UINT64_MAX,
        .allowed_bytes = UINT64_MAX - 1,
        .allocated_bytes = UINT64_MAX,
        .reserved_bytes = UINT64_MAX - 1,
        .private_pools_free_bytes = UINT64_MAX,
        .pid = INT64_MIN,
        .process_count = PLIM_OOM_PROCESSES_MAX,
    };
    for (size_t i = 0; i < PLIM_OOM_PROCESSES_MAX; i++) {
        facts.processes[i] = (plim_device_process){ INT64_MIN, PLIM_USED_UNKNOWN };
    }
    return facts;
}

static void the_widest_text_fits(void)
{
    const plim_oom_facts facts = widest();
    for (size_t i = 0; i < T_COUNT(shapes); i++) {
        T_TRUE(strlen(text_of(&facts, PLIM_TORCH(shapes[i].major, shapes[i].minor_last))) <
               PLIM_OOM_TEXT_BYTES - 1);
    }
}

static void a_small_room_is_never_left(void)
{
    const plim_oom_facts facts = crowded();
    const char *const whole = shapes[T_COUNT(shapes) - 1].crowded;
    const size_t length = strlen(whole);
    T_EQ_U64(plim_oom_text(&facts, PLIM_TORCH_NEWEST, NULL, 0), length);
    for (size_t bytes = 1; bytes <= length + 1; bytes++) {
        char *const exact = malloc(bytes);
        T_NOT_NULL(exact);
        T_EQ_U64(plim_oom_text(&facts, PLIM_TORCH_NEWEST, exact, bytes), length);
        T_EQ_U64(strlen(exact), bytes - 1);
        T_EQ_MEM(exact, whole, bytes - 1);
        free(exact);
    }
}

T_MAIN(T_TEST(every_release_writes_its_own_text),
       T_TEST(releases_nobody_knows_write_what_their_neighbours_do),
       T_TEST(a_refusal_has_a_text_of_its_own), T_TEST(an_exbibyte_is_refused_at_once),
       T_TEST(sizes_have_the_unit_whose_threshold_they_do_not_pass),
       T_TEST(sizes_are_what_printf_makes_of_a_double),
       T_TEST(what_is_below_zero_is_huge_as_in_pytorch), T_TEST(the_widest_text_fits),
       T_TEST(a_small_room_is_never_left))
