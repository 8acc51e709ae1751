/*
 * documents.c - process.json and the documents of dumps. See run.h; their members are in
 * docs/formats/run-folder.md. A member that is missing or of another type is not known.
 */
#include "base/error.h"
#include "run/run.h"

#include <string.h>
#include <unistd.h>

static const char *string_or(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

static bool is_schema(yajl_val root, const char *schema)
{
    yajl_val value = plim_json_get(root, "schema");
    return value != NULL && value->type == yajl_t_string && strcmp(value->u.string, schema) == 0;
}

static bool is_true(yajl_val object, const char *key)
{
    yajl_val value = plim_json_get(object, key);
    return value != NULL && value->type == yajl_t_true;
}

/* A whole number, which may be 0. */
static bool has_number(yajl_val object, const char *key)
{
    yajl_val value = plim_json_get(object, key);
    return value != NULL && value->type == yajl_t_number &&
           (value->u.number.flags & YAJL_NUMBER_INT_VALID) != 0;
}

static int64_t signed_number(yajl_val object, const char *key)
{
    return has_number(object, key) ? plim_json_get(object, key)->u.number.i : 0;
}

/* ---- devices --------------------------------------------------------------------------------- */

static bool read_users(yajl_val device, plim_json_copier *copier, plim_ran_device *ret)
{
    yajl_val array = plim_json_get(device, "processes");
    const size_t count = plim_json_length(array);
    plim_ran_user *users = plim_arena_alloc(copier->arena, count * sizeof(*users));
    for (size_t i = 0; users != NULL && i < count; i++) {
        yajl_val item = plim_json_item(array, i);
        users[i] = (plim_ran_user){
            .pid = (int64_t)plim_json_get_u64(item, "pid"),
            .name = plim_json_get_string(item, "name", copier),
            .bytes = plim_json_get_u64(item, "bytes"),
        };
    }
    ret->has_users = array != NULL && array->type == yajl_t_array;
    ret->users = users;
    ret->user_count = count;
    return users != NULL;
}

static bool read_devices(yajl_val root, plim_json_copier *copier, const plim_ran_device **ret,
                         size_t *ret_count)
{
    yajl_val array = plim_json_get(root, "devices");
    const size_t count = plim_json_length(array);
    plim_ran_device *devices = plim_arena_alloc(copier->arena, count * sizeof(*devices));
    bool is_kept = devices != NULL;
    for (size_t i = 0; is_kept && i < count; i++) {
        yajl_val item = plim_json_item(array, i);
        devices[i] = (plim_ran_device){
            .device = (uint32_t)plim_json_get_u64(item, "device"),
            .name = plim_json_get_string(item, "name", copier),
            .total_bytes = plim_json_get_u64(item, "total_bytes"),
            .has_free = has_number(item, "free_bytes"),
            .free_bytes = plim_json_get_u64(item, "free_bytes"),
            .allocated_bytes = plim_json_get_u64(item, "allocated_bytes"),
            .reserved_bytes = plim_json_get_u64(item, "reserved_bytes"),
            .active_bytes = plim_json_get_u64(item, "active_bytes"),
            .inactive_split_bytes = plim_json_get_u64(item, "inactive_split_bytes"),
            .peak_allocated_bytes = plim_json_get_u64(item, "peak_allocated_bytes"),
            .peak_reserved_bytes = plim_json_get_u64(item, "peak_reserved_bytes"),
            .retries = plim_json_get_u64(item, "retries"),
            .ooms = plim_json_get_u64(item, "ooms"),
        };
        is_kept = read_users(item, copier, &devices[i]);
    }
    *ret = devices;
    *ret_count = count;
    return is_kept;
}

/* ---- a dump ---------------------------------------------------------------------------------- */

/* A figure that is not there is not known. */
static plim_failed_request read_failure(yajl_val item)
{
    static const struct {
        plim_figure_id id;
        const char *key;
    } figures[] = {
        { PLIM_FIGURE_REQUESTED, "requested_bytes" }, { PLIM_FIGURE_TOTAL, "device_total_bytes" },
        { PLIM_FIGURE_FREE, "device_free_bytes" },    { PLIM_FIGURE_ALLOCATED, "allocated_bytes" },
        { PLIM_FIGURE_RESERVED, "reserved_bytes" },
    };
    plim_failed_request request =
        plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        if (has_number(item, figures[i].key)) {
            request.figures[figures[i].id].bytes = plim_json_get_u64(item, figures[i].key);
        }
    }
    request.subject.device = (int32_t)plim_json_get_u64(item, "device");
    return request;
}

