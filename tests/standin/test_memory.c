/*
 * test_memory.c - device memory: its granularity, its capacity, whose it is.
 */
#include "standin/cuda_words.h"
#include "standin/rehearsal.h"

#include "standin/core/footprint.h"
#include "standin/core/memory.h"

#include <pthread.h>

#define CONTEXT (100 * MIB) /* of rehearsal.h's GPU */
#define PAGE    PLIM_STANDIN_PAGE_BYTES

static uint64_t used_by(plim_stage_use use)
{
    return r_device(0).used_bytes[use];
}

static void *allocate(size_t bytes)
{
    void *address = NULL;
    R_EQ(cudaMalloc(&address, bytes), 0);
    R_TRUE(address != NULL);
    return address;
}

static void small_requests(void)
{
    char *first = allocate(1);
    char *second = allocate(513);
    char *third = allocate(1 * MIB);
    R_EQ(second - first, 512);
    R_EQ(third - second, 1024);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), PAGE);
    char *large = allocate(1 * MIB + 1); /* pages of its own */
    R_EQ((uintptr_t)large % PAGE, 0);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 2 * PAGE);
    char *fourth = allocate(1 * MIB); /* no room for it in the first page */
    R_EQ((uintptr_t)fourth % PAGE, 0);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 3 * PAGE);
    R_EQ(cudaFree(second), 0);
    R_TRUE(allocate(1000) == second);
    R_EQ(cudaFree(first), 0);
    R_EQ(cudaFree(second), 0);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 3 * PAGE);
    R_EQ(cudaFree(third), 0);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 2 * PAGE);
    R_EQ(cudaFree(third), 1); /* cudaErrorInvalidValue: it is no more */
    R_EQ(cudaFree(large + 512), 1);
    R_EQ(cudaFree(large), 0);
    R_EQ(cudaFree(fourth), 0);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 0);
}

static void small_requests_share_pages(void)
{
    r_play(small_requests);
}

static void capacity(void)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    R_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), 0);
    R_EQ(total_bytes, 1024 * MIB);
    R_EQ(free_bytes, 1024 * MIB - CONTEXT);
    void *most = allocate(free_bytes);
    int untouched = 0;
    void *more = &untouched;
    R_EQ(cudaMalloc(&more, 1), 2);
    R_TRUE(more == &untouched);
    R_EQ(cudaGetLastError(), 2);
    R_EQ(cudaGetLastError(), 0);
    R_EQ(cudaMalloc(&more, UINT64_MAX), 2);
    R_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), 0);
    R_EQ(free_bytes, 0);
    R_EQ(cudaFree(most), 0);
    R_EQ(cudaMalloc(&more, 0), 0);
    R_TRUE(more == NULL);
    R_EQ(r_device(0).peak_bytes, 1024 * MIB);
}

static void no_more_than_the_capacity(void)
{
    r_play(capacity);
}

static void footprints(void)
{
    unsigned flags = 0;
    int is_active = 1;
    R_EQ(cuDevicePrimaryCtxGetState(0, &flags, &is_active), 0);
    R_EQ(is_active, 0);
    R_EQ(used_by(PLIM_STAGE_CONTEXT), 0);
    R_EQ(cudaFree(NULL), 0); /* the customary start */
    (void)allocate(1);
    R_EQ(cudaSetDevice(0), 0);
    R_EQ(used_by(PLIM_STAGE_CONTEXT), CONTEXT);
    R_EQ(r_device(1).used_bytes[PLIM_STAGE_CONTEXT], 0);
    R_TRUE(plim_standin_footprint_library(PLIM_STANDIN_CUBLAS));
    R_TRUE(plim_standin_footprint_library(PLIM_STANDIN_CUBLAS));
    R_TRUE(plim_standin_footprint_library(PLIM_STANDIN_CUDNN));
    R_EQ(used_by(PLIM_STAGE_LIBRARIES), 50 * MIB);
    R_EQ(cudaSetDevice(1), 0);
    R_EQ(r_device(1).used_bytes[PLIM_STAGE_CONTEXT], CONTEXT);
    R_EQ(cuDevicePrimaryCtxGetState(1, &flags, &is_active), 0);
    R_EQ(is_active, 1);
    R_EQ(cudaSetDevice(2), 101);
}

