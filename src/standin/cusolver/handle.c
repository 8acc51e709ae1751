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
    if (!plim_standin_footprint_library(PLIM_STANDIN_CUBLAS)) {
        return PLIM_CUSOLVER_ALLOC_FAILED;
    }
    plim_standin_context *context = plim_standin_context_create(PLIM_CUSOLVER_EXECUTION_FAILED);
    if (context == NULL) {
        return PLIM_CUSOLVER_ALLOC_FAILED;
    }
    *ret_context = context;
    return 0;
}

int cusolverDnDestroy(plim_standin_context *context)
{
    plim_standin_context_destroy(context);
    return 0;
}

int cusolverDnSetStream(plim_standin_context *context, void *stream)
{
    if (context == NULL) {
        return PLIM_CUSOLVER_NOT_INITIALIZED;
    }
    context->stream = stream;
    return 0;
}

int cusolverDnGetStream(const plim_standin_context *context, void **ret_stream)
{
    if (context == NULL) {
        return PLIM_CUSOLVER_NOT_INITIALIZED;
    }
    *ret_stream = context->stream;
    return 0;
}

int cusolverGetProperty(int kind, int *ret_value)
{
    const int value = plim_standin_version_part(plim_standin_versions_in_force()->cusolver, kind);
    if (value < 0) {
        return PLIM_CUSOLVER_INVALID_VALUE;
    }
    *ret_value = value;
    return 0;
}

int cusolverGetVersion(int *ret_version)
{
    const plim_standin_version version = plim_standin_versions_in_force()->cusolver;
    *ret_version = 1000 * version.major + 100 * version.minor + version.patch;
    return 0;
}

/* Settings say how exactly to compute, which changes no size: the objects are numbers. */
#define OBJECT(name)                                \
    int name(void **ret_object)                     \
    {                                               \
        *ret_object = plim_standin_handle_create(); \
        return 0;                                   \
    }

OBJECT(cusolverDnCreateParams)
OBJECT(cusolverDnCreateSyevjInfo)
OBJECT(cusolverDnCreateGesvdjInfo)
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
