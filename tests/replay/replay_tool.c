/*
 * replay_tool.c - what a replay says of files, one line of JSON for each device, for scripts.
 *
 *   replay_tool [--capacity BYTES] [--conf CONF]… FILE…
 */
#include "plimsoll/load.h"
#include "plimsoll/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFS_MAX 64

typedef struct request {
    uint64_t capacity_bytes;
    const char *confs[CONFS_MAX];
    size_t conf_count;
} request;

static void print_text(const char *text)
{
    (void)putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            (void)putchar('\\');
        }
        (void)putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    (void)putchar('"');
}

static void print_number(const char *name, uint64_t number)
{
    if (number == UINT64_MAX) {
        (void)printf("\"%s\": null, ", name);
    } else {
        (void)printf("\"%s\": %" PRIu64 ", ", name, number);
    }
}

static void print_facts(const plim_replay_facts *facts)
{
    print_number("events", facts->events);
    print_number("requests", facts->requests);
    print_number("start_allocations", facts->start_allocations);
    print_number("start_reserved", facts->start_reserved_bytes);
    print_number("floor", facts->floor_bytes);
    print_number("capacity", facts->capacity_bytes);
    print_number("capacity_source", facts->capacity_source);
    print_number("oom_event", facts->oom_event);
    print_number("cache_releases", facts->cache_releases);
    print_number("is_torn", facts->is_torn);
    (void)printf("\"conf\": ");
    print_text(facts->conf.text);
    (void)printf(", ");
}

static void print_fidelity(const plim_fidelity *f)
{
    print_number("recorded", f->segment_events_recorded);
    print_number("predicted", f->segment_events_predicted);
    print_number("matched", f->segment_events_matched);
    print_number("placements", f->placements);
    print_number("placed", f->placements_matched);
    print_number("max_difference", f->reserved_bytes_max_difference);
    print_number("recorded_peak", f->recorded_peak_reserved_bytes);
    print_number("predicted_peak", f->predicted_peak_reserved_bytes);
    (void)printf("\"share\": %.6f, \"mean_difference\": %.1f, \"divergence\": ", f->share,
                 f->reserved_bytes_mean_difference);
    print_text(f->divergence);
    (void)printf(", \"doubts\": {");
    const char *comma = "";
    for (int i = 0; i < PLIM_CAVEAT_COUNT; i++) {
        if (f->caveats[i] > 0) {
            (void)printf("%s\"%s\": %" PRIu64, comma, plim_caveat_name((plim_caveat)i),
                         f->caveats[i]);
            comma = ", ";
        }
    }
    (void)printf("}, ");
}

static void print_result(const plim_run_result *r)
{
    (void)printf("{");
    print_number("failed_event", r->failed_event);
    print_number("peak_reserved", r->peak_reserved_bytes);
    print_number("peak_allocated", r->peak_allocated_bytes);
    print_number("end_reserved", r->end_reserved_bytes);
    print_number("retries", r->retries);
    print_number("ooms_survived", r->ooms_survived);
    (void)printf("\"survives\": %s}", r->survives ? "true" : "false");
}

/* Runs each conf; results[conf * devices + device]. */
static plim_status run_confs(const plim_replay *replay, const request *asked,
                             plim_run_result *results, plim_error *err)
{
    const size_t devices = plim_replay_device_count(replay);
    const plim_run_options options = { .capacity_bytes = asked->capacity_bytes };
    plim_status status = PLIM_OK;
    for (size_t i = 0; i < asked->conf_count && status == PLIM_OK; i++) {
        plim_conf conf;
        status = plim_conf_parse(asked->confs[i], &conf, err);
        if (status == PLIM_OK) {
            status = plim_replay_run(replay, &conf, &options, &results[i * devices], err);
        }
        if (status == PLIM_OUT_OF_DEVICE_MEMORY) { /* not even the start fits */
            memset(&results[i * devices], 0, devices * sizeof *results);
            status = PLIM_OK;
        }
    }
    return status;
}

static plim_status look(const char *path, const plim_history *history, const request *asked,
                        plim_error *err)
{
    const plim_replay_options options = { .device = PLIM_ALL_DEVICES };
    const plim_run_options run = { .capacity_bytes = asked->capacity_bytes };
    plim_replay *replay = NULL;
    plim_status status = plim_replay_create(history, &options, &replay, err);
    if (status != PLIM_OK) {
        return status;
    }
    const size_t devices = plim_replay_device_count(replay);
    plim_fidelity *fidelity = calloc(devices, sizeof *fidelity);
    plim_run_result *results = calloc(devices * (asked->conf_count + 1), sizeof *results);
    if (fidelity == NULL || results == NULL) {
        abort();
    }
    status = plim_replay_verify(replay, &run, fidelity, err);
    if (status == PLIM_OK) {
        status = run_confs(replay, asked, results, err);
    }
    for (size_t i = 0; i < devices && status == PLIM_OK; i++) {
        (void)printf("{\"file\": ");
        print_text(path);
        (void)printf(", \"device\": %d, ", (int)fidelity[i].device);
        print_facts(plim_replay_device(replay, i));
        print_fidelity(&fidelity[i]);
        (void)printf("\"runs\": [");
        for (size_t j = 0; j < asked->conf_count; j++) {
            (void)printf("%s", j > 0 ? ", " : "");
            print_result(&results[j * devices + i]);
        }
        (void)printf("]}\n");
    }
    free(fidelity);
    free(results);
    plim_replay_destroy(replay);
    return status;
}

static void look_at_file(const char *path, const request *asked)
{
    plim_error err = { 0 };
    plim_history *history = NULL;
    plim_status status = plim_history_load(path, NULL, &history, &err);
    if (status == PLIM_OK) {
        status = look(path, history, asked, &err);
    }
    if (status != PLIM_OK) {
        (void)printf("{\"file\": ");
        print_text(path);
        (void)printf(", \"status\": \"%s\", \"error\": ", plim_status_name(err.status));
        print_text(err.message);
        (void)printf("}\n");
    }
    plim_history_destroy(history);
}

int main(int argc, char **argv)
{
    request asked = { .capacity_bytes = PLIM_UNLIMITED };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--capacity") == 0 && i + 1 < argc) {
            asked.capacity_bytes = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--conf") == 0 && i + 1 < argc && asked.conf_count < CONFS_MAX) {
            asked.confs[asked.conf_count++] = argv[++i];
        } else {
            look_at_file(argv[i], &asked);
        }
    }
    return 0;
}
