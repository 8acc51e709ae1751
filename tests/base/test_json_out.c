/*
 * test_json_out.c - JSON to the letter, and valid whatever goes in.
 */
#include "harness.h"

#include "base/json_out.h"

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>

#define TEXT_MAX ((size_t)1 << 24)

typedef void write_something(plim_json *json);

/* What `body` writes, without the final newline; the caller deinits the text. */
static void written(plim_text *text, unsigned style, write_something *body)
{
    plim_text_init(text, NULL, TEXT_MAX);
    plim_json json;
    plim_json_init(&json, plim_sink_to_text(text), style);
    body(&json);
    T_TRUE(plim_json_finish(&json));
    T_TRUE(text->length > 0 && text->data[text->length - 1] == '\n');
    text->data[--text->length] = '\0';
}

static void write_document(plim_json *json)
{
    plim_json_begin_object(json);
    plim_json_member_string(json, "schema", "test/1");
    plim_json_member_u64(json, "bytes", UINT64_MAX);
    plim_json_member_i64(json, "delta", INT64_MIN);
    plim_json_member_double(json, "share", 0.1);
    plim_json_member_bool(json, "fine", true);
    plim_json_key(json, "nothing");
    plim_json_null(json);
    plim_json_key(json, "numbers");
    plim_json_begin_array(json);
    plim_json_u64(json, 1);
    plim_json_double(json, 2.5);
    plim_json_bool(json, false);
    plim_json_end_array(json);
    plim_json_key(json, "rows");
    plim_json_begin_array(json);
    for (uint64_t i = 0; i < 2; i++) {
        plim_json_begin_array(json);
        plim_json_u64(json, i);
        plim_json_u64(json, i + 1);
        plim_json_end_array(json);
    }
    plim_json_end_array(json);
    plim_json_key(json, "words");
    plim_json_begin_array(json);
    plim_json_string(json, "a");
    plim_json_string(json, "b");
    plim_json_end_array(json);
    plim_json_key(json, "no members");
    plim_json_begin_object(json);
    plim_json_end_object(json);
    plim_json_key(json, "no items");
    plim_json_begin_array(json);
    plim_json_end_array(json);
    plim_json_end_object(json);
}

static void compact_documents_have_no_blanks(void)
{
    plim_text text;
    written(&text, PLIM_JSON_COMPACT, write_document);
    T_EQ_STR(plim_text_string(&text),
             "{\"schema\":\"test/1\",\"bytes\":18446744073709551615,"
             "\"delta\":-9223372036854775808,\"share\":0.1,\"fine\":true,\"nothing\":null,"
             "\"numbers\":[1,2.5,false],\"rows\":[[0,1],[1,2]],\"words\":[\"a\",\"b\"],"
             "\"no members\":{},\"no items\":[]}");
    plim_text_deinit(&text);
}

static void pretty_documents_are_indented_but_for_numbers(void)
{
    plim_text text;
    written(&text, PLIM_JSON_PRETTY, write_document);
    T_EQ_STR(plim_text_string(&text), "{\n"
                                      "  \"schema\": \"test/1\",\n"
                                      "  \"bytes\": 18446744073709551615,\n"
                                      "  \"delta\": -9223372036854775808,\n"
                                      "  \"share\": 0.1,\n"
                                      "  \"fine\": true,\n"
                                      "  \"nothing\": null,\n"
                                      "  \"numbers\": [1, 2.5, false],\n"
                                      "  \"rows\": [\n"
                                      "    [0, 1],\n"
                                      "    [1, 2]\n"
                                      "  ],\n"
                                      "  \"words\": [\n"
                                      "    \"a\",\n"
                                      "    \"b\"\n"
                                      "  ],\n"
                                      "  \"no members\": {},\n"
                                      "  \"no items\": []\n"
                                      "}");
    plim_text_deinit(&text);
}

