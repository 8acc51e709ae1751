/*
 * test_nccl.c - communicators, what they take of a device, and what collectives leave.
 */
#include "rehearsal.h"

#include "standin/nccl/nccl.h"

typedef plim_nccl_communicator communicator;

/* nccl.h's, as far as they are called here. */
int ncclGetVersion(int *version);
const char *ncclGetErrorString(int status);
const char *ncclGetLastError(const communicator *own);
int ncclGetUniqueId(plim_nccl_id *ret_id);
int ncclCommInitRank(communicator **ret, int ranks, plim_nccl_id id, int rank);
int ncclCommInitRankConfig(communicator **ret, int ranks, plim_nccl_id id, int rank,
                           const plim_nccl_config *config);
int ncclCommInitRankScalable(communicator **ret, int ranks, int rank, int id_count,
                             const plim_nccl_id *ids, const plim_nccl_config *config);
int ncclCommInitAll(communicator **ret, int devices, const int *device_list);
int ncclCommSplit(communicator *from, int color, int key, communicator **ret,
                  const plim_nccl_config *config);
int ncclCommShrink(communicator *from, const int *excluded, int excluded_count, communicator **ret,
                   const plim_nccl_config *config, int flags);
int ncclCommFinalize(communicator *own);
int ncclCommDestroy(communicator *own);
int ncclCommAbort(communicator *own);
int ncclCommSuspend(communicator *own, int flags);
int ncclCommResume(communicator *own);
int ncclCommMemStats(const communicator *own, int what, uint64_t *ret);
int ncclCommGetAsyncError(const communicator *own, int *ret_status);
int ncclCommCount(const communicator *own, int *ret);
int ncclCommCuDevice(const communicator *own, int *ret);
int ncclCommUserRank(const communicator *own, int *ret);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, communicator *own,
                  void *stream);
int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root,
               communicator *own, void *stream);
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, communicator *own,
                      void *stream);
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, communicator *own,
                  void *stream);
int ncclAllGather(const void *from, void *to, size_t count, int type, communicator *own,
                  void *stream);
int ncclAlltoAll(const void *from, void *to, size_t count, int type, communicator *own,
                 void *stream);
int ncclSend(const void *from, size_t count, int type, int peer, communicator *own, void *stream);
int ncclRecv(void *to, size_t count, int type, int peer, communicator *own, void *stream);
int ncclRedOpCreatePreMulSum(int *ret_op, const void *scalar, int type, int residence,
                             communicator *own);
int ncclRedOpDestroy(int op, communicator *own);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclMemAlloc(void **ret, size_t bytes);
int ncclMemFree(void *address);
int ncclCommRegister(const communicator *own, void *data, size_t bytes, void **ret_handle);
int ncclCommDeregister(const communicator *own, void *handle);
long ncclCommWindowRegister(void);

int cudaMalloc(void **ret, size_t bytes);
int cudaMemcpy(void *target, const void *source, size_t bytes, int kind);

enum { INT32 = 2, INT64 = 4, FLOAT32 = 7, TYPES = 12 };
enum { SUM, PRODUCT, MAX, MIN, MEAN };

#define CONTEXT_MIB 100
#define KERNELS_MIB 10
#define RINGS_MIB   UINT64_C(288) /* 24 channels of 12 MiB, to one neighbour */

static communicator *make(int ranks, int rank)
{
    communicator *own = NULL;
    R_EQ(ncclCommInitRank(&own, ranks, (plim_nccl_id){ 0 }, rank), 0);
    return own;
}

static uint64_t libraries_mib(void)
{
    return r_device(0).used_bytes[PLIM_STAGE_NCCL] / MIB;
}

/* Device memory that holds numbers. */
static int64_t *place(const int64_t *numbers, size_t count)
{
    void *data = NULL;
    R_EQ(cudaMalloc(&data, count * sizeof *numbers), 0);
    R_EQ(cudaMemcpy(data, numbers, count * sizeof *numbers, 1), 0);
    return data;
}

static int64_t number_at(const int64_t *data, size_t index)
{
    int64_t number = -1;
    R_EQ(cudaMemcpy(&number, data + index, sizeof number, 2), 0);
    return number;
}

static void speaks(void)
{
    int version = 0;
    R_EQ(ncclGetVersion(&version), 0);
    R_EQ(version, 22800);
    R_EQ(ncclGetVersion(NULL), PLIM_NCCL_INVALID_ARGUMENT);
    R_TRUE(strcmp(ncclGetErrorString(0), "no error") == 0);
    R_TRUE(strstr(ncclGetErrorString(5), "invalid usage") != NULL);
    R_TRUE(strstr(ncclGetErrorString(-1), "unknown") != NULL);
    R_TRUE(strstr(ncclGetErrorString(99), "unknown") != NULL);
    plim_nccl_id first;
    plim_nccl_id second;
    R_EQ(ncclGetUniqueId(&first), 0);
    R_EQ(ncclGetUniqueId(&second), 0);
    R_TRUE(memcmp(&first, &second, sizeof first) != 0);
}