static void what_the_driver_takes_is_taken_once(void)
{
    r_play(footprints);
}

static void eager(void)
{
    R_EQ(cudaFree(NULL), 0);
    R_EQ(used_by(PLIM_STAGE_CONTEXT), CONTEXT);
    R_EQ(used_by(PLIM_STAGE_MODULES), 500 * MIB);
}

static void lazy(void)
{
    R_EQ(cudaFree(NULL), 0);
    R_EQ(used_by(PLIM_STAGE_MODULES), 0);
}

/* By the environment, and always before CUDA 11.7. */
static void kernels_may_be_loaded_with_the_context(void)
{
    plim_stage_settings settings = r_settings();
    r_play_on(&settings, lazy);
    T_EQ_I64(setenv("CUDA_MODULE_LOADING", "EAGER", 1), 0);
    r_play_on(&settings, eager);
    T_EQ_I64(setenv("CUDA_MODULE_LOADING", "LAZY", 1), 0);
    r_play_on(&settings, lazy);
    T_EQ_I64(unsetenv("CUDA_MODULE_LOADING"), 0);
    settings.cuda_version = 11060;
    r_play_on(&settings, eager);
    settings.cuda_version = 11070;
    r_play_on(&settings, lazy);
}

static void kernels(void)
{
    R_EQ(cudaFree(NULL), 0);
    R_EQ(used_by(PLIM_STAGE_LIBRARIES), 0);
    plim_standin_footprint_kernels();
    plim_standin_footprint_kernels();
    R_EQ(used_by(PLIM_STAGE_LIBRARIES), 25 * MIB);
}

static void full_without_kernels(void)
{
    (void)allocate(900 * MIB);
    plim_standin_footprint_kernels();
    R_EQ(used_by(PLIM_STAGE_LIBRARIES), 0);
}

static void kernels_come_with_the_first_launch(void)
{
    plim_stage_settings settings = r_settings();
    settings.gpu.kernels_bytes = 25 * MIB;
    r_play_on(&settings, kernels);
    settings.capacity_bytes = 1000 * MIB;
    r_play_on(&settings, full_without_kernels);
}

static void both_queries_of_memory(void)
{
    unsigned long long first[3] = { 0 }; /* total, free, used */
    struct {
        unsigned version;
        unsigned long long total_bytes, reserved_bytes, free_bytes, used_bytes;
    } second = { .version = (unsigned)sizeof(second) | 2u << 24 };
    void *device = NULL;
    (void)allocate(200 * MIB);
    R_EQ(nvmlDeviceGetHandleByIndex_v2(0, &device), 0);
    R_EQ(nvmlDeviceGetMemoryInfo(device, first), 0);
    R_EQ(nvmlDeviceGetMemoryInfo_v2(device, &second), 0);
    R_EQ(first[0], 1064 * MIB);
    R_EQ(first[1], 724 * MIB);
    R_EQ(first[2], 340 * MIB);
    R_EQ(second.total_bytes, 1064 * MIB);
    R_EQ(second.free_bytes, 724 * MIB);
    R_EQ(second.used_bytes, 300 * MIB);
    R_EQ(second.reserved_bytes, 40 * MIB);
    second.version = 1;
    R_EQ(nvmlDeviceGetMemoryInfo_v2(device, &second), 25);
}

static void the_first_query_counts_the_drivers_own_as_used(void)
{
    r_play(both_queries_of_memory);
}

