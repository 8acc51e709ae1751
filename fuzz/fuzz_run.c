/*
 * fuzz_run.c - any bytes as the document of a process, and as that of a dump.
 */
#include "base/assert.h"
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

static void read_tree(yajl_val root, size_t size)
{
    plim_arena arena;
    plim_error err = { .status = PLIM_OK };
    plim_ran_process process;
    plim_ran_dump dump;
    plim_arena_init(&arena, &plim_mem_heap);
    if (plim_run_process_take(root, "process.json", &arena, &process, &err) == PLIM_OK) {
        PLIM_ASSERT(use_process(&process) <= 8 * size + 32);
    }
    if (plim_run_dump_take(root, "/nowhere", "001-oom.json", &arena, &dump, &err) == PLIM_OK) {
        PLIM_ASSERT(use_dump(&dump) <= 8 * size);
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