static void string_is_written_as(const char *data, size_t bytes, unsigned style,
                                 const char *expected)
{
    plim_text text;
    plim_text_init(&text, NULL, TEXT_MAX);
    plim_json json;
    plim_json_init(&json, plim_sink_to_text(&text), style);
    plim_json_string_bytes(&json, data, bytes);
    T_TRUE(plim_json_finish(&json));
    T_EQ_STR(plim_text_string(&text), expected);
    plim_text_deinit(&text);
}

#define FFFD "\xef\xbf\xbd"

static void strings_are_escaped_and_made_utf8(void)
{
    static const struct {
        const char *name;
        const char *data;
        size_t bytes;
        const char *expected;
    } cases[] = {
#define ROW(name, data, expected) { name, data, sizeof(data) - 1, "\"" expected "\"\n" }
        ROW("nothing", "", ""),
        ROW("plain", "std::vector<int>&", "std::vector<int>&"),
        ROW("quotes", "a\"b\\c/", "a\\\"b\\\\c/"),
        ROW("named controls", "\n\r\t", "\\n\\r\\t"),
        ROW("other controls", "\0\x01\x1b\x7f", "\\u0000\\u0001\\u001b\\u007f"),
        ROW("two bytes", "\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf"),
        ROW("three bytes", "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
            "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"),
        ROW("four bytes", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
        ROW("line ends of JavaScript", "\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa7",
            "\\u2028\\u2029\xe2\x80\xa7"),
        ROW("a lone continuation", "a\x80z", "a" FFFD "z"),
        ROW("bytes that never occur", "\xc0\xc1\xf5\xff", FFFD FFFD FFFD FFFD),
        ROW("a shorter form exists: 2", "\xc1\xbf", FFFD FFFD),
        ROW("a shorter form exists: 3", "\xe0\x9f\xbf", FFFD FFFD FFFD),
        ROW("a shorter form exists: 4", "\xf0\x8f\xbf\xbf", FFFD FFFD FFFD FFFD),
        ROW("a surrogate", "\xed\xa0\x80", FFFD FFFD FFFD),
        ROW("above the last character", "\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD),
        ROW("cut off at the end: 2", "a\xc3", "a" FFFD),
        ROW("cut off at the end: 3", "a\xe2\x82", "a" FFFD),
        ROW("cut off at the end: 4", "a\xf0\x9f\x92", "a" FFFD),
        ROW("cut off in the middle", "\xf0\x9f\x92z\xe2\x82\"", FFFD "z" FFFD "\\\""),
        /* The example of Unicode 15, table 3-11. */
        ROW("the standard's example", "\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41",
            FFFD FFFD FFFD FFFD "A"),
#undef ROW
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        string_is_written_as(cases[i].data, cases[i].bytes, PLIM_JSON_COMPACT, cases[i].expected);
    }
    string_is_written_as("</script>&", 10, PLIM_JSON_HTML, "\"\\u003c/script\\u003e\\u0026\"\n");
}

static void doubles_are_as_short_as_they_can_be(void)
{
    const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0, "0\n" },
        { -0.0, "-0\n" },
        { 1, "1\n" },
        { 0.1, "0.1\n" },
        { 0.1 + 0.2, "0.30000000000000004\n" },
        { 1.0 / 3, "0.3333333333333333\n" },
        { 1e21, "1e+21\n" },
        { 9007199254740993.0, "9007199254740992\n" },
        { 1.7976931348623157e308, "1.7976931348623157e+308\n" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308\n" },
        { 5e-324, "5e-324\n" },
        { (double)NAN, "null\n" },
        { (double)INFINITY, "null\n" },
        { -(double)INFINITY, "null\n" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%.17g", cases[i].value);
        plim_text text;
        plim_text_init(&text, NULL, TEXT_MAX);
        plim_json json;
        plim_json_init(&json, plim_sink_to_text(&text), PLIM_JSON_COMPACT);
        plim_json_double(&json, cases[i].value);
        T_TRUE(plim_json_finish(&json));
        T_EQ_STR(plim_text_string(&text), cases[i].text);
        plim_text_deinit(&text);
    }
}

static void doubles_read_back_to_the_bit(void)
{
    plim_text text;
    plim_text_init(&text, NULL, TEXT_MAX);
    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = t_random();
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        plim_text_reset(&text);
        plim_json json;
        plim_json_init(&json, plim_sink_to_text(&text), PLIM_JSON_COMPACT);
        plim_json_double(&json, value);
        T_TRUE(plim_json_finish(&json));
        const double back = strtod(plim_text_string(&text), NULL);
        T_EQ_MEM(&back, &value, sizeof back);
    }
    plim_text_deinit(&text);
}

static void write_half(plim_json *json)
{
    plim_json_double(json, 0.5);
}

static void the_point_is_a_point_in_every_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ps_AF.UTF-8" };
    bool found = false;
    for (size_t i = 0; i < T_COUNT(names); i++) {
        if (setlocale(LC_NUMERIC, names[i]) != NULL) {
            found = true;
            plim_text text;
            written(&text, PLIM_JSON_COMPACT, write_half);
            T_EQ_STR(plim_text_string(&text), "0.5");
            plim_text_deinit(&text);
        }
    }
    setlocale(LC_NUMERIC, "C");
    if (!found) {
        T_SKIP("no locale with a decimal comma is installed");
    }
}

