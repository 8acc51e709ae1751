/*
 * host_memory.c - the host device's memory: what the books say, done by the kernel.
 *
 *   range    PROT_NONE pages without memory
 *   handle   a part of one sparse memfd, which so serves any number of them; one that may leave
 *            the process has a memfd of its own, since a descriptor gives access to a whole file
 *   map      those bytes of the file in place of pages of the range, PROT_NONE still
 *   access   PROT_READ | PROT_WRITE, for any accessor
 *   plain    private pages: nothing maps them twice
 *
 * Pages take memory when they are first written to. A process has a limited number of mappings
 * (vm.max_map_count, 65530 by default): beyond it the device is out of memory and says why.
 */
#include "device/host.h"

#include "base/assert.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define NO_PAGES        (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define OWN_FILE        (UINT64_C(1) << 63) /* in a tag: below it a descriptor, else an offset */
#define ADDRESS_C(addr) ((void *)(uintptr_t)(addr))

/* Fails as the kernel did. `doing` is "mapping memory". */
static plim_status refused(int error, const char *doing, plim_error *err)
{
    if (error != ENOMEM && error != ENOSPC) {
        return plim_fail_errno(err, error, "host: %s", doing);
    }
    (void)plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY,
                    "host: %s: the system gives no more memory, addresses or mappings "
                    "(see vm.max_map_count and ulimit -v)",
                    doing);
    if (err != NULL) {
        err->native = error;
    }
    return PLIM_OUT_OF_DEVICE_MEMORY;
}

/* --- addresses --- */

/* `bytes` bytes of addresses, a multiple of the granularity, at a multiple of it. */
static plim_status take_addresses(const plim_host *host, uint64_t bytes, int protection,
                                  plim_addr *ret_addr, plim_error *err)
{
    const uint64_t granularity = host->core.books.granularity_bytes;
    if (bytes > SIZE_MAX / 2) {
        return refused(ENOMEM, "reserving addresses", err);
    }
    unsigned char *const got = mmap(NULL, bytes + granularity, protection, NO_PAGES, -1, 0);
    if (got == MAP_FAILED) {
        return refused(errno, "reserving addresses", err);
    }
    const uint64_t front = -(uint64_t)(uintptr_t)got & (granularity - 1);
    unsigned char *const base = got + front;
    if ((front > 0 && munmap(got, front) != 0) || munmap(base + bytes, granularity - front) != 0) {
        const int error = errno;
        (void)munmap(got, bytes + granularity); /* what of it is unmapped already does not matter */
        return refused(error, "reserving addresses", err);
    }
    *ret_addr = (plim_addr)(uintptr_t)base;
    return PLIM_OK;
}

/* --- plain memory --- */

static plim_status memory_alloc(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    uint64_t whole = 0;
    if (bytes == 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "host: malloc of 0 bytes");
    }
    if (!plim_books_whole(&host->core.books, bytes, &whole)) {
        whole = bytes; /* more than any device has */
    }
    PLIM_TRY(plim_books_has_room(&host->core.books, whole, err));
    if (!plim_space_prepare(&host->not_plain)) {
        return plim_fail_memory(err, "placing memory");
    }
    plim_addr addr = 0;
    PLIM_TRY(take_addresses(host, whole, PROT_READ | PROT_WRITE, &addr, err));
    if (!plim_map_put(&host->core.plain_bytes, addr, whole)) {
        (void)munmap(ADDRESS_C(addr), whole);
        return plim_fail_memory(err, "placing memory");
    }
    const bool taken = plim_space_take(&host->not_plain, addr, whole);
    PLIM_ASSERT(taken);
    host->core.books.taken_bytes += whole;
    *ret_addr = addr;
    return PLIM_OK;
}

static plim_status memory_free(void *self, plim_addr addr, plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    const uint64_t bytes = plim_map_get(&host->core.plain_bytes, addr);
    if (bytes == PLIM_MAP_ABSENT) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "host: free of 0x%" PRIx64 ", where no memory begins", addr);
    }
    /* From the middle of what the kernel sees as one mapping, even this can ask for one more. */
    if (munmap(ADDRESS_C(addr), bytes) != 0) {
        return refused(errno, "giving memory back", err);
    }
    (void)plim_map_take(&host->core.plain_bytes, addr);
    plim_space_give(&host->not_plain, addr, bytes);
    host->core.books.taken_bytes -= bytes;
    return PLIM_OK;
}

/* --- ranges --- */

