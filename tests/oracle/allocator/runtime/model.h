/*
 * model.h - GPUs of addresses and counters, under the CUDA runtime that libc10_cuda.so finds here.
 *
 *   libc10_cuda.so ──► cudart.c, driver.c ──► memory.c, streams.c ──► a report of each call
 *
 * Placement is that of plimsoll's `sim` device, so that both hand out the same addresses: first
 * fit at the lowest address in whole 2 MiB pages, plain memory of device i from
 * 0x7a0000000000 + i * 256 GiB, ranges from 0x700000000000, of device i 7 TiB * i lower. One
 * thread.
 */
#ifndef ORACLE_RUNTIME_MODEL_H
#define ORACLE_RUNTIME_MODEL_H

#include "plimsoll/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ORACLE_DEVICES_MAX 8
#define ORACLE_PAGE_BYTES  (UINT64_C(2) << 20)

static inline uint64_t model_whole_pages(uint64_t bytes)
{
    return (bytes + ORACLE_PAGE_BYTES - 1) / ORACLE_PAGE_BYTES * ORACLE_PAGE_BYTES;
}

/* --- for the recorder --- */

typedef void model_report(void *ctx, const plim_device_record *record);

void model_device(int32_t device, uint64_t total_bytes, uint64_t used_bytes); /* 0, 1, … in order */
void model_set_report(model_report *report, void *ctx);
void model_set_used(int32_t device, uint64_t used_bytes);
void model_set_manual(bool is_manual); /* events complete when the script says so */
void model_complete(int32_t device, plim_stream stream);
void model_complete_all(int32_t device);
void model_set_capturing(int32_t device, plim_stream stream, bool is_capturing);
void model_set_current(int32_t device);
/* One call, the nth from now on; `status` as the call's end. nth 0 forgets it. */
void model_fail(int32_t device, plim_device_call call, uint64_t nth, plim_status status);

/* --- for cudart.c and driver.c --- */

int32_t model_count(void);
int32_t model_current(void);
bool model_is_capturing(int32_t device, plim_stream stream);

plim_status model_info(int32_t device, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes);
uint64_t model_total(int32_t device);                          /* without a report: a property */
plim_status model_malloc(uint64_t bytes, plim_addr *ret_addr); /* on the current device */
plim_status model_free(plim_addr addr);
plim_status model_reserve(uint64_t bytes, plim_addr *ret_addr);
plim_status model_unreserve(plim_addr addr, uint64_t bytes);
plim_status model_create(int32_t device, uint64_t bytes, plim_handle *ret_handle);
plim_status model_release(plim_handle handle);
plim_status model_export(plim_handle handle);
plim_status model_map(plim_addr addr, uint64_t bytes, plim_handle handle);
plim_status model_unmap(plim_addr addr, uint64_t bytes);
plim_status model_access(plim_addr addr, uint64_t bytes, int32_t accessor);
plim_status model_stream_sync(plim_stream stream);
plim_status model_device_sync(void);
plim_status model_event_create(plim_fence *ret_event);
plim_status model_event_destroy(plim_fence event);
plim_status model_event_record(plim_fence event, plim_stream stream);
plim_status model_event_query(plim_fence event, bool *ret_complete);
plim_status model_event_sync(plim_fence event);

/* --- between memory.c and streams.c --- */

/* What a call starts with: PLIM_OK, or the status the script wants it to end with. */
plim_status model_begin(plim_device_record *record);
/* What it ends with: the report. Returns `status`. */
plim_status model_end(plim_device_record *record, plim_status status);

#ifdef __cplusplus
}
#endif

#endif
