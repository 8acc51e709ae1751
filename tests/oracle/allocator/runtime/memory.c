/* memory.c - capacities, and who holds which part of them. See model.h. */
#include "model.h"

#include "ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_BASE   UINT64_C(0x7a0000000000)
#define PLAIN_BYTES  (UINT64_C(256) << 30)
#define RANGES_BASE  UINT64_C(0x700000000000) /* of device 0 … */
#define RANGES_BYTES (UINT64_C(10) << 40)
#define RANGES_STEP  (UINT64_C(7) << 40) /* … of the others below it */

typedef struct failure {
    uint64_t countdown; /* 0: none wanted */
    plim_status status;
} failure;

typedef struct device {
    uint64_t total_bytes;
    uint64_t used_bytes;  /* by others */
    uint64_t taken_bytes; /* by us */
    model_ranges plain;
    model_window plain_window;
    model_ranges ranges;
    model_window ranges_window;
    failure failures[PLIM_DEVICE_CALL_COUNT];
} device;

/* One cuMemCreate. Its handle is its index plus one. */
typedef struct physical {
    uint64_t bytes;
    uint32_t references; /* one of the creator, one of each mapping */
    int32_t device;
} physical;

static device devices[ORACLE_DEVICES_MAX];
static int32_t device_count;
static int32_t current;
static model_report *report_call;
static void *report_ctx;
static model_ranges mappings;
static physical *physicals;
static size_t physical_count;

void model_device(int32_t number, uint64_t total_bytes, uint64_t used_bytes)
{
    device *const d = &devices[number];
    memset(d, 0, sizeof(*d));
    d->total_bytes = total_bytes;
    d->used_bytes = used_bytes;
    d->plain_window = (model_window){ PLAIN_BASE + (uint64_t)number * PLAIN_BYTES, PLAIN_BYTES };
    d->ranges_window = (model_window){ RANGES_BASE - (uint64_t)number * RANGES_STEP,
                                       number == 0 ? RANGES_BYTES : RANGES_STEP };
    if (number >= device_count) {
        device_count = number + 1;
    }
}

void model_set_report(model_report *report, void *ctx)
{
    report_call = report;
    report_ctx = ctx;
}

void model_set_used(int32_t number, uint64_t used_bytes)
{
    devices[number].used_bytes = used_bytes;
}

void model_set_current(int32_t number)
{
    current = number;
}

void model_fail(int32_t number, plim_device_call call, uint64_t nth, plim_status status)
{
    devices[number].failures[call] = (failure){ nth, status };
}

int32_t model_count(void)
{
    return device_count;
}

int32_t model_current(void)
{
    return current;
}

uint64_t model_total(int32_t number)
{
    return devices[number].total_bytes;
}

plim_status model_begin(plim_device_record *record)
{
    failure *const wanted = &devices[record->ordinal].failures[record->call];
    if (wanted->countdown == 0 || --wanted->countdown > 0) {
        return PLIM_OK;
    }
    return wanted->status;
}

plim_status model_end(plim_device_record *record, plim_status status)
{
    record->status = status;
    if (report_call != NULL) {
        report_call(report_ctx, record);
    }
    return status;
}

static uint64_t free_bytes_of(const device *d)
{
    const uint64_t held = d->used_bytes + d->taken_bytes;
    return held < d->total_bytes ? d->total_bytes - held : 0;
}

plim_status model_info(int32_t number, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes)
{
    plim_device_record record = { .call = PLIM_CALL_INFO, .ordinal = number };
    const plim_status status = model_begin(&record);
    if (status == PLIM_OK) {
        *ret_free_bytes = free_bytes_of(&devices[number]);
        *ret_total_bytes = devices[number].total_bytes;
    }
    return model_end(&record, status);
}

plim_status model_malloc(uint64_t bytes, plim_addr *ret_addr)
{
    plim_device_record record = { .call = PLIM_CALL_MEMORY_ALLOC,
                                  .ordinal = current,
                                  .bytes = bytes };
    device *const d = &devices[current];
    plim_status status = model_begin(&record);
    if (status != PLIM_OK) {
        return model_end(&record, status);
    }
    if (bytes > free_bytes_of(d) || model_whole_pages(bytes) > free_bytes_of(d)) {
        return model_end(&record, PLIM_OUT_OF_DEVICE_MEMORY);
    }
    if (!model_ranges_place(&d->plain, d->plain_window, model_whole_pages(bytes), &record.addr)) {
        return model_end(&record, PLIM_OUT_OF_DEVICE_MEMORY);
    }
    d->taken_bytes += model_whole_pages(bytes);
    *ret_addr = record.addr;
    return model_end(&record, PLIM_OK);
}

plim_status model_free(plim_addr addr)
{
    plim_device_record record = { .call = PLIM_CALL_MEMORY_FREE, .ordinal = current, .addr = addr };
    if (addr - PLAIN_BASE < (uint64_t)device_count * PLAIN_BYTES) {
        record.ordinal = (int32_t)((addr - PLAIN_BASE) / PLAIN_BYTES);
    }
    device *const d = &devices[record.ordinal];
    plim_status status = model_begin(&record);
    model_range range;
    if (status == PLIM_OK) {
        if (model_ranges_remove(&d->plain, addr, &range)) {
            d->taken_bytes -= range.bytes;
            model_complete_all(record.ordinal); /* cudaFree waits for the device */
        } else {
            status = PLIM_INVALID_ARGUMENT;
        }
    }
    return model_end(&record, status);
}

