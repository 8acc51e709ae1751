/*
 * test_with_file.c - reports of techniques are read and joined, and what is broken costs only
 * itself.
 */
#include "harness.h"

#include "rehearse/folder.h"
#include "rehearse/with_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char whole[] =
    "{\"version\": 1, \"pid\": 42, \"techniques\": ["
    " {\"name\": \"checkpoint\", \"value\": \"every:2\", \"state\": \"applied\","
    "  \"text\": \"6 blocks\", \"label\": null, \"label_text\": null,"
    "  \"places\": [{\"what\": \"model\", \"file\": \"train.py\", \"line\": 12}, 7, {\"line\": 1}],"
    "  \"facts\": {\"blocks\": 6, \"owner\": \"GPT\", \"list\": [1], \"none\": null}},"
    " {\"name\": \"autocast\", \"value\": \"bf16\", \"state\": \"refused\", \"text\": \"why\","
    "  \"label\": \"changed\", \"label_text\": \"because\"},"
    " {\"state\": \"applied\"}, 7],"
    " \"warnings\": [\"one\", 2], \"of a later version\": {}}";

static plim_status take(const char *text, plim_arena *arena, plim_with_report *ret, plim_error *err)
{
    yajl_val root = NULL;
    plim_status status = plim_json_read_text("report", text, &root, err);
    if (status == PLIM_OK) {
        status = plim_with_take(root, "report", arena, ret, err);
    }
    yajl_tree_free(root);
    return status;
}

static void everything_is_read(void)
{
    plim_arena arena;
    plim_with_report report;
    plim_arena_init(&arena, &plim_mem_heap);
    T_EQ_I64(take(whole, &arena, &report, NULL), PLIM_OK);
    T_EQ_I64(report.pid, 42);
    T_EQ_U64(report.technique_count, 2); /* one without a name is left out */
    const plim_rehearsed_technique *const one = &report.techniques[0];
    T_EQ_STR(one->name, "checkpoint");
    T_EQ_STR(one->value, "every:2");
    T_EQ_STR(one->state, "applied");
    T_EQ_STR(one->text, "6 blocks");
    T_NULL(one->label);
    T_EQ_U64(one->place_count, 1);
    T_EQ_STR(one->places[0].what, "model");
    T_EQ_U64(one->places[0].line, 12);
    T_EQ_U64(one->detail_count, 2);
    T_EQ_STR(one->details[0].name, "blocks");
    T_EQ_STR(one->details[0].value, "6");
    T_EQ_STR(one->details[1].value, "GPT");
    T_EQ_STR(report.techniques[1].label, "changed");
    T_EQ_STR(report.techniques[1].label_text, "because");
    T_EQ_U64(report.warning_count, 1);
    plim_arena_deinit(&arena);
}

static void what_is_broken_costs_only_itself(void)
{
    static const struct {
        const char *text;
        plim_status status;
    } rows[] = {
        { "", PLIM_CORRUPT },
        { "[1, 2]", PLIM_UNSUPPORTED },
        { "{\"version\": 2}", PLIM_UNSUPPORTED },
        { "{\"version\": 1}", PLIM_OK },
        { "{\"version\": 1, \"techniques\": {\"a\": 1}, \"pid\": -4}", PLIM_OK },
        { "{\"version\": 1, \"techniques\": [1, null, [], {\"name\": 7}], \"pid\": \"x\"}",
          PLIM_OK },
        { "{\"version\": 1, \"techniques\": [{\"name\": \"a\", \"state\": 1, \"label\": \"good\","
          " \"places\": 3, \"facts\": [1]}]}",
          PLIM_OK },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_arena arena;
        plim_with_report report = { 0 };
        plim_error err = { 0 };
        T_CASE("%s", rows[i].text);
        plim_arena_init(&arena, &plim_mem_heap);
        T_EQ_I64(take(rows[i].text, &arena, &report, &err), rows[i].status);
        T_TRUE(rows[i].status == PLIM_OK || strchr(err.message, '\n') == NULL);
        for (size_t j = 0; j < report.technique_count; j++) {
            T_EQ_STR(report.techniques[j].state, "waiting");
            T_NULL(report.techniques[j].label);
            T_EQ_STR(report.techniques[j].value, "");
        }
        plim_arena_deinit(&arena);
    }
}

