/*
 * communicator.c - making communicators, asking about them, and ending them.
 *
 * All that would wait for the other ranks is over at once, so no operation is ever in progress
 * and none fails later. Who gets a communicator from a split depends on what all ranks say; of
 * that a rank alone knows only its own part.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/stub.h"
#include "standin/nccl/nccl.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RANKS_MAX (1 << 24)

/* Each may be NULL where the caller has no wish. */
typedef plim_nccl_communicator communicator;

PLIM_STANDIN_MODELLED(ncclCommInitRank, "memory of kernels and buffers: src/standin/nccl/buffers.c")
PLIM_STANDIN_MODELLED(ncclCommInitRankConfig,
                      "memory of kernels and buffers: src/standin/nccl/buffers.c")
PLIM_STANDIN_MODELLED(ncclCommInitRankScalable,
                      "memory of kernels and buffers: src/standin/nccl/buffers.c")
PLIM_STANDIN_MODELLED(ncclCommInitAll, "memory of kernels and buffers: src/standin/nccl/buffers.c")
PLIM_STANDIN_MODELLED(ncclCommSplit, "as if all ranks of the parent were in it")
PLIM_STANDIN_MODELLED(ncclCommMemStats, "the bytes of the model of buffers")

/* Any bytes that no other call has returned: no rank connects to them. */
int ncclGetUniqueId(plim_nccl_id *ret_id)
{
    static atomic_uint_fast64_t count;
    if (ret_id == NULL) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclGetUniqueId: uniqueId is NULL");
    }
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t words[] = { (uint64_t)getpid(), atomic_fetch_add(&count, 1) + 1,
                               (uint64_t)now.tv_sec, (uint64_t)now.tv_nsec };
    memset(ret_id, 0, sizeof *ret_id);
    memcpy(ret_id->bytes, words, sizeof words);
    return PLIM_NCCL_SUCCESS;
}

int ncclCommGetUniqueId(communicator *from, plim_nccl_id *ret_id)
{
    return from == NULL
               ? plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclCommGetUniqueId: comm is NULL")
               : ncclGetUniqueId(ret_id);
}

static bool is_config(const plim_nccl_config *config)
{
    return config == NULL || (config->magic == PLIM_NCCL_MAGIC && config->size >= sizeof *config);
}

static void free_communicator(communicator *own)
{
    free(own->peers);
    free(own);
}

/* `ranks` 0: not known, see nccl.h. `parent` is NULL unless its wishes are to be kept. */
static int create(int ranks, int rank, const plim_nccl_config *config, const communicator *parent,
                  communicator **ret)
{
    if (ret == NULL || ranks < 0 || ranks > RANKS_MAX || rank < 0 || (ranks > 0 && rank >= ranks)) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT,
                              "Invalid rank requested: it must be below the number of ranks");
    }
    if (!is_config(config)) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT,
                              "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
    }
    communicator *own = calloc(1, sizeof *own);
    unsigned char *peers = calloc((size_t)ranks + 1, 1);
    if (own == NULL || peers == NULL) {
        free(own);
        free(peers);
        return plim_nccl_fail(PLIM_NCCL_SYSTEM_ERROR, "no host memory for a communicator");
    }
    *own = (communicator){ .rank = rank,
                           .ranks = ranks,
                           .device = plim_standin_current_device(),
                           .channels_min = PLIM_NCCL_UNDEFINED,
                           .channels_max = PLIM_NCCL_UNDEFINED,
                           .peers = peers,
                           .peer_count = ranks };
    if (config != NULL || parent != NULL) {
        own->channels_min = config != NULL ? config->channels_min : parent->channels_min;
        own->channels_max = config != NULL ? config->channels_max : parent->channels_max;
    }
    if (!plim_standin_footprint_library(PLIM_STANDIN_NCCL)) {
        free_communicator(own);
        return plim_nccl_fail(PLIM_NCCL_CUDA_ERROR, "Cuda failure 2 'out of memory'");
    }
    *ret = own;
    return PLIM_NCCL_SUCCESS;
}

int ncclCommInitRankScalable(communicator **ret, int ranks, int rank, int id_count,
                             const plim_nccl_id *ids, const plim_nccl_config *config)
{
    if (ranks < 1 || id_count < 1 || id_count > ranks || ids == NULL) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT,
                              "Invalid number of ranks or of unique ids");
    }
    return create(ranks, rank, config, NULL, ret);
}

int ncclCommInitRankConfig(communicator **ret, int ranks, plim_nccl_id id, int rank,
                           const plim_nccl_config *config)
{
    return ncclCommInitRankScalable(ret, ranks, rank, 1, &id, config);
}

int ncclCommInitRank(communicator **ret, int ranks, plim_nccl_id id, int rank)
{
    return ncclCommInitRankConfig(ret, ranks, id, rank, NULL);
}

static int check(const communicator *own)
{
    return own != NULL ? PLIM_NCCL_SUCCESS
                       : plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "comm is NULL");
}

/* The key would order the ranks, and the colors say how many there are: the others know. */
int ncclCommSplit(communicator *from, int color, int key, communicator **ret,
                  const plim_nccl_config *config)
{
    if (check(from) != PLIM_NCCL_SUCCESS || ret == NULL || color < -1) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclCommSplit: invalid argument");
    }
    if (color == -1) { /* NCCL_SPLIT_NOCOLOR: not in any */
        *ret = NULL;
        return PLIM_NCCL_SUCCESS;
    }
    return create(from->ranks == 1 ? 1 : 0, from->ranks == 1 ? 0 : from->rank, config, from, ret);
}

