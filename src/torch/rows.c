/*
 * rows.c - dicts that are records become rows: as the document is parsed, or when the root leads to
 * them.
 */
#include "torch/import.h"

#include "base/assert.h"
#include "base/error.h"

static plim_status on_shape(void *ctx, uint32_t number, const plim_value *pairs, size_t pair_count,
                            plim_pickle_row_class *ret_class, plim_error *err)
{
    _Static_assert(PLIM_SHAPE_PAIRS_MAX <= 64, "a bit of `unknown` for each pair");
    plim_import *import = ctx;
    PLIM_ASSERT(number == import->shapes.count);

    /* Most shapes are no records: they need no more than a NULL to keep the numbers in step. */
    plim_record_shape local;
    plim_record_shape_read(&local, pairs, pair_count);
    plim_record_shape *shape = NULL;
    if (local.kind != RECORD_NONE) {
        shape = plim_mem_alloc(import->mem, 1, sizeof *shape);
        if (shape == NULL) {
            return plim_fail_memory(err, "importing the snapshot");
        }
        *shape = local;
    }
    if (!PLIM_VEC_PUSH(import->mem, &import->shapes, shape)) {
        plim_mem_free(import->mem, shape, 1, sizeof *shape);
        return plim_fail_memory(err, "importing the snapshot");
    }
    *ret_class = (plim_pickle_row_class){ .number = (uint8_t)local.kind,
                                          .is_by_value = local.kind == RECORD_FRAME };
    return PLIM_OK;
}

static plim_record_import *importer_of(plim_record_kind kind)
{
    static plim_record_import *const importers[RECORD_KIND_COUNT] = {
        [RECORD_EVENT] = plim_import_event,           [RECORD_SEGMENT] = plim_import_segment,
        [RECORD_BLOCK] = plim_import_block,           [RECORD_FRAME] = plim_import_frame,
        [RECORD_ANNOTATION] = plim_import_annotation,
    };
    return importers[kind];
}

static plim_status on_row(void *ctx, uint32_t number, const plim_value *pairs, uint64_t *ret_id,
                          plim_error *err)
{
    plim_import *import = ctx;
    plim_record_shape *shape = import->shapes.items[number];
    shape->rows++;
    const plim_record row = { shape, pairs };
    return importer_of(shape->kind)(import, &row, ret_id, err);
}

void plim_import_sink(plim_import *import, plim_row_sink *ret_sink)
{
    *ret_sink = (plim_row_sink){ .ctx = import, .on_shape = on_shape, .on_row = on_row };
}

plim_status plim_import_row_of(plim_import *import, plim_value item, plim_record_kind kind,
                               uint64_t *ret_id, bool *ret_found, plim_error *err)
{
    uint8_t row_class = 0;
    *ret_found = plim_value_row_of(item, &row_class, ret_id) && row_class == kind;
    if (*ret_found) {
        return PLIM_OK;
    }
    plim_record_shape scratch;
    plim_record record;
    if (!plim_record_of_dict(item, &scratch, &record) || scratch.kind != kind) {
        plim_history_count_anomaly(import->history, PLIM_ANOMALY_BAD_FIELD, 1);
        return PLIM_OK;
    }
    *ret_found = true;
    PLIM_TRY(plim_import_count_unknown(import, &scratch, 1, err));
    return importer_of(kind)(import, &record, ret_id, err);
}
