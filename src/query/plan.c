/*
 * plan.c - the plans of relations: narrowing by device, by number, by a key, and the moment.
 *
 * A plan is a number of bits, and values follow in the order of these bits. A value that is not a
 * number of the right kind narrows nothing: SQLite compares again.
 */
#include "query/plan.h"

#include <math.h>
#include <string.h>

enum {
    PLAN_DEVICE = 1,
    PLAN_NUMBER = 2,
    PLAN_LOW = 4,
    PLAN_HIGH = 8,
    PLAN_KEY = 16,       /* rows of one value of a key */
    PLAN_PARAMETER = 32, /* the last that takes a value */
    PLAN_LOW_IS_ABOVE = 64,
    PLAN_HIGH_IS_BELOW = 128,
    PLAN_KEY_ORDER = 256, /* all rows, by value of a key */
    PLAN_KEY_SHIFT = 16,  /* which key */
};

#define VALUE_KINDS 6
#define UNLIKELY    1e18 /* the cost of a plan that must not be taken */
#define RANGE_SHARE 4.0  /* of the rows: one in so many lies in a range */

/* A plan while it is chosen. */
typedef struct choosing {
    const plim_query *query;
    const plim_relation *relation;
    sqlite3_index_info *info;
    int plan;
    int constraints[VALUE_KINDS]; /* of each kind of value: its index + 1, or 0 */
    int key;
} choosing;

/* --- which comparisons narrow --- */

static int find_key(const plim_relation *relation, int column)
{
    for (int i = 0; i < PLIM_RELATION_KEYS && relation->by_key != NULL; i++) {
        if (relation->keys[i].column == PLIM_NO_COLUMN) {
            break;
        }
        if (relation->keys[i].column == column) {
            return i;
        }
    }
    return -1;
}

static void want(choosing *chosen, int bit, int constraint)
{
    int kind = 0;
    while (bit >> kind != 1) {
        kind++;
    }
    if (chosen->constraints[kind] == 0) {
        chosen->constraints[kind] = constraint + 1;
        chosen->plan |= bit;
    }
}

static void consider_equal(choosing *chosen, int index, int column)
{
    const plim_relation *const relation = chosen->relation;
    if (column == relation->device) {
        want(chosen, PLAN_DEVICE, index);
    } else if (column == relation->number) {
        want(chosen, PLAN_NUMBER, index);
    } else if (column == relation->parameter) {
        want(chosen, PLAN_PARAMETER, index);
    } else if (find_key(relation, column) >= 0 && (chosen->plan & PLAN_KEY) == 0) {
        chosen->key = find_key(relation, column);
        want(chosen, PLAN_KEY, index);
    }
}

static void consider_range(choosing *chosen, int index, unsigned char compare)
{
    const bool is_low =
        compare == SQLITE_INDEX_CONSTRAINT_GT || compare == SQLITE_INDEX_CONSTRAINT_GE;
    const bool is_high =
        compare == SQLITE_INDEX_CONSTRAINT_LT || compare == SQLITE_INDEX_CONSTRAINT_LE;
    if (is_low && (chosen->plan & PLAN_LOW) == 0) {
        chosen->plan |= compare == SQLITE_INDEX_CONSTRAINT_GT ? PLAN_LOW_IS_ABOVE : 0;
        want(chosen, PLAN_LOW, index);
    } else if (is_high && (chosen->plan & PLAN_HIGH) == 0) {
        chosen->plan |= compare == SQLITE_INDEX_CONSTRAINT_LT ? PLAN_HIGH_IS_BELOW : 0;
        want(chosen, PLAN_HIGH, index);
    }
}

/* False: the moment depends on a table that comes later, so that this order will not do. */
static bool consider_all(choosing *chosen)
{
    for (int i = 0; i < chosen->info->nConstraint; i++) {
        const struct sqlite3_index_constraint *const one = &chosen->info->aConstraint[i];
        const bool is_equal = one->op == SQLITE_INDEX_CONSTRAINT_EQ;
        if (one->iColumn < 0) {
            continue;
        }
        if (!one->usable) {
            if (is_equal && one->iColumn == chosen->relation->parameter) {
                return false;
            }
        } else if (is_equal) {
            consider_equal(chosen, i, one->iColumn);
        } else if (one->iColumn == chosen->relation->number) {
            consider_range(chosen, i, one->op);
        }
    }
    return true;
}

static void hand_over_values(const choosing *chosen)
{
    int place = 0;
    for (int kind = 0; kind < VALUE_KINDS; kind++) {
        if (chosen->constraints[kind] != 0) {
            struct sqlite3_index_constraint_usage *const usage =
                &chosen->info->aConstraintUsage[chosen->constraints[kind] - 1];
            usage->argvIndex = ++place;
            usage->omit = 1 << kind == PLAN_PARAMETER;
        }
    }
}