/* The path of a file that the document names, if it is there. */
static const char *find_file(yajl_val root, const char *key, const char *folder,
                             plim_json_copier *copier)
{
    char path[PLIM_PATH_BYTES];
    const char *const name = plim_json_get_string(root, key, copier);
    if (name == NULL || strchr(name, '/') != NULL ||
        plim_folder_join(path, sizeof(path), folder, name, NULL) != PLIM_OK ||
        access(path, R_OK) != 0) {
        return NULL;
    }
    const char *const copy = plim_arena_copy(copier->arena, path, strlen(path));
    copier->is_out_of_memory = copier->is_out_of_memory || copy == NULL;
    return copy;
}

static void read_generations(yajl_val object, const char *key, uint64_t ret[PLIM_RAN_GENERATIONS])
{
    yajl_val array = plim_json_get(object, key);
    for (size_t i = 0; i < PLIM_RAN_GENERATIONS; i++) {
        yajl_val item = plim_json_item(array, i);
        const bool is_whole = item != NULL && item->type == yajl_t_number &&
                              (item->u.number.flags & YAJL_NUMBER_INT_VALID) != 0;
        ret[i] = is_whole && item->u.number.i > 0 ? (uint64_t)item->u.number.i : 0;
    }
}

static plim_ran_collector read_collector(yajl_val object)
{
    plim_ran_collector collector = {
        .is_known = object != NULL && object->type == yajl_t_object,
        .is_enabled = is_true(object, "is_enabled"),
        .frozen = plim_json_get_u64(object, "frozen"),
    };
    read_generations(object, "thresholds", collector.thresholds);
    read_generations(object, "counts", collector.counts);
    read_generations(object, "collections", collector.collections);
    return collector;
}

static bool read_dump(yajl_val root, const char *folder, plim_json_copier *copier,
                      plim_ran_dump *ret)
{
    yajl_val failure = plim_json_get(root, "failure");
    yajl_val host = plim_json_get(root, "host");
    *ret = (plim_ran_dump){
        .number = plim_json_get_u64(root, "number"),
        .reason = string_or(plim_json_get_string(root, "reason", copier), ""),
        .time = plim_json_get_double(root, "time"),
        .seconds = plim_json_get_double(root, "seconds"),
        .step = plim_json_get_u64(root, "step"),
        .error = plim_json_get_string(root, "error", copier),
        .where = plim_json_get_string(root, "where", copier),
        .ends_program = is_true(root, "ends_program"),
        .has_failure = failure != NULL && failure->type == yajl_t_object,
        .failure = read_failure(failure),
        .snapshot_path = find_file(root, "snapshot", folder, copier),
        .why_no_snapshot = plim_json_get_string(root, "why_no_snapshot", copier),
        .holders_path = find_file(root, "holders", folder, copier),
        .why_no_holders = plim_json_get_string(root, "why_no_holders", copier),
        .why_no_history = plim_json_get_string(root, "why_no_history", copier),
        .settings = plim_json_get_string(root, "settings", copier),
        .collector = read_collector(plim_json_get(root, "collector")),
        .host_resident_bytes = plim_json_get_u64(host, "resident_bytes"),
        .host_available_bytes = plim_json_get_u64(host, "available_bytes"),
    };
    return plim_json_get_strings(root, "stack", copier, &ret->stack, &ret->stack_count) &&
           read_devices(root, copier, &ret->devices, &ret->device_count);
}

plim_status plim_run_dump_take(yajl_val root, const char *folder, const char *name,
                               plim_arena *arena, plim_ran_dump *ret, plim_error *err)
{
    plim_json_copier copier = { .arena = arena };
    if (!is_schema(root, "run-dump/1")) {
        return plim_fail(err, PLIM_UNSUPPORTED, "%s/%s: is not of schema run-dump/1", folder, name);
    }
    const bool is_kept = read_dump(root, folder, &copier, ret);
    ret->name = plim_arena_copy(arena, name, strcspn(name, "."));
    return is_kept && !copier.is_out_of_memory && ret->name != NULL
               ? PLIM_OK
               : plim_fail_memory(err, "reading the account of a process");
}

plim_status plim_run_dump_read(const char *folder, const char *name, plim_arena *arena,
                               plim_ran_dump *ret, plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    yajl_val root = NULL;
    PLIM_TRY(plim_folder_join(path, sizeof(path), folder, name, err));
    PLIM_TRY(plim_json_read_file(path, &root, err));
    const plim_status status = plim_run_dump_take(root, folder, name, arena, ret, err);
    yajl_tree_free(root);
    return status;
}

/* ---- a process ------------------------------------------------------------------------------- */