plim_status model_reserve(uint64_t bytes, plim_addr *ret_addr)
{
    plim_device_record record = { .call = PLIM_CALL_RANGE_RESERVE,
                                  .ordinal = current,
                                  .bytes = bytes };
    device *const d = &devices[current];
    plim_status status = model_begin(&record);
    if (status == PLIM_OK && bytes % ORACLE_PAGE_BYTES != 0) {
        status = PLIM_INVALID_ARGUMENT;
    }
    if (status == PLIM_OK &&
        !model_ranges_place(&d->ranges, d->ranges_window, bytes, &record.addr)) {
        status = PLIM_OUT_OF_DEVICE_MEMORY;
    }
    if (status == PLIM_OK) {
        *ret_addr = record.addr;
    }
    return model_end(&record, status);
}

/* The device whose ranges an address lies in: that of the window. */
static int32_t range_device(plim_addr addr)
{
    for (int32_t i = 0; i < device_count; i++) {
        if (addr - devices[i].ranges_window.base < devices[i].ranges_window.bytes) {
            return i;
        }
    }
    return current;
}

plim_status model_unreserve(plim_addr addr, uint64_t bytes)
{
    plim_device_record record = {
        .call = PLIM_CALL_RANGE_FREE, .ordinal = range_device(addr), .addr = addr, .bytes = bytes
    };
    plim_status status = model_begin(&record);
    model_range range;
    if (status == PLIM_OK && !model_ranges_remove(&devices[record.ordinal].ranges, addr, &range)) {
        status = PLIM_INVALID_ARGUMENT;
    }
    return model_end(&record, status);
}

plim_status model_create(int32_t number, uint64_t bytes, plim_handle *ret_handle)
{
    plim_device_record record = { .call = PLIM_CALL_HANDLE_CREATE,
                                  .ordinal = number,
                                  .bytes = bytes };
    device *const d = &devices[number];
    plim_status status = model_begin(&record);
    if (status == PLIM_OK && bytes % ORACLE_PAGE_BYTES != 0) {
        status = PLIM_INVALID_ARGUMENT;
    }
    if (status == PLIM_OK && bytes > free_bytes_of(d)) {
        status = PLIM_OUT_OF_DEVICE_MEMORY;
    }
    if (status == PLIM_OK) {
        physical *const grown = realloc(physicals, (physical_count + 1) * sizeof(*physicals));
        if (grown == NULL) {
            abort();
        }
        physicals = grown;
        physicals[physical_count] = (physical){ bytes, 1, number };
        d->taken_bytes += bytes;
        record.handle = ++physical_count;
        *ret_handle = physical_count;
    }
    return model_end(&record, status);
}

static void drop(physical *memory)
{
    if (--memory->references == 0) {
        devices[memory->device].taken_bytes -= memory->bytes;
    }
}

static physical *physical_of(plim_handle handle)
{
    return handle > 0 && handle <= physical_count && physicals[handle - 1].references > 0
               ? &physicals[handle - 1]
               : NULL;
}

plim_status model_release(plim_handle handle)
{
    plim_device_record record = { .call = PLIM_CALL_HANDLE_RELEASE,
                                  .ordinal = current,
                                  .handle = handle };
    physical *const memory = physical_of(handle);
    if (memory == NULL) {
        return model_end(&record, PLIM_INVALID_ARGUMENT);
    }
    record.ordinal = memory->device;
    const plim_status status = model_begin(&record);
    if (status == PLIM_OK) {
        drop(memory);
    }
    return model_end(&record, status);
}

plim_status model_export(plim_handle handle)
{
    plim_device_record record = { .call = PLIM_CALL_HANDLE_EXPORT,
                                  .ordinal = current,
                                  .handle = handle };
    return model_end(&record, model_begin(&record));
}

plim_status model_map(plim_addr addr, uint64_t bytes, plim_handle handle)
{
    plim_device_record record = { .call = PLIM_CALL_MAP,
                                  .ordinal = range_device(addr),
                                  .addr = addr,
                                  .bytes = bytes,
                                  .handle = handle };
    physical *const memory = physical_of(handle);
    plim_status status = model_begin(&record);
    if (status == PLIM_OK) {
        const model_range mapping = { addr, bytes, handle };
        if (memory == NULL || memory->bytes != bytes || !model_ranges_insert(&mappings, mapping)) {
            status = PLIM_INVALID_ARGUMENT;
        } else {
            memory->references++;
        }
    }
    return model_end(&record, status);
}

plim_status model_unmap(plim_addr addr, uint64_t bytes)
{
    plim_device_record record = {
        .call = PLIM_CALL_UNMAP, .ordinal = range_device(addr), .addr = addr, .bytes = bytes
    };
    plim_status status = model_begin(&record);
    for (uint64_t at = addr; status == PLIM_OK && at < addr + bytes;) {
        model_range mapping;
        if (!model_ranges_remove(&mappings, at, &mapping)) {
            status = PLIM_INVALID_ARGUMENT;
            break;
        }
        drop(&physicals[mapping.handle - 1]);
        at += mapping.bytes;
    }
    return model_end(&record, status);
}

plim_status model_access(plim_addr addr, uint64_t bytes, int32_t accessor)
{
    plim_device_record record = { .call = PLIM_CALL_SET_ACCESS,
                                  .ordinal = range_device(addr),
                                  .addr = addr,
                                  .bytes = bytes,
                                  .accessor = accessor };
    return model_end(&record, model_begin(&record));
}
