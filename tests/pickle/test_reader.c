/*
 * test_reader.c - every opcode, every protocol, and every way a pickle can be wrong.
 *
 * Expected values are the text of dump.h. Offsets are those of the opcode at fault.
 */
#include "harness.h"

#include "pickle/reading.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <zlib.h>

/* A string literal as bytes that may hold zeros. */
#define BYTES(literal) (literal), sizeof(literal) - 1

static const struct {
    const char *name;
    const char *data;
    size_t length;
    const char *text;
} values[] = {
    { "NONE", BYTES("N."), "None" },
    { "NEWTRUE", BYTES("\x88."), "True" },
    { "NEWFALSE", BYTES("\x89."), "False" },
    { "INT", BYTES("I42\n."), "42" },
    { "INT negative", BYTES("I-42\n."), "-42" },
    { "INT with plus", BYTES("I+42\n."), "42" },
    { "INT as booleans", BYTES("(I00\nI01\nl."), "[False, True]" },
    { "INT 0 and 1 are no booleans", BYTES("(I0\nI1\nI001\nl."), "[0, 1, 1]" },
    { "INT of 64 bits", BYTES("I9223372036854775807\n."), "9223372036854775807" },
    { "INT beyond", BYTES("I9223372036854775808\n."), "0x008000000000000000" },
    { "INT most negative", BYTES("I-9223372036854775808\n."), "-9223372036854775808" },
    { "LONG", BYTES("L42L\n."), "42" },
    { "LONG without L", BYTES("L42\n."), "42" },
    { "LONG negative", BYTES("L-129L\n."), "-129" },
    { "LONG of 80 bits", BYTES("L1208925819614629174706176L\n."), "0x0100000000000000000000" },
    { "LONG of -2^64", BYTES("L-18446744073709551616L\n."), "0xff0000000000000000" },
    { "BININT", BYTES("J\x01\x02\x03\x04."), "67305985" },
    { "BININT negative", BYTES("J\xff\xff\xff\xff."), "-1" },
    { "BININT1", BYTES("K\xff."), "255" },
    { "BININT2", BYTES("M\xff\xfe."), "65279" },
    { "LONG1 of nothing", BYTES("\x8a\x00."), "0" },
    { "LONG1 of one byte", BYTES("\x8a\x01\xff."), "-1" },
    { "LONG1 of 8", BYTES("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."), "9223372036854775807" },
    { "LONG1 of 7", BYTES("\x8a\x07\xff\xff\xff\xff\xff\xff\xff................"), "-1" },
    { "LONG1 of 7 in the fast loop",
      BYTES("(\x8a\x07\x01\x00\x00\x00\x00\x00\x80\x8a\x01\x7f\x8a\x02\x00\x80l................"),
      "[-36028797018963967, 127, -32768]" },
    { "LONG1 longer than needed", BYTES("\x8a\x0a\x05\0\0\0\0\0\0\0\0\0."), "5" },
    { "LONG1 of 2^64 - 1", BYTES("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00."),
      "0x00ffffffffffffffff" },
    { "LONG4", BYTES("\x8b\x02\x00\x00\x00\x00\x01."), "256" },
    { "LONG4 of nothing", BYTES("\x8b\x00\x00\x00\x00."), "0" },
    { "FLOAT", BYTES("F1.5\n."), "f3ff8000000000000" },
    { "FLOAT without a point", BYTES("F-2\n."), "fc000000000000000" },
    { "FLOAT inf", BYTES("Finf\n."), "f7ff0000000000000" },
    { "FLOAT nan", BYTES("Fnan\n."), "f7ff8000000000000" },
    { "BINFLOAT", BYTES("G\x3f\xf8\0\0\0\0\0\0."), "f3ff8000000000000" },
    { "STRING", BYTES("S'a\\x41\\n\\\\\\'\"\\101\\q'\n."), "'aA\\x0a\\x5c\\x27\"A\\x5cq'" },
    { "STRING in double quotes", BYTES("S\"it's\"\n."), "'it\\x27s'" },
    { "STRING empty", BYTES("S''\n."), "''" },
    { "BINSTRING", BYTES("T\x02\x00\x00\x00hi."), "'hi'" },
    { "SHORT_BINSTRING", BYTES("U\x02hi."), "'hi'" },
    { "UNICODE", BYTES("Vh\\u00e9\xe9\\U0001f600\n."),
      "'h\\xc3\\xa9\\xc3\\xa9\\xf0\\x9f\\x98\\x80'" },
    { "UNICODE with a backslash that escapes nothing", BYTES("Va\\b\\u12\n."),
      "'a\\x5cb\\x5cu12'" },
    { "BINUNICODE", BYTES("X\x02\x00\x00\x00hi."), "'hi'" },
    { "SHORT_BINUNICODE", BYTES("\x8c\x02hi."), "'hi'" },
    { "SHORT_BINUNICODE with a zero inside", BYTES("\x8c\x03h\0i."), "'h\\x00i'" },
    { "BINUNICODE8", BYTES("\x8d\x02\0\0\0\0\0\0\0hi."), "'hi'" },
    { "BINBYTES", BYTES("B\x02\0\0\0hi."), "b'hi'" },
    { "SHORT_BINBYTES", BYTES("C\x02hi."), "b'hi'" },
    { "BINBYTES8", BYTES("\x8e\x02\0\0\0\0\0\0\0hi."), "b'hi'" },
    { "BYTEARRAY8", BYTES("\x96\x02\0\0\0\0\0\0\0hi."), "B'hi'" },
    { "EMPTY_LIST", BYTES("]."), "[]" },
    { "APPEND",
      BYTES("]K\x01"
            "a."),
      "[1]" },
    { "APPENDS",
      BYTES("](K\x01K\x02"
            "e."),
      "[1, 2]" },
    { "APPENDS of nothing", BYTES("](e."), "[]" },
    { "APPENDS after APPEND",
      BYTES("]K\x00"
            "a(K\x01K\x02"
            "e."),
      "[0, 1, 2]" },
    { "LIST", BYTES("(K\x01K\x02l."), "[1, 2]" },
    { "LIST of nothing", BYTES("(l."), "[]" },
    { "EMPTY_TUPLE", BYTES(")."), "()" },
    { "TUPLE", BYTES("(K\x01K\x02K\x03K\x04t."), "(1, 2, 3, 4)" },
    { "TUPLE of nothing", BYTES("(t."), "()" },
    { "TUPLE1", BYTES("K\x01\x85."), "(1)" },
    { "TUPLE2", BYTES("K\x01K\x02\x86."), "(1, 2)" },
    { "TUPLE3", BYTES("K\x01K\x02K\x03\x87."), "(1, 2, 3)" },
    { "EMPTY_DICT", BYTES("}."), "{}" },
    { "SETITEM",
      BYTES("}\x8c\x01"
            "aK\x01s."),
      "{'a': 1}" },
    { "SETITEMS",
      BYTES("}(\x8c\x01"
            "aK\x01\x8c\x01"
            "bK\x02u."),
      "{'a': 1, 'b': 2}" },
    { "SETITEMS of nothing", BYTES("}(u."), "{}" },
    { "SETITEMS after SETITEM", BYTES("}NK\x00s(K\x01K\x02u."), "{None: 0, 1: 2}" },
    { "DICT",
      BYTES("(\x8c\x01"
            "aK\x01"
            "d."),
      "{'a': 1}" },
    { "EMPTY_SET", BYTES("\x8f."), "set{}" },
    { "ADDITEMS", BYTES("\x8f(K\x01K\x02\x90."), "set{1, 2}" },
    { "FROZENSET", BYTES("(K\x01K\x02\x91."), "frozenset{1, 2}" },
    { "POP",
      BYTES("K\x01K\x02"
            "0."),
      "1" },
    { "POP of a mark", BYTES("K\x01(0."), "1" },
    { "POP_MARK",
      BYTES("K\x01(K\x02K\x03"
            "1."),
      "1" },
    { "DUP",
      BYTES("](K\x01"
            "2e."),
      "[1, 1]" },
    { "DUP of a list is the same list", BYTES("(]2l."), "[[], &1]" },
    { "PUT and GET", BYTES("(]p7\ng7\nl."), "[[], &1]" },
    { "BINPUT and BINGET", BYTES("(]q\x07h\x07l."), "[[], &1]" },
    { "LONG_BINPUT and LONG_BINGET", BYTES("(]r\x07\0\0\0j\x07\0\0\0l."), "[[], &1]" },
    { "MEMOIZE counts from 0", BYTES("(]\x94}\x94h\x00h\x01l."), "[[], {}, &1, &2]" },
    { "MEMOIZE counts entries, not numbers", BYTES("(]q\x05}\x94h\x01h\x05l."),
      "[[], {}, &2, &1]" },
    { "PUT twice at one place", BYTES("(]q\x00}q\x00h\x00l."), "[[], {}, &2]" },
    { "PUT at 4e9", BYTES("(]r\xff\xff\xff\xffj\xff\xff\xff\xffl."), "[[], &1]" },
    { "PUT at 4e9 in text", BYTES("(]p4294967295\ng4294967295\nl."), "[[], &1]" },
    { "a list in itself",
      BYTES("]q\x00h\x00"
            "a."),
      "[&0]" },
    { "a dict in itself", BYTES("}q\x00Nh\x00s."), "{None: &0}" },
    { "PROTO", BYTES("\x80\x05N."), "None" },
    { "FRAME", BYTES("\x95\x02\0\0\0\0\0\0\0N."), "None" },
    { "FRAME with any length", BYTES("\x95\xff\xff\xff\xff\xff\xff\xff\xffN."), "None" },
    { "STOP takes the top", BYTES("K\x01K\x02."), "2" },
    { "bytes behind STOP", BYTES("K\x01.garbage"), "1" },
};