static bool read_ooms(yajl_val root, plim_json_copier *copier, plim_ran_process *ret)
{
    yajl_val array = plim_json_get(root, "ooms");
    const size_t count = plim_json_length(array);
    plim_rehearsed_oom_place *places = plim_arena_alloc(copier->arena, count * sizeof(*places));
    for (size_t i = 0; places != NULL && i < count; i++) {
        yajl_val item = plim_json_item(array, i);
        places[i] = (plim_rehearsed_oom_place){
            .where = string_or(plim_json_get_string(item, "where", copier), "?"),
            .count = plim_json_get_u64(item, "count"),
        };
    }
    ret->ooms = places;
    ret->oom_place_count = count;
    return places != NULL;
}

static bool read_growth(yajl_val root, plim_json_copier *copier, plim_ran_process *ret)
{
    yajl_val array = plim_json_get(root, "growth");
    const size_t count = plim_json_length(array);
    plim_ran_growth *growth = plim_arena_alloc(copier->arena, count * sizeof(*growth));
    for (size_t i = 0; growth != NULL && i < count; i++) {
        yajl_val item = plim_json_item(array, i);
        growth[i] = (plim_ran_growth){
            .device = (uint32_t)plim_json_get_u64(item, "device"),
            .bytes_per_step = plim_json_get_double(item, "bytes_per_step"),
            .since_step = plim_json_get_u64(item, "since_step"),
            .where = plim_json_get_string(item, "where", copier),
            .full_at_step = plim_json_get_u64(item, "full_at_step"),
        };
    }
    ret->growth = growth;
    ret->growth_count = count;
    return growth != NULL;
}

static bool read_process(yajl_val root, plim_json_copier *copier, plim_ran_process *ret)
{
    const uint64_t world_size = plim_json_get_u64(root, "world_size");
    *ret = (plim_ran_process){
        .pid = signed_number(root, "pid"),
        .parent_pid = signed_number(root, "parent_pid"),
        .rank = plim_json_get_u64(root, "rank"),
        .local_rank = plim_json_get_u64(root, "local_rank"),
        .world_size = world_size > 0 ? world_size : 1,
        .python = plim_json_get_string(root, "python", copier),
        .torch = plim_json_get_string(root, "torch", copier),
        .cuda = plim_json_get_string(root, "cuda", copier),
        .driver = plim_json_get_string(root, "driver", copier),
        .started = plim_json_get_double(root, "started"),
        .written = plim_json_get_double(root, "written"),
        .ended = string_or(plim_json_get_string(root, "ended", copier), "running"),
        .has_exit_status = has_number(root, "exit_status"),
        .exit_status = signed_number(root, "exit_status"),
        .exception = plim_json_get_string(root, "exception", copier),
        .stopped_on = plim_json_get_string(root, "stopped_on", copier),
        .record = string_or(plim_json_get_string(root, "record", copier), ""),
        .events = plim_json_get_u64(root, "events"),
        .history_is_programs = is_true(root, "history_is_programs"),
        .limit_bytes = plim_json_get_u64(root, "limit_bytes"),
        .settings_requested = plim_json_get_string(root, "settings_requested", copier),
        .settings = plim_json_get_string(root, "settings", copier),
        .steps = plim_json_get_u64(root, "steps"),
        .oom_count = plim_json_get_u64(root, "oom_count"),
        .agent_seconds = plim_json_get_double(root, "agent_seconds"),
    };
    return plim_json_get_strings(root, "argv", copier, &ret->argv, &ret->argv_count) &&
           plim_json_get_strings(root, "warnings", copier, &ret->warnings, &ret->warning_count) &&
           read_devices(root, copier, &ret->devices, &ret->device_count) &&
           read_ooms(root, copier, ret) && read_growth(root, copier, ret);
}

plim_status plim_run_process_take(yajl_val root, const char *path, plim_arena *arena,
                                  plim_ran_process *ret, plim_error *err)
{
    plim_json_copier copier = { .arena = arena };
    if (!is_schema(root, "run-process/1")) {
        return plim_fail(err, PLIM_UNSUPPORTED, "%s: is not of schema run-process/1", path);
    }
    return read_process(root, &copier, ret) && !copier.is_out_of_memory
               ? PLIM_OK
               : plim_fail_memory(err, "reading the account of a process");
}

plim_status plim_run_process_read(const char *path, plim_arena *arena, plim_ran_process *ret,
                                  plim_error *err)
{
    yajl_val root = NULL;
    PLIM_TRY(plim_json_read_file(path, &root, err));
    const plim_status status = plim_run_process_take(root, path, arena, ret, err);
    yajl_tree_free(root);
    return status;
}
