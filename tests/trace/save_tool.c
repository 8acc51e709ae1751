/*
 * save_tool.c - reads a history and writes it as a recording, for test_save.py:
 *
 *   save_tool IN OUT [LEVEL]
 *
 * Prints the events, and the milliseconds that writing them took.
 */
#include "plimsoll/load.h"
#include "plimsoll/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    plim_error err = { .status = PLIM_OK };
    plim_history *history = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: save_tool IN OUT [LEVEL]\n");
        return 2;
    }
    const plim_recording_save_options options = {
        .compression = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0,
    };
    plim_status status = plim_history_load(argv[1], NULL, &history, &err);
    if (status == PLIM_OK) {
        uint64_t events = 0;
        for (size_t i = 0; i < plim_history_device_count(history); i++) {
            events += plim_history_device(history, i)->events.count;
        }
        const double began_ms = now_ms();
        status = plim_recording_save(history, argv[2], &options, &err);
        printf("%" PRIu64 " events in %.1f ms\n", events, now_ms() - began_ms);
    }
    if (status != PLIM_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    plim_history_destroy(history);
    return status == PLIM_OK ? 0 : 1;
}
