/*
 * cusolver.h - what the stand-ins for cuSOLVER share.
 */
#ifndef PLIMSOLL_STANDIN_CUSOLVER_CUSOLVER_H
#define PLIMSOLL_STANDIN_CUSOLVER_CUSOLVER_H

#include "standin/library/context.h"

/* cusolverStatus_t, cuSOLVER manual */
enum {
    PLIM_CUSOLVER_NOT_INITIALIZED = 1,
    PLIM_CUSOLVER_ALLOC_FAILED = 2,
    PLIM_CUSOLVER_INVALID_VALUE = 3,
    PLIM_CUSOLVER_EXECUTION_FAILED = 6,
    PLIM_CUSOLVER_NOT_SUPPORTED = 9
};

#endif