static void every_opcode_that_holds_data_is_read(void)
{
    for (size_t i = 0; i < T_COUNT(values); i++) {
        T_CASE("%s", values[i].name);
        pickle_reading reading;
        read_pickle(values[i].data, values[i].length, NULL, NULL, &reading);
        plim_text text = reading_text(&reading);
        T_EQ_STR(plim_text_string(&text), values[i].text);
        plim_text_deinit(&text);
        reading_free(&reading);
    }
}

static const struct {
    const char *name;
    const char *data;
    size_t length;
    plim_status status;
    uint64_t offset;
    const char *message; /* a part of it */
} refusals[] = {
    { "a byte that is no opcode", BYTES("K\x01\xff."), PLIM_CORRUPT, 2, "0xff" },
    { "GLOBAL",
      BYTES("\x80\x04"
            "cos\nsystem\n."),
      PLIM_FORBIDDEN, 2, "\"system\" from module \"os\"" },
    { "INST", BYTES("(iposix\nsystem\n."), PLIM_FORBIDDEN, 1, "\"system\" from module \"posix\"" },
    { "STACK_GLOBAL", BYTES("\x8c\x02os\x8c\x06system\x93."), PLIM_FORBIDDEN, 12,
      "\"system\" from module \"os\"" },
    { "STACK_GLOBAL on nothing", BYTES("\x93."), PLIM_FORBIDDEN, 0, "\"?\"" },
    { "REDUCE", BYTES("N)R."), PLIM_FORBIDDEN, 2, "REDUCE" },
    { "BUILD", BYTES("NNb."), PLIM_FORBIDDEN, 2, "BUILD" },
    { "OBJ", BYTES("(No."), PLIM_FORBIDDEN, 2, "OBJ" },
    { "NEWOBJ", BYTES("N)\x81."), PLIM_FORBIDDEN, 2, "NEWOBJ" },
    { "NEWOBJ_EX", BYTES("N)}\x92."), PLIM_FORBIDDEN, 3, "NEWOBJ_EX" },
    { "PERSID", BYTES("Pid\n."), PLIM_FORBIDDEN, 0, "PERSID" },
    { "BINPERSID", BYTES("NQ."), PLIM_FORBIDDEN, 1, "BINPERSID" },
    { "EXT1", BYTES("\x82\x01."), PLIM_FORBIDDEN, 0, "EXT1" },
    { "EXT2", BYTES("\x83\x01\x00."), PLIM_FORBIDDEN, 0, "EXT2" },
    { "EXT4", BYTES("\x84\x01\x00\x00\x00."), PLIM_FORBIDDEN, 0, "EXT4" },
    { "NEXT_BUFFER", BYTES("\x97."), PLIM_FORBIDDEN, 0, "NEXT_BUFFER" },
    { "READONLY_BUFFER", BYTES("N\x98."), PLIM_FORBIDDEN, 1, "READONLY_BUFFER" },
    { "a protocol of the future", BYTES("\x80\x06N."), PLIM_UNSUPPORTED, 1, "protocol 6" },
    { "STOP on an empty stack", BYTES("\x80\x04."), PLIM_CORRUPT, 2, "stack empty" },
    { "POP on an empty stack", BYTES("0."), PLIM_CORRUPT, 0, "stack empty" },
    { "DUP on an empty stack", BYTES("2."), PLIM_CORRUPT, 0, "stack empty" },
    { "POP_MARK without a mark", BYTES("N1."), PLIM_CORRUPT, 1, "no mark" },
    { "LIST without a mark", BYTES("Nl."), PLIM_CORRUPT, 1, "no mark" },
    { "APPEND to nothing", BYTES("Na."), PLIM_CORRUPT, 1, "stack empty" },
    { "APPEND across a mark", BYTES("](Na."), PLIM_CORRUPT, 3, "stack empty" },
    { "APPEND to a dict", BYTES("}Na."), PLIM_CORRUPT, 2, "a list are added to a dict" },
    { "APPENDS to a tuple", BYTES(")(Ne."), PLIM_CORRUPT, 3, "a tuple" },
    { "APPENDS to nothing", BYTES("(Ne."), PLIM_CORRUPT, 2, "added to nothing" },
    { "APPENDS to what lies below an outer mark", BYTES("]((Ne."), PLIM_CORRUPT, 4,
      "added to nothing" },
    { "SETITEM to a list", BYTES("]NNs."), PLIM_CORRUPT, 3, "a list" },
    { "SETITEMS of a key without a value", BYTES("}(Nu."), PLIM_CORRUPT, 3, "key" },
    { "DICT of a key without a value", BYTES("(Nd."), PLIM_CORRUPT, 2, "key" },
    { "ADDITEMS to a list", BYTES("](N\x90."), PLIM_CORRUPT, 3, "a list" },
    { "TUPLE2 of one", BYTES("N\x86."), PLIM_CORRUPT, 1, "stack empty" },
    { "TUPLE1 across a mark", BYTES("N(\x85."), PLIM_CORRUPT, 2, "stack empty" },
    { "MEMOIZE of nothing", BYTES("\x94."), PLIM_CORRUPT, 0, "stack empty" },
    { "MEMOIZE across a mark", BYTES("N(\x94."), PLIM_CORRUPT, 2, "stack empty" },
    { "MEMOIZE across a mark, far from the end", BYTES("N(\x94...................."), PLIM_CORRUPT,
      2, "stack empty" },
    { "BINGET of nothing stored", BYTES("h\x05."), PLIM_CORRUPT, 0, "memo entry 5" },
    { "BINGET far from the end", BYTES("Nh\x05...................."), PLIM_CORRUPT, 1,
      "memo entry 5" },
    { "LONG_BINGET of a gap", BYTES("Nq\x05j\x04\0\0\0."), PLIM_CORRUPT, 3, "memo entry 4" },
    { "GET of nothing stored", BYTES("g5\n."), PLIM_CORRUPT, 0, "memo entry 5" },
    { "GET of no number", BYTES("gx\n."), PLIM_CORRUPT, 0, "memo number" },
    { "GET of a negative number", BYTES("g-1\n."), PLIM_CORRUPT, 0, "memo number" },
    { "PUT beyond 32 bits", BYTES("Np4294967296\n."), PLIM_CORRUPT, 1, "memo number" },
    { "INT of no digits", BYTES("I\n."), PLIM_CORRUPT, 0, "no integer" },
    { "INT of letters", BYTES("I12x\n."), PLIM_CORRUPT, 0, "no integer" },
    { "FLOAT of letters", BYTES("Fx\n."), PLIM_CORRUPT, 0, "no float" },
    { "FLOAT of nothing", BYTES("F\n."), PLIM_CORRUPT, 0, "no float" },
    { "STRING without quotes", BYTES("Sabc\n."), PLIM_CORRUPT, 0, "no quotes" },
    { "STRING with one quote", BYTES("S'\n."), PLIM_CORRUPT, 0, "no quotes" },
    { "LONG4 of negative length", BYTES("\x8b\xff\xff\xff\xff."), PLIM_CORRUPT, 0, "negative" },
    { "a string that claims 4 GB", BYTES("X\xff\xff\xff\xffhi."), PLIM_CORRUPT, 8, "cut off" },
    { "a string that claims 2^64", BYTES("\x8d\xff\xff\xff\xff\xff\xff\xff\xffhi."), PLIM_CORRUPT,
      12, "cut off" },
    { "bytes that claim 2^63", BYTES("\x8e\0\0\0\0\0\0\0\x80hi."), PLIM_CORRUPT, 12, "cut off" },
    { "a bytearray that claims 2^62", BYTES("\x96\0\0\0\0\0\0\0\x40hi."), PLIM_CORRUPT, 12,
      "cut off" },
    { "an integer that claims 2 GB", BYTES("\x8b\xff\xff\xff\x7fhi."), PLIM_CORRUPT, 8, "cut off" },
    { "a line without an end", BYTES("I42"), PLIM_CORRUPT, 3, "cut off" },
    { "no STOP", BYTES("K\x01"), PLIM_CORRUPT, 2, "cut off" },
};

