/*
 * run_file.c - run.json, the document run-folder/1. See run.h.
 */
#include "base/error.h"
#include "base/json_out.h"
#include "base/save_file.h"
#include "run/run.h"

#include "plimsoll/release.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1e9

double plim_run_clock(void)
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

static void write_members(plim_json *json, const char *const *argv, const plim_run_choice *choice,
                          double started, const plim_launched *launched)
{
    char here[PLIM_PATH_BYTES];
    plim_json_member_string(json, "schema", "run-folder/1");
    plim_json_member_string(json, "plimsoll", plim_version());
    plim_json_member_array(json, "argv");
    for (const char *const *word = argv; *word != NULL; word++) {
        plim_json_string(json, *word);
    }
    plim_json_end_array(json);
    plim_json_member_optional_string(json, "folder", getcwd(here, sizeof(here)));
    plim_json_member_i64(json, "launcher_pid", getpid());
    plim_json_member_double(json, "started", started);
    plim_json_member_known_double(json, "ended", launched != NULL, plim_run_clock());
    plim_json_member_known_i64(json, "exit_status", launched != NULL,
                               launched != NULL ? launched->exit_status : 0);
    plim_json_member_known_i64(json, "signal", launched != NULL && launched->signal > 0,
                               launched != NULL ? launched->signal : 0);
    plim_json_member_string(json, "record", plim_run_record_name(choice->record));
    plim_json_member_known_u64(json, "limit_bytes", choice->limit_bytes > 0, choice->limit_bytes);
    plim_json_member_optional_string(json, "stop_on", choice->stop_on);
    plim_json_member_bool(json, "is_over_standins", choice->standins != NULL);
}

plim_status plim_run_file_write(const plim_run *run, const char *const *argv,
                                const plim_run_choice *choice, double started,
                                const plim_launched *launched, plim_error *err)
{
    char path[PLIM_PATH_BYTES];
    PLIM_TRY(plim_folder_join(path, sizeof(path), run->folder, PLIM_RUN_FILE, err));
    plim_save_file file;
    PLIM_TRY(plim_save_file_open(&file, path, run->arena.mem, err));
    plim_json json;
    plim_json_init(&json, plim_save_file_sink(&file), PLIM_JSON_PRETTY);
    plim_json_begin_object(&json);
    write_members(&json, argv, choice, started, launched);
    plim_json_end_object(&json);
    const plim_status status =
        plim_json_finish(&json) ? PLIM_OK : plim_fail(err, PLIM_IO, "%s: cannot be written", path);
    return plim_save_file_close(&file, status, err);
}
