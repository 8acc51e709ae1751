/*
 * handle.c - cuDNN: a version PyTorch accepts, and contexts.
 *
 * PyTorch refuses a cuDNN of another major version than it was built with.
 */
#include "standin/core/handle.h"
#include "standin/core/stub.h"

#include <stddef.h>

#define VERSION_MAJOR 9 /* 9.19.0, which torch 2.11.0 asks for in its metadata */
#define VERSION_MINOR 19
#define VERSION_PATCH 0

size_t cudnnGetVersion(void);
size_t cudnnGetCudartVersion(void);
int cudnnGetProperty(int kind, int *value);
int cudnnCreate(void **handle);
const char *cudnnGetErrorString(int status);
void cudnnGetLastErrorString(char *text, size_t bytes);

size_t cudnnGetVersion(void)
{
    return 10000 * VERSION_MAJOR + 100 * VERSION_MINOR + VERSION_PATCH;
}

size_t cudnnGetCudartVersion(void)
{
    return 13000;
}

int cudnnGetProperty(int kind, int *value)
{
    /* libraryPropertyType: major, minor and patch, in this order */
    static const int version[] = { VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH };
    if (kind < 0 || kind > 2) {
        return 2000; /* CUDNN_STATUS_BAD_PARAM */
    }
    *value = version[kind];
    return 0;
}

int cudnnCreate(void **handle)
{
    *handle = plim_standin_handle_create();
    return 0;
}

const char *cudnnGetErrorString(int status)
{
    return status == 0 ? "CUDNN_STATUS_SUCCESS" : "unknown cuDNN error";
}

void cudnnGetLastErrorString(char *text, size_t bytes)
{
    if (bytes > 0) {
        text[0] = '\0';
    }
}

/* A context has nothing to give back, and does the same on every stream. */
PLIM_STANDIN_NOTHING(cudnnDestroy)
PLIM_STANDIN_NOTHING(cudnnSetStream)
