/*
 * handle.c - cuSPARSE contexts.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/cusparse/cusparse.h"
#include "standin/library/versions.h"

int cusparseCreate(plim_standin_context **ret_context)
{
    return plim_standin_context_create(
        plim_standin_footprint_context(plim_standin_current_device()), PLIM_CUSPARSE_ALLOC_FAILED,
        PLIM_CUSPARSE_EXECUTION_FAILED, ret_context);
}

int cusparseDestroy(plim_standin_context *context)
{
    plim_standin_context_destroy(context);
    return 0;
}

PLIM_STANDIN_SETTER(cusparseSetStream, void *, stream)
PLIM_STANDIN_GETTER(cusparseGetStream, void *, stream)
PLIM_STANDIN_SETTER(cusparseSetPointerMode, int, pointer_mode)
PLIM_STANDIN_GETTER(cusparseGetPointerMode, int, pointer_mode)

int cusparseGetVersion(const plim_standin_context *context, int *ret_version)
{
    *ret_version = plim_standin_version_number(plim_standin_versions_in_force()->cusparse, 1000);
    return 0;
}

int cusparseGetProperty(int kind, int *ret_value)
{
    return plim_standin_version_part(plim_standin_versions_in_force()->cusparse, kind,
                                     PLIM_CUSPARSE_INVALID_VALUE, ret_value);
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
