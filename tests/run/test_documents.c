/*
 * test_documents.c - what a recorder wrote is read back, and what is broken costs only itself.
 */
#include "run/scratch.h"

#include "run/run.h"

#include <string.h>

static const char whole_process[] =
    "{\"schema\": \"run-process/1\", \"pid\": 4711, \"parent_pid\": 4700, \"rank\": 3,"
    " \"local_rank\": 1, \"world_size\": 8, \"argv\": [\"train.py\", \"--batch\", 8, \"x\"],"
    " \"python\": \"3.11.2\", \"torch\": \"2.11.0\", \"cuda\": \"13.0\", \"driver\": null,"
    " \"started\": 1700000000.5, \"written\": 1700000100, \"ended\": \"oom\", \"exit_status\": 0,"
    " \"exception\": \"OutOfMemoryError: x\", \"stopped_on\": \"leak\", \"record\": \"ring\","
    " \"events\": 100000, \"history_is_programs\": true, \"limit_bytes\": 21474836480,"
    " \"settings_requested\": \"expandable_segments:True\", \"settings\": \"\", \"steps\": 41,"
    " \"devices\": [{\"device\": 1, \"name\": \"GPU\", \"total_bytes\": 85899345920,"
    "   \"allocated_bytes\": 7, \"reserved_bytes\": 8, \"active_bytes\": 9,"
    "   \"inactive_split_bytes\": 1, \"peak_allocated_bytes\": 10, \"peak_reserved_bytes\": 11,"
    "   \"retries\": 2, \"ooms\": 3}, 7],"
    " \"oom_count\": 5, \"ooms\": [{\"where\": \"a.py:1 f\", \"count\": 4}, {}],"
    " \"growth\": [{\"device\": 0, \"bytes_per_step\": 1024.5, \"since_step\": 40,"
    "   \"where\": \"train.py:88\", \"full_at_step\": 3100}],"
    " \"dumps\": [\"001-oom\"], \"agent_seconds\": 0.25, \"warnings\": [\"one\", null, \"two\"],"
    " \"of a later version\": {}}";

static const char whole_dump[] =
    "{\"schema\": \"run-dump/1\", \"number\": 1, \"reason\": \"oom\", \"time\": 1700000050.25,"
    " \"seconds\": 0.5, \"step\": 41, \"error\": \"CUDA out of memory. \\u0007\","
    " \"where\": \"train.py:55 main\", \"stack\": [\"train.py:55 main\", 7, \"train.py:90 run\"],"
    " \"ends_program\": true, \"failure\": {\"device\": 1, \"requested_bytes\": 512,"
    "   \"device_total_bytes\": 1000, \"device_free_bytes\": 0, \"allocated_bytes\": 600,"
    "   \"reserved_bytes\": null}, \"snapshot\": \"001-oom.pickle\", \"why_no_snapshot\": null,"
    " \"settings\": \"backend:native\", \"collector\": {\"is_enabled\": true, \"thresholds\":"
    "   [700, 10, 10], \"counts\": [3, \"x\"], \"collections\": 7, \"frozen\": 5},"
    " \"host\": {\"resident_bytes\": 400, \"available_bytes\": null},"
    " \"why_no_history\": \"off\", \"holders\": null, \"why_no_holders\": \"why\", \"devices\": "
    "[{\"device\": 0,"
    "   \"free_bytes\": 0, \"processes\": [{\"pid\": 1, \"name\": \"x\", \"bytes\": 5}]},"
    "   {\"device\": 1, \"free_bytes\": null, \"processes\": null}]}";

static plim_status read_process(const char *text, plim_arena *arena, plim_ran_process *ret,
                                plim_error *err)
{
    scratch_begin();
    scratch_file("process.json", text);
    plim_arena_init(arena, &plim_mem_heap);
    const plim_status status = plim_run_process_read(scratch_path("process.json"), arena, ret, err);
    scratch_end();
    return status;
}