static void no_room_for_a_context(void)
{
    R_EQ(cudaSetDevice(0), 2);
    void *address = NULL;
    R_EQ(cudaMalloc(&address, 1), 2);
    R_EQ(used_by(PLIM_STAGE_CONTEXT), 0);
}

static void a_context_needs_room(void)
{
    plim_stage_settings tiny = r_settings();
    tiny.capacity_bytes = CONTEXT - 1;
    r_play_on(&tiny, no_room_for_a_context);
}

/* ---- processes ------------------------------------------------------------------------------- */

static int here[2]; /* pipes: the first process says that it is ready, the second that it is done */
static int there[2];

static void tell(const int *pipe_ends)
{
    R_EQ(write(pipe_ends[1], "x", 1), 1);
}

static void wait_for(const int *pipe_ends)
{
    char byte = 0;
    R_EQ(read(pipe_ends[0], &byte, 1), 1);
}

static void check_list_of_processes(pid_t first)
{
    unsigned count = 8;
    uint64_t processes[8][2] = { { 0 } };
    void *device = NULL;
    R_EQ(nvmlDeviceGetHandleByIndex_v2(0, &device), 0);
    R_EQ(nvmlDeviceGetComputeRunningProcesses(device, &count, processes), 0);
    R_EQ(count, 2);
    R_EQ((uint32_t)processes[0][0], first);
    R_EQ(processes[0][1], 700 * MIB);
    R_EQ((uint32_t)processes[1][0], getpid());
    R_EQ(processes[1][1], 300 * MIB);
    count = 1;
    R_EQ(nvmlDeviceGetComputeRunningProcesses(device, &count, processes), 7); /* too few places */
    R_EQ(count, 2);
}

static void first_process(void)
{
    (void)allocate(600 * MIB);
    tell(here);
    wait_for(there);
    _exit(0); /* without a word */
}

static void second_process(void)
{
    const pid_t first = fork();
    if (first == 0) {
        first_process();
    }
    wait_for(here);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    R_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), 0);
    R_EQ(free_bytes, 1024 * MIB - 2 * CONTEXT - 600 * MIB);
    void *address = NULL;
    R_EQ(cudaMalloc(&address, 300 * MIB), 2);
    (void)allocate(200 * MIB);
    check_list_of_processes(first);
    tell(there);
    R_EQ(waitpid(first, NULL, 0), first);
    (void)allocate(700 * MIB); /* there is room again */
    R_EQ(used_by(PLIM_STAGE_CONTEXT), CONTEXT);
}

static void processes_share_a_device(void)
{
    T_EQ_U64(pipe(here), 0);
    T_EQ_U64(pipe(there), 0);
    r_play(second_process);
}

static void orphan(void)
{
    void *address = NULL;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    R_EQ(cudaMalloc(&address, 1), 3);
    R_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), 3);
    R_EQ(cudaGetLastError(), 3);
}

static void parent_of_orphan(void)
{
    void *mine = allocate(600 * MIB);
    R_EQ(r_run_child(orphan), 0);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 600 * MIB);
    R_EQ(used_by(PLIM_STAGE_CONTEXT), CONTEXT);
    R_EQ(cudaFree(mine), 0);
}

static void a_child_cannot_use_what_its_parent_started(void)
{
    r_play(parent_of_orphan);
}

typedef struct properties { /* CUmemAllocationProp */
    int type;
    int handle_types;
    int location_type;
    int location_id;
    uint64_t rest[2];
} properties;

static const properties on_first = { .type = 1, .location_type = 1, .location_id = 0 };

