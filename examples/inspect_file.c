/*
 * inspect_file.c - the peak of each GPU in a snapshot: load, inspect, print.
 *
 *     cc inspect_file.c $(pkg-config --cflags --libs plimsoll) && ./a.out snapshot.pickle
 */
#include <plimsoll/inspect.h>
#include <plimsoll/snapshot.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    plim_history *history = NULL;
    plim_inspection *inspection = NULL;
    plim_error err = { 0 };
    if (argc != 2) {
        fprintf(stderr, "usage: inspect_file SNAPSHOT\n");
        return 2;
    }
    if (plim_snapshot_load(argv[1], NULL, &history, &err) != PLIM_OK ||
        plim_inspect(history, NULL, &inspection, &err) != PLIM_OK) {
        fprintf(stderr, "inspect_file: %s\n", err.message);
        plim_history_destroy(history);
        return 3;
    }
    for (size_t i = 0; i < plim_inspection_device_count(inspection); i++) {
        const plim_device_inspection *device = plim_inspection_device(inspection, i);
        printf("device %" PRId32 ": at most %" PRIu64 " bytes in %" PRIu64 " allocations, out of "
               "%" PRIu64 " reserved\n",
               device->device, device->peak.requested_bytes, device->peak.live_count,
               device->peak.reserved_bytes);
    }
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
    return 0;
}
