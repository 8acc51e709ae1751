/*
 * memory.c - the fake driver's memory: pages of one memfd, mapped into reserved addresses.
 */
#include "fake_cuda/state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE_BYTES ((uint64_t)2 << 20) /* plain memory is taken in these, as drivers do */
#define NO_PAGES    (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static void *pointer(uint64_t addr)
{
    return (void *)(uintptr_t)addr;
}

static uint64_t whole(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static bool is_whole(uint64_t value)
{
    return value % FAKE_GRANULARITY_BYTES == 0;
}

static uint64_t free_bytes(const fake_device *device)
{
    const uint64_t held = device->used_bytes + device->taken_bytes;
    return held < device->total_bytes ? device->total_bytes - held : 0;
}

/* Addresses at a multiple of `unit`; 0: none. */
static uint64_t take_addresses(uint64_t bytes, uint64_t unit, int protection)
{
    void *const got = mmap(NULL, bytes + unit, protection, NO_PAGES, -1, 0);
    if (got == MAP_FAILED) {
        return 0;
    }
    const uint64_t start = (uintptr_t)got;
    const uint64_t base = whole(start, unit);
    if (base > start) {
        (void)munmap(got, base - start);
    }
    (void)munmap(pointer(base + bytes), start + unit - base);
    return base;
}

cu_result fake_mem_info(size_t *ret_free, size_t *ret_total)
{
    const cu_result result = fake_begin("cuMemGetInfo", true);
    if (result == CU_SUCCESS) {
        *ret_free = free_bytes(fake_current());
        *ret_total = fake_current()->total_bytes;
    }
    return fake_end(result);
}

/* --- plain memory --- */

static cu_result take_plain(cu_deviceptr *ret, size_t bytes)
{
    const uint64_t taken = whole(bytes, PIECE_BYTES);
    if (bytes == 0) {
        return CU_INVALID_VALUE;
    }
    if (fake_is_captured()) {
        return CU_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (taken < bytes || taken > free_bytes(fake_current())) {
        return CU_OUT_OF_MEMORY;
    }
    const uint64_t base = take_addresses(taken, PIECE_BYTES, PROT_READ | PROT_WRITE);
    if (base == 0) {
        return CU_OUT_OF_MEMORY;
    }
    fake_allocation *const allocation = FAKE_ADD(&fake.allocations);
    *allocation = (fake_allocation){ base, taken, fake_current_ordinal() };
    fake_current()->taken_bytes += taken;
    *ret = base;
    return CU_SUCCESS;
}

cu_result fake_mem_alloc(cu_deviceptr *ret, size_t bytes)
{
    const cu_result result = fake_begin("cuMemAlloc", true);
    return fake_end(result == CU_SUCCESS ? take_plain(ret, bytes) : result);
}

static cu_result free_plain(cu_deviceptr addr)
{
    if (fake_is_captured()) {
        return CU_STREAM_CAPTURE_UNSUPPORTED;
    }
    for (size_t i = 0; i < fake.allocations.count; i++) {
        const fake_allocation allocation = fake.allocations.items[i];
        if (allocation.base == addr) {
            fake_complete_device(allocation.device); /* it waits for the device */
            (void)munmap(pointer(addr), allocation.bytes);
            fake.devices[allocation.device].taken_bytes -= allocation.bytes;
            FAKE_REMOVE(&fake.allocations, i);
            return CU_SUCCESS;
        }
    }
    return fake_fault(CU_INVALID_VALUE, "cuMemFree of 0x%llx, where no memory begins", addr);
}

cu_result fake_mem_free(cu_deviceptr addr)
{
    const cu_result result = fake_begin("cuMemFree", true);
    return fake_end(result == CU_SUCCESS ? free_plain(addr) : result);
}

/* --- ranges --- */

static fake_range *range_of(uint64_t addr, uint64_t bytes)
{
    for (size_t i = 0; i < fake.ranges.count; i++) {
        fake_range *const range = &fake.ranges.items[i];
        if (addr >= range->base && addr - range->base < range->bytes &&
            bytes <= range->bytes - (addr - range->base)) {
            return range;
        }
    }
    return NULL;
}

/* One that touches [addr, addr + bytes). */
static const fake_mapping *mapping_in(uint64_t addr, uint64_t bytes)
{
    for (size_t i = 0; i < fake.mappings.count; i++) {
        const fake_mapping *const mapping = &fake.mappings.items[i];
        if (mapping->base < addr + bytes && addr < mapping->base + mapping->bytes) {
            return mapping;
        }
    }
    return NULL;
}

cu_result fake_address_reserve(cu_deviceptr *ret, size_t bytes, size_t alignment, cu_deviceptr hint,
                               unsigned long long flags)
{
    cu_result result = fake_begin("cuMemAddressReserve", false);
    if (result != CU_SUCCESS) {
        return fake_end(result);
    }
    if (bytes == 0 || !is_whole(bytes) || alignment != 0 || hint != 0 || flags != 0) {
        return fake_end(fake_fault(CU_INVALID_VALUE, "cuMemAddressReserve of %zu bytes", bytes));
    }
    const uint64_t base = take_addresses(bytes, FAKE_GRANULARITY_BYTES, PROT_NONE);
    if (base == 0) {
        return fake_end(CU_OUT_OF_MEMORY);
    }
    fake_range *const range = FAKE_ADD(&fake.ranges);
    *range = (fake_range){ base, bytes };
    *ret = base;
    return fake_end(CU_SUCCESS);
}

cu_result fake_address_free(cu_deviceptr addr, size_t bytes)
{
    cu_result result = fake_begin("cuMemAddressFree", false);
    fake_range *const range = result == CU_SUCCESS ? range_of(addr, bytes) : NULL;
    if (result != CU_SUCCESS) {
        return fake_end(result);
    }
    if (range == NULL || range->base != addr || range->bytes != bytes) {
        result = fake_fault(CU_INVALID_VALUE, "cuMemAddressFree of what is no range");
    } else if (mapping_in(addr, bytes) != NULL) {
        result = fake_fault(CU_INVALID_VALUE, "cuMemAddressFree with a mapping left");
    } else {
        (void)munmap(pointer(addr), bytes);
        FAKE_REMOVE(&fake.ranges, (size_t)(range - fake.ranges.items));
    }
    return fake_end(result);
}

/* --- handles --- */

static cu_result check_prop(const cu_mem_prop *prop)
{
    const bool is_plain = prop->type == CU_ALLOCATION_PINNED && prop->win32_meta_data == NULL &&
                          prop->flags.compression_type == 0 && prop->flags.usage == 0;
    if (!is_plain || prop->location.type != CU_LOCATION_DEVICE || prop->location.id < 0 ||
        prop->location.id >= fake.device_count) {
        return fake_fault(CU_INVALID_VALUE, "properties of a handle make no sense");
    }
    if ((prop->requested_handle_types & ~(CU_HANDLE_POSIX_FD | CU_HANDLE_FABRIC)) != 0) {
        return fake_fault(CU_INVALID_VALUE, "a handle of type %d", prop->requested_handle_types);
    }
    if ((prop->requested_handle_types & CU_HANDLE_FABRIC) != 0 &&
        fake.attributes[CU_ATTRIBUTE_FABRIC] == 0) {
        return CU_NOT_SUPPORTED;
    }
    if (prop->flags.is_rdma_capable != fake.attributes[CU_ATTRIBUTE_RDMA_WITH_VMM]) {
        return fake_fault(CU_INVALID_VALUE, "a handle is not RDMA-capable as the device is");
    }
    return CU_SUCCESS;
}

static cu_result take_handle(cu_mem_handle *ret, size_t bytes, const cu_mem_prop *prop)
{
    const cu_result checked = check_prop(prop);
    if (checked != CU_SUCCESS) {
        return checked;
    }
    if (bytes == 0 || !is_whole(bytes)) {
        return fake_fault(CU_INVALID_VALUE, "cuMemCreate of %zu bytes", bytes);
    }
    fake_device *const device = &fake.devices[prop->location.id];
    if (bytes > free_bytes(device)) {
        return CU_OUT_OF_MEMORY;
    }
    if (fake.file < 0) {
        fake.file = memfd_create("fake_cuda", MFD_CLOEXEC);
    }
    if (fake.file < 0 || ftruncate(fake.file, (off_t)(fake.file_bytes + bytes)) != 0) {
        return CU_OUT_OF_MEMORY;
    }
    fake_handle *const handle = FAKE_ADD(&fake.handles);
    *handle = (fake_handle){ .bytes = bytes,
                             .offset = fake.file_bytes,
                             .references = 1,
                             .device = prop->location.id,
                             .types = prop->requested_handle_types };
    fake.file_bytes += bytes;
    device->taken_bytes += bytes;
    *ret = fake.handles.count;
    return CU_SUCCESS;
}

cu_result fake_mem_create(cu_mem_handle *ret, size_t bytes, const cu_mem_prop *prop,
                          unsigned long long flags)
{
    cu_result result = fake_begin("cuMemCreate", false);
    if (result == CU_SUCCESS) {
        result = flags == 0 ? take_handle(ret, bytes, prop)
                            : fake_fault(CU_INVALID_VALUE, "cuMemCreate with flags");
    }
    return fake_end(result);
}

static void drop_reference(size_t index)
{
    fake_handle *const handle = &fake.handles.items[index];
    handle->references--;
    if (handle->references == 0) {
        fake.devices[handle->device].taken_bytes -= handle->bytes;
        (void)fallocate(fake.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)handle->offset, (off_t)handle->bytes);
    }
}

/* One its creator has not released; NULL: misuse, and told. */
static fake_handle *handle_of(const char *function, cu_mem_handle handle)
{
    if (handle == 0 || handle > fake.handles.count) {
        (void)fake_fault(CU_INVALID_VALUE, "%s of an unknown handle", function);
        return NULL;
    }
    fake_handle *const found = &fake.handles.items[handle - 1];
    if (found->is_released) {
        (void)fake_fault(CU_INVALID_VALUE, "%s of a released handle", function);
        return NULL;
    }
    return found;
}

cu_result fake_mem_release(cu_mem_handle handle)
{
    cu_result result = fake_begin("cuMemRelease", false);
    if (result == CU_SUCCESS) {
        fake_handle *const found = handle_of("cuMemRelease", handle);
        if (found == NULL) {
            return fake_end(CU_INVALID_VALUE);
        }
        found->is_released = true;
        drop_reference((size_t)handle - 1);
    }
    return fake_end(result);
}

cu_result fake_mem_granularity(size_t *ret, const cu_mem_prop *prop, int which)
{
    cu_result result = fake_begin("cuMemGetAllocationGranularity", false);
    if (result == CU_SUCCESS) {
        result = check_prop(prop);
        *ret = FAKE_GRANULARITY_BYTES;
        (void)which; /* minimum and recommended are the same */
    }
    return fake_end(result);
}

cu_result fake_mem_export(void *ret, cu_mem_handle handle, int type, unsigned long long flags)
{
    cu_result result = fake_begin("cuMemExportToShareableHandle", false);
    if (result != CU_SUCCESS) {
        return fake_end(result);
    }
    const fake_handle *const found = handle_of("cuMemExportToShareableHandle", handle);
    if (found == NULL || flags != 0 || (found->types & type) == 0) {
        return fake_end(CU_INVALID_VALUE);
    }
    if (type == CU_HANDLE_FABRIC) {
        memset(ret, 0, CU_FABRIC_HANDLE_BYTES);
        memcpy(ret, &handle, sizeof handle);
    } else {
        const int copy = fcntl(fake.file, F_DUPFD_CLOEXEC, 0);
        memcpy(ret, &copy, sizeof copy);
    }
    return fake_end(CU_SUCCESS);
}

/* --- mappings --- */

static cu_result map(cu_deviceptr addr, size_t bytes, size_t offset, cu_mem_handle handle)
{
    const fake_handle *const found = handle_of("cuMemMap", handle);
    if (found == NULL) {
        return CU_INVALID_VALUE;
    }
    if (offset != 0 || bytes != found->bytes) {
        return fake_fault(CU_INVALID_VALUE, "cuMemMap of a part of a handle");
    }
    if (!is_whole(addr)) {
        return fake_fault(CU_INVALID_VALUE, "cuMemMap to the odd address 0x%llx", addr);
    }
    if (range_of(addr, bytes) == NULL) {
        return fake_fault(CU_INVALID_VALUE, "cuMemMap to addresses that are not reserved");
    }
    if (mapping_in(addr, bytes) != NULL) {
        return fake_fault(CU_INVALID_VALUE, "cuMemMap where something is mapped");
    }
    if (mmap(pointer(addr), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, fake.file,
             (off_t)found->offset) == MAP_FAILED) {
        return CU_OUT_OF_MEMORY;
    }
    fake_mapping *const mapping = FAKE_ADD(&fake.mappings);
    *mapping = (fake_mapping){ .base = addr, .bytes = bytes, .handle = (size_t)handle - 1 };
    fake.handles.items[handle - 1].references++;
    return CU_SUCCESS;
}

cu_result fake_mem_map(cu_deviceptr addr, size_t bytes, size_t offset, cu_mem_handle handle,
                       unsigned long long flags)
{
    cu_result result = fake_begin("cuMemMap", false);
    if (result == CU_SUCCESS) {
        result = flags == 0 ? map(addr, bytes, offset, handle)
                            : fake_fault(CU_INVALID_VALUE, "cuMemMap with flags");
    }
    return fake_end(result);
}

/* The mapping that begins at `addr` and ends within `bytes`; fake.mappings.count: none does. */
static size_t mapping_at(uint64_t addr, uint64_t bytes)
{
    size_t i = 0;
    while (i < fake.mappings.count &&
           (fake.mappings.items[i].base != addr || fake.mappings.items[i].bytes > bytes)) {
        i++;
    }
    return i;
}

/* True if [addr, addr + bytes) is mapped, from mapping to mapping. */
static bool is_mapped(uint64_t addr, uint64_t bytes)
{
    uint64_t done = 0;
    while (done < bytes) {
        const size_t i = mapping_at(addr + done, bytes - done);
        if (i == fake.mappings.count) {
            return false;
        }
        done += fake.mappings.items[i].bytes;
    }
    return bytes > 0;
}

static cu_result unmap(cu_deviceptr addr, size_t bytes)
{
    if (!is_mapped(addr, bytes)) {
        return fake_fault(CU_INVALID_VALUE,
                          "cuMemUnmap of what is not mapped, or a part of a handle");
    }
    for (uint64_t done = 0; done < bytes;) {
        const size_t i = mapping_at(addr + done, bytes - done);
        const fake_mapping mapping = fake.mappings.items[i];
        const int device = fake.handles.items[mapping.handle].device;
        if (fake_pending_stream(device) != NULL) {
            (void)fake_fault(CU_SUCCESS, "cuMemUnmap while work on device %d is pending", device);
            fake_complete_device(device); /* once is enough */
        }
        FAKE_REMOVE(&fake.mappings, i);
        drop_reference(mapping.handle);
        done += mapping.bytes;
    }
    (void)mmap(pointer(addr), bytes, PROT_NONE, NO_PAGES | MAP_FIXED, -1, 0);
    return CU_SUCCESS;
}

cu_result fake_mem_unmap(cu_deviceptr addr, size_t bytes)
{
    const cu_result result = fake_begin("cuMemUnmap", false);
    return fake_end(result == CU_SUCCESS ? unmap(addr, bytes) : result);
}

static cu_result set_access(cu_deviceptr addr, size_t bytes, const cu_mem_access *access,
                            size_t count)
{
    if (!is_mapped(addr, bytes)) {
        return fake_fault(CU_INVALID_VALUE, "cuMemSetAccess to what is not mapped");
    }
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != CU_LOCATION_DEVICE || access[i].location.id < 0 ||
            access[i].location.id >= fake.device_count || access[i].flags != CU_ACCESS_READ_WRITE) {
            return fake_fault(CU_INVALID_VALUE, "cuMemSetAccess for no device");
        }
        for (uint64_t done = 0; done < bytes;) {
            const size_t at = mapping_at(addr + done, bytes - done);
            fake.mappings.items[at].accessors |= 1u << access[i].location.id;
            done += fake.mappings.items[at].bytes;
        }
    }
    return mprotect(pointer(addr), bytes, PROT_READ | PROT_WRITE) == 0 ? CU_SUCCESS
                                                                       : CU_OUT_OF_MEMORY;
}

