/*
 * findings.c - what a diagnosis finds, worked out when the table is first read.
 */
#include "query/columns.h"
#include "query/values.h"

#include "base/error.h"

#define FINDING_COLUMNS(X)                                                                \
    X(DEVICE, "device", INTEGER, "PyTorch's index")                                       \
    X(FINDING, "finding", INTEGER, "its number on the device: the one that decides is 0") \
    X(ID, "id", TEXT, "leak.loss_kept, …")                                                \
    X(VERDICT, "verdict", TEXT, "that it speaks for: leak, fragmented, spike, …")         \
    X(CAUSE, "cause", TEXT, "its stable name")                                            \
    X(MEANING, "meaning", TEXT, "the cause in words")                                     \
    X(DECIDES, "decides", INTEGER, "1: it is bad enough to be the verdict")               \
    X(SEVERITY, "severity", TEXT, "note, warning, failure")                               \
    X(CERTAINTY, "certainty", TEXT, "possible, likely, certain")                          \
    X(CONFIDENCE, "confidence", REAL, "0 to 1")                                           \
    X(BYTES, "bytes", INTEGER, "at stake: held in vain, lost, or above the rest")         \
    X(GROWTH, "growth_bytes_per_step", REAL, "NULL: it does not grow")                    \
    X(FIRST_STEP, "first_step", INTEGER, "that it is seen in, or NULL")                   \
    X(LAST_STEP, "last_step", INTEGER, "that it is seen in, or NULL")                     \
    X(STACK, "stack", INTEGER, "that requested what is kept, or NULL")                    \
    X(FUNCTION, "function", TEXT, "of the line that speaks for it")                       \
    X(FILE, "file", TEXT, "of that line")                                                 \
    X(LINE, "line", INTEGER, "its number")

enum { FINDING_COLUMNS(PLIM_COLUMN_ENUM) FINDING_COLUMN_COUNT };

static const plim_query_column columns[] = { FINDING_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t few(const plim_query *query, size_t part)
{
    (void)query;
    (void)part;
    return 4;
}

static plim_status prepare(plim_query *query, size_t part, plim_error *err)
{
    (void)part;
    return plim_query_need_diagnosis(query, err);
}

static uint64_t count(const plim_query *query, size_t part)
{
    const plim_device_diagnosis *const device = plim_query_diagnosed(query, part);
    return device != NULL ? device->finding_count : 0;
}

static void put_figure(sqlite3_context *out, plim_query *query, const plim_diagnosis_finding *one,
                       int column)
{
    switch (column) {
    case BYTES:
        plim_put_u64(out, one->bytes);
        break;
    case GROWTH:
        if (one->growth_bytes_per_step > 0) {
            sqlite3_result_double(out, one->growth_bytes_per_step);
        }
        break;
    case FIRST_STEP:
        plim_put_step(out, one->first_step);
        break;
    case LAST_STEP:
        plim_put_step(out, one->last_step);
        break;
    case STACK:
        plim_put_index(out, one->root.stack);
        break;
    default:
        plim_put_frame(out, query, one->root.frame, (plim_label_part)(column - FUNCTION));
        break;
    }
}

static void put_column(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_diagnosis_finding *const one =
        &plim_query_diagnosed(cursor->query, cursor->part)->findings[cursor->row];
    switch (column) {
    case DEVICE:
        plim_put_i64(out, plim_cursor_device(cursor)->history->device);
        break;
    case FINDING:
        plim_put_u64(out, cursor->row);
        break;
    case ID:
        plim_put_word(out, one->finding.id);
        break;
    case VERDICT:
        plim_put_word(out, plim_verdict_name(one->kind));
        break;
    case CAUSE:
        plim_put_word(out, plim_cause_name(one->cause));
        break;
    case MEANING:
        plim_put_word(out, plim_cause_text(one->cause));
        break;
    case DECIDES:
        plim_put_bool(out, one->decides);
        break;
    case SEVERITY:
        plim_put_word(out, plim_severity_name(one->finding.severity));
        break;
    case CERTAINTY:
        plim_put_word(out, plim_certainty_name(one->finding.certainty));
        break;
    case CONFIDENCE:
        sqlite3_result_double(out, one->confidence);
        break;
    default:
        put_figure(out, cursor->query, one, column);
        break;
    }
}

const plim_relation plim_relation_findings = {
    .schema = { .name = "findings",
                .meaning = "what plimsoll diagnose finds, without error texts beside the file",
                PLIM_COLUMNS(columns) },
    .is_by_device = true,
    .device = DEVICE,
    .number = FINDING,
    .parameter = PLIM_NO_COLUMN,
    .keys = { PLIM_NO_KEY },
    .estimate = few,
    .prepare = prepare,
    .rows = count,
    .column = put_column,
};
