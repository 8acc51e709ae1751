/*
 * failure.h - a failed request as pages and documents have it: judged, and worded.
 */
#ifndef PLIMSOLL_REPORT_MODEL_FAILURE_H
#define PLIMSOLL_REPORT_MODEL_FAILURE_H

#include "plimsoll/inspect.h"
#include "plimsoll/verdict.h"

typedef struct plim_failure {
    plim_failed_request request;
    plim_judgement judgement;
    char why[PLIM_WHY_BYTES];
} plim_failure;

/** Of a history: the request that failed, by its place among the device's. */
plim_failure plim_failure_of(const plim_device_inspection *device, size_t oom);

#endif
