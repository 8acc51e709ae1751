/*
 * failure.h - a failed request as pages and documents have it: judged, and worded.
 */
#ifndef PLIMSOLL_REPORT_MODEL_FAILURE_H
#define PLIMSOLL_REPORT_MODEL_FAILURE_H

#include "plimsoll/verdict.h"

typedef struct plim_failure {
    plim_failed_request request;
    plim_judgement judgement;
    char why[PLIM_WHY_BYTES];
} plim_failure;

/** The request is copied; its processes are borrowed. */
plim_failure plim_failure_of(const plim_failed_request *request);

#endif