/* --- what it costs --- */

static double count_parts(const choosing *chosen, double *ret_rows)
{
    const size_t parts = chosen->relation->is_by_device ? chosen->query->device_count : 1;
    double filled = 0;
    *ret_rows = 0;
    for (size_t i = 0; i < parts; i++) {
        const double rows = (double)chosen->relation->estimate(chosen->query, i);
        *ret_rows += rows;
        filled += rows > 0;
    }
    return filled > 1 ? filled : 1;
}

static double key_values(const choosing *chosen)
{
    const double values = chosen->relation->keys[chosen->key].values;
    return values > 0 ? values : 1.0 + plim_history_stack_count(chosen->query->history);
}

static void estimate(const choosing *chosen, double parts, double rows)
{
    sqlite3_index_info *const info = chosen->info;
    const int plan = chosen->plan;
    const bool is_one_part = parts <= 1 || (plan & PLAN_DEVICE) != 0;
    const double all = rows;
    rows /= (plan & PLAN_DEVICE) != 0 ? parts : 1;
    if ((plan & PLAN_NUMBER) != 0) {
        rows = is_one_part ? 1 : parts;
        info->idxFlags = is_one_part ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    } else if ((plan & PLAN_KEY) != 0) {
        rows /= key_values(chosen);
    } else {
        rows /= (plan & PLAN_LOW) != 0 ? RANGE_SHARE : 1;
        rows /= (plan & PLAN_HIGH) != 0 ? RANGE_SHARE : 1;
    }
    rows = rows < 1 ? 1 : rows;
    /* A moment is found by a walk over all events, whichever rows it has. */
    info->estimatedCost = rows + (chosen->relation->at != NULL ? all : 0) + 1;
    info->estimatedRows = (sqlite3_int64)rows;
}

/* --- which order comes for nothing --- */

typedef struct order_terms {
    bool device, number, key, other, descends;
    bool is_ordered; /* device before key before number */
    int key_index;
} order_terms;

static order_terms read_terms(const choosing *chosen)
{
    const plim_relation *const relation = chosen->relation;
    order_terms terms = { .is_ordered = true };
    for (int i = 0; i < chosen->info->nOrderBy; i++) {
        const struct sqlite3_index_orderby *const one = &chosen->info->aOrderBy[i];
        const int key = find_key(relation, one->iColumn);
        terms.descends = terms.descends || one->desc;
        if (one->iColumn < 0 || (one->iColumn == relation->number)) {
            terms.number = true;
        } else if (one->iColumn == relation->device) {
            terms.is_ordered = terms.is_ordered && !terms.number && !terms.key;
            terms.device = true;
        } else if (key >= 0 && !terms.key) {
            terms.is_ordered = terms.is_ordered && !terms.number;
            terms.key = true;
            terms.key_index = key;
        } else {
            terms.other = true;
        }
    }
    return terms;
}

static bool has_host_device(const plim_query *query)
{
    const size_t count = query->device_count;
    return count > 0 && query->devices[count - 1].history->device == PLIM_HOST_DEVICE;
}

/* Rows come by device, then by number; or by device, then by a key. */
static void choose_order(choosing *chosen, double parts)
{
    const plim_relation *const relation = chosen->relation;
    const order_terms terms = read_terms(chosen);
    const int wanted = sqlite3_vtab_distinct(chosen->info);
    const bool is_grouping = wanted == 1 || wanted == 2; /* equal rows together, in any order */
    const bool is_one_part =
        !relation->is_by_device || parts <= 1 || (chosen->plan & PLAN_DEVICE) != 0;
    if (chosen->info->nOrderBy == 0 || terms.other || (!is_one_part && !terms.device)) {
        return;
    }
    if (terms.key && (!relation->keys[terms.key_index].is_grouped ||
                      (chosen->plan & (PLAN_KEY | PLAN_NUMBER | PLAN_LOW | PLAN_HIGH)) != 0)) {
        return;
    }
    if (!is_grouping && (terms.descends || !terms.is_ordered ||
                         (terms.device && !is_one_part && has_host_device(chosen->query)) ||
                         (terms.key && !relation->keys[terms.key_index].is_sorted))) {
        return;
    }
    if (terms.key) {
        chosen->key = terms.key_index;
        chosen->plan |= PLAN_KEY_ORDER;
    }
    chosen->info->orderByConsumed = 1;
}

int plim_plan_choose(const plim_query *query, const plim_relation *relation,
                     sqlite3_index_info *info)
{
    choosing chosen = { .query = query, .relation = relation, .info = info };
    double rows = 0;
    const double parts = count_parts(&chosen, &rows);
    if (!consider_all(&chosen)) {
        info->estimatedCost = UNLIKELY;
        return SQLITE_CONSTRAINT;
    }
    choose_order(&chosen, parts);
    hand_over_values(&chosen);
    estimate(&chosen, parts, rows);
    info->idxNum = chosen.plan | chosen.key << PLAN_KEY_SHIFT;
    return SQLITE_OK;
}