/* Any value up to `depth` levels, with strings of any bytes. */
/* NOLINTNEXTLINE(misc-no-recursion): values nest, and `depth` bounds them */
static void write_random(plim_json *json, unsigned depth)
{
    char noise[40];
    const size_t bytes = (size_t)t_random_between(0, sizeof noise - 1);
    for (size_t i = 0; i < bytes; i++) {
        noise[i] = (char)t_random_between(1, 255);
    }
    noise[bytes] = '\0';
    const uint64_t items = t_random_between(0, 4);
    switch (t_random_between(0, depth > 0 ? 7 : 5)) {
    case 0:
        plim_json_string_bytes(json, noise, bytes);
        break;
    case 1:
        plim_json_u64(json, t_random_bytes(0, UINT64_MAX / 4)); /* yajl reads 63 bits */
        break;
    case 2:
        plim_json_i64(json, -(int64_t)t_random_bytes(0, INT64_MAX));
        break;
    case 3:
        plim_json_double(json, (double)t_random() / (double)t_random_between(1, 1000));
        break;
    case 4:
        plim_json_bool(json, t_random() % 2 == 0);
        break;
    case 5:
        plim_json_null(json);
        break;
    case 6:
        plim_json_begin_array(json);
        for (uint64_t i = 0; i < items; i++) {
            write_random(json, depth - 1);
        }
        plim_json_end_array(json);
        break;
    default:
        plim_json_begin_object(json);
        for (uint64_t i = 0; i < items; i++) {
            plim_json_key(json, noise);
            write_random(json, depth - 1);
        }
        plim_json_end_object(json);
        break;
    }
}

static void another_librarys_parser_accepts_all_of_it(void)
{
    for (unsigned i = 0; i < 3000; i++) {
        plim_text text;
        plim_text_init(&text, NULL, TEXT_MAX);
        plim_json json;
        plim_json_init(&json, plim_sink_to_text(&text), i % 4);
        write_random(&json, 6);
        T_TRUE(plim_json_finish(&json));
        yajl_handle parser = yajl_alloc(NULL, NULL, NULL);
        yajl_status status =
            yajl_parse(parser, (const unsigned char *)plim_text_string(&text), text.length);
        if (status == yajl_status_ok) {
            status = yajl_complete_parse(parser);
        }
        yajl_free(parser);
        if (status != yajl_status_ok) {
            fail_msg("not JSON: %s", plim_text_string(&text));
        }
        plim_text_deinit(&text);
    }
}

typedef struct failing_sink {
    size_t room;
    size_t calls_after_failure;
    bool failed;
} failing_sink;

static bool write_until_full(void *ctx, const void *data, size_t bytes)
{
    (void)data;
    failing_sink *sink = ctx;
    sink->calls_after_failure += sink->failed;
    sink->failed = bytes > sink->room;
    sink->room -= sink->failed ? 0 : bytes;
    return !sink->failed;
}

