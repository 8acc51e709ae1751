/*
 * process_file.c - what an agent wrote of its process. See process_file.h.
 */
#include "rehearse/process_file.h"

#include "base/error.h"
#include "rehearse/folder.h"
#include "json/document.h"

#include <string.h>
#include <unistd.h>

#define FORMAT_VERSION 1

static const char *string_or(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

static bool read_phases(yajl_val device, plim_json_copier *copier, plim_rehearsed_device *ret)
{
    yajl_val array = plim_json_get(device, "phases");
    ret->phase_count = plim_json_length(array);
    plim_rehearsed_phase *phases =
        plim_arena_alloc(copier->arena, ret->phase_count * sizeof(*phases));
    for (size_t i = 0; phases != NULL && i < ret->phase_count; i++) {
        yajl_val item = plim_json_item(array, i);
        phases[i] = (plim_rehearsed_phase){
            .name = string_or(plim_json_get_string(item, "phase", copier), ""),
            .peak_allocated_bytes = plim_json_get_u64(item, "peak_allocated_bytes"),
            .peak_reserved_bytes = plim_json_get_u64(item, "peak_reserved_bytes"),
        };
    }
    ret->phases = phases;
    return phases != NULL;
}

static bool read_steps(yajl_val device, plim_json_copier *copier, plim_rehearsed_device *ret)
{
    yajl_val array = plim_json_get(device, "steps");
    ret->step_count = plim_json_length(array);
    plim_rehearsed_step *steps = plim_arena_alloc(copier->arena, ret->step_count * sizeof(*steps));
    for (size_t i = 0; steps != NULL && i < ret->step_count; i++) {
        yajl_val item = plim_json_item(array, i);
        steps[i] = (plim_rehearsed_step){
            .step = plim_json_get_u64(item, "step"),
            .peak_allocated_bytes = plim_json_get_u64(item, "peak_allocated_bytes"),
            .peak_reserved_bytes = plim_json_get_u64(item, "peak_reserved_bytes"),
            .end_allocated_bytes = plim_json_get_u64(item, "end_allocated_bytes"),
        };
    }
    ret->steps = steps;
    return steps != NULL;
}

static bool read_device(yajl_val item, plim_json_copier *copier, plim_rehearsed_device *ret)
{
    *ret = (plim_rehearsed_device){
        .device = (uint32_t)plim_json_get_u64(item, "device"),
        .allocated_bytes = plim_json_get_u64(item, "allocated_bytes"),
        .reserved_bytes = plim_json_get_u64(item, "reserved_bytes"),
        .peak_allocated_bytes = plim_json_get_u64(item, "peak_allocated_bytes"),
        .peak_reserved_bytes = plim_json_get_u64(item, "peak_reserved_bytes"),
        .peak_active_bytes = plim_json_get_u64(item, "peak_active_bytes"),
        .peak_requested_bytes = plim_json_get_u64(item, "peak_requested_bytes"),
        .peak_step = plim_json_get_u64(item, "peak_step"),
        .peak_phase = string_or(plim_json_get_string(item, "peak_phase", copier), ""),
        .alloc_retries = plim_json_get_u64(item, "alloc_retries"),
        .oom_count = plim_json_get_u64(item, "ooms"),
    };
    return read_phases(item, copier, ret) && read_steps(item, copier, ret);
}

static bool read_devices(yajl_val root, plim_json_copier *copier, plim_rehearsed_process *ret)
{
    yajl_val array = plim_json_get(root, "devices");
    ret->device_count = plim_json_length(array);
    plim_rehearsed_device *devices =
        plim_arena_alloc(copier->arena, ret->device_count * sizeof(*devices));
    bool is_kept = devices != NULL;
    for (size_t i = 0; is_kept && i < ret->device_count; i++) {
        is_kept = read_device(plim_json_item(array, i), copier, &devices[i]);
    }
    ret->devices = devices;
    return is_kept;
}

/* A figure that is not there is 0, and so is one of nothing but what is free. */
static plim_failed_request read_request(yajl_val item)
{
    plim_failed_request request =
        plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH);
    static const struct {
        plim_figure_id id;
        const char *key;
    } figures[] = {
        { PLIM_FIGURE_REQUESTED, "requested_bytes" },
        { PLIM_FIGURE_TOTAL, "device_total_bytes" },
        { PLIM_FIGURE_ALLOCATED, "allocated_bytes" },
        { PLIM_FIGURE_RESERVED, "reserved_bytes" },
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        const uint64_t bytes = plim_json_get_u64(item, figures[i].key);
        if (bytes > 0) {
            request.figures[figures[i].id].bytes = bytes;
        }
    }
    request.figures[PLIM_FIGURE_FREE].bytes = plim_json_get_u64(item, "device_free_bytes");
    request.subject.device = (int32_t)plim_json_get_u64(item, "device");
    return request;
}