cu_result fake_mem_set_access(cu_deviceptr addr, size_t bytes, const cu_mem_access *access,
                              size_t count)
{
    const cu_result result = fake_begin("cuMemSetAccess", false);
    return fake_end(result == CU_SUCCESS ? set_access(addr, bytes, access, count) : result);
}

/* --- contents --- */

/* The bytes from `addr` on that the current device can use in one piece of memory. */
static uint64_t usable(uint64_t addr)
{
    for (size_t i = 0; i < fake.allocations.count; i++) {
        const fake_allocation *const piece = &fake.allocations.items[i];
        if (addr - piece->base < piece->bytes && piece->device == fake_current_ordinal()) {
            return piece->base + piece->bytes - addr;
        }
    }
    for (size_t i = 0; i < fake.mappings.count; i++) {
        const fake_mapping *const piece = &fake.mappings.items[i];
        if (addr - piece->base < piece->bytes &&
            (piece->accessors & 1u << fake_current_ordinal()) != 0) {
            return piece->base + piece->bytes - addr;
        }
    }
    return 0;
}

static cu_result check_use(const char *function, uint64_t addr, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t run = usable(addr + done);
        if (run == 0) {
            return fake_fault(CU_ILLEGAL_ADDRESS, "%s at 0x%llx, which is not accessible", function,
                              (cu_deviceptr)addr + done);
        }
        done += run;
    }
    return CU_SUCCESS;
}

