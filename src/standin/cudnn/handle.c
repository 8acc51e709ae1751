/*
 * handle.c - cuDNN: its version, contexts, and what it says of errors.
 *
 * PyTorch refuses a cuDNN of another major version than it was built with, so the version is the
 * one that the program's own packages ask for.
 */
#include "standin/core/footprint.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cudnn/cudnn.h"

#include <stdlib.h>
#include <string.h>

typedef struct context {
    void *stream;
} context;

size_t cudnnGetVersion(void)
{
    return plim_standin_settings()->cudnn_version;
}

size_t cudnnGetCudartVersion(void)
{
    return plim_standin_settings()->cuda_version;
}

int cudnnGetProperty(int kind, int *value)
{
    const int version = (int)plim_standin_settings()->cudnn_version;
    const int parts[] = { version / 10000, version / 100 % 100, version % 100 };
    if (kind < 0 || kind > 2 || value == NULL) { /* libraryPropertyType: in this order */
        return PLIM_CUDNN_BAD_PARAM;
    }
    *value = parts[kind];
    return PLIM_CUDNN_OK;
}

int cudnnCreate(context **handle)
{
    if (handle == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (!plim_standin_footprint_library(PLIM_STANDIN_CUDNN)) {
        return PLIM_CUDNN_NO_DEVICE_MEMORY;
    }
    context *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return PLIM_CUDNN_NO_HOST_MEMORY;
    }
    *handle = made;
    return PLIM_CUDNN_OK;
}

int cudnnDestroy(context *handle)
{
    free(handle);
    return PLIM_CUDNN_OK;
}

int cudnnSetStream(context *handle, void *stream)
{
    if (handle == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    handle->stream = stream;
    return PLIM_CUDNN_OK;
}

int cudnnGetStream(const context *handle, void **stream)
{
    if (handle == NULL || stream == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    *stream = handle->stream;
    return PLIM_CUDNN_OK;
}

const char *cudnnGetErrorString(int status)
{
    switch (status) {
    case PLIM_CUDNN_OK:
        return "CUDNN_STATUS_SUCCESS";
    case PLIM_CUDNN_FINALIZED:
        return "CUDNN_STATUS_NOT_INITIALIZED";
    case PLIM_CUDNN_BAD_PARAM:
        return "CUDNN_STATUS_BAD_PARAM";
    case PLIM_CUDNN_BAD_PARAM_NULL:
        return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case PLIM_CUDNN_BAD_PARAM_NOT_FINALIZED:
        return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
    case PLIM_CUDNN_BAD_PARAM_SIZE:
        return "CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT";
    case PLIM_CUDNN_BAD_PARAM_ATTRIBUTE_TYPE:
        return "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE";
    case PLIM_CUDNN_NOT_SUPPORTED:
        return "CUDNN_STATUS_NOT_SUPPORTED";
    case PLIM_CUDNN_NO_HOST_MEMORY:
        return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
    case PLIM_CUDNN_NO_DEVICE_MEMORY:
        return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    default:
        return "CUDNN_STATUS_UNKNOWN";
    }
}

void cudnnGetLastErrorString(char *text, size_t bytes)
{
    if (text != NULL && bytes > 0) {
        text[0] = '\0'; /* no story to the status */
    }
}
