/*
 * test_devices.c - which devices there are, and what they say they are.
 */
#include "standin/cuda_words.h"
#include "standin/rehearsal.h"

#include "standin/core/devices.h"
#include "standin/core/ranges.h"
#include "standin/cudart/properties.h"

#include <errno.h>

static void properties_of_13(void)
{
    plim_standin_properties_13 is;
    R_EQ(cudaGetDeviceProperties(&is, 1), 0);
    R_EQ(strcmp(is.name, "Round GPU"), 0);
    R_EQ(is.totalGlobalMem, 1024 * MIB);
    R_EQ(is.major, 9);
    R_EQ(is.multiProcessorCount, 100);
    R_EQ(is.sharedMemPerBlockOptin, 227 * 1024);
    R_EQ(is.pciBusID, 2);
    R_EQ(is.clusterLaunch, 1);
    R_EQ(is.memoryPoolsSupported, 1);
    R_EQ(is.mpsEnabled, 0);
    R_EQ(cudaGetDeviceProperties(&is, 2), 101);
}

static void properties_are_laid_out_as_cuda_13_does(void)
{
    r_play(properties_of_13);
}

static void properties_of_12(void)
{
    plim_standin_properties_12 is;
    R_EQ(cudaGetDeviceProperties_v2(&is, 0), 0);
    R_EQ(strcmp(is.name, "Round GPU"), 0);
    R_EQ(is.clockRate, 1980000);
    R_EQ(is.memoryClockRate, 2619000);
    R_EQ(is.multiProcessorCount, 100);
    R_EQ(is.maxBlocksPerMultiProcessor, 32);
    R_EQ(is.hostRegisterSupported, 1);
    R_EQ(is.clusterLaunch, 1);

    char old[sizeof(is)];
    memset(old, 0x55, sizeof(old));
    R_EQ(cudaGetDeviceProperties(old, 0), 0); /* under this name CUDA 12 has CUDA 11's */
    R_EQ(memcmp(old, &is, PLIM_STANDIN_PROPERTIES_11_BYTES), 0);
    R_EQ(old[PLIM_STANDIN_PROPERTIES_11_BYTES], 0x55);
}

static void properties_are_laid_out_as_cuda_12_does(void)
{
    plim_stage_settings settings = r_settings();
    settings.cuda_version = 12080;
    r_play_on(&settings, properties_of_12);
}

static void attributes(void)
{
    static const int never_zero[] = { 1, 2, 5, 8, 9, 10, 11, 12, 13, 16, 36, 38, 39, 81, 82, 97 };
    for (size_t i = 0; i < T_COUNT(never_zero); i++) {
        int value = 0;
        R_EQ(cudaDeviceGetAttribute(&value, never_zero[i], 0), 0);
        R_TRUE(value > 0);
    }
    int value = 0;
    R_EQ(cudaDeviceGetAttribute(&value, 75, 0), 0);
    R_EQ(value, 9);
    R_EQ(cudaDeviceGetAttribute(&value, 75, 7), 101);
}

static void attributes_that_programs_divide_by_are_not_zero(void)
{
    r_play(attributes);
}

/* ---- CUDA_VISIBLE_DEVICES -------------------------------------------------------------------- */

static const struct visible_case {
    const char *list;
    int count;
    int buses[3]; /* of the devices of the program; bus i + 1 is device i of the stage */
} visible_cases[] = {
    { "0,1,2,3", 4, { 1, 2, 3 } },
    { "2,0", 2, { 3, 1 } },
    { " 3 , 1 ", 2, { 4, 2 } },
    { "1,7,2", 1, { 2 } },
    { "", 0, { 0 } },
    { "-1", 0, { 0 } },
    { "1,1", 0, { 0 } },
    { "GPU-02", 1, { 3 } },
    { "GPU-0", 0, { 0 } }, /* all begin like this */
    { "coffee", 0, { 0 } },
};

static const struct visible_case *visible_now;

static void visible(void)
{
    (void)setenv("CUDA_VISIBLE_DEVICES", visible_now->list, 1);
    int count = -1;
    R_EQ(cudaGetDeviceCount(&count), visible_now->count > 0 ? 0 : 100);
    R_EQ(count, visible_now->count);
    for (int i = 0; i < count && i < 3; i++) {
        R_EQ(plim_standin_device_attribute(PLIM_STANDIN_ATTRIBUTE_PCI_BUS, i),
             visible_now->buses[i]);
        R_EQ(cudaSetDevice(i), 0);
        R_EQ(r_device((uint32_t)visible_now->buses[i] - 1).used_bytes[PLIM_STAGE_CONTEXT],
             100 * MIB);
    }
    unsigned all = 0;
    R_EQ(nvmlDeviceGetCount_v2(&all), 0); /* which does not look at it */
    R_EQ(all, 4);
}

static void a_program_may_be_shown_some_of_them(void)
{
    plim_stage_settings settings = r_settings();
    settings.device_count = 4;
    for (size_t i = 0; i < T_COUNT(visible_cases); i++) {
        visible_now = &visible_cases[i];
        T_CASE("\"%s\"", visible_now->list);
        r_play_on(&settings, visible);
    }
}

