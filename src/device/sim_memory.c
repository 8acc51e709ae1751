/*
 * sim_memory.c - the sim device's memory: places, counters and rules, but no bytes.
 */
#include "device/sim.h"

#include "base/assert.h"
#include "base/error.h"

#include <inttypes.h>
#include <string.h>

/* The address of plim_sim_place_next(), which is for one call, however it ends. */
static plim_addr take_wanted(plim_sim *sim, const plim_device_record *record)
{
    const plim_addr wanted = sim->wanted;
    sim->wanted = 0;
    return wanted != 0 || sim->place == NULL
               ? wanted
               : sim->place(sim->place_ctx, record->call, record->bytes);
}

/* --- plain memory --- */

static plim_status take_plain(plim_sim *sim, uint64_t bytes, plim_addr wanted, plim_addr *ret_addr,
                              plim_error *err)
{
    uint64_t whole = 0;
    if (bytes == 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%s: malloc of 0 bytes", sim->core.name);
    }
    if (!plim_books_whole(&sim->core.books, bytes, &whole)) {
        whole = bytes; /* more than any device has */
    }
    PLIM_TRY(plim_books_has_room(&sim->core.books, whole, err));
    plim_addr addr = 0;
    const plim_status status = plim_sim_place(sim, &sim->plain, wanted, whole, &addr);
    if (status == PLIM_OUT_OF_DEVICE_MEMORY) {
        return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY,
                         "%s: no place for %" PRIu64 " bytes among the addresses", sim->core.name,
                         whole);
    }
    if (status == PLIM_OK && !plim_map_put(&sim->core.plain_bytes, addr, whole)) {
        plim_sim_displace(sim, addr, whole);
        return plim_fail_memory(err, "placing memory");
    }
    if (status != PLIM_OK) {
        return plim_fail_memory(err, "placing memory");
    }
    sim->core.books.taken_bytes += whole;
    *ret_addr = addr;
    return PLIM_OK;
}

static plim_status memory_alloc(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_MEMORY_ALLOC, .bytes = bytes };
    const bool may = plim_core_begin(&sim->core, &record, err);
    const plim_addr wanted = take_wanted(sim, &record);
    if (may) {
        record.status = take_plain(sim, bytes, wanted, &record.addr, err);
    }
    if (record.status == PLIM_OK) {
        *ret_addr = record.addr;
    }
    return plim_core_end(&sim->core, &record);
}

static plim_status memory_free(void *self, plim_addr addr, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_MEMORY_FREE, .addr = addr };
    if (plim_core_begin(&sim->core, &record, err)) {
        const uint64_t bytes = plim_map_take(&sim->core.plain_bytes, addr);
        if (bytes == PLIM_MAP_ABSENT) {
            record.status = plim_fail(err, PLIM_INVALID_ARGUMENT,
                                      "%s: free of 0x%" PRIx64 ", where no memory begins",
                                      sim->core.name, addr);
        } else {
            record.bytes = bytes;
            plim_sim_displace(sim, addr, bytes);
            sim->core.books.taken_bytes -= bytes;
            if (!sim->core.is_lenient) { /* it waits for the device */
                plim_queues_complete_all(&sim->core.queues);
            }
        }
    }
    return plim_core_end(&sim->core, &record);
}

/* --- ranges --- */

static plim_status take_range(plim_sim *sim, uint64_t bytes, plim_addr wanted, plim_addr *ret_addr,
                              plim_error *err)
{
    PLIM_TRY(plim_books_check_size(&sim->core.books, "reserve", bytes, err));
    plim_addr addr = 0;
    const plim_status status = plim_sim_place(sim, &sim->reserved, wanted, bytes, &addr);
    if (status == PLIM_OUT_OF_DEVICE_MEMORY) {
        return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY, "%s: no %" PRIu64 " addresses are left",
                         sim->core.name, bytes);
    }
    if (status == PLIM_OK && !plim_books_add_range(&sim->core.books, addr, bytes)) {
        plim_sim_displace(sim, addr, bytes);
        return plim_fail_memory(err, "reserving addresses");
    }
    if (status != PLIM_OK) {
        return plim_fail_memory(err, "reserving addresses");
    }
    *ret_addr = addr;
    return PLIM_OK;
}

static plim_status range_reserve(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_RANGE_RESERVE, .bytes = bytes };
    const bool may = plim_core_begin(&sim->core, &record, err);
    const plim_addr wanted = take_wanted(sim, &record);
    if (may) {
        record.status = take_range(sim, bytes, wanted, &record.addr, err);
    }
    if (record.status == PLIM_OK) {
        *ret_addr = record.addr;
    }
    return plim_core_end(&sim->core, &record);
}

static plim_status range_free(void *self, plim_addr addr, uint64_t bytes, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_RANGE_FREE, .addr = addr, .bytes = bytes };
    if (plim_core_begin(&sim->core, &record, err)) {
        record.status = plim_books_check_free_range(&sim->core.books, addr, bytes, err);
        if (record.status == PLIM_OK) {
            plim_books_remove_range(&sim->core.books, addr);
            plim_sim_displace(sim, addr, bytes);
        }
    }
    return plim_core_end(&sim->core, &record);
}

/* --- handles --- */