static void what_is_wrong_is_told_with_its_place(void)
{
    for (size_t i = 0; i < T_COUNT(refusals); i++) {
        T_CASE("%s", refusals[i].name);
        t_mem heap;
        t_mem_init(&heap);
        pickle_reading reading;
        read_pickle(refusals[i].data, refusals[i].length, &heap.mem, NULL, &reading);
        T_EQ_STR(plim_status_name(reading.status), plim_status_name(refusals[i].status));
        if (strstr(reading.err.message, refusals[i].message) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", reading.err.message, refusals[i].message);
        }
        T_EQ_U64(reading.err.offset, refusals[i].offset);
        T_EQ_U64(reading.err.status, reading.status);
        reading_free(&reading);
        T_EQ_U64(heap.live_bytes, 0);
        T_TRUE(heap.peak_bytes < (1u << 20)); /* claims cost nothing */
    }
}

/* The same value in every protocol: {"a": [1, -2, 300, 70000, 1.5, None, True], "b": ("x", "x")}
 * with the list in "c" again. Made by CPython's pickle.dumps. */
static const struct {
    const char *data;
    size_t length;
} protocols[] = {
    { BYTES("(dp0\nVa\np1\n(lp2\nI1\naI-2\naI300\naI70000\naF1.5\naNaI01\nasVb\np3\n(Vx\np4\ng4\nt"
            "p5\nsVc\np6\ng2\ns.") },
    { BYTES("}q\x00(X\x01\x00\x00\x00"
            "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00G?"
            "\xf8\x00\x00\x00\x00\x00\x00NI01\neX\x01\x00\x00\x00"
            "bq\x03(X\x01\x00\x00\x00xq\x04"
            "h\x04tq\x05X\x01\x00\x00\x00"
            "cq\x06h\x02u.") },
    { BYTES("\x80\x02}q\x00(X\x01\x00\x00\x00"
            "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11"
            "\x01\x00G?\xf8\x00\x00\x00\x00\x00\x00N\x88"
            "eX\x01\x00\x00\x00"
            "bq\x03X\x01\x00"
            "\x00\x00xq\x04h\x04\x86q\x05X\x01\x00\x00\x00"
            "cq\x06h\x02u.") },
    { BYTES("\x80\x03}q\x00(X\x01\x00\x00\x00"
            "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11"
            "\x01\x00G?\xf8\x00\x00\x00\x00\x00\x00N\x88"
            "eX\x01\x00\x00\x00"
            "bq\x03X\x01\x00"
            "\x00\x00xq\x04h\x04\x86q\x05X\x01\x00\x00\x00"
            "cq\x06h\x02u.") },
    { BYTES("\x80\x04\x95"
            "9\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
            "a\x94]\x94(K\x01J\xfe"
            "\xff\xff\xffM,\x01Jp\x11\x01\x00G?\xf8\x00\x00\x00\x00\x00\x00N\x88"
            "e\x8c\x01"
            "b\x94\x8c\x01x\x94h\x04\x86\x94\x8c\x01"
            "c\x94h\x02u.") },
    { BYTES("\x80\x05\x95"
            "9\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
            "a\x94]\x94(K\x01J\xfe"
            "\xff\xff\xffM,\x01Jp\x11\x01\x00G?\xf8\x00\x00\x00\x00\x00\x00N\x88"
            "e\x8c\x01"
            "b\x94\x8c\x01x\x94h\x04\x86\x94\x8c\x01"
            "c\x94h\x02u.") },
};

