/*
 * answer.c - the process and the dump that answer for a run. See run.h.
 */
#include "run/run.h"

#include <string.h>

static bool is_oom(const plim_ran_dump *dump)
{
    return strcmp(dump->reason, "oom") == 0;
}

/* Ranks a dump as an answer for why the run ended; 0: not one. A failure that was caught is one
 * where the process then gave up by itself, and a message about memory was printed. */
static unsigned weigh(const plim_ran *ran, const plim_ran_process *process,
                      const plim_ran_dump *dump)
{
    if (is_oom(dump) && dump->ends_program) {
        return 4;
    }
    if (strcmp(dump->reason, "stop") == 0) {
        return 3;
    }
    if (!is_oom(dump) || strcmp(process->ended, "oom") == 0) {
        return is_oom(dump) ? 2 : 0;
    }
    /* A process does not see `raise SystemExit(1)` of its own; of the only one the launcher does.
     */
    const bool gave_up =
        process->exit_status != 0 || (ran->process_count == 1 && ran->launched.exit_status != 0);
    return ran->launched.died_of_memory && strcmp(process->ended, "exit") == 0 && gave_up ? 1 : 0;
}

/* Of those that were caught the last one ended the program, of others the first. */
static bool is_better(unsigned weight, double time, unsigned best, const plim_ran_dump *of_best)
{
    if (weight != best || weight == 0) {
        return weight > best;
    }
    return weight > 2 ? time < of_best->time : time > of_best->time;
}

/* The first snapshot of a process from a dump on: later ones still show what it shows. */
static const plim_ran_dump *find_snapshot(const plim_ran_process *process,
                                          const plim_ran_dump *from)
{
    for (size_t i = 0; i < process->dump_count; i++) {
        const plim_ran_dump *const dump = &process->dumps[i];
        if (dump >= from && dump->snapshot_path != NULL) {
            return dump;
        }
    }
    return NULL;
}

void plim_run_choose_main(plim_ran *ret)
{
    unsigned best = 0;
    for (size_t i = 0; i < ret->process_count; i++) {
        const plim_ran_process *const process = &ret->processes[i];
        for (size_t j = 0; j < process->dump_count; j++) {
            const plim_ran_dump *const dump = &process->dumps[j];
            const unsigned weight = weigh(ret, process, dump);
            if (is_better(weight, dump->time, best, ret->main_dump)) {
                best = weight;
                ret->main_process = process;
                ret->main_dump = dump;
            }
        }
    }
    if (ret->main_dump != NULL) {
        ret->main_snapshot = find_snapshot(ret->main_process, ret->main_dump);
    }
}

/* Texts round sizes: "1024.00 MiB". */
static bool is_same_request(const plim_ran_dump *dump, const plim_oom_message *message)
{
    const uint64_t dumped = dump->failure.figures[PLIM_FIGURE_REQUESTED].bytes;
    const uint64_t said = message->request.figures[PLIM_FIGURE_REQUESTED].bytes;
    const uint64_t apart = dumped > said ? dumped - said : said - dumped;
    return dump->has_failure && apart <= said / 100;
}

bool plim_run_was_caught(const plim_ran *ran, const plim_oom_message *message)
{
    bool is_caught = false;
    for (size_t i = 0; i < ran->process_count; i++) {
        const plim_ran_process *const process = &ran->processes[i];
        const bool is_other_error = strcmp(process->ended, "error") == 0;
        if (!is_other_error && strcmp(process->ended, "exit") != 0) {
            return false;
        }
        for (size_t j = 0; j < process->dump_count; j++) {
            const plim_ran_dump *const dump = &process->dumps[j];
            is_caught =
                is_caught || (is_other_error && is_oom(dump) && is_same_request(dump, message));
        }
    }
    return is_caught && ran->main_dump == NULL;
}
