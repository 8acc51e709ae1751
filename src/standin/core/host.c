/*
 * host.c - see host.h.
 */
#include "standin/core/host.h"

#include "standin/core/ranges.h"
#include "standin/core/stage.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GIVEN_BACK_LEAST ((size_t)1 << 18) /* below it a call costs more than the zeros */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_standin_ranges known; /* their handles are plim_standin_host_range */

bool plim_standin_host_remember(const void *address, size_t bytes, plim_standin_host_range what)
{
    const plim_standin_range range = { (uint64_t)(uintptr_t)address, bytes, what, 0 };
    (void)pthread_mutex_lock(&lock);
    const bool is_new = plim_standin_ranges_insert(&known, range);
    (void)pthread_mutex_unlock(&lock);
    if (is_new && what != PLIM_STANDIN_HOST_MANAGED) {
        plim_stage_pin_host(plim_standin_stage(), bytes);
    }
    return is_new;
}

bool plim_standin_host_forget(const void *address, plim_standin_host_range what)
{
    const uint64_t base = (uint64_t)(uintptr_t)address;
    plim_standin_range range;
    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *found = plim_standin_ranges_find(&known, base);
    const bool was_there =
        found != NULL && found->handle == what && plim_standin_ranges_remove(&known, base, &range);
    (void)pthread_mutex_unlock(&lock);
    if (was_there && what != PLIM_STANDIN_HOST_MANAGED) {
        plim_stage_unpin_host(plim_standin_stage(), range.bytes);
    }
    return was_there;
}

plim_standin_host_range plim_standin_host_find(const void *address)
{
    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *found =
        plim_standin_ranges_find(&known, (uint64_t)(uintptr_t)address);
    const uint64_t handle = found != NULL ? found->handle : PLIM_STANDIN_HOST_NONE;
    (void)pthread_mutex_unlock(&lock);
    return (plim_standin_host_range)handle;
}

/* Of a range that the stand-ins allocated: private pages, which read as zeros when they come back.
 * The last bytes may lie beyond it, in memory of others: then nothing is given back. */
static bool is_ours(const void *address, size_t bytes)
{
    const uint64_t begin = (uint64_t)(uintptr_t)address;
    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *found = plim_standin_ranges_find(&known, begin);
    const bool is_ours = found != NULL && found->handle != PLIM_STANDIN_HOST_REGISTERED &&
                         bytes <= found->bytes - (begin - found->base);
    (void)pthread_mutex_unlock(&lock);
    return is_ours;
}

void plim_standin_host_zero(void *address, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *const begin = address;
    const size_t before = (page - (uintptr_t)begin % page) % page;
    const size_t whole = bytes > before ? (bytes - before) / page * page : 0;
    if (bytes < GIVEN_BACK_LEAST || !is_ours(address, bytes) ||
        madvise(begin + before, whole, MADV_DONTNEED) != 0) {
        memset(address, 0, bytes);
        return;
    }
    memset(begin, 0, before);
    memset(begin + before + whole, 0, bytes - before - whole);
}
