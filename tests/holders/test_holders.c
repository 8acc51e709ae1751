/*
 * test_holders.c - a document of holders read: its members, its blocks by address, and what is
 * hostile in it.
 */
#include "plimsoll/holders.h"

#include "harness.h"

#define DOCUMENT "fuzz/corpus/holders/leak.json"

static plim_holders *read_text(const char *text)
{
    plim_holders *holders = NULL;
    plim_error err = { 0 };
    if (plim_holders_read_text(text, strlen(text), NULL, &holders, &err) != PLIM_OK) {
        print_error("%s\n", err.message);
        T_TRUE(holders == NULL);
        T_TRUE(false);
    }
    return holders;
}

static void says_all_that_the_document_says(void)
{
    plim_holders *holders = NULL;
    T_EQ_U64(plim_holders_read(DOCUMENT, NULL, &holders, NULL), PLIM_OK);
    const plim_holders_facts *const facts = plim_holders_facts_of(holders);
    T_TRUE(facts->is_at_failure && facts->is_complete && facts->why_incomplete == NULL);
    T_TRUE(facts->has_all_blocks);
    T_EQ_U64(facts->pid, 4711);
    T_TRUE(facts->seconds == 0.25);
    T_TRUE(facts->garbage.was_searched);
    T_EQ_U64(facts->garbage.objects, 12);
    T_EQ_U64(facts->warning_count, 1);
    T_EQ_STR(facts->warnings[0], "the search skipped 2 objects");
    T_EQ_U64(plim_holders_device_count(holders), 1);
    T_EQ_U64(plim_holders_device_at(holders, 0)->graph_bytes, 512);
    T_EQ_U64(plim_holders_count(holders), 2);
    const plim_holder *const list = plim_holders_at(holders, 0);
    T_EQ_U64(list->kind, PLIM_HOLDER_LOCAL);
    T_EQ_STR(list->text, "list `losses` in train (train.py:41)");
    T_EQ_U64(list->path_count, 1);
    T_EQ_STR(list->path[0], "local losses");
    T_EQ_U64(list->line, 41);
    T_EQ_U64(list->made_line, 38);
    T_EQ_U64(list->also_count, 1);
    T_EQ_U64(list->also[0], 1);
    T_EQ_U64(plim_holders_at(holders, 1)->kind, PLIM_HOLDER_PARAMETERS);
    T_NULL(plim_holders_at(holders, 1)->file);
    plim_holders_destroy(holders);
}

static void finds_blocks_by_device_and_address(void)
{
    plim_holders *const holders =
        read_text("{\"schema\": \"holders/1\", \"holders\": ["
                  "{\"id\": 3, \"blocks\": [[9, 1, \"a\"], [4, 2, \"b\"]], \"device\": 1},"
                  "{\"id\": 4, \"blocks\": [[4, 2, \"c\"], [5, 2]], \"device\": 1},"
                  "{\"id\": 5, \"blocks\": [[4, 7, \"d\"]], \"device\": 0}]}");
    T_EQ_U64(plim_holders_find(holders, 1, 9)->bytes, 1);
    T_EQ_U64(plim_holders_find(holders, 1, 4)->holder->id, 3); /* of two, the first */
    T_EQ_STR(plim_holders_find(holders, 0, 4)->label, "d");
    T_NULL(plim_holders_find(holders, 1, 5)->label);
    T_NULL(plim_holders_find(holders, 0, 5));
    T_NULL(plim_holders_find(holders, 2, 4));
    T_NULL(plim_holders_find(holders, 1, 10));
    plim_holders_destroy(holders);
}

static void passes_over_what_it_does_not_know(void)
{
    plim_holders *const holders = read_text(
        "{\"new\": {\"holders\": [{\"kind\": \"cache\"}]}, \"schema\": \"holders/1\", \"holders\": "
        "[{\"kind\": \"of_later\", \"name\": null, \"more\": [[1], {}], \"blocks\": [[1, 2, \"a\", "
        "7]]}], \"garbage\": null}");
    T_EQ_U64(plim_holders_count(holders), 1);
    T_EQ_U64(plim_holders_at(holders, 0)->kind, PLIM_HOLDER_UNKNOWN);
    T_NULL(plim_holders_at(holders, 0)->name);
    T_FALSE(plim_holders_facts_of(holders)->garbage.was_searched);
    T_NOT_NULL(plim_holders_find(holders, 0, 1));
    plim_holders_destroy(holders);
}

#define HOLDER(member) "{\"schema\": \"holders/1\", \"holders\": [{" member "}]}"

