/*
 * gather.c - processes and dumps of a folder, and those that answer for the run. See run.h.
 */
#include "base/error.h"
#include "run/run.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef PLIM_VEC(plim_ran_dump) dumps;

void plim_run_warn(plim_run *run, const char *text)
{
    const char *const copy = plim_arena_copy(&run->arena, text, strlen(text));
    run->is_out_of_memory = run->is_out_of_memory || copy == NULL ||
                            !PLIM_VEC_PUSH(run->arena.mem, &run->warnings, copy);
}

/* A document that cannot be read is a warning. False: no memory. */
static bool is_survived(plim_run *run, plim_status status, const plim_error *err)
{
    const bool is_missing = status == PLIM_IO && (err->native == ENOENT || err->native == ENOTDIR);
    if (status != PLIM_OK && status != PLIM_OUT_OF_HOST_MEMORY && !is_missing) {
        plim_run_warn(run, err->message);
    }
    return status != PLIM_OUT_OF_HOST_MEMORY && !run->is_out_of_memory;
}

/* "001-oom.json", not "001-oom.holders.json". */
static bool is_dump(const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    const char *const dot = strchr(name, '.');
    return digits > 0 && name[digits] == '-' && dot != NULL && strcmp(dot, ".json") == 0;
}

static int by_number(const void *a, const void *b)
{
    const plim_ran_dump *x = a;
    const plim_ran_dump *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static bool read_dumps(plim_run *run, const char *folder, dumps *found)
{
    DIR *const entries = opendir(folder);
    if (entries == NULL) {
        return errno != ENOMEM;
    }
    bool is_kept = true;
    for (const struct dirent *entry = readdir(entries); is_kept && entry != NULL;
         entry = readdir(entries)) {
        plim_ran_dump dump;
        plim_error err = { 0 };
        if (!is_dump(entry->d_name)) {
            continue;
        }
        const plim_status status =
            plim_run_dump_read(folder, entry->d_name, &run->arena, &dump, &err);
        is_kept = is_survived(run, status, &err) &&
                  (status != PLIM_OK || PLIM_VEC_PUSH(run->arena.mem, found, dump));
    }
    (void)closedir(entries);
    return is_kept;
}

/* To the arena, where they stay. */
static bool keep_dumps(plim_run *run, dumps *found, plim_ran_process *process)
{
    plim_ran_dump *all = plim_arena_alloc(&run->arena, found->count * sizeof(*all));
    if (all == NULL) {
        return false;
    }
    for (size_t i = 0; i < found->count; i++) {
        all[i] = found->items[i];
    }
    if (found->count > 1) {
        qsort(all, found->count, sizeof(*all), by_number);
    }
    process->dumps = all;
    process->dump_count = found->count;
    return true;
}

/* The folder of a process. One without process.json still has its dumps. */
static bool read_process(plim_run *run, const char *name)
{
    char folder[PLIM_PATH_BYTES];
    char path[PLIM_PATH_BYTES];
    plim_error err = { 0 };
    plim_ran_process process = {
        .pid = strtoll(name, NULL, 10), .world_size = 1, .ended = "running", .record = ""
    };
    if (plim_folder_join(folder, sizeof(folder), run->folder, name, &err) != PLIM_OK ||
        plim_folder_join(path, sizeof(path), folder, "process.json", &err) != PLIM_OK) {
        return is_survived(run, PLIM_LIMIT, &err);
    }
    const plim_status status = plim_run_process_read(path, &run->arena, &process, &err);
    dumps found = { 0 };
    const bool is_kept = is_survived(run, status, &err) && read_dumps(run, folder, &found) &&
                         keep_dumps(run, &found, &process);
    const bool is_anything = status == PLIM_OK || found.count > 0;
    PLIM_VEC_FREE(run->arena.mem, &found);
    return is_kept && (!is_anything || PLIM_VEC_PUSH(run->arena.mem, &run->processes, process));
}

static int by_rank_and_start(const void *a, const void *b)
{
    const plim_ran_process *x = a;
    const plim_ran_process *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->started != y->started) {
        return x->started < y->started ? -1 : 1;
    }
    return (x->pid > y->pid) - (x->pid < y->pid);
}

plim_status plim_run_gather(plim_run *run, plim_error *err)
{
    DIR *const entries = opendir(run->folder);
    if (entries == NULL) {
        return plim_fail_errno(err, errno, "%s: cannot be read", run->folder);
    }
    bool is_kept = true;
    for (const struct dirent *entry = readdir(entries); is_kept && entry != NULL;
         entry = readdir(entries)) {
        const size_t digits = strspn(entry->d_name, "0123456789");
        if (digits > 0 && entry->d_name[digits] == '\0') {
            is_kept = read_process(run, entry->d_name);
        }
    }
    (void)closedir(entries);
    if (!is_kept || run->is_out_of_memory) {
        return plim_fail_memory(err, "gathering the account of a run");
    }
    if (run->processes.count > 1) {
        qsort(run->processes.items, run->processes.count, sizeof(run->processes.items[0]),
              by_rank_and_start);
    }
    return PLIM_OK;
}
