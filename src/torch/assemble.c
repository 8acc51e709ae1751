/*
 * assemble.c - from the root of a snapshot to the devices of a history.
 *
 * The rows are in their tables; the root says whose they are. A trace is nearly always one run
 * of rows, and then the device's events are a slice of the history's table and nothing moves.
 *
 * Shared lists could make a small file stand for very many records (n lists that name the same n
 * blocks), so what devices get is bounded by the bytes of the document.
 */
#include "torch/import.h"

#include "base/error.h"

#include <stdlib.h>

static plim_status no_memory(plim_error *err)
{
    return plim_fail_memory(err, "importing the snapshot");
}

static plim_status count_records(plim_import *import, uint64_t count, plim_error *err)
{
    import->record_count += count;
    if (import->record_count > import->input_bytes) {
        return plim_fail(err, PLIM_LIMIT,
                         "the file names more than its %llu bytes can hold by repeating itself: "
                         "not a memory snapshot",
                         (unsigned long long)import->input_bytes);
    }
    return PLIM_OK;
}

static bool is_run_of(plim_value list, plim_record_kind kind, plim_range *ret_run)
{
    const uint64_t count = plim_value_count(list);
    uint8_t row_class = 0;
    if (count == 0 || !plim_value_object(list)->as.array->is_run ||
        !plim_value_row_of(plim_value_item(list, 0), &row_class, &ret_run->first) ||
        row_class != kind) {
        return false;
    }
    ret_run->count = count;
    return true;
}

static plim_status collect_events(plim_import *import, plim_value trace, plim_range *ret_events,
                                  plim_error *err)
{
    const uint64_t count = plim_value_count(trace);
    PLIM_TRY(count_records(import, count, err));
    if (is_run_of(trace, RECORD_EVENT, ret_events)) {
        return PLIM_OK;
    }
    /* Piecemeal: rows that are shared or out of order are copied one by one. Importing
     * dicts pushes events, so this list's must not begin before the first was imported. */
    plim_history *history = import->history;
    PLIM_VEC(uint64_t) ids = { 0 };
    plim_status status = PLIM_OK;
    for (uint64_t i = 0; i < count && status == PLIM_OK; i++) {
        uint64_t id = 0;
        bool found = false;
        status =
            plim_import_row_of(import, plim_value_item(trace, i), RECORD_EVENT, &id, &found, err);
        if (status == PLIM_OK && found && !PLIM_VEC_PUSH(import->mem, &ids, id)) {
            status = no_memory(err);
        }
    }
    ret_events->first = plim_history_pushed_events(history);
    ret_events->count = ids.count;
    for (size_t i = 0; i < ids.count && status == PLIM_OK; i++) {
        const plim_event event = plim_history_pushed_event(history, ids.items[i]);
        status = plim_history_push_event(history, &event, err);
    }
    PLIM_VEC_FREE(import->mem, &ids);
    return status;
}

/* A segment with its device and where it stood in the file. */
typedef struct segment_ref {
    int32_t device;
    plim_addr addr;
    uint64_t id;
    uint64_t order;
} segment_ref;

typedef PLIM_VEC(segment_ref) segment_refs;

static int compare_refs(const void *a, const void *b)
{
    const segment_ref *left = a;
    const segment_ref *right = b;
    if (left->device != right->device) {
        return left->device < right->device ? -1 : 1;
    }
    if (left->addr != right->addr) {
        return left->addr < right->addr ? -1 : 1;
    }
    return left->order < right->order ? -1 : 1;
}

