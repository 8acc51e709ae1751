/*
 * test_rows.c - dicts that are handed over while they are read.
 *
 * The sink of these tests takes dicts that have a key "seq" as rows in order (class 1), those
 * that have "val" as rows by content (class 2), and leaves the others.
 */
#include "harness.h"

#include "pickle/dump.h"
#include "pickle/reading.h"

#define BYTES(literal) (literal), sizeof(literal) - 1
#define LOG_BYTES_MAX  ((size_t)1 << 26)

typedef struct row_taker {
    plim_row_sink sink;
    uint8_t classes[64]; /* of the shapes */
    size_t counts[64];   /* pairs of the shapes */
    uint32_t shape_count;
    uint64_t seq_count;
    plim_text contents[400]; /* of class 2, as text */
    uint64_t content_count;
    uint64_t fail_at_row; /* counted from 1; 0: never */
    uint64_t row_count;
    plim_text log; /* every call, a line each */
} row_taker;

static void log_pairs(plim_text *text, const plim_value *pairs, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        plim_text_append_string(text, i == 0 ? "" : " ");
        dump_value(pairs[i], text);
    }
}

static bool has_key(const plim_value *pairs, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (plim_value_is_string(pairs[2 * i], key)) {
            return true;
        }
    }
    return false;
}

static plim_status on_shape(void *ctx, uint32_t shape, const plim_value *pairs, size_t pair_count,
                            plim_pickle_row_class *ret_class, plim_error *err)
{
    row_taker *taker = ctx;
    (void)err;
    T_EQ_U64(shape, taker->shape_count);
    T_TRUE(shape < T_COUNT(taker->classes));
    *ret_class = (plim_pickle_row_class){ 0 };
    if (has_key(pairs, pair_count, "seq")) {
        ret_class->number = 1;
    } else if (has_key(pairs, pair_count, "val")) {
        *ret_class = (plim_pickle_row_class){ .number = 2, .is_by_value = true };
    }
    taker->classes[shape] = ret_class->number;
    taker->counts[shape] = pair_count;
    taker->shape_count++;
    return PLIM_OK;
}

static uint64_t content_id(row_taker *taker, const plim_value *pairs, size_t count)
{
    plim_text text;
    plim_text_init(&text, NULL, LOG_BYTES_MAX);
    log_pairs(&text, pairs, count);
    for (uint64_t i = 0; i < taker->content_count; i++) {
        if (strcmp(plim_text_string(&taker->contents[i]), plim_text_string(&text)) == 0) {
            plim_text_deinit(&text);
            return i;
        }
    }
    T_TRUE(taker->content_count < T_COUNT(taker->contents));
    taker->contents[taker->content_count] = text;
    return taker->content_count++;
}

static plim_status on_row(void *ctx, uint32_t shape, const plim_value *pairs, uint64_t *ret_id,
                          plim_error *err)
{
    row_taker *taker = ctx;
    T_TRUE(shape < taker->shape_count);
    T_TRUE(taker->classes[shape] != 0);
    if (++taker->row_count == taker->fail_at_row) {
        (void)snprintf(err->message, sizeof err->message, "no more rows");
        err->status = PLIM_LIMIT;
        return PLIM_LIMIT;
    }
    const bool is_seq = taker->classes[shape] == 1;
    *ret_id = is_seq ? taker->seq_count++ : content_id(taker, pairs, taker->counts[shape]);
    plim_text_append_format(&taker->log, "%u:%" PRIu64 " ", taker->classes[shape], *ret_id);
    log_pairs(&taker->log, pairs, taker->counts[shape]);
    plim_text_append_char(&taker->log, '\n');
    return PLIM_OK;
}

static void taker_init(row_taker *taker)
{
    *taker = (struct row_taker){ 0 };
    taker->sink = (plim_row_sink){ .ctx = taker, .on_shape = on_shape, .on_row = on_row };
    plim_text_init(&taker->log, NULL, LOG_BYTES_MAX);
}

static void taker_deinit(row_taker *taker)
{
    for (uint64_t i = 0; i < taker->content_count; i++) {
        plim_text_deinit(&taker->contents[i]);
    }
    plim_text_deinit(&taker->log);
}

/* Dicts as pickles have them: SEQ(n) is {"seq": n}, VAL(n) {"val": n}, OTHER(n) {"x": n}. */
#define SEQ(n)   "}(\x8c\x03seqK" n "u"
#define VAL(n)   "}(\x8c\x03valK" n "u"
#define OTHER(n) "}(\x8c\x01xK" n "u"