/* ---- a folder of them ------------------------------------------------------------------------ */

#define REPORT(pid, first, second)                                                               \
    "{\"version\": 1, \"pid\": " pid ", \"techniques\": [{\"name\": \"set_to_none\", \"state\":" \
    " \"" first "\"}, {\"name\": \"accumulate\", \"value\": \"4\", \"state\": \"" second         \
    "\", \"text\": \"of " pid "\"}]}"

static const struct {
    const char *name;
    const char *text;
} files[] = {
    { "with/7.json", REPORT("7", "waiting", "no_effect") },
    { "with/8.json", REPORT("8", "applied", "refused") },
    { "with/9.json", "{\"version\": 1, \"techn" },
    { "with/10.json.part", "{" },
};

static char folder[PLIM_PATH_BYTES];

static void write_files(void)
{
    static const char *const inside[] = { PLIM_RUN_WITH, NULL };
    T_EQ_I64(plim_folder_make(folder, sizeof(folder), inside, NULL), PLIM_OK);
    for (size_t i = 0; i < T_COUNT(files); i++) {
        char path[PLIM_PATH_BYTES];
        T_EQ_I64(plim_folder_join(path, sizeof(path), folder, files[i].name, NULL), PLIM_OK);
        FILE *const file = fopen(path, "we");
        T_NOT_NULL(file);
        T_TRUE(fputs(files[i].text, file) >= 0);
        T_EQ_I64(fclose(file), 0);
    }
}

static void processes_are_joined(void)
{
    plim_arena arena;
    plim_with_reports reports = { 0 };
    const plim_rehearsed_technique *all = NULL;
    size_t count = 0;
    plim_arena_init(&arena, &plim_mem_heap);
    write_files();
    T_EQ_I64(plim_with_read(folder, &arena, &reports, NULL), PLIM_OK);
    T_EQ_U64(reports.count, 2);
    T_EQ_I64(reports.items[0].pid, 7);
    T_EQ_STR(reports.items[0].text, files[0].text);
    T_EQ_U64(reports.unread_count, 1);
    T_EQ_I64(
        plim_with_join("accumulate=4\nfused\nset_to_none", &reports, &arena, &all, &count, NULL),
        PLIM_OK);
    T_EQ_U64(count, 3);
    T_EQ_STR(all[0].name, "accumulate");
    T_EQ_STR(all[0].state, "refused");
    T_EQ_STR(all[0].text, "of 8");
    T_EQ_STR(all[1].name, "fused"); /* no process said a word */
    T_EQ_STR(all[1].state, "waiting");
    T_EQ_STR(all[2].state, "applied");
    T_EQ_I64(plim_with_join(NULL, &reports, &arena, &all, &count, NULL), PLIM_OK);
    T_EQ_U64(count, 2);
    T_EQ_STR(all[0].name, "set_to_none");
    T_EQ_STR(all[1].state, "refused");
    plim_folder_remove(folder);
    T_EQ_I64(plim_with_read("/nowhere", &arena, &reports, NULL), PLIM_OK);
    T_EQ_U64(reports.count, 0);
    T_EQ_I64(plim_with_join(NULL, &reports, &arena, &all, &count, NULL), PLIM_OK);
    T_EQ_U64(count, 0);
    plim_arena_deinit(&arena);
}

static bool read_once(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_arena arena;
    plim_with_reports reports = { 0 };
    const plim_rehearsed_technique *all = NULL;
    size_t count = 0;
    plim_error err = { 0 };
    plim_arena_init(&arena, mem);
    plim_status status = plim_with_read(folder, &arena, &reports, &err);
    if (status == PLIM_OK) {
        status = plim_with_join("set_to_none", &reports, &arena, &all, &count, &err);
    }
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_TRUE(status == PLIM_OK || err.status == PLIM_OUT_OF_HOST_MEMORY);
    plim_arena_deinit(&arena);
    return status == PLIM_OK;
}

static void every_failing_allocation_is_an_error(void)
{
    write_files();
    t_fail_each_allocation(read_once, NULL);
    plim_folder_remove(folder);
}

T_MAIN(T_TEST(everything_is_read), T_TEST(what_is_broken_costs_only_itself),
       T_TEST(processes_are_joined), T_TEST(every_failing_allocation_is_an_error))
