/*
 * save_tool.c - reads a snapshot and writes it back, for test_save.py:
 *
 *   save_tool IN OUT [RELEASE]      RELEASE as PLIM_TORCH() has it: 211 for 2.11
 */
#include "plimsoll/snapshot.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    plim_error err = { .status = PLIM_OK };
    plim_history *history = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: save_tool IN OUT [RELEASE]\n");
        return 2;
    }
    const plim_snapshot_save_options options = {
        .torch = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0,
    };
    plim_status status = plim_snapshot_load(argv[1], NULL, &history, &err);
    if (status == PLIM_OK) {
        status = plim_snapshot_save(history, argv[2], &options, &err);
    }
    if (status != PLIM_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    plim_history_destroy(history);
    return status == PLIM_OK ? 0 : 1;
}
