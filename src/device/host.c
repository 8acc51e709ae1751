/*
 * host.c - the device of real memory: its making and its end.
 */
#include "device/host.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOST_BYTES_MAX  (UINT64_C(64) << 40)
#define OFFSETS_BYTES   (UINT64_C(1) << 60) /* a file's: pieces of any size, room is no matter */
#define ADDRESSES_BYTES (UINT64_C(1) << 63) /* what a process can have, and more */
#define HOST_NAME       "host"

static void properties(void *self, plim_device_properties *ret)
{
    const plim_host *const host = self;
    *ret = (plim_device_properties){
        .name = HOST_NAME,
        .ordinal = host->core.ordinal,
        .total_bytes = host->core.books.total_bytes,
        .granularity_bytes = host->core.books.granularity_bytes,
        .has_fd_export = true,
        .is_host_readable = true,
    };
}

static void destroy(void *self)
{
    plim_host *const host = self;
    plim_host_unmap_all(host);
    if (host->file >= 0) {
        (void)close(host->file);
    }
    plim_core_deinit(&host->core);
    plim_space_deinit(&host->not_plain);
    plim_space_deinit(&host->offsets);
    plim_mem_free(host->core.mem, host, 1, sizeof *host);
}

static plim_status check(const plim_host_options *options, plim_error *err)
{
    const uint64_t granularity = options->granularity_bytes;
    const long page_bytes = sysconf(_SC_PAGESIZE);
    if (options->ordinal < 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, HOST_NAME ": ordinal %" PRId32,
                         options->ordinal);
    }
    if (options->total_bytes == 0 || options->total_bytes > HOST_BYTES_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         HOST_NAME ": a device of %" PRIu64 " bytes; 1 to %" PRIu64 " are possible",
                         options->total_bytes, HOST_BYTES_MAX);
    }
    if ((granularity & (granularity - 1)) != 0 || granularity > PLIM_DEVICE_GRANULARITY_MAX ||
        (granularity != 0 && granularity < (uint64_t)page_bytes)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         HOST_NAME ": a granularity of %" PRIu64
                                   " bytes, which must be a power of two from %ld to 1 GiB",
                         granularity, page_bytes);
    }
    return PLIM_OK;
}

static void init(plim_host *host, const plim_host_options *options)
{
    const plim_mem *const mem = plim_mem_or_heap(options->mem);
    *host = (plim_host){ .file = -1 };
    plim_core_init(&host->core, mem, HOST_NAME, options->total_bytes, options->granularity_bytes);
    host->core.ordinal = options->ordinal;
    host->core.ops.properties = properties;
    host->core.ops.destroy = destroy;
    plim_space_init(&host->not_plain, mem);
    plim_space_init(&host->offsets, mem);
    plim_host_memory_ops(&host->core.ops);
    plim_host_contents_ops(&host->core.ops);
}

plim_status plim_host_create(const plim_host_options *options, plim_device *ret_device,
                             plim_error *err)
{
    PLIM_TRY(check(options, err));
    const plim_mem *const mem = plim_mem_or_heap(options->mem);
    plim_host *const host = plim_mem_alloc(mem, 1, sizeof *host);
    if (host == NULL) {
        return plim_fail_memory(err, "making a host device");
    }
    init(host, options);
    if (!plim_space_add_window(&host->not_plain, 0, ADDRESSES_BYTES) ||
        !plim_space_add_window(&host->offsets, 0, OFFSETS_BYTES)) {
        destroy(host);
        return plim_fail_memory(err, "making a host device");
    }
    host->file = memfd_create("plimsoll", MFD_CLOEXEC);
    if (host->file < 0) {
        const int error = errno;
        destroy(host);
        return plim_fail_errno(err, error, HOST_NAME ": no file for its memory");
    }
    *ret_device = (plim_device){ .ops = &host->core.ops, .self = host };
    return PLIM_OK;
}
