/*
 * fuzz_run.c - any bytes as the document of a process, as that of a dump, and as the report of
 * techniques.
 */
#include "base/assert.h"
#include "rehearse/with_file.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX ((size_t)64 << 10)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t use_process(const plim_ran_process *process)
{
    size_t length = strlen(process->ended) + strlen(process->record);
    for (size_t i = 0; i < process->argv_count; i++) {
        length += strlen(process->argv[i]);
    }
    for (size_t i = 0; i < process->oom_place_count; i++) {
        length += strlen(process->ooms[i].where);
    }
    for (size_t i = 0; i < process->growth_count; i++) {
        length += process->growth[i].where != NULL ? strlen(process->growth[i].where) : 0;
    }
    return length;
}

static size_t use_dump(const plim_ran_dump *dump)
{
    size_t length = strlen(dump->reason) + (dump->error != NULL ? strlen(dump->error) : 0);
    for (size_t i = 0; i < dump->device_count; i++) {
        for (size_t j = 0; j < dump->devices[i].user_count; j++) {
            const char *const name = dump->devices[i].users[j].name;
            length += name != NULL ? strlen(name) : 0;
        }
    }
    PLIM_ASSERT(dump->snapshot_path == NULL); /* the folder is empty */
    return length;
}

static size_t use_report(const plim_with_report *report)
{
    size_t length = 0;
    for (size_t i = 0; i < report->technique_count; i++) {
        const plim_rehearsed_technique *const one = &report->techniques[i];
        length += strlen(one->name) + strlen(one->value);
        PLIM_ASSERT(strlen(one->state) > 0);
        for (size_t j = 0; j < one->place_count; j++) {
            length += strlen(one->places[j].what) + strlen(one->places[j].file);
        }
        for (size_t j = 0; j < one->detail_count; j++) {
            length += strlen(one->details[j].name) + strlen(one->details[j].value);
        }
    }
    return length;
}

static void read_tree(yajl_val root, size_t size)
{
    plim_arena arena;
    plim_error err = { .status = PLIM_OK };
    plim_ran_process process;
    plim_ran_dump dump;
    plim_with_report report;
    plim_arena_init(&arena, &plim_mem_heap);
    if (plim_run_process_take(root, "process.json", &arena, &process, &err) == PLIM_OK) {
        PLIM_ASSERT(use_process(&process) <= 8 * size + 32);
    }
    if (plim_run_dump_take(root, "/nowhere", "001-oom.json", &arena, &dump, &err) == PLIM_OK) {
        PLIM_ASSERT(use_dump(&dump) <= 8 * size);
    }
    if (plim_with_take(root, "42.json", &arena, &report, &err) == PLIM_OK) {
        const plim_with_reports reports = { .items = &report, .count = 1 };
        const plim_rehearsed_technique *joined = NULL;
        size_t count = 0;
        PLIM_ASSERT(use_report(&report) <= 8 * size);
        PLIM_ASSERT(plim_with_join(NULL, &reports, &arena, &joined, &count, &err) == PLIM_OK);
        PLIM_ASSERT(count == report.technique_count);
    }
    plim_arena_deinit(&arena);
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = size <= INPUT_BYTES_MAX ? malloc(size + 1) : NULL;
    yajl_val root = NULL;
    plim_error err = { .status = PLIM_OK };
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    if (plim_json_read_text("document", text, &root, &err) == PLIM_OK) {
        read_tree(root, size);
    }
    yajl_tree_free(root);
    free(text);
    return 0;
}