static void managed(void)
{
    void *device = NULL;
    void *same = NULL;
    char uuid[64];
    R_EQ(nvmlDeviceGetHandleByPciBusId_v2("00000000:02:00.0", &device), 0);
    R_EQ(nvmlDeviceGetHandleByIndex_v2(1, &same), 0);
    R_TRUE(device == same);
    R_EQ(nvmlDeviceGetUUID(device, uuid, sizeof(uuid)), 0);
    R_EQ(strlen(uuid), 40);
    R_EQ(nvmlDeviceGetHandleByUUID(uuid, &same), 0);
    R_TRUE(device == same);
    R_EQ(nvmlDeviceGetUUID(device, uuid, 10), 7);
    R_EQ(nvmlDeviceGetHandleByPciBusId_v2("00000000:03:00.0", &device), 6);
    R_EQ(nvmlDeviceGetHandleByIndex_v2(2, &device), 2);
}

static void the_management_library_names_the_same_devices(void)
{
    r_play(managed);
}

static void peers(void)
{
    int can = 0;
    R_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), 0);
    R_EQ(can, 1);
    R_EQ(cudaDeviceCanAccessPeer(&can, 0, 0), 0);
    R_EQ(can, 0);
    R_EQ(cudaDeviceEnablePeerAccess(1, 0), 0);
    R_EQ(cudaDeviceEnablePeerAccess(1, 0), 704);
    R_EQ(cudaDeviceDisablePeerAccess(1), 0);
    R_EQ(cudaDeviceDisablePeerAccess(1), 705);
    R_EQ(cudaDeviceEnablePeerAccess(0, 0), 101);
}

static void peers_are_enabled_once(void)
{
    r_play(peers);
}

/* ---- where addresses lie --------------------------------------------------------------------- */

static void all_windows(void)
{
    int count = 0;
    R_EQ(cudaGetDeviceCount(&count), 0);
    plim_standin_window before = { 0 };
    for (int device = 0; device < count; device++) {
        const plim_standin_window window = plim_standin_window_of_device(device);
        R_TRUE(window.base >= before.base + before.bytes);
        R_TRUE(window.base + window.bytes <= UINT64_C(1) << 47);
        R_EQ(plim_standin_window_device(window.base), device);
        R_EQ(plim_standin_window_device(window.base + window.bytes - 1), device);
        R_TRUE(plim_standin_is_device_address(window.base));
        before = window;
    }
    R_TRUE(!plim_standin_is_device_address((uintptr_t)&count));
    R_EQ(cudaSetDevice(count - 1), 0);
    void *address = NULL;
    R_EQ(cudaMalloc(&address, 4 * MIB), 0);
    R_EQ(plim_standin_window_device((uintptr_t)address), count - 1);
}

/* The kernel says what would happen to a program that reads there. */
static void guarded(void)
{
    int ends[2];
    char *address = NULL;
    R_EQ(pipe(ends), 0);
    R_EQ(cudaMalloc((void **)&address, 4 * MIB), 0);
    R_TRUE(write(ends[1], address, 1) == -1 && errno == EFAULT);
    R_TRUE(write(ends[1], address + 4 * MIB, 1) == -1 && errno == EFAULT);
}

static void the_host_cannot_touch_device_memory(void)
{
    r_play(guarded);
}

static void each_device_has_addresses_of_its_own(void)
{
    static const uint64_t capacities[] = { 1024 * MIB, UINT64_C(80) << 30, UINT64_C(280) << 30,
                                           UINT64_C(4) << 40 };
    static const uint32_t counts[] = { 1, 8, 64 };
    for (size_t i = 0; i < T_COUNT(capacities); i++) {
        for (size_t k = 0; k < T_COUNT(counts); k++) {
            T_CASE("%u devices of %" PRIu64 " bytes", counts[k], capacities[i]);
            plim_stage_settings settings = r_settings();
            settings.capacity_bytes = capacities[i];
            settings.device_count = counts[k];
            r_play_on(&settings, all_windows);
        }
    }
}

/* What extensions of PyTorch ask for. */
int cudaDeviceGetLimit(size_t *value, int limit);
int cudaDeviceSetLimit(int limit, size_t value);
int cudaMallocManaged(void **address, size_t bytes, unsigned flags);
int cudaMemPrefetchAsync(const void *address, size_t bytes);
int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const void *config);

static void hints(void)
{
    size_t value = 0;
    R_EQ(cudaDeviceSetLimit(0, 4096), 0); /* cudaLimitStackSize */
    R_EQ(cudaDeviceGetLimit(&value, 0), 0);
    R_EQ(value, 4096);
    R_EQ(cudaDeviceSetLimit(1000, 1), 1);
    void *managed = NULL;
    R_EQ(cudaMallocManaged(&managed, 100, 1), 0);
    R_EQ(cudaMemPrefetchAsync(managed, 100), 0);
    memset(managed, 1, 100); /* it stays where the host can touch it */
    R_EQ(cudaFree(managed), 0);
    int clusters = 0;
    R_EQ(cudaOccupancyMaxActiveClusters(&clusters, NULL, NULL), 0);
    R_TRUE(clusters > 0);
}

static void hints_are_taken(void)
{
    r_play(hints);
}

T_MAIN(T_TEST(properties_are_laid_out_as_cuda_13_does),
       T_TEST(properties_are_laid_out_as_cuda_12_does),
       T_TEST(attributes_that_programs_divide_by_are_not_zero),
       T_TEST(a_program_may_be_shown_some_of_them),
       T_TEST(the_management_library_names_the_same_devices), T_TEST(peers_are_enabled_once),
       T_TEST(hints_are_taken), T_TEST(the_host_cannot_touch_device_memory),
       T_TEST(each_device_has_addresses_of_its_own))
