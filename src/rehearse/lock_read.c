/*
 * lock_read.c - a lock from its text. A member that is missing or of another type is an error: a
 * lock that is half read would pass what it should stop.
 */
#include "rehearse/lock.h"

#include "base/error.h"
#include "base/memory.h"
#include "json/document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One text while it is read; the first failure stays. */
typedef struct reading {
    const char *name;
    plim_lock *lock;
    plim_status status;
    plim_error *err;
} reading;

static void fail_member(reading *self, const char *key, const char *wanted)
{
    if (self->status == PLIM_OK) {
        self->status = plim_fail(self->err, PLIM_CORRUPT,
                                 "%s: is no lock of this release: \"%s\" is not %s; write it anew "
                                 "with --lock",
                                 self->name, key, wanted);
    }
}

static void fail_memory(reading *self)
{
    if (self->status == PLIM_OK) {
        self->status = plim_fail_memory(self->err, "reading a lock");
    }
}

static uint64_t get_u64(reading *self, yajl_val object, const char *key, uint64_t most)
{
    yajl_val value = plim_json_get(object, key);
    const bool is_whole = value != NULL && value->type == yajl_t_number &&
                          (value->u.number.flags & YAJL_NUMBER_INT_VALID) != 0 &&
                          value->u.number.i >= 0 && (uint64_t)value->u.number.i <= most;
    if (!is_whole) {
        fail_member(self, key, "a whole number in its range");
        return 0;
    }
    return (uint64_t)value->u.number.i;
}

static const char *keep_string(reading *self, yajl_val value, const char *key)
{
    if (value == NULL || value->type != yajl_t_string) {
        fail_member(self, key, "a string");
        return "";
    }
    const char *const copy =
        plim_arena_copy(&self->lock->arena, value->u.string, strlen(value->u.string));
    if (copy == NULL) {
        fail_memory(self);
        return "";
    }
    return copy;
}

static const char *get_string(reading *self, yajl_val object, const char *key)
{
    return keep_string(self, plim_json_get(object, key), key);
}

/* Room for the items of an array; NULL where it is empty, or the reading has failed. */
static void *get_array(reading *self, yajl_val object, const char *key, size_t item_bytes,
                       yajl_val *ret_array, size_t *ret_count)
{
    *ret_array = plim_json_get(object, key);
    *ret_count = plim_json_length(*ret_array);
    if (*ret_array == NULL || (*ret_array)->type != yajl_t_array) {
        fail_member(self, key, "an array");
    }
    if (*ret_count == 0 || self->status != PLIM_OK) {
        *ret_count = 0;
        return NULL;
    }
    void *const items = plim_arena_alloc(&self->lock->arena, *ret_count * item_bytes);
    if (items == NULL) {
        fail_memory(self);
        *ret_count = 0;
    }
    return items;
}

static plim_lock_group read_group(reading *self, yajl_val object)
{
    plim_lock_group group = { .bytes = get_u64(self, object, "bytes", INT64_MAX),
                              .count = get_u64(self, object, "count", INT64_MAX) };
    yajl_val array = NULL;
    const char **const frames =
        get_array(self, object, "stack", sizeof *frames, &array, &group.frame_count);
    for (size_t i = 0; i < group.frame_count; i++) {
        frames[i] = keep_string(self, plim_json_item(array, i), "stack");
    }
    group.frames = frames;
    return group;
}

static plim_lock_peak read_peak(reading *self, yajl_val object)
{
    plim_lock_peak peak = {
        .rank = get_u64(self, object, "rank", INT64_MAX),
        .device = (uint32_t)get_u64(self, object, "device", INT32_MAX),
        .allocated_bytes = get_u64(self, object, "allocated_bytes", INT64_MAX),
        .reserved_bytes = get_u64(self, object, "reserved_bytes", INT64_MAX),
    };
    yajl_val array = NULL;
    plim_lock_phase *const phases =
        get_array(self, object, "phases", sizeof *phases, &array, &peak.phase_count);
    if (peak.phase_count > PLIM_LOCK_PHASES_MAX) {
        fail_member(self, "phases", "of 64 at most");
    }
    for (size_t i = 0; i < peak.phase_count && self->status == PLIM_OK; i++) {
        yajl_val item = plim_json_item(array, i);
        phases[i] = (plim_lock_phase){ .name = get_string(self, item, "name"),
                                       .allocated_bytes =
                                           get_u64(self, item, "allocated_bytes", INT64_MAX) };
    }
    peak.phases = phases;
    plim_lock_group *const groups =
        get_array(self, object, "groups", sizeof *groups, &array, &peak.group_count);
    for (size_t i = 0; i < peak.group_count && self->status == PLIM_OK; i++) {
        groups[i] = read_group(self, plim_json_item(array, i));
    }
    peak.groups = groups;
    return peak;
}

