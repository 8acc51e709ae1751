/*
 * test_records.c - records run by their form give the rows that their opcodes give.
 *
 * A trace is written opcode by opcode, with every kind of value a field can have, and read twice:
 * without a sink, as plain dicts, and with one, as rows. Both are put into words and compared.
 */
#include "pickle/opcodes.h"

#include "harness.h"
#include "pickle/dump.h"
#include "pickle/reading.h"

/* --- writing pickles --- */

typedef struct pickle_tape {
    plim_text bytes;
    uint32_t memo; /* entries so far */
} pickle_tape;

static pickle_tape tape_begin(void)
{
    pickle_tape tape = { .memo = 0 };
    plim_text_init(&tape.bytes, NULL, (size_t)1 << 30);
    plim_text_append(&tape.bytes, "\x80\x04", 2);
    return tape;
}

static void op(pickle_tape *tape, int code)
{
    plim_text_append_char(&tape->bytes, (char)code);
}

static void number(pickle_tape *tape, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        op(tape, (int)(value >> 8 * i & 0xff));
    }
}

static uint32_t memoize(pickle_tape *tape)
{
    op(tape, PLIM_PICKLE_OP_MEMOIZE);
    return tape->memo++;
}

static uint32_t text(pickle_tape *tape, const char *string)
{
    op(tape, PLIM_PICKLE_OP_SHORT_BINUNICODE);
    number(tape, strlen(string), 1);
    plim_text_append_string(&tape->bytes, string);
    return memoize(tape);
}

static void get(pickle_tape *tape, uint32_t entry)
{
    op(tape, entry < 256 ? PLIM_PICKLE_OP_BINGET : PLIM_PICKLE_OP_LONG_BINGET);
    number(tape, entry, entry < 256 ? 1 : 4);
}

#define FIELDS 8

static uint32_t keys[FIELDS];
static uint32_t frames[400];

static void write_keys(pickle_tape *tape)
{
    op(tape, PLIM_PICKLE_OP_MARK); /* a place for what is only there to be memoised */
    for (uint32_t i = 0; i < T_COUNT(frames); i++) {
        char name[16];
        snprintf(name, sizeof name, "frame %u", i);
        frames[i] = text(tape, name);
    }
    for (uint32_t i = 0; i < FIELDS; i++) {
        char name[16];
        snprintf(name, sizeof name, "key%u", i);
        keys[i] = text(tape, name);
    }
    op(tape, PLIM_PICKLE_OP_POP_MARK);
}

static void write_list(pickle_tape *tape)
{
    /* Few lists, so that they are met again; lengths 0 to 11. */
    const uint64_t which = t_random() % 12;
    op(tape, PLIM_PICKLE_OP_EMPTY_LIST);
    memoize(tape);
    if (which == 0) {
        return;
    }
    op(tape, PLIM_PICKLE_OP_MARK);
    for (uint64_t i = 0; i < which; i++) {
        get(tape, frames[(which * 37 + i * 101) % T_COUNT(frames)]);
    }
    op(tape, PLIM_PICKLE_OP_APPENDS);
}

static void write_int(pickle_tape *tape)
{
    const uint64_t value = t_random();
    switch (value % 5) {
    case 0:
        op(tape, PLIM_PICKLE_OP_BININT1);
        number(tape, value >> 8, 1);
        break;
    case 1:
        op(tape, PLIM_PICKLE_OP_BININT2);
        number(tape, value >> 8, 2);
        break;
    case 2:
        op(tape, PLIM_PICKLE_OP_BININT);
        number(tape, value >> 8, 4);
        break;
    default: { /* up to nine bytes: eight and nine do not fit a value as it is */
        const int bytes = (int)((value >> 8) % 10);
        op(tape, PLIM_PICKLE_OP_LONG1);
        number(tape, (uint64_t)bytes, 1);
        number(tape, value >> 16, bytes < 8 ? bytes : 8);
        number(tape, 0, bytes < 8 ? 0 : bytes - 8);
        break;
    }
    }
}

static void write_value(pickle_tape *tape)
{
    static const char *const texts[] = { "N/A", "", "alloc", "a text longer than eight bytes" };
    switch (t_random() % 10) {
    case 0:
        op(tape, PLIM_PICKLE_OP_NEWTRUE);
        break;
    case 1:
        op(tape, PLIM_PICKLE_OP_NEWFALSE);
        break;
    case 2:
        op(tape, PLIM_PICKLE_OP_NONE);
        break;
    case 3:
    case 4:
        text(tape, texts[t_random() % T_COUNT(texts)]);
        break;
    case 5:
        op(tape, PLIM_PICKLE_OP_BININT1);
        number(tape, t_random() % 3, 1);
        op(tape, PLIM_PICKLE_OP_BININT1);
        number(tape, t_random() % 3, 1);
        op(tape, PLIM_PICKLE_OP_TUPLE2);
        if (t_random() % 8 != 0) {
            memoize(tape);
        }
        break;
    case 6:
    case 7:
        write_list(tape);
        break;
    default:
        write_int(tape);
        break;
    }
}