static const struct {
    const char *name;
    const char *data;
    size_t length;
    const char *text;
    bool root_is_run;
} cases[] = {
    { "a row alone", BYTES(SEQ("\1") "."), "<1:0>", false },
    { "a dict that is no record", BYTES(OTHER("\1") "."), "{'x': 1}", false },
    { "an empty dict", BYTES("}."), "{}", false },
    { "a run", BYTES("](" SEQ("\1") SEQ("\2") SEQ("\3") "e."), "[<1:0>, <1:1>, <1:2>]", true },
    { "a run in two batches", BYTES("](" SEQ("\1") SEQ("\2") "e(" SEQ("\3") "e."),
      "[<1:0>, <1:1>, <1:2>]", true },
    { "a run and a single APPEND", BYTES("](" SEQ("\1") SEQ("\2") "e" SEQ("\3") "a."),
      "[<1:0>, <1:1>, <1:2>]", true },
    { "a single APPEND", BYTES("]" SEQ("\1") "a."), "[<1:0>]", true },
    { "a tuple of rows", BYTES(SEQ("\1") SEQ("\2") "\x86."), "(<1:0>, <1:1>)", true },
    { "a run that is interrupted", BYTES("](" SEQ("\1") "e(N" SEQ("\2") "e."),
      "[<1:0>, None, <1:1>]", false },
    { "a run that is interrupted within a batch", BYTES("](" SEQ("\1") "N" SEQ("\2") "e."),
      "[<1:0>, None, <1:1>]", false },
    { "rows out of order", BYTES(SEQ("\1") "q\0" SEQ("\2") "q\1](h\1h\0e."), "[<1:1>, <1:0>]",
      false },
    { "a row twice in its list", BYTES("](" SEQ("\1") "q\0h\0" SEQ("\2") "e."),
      "[<1:0>, <1:0>, <1:1>]", false },
    { "a row in two lists", BYTES("](](" SEQ("\1") "q\0e](h\0ee."), "[[<1:0>], [<1:0>]]", false },
    { "rows by content", BYTES("](" VAL("\1") VAL("\2") VAL("\1") "e."), "[<2:0>, <2:1>, <2:0>]",
      false },
    { "rows of both kinds", BYTES("](" SEQ("\1") VAL("\2") SEQ("\1") "e."), "[<1:0>, <2:0>, <1:1>]",
      false },
    { "rows inside rows", BYTES("](}(\x8c\x03seq](" VAL("\7") VAL("\7") "eue."), "[<1:0>]", true },
    { "records with other dicts between", BYTES("](" SEQ("\1") OTHER("\2") SEQ("\3") "e."),
      "[<1:0>, {'x': 2}, <1:1>]", false },
    { "keys that are no strings", BYTES("}(K\1K\2\x8c\x03seqK\1u."), "{1: 2, 'seq': 1}", false },
    { "a dict filled pair by pair stays one", BYTES("}\x8c\x03seqK\1s\x8c\x01xK\2s."),
      "{'seq': 1, 'x': 2}", false },
    { "DICT makes rows too", BYTES("(\x8c\x03seqK\1d."), "<1:0>", false },
    { "the same keys in another order",
      BYTES("](}(\x8c\x03seqK\1\x8c\x01xK\2u}(\x8c\x01xK\2"
            "\x8c\x03seqK\1ue."),
      "[<1:0>, <1:1>]", true },
    { "rows in a set", BYTES("\x8f(" SEQ("\1") "\x90."), "set{<1:0>}", true },
    { "rows as values of a dict", BYTES("}(\x8c\1a" SEQ("\1") "\x8c\1b" VAL("\1") "u."),
      "{'a': <1:0>, 'b': <2:0>}", false },
};

static void records_become_rows(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        row_taker taker;
        pickle_reading reading;
        taker_init(&taker);
        read_pickle(cases[i].data, cases[i].length, NULL, &taker.sink, &reading);
        plim_text text = reading_text(&reading);
        T_EQ_STR(plim_text_string(&text), cases[i].text);
        if (plim_value_count(reading.value) > 0) {
            T_EQ_I64(plim_value_object(reading.value)->as.array->is_run, cases[i].root_is_run);
        }
        plim_text_deinit(&text);
        reading_free(&reading);
        taker_deinit(&taker);
    }
}

