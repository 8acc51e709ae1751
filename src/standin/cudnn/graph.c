/*
 * graph.c - cuDNN's graph interface: descriptors nobody looks into, one engine that
 * always fits, and plans without a workspace.
 *
 * Callers describe an operation, ask the heuristics for engine configurations,
 * make a plan of one and ask how much workspace it wants. So asking for an
 * attribute must have answers. What a real engine would want as workspace is not
 * known here: recordings of programs that convolve lack it.
 *
 * Attribute names and types are numbers from the cuDNN backend API manual
 * (docs.nvidia.com/deeplearning/cudnn, "cudnnBackendAttributeName_t" and
 * "cudnnBackendAttributeType_t").
 */
#include "standin/core/handle.h"
#include "standin/core/stub.h"

#include <stddef.h>
#include <stdint.h>

enum {
    ATTRIBUTE_HEURISTIC_RESULTS = 202,
    ATTRIBUTE_CONFIG_ENGINE = 300,
    ATTRIBUTE_ENGINE_COUNT = 802, /* of an operation graph */
};

enum {
    TYPE_INT64 = 3,
    TYPE_DESCRIPTOR = 15,
};

int cudnnBackendCreateDescriptor(int kind, void **descriptor);
int cudnnBackendGetAttribute(const void *descriptor, int name, int type, int64_t wanted,
                             int64_t *found, void *elements);

int cudnnBackendCreateDescriptor(int kind, void **descriptor)
{
    (void)kind;
    *descriptor = plim_standin_handle_create();
    return 0;
}

int cudnnBackendGetAttribute(const void *descriptor, int name, int type, int64_t wanted,
                             int64_t *found, void *elements)
{
    (void)descriptor;
    int64_t count = 0;

    if (type == TYPE_INT64) {
        count = 1; /* a size or an index: zero, unless engines are counted */
        if (wanted > 0 && elements != NULL) {
            *(int64_t *)elements = name == ATTRIBUTE_ENGINE_COUNT ? 1 : 0;
        }
    } else if (type == TYPE_DESCRIPTOR) {
        /* The caller made the descriptors to be filled; they stay as they are. */
        count = name == ATTRIBUTE_HEURISTIC_RESULTS || name == ATTRIBUTE_CONFIG_ENGINE;
    }
    if (found != NULL) {
        *found = count;
    }
    return 0;
}

/* Descriptors are not read, and executing a plan leaves its results as they are. */
PLIM_STANDIN_NOTHING(cudnnBackendDestroyDescriptor)
PLIM_STANDIN_NOTHING(cudnnBackendExecute)
PLIM_STANDIN_NOTHING(cudnnBackendFinalize)
PLIM_STANDIN_NOTHING(cudnnBackendSetAttribute)