static void knows_its_place(void)
{
    communicator *own = make(8, 3);
    int answer = -1;
    R_EQ(ncclCommCount(own, &answer), 0);
    R_EQ(answer, 8);
    R_EQ(ncclCommUserRank(own, &answer), 0);
    R_EQ(answer, 3);
    R_EQ(ncclCommCuDevice(own, &answer), 0);
    R_EQ(answer, 0);
    R_EQ(ncclCommGetAsyncError(own, &answer), 0);
    R_EQ(answer, 0);
    R_EQ(ncclCommCount(NULL, &answer), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclCommFinalize(own), 0);
    R_EQ(ncclCommFinalize(own), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclCommDestroy(own), 0);
    R_EQ(ncclCommAbort(NULL), 0);
}

static void refuses_places_that_are_none(void)
{
    const plim_nccl_id id = { 0 };
    plim_nccl_config config = { .size = sizeof config };
    communicator *own = NULL;
    R_EQ(ncclCommInitRank(&own, 0, id, 0), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclCommInitRank(&own, 2, id, 2), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclCommInitRank(&own, 2, id, -1), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclCommInitRank(NULL, 2, id, 0), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclCommInitRankConfig(&own, 2, id, 0, &config), PLIM_NCCL_INVALID_ARGUMENT);
    R_TRUE(strstr(ncclGetLastError(NULL), "NCCL_CONFIG_INITIALIZER") != NULL);
    R_EQ(ncclCommInitRankScalable(&own, 2, 0, 3, &id, NULL), PLIM_NCCL_INVALID_ARGUMENT);
    R_TRUE(own == NULL);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_NCCL], 0);
}

static void takes_kernels_once_and_buffers_with_the_first_collective(void)
{
    communicator *first = make(2, 0);
    communicator *second = make(2, 0);
    int64_t *data = place((const int64_t[]){ 1 }, 1);
    R_EQ(libraries_mib(), KERNELS_MIB);
    R_EQ(ncclAllReduce(data, data, 0, INT64, SUM, first, NULL), 0);
    R_EQ(libraries_mib(), KERNELS_MIB);
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, first, NULL), 0);
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, first, NULL), 0);
    R_EQ(libraries_mib(), KERNELS_MIB + RINGS_MIB);
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, second, NULL), 0);
    R_EQ(libraries_mib(), KERNELS_MIB + 2 * RINGS_MIB);
    uint64_t bytes = 0;
    R_EQ(ncclCommMemStats(second, 3, &bytes), 0);
    R_EQ(bytes, RINGS_MIB * MIB);
    R_EQ(ncclCommSuspend(second, 1), 0);
    R_EQ(libraries_mib(), KERNELS_MIB + RINGS_MIB);
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, second, NULL), PLIM_NCCL_INVALID_USAGE);
    R_EQ(ncclCommResume(second), 0);
    R_EQ(ncclCommDestroy(second), 0);
    R_EQ(ncclCommDestroy(first), 0);
    R_EQ(libraries_mib(), KERNELS_MIB);
}

static void takes_more_among_more_ranks_and_nothing_alone(void)
{
    int64_t *data = place((const int64_t[]){ 1 }, 1);
    communicator *alone = make(1, 0);
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, alone, NULL), 0);
    R_EQ(number_at(data, 0), 1); /* a sum over one */
    R_EQ(libraries_mib(), KERNELS_MIB);
    communicator *many = make(64, 5);
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, many, NULL), 0);
    R_EQ(libraries_mib(), KERNELS_MIB + 2 * RINGS_MIB);
}

static void heeds_the_environment_and_the_config(void)
{
    int64_t *data = place((const int64_t[]){ 1 }, 1);
    const plim_nccl_config config = { .size = sizeof config,
                                      .magic = PLIM_NCCL_MAGIC,
                                      .channels_min = PLIM_NCCL_UNDEFINED,
                                      .channels_max = 4 };
    communicator *own = NULL;
    R_EQ(ncclCommInitRankConfig(&own, 2, (plim_nccl_id){ 0 }, 0, &config), 0);
    (void)setenv("NCCL_BUFFSIZE", "1048576", 1); /* 6.2 MiB in all: 8 MiB and 2 MiB, by channel */
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, own, NULL), 0);
    R_EQ(libraries_mib(), KERNELS_MIB + 4 * (8 + 2));
}