static void virtual_memory(void)
{
    uint64_t range = 0;
    uint64_t a = 0;
    uint64_t b = 0;
    uint64_t retained = 0;
    const int access[3] = { 1, 0, 3 };
    R_EQ(cuMemAddressReserve(&range, 64 * MIB, 0, 0, 0), 0);
    R_EQ(cuMemCreate(&a, PAGE, &on_first, 0), 0);
    R_EQ(cuMemCreate(&b, 2 * PAGE, &on_first, 0), 0);
    R_EQ(cuMemCreate(&b, PAGE + 1, &on_first, 0), 1);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 3 * PAGE);
    R_EQ(cuMemSetAccess(range, PAGE, access, 1), 1);
    R_EQ(cuMemMap(range, PAGE, 0, a, 0), 0);
    R_EQ(cuMemMap(range, PAGE, 0, a, 0), 1);        /* taken */
    R_EQ(cuMemMap(range + PAGE, PAGE, 0, b, 0), 1); /* not the whole handle */
    R_EQ(cuMemMap(range + PAGE, 2 * PAGE, 0, b, 0), 0);
    R_EQ(cuMemSetAccess(range, 3 * PAGE, access, 1), 0);
    R_EQ(cuMemSetAccess(range, 4 * PAGE, access, 1), 1);
    R_EQ(cuMemRelease(a), 0);
    R_EQ(cuMemRelease(b), 0);
    R_EQ(cuMemRelease(b), 1);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 3 * PAGE); /* mapped, and so kept */
    R_EQ(cuMemRetainAllocationHandle(&retained, (void *)(uintptr_t)(range + PAGE)), 0);
    R_EQ(retained, b);
    R_EQ(cuMemUnmap(range + PAGE, PAGE), 1); /* not the whole mapping: nothing is changed */
    R_EQ(cuMemUnmap(range, 3 * PAGE), 0);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 2 * PAGE); /* b is retained */
    R_EQ(cuMemMap(range, 2 * PAGE, 0, b, 0), 0);
    R_EQ(cuMemAddressFree(range, 64 * MIB), 1); /* something is mapped */
    R_EQ(cuMemUnmap(range, 2 * PAGE), 0);
    R_EQ(cuMemRelease(b), 0);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 0);
    R_EQ(cuMemAddressFree(range, 32 * MIB), 1);
    R_EQ(cuMemAddressFree(range, 64 * MIB), 0);
    R_EQ(cuMemAddressFree(range, 64 * MIB), 1);
}

static void addresses_and_memory_come_apart(void)
{
    r_play(virtual_memory);
}

static uint64_t pool_says(void *pool, int attribute)
{
    uint64_t bytes = 0;
    R_EQ(cudaMemPoolGetAttribute(pool, attribute, &bytes), 0);
    return bytes;
}

static void pools(void)
{
    enum { THRESHOLD = 4, RESERVED, RESERVED_PEAK, USED, USED_PEAK };
    void *pool = NULL;
    void *a = NULL;
    void *b = NULL;
    R_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), 0);
    R_EQ(cudaMallocAsync(&a, 100, NULL), 0);
    R_EQ(pool_says(pool, USED), 512);
    R_EQ(pool_says(pool, RESERVED), 32 * MIB);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 32 * MIB);
    R_EQ(cudaFreeAsync(a, NULL), 0);
    R_EQ(pool_says(pool, RESERVED), 0); /* the threshold is 0 */
    const uint64_t keep_all = UINT64_MAX;
    R_EQ(cudaMemPoolSetAttribute(pool, THRESHOLD, &keep_all), 0);
    R_EQ(cudaMallocAsync(&a, 40 * MIB, NULL), 0);
    R_EQ(cudaMallocAsync(&b, 24 * MIB, NULL), 0);
    R_EQ(pool_says(pool, RESERVED), 64 * MIB);
    R_EQ(cudaFree(a), 0); /* documented: cudaFree takes it, too */
    R_EQ(pool_says(pool, USED), 24 * MIB);
    R_EQ(pool_says(pool, RESERVED), 64 * MIB);
    R_EQ(cudaMemPoolTrimTo(pool, 0), 0);
    R_EQ(pool_says(pool, RESERVED), 32 * MIB);
    R_EQ(pool_says(pool, RESERVED_PEAK), 64 * MIB);
    R_EQ(pool_says(pool, USED_PEAK), 64 * MIB);
    R_EQ(cudaFreeAsync(b, NULL), 0);
    R_EQ(cudaMallocAsync(&a, 1000 * MIB, NULL), 2);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 32 * MIB);
}

