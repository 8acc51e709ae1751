/*
 * handle.c - cuDNN: a version PyTorch accepts, and contexts.
 *
 * PyTorch refuses a cuDNN of another major version than it was built with. Its
 * descriptors and plans stay default stand-ins: convolutions that go through the
 * cuDNN graph interface are not modelled.
 */
#include "core/handle.h"

#include <stddef.h>

size_t cudnnGetVersion(void);
size_t cudnnGetCudartVersion(void);
int cudnnCreate(void **handle);
const char *cudnnGetErrorString(int status);
void cudnnGetLastErrorString(char *text, size_t bytes);

size_t cudnnGetVersion(void)
{
    return 91900; /* 9.19.0, which torch 2.11.0 asks for in its metadata */
}

size_t cudnnGetCudartVersion(void)
{
    return 13000;
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