static plim_status handle_create(void *self, uint64_t bytes, plim_share share,
                                 plim_handle *ret_handle, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_HANDLE_CREATE, .bytes = bytes };
    if (plim_core_begin(&sim->core, &record, err)) {
        record.status = share == PLIM_SHARE_NONE
                            ? plim_books_create(&sim->core.books, bytes, &record.handle, err)
                            : plim_fail(err, PLIM_UNSUPPORTED,
                                        "%s: its memory cannot leave the process", sim->core.name);
    }
    if (record.status == PLIM_OK) {
        *ret_handle = record.handle;
    }
    return plim_core_end(&sim->core, &record);
}

static plim_status handle_release(void *self, plim_handle handle, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_HANDLE_RELEASE, .handle = handle };
    if (plim_core_begin(&sim->core, &record, err)) {
        const plim_physical *const physical = plim_books_physical(&sim->core.books, handle);
        record.bytes = physical == NULL ? 0 : physical->bytes;
        plim_physical gone;
        record.status = plim_books_release(&sim->core.books, handle, &gone, err);
    }
    return plim_core_end(&sim->core, &record);
}

static plim_status handle_export(void *self, plim_handle handle, plim_share share, void *data,
                                 plim_error *err)
{
    (void)share;
    (void)data;
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_HANDLE_EXPORT, .handle = handle };
    if (plim_core_begin(&sim->core, &record, err)) {
        record.status = plim_fail(err, PLIM_UNSUPPORTED, "%s: its memory cannot leave the process",
                                  sim->core.name);
    }
    return plim_core_end(&sim->core, &record);
}

/* --- mappings --- */

static plim_status map(void *self, plim_addr addr, uint64_t bytes, plim_handle handle,
                       plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = {
        .call = PLIM_CALL_MAP, .addr = addr, .bytes = bytes, .handle = handle
    };
    if (plim_core_begin(&sim->core, &record, err)) {
        record.status = plim_books_map(&sim->core.books, addr, bytes, handle, err);
    }
    return plim_core_end(&sim->core, &record);
}

static plim_status unmap(void *self, plim_addr addr, uint64_t bytes, plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = { .call = PLIM_CALL_UNMAP, .addr = addr, .bytes = bytes };
    if (plim_core_begin(&sim->core, &record, err)) {
        record.status = plim_books_check_mapped(&sim->core.books, "unmap", addr, bytes, err);
        for (uint64_t done = 0; record.status == PLIM_OK && done < bytes;) {
            plim_physical gone;
            done += plim_books_unmap(&sim->core.books, addr + done, &gone);
        }
    }
    return plim_core_end(&sim->core, &record);
}

static plim_status check_access(plim_sim *sim, plim_addr addr, uint64_t bytes, int32_t accessor,
                                plim_error *err)
{
    if (accessor < 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%s: access for device %" PRId32,
                         sim->core.name, accessor);
    }
    PLIM_TRY(plim_books_check_mapped(&sim->core.books, "access", addr, bytes, err));
    /* The access of peers is not kept: nothing of theirs runs here. */
    return accessor != sim->core.ordinal ? PLIM_OK
                                         : plim_books_open(&sim->core.books, addr, bytes, err);
}

static plim_status set_access(void *self, plim_addr addr, uint64_t bytes, int32_t accessor,
                              plim_error *err)
{
    plim_sim *const sim = self;
    plim_device_record record = {
        .call = PLIM_CALL_SET_ACCESS, .addr = addr, .bytes = bytes, .accessor = accessor
    };
    if (plim_core_begin(&sim->core, &record, err)) {
        record.status = check_access(sim, addr, bytes, accessor, err);
    }
    return plim_core_end(&sim->core, &record);
}

/* --- contents --- */

/* PLIM_OK if all of it is plain memory or mapped. */
static plim_status check_live(plim_sim *sim, plim_addr addr, uint64_t bytes, plim_error *err)
{
    plim_core_lock(&sim->core);
    const bool is_live = bytes == 0 || plim_books_is_open(&sim->core.books, addr, bytes) ||
                         (plim_sim_is_placed(sim, addr, bytes) &&
                          !plim_books_has_range(&sim->core.books, addr, bytes));
    plim_core_unlock(&sim->core);
    if (is_live) {
        return PLIM_OK;
    }
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "%s: %" PRIu64 " bytes at 0x%" PRIx64 " cannot all be accessed",
                     sim->core.name, bytes, addr);
}

static plim_status fill(void *self, plim_addr addr, uint8_t value, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    (void)value;
    (void)stream;
    return check_live(self, addr, bytes, err);
}

static plim_status copy(void *self, plim_addr to, plim_addr from, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    (void)stream;
    PLIM_TRY(check_live(self, to, bytes, err));
    return check_live(self, from, bytes, err);
}

static plim_status read(void *self, void *to, plim_addr from, uint64_t bytes, plim_error *err)
{
    PLIM_TRY(check_live(self, from, bytes, err));
    memset(to, 0, (size_t)bytes);
    return PLIM_OK;
}

static plim_status write(void *self, plim_addr to, const void *from, uint64_t bytes,
                         plim_error *err)
{
    (void)from;
    return check_live(self, to, bytes, err);
}

void plim_sim_memory_ops(plim_device_ops *ops, bool can_map)
{
    ops->memory_alloc = memory_alloc;
    ops->memory_free = memory_free;
    ops->fill = fill;
    ops->copy = copy;
    ops->read = read;
    ops->write = write;
    if (can_map) {
        ops->range_reserve = range_reserve;
        ops->range_free = range_free;
        ops->handle_create = handle_create;
        ops->handle_release = handle_release;
        ops->handle_export = handle_export;
        ops->map = map;
        ops->unmap = unmap;
        ops->set_access = set_access;
    }
}