static void connects_to_peers_on_the_same_machine(void)
{
    int64_t *data = place((const int64_t[]){ 1 }, 1);
    communicator *own = make(64, 0);
    R_EQ(ncclSend(data, 1, INT64, 1, own, NULL), 0);
    R_EQ(ncclSend(data, 1, INT64, 1, own, NULL), 0);
    R_EQ(libraries_mib(), KERNELS_MIB + 32 * 2);
    R_EQ(ncclRecv(data, 1, INT64, 1, own, NULL), 0);
    R_EQ(libraries_mib(), KERNELS_MIB + 32 * 12);
    R_EQ(ncclSend(data, 1, INT64, 63, own, NULL), 0);
    R_EQ(libraries_mib(), KERNELS_MIB + 32 * 12);
    R_EQ(ncclSend(data, 1, INT64, 64, own, NULL), PLIM_NCCL_INVALID_ARGUMENT);
}

static void fails_when_the_device_is_full(void)
{
    void *rest = NULL;
    int64_t *data = place((const int64_t[]){ 1 }, 1);
    communicator *own = make(2, 0);
    R_EQ(cudaMalloc(&rest, (1024 - CONTEXT_MIB - KERNELS_MIB - RINGS_MIB) * MIB), 0);
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, own, NULL), PLIM_NCCL_CUDA_ERROR);
    R_TRUE(strstr(ncclGetLastError(own), "out of memory") != NULL);
    R_EQ(libraries_mib(), KERNELS_MIB);
}

static void carries_what_ranks_agree_on(void)
{
    communicator *own = make(3, 1);
    int64_t *data = place((const int64_t[]){ 7, 8, 9 }, 3);
    int64_t *all = place((const int64_t[9]){ 0 }, 9);
    R_EQ(ncclAllGather(data, all, 3, INT64, own, NULL), 0);
    for (size_t i = 0; i < 9; i++) {
        R_EQ(number_at(all, i), 7 + (int64_t)(i % 3));
    }
    R_EQ(ncclAllReduce(data, all, 3, INT64, MAX, own, NULL), 0);
    R_EQ(ncclAllReduce(data, data, 3, INT64, MIN, own, NULL), 0);
    R_EQ(ncclBroadcast(NULL, data, 3, INT64, 2, own, NULL), 0);
    R_EQ(number_at(data, 2), 9);
    R_EQ(ncclReduceScatter(data, all, 1, INT64, MEAN, own, NULL), 0);
    R_EQ(number_at(all, 0), 8); /* the part of rank 1 */
    R_EQ(ncclAlltoAll(data, all, 1, INT64, own, NULL), 0);
    R_EQ(number_at(all, 2), 8);
    R_EQ(ncclReduce(data, all, 1, INT64, MAX, 0, own, NULL), 0); /* the root has it, not we */
    R_EQ(number_at(all, 0), 8);
}

static void forgets_what_others_would_have_to_say(void)
{
    communicator *own = make(3, 1);
    int64_t *data = place((const int64_t[]){ 7, 8, 9 }, 3);
    int64_t *beside = place((const int64_t[]){ 5 }, 1);
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, own, NULL), 0);
    R_EQ(ncclRecv(data + 1, 1, INT64, 0, own, NULL), 0);
    R_EQ(number_at(data, 0), 0);
    R_EQ(number_at(data, 1), 0);
    R_EQ(number_at(data, 2), 9);
    R_EQ(number_at(beside, 0), 5); /* written by no one */
}

static void splits_know_no_size_and_so_nothing(void)
{
    communicator *own = make(4, 1);
    communicator *split = NULL;
    int64_t *data = place((const int64_t[]){ 7 }, 1);
    R_EQ(ncclCommSplit(own, -1, 0, &split, NULL), 0);
    R_TRUE(split == NULL);
    R_EQ(ncclCommSplit(own, 0, 1, &split, NULL), 0);
    R_EQ(ncclAllGather(data, data, 1, INT64, split, NULL), 0);
    R_EQ(number_at(data, 0), 0);
    communicator *rest = NULL;
    int answer = -1;
    R_EQ(ncclCommShrink(own, (const int[]){ 0 }, 1, &rest, NULL, 0), 0);
    R_EQ(ncclCommCount(rest, &answer), 0);
    R_EQ(answer, 3);
    R_EQ(ncclCommUserRank(rest, &answer), 0);
    R_EQ(answer, 0);
    R_EQ(ncclCommShrink(own, (const int[]){ 1 }, 1, &rest, NULL, 0), PLIM_NCCL_INVALID_ARGUMENT);
}