static plim_status read_dump(const char *text, const char *beside, plim_arena *arena,
                             plim_ran_dump *ret, plim_error *err)
{
    scratch_begin();
    scratch_file("001-oom.json", text);
    if (beside != NULL) {
        scratch_file(beside, "");
    }
    plim_arena_init(arena, &plim_mem_heap);
    const plim_status status = plim_run_dump_read(scratch, "001-oom.json", arena, ret, err);
    scratch_end();
    return status;
}

static void all_of_a_process_is_read(void)
{
    plim_arena arena;
    plim_ran_process process;
    T_EQ_I64(read_process(whole_process, &arena, &process, NULL), PLIM_OK);
    T_EQ_I64(process.pid, 4711);
    T_EQ_I64(process.parent_pid, 4700);
    T_EQ_U64(process.rank, 3);
    T_EQ_U64(process.local_rank, 1);
    T_EQ_U64(process.world_size, 8);
    T_EQ_U64(process.argv_count, 3); /* what is no string is left out */
    T_EQ_STR(process.argv[2], "x");
    T_EQ_STR(process.torch, "2.11.0");
    T_NULL(process.driver);
    T_TRUE(process.started == 1700000000.5 && process.written == 1700000100.0);
    T_EQ_STR(process.ended, "oom");
    T_TRUE(process.has_exit_status);
    T_EQ_STR(process.stopped_on, "leak");
    T_TRUE(process.history_is_programs);
    T_EQ_U64(process.limit_bytes, 21474836480u);
    T_EQ_STR(process.settings_requested, "expandable_segments:True");
    T_EQ_U64(process.steps, 41);
    T_EQ_U64(process.device_count, 2);
    T_EQ_U64(process.devices[0].total_bytes, 85899345920u);
    T_EQ_U64(process.devices[0].ooms, 3);
    T_FALSE(process.devices[0].has_free);
    T_FALSE(process.devices[0].has_users);
    T_NULL(process.devices[1].name);
    T_EQ_U64(process.oom_count, 5);
    T_EQ_STR(process.ooms[0].where, "a.py:1 f");
    T_EQ_STR(process.ooms[1].where, "?");
    T_EQ_U64(process.growth_count, 1);
    T_TRUE(process.growth[0].bytes_per_step == 1024.5);
    T_EQ_U64(process.growth[0].full_at_step, 3100);
    T_TRUE(process.agent_seconds == 0.25);
    T_EQ_U64(process.warning_count, 2);
    plim_arena_deinit(&arena);
}

static void all_of_a_dump_is_read(void)
{
    plim_arena arena;
    plim_ran_dump dump;
    T_EQ_I64(read_dump(whole_dump, "001-oom.pickle", &arena, &dump, NULL), PLIM_OK);
    T_EQ_STR(dump.name, "001-oom");
    T_EQ_U64(dump.number, 1);
    T_EQ_STR(dump.reason, "oom");
    T_TRUE(dump.time == 1700000050.25 && dump.seconds == 0.5);
    T_EQ_U64(dump.step, 41);
    T_EQ_STR(dump.error, "CUDA out of memory. \a");
    T_EQ_STR(dump.where, "train.py:55 main");
    T_EQ_U64(dump.stack_count, 2);
    T_TRUE(dump.ends_program);
    T_TRUE(dump.has_failure);
    T_EQ_I64(dump.failure.subject.device, 1);
    T_EQ_U64(dump.failure.figures[PLIM_FIGURE_REQUESTED].bytes, 512);
    T_EQ_U64(dump.failure.figures[PLIM_FIGURE_FREE].bytes, 0);
    T_EQ_U64(dump.failure.figures[PLIM_FIGURE_RESERVED].bytes, PLIM_BYTES_UNKNOWN);
    T_NOT_NULL(dump.snapshot_path);
    T_NULL(dump.holders_path);
    T_EQ_STR(dump.why_no_holders, "why");
    T_EQ_STR(dump.why_no_history, "off");
    T_EQ_STR(dump.settings, "backend:native");
    T_TRUE(dump.collector.is_known && dump.collector.is_enabled);
    T_EQ_U64(dump.collector.thresholds[0], 700);
    T_EQ_U64(dump.collector.counts[0], 3);
    T_EQ_U64(dump.collector.counts[1], 0);
    T_EQ_U64(dump.collector.collections[2], 0);
    T_EQ_U64(dump.collector.frozen, 5);
    T_EQ_U64(dump.host_resident_bytes, 400);
    T_EQ_U64(dump.host_available_bytes, 0);
    T_TRUE(dump.devices[0].has_free && dump.devices[0].has_users);
    T_EQ_STR(dump.devices[0].users[0].name, "x");
    T_FALSE(dump.devices[1].has_free || dump.devices[1].has_users);
    plim_arena_deinit(&arena);
}