static plim_status collect_segments(plim_import *import, plim_value list, segment_refs *refs,
                                    plim_error *err)
{
    const uint64_t count = plim_value_count(list);
    PLIM_TRY(count_records(import, count, err));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = 0;
        bool found = false;
        PLIM_TRY(
            plim_import_row_of(import, plim_value_item(list, i), RECORD_SEGMENT, &id, &found, err));
        if (!found) {
            continue;
        }
        const raw_segment *raw = &import->segments.items[id];
        const segment_ref ref = { raw->device, raw->segment.addr, id, refs->count };
        if (!PLIM_VEC_PUSH(import->mem, refs, ref)) {
            return no_memory(err);
        }
    }
    if (refs->count > 0) {
        qsort(refs->items, refs->count, sizeof *refs->items, compare_refs);
    }
    return PLIM_OK;
}

static int compare_blocks(const void *a, const void *b)
{
    const plim_block *left = a;
    const plim_block *right = b;
    return (left->addr > right->addr) - (left->addr < right->addr);
}

typedef PLIM_VEC(plim_block) block_list;

/* The blocks of a segment by address, which the oldest releases leave to be added up. */
static plim_status collect_blocks(plim_import *import, const raw_segment *raw, block_list *blocks,
                                  plim_error *err)
{
    const uint64_t count = plim_value_count(raw->blocks);
    PLIM_TRY(count_records(import, count, err));
    blocks->count = 0;
    plim_addr next = raw->segment.addr;
    bool is_sorted = true;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = 0;
        bool found = false;
        PLIM_TRY(plim_import_row_of(import, plim_value_item(raw->blocks, i), RECORD_BLOCK, &id,
                                    &found, err));
        if (!found) {
            continue;
        }
        plim_block block = import->blocks.items[id].block;
        if (!import->blocks.items[id].has_addr) {
            block.addr = next;
        }
        is_sorted = is_sorted &&
                    (blocks->count == 0 || blocks->items[blocks->count - 1].addr <= block.addr);
        next = block.addr + block.bytes;
        if (!PLIM_VEC_PUSH(import->mem, blocks, block)) {
            return no_memory(err);
        }
    }
    if (!is_sorted) {
        qsort(blocks->items, blocks->count, sizeof *blocks->items, compare_blocks);
    }
    return PLIM_OK;
}

/* Everything a device gets; the counters are those of the history's tables. */
typedef struct device_assembly {
    plim_import *import;
    segment_refs refs;
    size_t ref_next;
    uint64_t segments_pushed;
    uint64_t blocks_pushed;
    block_list scratch;
    plim_device_ranges settings; /* the settings' facts about every device's ring buffer */
} device_assembly;

static plim_status push_segment(device_assembly *assembly, const plim_device_ranges *device,
                                const segment_ref *ref, plim_error *err)
{
    plim_import *import = assembly->import;
    raw_segment raw = import->segments.items[ref->id];
    PLIM_TRY(collect_blocks(import, &raw, &assembly->scratch, err));
    raw.segment.block_first = assembly->blocks_pushed - device->blocks.first;
    raw.segment.block_count = assembly->scratch.count;
    PLIM_TRY(plim_history_push_segment(import->history, &raw.segment, err));
    assembly->segments_pushed++;
    for (size_t i = 0; i < assembly->scratch.count; i++) {
        PLIM_TRY(plim_history_push_block(import->history, &assembly->scratch.items[i], err));
    }
    assembly->blocks_pushed += assembly->scratch.count;
    return PLIM_OK;
}

/* A device with the segments that are next in order, which are its own, and `trace`. */
static plim_status add_device(device_assembly *assembly, int32_t device, plim_value trace,
                              plim_error *err)
{
    plim_device_ranges ranges = assembly->settings;
    ranges.device = device;
    ranges.segments.first = assembly->segments_pushed;
    ranges.blocks.first = assembly->blocks_pushed;
    PLIM_TRY(collect_events(assembly->import, trace, &ranges.events, err));
    while (assembly->ref_next < assembly->refs.count &&
           assembly->refs.items[assembly->ref_next].device == device) {
        PLIM_TRY(push_segment(assembly, &ranges, &assembly->refs.items[assembly->ref_next], err));
        assembly->ref_next++;
    }
    ranges.segments.count = assembly->segments_pushed - ranges.segments.first;
    ranges.blocks.count = assembly->blocks_pushed - ranges.blocks.first;
    return plim_history_add_device(assembly->import->history, &ranges, err);
}

