/*
 * handle.c - cuSOLVER contexts, and the objects that hold an algorithm's settings.
 */
#include "standin/core/handle.h"
#include "standin/core/footprint.h"
#include "standin/cusolver/cusolver.h"
#include "standin/library/versions.h"

int cusolverDnCreate(plim_standin_context **ret_context)
{
    /* It multiplies by cuBLAS, with a context of its own. */
    return plim_standin_context_create(plim_standin_footprint_library(PLIM_STANDIN_CUBLAS),
                                       PLIM_CUSOLVER_ALLOC_FAILED, PLIM_CUSOLVER_EXECUTION_FAILED,
                                       ret_context);
}

int cusolverDnDestroy(plim_standin_context *context)
{
    plim_standin_context_destroy(context);
    return 0;
}

PLIM_STANDIN_SETTER(cusolverDnSetStream, void *, stream)
PLIM_STANDIN_GETTER(cusolverDnGetStream, void *, stream)

int cusolverGetProperty(int kind, int *ret_value)
{
    return plim_standin_version_part(plim_standin_versions_in_force()->cusolver, kind,
                                     PLIM_CUSOLVER_INVALID_VALUE, ret_value);
}

int cusolverGetVersion(int *ret_version)
{
    *ret_version = plim_standin_version_number(plim_standin_versions_in_force()->cusolver, 1000);
    return 0;
}

/* Settings say how exactly to compute, which changes no size: the objects are numbers. */
PLIM_STANDIN_CREATES(cusolverDnCreateParams)
PLIM_STANDIN_CREATES(cusolverDnCreateSyevjInfo)
PLIM_STANDIN_CREATES(cusolverDnCreateGesvdjInfo)
PLIM_STANDIN_NOTHING(cusolverDnDestroyParams)
PLIM_STANDIN_NOTHING(cusolverDnDestroySyevjInfo)
PLIM_STANDIN_NOTHING(cusolverDnDestroyGesvdjInfo)
PLIM_STANDIN_NOTHING(cusolverDnSetAdvOptions)
PLIM_STANDIN_NOTHING(cusolverDnSetDeterministicMode)
PLIM_STANDIN_NOTHING(cusolverDnXsyevjSetTolerance)
PLIM_STANDIN_NOTHING(cusolverDnXsyevjSetMaxSweeps)
PLIM_STANDIN_NOTHING(cusolverDnXsyevjSetSortEig)
PLIM_STANDIN_NOTHING(cusolverDnXgesvdjSetTolerance)
PLIM_STANDIN_NOTHING(cusolverDnXgesvdjSetMaxSweeps)
PLIM_STANDIN_NOTHING(cusolverDnXgesvdjSetSortEig)
