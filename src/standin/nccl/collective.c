/*
 * collective.c - collectives, sending and receiving.
 *
 * Nothing is sent. What a rank finds in its buffers afterwards is what it would find if all ranks
 * held the same: of a broadcast its own data, of a gathering its own part in every place, of the
 * largest, smallest or mean again its own. That is right for what ranks agree on, such as the
 * shapes that DistributedDataParallel compares. Sums, products and what is received from one
 * peer are not known, and are forgotten (core/shadow.h).
 *
 * As on a GPU a collective belongs to its stream, and a stream that captures keeps it.
 */
#include "standin/core/shadow.h"
#include "standin/core/stub.h"
#include "standin/nccl/nccl.h"
#include "standin/work/work.h"

enum { OP_SUM, OP_PRODUCT, OP_MAX, OP_MIN, OP_MEAN, OPS };

typedef plim_nccl_communicator communicator;

/* Bytes of one element, 0 for an unknown type: ncclDataType_t. */
static uint64_t bytes_of(int type)
{
    static const uint64_t bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };
    return type >= 0 && (size_t)type < sizeof bytes / sizeof bytes[0] ? bytes[type] : 0;
}

static int check(const communicator *own, size_t count, int type)
{
    if (own == NULL) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "comm is NULL");
    }
    if (own->is_finalized || own->is_suspended) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_USAGE, "the communicator was finalized");
    }
    if (bytes_of(type) == 0) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "the data type is invalid");
    }
    if (count > SIZE_MAX / 8) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "the count is impossible");
    }
    return PLIM_NCCL_SUCCESS;
}

static int check_peer(const communicator *own, int peer)
{
    return peer >= 0 && (own->ranks == 0 || peer < own->ranks)
               ? PLIM_NCCL_SUCCESS
               : plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT,
                                "the root or peer must be below the number of ranks");
}

static int check_op(int op)
{
    return op >= 0 ? PLIM_NCCL_SUCCESS
                   : plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "the operation is invalid");
}

/* True if ranks that hold equal values get those as the result. */
static bool keeps(const communicator *own, int op)
{
    return own->ranks == 1 || op == OP_MAX || op == OP_MIN || op == OP_MEAN;
}

static const void *part_of(const void *data, uint64_t bytes, int index)
{
    return (const char *)data + bytes * (uint64_t)index;
}

static void deliver(const plim_standin_work *work)
{
    char *place = work->target;
    for (size_t i = 0; i < work->rows; i++, place += work->row_bytes) {
        if (work->source == NULL) {
            plim_standin_shadow_forget((uint64_t)(uintptr_t)place, work->row_bytes);
        } else if (work->source != place) {
            plim_standin_shadow_copy(place, work->source, work->row_bytes);
        }
    }
}

/*
 * Puts data that is on its way on the stream. Of a communicator of unknown size, so is what is
 * written.
 *
 * from    NULL: from a rank whose data is not known
 * places  one after the other at `to`, all filled with the same
 */
static int submit(const communicator *own, const void *from, void *to, uint64_t bytes,
                  uint64_t places, void *stream)
{
    int error = 0;
    if (own->ranks == 0) {
        error = plim_standin_submit_kernel(stream);
    } else if (bytes > 0 && to != NULL) {
        const plim_standin_work work = { .kind = PLIM_WORK_COPY,
                                         .run = deliver,
                                         .target = to,
                                         .source = from,
                                         .row_bytes = bytes,
                                         .rows = places };
        error = plim_standin_submit(stream, &work);
    }
    return error == 0 ? PLIM_NCCL_SUCCESS
                      : plim_nccl_fail(PLIM_NCCL_CUDA_ERROR, "Cuda failure on the stream");
}

static int collect(communicator *own, const void *from, void *to, uint64_t bytes, uint64_t places,
                   void *stream)
{
    if (bytes > 0 && !plim_nccl_buffers_for_collectives(own)) {
        return plim_nccl_fail(PLIM_NCCL_CUDA_ERROR, "Cuda failure 2 'out of memory'");
    }
    return submit(own, from, to, bytes, places, stream);
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, communicator *own,
                  void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    PLIM_STANDIN_TRY(check_op(op));
    return collect(own, keeps(own, op) ? from : NULL, to, count * bytes_of(type), 1, stream);
}

