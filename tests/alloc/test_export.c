/*
 * test_export.c - handles that leave the process: what is written here is read there.
 */
#include "plimsoll/allocator.h"

#include "harness.h"

#include <sys/mman.h>
#include <unistd.h>

static plim_allocator *allocator_over(const plim_device *device, plim_share share)
{
    plim_settings settings = plim_settings_default();
    settings.expandable_segments = true;
    const plim_allocator_options options = {
        .devices = device, .device_count = 1, .settings = &settings, .expandable_share = share
    };
    plim_allocator *allocator = NULL;
    T_EQ_U64(plim_allocator_create(&options, &allocator, NULL), PLIM_OK);
    return allocator;
}

static plim_device host(void)
{
    const plim_host_options options = { .total_bytes = (uint64_t)256 << 20 };
    plim_device device;
    T_EQ_U64(plim_host_create(&options, &device, NULL), PLIM_OK);
    return device;
}

static void a_block_can_be_mapped_through_its_descriptors(void)
{
    plim_device device = host();
    plim_allocator *allocator = allocator_over(&device, PLIM_SHARE_FD);
    const uint64_t bytes = (uint64_t)50 << 20; /* three handles of 20 MiB */
    plim_addr addr = 0;
    T_EQ_U64(plim_malloc(allocator, 0, bytes, 0, &addr, NULL), PLIM_OK);
    memset((void *)(uintptr_t)addr, 0x5A, bytes);

    int fds[8];
    plim_export what;
    T_EQ_U64(plim_export_block(allocator, addr, fds, sizeof fds, &what, NULL), PLIM_OK);
    T_EQ_U64(what.handle_count, 3);
    T_EQ_U64(what.handle_bytes, (uint64_t)20 << 20);
    T_EQ_U64(what.addr, addr);
    for (uint64_t i = 0; i < what.handle_count; i++) {
        const unsigned char *seen = mmap(NULL, what.handle_bytes, PROT_READ, MAP_SHARED, fds[i], 0);
        T_TRUE(seen != MAP_FAILED);
        T_EQ_U64(seen[0], 0x5A);
        T_EQ_U64(seen[(10 << 20) - 1], 0x5A);
        (void)munmap((void *)(uintptr_t)seen, what.handle_bytes);
        (void)close(fds[i]);
    }
    plim_allocator_destroy(allocator);
    plim_device_destroy(&device);
}

static void what_cannot_be_exported_says_why(void)
{
    plim_device device = host();
    plim_allocator *allocator = allocator_over(&device, PLIM_SHARE_NONE);
    plim_addr addr = 0;
    plim_export what;
    plim_error err;
    int fd = -1;
    T_EQ_U64(plim_malloc(allocator, 0, 1000, 0, &addr, NULL), PLIM_OK);
    T_EQ_U64(plim_export_block(allocator, addr, &fd, sizeof fd, &what, &err), PLIM_UNSUPPORTED);
    T_NOT_NULL(strstr(err.message, "expandable_share"));
    T_EQ_U64(plim_export_block(allocator, addr + 1, &fd, sizeof fd, &what, NULL),
             PLIM_INVALID_ARGUMENT);
    plim_allocator_destroy(allocator);

    allocator = allocator_over(&device, PLIM_SHARE_FD);
    T_EQ_U64(plim_malloc(allocator, 0, (uint64_t)50 << 20, 0, &addr, NULL), PLIM_OK);
    T_EQ_U64(plim_export_block(allocator, addr, &fd, sizeof fd, &what, NULL), PLIM_LIMIT);
    T_EQ_U64(plim_export_block(allocator, addr, NULL, 0, &what, NULL), PLIM_OK);
    T_EQ_U64(what.handle_count, 3);
    plim_addr plain = 0;
    T_EQ_U64(plim_allocator_configure(allocator, "expandable_segments:False", NULL), PLIM_OK);
    T_EQ_U64(plim_malloc(allocator, 0, 1000, 0, &plain, NULL), PLIM_OK);
    T_EQ_U64(plim_export_block(allocator, plain, &fd, sizeof fd, &what, &err), PLIM_UNSUPPORTED);
    T_NOT_NULL(strstr(err.message, "plain memory"));
    plim_allocator_destroy(allocator);
    plim_device_destroy(&device);
}

T_MAIN(T_TEST(a_block_can_be_mapped_through_its_descriptors),
       T_TEST(what_cannot_be_exported_says_why))