static plim_status range_reserve(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    plim_addr addr = 0;
    PLIM_TRY(plim_books_check_size(&host->core.books, "reserve", bytes, err));
    PLIM_TRY(take_addresses(host, bytes, PROT_NONE, &addr, err));
    if (!plim_books_add_range(&host->core.books, addr, bytes)) {
        (void)munmap(ADDRESS_C(addr), bytes);
        return plim_fail_memory(err, "reserving addresses");
    }
    *ret_addr = addr;
    return PLIM_OK;
}

static plim_status range_free(void *self, plim_addr addr, uint64_t bytes, plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    PLIM_TRY(plim_books_check_free_range(&host->core.books, addr, bytes, err));
    if (munmap(ADDRESS_C(addr), bytes) != 0) {
        return refused(errno, "giving addresses back", err);
    }
    plim_books_remove_range(&host->core.books, addr);
    return PLIM_OK;
}

/* --- handles --- */

/* Beyond this limit the kernel would send a signal. */
static plim_status check_length(uint64_t bytes, plim_error *err)
{
    struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
        return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY,
                         "host: files may be %" PRIu64 " bytes long (ulimit -f), %" PRIu64
                         " are needed",
                         (uint64_t)limit.rlim_cur, bytes);
    }
    return PLIM_OK;
}

/* Makes the file at least as long. */
static plim_status lengthen(plim_host *host, uint64_t bytes, plim_error *err)
{
    if (bytes <= host->file_bytes) {
        return PLIM_OK;
    }
    PLIM_TRY(check_length(bytes, err));
    if (ftruncate(host->file, (off_t)bytes) != 0) {
        return refused(errno, "taking memory", err);
    }
    host->file_bytes = bytes;
    return PLIM_OK;
}

/* Bytes of the shared file. The tag is their offset. */
static plim_status take_part(plim_host *host, uint64_t bytes, uint64_t *ret_tag, plim_error *err)
{
    uint64_t offset = 0;
    if (!plim_space_prepare(&host->offsets)) {
        return plim_fail_memory(err, "creating a handle");
    }
    const bool placed = plim_space_place(&host->offsets, bytes, &offset);
    PLIM_ASSERT(placed);
    const plim_status status = lengthen(host, offset + bytes, err);
    if (status != PLIM_OK) {
        plim_space_give(&host->offsets, offset, bytes);
        return status;
    }
    *ret_tag = offset;
    return PLIM_OK;
}

static plim_status take_file(uint64_t bytes, uint64_t *ret_tag, plim_error *err)
{
    PLIM_TRY(check_length(bytes, err));
    const int file = memfd_create("plimsoll-handle", MFD_CLOEXEC);
    if (file < 0) {
        return refused(errno, "creating a file for a handle", err);
    }
    if (ftruncate(file, (off_t)bytes) != 0) {
        const int error = errno;
        (void)close(file);
        return refused(error, "creating a file for a handle", err);
    }
    *ret_tag = OWN_FILE | (uint64_t)file;
    return PLIM_OK;
}

/* The memory of a handle goes back to the system. */
static void give_back(plim_host *host, const plim_physical *gone)
{
    if (gone->bytes == 0) {
        return;
    }
    if ((gone->tag & OWN_FILE) != 0) {
        (void)close((int)(gone->tag & ~OWN_FILE));
        return;
    }
    /* Should it fail, the pages stay until they are used again or the device ends. */
    (void)fallocate(host->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)gone->tag,
                    (off_t)gone->bytes);
    plim_space_give(&host->offsets, gone->tag, gone->bytes);
}

static plim_status handle_create(void *self, uint64_t bytes, plim_share share,
                                 plim_handle *ret_handle, plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    if (share == PLIM_SHARE_FABRIC) {
        return plim_fail(err, PLIM_UNSUPPORTED, "host: it has no fabric handles");
    }
    plim_handle handle = 0;
    uint64_t tag = 0;
    PLIM_TRY(plim_books_create(&host->core.books, bytes, &handle, err));
    const plim_status status =
        share == PLIM_SHARE_FD ? take_file(bytes, &tag, err) : take_part(host, bytes, &tag, err);
    if (status != PLIM_OK) {
        plim_physical gone;
        const plim_status released = plim_books_release(&host->core.books, handle, &gone, NULL);
        PLIM_ASSERT(released == PLIM_OK);
        return status;
    }
    plim_books_physical(&host->core.books, handle)->tag = tag;
    *ret_handle = handle;
    return PLIM_OK;
}

