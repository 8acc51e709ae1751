/*
 * group.c - groups of calls: they nest, and here they change nothing.
 */
#include "standin/core/stub.h"
#include "standin/nccl/nccl.h"

/* ncclSimInfo_t */
typedef struct simulation {
    size_t size;
    unsigned magic;
    unsigned version;
    float seconds;
} simulation;

#define SIMULATION_MAGIC 0x74685283U

PLIM_STANDIN_MODELLED(ncclGroupSimulateEnd, "no time passes")

static _Thread_local unsigned depth;

int ncclGroupStart(void)
{
    depth++;
    return PLIM_NCCL_SUCCESS;
}

int ncclGroupEnd(void)
{
    if (depth == 0) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_USAGE, "ncclGroupEnd: not in a group call");
    }
    depth--;
    return PLIM_NCCL_SUCCESS;
}

int ncclGroupSimulateEnd(simulation *ret)
{
    if (ret != NULL && ret->magic != SIMULATION_MAGIC) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT,
                              "ncclSimInfo_t was not initialized by NCCL_SIM_INFO_INITIALIZER");
    }
    if (ret != NULL) {
        ret->seconds = 0;
    }
    return ncclGroupEnd();
}