static plim_status too_many_devices(plim_error *err)
{
    return plim_fail(err, PLIM_LIMIT, "more than %d devices: not a memory snapshot",
                     PLIM_SNAPSHOT_DEVICES_MAX);
}

/* Devices are those of traces (by place) and those that segments name. */
static plim_status add_devices(device_assembly *assembly, plim_value traces, plim_error *err)
{
    const uint64_t trace_count = plim_value_count(traces);
    if (trace_count > PLIM_SNAPSHOT_DEVICES_MAX) {
        return too_many_devices(err);
    }
    size_t added = 0;
    uint64_t next_trace = 0;
    while (next_trace < trace_count || assembly->ref_next < assembly->refs.count) {
        if (++added > PLIM_SNAPSHOT_DEVICES_MAX) {
            return too_many_devices(err);
        }
        int64_t device = (int64_t)next_trace;
        if (assembly->ref_next < assembly->refs.count &&
            (next_trace >= trace_count ||
             assembly->refs.items[assembly->ref_next].device < device)) {
            device = assembly->refs.items[assembly->ref_next].device;
        }
        const bool has_trace = next_trace < trace_count && device == (int64_t)next_trace;
        const plim_value trace =
            has_trace ? plim_value_item(traces, next_trace) : PLIM_VALUE_ABSENT;
        next_trace += has_trace;
        PLIM_TRY(add_device(assembly, (int32_t)device, trace, err));
    }
    return PLIM_OK;
}

/* Pinned host memory (2.14): the same records; traces are one list, or one of lists. */
static plim_status add_host(device_assembly *assembly, plim_value root, plim_error *err)
{
    const plim_value segments = plim_value_get(root, "host_segments");
    plim_value trace = plim_value_get(root, "host_traces");
    if (plim_value_count(segments) == 0 && plim_value_count(trace) == 0) {
        return PLIM_OK;
    }
    assembly->import->facts.has_host = true;
    if (plim_value_count(trace) > 0 &&
        (plim_value_kind(plim_value_item(trace, 0)) == PLIM_KIND_LIST ||
         plim_value_kind(plim_value_item(trace, 0)) == PLIM_KIND_TUPLE)) {
        trace = plim_value_item(trace, 0);
    }
    assembly->refs.count = 0;
    assembly->ref_next = 0;
    PLIM_TRY(collect_segments(assembly->import, segments, &assembly->refs, err));
    for (size_t i = 0; i < assembly->refs.count; i++) {
        assembly->refs.items[i].device = PLIM_HOST_DEVICE;
    }
    return add_device(assembly, PLIM_HOST_DEVICE, trace, err);
}

/* PyTorch says of the ring buffer what it knows among the settings (pytorch#179276). */
static plim_device_ranges ring_settings(plim_value settings)
{
    plim_device_ranges ranges = { .overflowed = PLIM_UNKNOWN };
    bool overflowed = false;
    if (plim_value_bool(plim_value_get(settings, "trace_alloc_overflowed"), &overflowed)) {
        ranges.overflowed = overflowed ? PLIM_YES : PLIM_NO;
    }
    plim_value_u64(plim_value_get(settings, "trace_alloc_max_entries"), &ranges.capacity_events);
    return ranges;
}

static plim_status add_annotations(plim_import *import, plim_value list, plim_error *err)
{
    const uint64_t count = plim_value_count(list);
    PLIM_TRY(count_records(import, count, err));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = 0;
        bool found = false;
        PLIM_TRY(plim_import_row_of(import, plim_value_item(list, i), RECORD_ANNOTATION, &id,
                                    &found, err));
        if (found) {
            PLIM_TRY(
                plim_history_push_annotation(import->history, &import->annotations.items[id], err));
        }
    }
    return PLIM_OK;
}