cu_result fake_memset_async(cu_deviceptr addr, unsigned char value, size_t bytes, cu_stream *stream)
{
    cu_result result = fake_begin("cuMemsetD8Async", true);
    if (result == CU_SUCCESS) {
        result = fake_stream_of(stream) == NULL
                     ? fake_fault(CU_INVALID_HANDLE, "cuMemsetD8Async on an unknown stream")
                     : check_use("cuMemsetD8Async", addr, bytes);
    }
    if (result == CU_SUCCESS && bytes > 0) {
        memset(pointer(addr), value, bytes);
    }
    return fake_end(result);
}

cu_result fake_copy_async(cu_deviceptr to, cu_deviceptr from, size_t bytes, cu_stream *stream)
{
    cu_result result = fake_begin("cuMemcpyDtoDAsync", true);
    if (result == CU_SUCCESS) {
        result = fake_stream_of(stream) == NULL
                     ? fake_fault(CU_INVALID_HANDLE, "cuMemcpyDtoDAsync on an unknown stream")
                     : check_use("cuMemcpyDtoDAsync", to, bytes);
    }
    if (result == CU_SUCCESS) {
        result = check_use("cuMemcpyDtoDAsync", from, bytes);
    }
    if (result == CU_SUCCESS && bytes > 0) {
        memmove(pointer(to), pointer(from), bytes);
    }
    return fake_end(result);
}

