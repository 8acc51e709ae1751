/*
 * lock_write.c - a lock as JSON, sorted: one program gives one text.
 */
#include "rehearse/lock.h"

#include "base/error.h"
#include "base/json_out.h"
#include "base/save_file.h"

static void write_group(plim_json *json, const plim_lock_group *group)
{
    plim_json_begin_object(json);
    plim_json_member_u64(json, "bytes", group->bytes);
    plim_json_member_u64(json, "count", group->count);
    plim_json_member_array(json, "stack");
    for (size_t i = 0; i < group->frame_count; i++) {
        plim_json_string(json, group->frames[i]);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

static void write_peak(plim_json *json, const plim_lock_peak *peak)
{
    plim_json_begin_object(json);
    plim_json_member_u64(json, "rank", peak->rank);
    plim_json_member_u64(json, "device", peak->device);
    plim_json_member_u64(json, "allocated_bytes", peak->allocated_bytes);
    plim_json_member_u64(json, "reserved_bytes", peak->reserved_bytes);
    plim_json_member_array(json, "phases");
    for (size_t i = 0; i < peak->phase_count; i++) {
        plim_json_begin_object(json);
        plim_json_member_string(json, "name", peak->phases[i].name);
        plim_json_member_u64(json, "allocated_bytes", peak->phases[i].allocated_bytes);
        plim_json_end_object(json);
    }
    plim_json_end_array(json);
    plim_json_member_array(json, "groups");
    for (size_t i = 0; i < peak->group_count; i++) {
        write_group(json, &peak->groups[i]);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

static void write_entry(plim_json *json, const plim_lock_entry *entry)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "command", entry->command);
    plim_json_member_string(json, "gpu", entry->gpu);
    plim_json_member_u64(json, "devices", entry->device_count);
    plim_json_member_u64(json, "capacity_bytes", entry->capacity_bytes);
    plim_json_member_u64(json, "steps", entry->steps);
    plim_json_member_u64(json, "world_size", entry->world_size);
    plim_json_member_u64(json, "rank", entry->rank);
    plim_json_member_string(json, "conf", entry->settings);
    plim_json_member_string(json, "torch", entry->torch);
    plim_json_member_u64(json, "device_use_bytes", entry->device_use_bytes);
    plim_json_member_array(json, "peaks");
    for (size_t i = 0; i < entry->peak_count; i++) {
        write_peak(json, &entry->peaks[i]);
    }
    plim_json_end_array(json);
    plim_json_end_object(json);
}

plim_status plim_lock_write(const plim_lock *lock, const char *path, plim_error *err)
{
    plim_save_file file;
    PLIM_TRY(plim_save_file_open(&file, path, lock->mem, err));
    plim_json json;
    plim_json_init(&json, plim_save_file_sink(&file), PLIM_JSON_PRETTY);
    plim_json_begin_object(&json);
    plim_json_member_string(&json, "schema", PLIM_LOCK_SCHEMA);
    plim_json_member_array(&json, "entries");
    for (size_t i = 0; i < lock->entries.count; i++) {
        write_entry(&json, lock->entries.items[i]);
    }
    plim_json_end_array(&json);
    plim_json_end_object(&json);
    const plim_status status = plim_json_finish(&json) ? PLIM_OK : PLIM_IO;
    return plim_save_file_close(&file, status, err);
}