static void pools_keep_what_is_freed(void)
{
    r_play(pools);
}

typedef struct pointer_facts { /* cudaPointerAttributes */
    int type;
    int device;
    void *on_device;
    void *on_host;
} pointer_facts;

static int type_of(const void *address)
{
    pointer_facts facts;
    R_EQ(cudaPointerGetAttributes(&facts, address), 0);
    return facts.type;
}

static void pointers(void)
{
    char *device = allocate(4 * MIB);
    void *managed = NULL;
    void *pinned = NULL;
    R_EQ(cudaMallocManaged(&managed, 2048 * MIB, 1), 0); /* more than there is */
    R_EQ(cudaHostAlloc(&pinned, 100, 0), 0);
    *(char *)managed = 1;
    R_EQ(type_of(device), 2);
    R_EQ(type_of(device + 4 * MIB - 1), 2);
    R_EQ(type_of(device + 4 * MIB), 0);
    R_EQ(type_of(managed), 3);
    R_EQ(type_of(pinned), 1);
    R_EQ(type_of(&managed), 0);
    R_EQ(cudaFreeHost(managed), 1);
    R_EQ(cudaFree(managed), 0);
    R_EQ(cudaFree(managed), 1);
    R_EQ(cudaFreeHost(pinned), 0);
    R_EQ(cudaFreeHost(pinned), 1);
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 4 * MIB);
}

static void pointers_are_told_apart(void)
{
    r_play(pointers);
}

/* ---- random requests, against a naive model -------------------------------------------------- */

#define SLOTS 64
#define STEPS 4000

typedef struct slot {
    uint64_t base;
    uint64_t bytes;
} slot;

static void check_slots(const slot *slots, uint64_t used_bytes)
{
    uint64_t large_bytes = 0;
    uint64_t small_bytes = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i].bytes > MIB) {
            large_bytes += (slots[i].bytes + PAGE - 1) / PAGE * PAGE;
        }
        small_bytes += slots[i].bytes <= MIB ? slots[i].bytes : 0;
        for (size_t k = 0; slots[i].bytes > 0 && k < i; k++) {
            R_TRUE(slots[k].bytes == 0 || slots[i].base + slots[i].bytes <= slots[k].base ||
                   slots[k].base + slots[k].bytes <= slots[i].base);
        }
    }
    R_TRUE(used_bytes >= large_bytes && (used_bytes - large_bytes) % PAGE == 0);
    R_TRUE(used_bytes - large_bytes >= small_bytes);
}

static void random_requests(void)
{
    slot slots[SLOTS] = { { 0 } };
    for (int step = 0; step < STEPS; step++) {
        slot *at = &slots[t_random_between(0, SLOTS - 1)];
        if (at->bytes > 0) {
            R_EQ(cudaFree((void *)(uintptr_t)at->base), 0);
            at->bytes = 0;
            continue;
        }
        size_t free_bytes = 0;
        size_t total_bytes = 0;
        R_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), 0);
        const uint64_t bytes = t_random_bytes(1, 128 * MIB);
        void *address = NULL;
        const int error = cudaMalloc(&address, bytes);
        R_TRUE(error == 0 || (error == 2 && bytes + PAGE > free_bytes));
        if (error == 0) {
            *at = (slot){ (uint64_t)(uintptr_t)address, bytes };
        }
        if (step % 16 == 0) {
            check_slots(slots, used_by(PLIM_STAGE_PROGRAM));
        }
    }
    for (size_t i = 0; i < SLOTS; i++) {
        R_EQ(slots[i].bytes > 0 ? cudaFree((void *)(uintptr_t)slots[i].base) : 0, 0);
    }
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 0);
}