static void every_protocol_gives_the_same_value(void)
{
    for (size_t i = 0; i < T_COUNT(protocols); i++) {
        T_CASE("protocol %zu", i);
        pickle_reading reading;
        read_pickle(protocols[i].data, protocols[i].length, NULL, NULL, &reading);
        plim_text text = reading_text(&reading);
        T_EQ_STR(plim_text_string(&text),
                 "{'a': [1, -2, 300, 70000, f3ff8000000000000, None, True], 'b': ('x', 'x'), "
                 "'c': &1}");
        T_EQ_I64(reading.facts.protocol, i < 2 ? 0 : (int)i);
        T_TRUE(plim_pickle_looks_like((const uint8_t *)protocols[i].data, protocols[i].length));
        plim_text_deinit(&text);
        reading_free(&reading);
    }
}

static void a_pickle_cut_off_anywhere_is_corrupt(void)
{
    for (size_t i = 0; i < T_COUNT(protocols); i++) {
        for (size_t length = 1; length < protocols[i].length; length++) {
            T_CASE("protocol %zu cut to %zu bytes", i, length);
            /* Exactly as large as what is read, so that a sanitizer sees a byte too far. */
            char *part = malloc(length);
            T_NOT_NULL(part);
            memcpy(part, protocols[i].data, length);
            pickle_reading reading;
            read_pickle(part, length, NULL, NULL, &reading);
            T_EQ_STR(plim_status_name(reading.status), "PLIM_CORRUPT");
            T_TRUE(reading.err.offset <= length);
            reading_free(&reading);
            free(part);
        }
    }
}