int ncclCommShrink(communicator *from, const int *excluded, int excluded_count, communicator **ret,
                   const plim_nccl_config *config, int flags)
{
    if (check(from) != PLIM_NCCL_SUCCESS || excluded == NULL || excluded_count < 1 ||
        (from->ranks > 0 && excluded_count >= from->ranks)) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclCommShrink: invalid argument");
    }
    int before_us = 0;
    for (int i = 0; i < excluded_count; i++) {
        if (excluded[i] == from->rank) {
            return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT,
                                  "ncclCommShrink: called by a rank that is excluded");
        }
        before_us += excluded[i] < from->rank;
    }
    const int ranks = from->ranks > 0 ? from->ranks - excluded_count : 0;
    return create(ranks, from->rank - before_us, config, from, ret);
}

int ncclCommGrow(communicator *from, int ranks, const plim_nccl_id *id, int rank,
                 communicator **ret, const plim_nccl_config *config)
{
    if (ranks < 1 || (from == NULL && (id == NULL || rank < 0)) ||
        (from != NULL && ranks <= from->ranks)) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclCommGrow: invalid argument");
    }
    return create(ranks, from != NULL ? from->rank : rank, config, from, ret);
}

int ncclCommFinalize(communicator *own)
{
    if (check(own) != PLIM_NCCL_SUCCESS) {
        return PLIM_NCCL_INVALID_ARGUMENT;
    }
    if (own->is_finalized) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "the communicator is finalized already");
    }
    own->is_finalized = true;
    return PLIM_NCCL_SUCCESS;
}

/* The kernels stay: their module is the process's. */
int ncclCommDestroy(communicator *own)
{
    if (own != NULL) {
        plim_nccl_buffers_release(own);
        free_communicator(own);
    }
    return PLIM_NCCL_SUCCESS;
}

int ncclCommInitAll(communicator **ret, int devices, const int *device_list)
{
    if (ret == NULL || devices < 1 || devices > PLIM_STAGE_DEVICES_MAX) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "Invalid number of devices");
    }
    const int before = plim_standin_current_device();
    int status = PLIM_NCCL_SUCCESS;
    int made = 0;
    for (; made < devices && status == PLIM_NCCL_SUCCESS; made++) {
        const int device = device_list != NULL ? device_list[made] : made;
        status =
            plim_standin_current_device_set(device)
                ? create(devices, made, NULL, NULL, &ret[made])
                : plim_nccl_fail(PLIM_NCCL_CUDA_ERROR, "Cuda failure 101 'invalid device ordinal'");
    }
    (void)plim_standin_current_device_set(before);
    if (status != PLIM_NCCL_SUCCESS) {
        for (int i = 0; i + 1 < made; i++) {
            (void)ncclCommDestroy(ret[i]);
        }
    }
    return status;
}

int ncclCommAbort(communicator *own)
{
    return ncclCommDestroy(own);
}

int ncclCommRevoke(communicator *own, int flags)
{
    return check(own) != PLIM_NCCL_SUCCESS || flags != 0
               ? plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclCommRevoke: invalid argument")
               : PLIM_NCCL_SUCCESS;
}

int ncclCommSuspend(communicator *own, int flags)
{
    if (check(own) != PLIM_NCCL_SUCCESS || own->is_suspended) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_USAGE, "ncclCommSuspend: nothing to suspend");
    }
    plim_nccl_buffers_release(own);
    own->is_suspended = true;
    return PLIM_NCCL_SUCCESS;
}

/* Its buffers come back with the next collective. */
int ncclCommResume(communicator *own)
{
    if (check(own) != PLIM_NCCL_SUCCESS || !own->is_suspended) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_USAGE, "ncclCommResume: nothing to resume");
    }
    own->is_suspended = false;
    return PLIM_NCCL_SUCCESS;
}

int ncclCommMemStats(const communicator *own, int what, uint64_t *ret)
{
    enum { SUSPENDABLE, IS_SUSPENDED, PERSISTENT, TOTAL };
    if (check(own) != PLIM_NCCL_SUCCESS || ret == NULL || what < SUSPENDABLE || what > TOTAL) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "ncclCommMemStats: invalid argument");
    }
    *ret = what == IS_SUSPENDED ? own->is_suspended : what == PERSISTENT ? 0 : own->buffer_bytes;
    return PLIM_NCCL_SUCCESS;
}

static int answer(const communicator *own, int value, int *ret)
{
    if (own == NULL || ret == NULL) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "comm or the place to answer is NULL");
    }
    *ret = value;
    return PLIM_NCCL_SUCCESS;
}

int ncclCommGetAsyncError(const communicator *own, int *ret_status)
{
    return answer(own, PLIM_NCCL_SUCCESS, ret_status);
}

int ncclCommCount(const communicator *own, int *ret)
{
    return answer(own, own == NULL ? 0 : own->ranks > 0 ? own->ranks : own->rank + 1, ret);
}

int ncclCommCuDevice(const communicator *own, int *ret)
{
    return answer(own, own == NULL ? 0 : own->device, ret);
}

int ncclCommUserRank(const communicator *own, int *ret)
{
    return answer(own, own == NULL ? 0 : own->rank, ret);
}
