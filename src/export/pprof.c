/*
 * pprof.c - a history as a profile of pprof's: what is live at a moment and what was allocated in
 * all, by stack, stream, category, pool and device; or stacks by another weight, as the other
 * formats have them.
 */
#include "export/course.h"
#include "export/export.h"
#include "export/pprof_rows.h"
#include "export/pprof_tables.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

/* The values of a sample, in order. In the list: type, unit. */
#define LIVE_VALUE_LIST(X)      \
    X("alloc_objects", "count") \
    X("alloc_space", "bytes")   \
    X("inuse_objects", "count") \
    X("inuse_space", "bytes")

#define LIVE_VALUES 4
#define VALUES_MAX  4
#define LABELS_MAX  4
#define NAME_BYTES  64

typedef struct values {
    int64_t items[VALUES_MAX];
    size_t count;
} values;

typedef struct labels {
    Plim__Pprof__Label items[LABELS_MAX];
    Plim__Pprof__Label *list[LABELS_MAX];
    size_t count;
} labels;

/* Entries of the string table that labels share. */
typedef struct label_texts {
    int64_t device, stream, pool, category; /* keys */
    int64_t default_pool;
    int64_t categories[PLIM_CATEGORY_COUNT];
} label_texts;

typedef struct pprof_profile {
    plim_pprof tables;
    label_texts texts;
    int64_t device; /* the text of the device that is written */
    PLIM_VEC(uint64_t) locations;
} pprof_profile;

/* --- what a profile says of itself --- */

static void put_type(plim_pprof *out, const char *type, const char *unit, bool is_default)
{
    Plim__Pprof__ValueType row = PLIM__PPROF__VALUE_TYPE__INIT;
    Plim__Pprof__ValueType *list = &row;
    row.has_type = true;
    row.type = plim_pprof_add_text(out, type);
    row.has_unit = true;
    row.unit = plim_pprof_add_text(out, unit);
    Plim__Pprof__Profile part = PLIM__PPROF__PROFILE__INIT;
    part.n_sample_type = 1;
    part.sample_type = &list;
    part.has_default_sample_type = is_default;
    part.default_sample_type = row.type;
    plim_messages_put(&out->messages, &part.base);
}

static void put_types(plim_pprof *out, plim_export_what what)
{
#define VALUE_ROW(type, unit) { type, unit },
    static const char *const live[][2] = { LIVE_VALUE_LIST(VALUE_ROW) };
#undef VALUE_ROW
    if (what == PLIM_EXPORT_LIVE) {
        for (size_t i = 0; i < LIVE_VALUES; i++) {
            put_type(out, live[i][0], live[i][1], i + 1 == LIVE_VALUES);
        }
        return;
    }
    char name[NAME_BYTES];
    (void)snprintf(name, sizeof name, "%s_objects", plim_export_what_name(what));
    put_type(out, name, "count", false);
    (void)snprintf(name, sizeof name, "%s_space", plim_export_what_name(what));
    put_type(out, name, "bytes", true);
}

static void put_comment(plim_pprof *out, const char *text)
{
    int64_t entry = plim_pprof_add_text(out, text);
    Plim__Pprof__Profile part = PLIM__PPROF__PROFILE__INIT;
    part.n_comment = 1;
    part.comment = &entry;
    plim_messages_put(&out->messages, &part.base);
}

static void put_time(plim_pprof *out, const plim_device_history *device)
{
    Plim__Pprof__Profile part = PLIM__PPROF__PROFILE__INIT;
    part.has_time_nanos = true;
    part.time_nanos = plim_course_origin_us(device) * 1000;
    if (part.time_nanos > 0) {
        plim_messages_put(&out->messages, &part.base);
    }
}

/* --- labels --- */

static label_texts add_label_texts(plim_pprof *out)
{
    label_texts texts = { .device = plim_pprof_add_text(out, "device"),
                          .stream = plim_pprof_add_text(out, "stream"),
                          .pool = plim_pprof_add_text(out, "pool"),
                          .category = plim_pprof_add_text(out, "category"),
                          .default_pool = plim_pprof_add_text(out, "default") };
    for (int i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        texts.categories[i] = plim_pprof_add_text(out, plim_category_name((plim_category)i));
    }
    return texts;
}

static void add_label(labels *all, int64_t key, int64_t text)
{
    Plim__Pprof__Label *const label = &all->items[all->count];
    plim__pprof__label__init(label);
    label->has_key = true;
    label->key = key;
    label->has_str = true;
    label->str = text;
    all->list[all->count++] = label;
}

static void add_row_labels(pprof_profile *out, labels *all, const plim_pprof_key *key)
{
    char text[NAME_BYTES]; /* handles are pointers, small ones the driver's special streams */
    add_label(all, out->texts.category, out->texts.categories[key->category]);
    if (key->stream != PLIM_NONE) {
        const uint64_t stream = plim_history_stream(out->tables.history, key->stream);
        (void)snprintf(text, sizeof text, stream < 1024 ? "%" PRIu64 : "%#" PRIx64, stream);
        add_label(all, out->texts.stream, plim_pprof_add_text(&out->tables, text));
    }
    if (key->has_pool && plim_pool_is_default(key->pool)) {
        add_label(all, out->texts.pool, out->texts.default_pool);
    } else if (key->has_pool) {
        (void)snprintf(text, sizeof text, "(%" PRIu64 ",%" PRIu64 ")", key->pool.a, key->pool.b);
        add_label(all, out->texts.pool, plim_pprof_add_text(&out->tables, text));
    }
}