/* One byte changed, at random: an answer, and no more memory than promised. */
static void a_damaged_pickle_is_read_or_refused(void)
{
    for (int i = 0; i < 20000; i++) {
        const size_t which = (size_t)t_random_between(0, T_COUNT(protocols) - 1);
        char copy[256];
        memcpy(copy, protocols[which].data, protocols[which].length);
        copy[t_random_between(0, protocols[which].length - 1)] = (char)t_random();
        copy[t_random_between(0, protocols[which].length - 1)] = (char)t_random();
        t_mem heap;
        t_mem_init(&heap);
        pickle_reading reading;
        read_pickle(copy, protocols[which].length, &heap.mem, NULL, &reading);
        T_TRUE(reading.status == PLIM_OK || reading.err.message[0] != '\0');
        reading_free(&reading);
        T_EQ_U64(heap.live_bytes, 0);
        T_TRUE(heap.peak_bytes < (4u << 20));
    }
}

/* `count` times `unit`, then `tail`. */
static plim_text repeated(const char *unit, size_t count, const char *tail)
{
    plim_text text;
    plim_text_init(&text, NULL, (size_t)1 << 30);
    for (size_t i = 0; i < count; i++) {
        plim_text_append_string(&text, unit);
    }
    plim_text_append_string(&text, tail);
    return text;
}

