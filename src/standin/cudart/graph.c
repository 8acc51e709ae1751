/*
 * graph.c - the runtime's functions of graphs as a whole, over work/graphs.h.
 */
#include "standin/core/current.h"
#include "standin/core/stub.h"
#include "standin/work/graphs.h"

#define USER_OBJECT_NO_SYNC 1u /* cudaUserObjectNoDestructorSync: the only flag, and required */
#define USER_OBJECT_MOVE    1u /* cudaGraphUserObjectMove */

/* cudaGraphInstantiateParams */
typedef struct instantiate_params {
    unsigned long long flags;
    void *upload_stream;
    void *error_node;
    int result; /* 0: cudaGraphInstantiateSuccess, 1: …Error */
} instantiate_params;

/* cudaGraphExecUpdateResultInfo */
typedef struct update_result {
    int result; /* 0: cudaGraphExecUpdateSuccess, 2: …ErrorTopologyChanged */
    void *error_node;
    void *error_from_node;
} update_result;

static int note(int error)
{
    return plim_standin_current_error_note(error);
}

int cudaGraphCreate(void **graph, unsigned flags)
{
    return note(flags == 0 ? plim_standin_graph_create(graph) : PLIM_WORK_INVALID_VALUE);
}

int cudaGraphDestroy(void *graph)
{
    return note(plim_standin_graph_destroy(graph));
}

int cudaGraphClone(void **clone, void *graph)
{
    return note(plim_standin_graph_copy(graph, clone));
}

int cudaGraphDebugDotPrint(void *graph, const char *path, unsigned flags)
{
    /* flags: how much of it */
    return note(plim_standin_graph_print(graph, path));
}

int cudaGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
    return note(plim_standin_exec_create(graph, flags, exec));
}

int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

int cudaGraphInstantiateWithParams(void **exec, void *graph, instantiate_params *params)
{
    if (params == NULL) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    const int error = plim_standin_exec_create(graph, params->flags, exec);
    params->error_node = NULL;
    params->result = error != 0;
    return note(error);
}

int cudaGraphExecDestroy(void *exec)
{
    return note(plim_standin_exec_destroy(exec));
}

int cudaGraphExecGetFlags(void *exec, unsigned long long *flags)
{
    uint64_t kept = 0;
    const int error = plim_standin_exec_get_flags(exec, &kept);
    if (error == 0) {
        *flags = kept;
    }
    return note(error);
}

int cudaGraphExecUpdate(void *exec, void *graph, update_result *result)
{
    bool fits = false;
    const int error = plim_standin_exec_update(exec, graph, &fits);
    if (result != NULL) {
        *result = (update_result){ .result = fits ? 0 : 2 };
    }
    return note(error);
}

int cudaGraphUpload(void *exec, void *stream)
{
    /* stream: nothing is sent to a device */
    return note(plim_standin_exec_check(exec));
}

int cudaGraphLaunch(void *exec, void *stream)
{
    return note(plim_standin_exec_launch(exec, stream));
}

int cudaUserObjectCreate(void **object, void *data, void (*destroy)(void *), unsigned uses,
                         unsigned flags)
{
    const bool is_right = flags == USER_OBJECT_NO_SYNC;
    return note(is_right ? plim_standin_user_create(data, destroy, uses, object)
                         : PLIM_WORK_INVALID_VALUE);
}

int cudaUserObjectRetain(void *object, unsigned count)
{
    return note(plim_standin_user_retain(object, count));
}

int cudaUserObjectRelease(void *object, unsigned count)
{
    return note(plim_standin_user_release(object, count));
}

int cudaGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags)
{
    if ((flags & ~USER_OBJECT_MOVE) != 0) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    return note(plim_standin_graph_retain_user(graph, object, count, flags != 0));
}

int cudaGraphReleaseUserObject(void *graph, void *object, unsigned count)
{
    return note(plim_standin_graph_release_user(graph, object, count));
}

/* Drivers keep executable graphs on the device: little for most, but 8 GiB were seen for one that
 * unrolled hundreds of steps (github.com/JBjoernskov/Twin4Build, issue 134). No manual says how
 * much it is. */
PLIM_STANDIN_MODELLED(cudaGraphInstantiate, "takes nothing; real ones take memory for each node")
PLIM_STANDIN_MODELLED(cudaGraphInstantiateWithFlags,
                      "takes nothing; real ones take memory for each node")

/* Memory that graphs allocate themselves, with nodes for it, is counted as the program's. */
int cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
    *(uint64_t *)value = 0;
    return PLIM_WORK_OK;
}

PLIM_STANDIN_MODELLED(cudaDeviceGetGraphMemAttribute,
                      "0: graphs' allocations count as the program's")
PLIM_STANDIN_NOTHING(cudaDeviceSetGraphMemAttribute)
PLIM_STANDIN_NOTHING(cudaDeviceGraphMemTrim)

/* Which branch runs is decided by values on the device, and there are none. */
PLIM_STANDIN_REFUSED(cudaGraphConditionalHandleCreate, PLIM_WORK_NOT_SUPPORTED,
                     "conditional nodes depend on values that are never computed")
PLIM_STANDIN_REFUSED(cudaGraphConditionalHandleCreate_v2, PLIM_WORK_NOT_SUPPORTED,
                     "conditional nodes depend on values that are never computed")