static const struct {
    const char *name;
    const char *data;
    size_t length;
} changes[] = {
    { "SETITEM", BYTES(SEQ("\1") "NNs.") },
    { "SETITEMS", BYTES(SEQ("\1") "(NNu.") },
    { "SETITEMS through the memo", BYTES("](}q\0(\x8c\x03seqK\1u0h\0(NNue.") },
    { "SETITEMS on a record run at once",
      BYTES("](\x8c\x03seq\x94N"
            "}\x94(h\0K\1u}\x94(h\0K\1u}\x94(h\0K\1u}\x94(h\0K\1u"
            "(NNue........................") },
};

static void a_record_cannot_be_changed_any_more(void)
{
    for (size_t i = 0; i < T_COUNT(changes); i++) {
        T_CASE("%s", changes[i].name);
        row_taker taker;
        pickle_reading reading;
        taker_init(&taker);
        read_pickle(changes[i].data, changes[i].length, NULL, &taker.sink, &reading);
        T_EQ_STR(plim_status_name(reading.status), "PLIM_UNSUPPORTED");
        T_TRUE(strstr(reading.err.message, "record is changed") != NULL);
        reading_free(&reading);
        taker_deinit(&taker);
    }
}

static void errors_of_the_sink_come_through(void)
{
    for (uint64_t n = 1; n <= 3; n++) {
        row_taker taker;
        pickle_reading reading;
        taker_init(&taker);
        taker.fail_at_row = n;
        read_pickle(BYTES("](" SEQ("\1") VAL("\1") SEQ("\1") "e."), NULL, &taker.sink, &reading);
        T_EQ_U64(reading.status, PLIM_LIMIT);
        T_EQ_STR(reading.err.message, "no more rows");
        T_EQ_U64(taker.row_count, n);
        reading_free(&reading);
        taker_deinit(&taker);
    }
}

static void a_batch_and_one_more_are_one_run(void)
{
    plim_text pickle;
    row_taker taker;
    pickle_reading reading;
    plim_text_init(&pickle, NULL, LOG_BYTES_MAX);
    plim_text_append(&pickle, BYTES("]("));
    for (int i = 0; i < 1000; i++) {
        plim_text_append(&pickle, BYTES(SEQ("\1")));
    }
    plim_text_append(&pickle, BYTES("e(" SEQ("\2") "e" SEQ("\3") "a."));
    taker_init(&taker);
    read_pickle(pickle.data, pickle.length, NULL, &taker.sink, &reading);
    T_EQ_U64(reading.status, PLIM_OK);
    T_EQ_U64(plim_value_count(reading.value), 1002);
    T_TRUE(plim_value_object(reading.value)->as.array->is_run);
    for (uint64_t i = 0; i < 1002; i++) {
        T_EQ_U64(plim_value_item(reading.value, i).bits, plim_value_row(1, i).bits);
    }
    reading_free(&reading);
    taker_deinit(&taker);
    plim_text_deinit(&pickle);
}

/* Equal lists are one array: a slot written through one is seen through the other. */
static void equal_lists_share_their_items(void)
{
    static const char data[] = "](" VAL("\1") "q\0" VAL("\2") "q\1](h\0h\1e](h\0h\1e](h\1e"
                                                              "(\x8c\1a\x8c\1bt(\x8c\1a\x8c\1bte.";
    row_taker taker;
    pickle_reading reading;
    taker_init(&taker);
    read_pickle(BYTES(data), NULL, &taker.sink, &reading);
    T_EQ_STR(reading.err.message, "");
    *plim_value_slot(plim_value_item(reading.value, 2)) = 17;
    T_EQ_U64(*plim_value_slot(plim_value_item(reading.value, 3)), 17);
    T_EQ_U64(*plim_value_slot(plim_value_item(reading.value, 4)), 0);
    *plim_value_slot(plim_value_item(reading.value, 5)) = 18;
    T_EQ_U64(*plim_value_slot(plim_value_item(reading.value, 6)), 18);
    T_EQ_U64(plim_value_item(plim_value_item(reading.value, 5), 0).bits,
             plim_value_item(plim_value_item(reading.value, 6), 0).bits); /* strings too */
    reading_free(&reading);
    taker_deinit(&taker);
}

