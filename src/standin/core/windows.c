/* windows.c - see windows.h. */
#include "standin/core/windows.h"

#include "base/units.h"
#include "standin/core/devices.h"
#include "standin/core/stage.h"
#include "standin/core/trace.h"

#include <sys/mman.h>
#include <threads.h>

#define RESERVATIONS_BASE  UINT64_C(0x700000000000)
#define ALLOCATIONS_BASE   UINT64_C(0x7a0000000000)
#define ALLOCATIONS_BYTES  (4096 * GIB)
#define RESERVATIONS_BYTES (ALLOCATIONS_BASE - RESERVATIONS_BASE)
#define WIDE_BASE          UINT64_C(0x200000000000) /* below programs and their heaps */
#define WIDE_BYTES         (48 * 1024 * GIB)
#define DEVICE_BYTES_MIN   (256 * GIB)

static uint64_t allocations_base;
static uint64_t device_bytes;
static uint64_t device_count;
static once_flag laid_out = ONCE_FLAG_INIT;

/* Twice what a device has: addresses must not run out before memory does. */
static void lay_out(void)
{
    device_count = (uint64_t)plim_standin_device_count();
    device_bytes = DEVICE_BYTES_MIN;
    while (device_bytes / 2 < plim_standin_settings()->capacity_bytes &&
           device_bytes <= WIDE_BYTES / 2) {
        device_bytes *= 2;
    }
    allocations_base = ALLOCATIONS_BASE;
    if (device_count * device_bytes > ALLOCATIONS_BYTES) {
        allocations_base = WIDE_BASE;
        while (device_count * device_bytes > WIDE_BYTES) {
            device_bytes /= 2;
        }
    }
}

static void guard(plim_standin_window window)
{
    void *const want = (void *)(uintptr_t)window.base;
    const void *const got =
        mmap(want, window.bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != want) {
        plim_standin_trace("device addresses at %p are not guarded", want);
    } else {
        (void)madvise(want, window.bytes, MADV_DONTDUMP); /* core files stay small */
    }
}

plim_standin_window plim_standin_window_of_reservations(void)
{
    static bool is_guarded;
    const plim_standin_window window = { RESERVATIONS_BASE, RESERVATIONS_BYTES };
    if (!is_guarded) {
        is_guarded = true;
        guard(window);
    }
    return window;
}

plim_standin_window plim_standin_window_of_device(int device)
{
    static bool is_guarded[PLIM_STAGE_DEVICES_MAX];
    call_once(&laid_out, lay_out);
    const plim_standin_window window = { allocations_base + (uint64_t)device * device_bytes,
                                         device_bytes };
    if (!is_guarded[device]) {
        is_guarded[device] = true;
        guard(window);
    }
    return window;
}

int plim_standin_window_device(uint64_t address)
{
    call_once(&laid_out, lay_out);
    const uint64_t offset = address - allocations_base;
    return offset < device_count * device_bytes ? (int)(offset / device_bytes) : -1;
}

bool plim_standin_is_device_address(uint64_t address)
{
    return address - RESERVATIONS_BASE < RESERVATIONS_BYTES ||
           plim_standin_window_device(address) >= 0;
}