static plim_status warn_of_unknown_keys(plim_import *import, plim_value root, plim_error *err)
{
    static const char *const known[] = { "segments",           "device_traces",
                                         "allocator_settings", "external_annotations",
                                         "host_segments",      "host_traces" };
    const uint64_t count = plim_value_pairs(root);
    for (uint64_t i = 0; i < count; i++) {
        const plim_value key = plim_value_pair_key(root, i);
        bool is_known = false;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
            is_known |= plim_value_is_string(key, known[k]);
        }
        const char *text = "(no text)";
        size_t bytes = 0;
        if (!is_known) {
            (void)plim_value_string(key, &text, &bytes);
            plim_history_count_anomaly(import->history, PLIM_ANOMALY_UNKNOWN_FIELD, 1);
            PLIM_TRY(plim_history_warn(import->history, err,
                                       "the snapshot has a member \"%.80s\" that this version "
                                       "does not know; it is left out",
                                       text));
        }
    }
    return PLIM_OK;
}

static bool is_snapshot(plim_value root)
{
    if (plim_value_kind(root) == PLIM_KIND_LIST) {
        uint8_t row_class = 0;
        uint64_t id = 0;
        plim_record_shape scratch;
        plim_record record;
        return plim_value_count(root) == 0 ||
               (plim_value_row_of(plim_value_item(root, 0), &row_class, &id) &&
                row_class == RECORD_SEGMENT) ||
               (plim_record_of_dict(plim_value_item(root, 0), &scratch, &record) &&
                scratch.kind == RECORD_SEGMENT);
    }
    return plim_value_get(root, "segments").bits != 0 ||
           plim_value_get(root, "device_traces").bits != 0;
}

static plim_status not_a_snapshot(plim_value root, plim_error *err)
{
    if (plim_value_get(root, "traceEvents").bits != 0) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "this is a profiler trace, not a memory snapshot; write one with "
                         "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")");
    }
    return plim_fail(err, PLIM_UNSUPPORTED,
                     "this holds %s without \"segments\" or \"device_traces\": not a memory "
                     "snapshot as torch.cuda.memory._dump_snapshot() writes it",
                     plim_kind_text(plim_value_kind(root)));
}

static plim_status fill(device_assembly *assembly, plim_value root, plim_error *err)
{
    plim_import *import = assembly->import;
    const bool is_list = plim_value_kind(root) == PLIM_KIND_LIST;
    import->facts.bare_list = is_list;
    const plim_value settings = plim_value_get(root, "allocator_settings");
    const plim_value annotations = plim_value_get(root, "external_annotations");
    import->facts.has_annotations = annotations.bits != 0;
    PLIM_TRY(plim_import_settings(import, settings, err));
    assembly->settings = ring_settings(settings);
    PLIM_TRY(collect_segments(import, is_list ? root : plim_value_get(root, "segments"),
                              &assembly->refs, err));
    PLIM_TRY(add_devices(assembly, plim_value_get(root, "device_traces"), err));
    assembly->settings = (plim_device_ranges){ 0 };
    PLIM_TRY(add_host(assembly, root, err));
    PLIM_TRY(add_annotations(import, annotations, err));
    PLIM_TRY(warn_of_unknown_keys(import, root, err));
    return plim_import_report_unknown_fields(import, err);
}

plim_status plim_import_assemble(plim_import *import, plim_value root, plim_error *err)
{
    if (!is_snapshot(root)) {
        return not_a_snapshot(root, err);
    }
    device_assembly assembly = { .import = import };
    const plim_status status = fill(&assembly, root, err);
    PLIM_VEC_FREE(import->mem, &assembly.refs);
    PLIM_VEC_FREE(import->mem, &assembly.scratch);
    if (status == PLIM_OK) {
        plim_history_seal(import->history);
    }
    return status;
}