/* A list that grows later must not change those it shared its items with. */
static void a_list_that_grows_leaves_its_equals_alone(void)
{
    row_taker taker;
    pickle_reading reading;
    taker_init(&taker);
    read_pickle(BYTES("](](K\1K\2e](K\1K\2eK\3a](K\1K\2ee."), NULL, &taker.sink, &reading);
    plim_text text = reading_text(&reading);
    T_EQ_STR(plim_text_string(&text), "[[1, 2], [1, 2, 3], [1, 2]]");
    plim_text_deinit(&text);
    reading_free(&reading);
    taker_deinit(&taker);
}

/* --- records and lists known by their bytes: the same as opcode by opcode --- */

/*
 * Writes records as PyTorch's pickles have them, and now and then not quite. `base` memo entries
 * stand before the first of its own.
 */
typedef struct generator {
    plim_text *out;
    size_t base;
    size_t memo; /* entries so far, without the base */
} generator;

static void put_get(generator *g, size_t number)
{
    const size_t at = number + g->base;
    if (at < 256 && t_random_between(0, 20) > 0) {
        plim_text_append_char(g->out, 'h');
        plim_text_append_char(g->out, (char)at);
    } else {
        const char operand[] = { 'j', (char)at, (char)(at >> 8), 0, 0 };
        plim_text_append(g->out, operand, 5);
    }
}

static void put_memoize(generator *g)
{
    plim_text_append_char(g->out, '\x94');
    g->memo++;
}

static void put_text(generator *g, bool is_memoized)
{
    static const char *const texts[] = { "", "a", "alloc", "free_requested", "x", "hh", "K\1K" };
    const char *text = texts[t_random_between(0, T_COUNT(texts) - 1)];
    plim_text_append_char(g->out, '\x8c');
    plim_text_append_char(g->out, (char)strlen(text));
    plim_text_append_string(g->out, text);
    if (is_memoized) {
        put_memoize(g);
    }
}

/* The first `texts` entries of the memo are strings, the last of them keys. */
#define TEXTS 30

static void put_list(generator *g)
{
    plim_text_append_char(g->out, ']');
    put_memoize(g);
    const size_t count = (size_t)t_random_between(0, 4);
    if (count > 0) {
        const size_t first = (size_t)t_random_between(0, 3);
        plim_text_append_char(g->out, '(');
        for (size_t i = 0; i < count; i++) {
            put_get(g, first + i);
        }
        plim_text_append_char(g->out, 'e');
    }
}

static void put_value(generator *g)
{
    const char small = (char)t_random_between(99, 106); /* 'h' and 'j' are among them */
    const char pair[] = { 'K', small, 'K', (char)t_random_between(0, 1), '\x86' };
    const char real[] = { 'G', small, 0, 0, 0, 0, 0, 0, 0 };
    switch (t_random_between(0, 15)) {
    case 0:
        put_text(g, t_random_between(0, 5) > 0);
        break;
    case 1:
    case 2:
        plim_text_append(g->out, pair, 5);
        if (t_random_between(0, 5) > 0) {
            put_memoize(g);
        }
        break;
    case 3:
    case 4:
    case 5:
        put_list(g);
        break;
    case 6:
        plim_text_append(g->out, BYTES("J\x01\x02\x03\xff"));
        break;
    case 7:
        plim_text_append(g->out, BYTES("\x8a\x07\x01\x02\x03\x04\x05\x06\xff"));
        break;
    case 8:
        plim_text_append(g->out, BYTES("\x8a\x09\x01\x02\x03\x04\x05\x06\xff\x01\0"));
        break;
    case 9:
        plim_text_append(g->out, real, 9);
        break;
    case 10:
        plim_text_append(g->out, BYTES("\x88"));
        break;
    case 11:
        plim_text_append(g->out, t_random_between(0, 1) == 0 ? "N" : "}", 1);
        break;
    case 12:
        plim_text_append(g->out, BYTES("M\x68\x02"));
        break;
    case 13:
        put_get(g, (size_t)t_random_between(0, TEXTS - 1));
        break;
    default:
        plim_text_append(g->out, pair, 2);
        break;
    }
}