cu_result fake_copy_to_host(void *to, cu_deviceptr from, size_t bytes)
{
    cu_result result = fake_begin("cuMemcpyDtoH", true);
    if (result == CU_SUCCESS) {
        result = check_use("cuMemcpyDtoH", from, bytes);
    }
    if (result == CU_SUCCESS && bytes > 0) {
        memcpy(to, pointer(from), bytes);
    }
    return fake_end(result);
}

cu_result fake_copy_to_device(cu_deviceptr to, const void *from, size_t bytes)
{
    cu_result result = fake_begin("cuMemcpyHtoD", true);
    if (result == CU_SUCCESS) {
        result = check_use("cuMemcpyHtoD", to, bytes);
    }
    if (result == CU_SUCCESS && bytes > 0) {
        memcpy(pointer(to), from, bytes);
    }
    return fake_end(result);
}

void fake_memory_reset(void)
{
    for (size_t i = 0; i < fake.ranges.count; i++) {
        (void)munmap(pointer(fake.ranges.items[i].base), fake.ranges.items[i].bytes);
    }
    for (size_t i = 0; i < fake.allocations.count; i++) {
        (void)munmap(pointer(fake.allocations.items[i].base), fake.allocations.items[i].bytes);
    }
    if (fake.handles.count > 0 && fake.file >= 0) {
        (void)close(fake.file);
    }
    free(fake.ranges.items);
    free(fake.handles.items);
    free(fake.mappings.items);
    free(fake.allocations.items);
}
