/*
 * graph.c - graphs as a whole, and what they hold, over work/graphs.h.
 */
#include "standin/work/graphs.h"

#include "standin/both/both.h"

#define USER_OBJECT_NO_SYNC 1u /* cudaUserObjectNoDestructorSync: the only flag, and required */
#define USER_OBJECT_MOVE    1u /* cudaGraphUserObjectMove */

BOTH(cuGraphCreate, cudaGraphCreate, (void **graph, unsigned flags),
     flags == 0 ? plim_standin_graph_create(graph) : PLIM_WORK_INVALID_VALUE)
BOTH(cuGraphDestroy, cudaGraphDestroy, (void *graph), plim_standin_graph_destroy(graph))
BOTH(cuGraphClone, cudaGraphClone, (void **clone, void *graph),
     plim_standin_graph_copy(graph, clone))
/* The flags say how much of it. */
BOTH(cuGraphDebugDotPrint, cudaGraphDebugDotPrint, (void *graph, const char *path, unsigned flags),
     plim_standin_graph_print(graph, path))

/* ---- executable graphs ----------------------------------------------------------------------- */

BOTH(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags,
     (void **exec, void *graph, uint64_t flags), plim_standin_exec_create(graph, flags, exec))
RUNTIME(cudaGraphInstantiate, (void **exec, void *graph, uint64_t flags),
        plim_standin_exec_create(graph, flags, exec))
BOTH(cuGraphExecDestroy, cudaGraphExecDestroy, (void *exec), plim_standin_exec_destroy(exec))
BOTH(cuGraphExecGetFlags, cudaGraphExecGetFlags, (void *exec, uint64_t *flags),
     plim_standin_exec_get_flags(exec, flags))
/* Nothing is sent to a device. */
BOTH(cuGraphUpload, cudaGraphUpload, (void *exec, void *stream), plim_standin_exec_check(exec))
BOTH(cuGraphLaunch, cudaGraphLaunch, (void *exec, void *stream),
     plim_standin_exec_launch(exec, stream))

int cuGraphInstantiate_v2(void **exec, void *graph, void **error_node, char *log, size_t bytes)
{
    if (error_node != NULL) {
        *error_node = NULL;
    }
    if (log != NULL && bytes > 0) {
        log[0] = '\0';
    }
    return plim_standin_exec_create(graph, 0, exec);
}

/* cudaGraphInstantiateParams */
typedef struct instantiate_params {
    unsigned long long flags;
    void *upload_stream;
    void *error_node;
    int result; /* 0: cudaGraphInstantiateSuccess, 1: …Error */
} instantiate_params;

int cudaGraphInstantiateWithParams(void **exec, void *graph, instantiate_params *params)
{
    if (params == NULL) {
        return plim_standin_current_error_note(PLIM_WORK_INVALID_VALUE);
    }
    const int error = plim_standin_exec_create(graph, params->flags, exec);
    params->error_node = NULL;
    params->result = error != 0;
    return plim_standin_current_error_note(error);
}

/* cudaGraphExecUpdateResultInfo */
typedef struct update_result {
    int result; /* 0: cudaGraphExecUpdateSuccess, 2: …ErrorTopologyChanged */
    void *error_node;
    void *error_from_node;
} update_result;

int cudaGraphExecUpdate(void *exec, void *graph, update_result *result)
{
    bool fits = false;
    const int error = plim_standin_exec_update(exec, graph, &fits);
    if (result != NULL) {
        *result = (update_result){ .result = fits ? 0 : 2 };
    }
    return plim_standin_current_error_note(error);
}

/* ---- what graphs hold ------------------------------------------------------------------------ */

BOTH(cuUserObjectCreate, cudaUserObjectCreate,
     (void **object, void *data, void (*destroy)(void *), unsigned uses, unsigned flags),
     flags == USER_OBJECT_NO_SYNC ? plim_standin_user_create(data, destroy, uses, object)
                                  : PLIM_WORK_INVALID_VALUE)
BOTH(cuUserObjectRetain, cudaUserObjectRetain, (void *object, unsigned count),
     plim_standin_user_retain(object, count))
BOTH(cuUserObjectRelease, cudaUserObjectRelease, (void *object, unsigned count),
     plim_standin_user_release(object, count))
BOTH(cuGraphRetainUserObject, cudaGraphRetainUserObject,
     (void *graph, void *object, unsigned count, unsigned flags),
     (flags & ~USER_OBJECT_MOVE) == 0
         ? plim_standin_graph_retain_user(graph, object, count, flags != 0)
         : PLIM_WORK_INVALID_VALUE)
BOTH(cuGraphReleaseUserObject, cudaGraphReleaseUserObject,
     (void *graph, void *object, unsigned count),
     plim_standin_graph_release_user(graph, object, count))

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

/* Values on the device decide which branch runs, and nothing computes them. */
#define CONDITIONAL "conditional nodes depend on values that are never computed"
PLIM_STANDIN_REFUSED(cuGraphConditionalHandleCreate, PLIM_WORK_NOT_SUPPORTED, CONDITIONAL)
PLIM_STANDIN_REFUSED(cudaGraphConditionalHandleCreate, PLIM_WORK_NOT_SUPPORTED, CONDITIONAL)
PLIM_STANDIN_REFUSED(cudaGraphConditionalHandleCreate_v2, PLIM_WORK_NOT_SUPPORTED, CONDITIONAL)