static void random_requests_never_overlap(void)
{
    r_play(random_requests);
}

#define PIECES 32

/* Pieces of two pages, each created, mapped, released and unmapped in any order. */
typedef struct piece {
    uint64_t handle;
    bool is_held;
    bool is_mapped;
} piece;

static void change(piece *at, uint64_t address)
{
    const bool is_there = at->is_held || at->is_mapped;
    switch (t_random_between(0, 3)) {
    case 0:
        if (!is_there) {
            R_EQ(cuMemCreate(&at->handle, 2 * PAGE, &on_first, 0), 0);
            at->is_held = true;
        }
        break;
    case 1:
        R_EQ(cuMemMap(address, 2 * PAGE, 0, at->handle, 0), is_there && !at->is_mapped ? 0 : 1);
        at->is_mapped = is_there;
        break;
    case 2:
        R_EQ(cuMemRelease(at->handle), at->is_held ? 0 : 1);
        at->is_held = false;
        break;
    default:
        R_EQ(cuMemUnmap(address, 2 * PAGE), at->is_mapped ? 0 : 1);
        at->is_mapped = false;
        break;
    }
}

static void random_mappings(void)
{
    piece pieces[PIECES] = { { 0 } };
    uint64_t range = 0;
    R_EQ(cuMemAddressReserve(&range, 2 * PAGE * PIECES, 0, 0, 0), 0);
    for (int step = 0; step < STEPS; step++) {
        const size_t which = t_random_between(0, PIECES - 1);
        change(&pieces[which], range + which * 2 * PAGE);
        uint64_t used_bytes = 0;
        bool any_is_mapped = false;
        for (size_t i = 0; i < PIECES; i++) {
            used_bytes += pieces[i].is_held || pieces[i].is_mapped ? 2 * PAGE : 0;
            any_is_mapped = any_is_mapped || pieces[i].is_mapped;
            plim_standin_place place;
            R_EQ(plim_standin_memory_find(range + i * 2 * PAGE + PAGE, &place),
                 pieces[i].is_mapped);
        }
        R_EQ(used_by(PLIM_STAGE_PROGRAM), used_bytes);
        if (any_is_mapped) {
            R_EQ(cuMemAddressFree(range, 2 * PAGE * PIECES), 1);
        }
    }
}

static void random_mappings_keep_the_books(void)
{
    r_play(random_mappings);
}

static void *request_in_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++) {
        void *address = allocate(1000 + (size_t)i * 5000);
        R_EQ(cudaFree(address), 0);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t others[4];
    for (size_t i = 0; i < T_COUNT(others); i++) {
        R_EQ(pthread_create(&others[i], NULL, request_in_thread, NULL), 0);
    }
    for (size_t i = 0; i < T_COUNT(others); i++) {
        R_EQ(pthread_join(others[i], NULL), 0);
    }
    R_EQ(used_by(PLIM_STAGE_PROGRAM), 0);
    R_EQ(used_by(PLIM_STAGE_CONTEXT), CONTEXT);
}

static void threads_may_ask_at_once(void)
{
    r_play(threads);
}

T_MAIN(T_TEST(small_requests_share_pages), T_TEST(no_more_than_the_capacity),
       T_TEST(what_the_driver_takes_is_taken_once), T_TEST(kernels_may_be_loaded_with_the_context),
       T_TEST(kernels_come_with_the_first_launch),
       T_TEST(the_first_query_counts_the_drivers_own_as_used), T_TEST(a_context_needs_room),
       T_TEST(processes_share_a_device), T_TEST(a_child_cannot_use_what_its_parent_started),
       T_TEST(addresses_and_memory_come_apart), T_TEST(pools_keep_what_is_freed),
       T_TEST(pointers_are_told_apart), T_TEST(random_requests_never_overlap),
       T_TEST(random_mappings_keep_the_books), T_TEST(threads_may_ask_at_once))