/* --- a cursor that follows it --- */

static bool is_number(sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* The row with a number of at least (or at most) that value, cut to what rows there can be. */
static uint64_t row_of(const plim_relation *relation, sqlite3_value *value, bool is_up)
{
    const double real = sqlite3_value_double(value);
    if (sqlite3_value_type(value) == SQLITE_FLOAT || fabs(real) > 9e15) {
        const double row = (is_up ? ceil(real) : floor(real)) - relation->number_first;
        return row >= 0 && row < 9e15 ? (uint64_t)row : row >= 0 ? INT64_MAX : 0;
    }
    const int64_t row = sqlite3_value_int64(value) - relation->number_first;
    return row >= 0 ? (uint64_t)row : 0;
}

static void take_range(plim_relation_cursor *cursor, int bit, int plan, sqlite3_value *value)
{
    const plim_relation *const relation = cursor->relation;
    if (sqlite3_value_type(value) == SQLITE_NULL) {
        cursor->row_end = 0; /* nothing compares with NULL */
    } else if (!is_number(value)) {
        return;
    } else if (bit == PLAN_LOW) {
        const bool is_above = (plan & PLAN_LOW_IS_ABOVE) != 0 &&
                              sqlite3_value_type(value) == SQLITE_INTEGER &&
                              sqlite3_value_int64(value) >= relation->number_first;
        cursor->row_first = row_of(relation, value, true) + is_above;
    } else {
        const bool is_none = sqlite3_value_double(value) < relation->number_first;
        cursor->row_end = is_none ? 0 : row_of(relation, value, false) + 1;
    }
}

static void take_number(plim_relation_cursor *cursor, sqlite3_value *value)
{
    if (sqlite3_value_type(value) != SQLITE_INTEGER) {
        cursor->row_end = sqlite3_value_type(value) == SQLITE_NULL ? 0 : cursor->row_end;
        return;
    }
    const int64_t first = cursor->relation->number_first;
    if (sqlite3_value_int64(value) < first) {
        cursor->row_end = 0;
        return;
    }
    cursor->row_first = (uint64_t)sqlite3_value_int64(value) - (uint64_t)first;
    cursor->row_end = cursor->row_first + 1;
}

static void take_device(plim_relation_cursor *cursor, sqlite3_value *value)
{
    if (sqlite3_value_type(value) != SQLITE_INTEGER) {
        return;
    }
    for (size_t i = 0; i < cursor->query->device_count; i++) {
        if (cursor->query->devices[i].history->device == sqlite3_value_int64(value)) {
            cursor->part = i;
            cursor->part_end = i + 1;
            return;
        }
    }
    cursor->part = cursor->part_end;
}

static bool take_moment(plim_relation_cursor *cursor, sqlite3_value *value)
{
    const unsigned char *const text = sqlite3_value_text(value);
    if (text == NULL) {
        cursor->part = cursor->part_end;
        return sqlite3_value_type(value) == SQLITE_NULL;
    }
    cursor->moment = sqlite3_mprintf("%s", text);
    return cursor->moment != NULL;
}

static bool take_key(plim_relation_cursor *cursor, sqlite3_value *value)
{
    cursor->key = sqlite3_value_dup(value);
    return cursor->key != NULL;
}

static bool take_value(plim_relation_cursor *cursor, int bit, int plan, sqlite3_value *value)
{
    switch (bit) {
    case PLAN_DEVICE:
        take_device(cursor, value);
        return true;
    case PLAN_NUMBER:
        take_number(cursor, value);
        return true;
    case PLAN_LOW:
    case PLAN_HIGH:
        take_range(cursor, bit, plan, value);
        return true;
    case PLAN_KEY:
        return take_key(cursor, value);
    default:
        return take_moment(cursor, value);
    }
}

bool plim_plan_take(plim_relation_cursor *cursor, int plan, sqlite3_value **argv)
{
    const plim_relation *const relation = cursor->relation;
    const bool has_key = (plan & (PLAN_KEY | PLAN_KEY_ORDER)) != 0;
    cursor->part = 0;
    cursor->part_end = relation->is_by_device ? cursor->query->device_count : 1;
    cursor->row_first = 0;
    cursor->row_end = UINT64_MAX;
    cursor->only_action = -1;
    cursor->key_column = has_key ? relation->keys[plan >> PLAN_KEY_SHIFT].column : PLIM_NO_COLUMN;
    int place = 0;
    for (int kind = 0; kind < VALUE_KINDS; kind++) {
        const int bit = 1 << kind;
        if ((plan & bit) != 0 && !take_value(cursor, bit, plan, argv[place++])) {
            return false;
        }
    }
    return true;
}