static void checks_arguments(void)
{
    communicator *own = make(2, 0);
    int64_t *data = place((const int64_t[]){ 7 }, 1);
    int op = 0;
    const float scale = 0.5F;
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, NULL, NULL), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclAllReduce(data, data, 1, TYPES, SUM, own, NULL), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclAllReduce(data, data, 1, -1, SUM, own, NULL), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclAllReduce(data, data, 1, INT64, -1, own, NULL), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclAllReduce(data, data, SIZE_MAX, INT64, SUM, own, NULL), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclBroadcast(data, data, 1, INT64, 2, own, NULL), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclRedOpCreatePreMulSum(&op, &scale, FLOAT32, 1, own), 0);
    R_TRUE(op > MEAN);
    R_EQ(ncclAllReduce(data, data, 1, FLOAT32, op, own, NULL), 0);
    R_EQ(ncclRedOpDestroy(op, own), 0);
    R_EQ(ncclRedOpDestroy(SUM, own), PLIM_NCCL_INVALID_ARGUMENT);
    R_EQ(ncclCommFinalize(own), 0);
    R_EQ(ncclAllReduce(data, data, 1, INT64, SUM, own, NULL), PLIM_NCCL_INVALID_USAGE);
}

static void groups_nest(void)
{
    R_EQ(ncclGroupEnd(), PLIM_NCCL_INVALID_USAGE);
    R_EQ(ncclGroupStart(), 0);
    R_EQ(ncclGroupStart(), 0);
    R_EQ(ncclGroupEnd(), 0);
    R_EQ(ncclGroupEnd(), 0);
    R_EQ(ncclGroupEnd(), PLIM_NCCL_INVALID_USAGE);
}

static void gives_memory_in_pages(void)
{
    void *data = NULL;
    R_EQ(ncclMemAlloc(&data, 1), 0);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_PROGRAM], 2 * MIB);
    communicator *own = make(2, 0);
    void *handle = NULL;
    R_EQ(ncclCommRegister(own, data, 1, &handle), 0);
    R_EQ(ncclCommDeregister(own, handle), 0);
    R_EQ(ncclCommWindowRegister(), PLIM_NCCL_INVALID_USAGE);
    R_EQ(ncclMemFree(data), 0);
    R_EQ(ncclMemFree(data), PLIM_NCCL_CUDA_ERROR);
    R_EQ(ncclMemFree(NULL), 0);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_PROGRAM], 0);
    R_EQ(ncclMemAlloc(&data, 4096 * MIB), PLIM_NCCL_CUDA_ERROR);
    R_EQ(ncclMemAlloc(&data, 0), PLIM_NCCL_INVALID_ARGUMENT);
}

static void makes_one_for_each_device(void)
{
    communicator *all[3] = { NULL };
    int device = -1;
    R_EQ(ncclCommInitAll(all, 3, NULL), PLIM_NCCL_CUDA_ERROR); /* there are two */
    R_EQ(ncclCommInitAll(all, 2, (const int[]){ 1, 0 }), 0);
    R_EQ(ncclCommCuDevice(all[0], &device), 0);
    R_EQ(device, 1);
    R_EQ(ncclCommDestroy(all[0]), 0);
    R_EQ(ncclCommDestroy(all[1]), 0);
}

#define PLAYED(name)              \
    static void name##_test(void) \
    {                             \
        r_play(name);             \
    }
PLAYED(speaks)
PLAYED(knows_its_place)
PLAYED(refuses_places_that_are_none)
PLAYED(takes_kernels_once_and_buffers_with_the_first_collective)
PLAYED(takes_more_among_more_ranks_and_nothing_alone)
PLAYED(heeds_the_environment_and_the_config)
PLAYED(connects_to_peers_on_the_same_machine)
PLAYED(fails_when_the_device_is_full)

static void carries_what_ranks_agree_on_test(void)
{
    plim_stage_settings settings = r_settings();
    settings.capacity_bytes *= 4; /* connections of all kinds */
    r_play_on(&settings, carries_what_ranks_agree_on);
}

PLAYED(forgets_what_others_would_have_to_say)
PLAYED(splits_know_no_size_and_so_nothing)
PLAYED(checks_arguments)
PLAYED(groups_nest)
PLAYED(gives_memory_in_pages)
PLAYED(makes_one_for_each_device)

T_MAIN(T_TEST(speaks_test), T_TEST(knows_its_place_test), T_TEST(refuses_places_that_are_none_test),
       T_TEST(takes_kernels_once_and_buffers_with_the_first_collective_test),
       T_TEST(takes_more_among_more_ranks_and_nothing_alone_test),
       T_TEST(heeds_the_environment_and_the_config_test),
       T_TEST(connects_to_peers_on_the_same_machine_test),
       T_TEST(fails_when_the_device_is_full_test), T_TEST(carries_what_ranks_agree_on_test),
       T_TEST(forgets_what_others_would_have_to_say_test),
       T_TEST(splits_know_no_size_and_so_nothing_test), T_TEST(checks_arguments_test),
       T_TEST(groups_nest_test), T_TEST(gives_memory_in_pages_test),
       T_TEST(makes_one_for_each_device_test))