static bool read_ooms(yajl_val root, plim_json_copier *copier, plim_rehearsed_process *ret)
{
    yajl_val array = plim_json_get(root, "ooms");
    ret->oom_count = plim_json_length(array);
    plim_rehearsed_oom *ooms = plim_arena_alloc(copier->arena, ret->oom_count * sizeof(*ooms));
    bool is_kept = ooms != NULL;
    for (size_t i = 0; is_kept && i < ret->oom_count; i++) {
        yajl_val item = plim_json_item(array, i);
        ooms[i] = (plim_rehearsed_oom){
            .request = read_request(item),
            .step = plim_json_get_u64(item, "step"),
            .phase = string_or(plim_json_get_string(item, "phase", copier), ""),
            .text = plim_json_get_string(item, "text", copier),
        };
        is_kept =
            plim_json_get_strings(item, "stack", copier, &ooms[i].stack, &ooms[i].stack_count);
    }
    ret->ooms = ooms;
    return is_kept;
}

/* The total is at least the number of those in full. */
static bool read_oom_places(yajl_val root, plim_json_copier *copier, plim_rehearsed_process *ret)
{
    yajl_val array = plim_json_get(root, "oom_places");
    const uint64_t total = plim_json_get_u64(root, "oom_count");
    ret->oom_total = total > ret->oom_count ? total : ret->oom_count;
    ret->oom_place_count = plim_json_length(array);
    plim_rehearsed_oom_place *places =
        plim_arena_alloc(copier->arena, ret->oom_place_count * sizeof(*places));
    for (size_t i = 0; places != NULL && i < ret->oom_place_count; i++) {
        yajl_val item = plim_json_item(array, i);
        places[i] = (plim_rehearsed_oom_place){
            .where = string_or(plim_json_get_string(item, "where", copier), "?"),
            .count = plim_json_get_u64(item, "count"),
        };
    }
    ret->oom_places = places;
    return places != NULL;
}

static bool read_reads(yajl_val root, plim_json_copier *copier, plim_rehearsed_process *ret)
{
    yajl_val array = plim_json_get(root, "value_reads");
    ret->read_count = plim_json_length(array);
    plim_rehearsed_read *reads = plim_arena_alloc(copier->arena, ret->read_count * sizeof(*reads));
    bool is_kept = reads != NULL;
    for (size_t i = 0; is_kept && i < ret->read_count; i++) {
        yajl_val item = plim_json_item(array, i);
        reads[i] = (plim_rehearsed_read){
            .where = string_or(plim_json_get_string(item, "where", copier), "?"),
            .what = string_or(plim_json_get_string(item, "what", copier), ""),
            .why = plim_json_get_string(item, "why", copier),
            .count = plim_json_get_u64(item, "count"),
        };
        is_kept =
            plim_json_get_strings(item, "stack", copier, &reads[i].stack, &reads[i].stack_count);
    }
    ret->reads = reads;
    return is_kept;
}

static bool read_facts(yajl_val root, plim_json_copier *copier, plim_rehearsed_process *ret)
{
    yajl_val array = plim_json_get(root, "facts");
    ret->fact_count = plim_json_length(array);
    plim_rehearsed_fact *facts = plim_arena_alloc(copier->arena, ret->fact_count * sizeof(*facts));
    for (size_t i = 0; facts != NULL && i < ret->fact_count; i++) {
        yajl_val item = plim_json_item(array, i);
        facts[i] = (plim_rehearsed_fact){
            .kind = string_or(plim_json_get_string(item, "kind", copier), ""),
            .name = string_or(plim_json_get_string(item, "name", copier), "?"),
            .value = string_or(plim_json_get_string(item, "value", copier), ""),
            .effect = plim_json_get_string(item, "effect", copier),
            .evidence = plim_json_get_string(item, "evidence", copier),
        };
    }
    ret->facts = facts;
    return facts != NULL;
}

/* The snapshot's path, if the file names one and it is there. */
static const char *find_snapshot(yajl_val root, const char *folder, plim_json_copier *copier)
{
    char path[PLIM_PATH_BYTES];
    const char *name = plim_json_get_string(root, "snapshot", copier);
    if (name == NULL || strchr(name, '/') != NULL ||
        plim_folder_join(path, sizeof(path), folder, name, NULL) != PLIM_OK ||
        access(path, R_OK) != 0) {
        return NULL;
    }
    const char *copy = plim_arena_copy(copier->arena, path, strlen(path));
    copier->is_out_of_memory = copier->is_out_of_memory || copy == NULL;
    return copy;
}