int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root,
               communicator *own, void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    PLIM_STANDIN_TRY(check_op(op));
    PLIM_STANDIN_TRY(check_peer(own, root));
    return collect(own, keeps(own, op) ? from : NULL, own->rank == root ? to : NULL,
                   count * bytes_of(type), 1, stream);
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, communicator *own,
                      void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    PLIM_STANDIN_TRY(check_op(op));
    const uint64_t bytes = count * bytes_of(type);
    return collect(own, keeps(own, op) ? part_of(from, bytes, own->rank) : NULL, to, bytes, 1,
                   stream);
}

/* `from` matters on the root alone; elsewhere what is there already stands for what comes. */
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, communicator *own,
                  void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    PLIM_STANDIN_TRY(check_peer(own, root));
    return collect(own, own->rank == root ? from : to, to, count * bytes_of(type), 1, stream);
}

int ncclBcast(void *data, size_t count, int type, int root, communicator *own, void *stream)
{
    return ncclBroadcast(data, data, count, type, root, own, stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, communicator *own,
                  void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    return collect(own, from, to, count * bytes_of(type), (uint64_t)own->ranks, stream);
}

int ncclGather(const void *from, void *to, size_t count, int type, int root, communicator *own,
               void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    PLIM_STANDIN_TRY(check_peer(own, root));
    return collect(own, from, own->rank == root ? to : NULL, count * bytes_of(type),
                   (uint64_t)own->ranks, stream);
}

int ncclScatter(const void *from, void *to, size_t count, int type, int root, communicator *own,
                void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    PLIM_STANDIN_TRY(check_peer(own, root));
    const uint64_t bytes = count * bytes_of(type);
    return collect(own, own->rank == root ? part_of(from, bytes, root) : NULL, to, bytes, 1,
                   stream);
}

static int exchange(communicator *own, int peer, plim_nccl_direction direction)
{
    return plim_nccl_buffers_for_peer(own, peer, direction)
               ? PLIM_NCCL_SUCCESS
               : plim_nccl_fail(PLIM_NCCL_CUDA_ERROR, "Cuda failure 2 'out of memory'");
}

int ncclAlltoAll(const void *from, void *to, size_t count, int type, communicator *own,
                 void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    for (int peer = 0; count > 0 && peer < own->ranks; peer++) {
        PLIM_STANDIN_TRY(exchange(own, peer, PLIM_NCCL_SENDS));
        PLIM_STANDIN_TRY(exchange(own, peer, PLIM_NCCL_RECEIVES));
    }
    const uint64_t bytes = count * bytes_of(type);
    return submit(own, part_of(from, bytes, own->rank), to, bytes, (uint64_t)own->ranks, stream);
}

int ncclSend(const void *from, size_t count, int type, int peer, communicator *own, void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    PLIM_STANDIN_TRY(check_peer(own, peer));
    PLIM_STANDIN_TRY(exchange(own, peer, PLIM_NCCL_SENDS));
    return submit(own, NULL, NULL, 0, 0, stream);
}

int ncclRecv(void *to, size_t count, int type, int peer, communicator *own, void *stream)
{
    PLIM_STANDIN_TRY(check(own, count, type));
    PLIM_STANDIN_TRY(check_peer(own, peer));
    PLIM_STANDIN_TRY(exchange(own, peer, PLIM_NCCL_RECEIVES));
    return submit(own, NULL, to, count * bytes_of(type), 1, stream);
}

/* Operations that programs make are sums: what comes of them is not known, so one is as any. */
int ncclRedOpCreatePreMulSum(int *ret_op, const void *scalar, int type, int residence,
                             communicator *own)
{
    PLIM_STANDIN_TRY(check(own, 0, type));
    if (ret_op == NULL || scalar == NULL) {
        return plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT, "op or scalar is NULL");
    }
    *ret_op = OPS;
    return PLIM_NCCL_SUCCESS;
}

int ncclRedOpDestroy(int op, communicator *own)
{
    return op >= OPS ? PLIM_NCCL_SUCCESS
                     : plim_nccl_fail(PLIM_NCCL_INVALID_ARGUMENT,
                                      "ncclRedOpDestroy: the operation is not one that was made");
}