/* --- samples --- */

static void add_location(pprof_profile *out, uint64_t location)
{
    if (!PLIM_VEC_PUSH(out->tables.mem, &out->locations, location)) {
        out->tables.messages.status = PLIM_OUT_OF_HOST_MEMORY;
    }
}

/* The innermost frame first, an origin at the root. */
static void add_locations(pprof_profile *out, uint32_t stack, plim_weight_origin origin)
{
    const plim_stack frames = plim_history_stack(out->tables.history, stack);
    out->locations.count = 0;
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        add_location(out, plim_pprof_location(&out->tables, frames.frames[i]));
    }
    if (origin != PLIM_WEIGHT_RECORDED || frames.frame_count == 0) {
        add_location(out, plim_pprof_origin_location(&out->tables, origin));
    }
}

static void put_sample(pprof_profile *out, values *row, labels *all)
{
    add_label(all, out->texts.device, out->device);
    Plim__Pprof__Sample sample = PLIM__PPROF__SAMPLE__INIT;
    Plim__Pprof__Sample *list = &sample;
    sample.n_location_id = out->locations.count;
    sample.location_id = out->locations.items;
    sample.n_value = row->count;
    sample.value = row->items;
    sample.n_label = all->count;
    sample.label = all->list;
    Plim__Pprof__Profile part = PLIM__PPROF__PROFILE__INIT;
    part.n_sample = 1;
    part.sample = &list;
    plim_messages_put(&out->tables.messages, &part.base);
}

static void put_row(pprof_profile *out, const plim_pprof_row *row)
{
    values all_values = {
        .items = { plim_message_size(row->allocated_count),
                   plim_message_size(plim_total_bytes(row->allocated_bytes)),
                   plim_message_size(row->live_count),
                   plim_message_size(plim_total_bytes(row->live_bytes)) },
        .count = LIVE_VALUES,
    };
    labels all_labels = { .count = 0 };
    add_row_labels(out, &all_labels, &row->key);
    add_locations(out, row->key.stack, (plim_weight_origin)row->key.origin);
    put_sample(out, &all_values, &all_labels);
}

static plim_status put_live(pprof_profile *out, const plim_export_profile *profile, plim_error *err)
{
    plim_pprof_rows rows;
    char text[160];
    const plim_status status =
        plim_pprof_rows_init(&rows, profile->view, profile->part->event, err);
    for (size_t i = 0; status == PLIM_OK && i < rows.all.count; i++) {
        put_row(out, &rows.all.items[i]);
    }
    if (status == PLIM_OK) {
        (void)snprintf(
            text, sizeof text,
            "%s: alloc_objects and alloc_space count all allocations, also those that were "
            "live before the first event: %" PRIu64,
            plim_export_device_name(profile->part->device).text, rows.before_count);
        put_comment(&out->tables, text);
    }
    plim_pprof_rows_deinit(&rows);
    return status;
}

static void put_weights(pprof_profile *out, const plim_weights *weights)
{
    for (size_t i = 0; i < weights->count; i++) {
        const plim_weight *const row = &weights->rows[i];
        values all_values = {
            .items = { plim_message_size(row->count), plim_message_size(row->bytes) }, .count = 2
        };
        labels all_labels = { .count = 0 };
        add_locations(out, row->stack, row->origin);
        put_sample(out, &all_values, &all_labels);
    }
}

/* --- the profile --- */

static plim_status write_profile(pprof_profile *out, const plim_export_job *job, plim_error *err)
{
    plim_pprof *const tables = &out->tables;
    const plim_export_what what = job->options->what;
    put_types(tables, what);
    out->texts = add_label_texts(tables);
    if (job->options->title != NULL) {
        put_comment(tables, job->options->title);
    }
    if (job->profile_count > 0) {
        put_time(tables, job->profiles[0].view->device);
    }
    for (size_t i = 0; i < job->profile_count; i++) {
        const plim_export_profile *const profile = &job->profiles[i];
        put_comment(tables, profile->name);
        out->device =
            plim_pprof_add_text(tables, plim_export_device_name(profile->part->device).text);
        if (what == PLIM_EXPORT_LIVE) {
            PLIM_TRY(put_live(out, profile, err));
        } else {
            put_weights(out, &profile->weights);
        }
    }
    return plim_messages_status(&tables->messages, err);
}

plim_status plim_export_pprof(plim_export_job *job, plim_sink sink, plim_error *err)
{
    pprof_profile out = { .device = 0 };
    plim_status status = plim_pprof_init(&out.tables, job->history, sink, job->mem, err);
    if (status == PLIM_OK) {
        status = write_profile(&out, job, err);
    }
    PLIM_VEC_FREE(job->mem, &out.locations);
    plim_pprof_deinit(&out.tables);
    return status;
}
