/*
 * allocate.c - the caching allocator on this machine's own memory: take, write, give back, look.
 *
 *     cc allocate.c $(pkg-config --cflags --libs plimsoll) && ./a.out
 *
 * A GPU's memory is had the same way, with plim_cuda_open() in place of plim_host_create(); only
 * writing through an address is then the GPU's business.
 */
#include <plimsoll/allocator.h>

#include <stdio.h>
#include <string.h>

static plim_status run(plim_device *device, plim_allocator **allocator, plim_error *err)
{
    const uint64_t bytes = 3 << 20;
    const plim_host_options host = { .total_bytes = (uint64_t)1 << 30 };
    const plim_allocator_options options = { .devices = device, .device_count = 1 };
    plim_addr addr = 0;
    plim_device_stats stats;
    char summary[PLIM_SUMMARY_BYTES];
    if (plim_host_create(&host, device, err) != PLIM_OK ||
        plim_allocator_create(&options, allocator, err) != PLIM_OK ||
        plim_malloc(*allocator, 0, bytes, 0, &addr, err) != PLIM_OK) {
        return err->status;
    }
    memset((void *)(uintptr_t)addr, 0x42, bytes); /* the host's addresses are this process's own */
    if (plim_free(*allocator, addr, err) != PLIM_OK ||
        plim_allocator_stats(*allocator, 0, &stats, err) != PLIM_OK) {
        return err->status;
    }
    (void)plim_memory_summary(&stats, 0, true, summary, sizeof summary);
    fputs(summary, stdout);
    return PLIM_OK;
}

int main(void)
{
    plim_device device = { 0 };
    plim_allocator *allocator = NULL;
    plim_error err = { 0 };
    const plim_status status = run(&device, &allocator, &err);
    if (status != PLIM_OK) {
        fprintf(stderr, "allocate: %s\n", err.message);
    }
    plim_allocator_destroy(allocator);
    plim_device_destroy(&device);
    return status == PLIM_OK ? 0 : 3;
}