/* A key is read from the memo; now and then it is written out, or the memo is told lies. */
static void write_key(pickle_tape *tape, uint32_t field, bool rewrites)
{
    if (rewrites && t_random() % 50 == 0) {
        char name[16];
        snprintf(name, sizeof name, "key%u", field);
        op(tape, PLIM_PICKLE_OP_SHORT_BINUNICODE);
        number(tape, strlen(name), 1);
        plim_text_append_string(&tape->bytes, name);
        op(tape, PLIM_PICKLE_OP_LONG_BINPUT);
        number(tape, keys[t_random() % FIELDS], 4); /* another key's place, mostly */
        return;
    }
    get(tape, keys[field]);
}

static void write_record(pickle_tape *tape, uint32_t fields, bool rewrites)
{
    op(tape, PLIM_PICKLE_OP_EMPTY_DICT);
    memoize(tape);
    op(tape, PLIM_PICKLE_OP_MARK);
    for (uint32_t i = 0; i < fields; i++) {
        write_key(tape, i, rewrites);
        write_value(tape);
    }
    op(tape, PLIM_PICKLE_OP_SETITEMS);
}

static pickle_tape write_trace(uint32_t records, bool rewrites)
{
    pickle_tape tape = tape_begin();
    write_keys(&tape);
    op(&tape, PLIM_PICKLE_OP_EMPTY_LIST);
    memoize(&tape);
    for (uint32_t i = 0; i < records; i++) {
        if (i % 1000 == 0) {
            op(&tape, PLIM_PICKLE_OP_MARK);
        }
        write_record(&tape, i % 7 == 0 ? 5 : FIELDS, rewrites);
        if (i % 1000 == 999 || i + 1 == records) {
            op(&tape, PLIM_PICKLE_OP_APPENDS);
        }
    }
    op(&tape, PLIM_PICKLE_OP_STOP);
    return tape;
}

/* --- reading them --- */

static void say_pair(plim_text *words, plim_value key, plim_value value)
{
    dump_value(key, words);
    plim_text_append_string(words, ": ");
    dump_value(value, words);
    plim_text_append_char(words, '\n');
}

typedef struct row_listener {
    plim_text words;
    size_t pair_counts[8192];
    uint64_t rows;
} row_listener;

static plim_status hear_shape(void *ctx, uint32_t shape, const plim_value *pairs, size_t pair_count,
                              plim_pickle_row_class *ret_class, plim_error *err)
{
    (void)pairs;
    (void)err;
    T_TRUE(shape < T_COUNT(((row_listener *)ctx)->pair_counts));
    ((row_listener *)ctx)->pair_counts[shape] = pair_count;
    *ret_class = (plim_pickle_row_class){ .number = 1 };
    return PLIM_OK;
}

static plim_status hear_row(void *ctx, uint32_t shape, const plim_value *pairs, uint64_t *ret_id,
                            plim_error *err)
{
    row_listener *listener = ctx;
    (void)err;
    for (size_t i = 0; i < listener->pair_counts[shape]; i++) {
        say_pair(&listener->words, pairs[2 * i], pairs[2 * i + 1]);
    }
    *ret_id = listener->rows++;
    return PLIM_OK;
}

static void check_trace(uint32_t records, bool rewrites)
{
    pickle_tape tape = write_trace(records, rewrites);
    const char *data = plim_text_string(&tape.bytes);
    pickle_reading plain;
    read_pickle(data, tape.bytes.length, NULL, NULL, &plain);
    T_EQ_STR(plain.err.message, "");
    T_EQ_U64(plain.status, PLIM_OK);
    plim_text expected;
    plim_text_init(&expected, NULL, (size_t)1 << 30);
    for (uint64_t i = 0; i < plim_value_count(plain.value); i++) {
        const plim_value dict = plim_value_item(plain.value, i);
        for (uint64_t k = 0; k < plim_value_pairs(dict); k++) {
            say_pair(&expected, plim_value_pair_key(dict, k), plim_value_pair_value(dict, k));
        }
    }
    row_listener listener = { .rows = 0 };
    plim_text_init(&listener.words, NULL, (size_t)1 << 30);
    const plim_row_sink sink = { &listener, hear_shape, hear_row };
    pickle_reading rows;
    read_pickle(data, tape.bytes.length, NULL, &sink, &rows);
    T_EQ_U64(rows.status, PLIM_OK);
    T_EQ_U64(listener.rows, records);
    T_EQ_U64(plim_value_count(rows.value), records);
    for (uint64_t i = 0; i < records; i++) {
        T_EQ_U64(plim_value_item(rows.value, i).bits, plim_value_row(1, i).bits);
    }
    T_EQ_STR(plim_text_string(&listener.words), plim_text_string(&expected));
    reading_free(&plain);
    reading_free(&rows);
    plim_text_deinit(&expected);
    plim_text_deinit(&listener.words);
    plim_text_deinit(&tape.bytes);
}

static void records_are_the_same_as_rows_and_as_dicts(void)
{
    for (uint32_t records = 1; records < 40; records++) {
        check_trace(records, false);
    }
    check_trace(3001, false);
}

static void a_memo_that_is_written_twice_is_believed_at_once(void)
{
    for (int i = 0; i < 20; i++) {
        check_trace(200, true);
    }
}

T_MAIN(T_TEST(records_are_the_same_as_rows_and_as_dicts),
       T_TEST(a_memo_that_is_written_twice_is_believed_at_once))