static void what_is_missing_is_not_known(void)
{
    plim_arena arena;
    plim_ran_process process;
    T_EQ_I64(read_process("{\"schema\": \"run-process/1\"}", &arena, &process, NULL), PLIM_OK);
    T_EQ_STR(process.ended, "running");
    T_EQ_U64(process.world_size, 1);
    T_FALSE(process.has_exit_status);
    T_NULL(process.torch);
    T_EQ_U64(process.device_count + process.growth_count + process.warning_count, 0);
    plim_arena_deinit(&arena);

    plim_ran_dump dump;
    T_EQ_I64(read_dump("{\"schema\": \"run-dump/1\"}", NULL, &arena, &dump, NULL), PLIM_OK);
    T_EQ_STR(dump.reason, "");
    T_FALSE(dump.ends_program || dump.has_failure || dump.collector.is_known);
    T_NULL(dump.snapshot_path);
    plim_arena_deinit(&arena);
}

static void members_of_another_type_are_not_known(void)
{
    plim_arena arena;
    plim_ran_process process;
    T_EQ_I64(read_process("{\"schema\": \"run-process/1\", \"pid\": \"x\", \"rank\": -1,"
                          " \"world_size\": 1e300, \"argv\": {}, \"started\": [], \"ended\": 7,"
                          " \"exit_status\": 99999999999999999999, \"devices\": {\"a\": []},"
                          " \"ooms\": [[]], \"growth\": [null, 1, \"x\"], \"warnings\": 7,"
                          " \"history_is_programs\": \"true\"}",
                          &arena, &process, NULL),
             PLIM_OK);
    T_EQ_I64(process.pid, 0);
    T_EQ_U64(process.rank, 0);
    T_EQ_U64(process.world_size, 1);
    T_EQ_STR(process.ended, "running");
    T_FALSE(process.has_exit_status || process.history_is_programs);
    T_EQ_U64(process.growth_count, 3);
    T_NULL(process.growth[2].where);
    plim_arena_deinit(&arena);
}

/* A dump may be of a program's own making: it names files of its folder alone. */
static void files_outside_the_folder_are_not_taken(void)
{
    static const char *const texts[] = {
        "{\"schema\": \"run-dump/1\", \"snapshot\": \"../../../../../etc/passwd\"}",
        "{\"schema\": \"run-dump/1\", \"snapshot\": \"/etc/passwd\"}",
        "{\"schema\": \"run-dump/1\", \"snapshot\": \"not there\", \"holders\": 7}",
    };
    for (size_t i = 0; i < T_COUNT(texts); i++) {
        plim_arena arena;
        plim_ran_dump dump;
        T_EQ_I64(read_dump(texts[i], NULL, &arena, &dump, NULL), PLIM_OK);
        T_NULL(dump.snapshot_path);
        T_NULL(dump.holders_path);
        plim_arena_deinit(&arena);
    }
}

