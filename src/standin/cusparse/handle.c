/*
 * handle.c - cuSPARSE contexts.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/cusparse/cusparse.h"
#include "standin/library/versions.h"

int cusparseCreate(plim_standin_context **ret_context)
{
    if (!plim_standin_footprint_context(plim_standin_current_device())) {
        return PLIM_CUSPARSE_ALLOC_FAILED;
    }
    plim_standin_context *context = plim_standin_context_create(PLIM_CUSPARSE_EXECUTION_FAILED);
    if (context == NULL) {
        return PLIM_CUSPARSE_ALLOC_FAILED;
    }
    *ret_context = context;
    return 0;
}

int cusparseDestroy(plim_standin_context *context)
{
    plim_standin_context_destroy(context);
    return 0;
}

int cusparseSetStream(plim_standin_context *context, void *stream)
{
    if (context == NULL) {
        return PLIM_CUSPARSE_NOT_INITIALIZED;
    }
    context->stream = stream;
    return 0;
}

int cusparseGetStream(const plim_standin_context *context, void **ret_stream)
{
    if (context == NULL) {
        return PLIM_CUSPARSE_NOT_INITIALIZED;
    }
    *ret_stream = context->stream;
    return 0;
}

int cusparseSetPointerMode(plim_standin_context *context, int mode)
{
    if (context == NULL) {
        return PLIM_CUSPARSE_NOT_INITIALIZED;
    }
    context->pointer_mode = mode;
    return 0;
}

int cusparseGetPointerMode(const plim_standin_context *context, int *ret_mode)
{
    if (context == NULL) {
        return PLIM_CUSPARSE_NOT_INITIALIZED;
    }
    *ret_mode = context->pointer_mode;
    return 0;
}

int cusparseGetVersion(const plim_standin_context *context, int *ret_version)
{
    const plim_standin_version version = plim_standin_versions_in_force()->cusparse;
    *ret_version = 1000 * version.major + 100 * version.minor + version.patch;
    return 0;
}

int cusparseGetProperty(int kind, int *ret_value)
{
    const int value = plim_standin_version_part(plim_standin_versions_in_force()->cusparse, kind);
    if (value < 0) {
        return PLIM_CUSPARSE_INVALID_VALUE;
    }
    *ret_value = value;
    return 0;
}

static const struct {
    const char *name;
    const char *text;
} statuses[] = {
    { "CUSPARSE_STATUS_SUCCESS", "success" },
    { "CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error" },
    { "CUSPARSE_STATUS_ALLOC_FAILED", "out of memory" },
    { "CUSPARSE_STATUS_INVALID_VALUE", "invalid value" },
    { "CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch" },
    { "CUSPARSE_STATUS_MAPPING_ERROR", "texture/surface mapping error" },
    { "CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure" },
    { "CUSPARSE_STATUS_INTERNAL_ERROR", "internal error" },
    { "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported" },
    { "CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot" },
    { "CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported" },
    { "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources" },
};

const char *cusparseGetErrorName(int status)
{
    const size_t count = sizeof(statuses) / sizeof(statuses[0]);
    return status >= 0 && (size_t)status < count ? statuses[status].name : "unknown error";
}

const char *cusparseGetErrorString(int status)
{
    const size_t count = sizeof(statuses) / sizeof(statuses[0]);
    return status >= 0 && (size_t)status < count ? statuses[status].text : "unknown error";
}