static void nesting_a_million_deep_costs_no_stack(void)
{
    plim_text pickle = repeated("]", 1000001, "");
    plim_text closing = repeated("a", 1000000, ".");
    plim_text_append(&pickle, closing.data, closing.length);
    pickle_reading reading;
    read_pickle(pickle.data, pickle.length, NULL, NULL, &reading);
    T_EQ_U64(reading.status, PLIM_OK);
    uint64_t depth = 0;
    for (plim_value at = reading.value; plim_value_count(at) == 1; at = plim_value_item(at, 0)) {
        depth++;
    }
    T_EQ_U64(depth, 1000000);
    reading_free(&reading);
    plim_text_deinit(&pickle);
    plim_text_deinit(&closing);
}

/* What a byte can make: each is repeated until the reader has enough, or stays in bounds. */
static void memory_stays_in_proportion_to_the_bytes_read(void)
{
    static const char *const units[] = {
        "]", "}", "2", "(", "]\x94", "K\x01\x85", "(NNNNNNNNNNNNNNNNl"
    };
    for (size_t i = 0; i < T_COUNT(units); i++) {
        T_CASE("unit %zu", i);
        const size_t count = ((size_t)6 << 20) / strlen(units[i]);
        plim_text pickle = repeated("]", 1, "");
        plim_text more = repeated(units[i], count, ".");
        plim_text_append(&pickle, more.data, more.length);
        t_mem heap;
        t_mem_init(&heap);
        pickle_reading reading;
        read_pickle(pickle.data, pickle.length, &heap.mem, NULL, &reading);
        T_TRUE(heap.peak_bytes <=
               PLIM_PICKLE_BYTES_FREE + (uint64_t)PLIM_PICKLE_BYTES_PER_BYTE * pickle.length);
        reading_free(&reading);
        T_EQ_U64(heap.live_bytes, 0);
        plim_text_deinit(&pickle);
        plim_text_deinit(&more);
    }
}