static void a_sink_that_fails_is_left_alone_and_told_at_the_end(void)
{
    for (size_t room = 0; room < 20000; room += 4999) {
        failing_sink sink = { .room = room };
        plim_json json;
        plim_json_init(&json, (plim_sink){ .write = write_until_full, .ctx = &sink },
                       PLIM_JSON_PRETTY);
        plim_json_begin_array(&json);
        for (uint64_t i = 0; i < 10000; i++) {
            plim_json_u64(&json, i);
        }
        plim_json_end_array(&json);
        T_FALSE(plim_json_finish(&json));
        T_EQ_U64(sink.calls_after_failure, 0);
    }
}

static void nest_to_the_limit(plim_json *json)
{
    for (int i = 0; i < PLIM_JSON_DEPTH_MAX; i++) {
        plim_json_begin_array(json);
    }
    for (int i = 0; i < PLIM_JSON_DEPTH_MAX; i++) {
        plim_json_end_array(json);
    }
}

static void nest_beyond_the_limit(plim_json *json)
{
    for (int i = 0; i <= PLIM_JSON_DEPTH_MAX; i++) {
        plim_json_begin_array(json);
    }
}

static void value_without_key(plim_json *json)
{
    plim_json_begin_object(json);
    plim_json_null(json);
}

static void key_without_value(plim_json *json)
{
    plim_json_begin_object(json);
    plim_json_key(json, "a");
    plim_json_end_object(json);
}

static void key_in_an_array(plim_json *json)
{
    plim_json_begin_array(json);
    plim_json_key(json, "a");
}

static void ends_the_wrong_thing(plim_json *json)
{
    plim_json_begin_array(json);
    plim_json_end_object(json);
}

static void ends_too_often(plim_json *json)
{
    plim_json_begin_array(json);
    plim_json_end_array(json);
    plim_json_end_array(json);
}

static void two_documents(plim_json *json)
{
    plim_json_null(json);
    plim_json_null(json);
}

static void ends_early(plim_json *json)
{
    plim_json_begin_array(json);
    (void)!plim_json_finish(json);
}

static void no_document(plim_json *json)
{
    (void)!plim_json_finish(json);
}

/* True if `body` is stopped by an assertion, tried in a process of its own. */
static bool aborts(write_something *body)
{
    const pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL); /* cmocka catches it */
        plim_text text;
        plim_text_init(&text, NULL, TEXT_MAX);
        plim_json json;
        plim_json_init(&json, plim_sink_to_text(&text), PLIM_JSON_COMPACT);
        body(&json);
        _exit(0);
    }
    int status = 0;
    T_TRUE(waitpid(child, &status, 0) == child);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void impossible_orders_are_caught(void)
{
    static const struct {
        const char *name;
        write_something *body;
        bool aborts;
    } cases[] = {
        { "the deepest nesting is allowed", nest_to_the_limit, false },
        { "one deeper is not", nest_beyond_the_limit, true },
        { "a value without a key", value_without_key, true },
        { "a key without a value", key_without_value, true },
        { "a key in an array", key_in_an_array, true },
        { "an array ended as an object", ends_the_wrong_thing, true },
        { "one end too many", ends_too_often, true },
        { "two documents", two_documents, true },
        { "finished within an array", ends_early, true },
        { "finished without a value", no_document, true },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        T_TRUE(aborts(cases[i].body) == cases[i].aborts);
    }
}

T_MAIN(T_TEST(compact_documents_have_no_blanks),
       T_TEST(pretty_documents_are_indented_but_for_numbers),
       T_TEST(strings_are_escaped_and_made_utf8), T_TEST(doubles_are_as_short_as_they_can_be),
       T_TEST(doubles_read_back_to_the_bit), T_TEST(the_point_is_a_point_in_every_locale),
       T_TEST(another_librarys_parser_accepts_all_of_it),
       T_TEST(a_sink_that_fails_is_left_alone_and_told_at_the_end),
       T_TEST(impossible_orders_are_caught))
