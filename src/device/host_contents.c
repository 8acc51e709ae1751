/*
 * host_contents.c - what lies at the host device's addresses: filled, copied, read and written in
 * the thread that asks.
 */
#include "device/host.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

static void *pointer(plim_addr addr)
{
    return (void *)(uintptr_t)addr;
}

/* True if all of it is plain memory, or mapped and open. Under the lock. */
static plim_status check_live(const plim_host *host, plim_addr addr, uint64_t bytes,
                              plim_error *err)
{
    if (bytes == 0 || plim_books_is_open(&host->core.books, addr, bytes) ||
        (bytes <= INT64_MAX && addr <= INT64_MAX &&
         !plim_space_has_free(&host->not_plain, addr, bytes))) {
        return PLIM_OK;
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "host: %" PRIu64 " bytes at 0x%" PRIx64 " cannot all be accessed", bytes,
                     addr);
}

static plim_status fill(void *self, plim_addr addr, uint8_t value, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    (void)stream;
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    PLIM_TRY(check_live(host, addr, bytes, err));
    if (bytes > 0) {
        memset(pointer(addr), value, bytes);
    }
    return PLIM_OK;
}

static plim_status copy(void *self, plim_addr to, plim_addr from, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    (void)stream;
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    PLIM_TRY(check_live(host, to, bytes, err));
    PLIM_TRY(check_live(host, from, bytes, err));
    if (bytes > 0) {
        memmove(pointer(to), pointer(from), bytes);
    }
    return PLIM_OK;
}

static plim_status read_bytes(void *self, void *to, plim_addr from, uint64_t bytes, plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    PLIM_TRY(check_live(host, from, bytes, err));
    if (bytes > 0) {
        memcpy(to, pointer(from), bytes);
    }
    return PLIM_OK;
}

static plim_status write_bytes(void *self, plim_addr to, const void *from, uint64_t bytes,
                               plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    PLIM_TRY(check_live(host, to, bytes, err));
    if (bytes > 0) {
        memcpy(pointer(to), from, bytes);
    }
    return PLIM_OK;
}

void plim_host_contents_ops(plim_device_ops *ops)
{
    ops->fill = fill;
    ops->copy = copy;
    ops->read = read_bytes;
    ops->write = write_bytes;
}