static plim_lock_entry read_entry(reading *self, yajl_val object)
{
    plim_lock_entry entry = {
        .command = get_string(self, object, "command"),
        .gpu = get_string(self, object, "gpu"),
        .device_count = get_u64(self, object, "devices", INT64_MAX),
        .capacity_bytes = get_u64(self, object, "capacity_bytes", INT64_MAX),
        .steps = get_u64(self, object, "steps", INT64_MAX),
        .world_size = get_u64(self, object, "world_size", INT64_MAX),
        .rank = get_u64(self, object, "rank", INT64_MAX),
        .settings = get_string(self, object, "conf"),
        .torch = get_string(self, object, "torch"),
        .device_use_bytes = get_u64(self, object, "device_use_bytes", INT64_MAX),
    };
    yajl_val array = NULL;
    plim_lock_peak *const peaks =
        get_array(self, object, "peaks", sizeof *peaks, &array, &entry.peak_count);
    for (size_t i = 0; i < entry.peak_count && self->status == PLIM_OK; i++) {
        peaks[i] = read_peak(self, plim_json_item(array, i));
        if (i > 0 && plim_lock_peak_order(&peaks[i - 1], &peaks[i]) >= 0) {
            fail_member(self, "peaks", "in the order of rank and device");
        }
    }
    entry.peaks = peaks;
    return entry;
}

static void read_document(reading *self, yajl_val root)
{
    const char *const schema = get_string(self, root, "schema");
    if (self->status == PLIM_OK && strcmp(schema, PLIM_LOCK_SCHEMA) != 0) {
        fail_member(self, "schema", "\"" PLIM_LOCK_SCHEMA "\"");
    }
    yajl_val array = NULL;
    size_t count = 0;
    plim_lock_entry *const entries =
        get_array(self, root, "entries", sizeof *entries, &array, &count);
    if (count > PLIM_LOCK_ENTRIES_MAX) {
        fail_member(self, "entries", "of 10,000 at most");
    }
    for (size_t i = 0; i < count && self->status == PLIM_OK; i++) {
        entries[i] = read_entry(self, plim_json_item(array, i));
        if (self->status == PLIM_OK) {
            self->status = plim_lock_put(self->lock, &entries[i], self->err);
        }
    }
}

static plim_status read_root(const char *name, yajl_val root, const plim_mem *mem, plim_lock **ret,
                             plim_error *err)
{
    reading self = { .name = name, .status = PLIM_OK, .err = err };
    PLIM_TRY(plim_lock_create(mem, &self.lock, err));
    read_document(&self, root);
    if (self.status != PLIM_OK) {
        plim_lock_destroy(self.lock);
        return self.status;
    }
    *ret = self.lock;
    return PLIM_OK;
}

plim_status plim_lock_read_text(const char *name, const char *text, const plim_mem *mem,
                                plim_lock **ret, plim_error *err)
{
    yajl_val root = NULL;
    PLIM_TRY(plim_json_read_text(name, text, &root, err));
    const plim_status status = read_root(name, root, mem, ret, err);
    yajl_tree_free(root);
    return status;
}

plim_status plim_lock_read(const char *path, const plim_mem *mem, plim_lock **ret, plim_error *err)
{
    yajl_val root = NULL;
    PLIM_TRY(plim_json_read_file(path, &root, err));
    const plim_status status = read_root(path, root, mem, ret, err);
    yajl_tree_free(root);
    return status;
}