static bool read_operations(yajl_val work, plim_json_copier *copier, plim_rehearsed_work *ret)
{
    yajl_val array = plim_json_get(work, "operations");
    ret->operation_count = plim_json_length(array);
    plim_rehearsed_operation *operations =
        plim_arena_alloc(copier->arena, ret->operation_count * sizeof(*operations));
    for (size_t i = 0; operations != NULL && i < ret->operation_count; i++) {
        yajl_val item = plim_json_item(array, i);
        operations[i] = (plim_rehearsed_operation){
            .name = string_or(plim_json_get_string(item, "name", copier), "?"),
            .precision = string_or(plim_json_get_string(item, "precision", copier), ""),
            .flops = (double)plim_json_get_u64(item, "flops"),
            .bytes = (double)plim_json_get_u64(item, "bytes"),
            .count = plim_json_get_u64(item, "count"),
        };
    }
    ret->operations = operations;
    return operations != NULL;
}

/* There where the agent was to count. */
static bool read_work(yajl_val root, plim_json_copier *copier, plim_rehearsed_process *ret)
{
    yajl_val item = plim_json_get(root, "work");
    if (plim_json_get(item, "operations") == NULL) {
        return true;
    }
    plim_rehearsed_work *work = plim_arena_alloc(copier->arena, sizeof(*work));
    if (work == NULL) {
        return false;
    }
    *work = (plim_rehearsed_work){
        .why_unknown = plim_json_get_string(item, "why_unknown", copier),
        .why_partial = plim_json_get_string(item, "why_partial", copier),
        .step = plim_json_get_u64(item, "step"),
        .launches = plim_json_get_u64(item, "launches"),
        .to_host_bytes = plim_json_get_u64(item, "to_host_bytes"),
        .to_device_bytes = plim_json_get_u64(item, "to_device_bytes"),
        .aside_to_host_bytes = plim_json_get_u64(item, "aside_to_host_bytes"),
        .aside_to_device_bytes = plim_json_get_u64(item, "aside_to_device_bytes"),
        .host_bytes = plim_json_get_u64(item, "host_bytes"),
        .driver_calls = plim_json_get_u64(item, "driver_calls"),
    };
    ret->work = work;
    return read_operations(item, copier, work);
}

static bool read_process(yajl_val root, const char *folder, plim_json_copier *copier,
                         plim_rehearsed_process *ret)
{
    yajl_val seconds = plim_json_get(root, "seconds");
    const uint64_t world_size = plim_json_get_u64(root, "world_size");
    *ret = (plim_rehearsed_process){
        .pid = (int64_t)plim_json_get_u64(root, "pid"),
        .rank = plim_json_get_u64(root, "rank"),
        .world_size = world_size > 0 ? world_size : 1,
        .torch = string_or(plim_json_get_string(root, "torch", copier), ""),
        .ended = string_or(plim_json_get_string(root, "ended", copier), "running"),
        .stop_reason = plim_json_get_string(root, "stop_reason", copier),
        .stop_text = plim_json_get_string(root, "stop_text", copier),
        .exception = plim_json_get_string(root, "exception", copier),
        .no_gpu_text = plim_json_get_string(root, "no_gpu_text", copier),
        .steps = plim_json_get_u64(root, "steps"),
        .import_seconds = plim_json_get_double(seconds, "import"),
        .total_seconds = plim_json_get_double(seconds, "total"),
        .settings = string_or(plim_json_get_string(root, "conf", copier), ""),
        .snapshot_path = find_snapshot(root, folder, copier),
    };
    return read_devices(root, copier, ret) && read_ooms(root, copier, ret) &&
           read_oom_places(root, copier, ret) && read_reads(root, copier, ret) &&
           read_facts(root, copier, ret) && read_work(root, copier, ret) &&
           plim_json_get_strings(root, "warnings", copier, &ret->warnings, &ret->warning_count);
}

plim_status plim_process_file_read(const char *folder, const char *name, plim_arena *arena,
                                   plim_rehearsed_process *ret, plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(path, sizeof(path), folder, name, err));
    yajl_val root = NULL;
    PLIM_TRY(plim_json_read_file(path, &root, err));
    plim_json_copier copier = { .arena = arena };
    plim_status status = PLIM_OK;
    if (plim_json_get_u64(root, "version") != FORMAT_VERSION) {
        status = plim_fail(err, PLIM_UNSUPPORTED, "%s: is not of version %d", path, FORMAT_VERSION);
    } else if (!read_process(root, folder, &copier, ret) || copier.is_out_of_memory) {
        status = plim_fail_memory(err, "reading what a process left");
    }
    yajl_tree_free(root);
    return status;
}
