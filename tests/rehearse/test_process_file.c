/*
 * test_process_file.c - what an agent wrote is read back, and what is broken costs only itself.
 */
#include "harness.h"

#include "rehearse/folder.h"
#include "rehearse/process_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char whole[] =
    "{\"version\": 1, \"pid\": 42, \"rank\": 3, \"world_size\": 8, \"torch\": \"2.11.0+cu130\","
    " \"ended\": \"oom\", \"exception\": \"OutOfMemoryError\", \"steps\": 2,"
    " \"seconds\": {\"import\": 1.5, \"total\": 9}, \"conf\": \"\", \"snapshot\": \"42.pickle\","
    " \"devices\": [{\"device\": 1, \"peak_allocated_bytes\": 85899345920,"
    "   \"peak_step\": 2, \"peak_phase\": \"backward\", \"phases\": [{\"phase\": \"forward\","
    "   \"peak_allocated_bytes\": 7}], \"steps\": [{\"step\": 1, \"end_allocated_bytes\": 5}]}],"
    " \"ooms\": [{\"device\": 1, \"requested_bytes\": 512, \"text\": null,"
    "   \"stack\": [\"a.py:1 f\", 7, \"b.py:2 g\"]}],"
    " \"oom_count\": 25, \"oom_places\": [{\"where\": \"a.py:1 f\", \"count\": 24}, 7],"
    " \"no_gpu_text\": \"why\","
    " \"value_reads\": [{\"where\": \"a.py:9\", \"count\": 4}], \"warnings\": [\"one\"],"
    " \"of a later version\": {}}";

static char folder[PLIM_PATH_BYTES];

static plim_status read_text(const char *text, plim_arena *arena, plim_rehearsed_process *ret,
                             plim_error *err)
{
    static const char *const inside[] = { NULL };
    char path[PLIM_PATH_BYTES];
    T_EQ_I64(plim_folder_make(folder, sizeof(folder), inside, NULL), PLIM_OK);
    T_EQ_I64(plim_folder_join(path, sizeof(path), folder, "42.json", NULL), PLIM_OK);
    FILE *file = fopen(path, "we");
    T_NOT_NULL(file);
    T_TRUE(fputs(text, file) >= 0);
    T_EQ_I64(fclose(file), 0);
    plim_arena_init(arena, &plim_mem_heap);
    const plim_status status = plim_process_file_read(folder, "42.json", arena, ret, err);
    plim_folder_remove(folder);
    return status;
}

static void everything_is_read(void)
{
    plim_arena arena;
    plim_rehearsed_process process;
    T_EQ_I64(read_text(whole, &arena, &process, NULL), PLIM_OK);
    T_EQ_I64(process.pid, 42);
    T_EQ_U64(process.rank, 3);
    T_EQ_U64(process.world_size, 8);
    T_EQ_STR(process.torch, "2.11.0+cu130");
    T_EQ_STR(process.ended, "oom");
    T_TRUE(process.import_seconds == 1.5 && process.total_seconds == 9);
    T_NULL(process.snapshot_path); /* it is named, and not there */
    T_EQ_U64(process.device_count, 1);
    T_EQ_U64(process.devices[0].peak_allocated_bytes, 85899345920u);
    T_EQ_STR(process.devices[0].peak_phase, "backward");
    T_EQ_U64(process.devices[0].phase_count, 1);
    T_EQ_U64(process.devices[0].steps[0].end_allocated_bytes, 5);
    T_EQ_U64(process.oom_count, 1);
    T_NULL(process.ooms[0].text);
    T_EQ_U64(process.ooms[0].stack_count, 2); /* what is no string is left out */
    T_EQ_STR(process.ooms[0].stack[1], "b.py:2 g");
    T_EQ_U64(process.oom_total, 25);
    T_EQ_U64(process.oom_place_count, 2);
    T_EQ_STR(process.oom_places[0].where, "a.py:1 f");
    T_EQ_U64(process.oom_places[0].count, 24);
    T_EQ_STR(process.no_gpu_text, "why");
    T_EQ_U64(process.reads[0].count, 4);
    T_EQ_STR(process.warnings[0], "one");
    plim_arena_deinit(&arena);
}

static void what_is_missing_is_nothing(void)
{
    plim_arena arena;
    plim_rehearsed_process process;
    T_EQ_I64(read_text("{\"version\": 1}", &arena, &process, NULL), PLIM_OK);
    T_EQ_U64(process.device_count, 0);
    T_EQ_U64(process.world_size, 1);
    T_EQ_STR(process.ended, "running");
    T_NULL(process.exception);
    plim_arena_deinit(&arena);
}

static void what_is_broken_is_told(void)
{
    static const struct {
        const char *text;
        plim_status status;
    } rows[] = {
        { "", PLIM_CORRUPT },
        { "{\"version\": 1", PLIM_CORRUPT },
        { "[1, 2]", PLIM_UNSUPPORTED },
        { "{\"version\": 2}", PLIM_UNSUPPORTED },
        { "{\"version\": -1}", PLIM_UNSUPPORTED },
        { "{\"version\": 1, \"devices\": {\"a\": 1}, \"steps\": \"many\", \"pid\": -4}", PLIM_OK },
        { "{\"version\": 1, \"devices\": [1, null, []], \"ooms\": [\"x\"]}", PLIM_OK },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_arena arena;
        plim_rehearsed_process process;
        plim_error err = { 0 };
        T_CASE("%s", rows[i].text);
        T_EQ_I64(read_text(rows[i].text, &arena, &process, &err), rows[i].status);
        T_TRUE(rows[i].status == PLIM_OK || strchr(err.message, '\n') == NULL);
        plim_arena_deinit(&arena);
    }
}

T_MAIN(T_TEST(everything_is_read), T_TEST(what_is_missing_is_nothing),
       T_TEST(what_is_broken_is_told))
