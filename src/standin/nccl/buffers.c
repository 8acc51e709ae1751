/*
 * buffers.c - what communicators take of a device: modelled.
 *
 * A channel of a communicator has a connection to each rank it sends to and to each it receives
 * from. The receiving side holds a buffer for each protocol, 9.19 MiB in all, the sending side
 * little; both lie in pages of 2 MiB. So the buffers of collectives are
 *
 *     channels x neighbours x (10 MiB + 2 MiB)
 *
 * with one neighbour between two ranks and two among more (the rings' other direction is the
 * trees'); sending and receiving have connections of their own, to each rank on the same machine.
 *
 * Sources: the sizes are NCCL_BUFFSIZE's 4 MiB and, in src/include/device.h of NCCL, 8 lines x 512
 * threads x 8 steps x 16 bytes (LL) and 120 elements x 640 threads x 8 steps x 8 bytes (LL128);
 * NCCL issue 1685 lists the pieces of 10485760 and 2097152 bytes, 32 channels between each two
 * H100; issue 964 measured 544 MiB (2 ranks) and 688 MiB (3 and 4) on A100, where the model with
 * the kernels' 150 MiB says 438 and 726. They are taken as an algorithm or a peer is first used,
 * which is what NCCL does since 2.22 (NCCL_RUNTIME_CONNECT). Left out: buffers for networks, and
 * those of NVLink SHARP.
 */
#include "standin/nccl/nccl.h"

#include "standin/core/devices.h"
#include "standin/core/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_PAGE_BYTES    (UINT64_C(2) << 20)
#define SIMPLE_BYTES         (UINT64_C(4) << 20)
#define LL_BYTES             (UINT64_C(8) * 512 * 8 * 16)
#define LL128_BYTES          (UINT64_C(120) * 640 * 8 * 8)
#define SENDER_BYTES         BUFFER_PAGE_BYTES
#define CHANNELS_MAX         64
#define RANKS_PER_MACHINE    8 /* where the program may span several: machines with NVLink */
#define PEER_CHANNELS_NVLINK 32

static uint64_t number_from(const char *variable, uint64_t fallback)
{
    const char *value = getenv(variable);
    if (value == NULL || value[0] == '\0') {
        return fallback;
    }
    char *end = NULL;
    errno = 0;
    const long long number = strtoll(value, &end, 0);
    return errno != 0 || *end != '\0' || number <= 0 ? fallback : (uint64_t)number;
}

/* GPUs of machines where all are connected: wide memory, and no card for a slot. */
static bool has_nvlink(const plim_gpu *gpu)
{
    return gpu->capability_major >= 7 && gpu->bus_bits >= 4096 && strstr(gpu->name, "PCI") == NULL;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Of a communicator's collectives. */
static uint64_t channels_of(const plim_nccl_communicator *communicator)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;
    const uint64_t own = !has_nvlink(gpu) ? 2 : gpu->capability_major == 7 ? 12 : 24;
    uint64_t low = number_from("NCCL_MIN_CTAS", number_from("NCCL_MIN_NCHANNELS", 1));
    uint64_t high = number_from("NCCL_MAX_CTAS", number_from("NCCL_MAX_NCHANNELS", CHANNELS_MAX));
    if (communicator->channels_min > 0) {
        low = (uint64_t)communicator->channels_min;
    }
    if (communicator->channels_max > 0) {
        high = (uint64_t)communicator->channels_max;
    }
    high = clamp(high, 1, CHANNELS_MAX);
    return clamp(clamp(own, low, CHANNELS_MAX), 1, high);
}

static uint64_t in_pages(uint64_t bytes)
{
    return (bytes + BUFFER_PAGE_BYTES - 1) / BUFFER_PAGE_BYTES * BUFFER_PAGE_BYTES;
}

static uint64_t receiver_bytes(void)
{
    const uint64_t limit = UINT64_C(1) << 40;
    return in_pages(clamp(number_from("NCCL_BUFFSIZE", SIMPLE_BYTES), 0, limit) +
                    clamp(number_from("NCCL_LL_BUFFSIZE", LL_BYTES), 0, limit) +
                    clamp(number_from("NCCL_LL128_BUFFSIZE", LL128_BYTES), 0, limit));
}

static bool take(plim_nccl_communicator *communicator, uint64_t bytes)
{
    if (!plim_stage_take(plim_standin_stage(), plim_standin_device_on_stage(communicator->device),
                         PLIM_STAGE_NCCL, bytes)) {
        return false;
    }
    communicator->buffer_bytes += bytes;
    return true;
}

bool plim_nccl_buffers_for_collectives(plim_nccl_communicator *communicator)
{
    if (communicator->has_rings || communicator->ranks == 1) {
        return true;
    }
    const uint64_t neighbours = communicator->ranks == 2 ? 1 : 2;
    communicator->has_rings = take(communicator, channels_of(communicator) * neighbours *
                                                     (receiver_bytes() + SENDER_BYTES));
    return communicator->has_rings;
}

/* True if a rank is on our machine. Ranks lie there one after the other. */
static bool is_near(const plim_nccl_communicator *communicator, int peer)
{
    const int devices = (int)plim_standin_settings()->device_count;
    const int machine = devices > RANKS_PER_MACHINE ? devices : RANKS_PER_MACHINE;
    return peer / machine == communicator->rank / machine;
}

bool plim_nccl_buffers_for_peer(plim_nccl_communicator *communicator, int peer,
                                plim_nccl_direction direction)
{
    if (peer >= communicator->peer_count || peer == communicator->rank ||
        !is_near(communicator, peer) || (communicator->peers[peer] & direction) != 0) {
        return true;
    }
    const uint64_t channels = has_nvlink(&plim_standin_settings()->gpu) ? PEER_CHANNELS_NVLINK : 2;
    if (!take(communicator,
              channels * (direction == PLIM_NCCL_RECEIVES ? receiver_bytes() : SENDER_BYTES))) {
        return false;
    }
    communicator->peers[peer] = (unsigned char)(communicator->peers[peer] | direction);
    return true;
}

void plim_nccl_buffers_release(plim_nccl_communicator *communicator)
{
    if (communicator->buffer_bytes > 0) {
        plim_stage_give(plim_standin_stage(), plim_standin_device_on_stage(communicator->device),
                        PLIM_STAGE_NCCL, communicator->buffer_bytes);
        communicator->buffer_bytes = 0;
    }
    communicator->has_rings = false;
    if (communicator->peer_count > 0) {
        memset(communicator->peers, 0, (size_t)communicator->peer_count);
    }
}
