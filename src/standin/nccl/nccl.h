/*
 * nccl.h - communicators, as far as a process alone can know them.
 *
 * Ranks are processes, and here none hears of the others: a collective is over when the call
 * returns. What comes of its data is what all ranks would see if they held the same (collective.c).
 * Numbers are those of nccl.h of NCCL 2.28, which later versions only add to.
 */
#ifndef PLIMSOLL_STANDIN_NCCL_NCCL_H
#define PLIMSOLL_STANDIN_NCCL_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ncclResult_t */
enum {
    PLIM_NCCL_SUCCESS = 0,
    PLIM_NCCL_CUDA_ERROR = 1,
    PLIM_NCCL_SYSTEM_ERROR = 2,
    PLIM_NCCL_INTERNAL_ERROR = 3,
    PLIM_NCCL_INVALID_ARGUMENT = 4,
    PLIM_NCCL_INVALID_USAGE = 5,
    PLIM_NCCL_REMOTE_ERROR = 6,
    PLIM_NCCL_IN_PROGRESS = 7,
    PLIM_NCCL_TIMEOUT = 8
};

#define PLIM_NCCL_ID_BYTES 128

/* ncclUniqueId, which is passed by value. */
typedef struct plim_nccl_id {
    char bytes[PLIM_NCCL_ID_BYTES];
} plim_nccl_id;

/* The beginning of ncclConfig_t: every version since 2.14 has it. */
typedef struct plim_nccl_config {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking;
    int cluster_size;
    int channels_min;
    int channels_max;
} plim_nccl_config;

#define PLIM_NCCL_MAGIC     0xcafebeefU
#define PLIM_NCCL_UNDEFINED INT32_MIN

typedef struct plim_nccl_communicator {
    int rank;
    int ranks; /* 0: a split, of which only all ranks together know the size */
    int device;
    int channels_min; /* requested, or PLIM_NCCL_UNDEFINED */
    int channels_max;
    bool is_finalized;
    bool is_suspended;
    bool has_rings;       /* the buffers that collectives need are taken */
    unsigned char *peers; /* bit 1: sent to, bit 2: received from; `peer_count` of them */
    int peer_count;
    uint64_t buffer_bytes; /* taken of the device */
} plim_nccl_communicator;

/* ---- buffers.c: the memory that connections take --------------------------------------------- */

typedef enum plim_nccl_direction {
    PLIM_NCCL_SENDS = 1,
    PLIM_NCCL_RECEIVES = 2
} plim_nccl_direction;

/* Makes sure that collectives have their buffers. False: the device has no room for them. */
bool plim_nccl_buffers_for_collectives(plim_nccl_communicator *communicator);
/* The same for sending to, or receiving from, one other rank. */
bool plim_nccl_buffers_for_peer(plim_nccl_communicator *communicator, int peer,
                                plim_nccl_direction direction);
/* Gives them all back; they come again as they are needed. */
void plim_nccl_buffers_release(plim_nccl_communicator *communicator);

/* ---- version.c ------------------------------------------------------------------------------- */

/* Keeps what ncclGetLastError() says, and returns the status. */
int plim_nccl_fail(int status, const char *message);

#endif