static void refuses_what_is_hostile(void)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        { "", "" },
        { "[]", "not a document of holders (holders/1)" },
        { "7", "not a document of holders (holders/1)" },
        { "{}", "not a document of holders (holders/1)" },
        { "{\"schema\": \"inspect/1\"}", "not a document of holders (holders/1)" },
        { "{\"schema\": \"holders/2\"}",
          "unsupported version of a document of holders; this release reads holders/1" },
        { "{\"schema\": 1}", "\"schema\" of a document of holders is not a text" },
        { "{\"schema\": \"holders/1\", \"holders\": 5}",
          "\"holders\" of a document of holders is not a list or an object" },
        { "{\"schema\": \"holders/1\", \"holders\": {}}",
          "\"holders\" of a document of holders is not a list or an object" },
        { "{\"schema\": \"holders/1\", \"holders\": [7]}",
          "an item of a document of holders is not an object" },
        { "{\"schema\": \"holders/1\", \"is_complete\": \"yes\"}",
          "\"is_complete\" of a document of holders is not true or false" },
        { HOLDER("\"bytes\": -1"),
          "\"bytes\" of a document of holders is not a whole number in bounds" },
        { HOLDER("\"bytes\": 1.5"),
          "\"bytes\" of a document of holders is not a whole number in bounds" },
        { HOLDER("\"bytes\": 18446744073709551616"),
          "\"bytes\" of a document of holders is not a whole number in bounds" },
        { HOLDER("\"device\": 2147483648"),
          "\"device\" of a document of holders is not a whole number in bounds" },
        { HOLDER("\"bytes\": \"7\""), "\"bytes\" of a document of holders is not a number" },
        { HOLDER("\"name\": 7"), "\"name\" of a document of holders is not a text" },
        { HOLDER("\"name\": []"), "\"name\" of a document of holders is not a text" },
        { HOLDER("\"blocks\": [7]"), "an item of a document of holders is not a list" },
        { HOLDER("\"blocks\": [[7]]"),
          "an item of a document of holders is not [address, bytes, label]" },
        { HOLDER("\"blocks\": [[\"a\", 7, \"b\"]]"),
          "an item of a document of holders is not [address, bytes, label]" },
        { HOLDER("\"also\": [\"a\"]"), "an item of a document of holders is not a number" },
        { HOLDER("\"path\": [1]"), "an item of a document of holders is not a text" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].text);
        plim_holders *holders = NULL;
        plim_error err = { 0 };
        T_TRUE(plim_holders_read_text(cases[i].text, strlen(cases[i].text), NULL, &holders, &err) !=
               PLIM_OK);
        T_NULL(holders);
        T_TRUE(cases[i].says[0] == '\0' || strcmp(err.message, cases[i].says) == 0);
    }
}

static void cuts_long_texts_between_characters(void)
{
    static const char head[] = "{\"schema\": \"holders/1\", \"holders\": [{\"name\": \"a";
    enum { CHARACTERS = 1 << 19 };
    char *const text = malloc(sizeof head + 2 * CHARACTERS + 8);
    T_NOT_NULL(text);
    memcpy(text, head, sizeof head);
    size_t length = sizeof head - 1;
    for (size_t i = 0; i < CHARACTERS; i++) {
        text[length++] = '\xc3'; /* a letter of two bytes */
        text[length++] = '\xa4';
    }
    (void)snprintf(text + length, 8, "\"}]}");
    plim_holders *const holders = read_text(text);
    T_EQ_U64(strlen(plim_holders_at(holders, 0)->name), 4095);
    plim_holders_destroy(holders);
    free(text);
}

static void nesting_costs_no_stack(void)
{
    static const char head[] = "{\"schema\": \"holders/1\", \"x\": ";
    enum { DEEP = 1 << 20 };
    char *const text = calloc(sizeof head + (size_t)2 * DEEP + 8, 1);
    T_NOT_NULL(text);
    memcpy(text, head, sizeof head);
    size_t length = sizeof head - 1;
    memset(text + length, '[', DEEP);
    memset(text + length + DEEP, ']', DEEP);
    text[length + (size_t)2 * DEEP] = '}';
    plim_holders_destroy(read_text(text));
    free(text);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_holders *holders = NULL;
    plim_error err = { 0 };
    const plim_status status = plim_holders_read(DOCUMENT, mem, &holders, &err);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    plim_holders_destroy(holders);
    return status == PLIM_OK;
}

static void each_lack_of_memory_is_an_error(void)
{
    t_fail_each_allocation(attempt, NULL);
}

static void the_name_beside_a_recording(void)
{
    static const char *const cases[][2] = {
        { "run/001-oom.pickle", "run/001-oom.holders.json" },
        { "a b.pickle.zst", "a b.holders.json" },
        { "x.pickle.gz", "x.holders.json" },
        { "x.plim", "x.holders.json" },
        { "x", "x.holders.json" },
        { "x.1", "x.1.holders.json" },
        { ".pickle", ".pickle.holders.json" },
    };
    char name[64];
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i][0]);
        T_TRUE(plim_holders_beside(cases[i][0], name, sizeof name));
        T_EQ_STR(name, cases[i][1]);
    }
    T_FALSE(plim_holders_beside("-", name, sizeof name));
    T_FALSE(plim_holders_beside("abc.pickle", name, 16));
    T_TRUE(plim_holders_beside("abc.pickle", name, 17));
}

T_MAIN(T_TEST(says_all_that_the_document_says), T_TEST(finds_blocks_by_device_and_address),
       T_TEST(passes_over_what_it_does_not_know), T_TEST(refuses_what_is_hostile),
       T_TEST(cuts_long_texts_between_characters), T_TEST(nesting_costs_no_stack),
       T_TEST(each_lack_of_memory_is_an_error), T_TEST(the_name_beside_a_recording))
