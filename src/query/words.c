/*
 * words.c - small tables: categories, settings, annotations, anomalies, warnings, the source.
 */
#include "query/columns.h"
#include "query/values.h"

#include "base/error.h"

/* A table of one part, whose rows are cheap. */
#define SMALL_TABLE(title, words, list, many, put)                                       \
    {                                                                                    \
        .schema = { .name = (title), .meaning = (words), PLIM_COLUMNS(list) },           \
        .device = PLIM_NO_COLUMN, .number = PLIM_NO_COLUMN, .parameter = PLIM_NO_COLUMN, \
        .keys = { PLIM_NO_KEY }, .estimate = (many), .rows = (many), .column = (put)     \
    }

/* --- categories --- */

#define CATEGORY_COLUMNS(X)                     \
    X(C_CATEGORY, "category", TEXT, "its name") \
    X(C_MEANING, "meaning", TEXT, "the purpose of such memory")

enum { CATEGORY_COLUMNS(PLIM_COLUMN_ENUM) CATEGORY_COLUMN_COUNT };

static const plim_query_column category_columns[] = { CATEGORY_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t count_categories(const plim_query *query, size_t part)
{
    (void)query;
    (void)part;
    return PLIM_CATEGORY_COUNT;
}

static void put_category(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_category category = (plim_category)cursor->row;
    plim_put_word(out, column == C_CATEGORY ? plim_category_name(category)
                                            : plim_category_text(category));
}

const plim_relation plim_relation_categories = SMALL_TABLE(
    "categories", "purposes of memory", category_columns, count_categories, put_category);

/* --- settings --- */

#define SETTING_COLUMNS(X)                                                           \
    X(S_GROUP, "setting_group", TEXT, "of settings that belong to a table, or NULL") \
    X(S_NAME, "name", TEXT, "as the recording has it")                               \
    X(S_KIND, "kind", TEXT, "none, integer, real, boolean, text")                    \
    X(S_VALUE, "value", TEXT, "the value, of its own type")

enum { SETTING_COLUMNS(PLIM_COLUMN_ENUM) SETTING_COLUMN_COUNT };

static const plim_query_column setting_columns[] = { SETTING_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t count_settings(const plim_query *query, size_t part)
{
    uint64_t count = 0;
    (void)part;
    (void)plim_history_settings(query->history, &count);
    return count;
}

static void put_value(sqlite3_context *out, const plim_history *history,
                      const plim_setting *setting)
{
    switch (setting->kind) {
    case PLIM_SETTING_NONE:
        break;
    case PLIM_SETTING_INTEGER:
        plim_put_i64(out, setting->value.integer);
        break;
    case PLIM_SETTING_REAL:
        sqlite3_result_double(out, setting->value.real);
        break;
    case PLIM_SETTING_BOOLEAN:
        plim_put_bool(out, setting->value.boolean);
        break;
    case PLIM_SETTING_TEXT:
        plim_put_string(out, history, setting->value.text);
        break;
    }
}

static void put_setting(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    static const char *const kinds[] = { [PLIM_SETTING_NONE] = "none",
                                         [PLIM_SETTING_INTEGER] = "integer",
                                         [PLIM_SETTING_REAL] = "real",
                                         [PLIM_SETTING_BOOLEAN] = "boolean",
                                         [PLIM_SETTING_TEXT] = "text" };
    const plim_history *const history = cursor->query->history;
    uint64_t count = 0;
    const plim_setting *const setting = &plim_history_settings(history, &count)[cursor->row];
    switch (column) {
    case S_GROUP:
        plim_put_string(out, history, setting->group);
        break;
    case S_NAME:
        plim_put_string(out, history, setting->name);
        break;
    case S_KIND:
        plim_put_word(out, kinds[setting->kind]);
        break;
    default:
        put_value(out, history, setting);
        break;
    }
}

const plim_relation plim_relation_settings =
    SMALL_TABLE("settings", "the allocator's settings, as recorded", setting_columns,
                count_settings, put_setting);

/* --- annotations --- */

#define ANNOTATION_COLUMNS(X)                                                   \
    X(A_NAME, "name", TEXT, "of a span that the program named")                 \
    X(A_DEVICE, "device", INTEGER, "PyTorch's index")                           \
    X(A_TIME, "time_us", INTEGER, "microseconds since the Unix epoch, or NULL") \
    X(A_STAGE, "stage", TEXT, "START or END of the span")

enum { ANNOTATION_COLUMNS(PLIM_COLUMN_ENUM) ANNOTATION_COLUMN_COUNT };

static const plim_query_column annotation_columns[] = { ANNOTATION_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t count_annotations(const plim_query *query, size_t part)
{
    uint64_t count = 0;
    (void)part;
    (void)plim_history_annotations(query->history, &count);
    return count;
}

static void put_annotation(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_history *const history = cursor->query->history;
    uint64_t count = 0;
    const plim_annotation *const one = &plim_history_annotations(history, &count)[cursor->row];
    switch (column) {
    case A_NAME:
        plim_put_string(out, history, one->name);
        break;
    case A_DEVICE:
        plim_put_i64(out, one->device);
        break;
    case A_TIME:
        plim_put_time(out, one->time_us);
        break;
    default:
        plim_put_word(out, one->is_start ? "START" : "END");
        break;
    }
}

const plim_relation plim_relation_annotations =
    SMALL_TABLE("annotations", "spans that the program named (record_function)", annotation_columns,
                count_annotations, put_annotation);

/* --- anomalies --- */

#define ANOMALY_COLUMNS(X)                            \
    X(N_NAME, "name", TEXT, "stable")                 \
    X(N_COUNT, "count", INTEGER, "times it was seen") \
    X(N_MEANING, "meaning", TEXT, "in words")

enum { ANOMALY_COLUMNS(PLIM_COLUMN_ENUM) ANOMALY_COLUMN_COUNT };

static const plim_query_column anomaly_columns[] = { ANOMALY_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t count_anomalies(const plim_query *query, size_t part)
{
    (void)query;
    (void)part;
    return PLIM_ANOMALY_COUNT;
}

static plim_status prepare_anomalies(plim_query *query, size_t part, plim_error *err)
{
    (void)part;
    return plim_query_need_inspection(query, err);
}

static bool holds_anomaly(plim_relation_cursor *cursor)
{
    return plim_inspection_anomaly_count(cursor->query->inspection, (plim_anomaly)cursor->row) > 0;
}

static void put_anomaly(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_anomaly anomaly = (plim_anomaly)cursor->row;
    if (column == N_COUNT) {
        plim_put_u64(out, plim_inspection_anomaly_count(cursor->query->inspection, anomaly));
        return;
    }
    plim_put_word(out, column == N_NAME ? plim_anomaly_name(anomaly) : plim_anomaly_text(anomaly));
}

const plim_relation plim_relation_anomalies = {
    .schema = { .name = "anomalies",
                .meaning = "contradictions in the recording, those that were seen",
                PLIM_COLUMNS(anomaly_columns) },
    .device = PLIM_NO_COLUMN,
    .number = PLIM_NO_COLUMN,
    .parameter = PLIM_NO_COLUMN,
    .keys = { PLIM_NO_KEY },
    .estimate = count_anomalies,
    .prepare = prepare_anomalies,
    .rows = count_anomalies,
    .holds = holds_anomaly,
    .column = put_anomaly,
};

/* --- warnings --- */

#define WARNING_COLUMNS(X) X(W_TEXT, "text", TEXT, "one line for a person")

enum { WARNING_COLUMNS(PLIM_COLUMN_ENUM) WARNING_COLUMN_COUNT };

static const plim_query_column warning_columns[] = { WARNING_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t count_warnings(const plim_query *query, size_t part)
{
    (void)part;
    return plim_history_warning_count(query->history);
}

static void put_warning(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    (void)column;
    plim_put_word(out, plim_history_warning(cursor->query->history, (size_t)cursor->row));
}

const plim_relation plim_relation_warnings =
    SMALL_TABLE("warnings", "what the reader of the file has to say", warning_columns,
                count_warnings, put_warning);

/* --- the source --- */

#define SOURCE_COLUMNS(X)                                                                 \
    X(O_FORMAT, "format", TEXT, "pickle, json, plim, …")                                  \
    X(O_COMPRESSION, "compression", TEXT, "gzip, zstd, xz, bzip2, UTF-16, or NULL")       \
    X(O_GENERATION, "generation", TEXT, "which releases write such files; NULL: unclear") \
    X(O_PROTOCOL, "pickle_protocol", INTEGER, "or NULL")                                  \
    X(O_BYTES, "bytes", INTEGER, "after decompression")

enum { SOURCE_COLUMNS(PLIM_COLUMN_ENUM) SOURCE_COLUMN_COUNT };

static const plim_query_column source_columns[] = { SOURCE_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t one_source(const plim_query *query, size_t part)
{
    (void)query;
    (void)part;
    return 1;
}

static void put_source(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    const plim_source source = plim_history_source(cursor->query->history);
    const bool is_clear = source.generation != NULL && source.generation[0] != '\0';
    switch (column) {
    case O_FORMAT:
        plim_put_word(out, source.format);
        break;
    case O_COMPRESSION:
        plim_put_word(out, source.compression);
        break;
    case O_GENERATION:
        plim_put_word(out, is_clear ? source.generation : NULL);
        break;
    case O_PROTOCOL:
        plim_put_known(out, source.pickle_protocol >= 0, (uint64_t)source.pickle_protocol);
        break;
    default:
        plim_put_u64(out, source.bytes);
        break;
    }
}

const plim_relation plim_relation_source =
    SMALL_TABLE("source", "the file", source_columns, one_source, put_source);