static plim_status handle_release(void *self, plim_handle handle, plim_error *err)
{
    plim_host *const host = self;
    plim_physical gone;
    PLIM_CORE_HOLD(&host->core);
    PLIM_TRY(plim_books_release(&host->core.books, handle, &gone, err));
    give_back(host, &gone);
    return PLIM_OK;
}

static plim_status handle_export(void *self, plim_handle handle, plim_share share, void *data,
                                 plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    const plim_physical *const physical = plim_books_physical(&host->core.books, handle);
    if (physical == NULL || physical->is_released) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "host: export of the unknown handle 0x%" PRIx64, handle);
    }
    if (share != PLIM_SHARE_FD || (physical->tag & OWN_FILE) == 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "host: handle 0x%" PRIx64 " was not created to be shared so", handle);
    }
    const int copy = fcntl((int)(physical->tag & ~OWN_FILE), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        return refused(errno, "sharing a handle", err);
    }
    memcpy(data, &copy, sizeof copy);
    return PLIM_OK;
}

/* --- mappings --- */

static plim_status map(void *self, plim_addr addr, uint64_t bytes, plim_handle handle,
                       plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    PLIM_TRY(plim_books_map(&host->core.books, addr, bytes, handle, err));
    const uint64_t tag = plim_books_physical(&host->core.books, handle)->tag;
    const bool is_own = (tag & OWN_FILE) != 0;
    if (mmap(ADDRESS_C(addr), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
             is_own ? (int)(tag & ~OWN_FILE) : host->file, is_own ? 0 : (off_t)tag) == MAP_FAILED) {
        const int error = errno;
        plim_physical gone;
        (void)plim_books_unmap(&host->core.books, addr, &gone); /* its creator holds it: not gone */
        return refused(error, "mapping memory", err);
    }
    return PLIM_OK;
}

static plim_status unmap(void *self, plim_addr addr, uint64_t bytes, plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    PLIM_TRY(plim_books_check_mapped(&host->core.books, "unmap", addr, bytes, err));
    if (mmap(ADDRESS_C(addr), bytes, PROT_NONE, NO_PAGES | MAP_FIXED, -1, 0) == MAP_FAILED) {
        return refused(errno, "unmapping memory", err);
    }
    for (uint64_t done = 0; done < bytes;) {
        plim_physical gone;
        done += plim_books_unmap(&host->core.books, addr + done, &gone);
        give_back(host, &gone);
    }
    return PLIM_OK;
}

static plim_status set_access(void *self, plim_addr addr, uint64_t bytes, int32_t accessor,
                              plim_error *err)
{
    plim_host *const host = self;
    PLIM_CORE_HOLD(&host->core);
    if (accessor < 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "host: access for device %" PRId32, accessor);
    }
    PLIM_TRY(plim_books_check_mapped(&host->core.books, "access", addr, bytes, err));
    if (mprotect(ADDRESS_C(addr), bytes, PROT_READ | PROT_WRITE) != 0) {
        return refused(errno, "giving access", err);
    }
    return plim_books_open(&host->core.books, addr, bytes, err);
}

void plim_host_memory_ops(plim_device_ops *ops)
{
    ops->memory_alloc = memory_alloc;
    ops->memory_free = memory_free;
    ops->range_reserve = range_reserve;
    ops->range_free = range_free;
    ops->handle_create = handle_create;
    ops->handle_release = handle_release;
    ops->handle_export = handle_export;
    ops->map = map;
    ops->unmap = unmap;
    ops->set_access = set_access;
}

void plim_host_unmap_all(plim_host *host)
{
    for (size_t i = 0; i < host->core.books.ranges.count; i++) {
        const plim_virtual_range *const range = &host->core.books.ranges.items[i];
        (void)munmap(ADDRESS_C(range->base), range->bytes);
    }
    for (size_t i = 0; host->core.plain_bytes.count > 0 && i <= host->core.plain_bytes.mask; i++) {
        const plim_map_slot *const slot = &host->core.plain_bytes.slots[i];
        if (slot->value != PLIM_MAP_ABSENT) {
            (void)munmap(ADDRESS_C(slot->key), slot->value);
        }
    }
    for (size_t i = 0; i < host->core.books.physicals.count; i++) {
        const plim_physical *const physical = &host->core.books.physicals.items[i];
        if (physical->references > 0 && (physical->tag & OWN_FILE) != 0) {
            (void)close((int)(physical->tag & ~OWN_FILE));
        }
    }
}