/* Each tuple holds the one before it twice: 2^n items stand in 2n bytes, and are n tuples here. */
static void doubling_costs_nothing(void)
{
    plim_text pickle = repeated("", 0, "]");
    plim_text more = repeated("2\x86", 100000, ".");
    plim_text_append(&pickle, more.data, more.length);
    t_mem heap;
    t_mem_init(&heap);
    pickle_reading reading;
    read_pickle(pickle.data, pickle.length, &heap.mem, NULL, &reading);
    T_EQ_U64(reading.status, PLIM_OK);
    T_TRUE(heap.peak_bytes < (16u << 20));
    reading_free(&reading);
    plim_text_deinit(&pickle);
    plim_text_deinit(&more);
}

static bool allow_twice(void *ctx, const plim_input *input)
{
    (void)input;
    return ++*(int *)ctx <= 2;
}

static void reading_can_be_stopped(void)
{
    plim_text pickle = repeated("N0", 8 << 20, "N.");
    plim_input *input = NULL;
    T_EQ_U64(plim_input_open_memory(pickle.data, pickle.length, NULL, &input, NULL), PLIM_OK);
    plim_builder builder;
    plim_builder_init(&builder, NULL, NULL);
    int calls = 0;
    const plim_pickle_options options = { .reading = allow_twice, .reading_ctx = &calls };
    plim_pickle_facts facts;
    plim_value value = PLIM_VALUE_NONE;
    T_EQ_U64(plim_pickle_read(input, &builder, &options, &facts, &value, NULL), PLIM_CANCELLED);
    T_EQ_U64(value.bits, PLIM_VALUE_NONE.bits);
    T_EQ_I64(calls, 3);
    plim_builder_deinit(&builder);
    plim_input_close(input);
    plim_text_deinit(&pickle);
}

/* --- windows: the same pickle in pieces of every size --- */

/* Strings and integers of many lengths, lists of memo reads, marks, all protocols' opcodes. */
static plim_text varied_pickle(size_t entries)
{
    plim_text text;
    plim_text_init(&text, NULL, (size_t)1 << 30);
    plim_text_append(&text, BYTES("\x80\x04]\x94("));
    for (size_t i = 0; i < entries; i++) {
        char filler[600];
        const size_t length = (size_t)t_random_between(0, sizeof filler - 1);
        const char size[4] = { (char)length, (char)(length >> 8), 0, 0 };
        memset(filler, 'a' + (int)(i % 26), sizeof filler);
        switch (t_random_between(0, 6)) {
        case 0:
            plim_text_append(&text, "X", 1);
            plim_text_append(&text, size, 4);
            plim_text_append(&text, filler, length);
            plim_text_append(&text, "\x94", 1);
            break;
        case 1:
            plim_text_append(&text, BYTES("]\x94(h\x00h\x00h\x00"
                                          "e"));
            break;
        case 2:
            plim_text_append(&text, BYTES("\x8a\x09\x01\x02\x03\x04\x05\x06\x07\x08\x09"));
            break;
        case 3:
            plim_text_append_format(&text, "V%.*s\n", (int)length, filler);
            break;
        case 4:
            plim_text_append(&text, BYTES("}\x94(\x8c\x01kG\x3f\xf8\0\0\0\0\0\0u"));
            break;
        case 5:
            plim_text_append_format(&text, "I%" PRIu64 "\n", t_random());
            break;
        default:
            plim_text_append(&text, BYTES("J\x01\x02\x03\x04M\x01\x02\x88\x86\x86"));
            break;
        }
    }
    plim_text_append(&text, "e.", 2);
    return text;
}

typedef struct byte_feed {
    const plim_text *data;
    uint64_t random;
    int to;
} byte_feed;

/* Writes the bytes to a pipe in small pieces, so that reads come back short. */
static void *feed_pipe(void *ctx)
{
    byte_feed *feed = ctx;
    size_t done = 0;
    while (done < feed->data->length) {
        feed->random = feed->random * UINT64_C(6364136223846793005) + 1;
        size_t piece = (size_t)(feed->random >> 33) % 5000 + 1;
        piece = piece < feed->data->length - done ? piece : feed->data->length - done;
        const ssize_t written = write(feed->to, feed->data->data + done, piece);
        if (written <= 0) {
            break;
        }
        done += (size_t)written;
    }
    (void)close(feed->to);
    return NULL;
}

