/* footprint.c - see footprint.h. */
#include "standin/core/footprint.h"

#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/stage.h"

#include <pthread.h>
#include <stdatomic.h>

#define CONTEXT PLIM_STANDIN_LIBRARIES /* the row after the libraries' */

static atomic_bool is_there[PLIM_STANDIN_LIBRARIES + 1][PLIM_STAGE_DEVICES_MAX];
static bool is_orphan; /* written before the process has a second thread */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool take_once(int what, int device, plim_stage_use use, uint64_t bytes)
{
    if (atomic_load_explicit(&is_there[what][device], memory_order_acquire)) {
        return true;
    }
    bool is_taken = true;
    (void)pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&is_there[what][device], memory_order_relaxed)) {
        is_taken =
            plim_stage_take(plim_standin_stage(), plim_standin_device_on_stage(device), use, bytes);
        atomic_store_explicit(&is_there[what][device], is_taken, memory_order_release);
    }
    (void)pthread_mutex_unlock(&lock);
    return is_taken;
}

bool plim_standin_footprint_context(int device)
{
    return plim_standin_is_device(device) && take_once(CONTEXT, device, PLIM_STAGE_CONTEXT,
                                                       plim_standin_settings()->gpu.context_bytes);
}

bool plim_standin_footprint_has_context(int device)
{
    return plim_standin_is_device(device) && atomic_load(&is_there[CONTEXT][device]);
}

bool plim_standin_footprint_library(plim_standin_library library)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;
    const uint64_t bytes[PLIM_STANDIN_LIBRARIES] = {
        [PLIM_STANDIN_CUBLAS] = gpu->cublas_bytes,
        [PLIM_STANDIN_CUDNN] = gpu->cudnn_bytes,
        [PLIM_STANDIN_NCCL] = gpu->nccl_bytes,
    };
    const int device = plim_standin_current_device();
    return plim_standin_footprint_context(device) &&
           take_once((int)library, device, PLIM_STAGE_LIBRARIES, bytes[library]);
}

bool plim_standin_footprint_is_orphan(void)
{
    return is_orphan;
}

/* In a forked child: what its parent had on the devices stays the parent's. */
static void note_orphan(void)
{
    for (int device = 0; device < PLIM_STAGE_DEVICES_MAX; device++) {
        is_orphan = is_orphan || atomic_load(&is_there[CONTEXT][device]);
    }
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, note_orphan); /* fails only without memory */
}