static void broken_documents_are_errors(void)
{
    static const struct {
        const char *text;
        plim_status status;
    } rows[] = {
        { "", PLIM_CORRUPT },
        { "{\"schema\": \"run-process/1\"", PLIM_CORRUPT },
        { "[]", PLIM_UNSUPPORTED },
        { "{}", PLIM_UNSUPPORTED },
        { "{\"schema\": 1}", PLIM_UNSUPPORTED },
        { "{\"schema\": \"run-process/2\"}", PLIM_UNSUPPORTED },
        { "{\"schema\": \"run-dump/1\"}", PLIM_UNSUPPORTED },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_arena arena;
        plim_ran_process process;
        plim_error err = { 0 };
        T_CASE("%s", rows[i].text);
        T_EQ_I64(read_process(rows[i].text, &arena, &process, &err), rows[i].status);
        T_NOT_NULL(strstr(err.message, "process.json"));
        plim_arena_deinit(&arena);
    }
}

static void a_document_that_is_cut_anywhere_is_an_error(void)
{
    static char text[sizeof whole_dump];
    for (size_t length = 0; length + 1 < sizeof whole_dump - 1; length += 7) {
        plim_arena arena;
        plim_ran_dump dump;
        memcpy(text, whole_dump, length);
        text[length] = '\0';
        T_EQ_I64(read_dump(text, NULL, &arena, &dump, NULL), PLIM_CORRUPT);
        plim_arena_deinit(&arena);
    }
}

static void deep_and_long_documents_are_read_or_refused(void)
{
    static const size_t bytes = (size_t)1 << 20;
    char *const text = malloc(bytes + 128);
    T_NOT_NULL(text);
    plim_arena arena;
    plim_ran_process process;
    const int begin = snprintf(text, 64, "{\"schema\": \"run-process/1\", \"argv\": ");
    memset(text + begin, '[', bytes);
    text[begin + (int)bytes] = '\0';
    T_EQ_I64(read_process(text, &arena, &process, NULL), PLIM_CORRUPT);
    plim_arena_deinit(&arena);

    const int name = snprintf(text, 64, "{\"schema\": \"run-process/1\", \"torch\": \"");
    memset(text + name, 'x', bytes);
    memcpy(text + name + bytes, "\"}", 3);
    T_EQ_I64(read_process(text, &arena, &process, NULL), PLIM_OK);
    T_EQ_U64(strlen(process.torch), bytes);
    plim_arena_deinit(&arena);
    free(text);
}

static bool attempt_process(const plim_mem *mem, void *ctx)
{
    plim_arena arena;
    plim_ran_process process;
    plim_arena_init(&arena, mem);
    const plim_status status = plim_run_process_read(ctx, &arena, &process, NULL);
    plim_arena_deinit(&arena);
    return status == PLIM_OK;
}

static bool attempt_dump(const plim_mem *mem, void *ctx)
{
    plim_arena arena;
    plim_ran_dump dump;
    plim_arena_init(&arena, mem);
    const plim_status status = plim_run_dump_read(ctx, "001-oom.json", &arena, &dump, NULL);
    plim_arena_deinit(&arena);
    return status == PLIM_OK;
}

static void every_failing_allocation_is_an_error(void)
{
    scratch_begin();
    scratch_file("process.json", whole_process);
    scratch_file("001-oom.json", whole_dump);
    scratch_file("001-oom.pickle", "");
    char path[PLIM_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s", scratch_path("process.json"));
    t_fail_each_allocation(attempt_process, path);
    t_fail_each_allocation(attempt_dump, scratch);
    scratch_end();
}

T_MAIN(T_TEST(all_of_a_process_is_read), T_TEST(all_of_a_dump_is_read),
       T_TEST(what_is_missing_is_not_known), T_TEST(members_of_another_type_are_not_known),
       T_TEST(files_outside_the_folder_are_not_taken), T_TEST(broken_documents_are_errors),
       T_TEST(a_document_that_is_cut_anywhere_is_an_error),
       T_TEST(deep_and_long_documents_are_read_or_refused),
       T_TEST(every_failing_allocation_is_an_error))
