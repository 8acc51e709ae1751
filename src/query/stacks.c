/*
 * stacks.c - stacks, and their frames.
 */
#include "query/columns.h"
#include "query/values.h"

#include "base/error.h"
#include "inspect/frame_text.h"
#include "inspect/stack_label.h"

/* --- stacks --- */

#define STACK_COLUMNS(X)                                                                       \
    X(ID, "id", INTEGER, "its number, as in the column stack of other tables")                 \
    X(DEPTH, "depth", INTEGER, "its frames")                                                   \
    X(LABEL, "frame", TEXT, "the frame that speaks for it: your own code first, as frame(id)") \
    X(FUNCTION, "function", TEXT, "of that frame")                                             \
    X(FILE, "file", TEXT, "of that frame")                                                     \
    X(LINE, "line", INTEGER, "of that frame")                                                  \
    X(IS_USER, "is_user", INTEGER, "1: that frame is your own code")                           \
    X(TEXT, "text", TEXT, "all frames, the outermost first, with ; between")

enum { STACK_COLUMNS(PLIM_COLUMN_ENUM) STACK_COLUMN_COUNT };

static const plim_query_column stack_columns[] = { STACK_COLUMNS(PLIM_COLUMN_ROW) };

static uint64_t count_stacks(const plim_query *query, size_t part)
{
    (void)part;
    return plim_history_stack_count(query->history);
}

static void put_text(sqlite3_context *out, plim_query *query, plim_stack stack)
{
    plim_text_reset(&query->scratch);
    for (uint32_t i = stack.frame_count; i > 0; i--) {
        plim_text_append_string(&query->scratch, i == stack.frame_count ? "" : ";");
        plim_frame_text_add(&query->scratch, query->history, stack.frames[i - 1], false);
    }
    plim_put_scratch(out, query);
}

static void put_stack(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    plim_query *const query = cursor->query;
    const uint32_t id = (uint32_t)cursor->row;
    const plim_stack stack = plim_history_stack(query->history, id);
    const uint32_t label = plim_query_label(query, id);
    switch (column) {
    case ID:
        plim_put_u64(out, id);
        break;
    case DEPTH:
        plim_put_u64(out, stack.frame_count);
        break;
    case LABEL:
        plim_put_frame(out, query, label, PLIM_LABEL_TEXT);
        break;
    case FUNCTION:
    case FILE:
    case LINE:
        plim_put_frame(out, query, label, (plim_label_part)(column - FUNCTION));
        break;
    case IS_USER:
        plim_put_bool(out, label != PLIM_NONE && plim_stack_frame_is_user(query->history, label));
        break;
    default:
        put_text(out, query, stack);
        break;
    }
}

const plim_relation plim_relation_stacks = {
    .schema = { .name = "stacks",
                .meaning = "the places in the program that events name, each once",
                PLIM_COLUMNS(stack_columns) },
    .device = PLIM_NO_COLUMN,
    .number = ID,
    .parameter = PLIM_NO_COLUMN,
    .keys = { PLIM_NO_KEY },
    .estimate = count_stacks,
    .rows = count_stacks,
    .column = put_stack,
};

/* --- frames --- */

#define FRAME_COLUMNS(X)                                                                  \
    X(F_STACK, "stack", INTEGER, "the stack that it is in: id of the table stacks")       \
    X(F_POSITION, "position", INTEGER, "0 is the innermost")                              \
    X(F_LABEL, "frame", TEXT, "the frame as pages show it")                               \
    X(F_FUNCTION, "function", TEXT, "as recorded")                                        \
    X(F_FILE, "file", TEXT, "as recorded")                                                \
    X(F_LINE, "line", INTEGER, "or NULL")                                                 \
    X(F_OWNER, "owner", TEXT, "user, torch, python, library or native: whose code it is") \
    X(F_FX, "fx", TEXT, "the node of torch.fx and its original trace, or NULL")

enum { FRAME_COLUMNS(PLIM_COLUMN_ENUM) FRAME_COLUMN_COUNT };

static const plim_query_column frame_columns[] = { FRAME_COLUMNS(PLIM_COLUMN_ROW) };

static const char *const owner_names[] = {
#define OWNER_NAME(code, name) [code] = name,
    PLIM_FRAME_OWNER_LIST(OWNER_NAME)
#undef OWNER_NAME
};

/* So many frames has a stack of PyTorch's in the recordings of tests/data. */
#define FRAMES_EXPECTED 20u

static uint64_t estimate_frames(const plim_query *query, size_t part)
{
    return count_stacks(query, part) * FRAMES_EXPECTED;
}

static plim_status prepare_frames(plim_query *query, size_t part, plim_error *err)
{
    (void)part;
    return plim_query_need_frames(query, err);
}

static uint64_t count_frames(const plim_query *query, size_t part)
{
    return query->frames_before[count_stacks(query, part)];
}

/* Rows stand by stack already. */
static plim_status frames_by_key(plim_relation_cursor *cursor, int column, sqlite3_value *value,
                                 plim_error *err)
{
    (void)column;
    (void)err;
    if (value == NULL || sqlite3_value_type(value) != SQLITE_INTEGER) {
        return PLIM_OK;
    }
    const int64_t stack = sqlite3_value_int64(value);
    const bool is_there =
        stack >= 0 && (uint64_t)stack < plim_history_stack_count(cursor->query->history);
    cursor->position = is_there ? cursor->query->frames_before[stack] : 0;
    cursor->position_end = is_there ? cursor->query->frames_before[stack + 1] : 0;
    return PLIM_OK;
}

/* The stack of a row: the last that begins at or before it and has frames. */
static uint32_t stack_of(const plim_query *query, uint64_t row)
{
    uint32_t low = 0;
    uint32_t high = plim_history_stack_count(query->history);
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        *(query->frames_before[middle] <= row ? &low : &high) = middle;
    }
    return low;
}

static void put_frame(plim_relation_cursor *cursor, int column, sqlite3_context *out)
{
    plim_query *const query = cursor->query;
    const uint32_t id = stack_of(query, cursor->row);
    const uint64_t position = cursor->row - query->frames_before[id];
    const uint32_t frame = plim_history_stack(query->history, id).frames[position];
    switch (column) {
    case F_STACK:
        plim_put_u64(out, id);
        break;
    case F_POSITION:
        plim_put_u64(out, position);
        break;
    case F_LABEL:
        plim_put_frame(out, query, frame, PLIM_LABEL_TEXT);
        break;
    case F_FUNCTION:
    case F_FILE:
    case F_LINE:
        plim_put_frame(out, query, frame, (plim_label_part)(column - F_FUNCTION));
        break;
    case F_OWNER:
        plim_put_word(out, owner_names[plim_stack_frame_owner(query->history, frame)]);
        break;
    default:
        plim_put_string(out, query->history, plim_history_frame(query->history, frame)->fx);
        break;
    }
}

const plim_relation plim_relation_frames = {
    .schema = { .name = "frames",
                .meaning = "the frames of each stack",
                PLIM_COLUMNS(frame_columns) },
    .device = PLIM_NO_COLUMN,
    .number = PLIM_NO_COLUMN,
    .parameter = PLIM_NO_COLUMN,
    .keys = { { .column = F_STACK, .is_grouped = true, .is_sorted = true }, PLIM_NO_KEY },
    .estimate = estimate_frames,
    .prepare = prepare_frames,
    .rows = count_frames,
    .by_key = frames_by_key,
    .column = put_frame,
};