static void check_same_text(const pickle_reading *reading, const plim_text *expected)
{
    plim_text text = reading_text(reading);
    T_EQ_U64(reading->status, PLIM_OK);
    T_EQ_U64(text.length, expected->length);
    T_EQ_MEM(plim_text_string(&text), plim_text_string(expected), expected->length);
    plim_text_deinit(&text);
}

static void check_through_pipe(const plim_text *pickle, const plim_text *expected)
{
    int ends[2];
    char path[64];
    pthread_t thread;
    pickle_reading reading;
    T_EQ_I64(pipe(ends), 0);
    byte_feed feed = { .data = pickle, .random = t_random(), .to = ends[1] };
    T_EQ_I64(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    read_pickle_file(path, NULL, &reading);
    (void)close(ends[0]);
    T_EQ_I64(pthread_join(thread, NULL), 0);
    check_same_text(&reading, expected);
    reading_free(&reading);
}

/* Members of random lengths: the window grows from member to member. */
static void check_through_gzip(const plim_text *pickle, const plim_text *expected)
{
    char path[] = "/tmp/plim-pickle-XXXXXX";
    const int file = mkstemp(path);
    pickle_reading reading;
    T_TRUE(file >= 0);
    for (size_t done = 0; done < pickle->length;) {
        size_t piece = (size_t)t_random_between(1, 100000);
        piece = piece < pickle->length - done ? piece : pickle->length - done;
        gzFile gzip = gzdopen(dup(file), "wb1");
        T_NOT_NULL(gzip);
        T_EQ_I64(gzwrite(gzip, pickle->data + done, (unsigned)piece), (int)piece);
        T_EQ_I64(gzclose(gzip), Z_OK);
        done += piece;
    }
    (void)close(file);
    read_pickle_file(path, NULL, &reading);
    (void)unlink(path);
    check_same_text(&reading, expected);
    reading_free(&reading);
}

static void windows_of_any_size_give_the_same_value(void)
{
    for (int i = 0; i < 3; i++) {
        plim_text pickle = varied_pickle(4000);
        pickle_reading reading;
        read_pickle(pickle.data, pickle.length, NULL, NULL, &reading);
        plim_text expected = reading_text(&reading);
        T_EQ_STR(reading.err.message, "");
        reading_free(&reading);
        check_through_pipe(&pickle, &expected);
        check_through_gzip(&pickle, &expected);
        plim_text_deinit(&expected);
        plim_text_deinit(&pickle);
    }
}

static bool read_or_fail(const plim_mem *mem, void *ctx)
{
    const plim_text *pickle = ctx;
    pickle_reading reading;
    read_pickle(pickle->data, pickle->length, mem, NULL, &reading);
    const bool is_read = reading.status == PLIM_OK;
    if (!is_read && reading.status != PLIM_OUT_OF_HOST_MEMORY) {
        fail_msg("without memory the answer is %s", plim_status_name(reading.status));
    }
    reading_free(&reading);
    return is_read;
}

static void running_out_of_memory_anywhere_leaks_nothing(void)
{
    plim_text pickle = varied_pickle(300);
    t_fail_each_allocation(read_or_fail, &pickle);
    plim_text_deinit(&pickle);
    plim_text sparse = repeated("]r\xff\xff\xff\xff"
                                "0",
                                1, "N.");
    t_fail_each_allocation(read_or_fail, &sparse);
    plim_text_deinit(&sparse);
}

static void json_and_nothing_look_like_no_pickle(void)
{
    T_FALSE(plim_pickle_looks_like(NULL, 0));
    T_FALSE(plim_pickle_looks_like((const uint8_t *)"{\"a\"", 4));
    T_FALSE(plim_pickle_looks_like((const uint8_t *)"[1]", 3));
}

T_MAIN(T_TEST(every_opcode_that_holds_data_is_read), T_TEST(what_is_wrong_is_told_with_its_place),
       T_TEST(every_protocol_gives_the_same_value), T_TEST(a_pickle_cut_off_anywhere_is_corrupt),
       T_TEST(a_damaged_pickle_is_read_or_refused), T_TEST(nesting_a_million_deep_costs_no_stack),
       T_TEST(memory_stays_in_proportion_to_the_bytes_read), T_TEST(doubling_costs_nothing),
       T_TEST(reading_can_be_stopped), T_TEST(windows_of_any_size_give_the_same_value),
       T_TEST(running_out_of_memory_anywhere_leaks_nothing),
       T_TEST(json_and_nothing_look_like_no_pickle))
