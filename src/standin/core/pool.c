/* pool.c - see pool.h. */
#include "standin/core/pool.h"

#include "standin/core/calls.h"
#include "standin/core/devices.h"
#include "standin/core/stage.h"

#include <pthread.h>

typedef struct pool {
    plim_standin_pool_figures figures;
    int device;
    bool is_there;
} pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pool pools[PLIM_STANDIN_POOLS_MAX]; /* the first are the devices' own */
static uint64_t pool_count = PLIM_STAGE_DEVICES_MAX;

static uint64_t whole_steps(uint64_t bytes)
{
    const uint64_t steps =
        bytes / PLIM_STANDIN_POOL_STEP_BYTES + (bytes % PLIM_STANDIN_POOL_STEP_BYTES != 0 ? 1 : 0);
    return steps * PLIM_STANDIN_POOL_STEP_BYTES;
}

/* The lock is held. NULL: there is none of that number. */
static pool *pool_of(uint64_t number)
{
    if (number == 0 || number > pool_count) {
        return NULL;
    }
    pool *found = &pools[number - 1];
    if (number <= PLIM_STAGE_DEVICES_MAX && plim_standin_is_device((int)number - 1)) {
        found->device = (int)number - 1;
        found->is_there = true; /* default pools always are */
    }
    return found->is_there ? found : NULL;
}

uint64_t plim_standin_pool_default(int device)
{
    return plim_standin_is_device(device) ? (uint64_t)device + 1 : 0;
}

uint64_t plim_standin_pool_create(int device)
{
    if (!plim_standin_is_device(device)) {
        return 0;
    }
    uint64_t number = 0;
    (void)pthread_mutex_lock(&lock);
    if (pool_count < PLIM_STANDIN_POOLS_MAX) {
        pools[pool_count] = (pool){ .device = device, .is_there = true };
        pool_count++;
        number = pool_count;
    }
    (void)pthread_mutex_unlock(&lock);
    return number;
}

/* Down to what is used, or to `keep_bytes` if that is more. */
static void trim(pool *from, uint64_t keep_bytes)
{
    plim_standin_pool_figures *figures = &from->figures;
    uint64_t keep = whole_steps(figures->used_bytes);
    if (keep_bytes > keep) {
        keep = keep_bytes < figures->reserved_bytes ? keep_bytes : figures->reserved_bytes;
        keep = whole_steps(keep);
    }
    if (keep < figures->reserved_bytes) {
        plim_stage_give(plim_standin_stage(), plim_standin_device_on_stage(from->device),
                        PLIM_STAGE_PROGRAM, figures->reserved_bytes - keep);
        figures->reserved_bytes = keep;
    }
}

plim_standin_memory_status plim_standin_pool_destroy(uint64_t number)
{
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;
    (void)pthread_mutex_lock(&lock);
    pool *found = pool_of(number);
    if (found != NULL && number > PLIM_STAGE_DEVICES_MAX) {
        found->is_there = false;
        found->figures.threshold_bytes = 0;
        trim(found, 0);
        status = PLIM_STANDIN_MEMORY_OK;
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

/* The lock is held. */
static bool grow(pool *to, uint64_t bytes)
{
    plim_standin_pool_figures *figures = &to->figures;
    const uint64_t need = whole_steps(figures->used_bytes + bytes);
    if (need > figures->reserved_bytes) {
        if (!plim_stage_take(plim_standin_stage(), plim_standin_device_on_stage(to->device),
                             PLIM_STAGE_PROGRAM, need - figures->reserved_bytes)) {
            return false;
        }
        figures->reserved_bytes = need;
        if (need > figures->reserved_bytes_peak) {
            figures->reserved_bytes_peak = need;
        }
    }
    return true;
}

plim_standin_memory_status plim_standin_pool_allocate(uint64_t number, uint64_t bytes,
                                                      uint64_t *ret_address)
{
    if (bytes == 0) {
        return PLIM_STANDIN_MEMORY_INVALID;
    }
    if (bytes > plim_standin_settings()->capacity_bytes) {
        return PLIM_STANDIN_MEMORY_OUT;
    }
    bytes = (bytes + PLIM_STANDIN_ALIGNMENT - 1) & ~(PLIM_STANDIN_ALIGNMENT - 1);
    plim_standin_memory_status status = PLIM_STANDIN_MEMORY_INVALID;
    plim_standin_calls_flush_now_and_then();
    (void)pthread_mutex_lock(&lock);
    pool *from = pool_of(number);
    if (from != NULL) {
        status = PLIM_STANDIN_MEMORY_OUT;
        if (grow(from, bytes)) {
            status = plim_standin_memory_place(from->device, bytes, number, ret_address);
        }
        if (status == PLIM_STANDIN_MEMORY_OK) {
            plim_standin_pool_figures *figures = &from->figures;
            figures->used_bytes += bytes;
            if (figures->used_bytes > figures->used_bytes_peak) {
                figures->used_bytes_peak = figures->used_bytes;
            }
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

void plim_standin_pool_get_back(uint64_t number, uint64_t bytes)
{
    (void)pthread_mutex_lock(&lock);
    pool *to = &pools[number - 1];
    to->figures.used_bytes -= bytes;
    trim(to, to->figures.threshold_bytes);
    (void)pthread_mutex_unlock(&lock);
}

plim_standin_memory_status plim_standin_pool_trim(uint64_t number, uint64_t keep_bytes)
{
    (void)pthread_mutex_lock(&lock);
    pool *found = pool_of(number);
    if (found != NULL) {
        trim(found, keep_bytes);
    }
    (void)pthread_mutex_unlock(&lock);
    return found != NULL ? PLIM_STANDIN_MEMORY_OK : PLIM_STANDIN_MEMORY_INVALID;
}

plim_standin_memory_status plim_standin_pool_figures_get(uint64_t number,
                                                         plim_standin_pool_figures *ret)
{
    (void)pthread_mutex_lock(&lock);
    const pool *found = pool_of(number);
    if (found != NULL) {
        *ret = found->figures;
    }
    (void)pthread_mutex_unlock(&lock);
    return found != NULL ? PLIM_STANDIN_MEMORY_OK : PLIM_STANDIN_MEMORY_INVALID;
}

plim_standin_memory_status plim_standin_pool_set_threshold(uint64_t number, uint64_t bytes)
{
    (void)pthread_mutex_lock(&lock);
    pool *found = pool_of(number);
    if (found != NULL) {
        found->figures.threshold_bytes = bytes;
    }
    (void)pthread_mutex_unlock(&lock);
    return found != NULL ? PLIM_STANDIN_MEMORY_OK : PLIM_STANDIN_MEMORY_INVALID;
}

plim_standin_memory_status plim_standin_pool_reset_peaks(uint64_t number, bool of_reserved)
{
    (void)pthread_mutex_lock(&lock);
    pool *found = pool_of(number);
    if (found != NULL && of_reserved) {
        found->figures.reserved_bytes_peak = found->figures.reserved_bytes;
    } else if (found != NULL) {
        found->figures.used_bytes_peak = found->figures.used_bytes;
    }
    (void)pthread_mutex_unlock(&lock);
    return found != NULL ? PLIM_STANDIN_MEMORY_OK : PLIM_STANDIN_MEMORY_INVALID;
}
