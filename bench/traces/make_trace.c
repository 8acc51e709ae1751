/*
 * make_trace.c - a made-up history as a file: make_trace KIND --events N -o FILE
 */
#include "plimsoll/recorder.h"
#include "plimsoll/snapshot.h"
#include "traces/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    plim_trace_spec spec;
    const char *path;
} request;

static int usage(void)
{
    fputs("usage: make_trace KIND -o FILE.plim|FILE.pickle [--events N] [--seed N] [--conf TEXT]\n"
          "           [--capacity BYTES] [--keep N] [--annotate] [--no-pools] [--no-stacks]\n"
          "           [--go-on]\n"
          "KIND is one of:\n",
          stderr);
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        fprintf(stderr, "  %-12s %s\n", plim_trace_kind_name((plim_trace_kind)kind),
                plim_trace_kind_text((plim_trace_kind)kind));
    }
    return 2;
}

static bool read_number(const char *text, uint64_t *ret_number)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-') {
        return false;
    }
    *ret_number = number;
    return true;
}

static bool *flag_named(request *wanted, const char *name)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        { "--annotate", &wanted->spec.annotates_steps },
        { "--no-pools", &wanted->spec.leaves_out_pools },
        { "--no-stacks", &wanted->spec.leaves_out_stacks },
        { "--go-on", &wanted->spec.goes_on_after_oom },
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(flags[i].name, name) == 0) {
            return flags[i].flag;
        }
    }
    return NULL;
}

static bool take_value(request *wanted, const char *name, const char *value)
{
    const struct {
        const char *name;
        uint64_t *number;
    } numbers[] = {
        { "--events", &wanted->spec.events },
        { "--seed", &wanted->spec.seed },
        { "--capacity", &wanted->spec.capacity_bytes },
        { "--keep", &wanted->spec.keep_events },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            return read_number(value, numbers[i].number);
        }
    }
    if (strcmp(name, "--conf") == 0) {
        wanted->spec.conf = value;
        return true;
    }
    if (strcmp(name, "-o") == 0) {
        wanted->path = value;
        return true;
    }
    return false;
}

static bool read_arguments(int argc, char **argv, request *wanted)
{
    if (argc < 2 || !plim_trace_kind_find(argv[1], &wanted->spec.kind)) {
        return false;
    }
    for (int i = 2; i < argc; i++) {
        bool *const flag = flag_named(wanted, argv[i]);
        if (flag != NULL) {
            *flag = true;
        } else if (i + 1 < argc && take_value(wanted, argv[i], argv[i + 1])) {
            i++;
        } else {
            return false;
        }
    }
    return wanted->path != NULL;
}

static plim_status save(const plim_history *history, const char *path, plim_error *err)
{
    const char *const dot = strrchr(path, '.');
    if (dot != NULL && strcmp(dot, ".plim") == 0) {
        return plim_recording_save(history, path, NULL, err);
    }
    return plim_snapshot_save(history, path, NULL, err);
}

int main(int argc, char **argv)
{
    request wanted = { .spec.events = 100000 };
    if (!read_arguments(argc, argv, &wanted)) {
        return usage();
    }
    plim_error err;
    plim_history *history = NULL;
    plim_trace_outcome outcome;
    plim_status status = plim_trace_make(&wanted.spec, &history, &outcome, &err);
    if (status == PLIM_OK) {
        status = save(history, wanted.path, &err);
    }
    plim_history_destroy(history);
    if (status != PLIM_OK) {
        fprintf(stderr, "make_trace: %s\n", err.message);
        return 3;
    }
    printf("{\"kind\":\"%s\",\"seed\":%" PRIu64 ",\"events\":%" PRIu64 ",\"requests\":%" PRIu64
           ",\"steps\":%" PRIu64 ",\"peak_reserved_bytes\":%" PRIu64
           ",\"peak_allocated_bytes\":%" PRIu64 ",\"retries\":%" PRIu64 ",\"ooms\":%" PRIu64 "}\n",
           plim_trace_kind_name(wanted.spec.kind), wanted.spec.seed, outcome.events,
           outcome.requests, outcome.steps, outcome.peak_reserved_bytes,
           outcome.peak_allocated_bytes, outcome.retries, outcome.ooms);
    return 0;
}
