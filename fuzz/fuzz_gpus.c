/*
 * fuzz_gpus.c - any name finds a GPU or says why not, in one clean line.
 */
#include "plimsoll/gpu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    if (name == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(name, data, size);
    }
    name[size] = '\0';
    const plim_gpu *gpu = NULL;
    plim_error err = { 0 };
    const plim_status status = plim_gpu_find(name, &gpu, &err);
    if (status == PLIM_OK ? gpu == NULL : (err.message[0] == '\0' || gpu != NULL)) {
        abort();
    }
    free(name);
    return 0;
}