/* A dict of the keys from `first` on: most are one of two kinds of record. */
static void put_record(generator *g)
{
    static const size_t firsts[] = { 20, 20, 20, 24, 24, 22 };
    const size_t first = firsts[t_random_between(0, T_COUNT(firsts) - 1)];
    plim_text_append_char(g->out, '}');
    put_memoize(g);
    plim_text_append_char(g->out, '(');
    for (size_t key = first; key < first + 4; key++) {
        put_get(g, key);
        put_value(g);
    }
    plim_text_append_char(g->out, 'u');
}

static void generate(plim_text *out, size_t base)
{
    generator g = { .out = out, .base = base };
    plim_text_append(out, BYTES("\x80\x04"));
    if (base > 0) {
        plim_text_append(out, BYTES("N\x94Nq\0"
                                    "00")); /* the second PUT of an entry: nothing is cached */
    }
    plim_text_append_char(out, ']');
    put_memoize(&g);
    plim_text_append_char(out, '(');
    for (size_t i = 1; i < TEXTS; i++) {
        const char *key = i == 20 ? "seq" : (i == 24 ? "val" : "");
        plim_text_append_format(out, "\x8c%c%s", (int)(*key == '\0' ? 2 : 3), key);
        if (*key == '\0') {
            plim_text_append_format(out, "%02zu", i);
        }
        put_memoize(&g);
    }
    for (int i = 0; i < 300; i++) {
        put_record(&g);
        if (t_random_between(0, 30) == 0) {
            plim_text_append(out, BYTES("e("));
        }
    }
    plim_text_append(out, BYTES("e."));
}

/* What the sink saw, then the root. */
static plim_text read_all(const plim_text *pickle)
{
    row_taker taker;
    pickle_reading reading;
    taker_init(&taker);
    read_pickle(pickle->data, pickle->length, NULL, &taker.sink, &reading);
    T_EQ_STR(reading.err.message, "");
    dump_value(reading.value, &taker.log);
    plim_text log = taker.log;
    plim_text_init(&taker.log, NULL, LOG_BYTES_MAX);
    reading_free(&reading);
    taker_deinit(&taker);
    return log;
}

static void what_is_known_by_its_bytes_is_the_same_as_without(void)
{
    for (int i = 0; i < 60; i++) {
        plim_text known;
        plim_text plain;
        plim_text_init(&known, NULL, LOG_BYTES_MAX);
        plim_text_init(&plain, NULL, LOG_BYTES_MAX);
        const uint64_t state = t_now.random;
        T_CASE("round %d", i);
        generate(&known, 0);
        t_now.random = state;
        generate(&plain, 1);
        plim_text first = read_all(&known);
        plim_text second = read_all(&plain);
        T_EQ_STR(plim_text_string(&first), plim_text_string(&second));
        plim_text_deinit(&known);
        plim_text_deinit(&plain);
        plim_text_deinit(&first);
        plim_text_deinit(&second);
    }
}

static bool read_or_fail(const plim_mem *mem, void *ctx)
{
    const plim_text *pickle = ctx;
    row_taker taker;
    pickle_reading reading;
    taker_init(&taker);
    read_pickle(pickle->data, pickle->length, mem, &taker.sink, &reading);
    const bool is_read = reading.status == PLIM_OK;
    T_TRUE(is_read || reading.status == PLIM_OUT_OF_HOST_MEMORY);
    reading_free(&reading);
    taker_deinit(&taker);
    return is_read;
}

/* Caches that get no memory may do without, so that success is no surprise here. */
static void running_out_of_memory_anywhere_leaks_nothing(void)
{
    plim_text pickle;
    plim_text_init(&pickle, NULL, LOG_BYTES_MAX);
    generate(&pickle, 0);
    for (uint64_t n = 1;; n++) {
        t_mem heap;
        t_mem_init(&heap);
        heap.fail_at = n;
        const bool succeeded = read_or_fail(&heap.mem, &pickle);
        T_EQ_U64(heap.live_bytes, 0);
        if (!heap.failed) {
            T_TRUE(succeeded);
            break;
        }
    }
    plim_text_deinit(&pickle);
}

T_MAIN(T_TEST(records_become_rows), T_TEST(a_record_cannot_be_changed_any_more),
       T_TEST(errors_of_the_sink_come_through), T_TEST(a_batch_and_one_more_are_one_run),
       T_TEST(equal_lists_share_their_items), T_TEST(a_list_that_grows_leaves_its_equals_alone),
       T_TEST(what_is_known_by_its_bytes_is_the_same_as_without),
       T_TEST(running_out_of_memory_anywhere_leaks_nothing))
