/* footprint.c - see footprint.h. */
#include "standin/core/footprint.h"

#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT PLIM_STANDIN_LIBRARIES /* the rows after the libraries' */
#define MODULES (PLIM_STANDIN_LIBRARIES + 1)
#define KERNELS (PLIM_STANDIN_LIBRARIES + 2)
#define ROWS    (PLIM_STANDIN_LIBRARIES + 3)

/* All kernels of PyTorch and its libraries: 461 to 497 MiB on an A100 with PyTorch 1.13 and 2.1,
 * 1398 with 1.10 (docs/formats/gpus.md). */
#define EAGER_BYTES (UINT64_C(500) << 20)
/* Kernels could not be loaded one by one before it. PyTorch asks for it (torch/cuda/__init__.py)
 * unless the environment says otherwise. */
#define LAZY_SINCE 11070

static atomic_bool is_there[ROWS][PLIM_STAGE_DEVICES_MAX];
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

static bool is_eager(void)
{
    const uint32_t version = plim_standin_settings()->cuda_version;
    const char *loading = getenv("CUDA_MODULE_LOADING");
    return (version > 0 && version < LAZY_SINCE) ||
           (loading != NULL && strcmp(loading, "EAGER") == 0);
}

bool plim_standin_footprint_context(int device)
{
    return plim_standin_is_device(device) &&
           take_once(CONTEXT, device, PLIM_STAGE_CONTEXT,
                     plim_standin_settings()->gpu.context_bytes) &&
           (atomic_load_explicit(&is_there[MODULES][device], memory_order_acquire) ||
            take_once(MODULES, device, PLIM_STAGE_MODULES, is_eager() ? EAGER_BYTES : 0));
}

bool plim_standin_footprint_has_context(int device)
{
    return plim_standin_is_device(device) && atomic_load(&is_there[CONTEXT][device]);
}

void plim_standin_footprint_kernels(void)
{
    const int device = plim_standin_current_device();
    if (!plim_standin_is_device(device) ||
        atomic_load_explicit(&is_there[KERNELS][device], memory_order_acquire)) {
        return;
    }
    if (plim_standin_footprint_context(device) && !is_eager()) {
        (void)take_once(KERNELS, device, PLIM_STAGE_LIBRARIES,
                        plim_standin_settings()->gpu.kernels_bytes);
    }
    atomic_store_explicit(&is_there[KERNELS][device], true, memory_order_release);
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
           take_once((int)library, device,
                     library == PLIM_STANDIN_NCCL ? PLIM_STAGE_NCCL : PLIM_STAGE_LIBRARIES,
                     bytes[library]);
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
