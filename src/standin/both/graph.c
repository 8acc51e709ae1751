/*
 * graph.c - graphs, their nodes and launches, over work/work.h.
 */
#include "standin/both/both.h"
#include "standin/core/stage.h"
#include "standin/work/work.h"

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

/* ---- nodes ----------------------------------------------------------------------------------- */

/*
 * As in capture.c, some of the runtime's names got one more parameter in CUDA 13, for data of
 * edges.
 */

static bool has_edge_data(void)
{
    return plim_standin_settings()->cuda_version >= PLIM_CUDA_13;
}

/* ---- nodes added ----------------------------------------------------------------------------- */

typedef struct node_place { /* where a node is added */
    void *graph;
    void *const *after;
    size_t count;
} node_place;

static int add(void **node, node_place at, plim_standin_node_spec spec)
{
    spec.after = at.after;
    spec.after_count = at.count;
    return plim_standin_graph_add_node(at.graph, &spec, node);
}

static int add_kernel(void **node, node_place at, const plim_standin_kernel_params *params)
{
    if (params == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    return add(node, at, (plim_standin_node_spec){ .work = plim_standin_kernel_work(params) });
}

static int add_host(void **node, node_place at, const plim_standin_host_params *params)
{
    if (params == NULL || params->function == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    const plim_standin_work work = { .kind = PLIM_WORK_HOST,
                                     .callback = params->function,
                                     .data = params->data };
    return add(node, at, (plim_standin_node_spec){ .work = work });
}

static int add_empty(void **node, node_place at)
{
    return add(node, at, (plim_standin_node_spec){ .work = { .kind = PLIM_WORK_EMPTY } });
}

static int add_graph(void **node, node_place at, void *child)
{
    return add(node, at,
               (plim_standin_node_spec){ .work = { .kind = PLIM_WORK_GRAPH }, .child = child });
}

static int add_event(void **node, node_place at, plim_standin_work_kind kind, void *event)
{
    return add(node, at, (plim_standin_node_spec){ .work = { .kind = kind }, .event = event });
}

#define HERE ((node_place){ graph, after, count })

BOTH(cuGraphAddKernelNode, cudaGraphAddKernelNode,
     (void **node, void *graph, void *const *after, size_t count,
      const plim_standin_kernel_params *params),
     add_kernel(node, HERE, params))
DRIVER(cuGraphAddKernelNode_v2,
       (void **node, void *graph, void *const *after, size_t count,
        const plim_standin_kernel_params *params),
       add_kernel(node, HERE, params))
BOTH(cuGraphAddHostNode, cudaGraphAddHostNode,
     (void **node, void *graph, void *const *after, size_t count,
      const plim_standin_host_params *params),
     add_host(node, HERE, params))
BOTH(cuGraphAddEmptyNode, cudaGraphAddEmptyNode,
     (void **node, void *graph, void *const *after, size_t count), add_empty(node, HERE))
BOTH(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode,
     (void **node, void *graph, void *const *after, size_t count, void *child),
     add_graph(node, HERE, child))
RUNTIME(cudaGraphAddEventRecordNode,
        (void **node, void *graph, void *const *after, size_t count, void *event),
        add_event(node, HERE, PLIM_WORK_EVENT_RECORD, event))
RUNTIME(cudaGraphAddEventWaitNode,
        (void **node, void *graph, void *const *after, size_t count, void *event),
        add_event(node, HERE, PLIM_WORK_EVENT_WAIT, event))

/* cudaGraphNodeParams, as far as it is read: a kind, and at byte 16 what belongs to it. */
typedef struct node_params {
    int kind;
    int unused[3];
    union {
        plim_standin_kernel_params kernel;
        plim_standin_host_params host;
        void *graph;
        void *event;
    } of;
} node_params;

_Static_assert(offsetof(node_params, of) == 16, "the manual's layout");

static int add_any(void **node, node_place at, const node_params *params)
{
    if (params == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    switch (params->kind) {
    case PLIM_WORK_KERNEL:
        return add_kernel(node, at, &params->of.kernel);
    case PLIM_WORK_HOST:
        return add_host(node, at, &params->of.host);
    case PLIM_WORK_GRAPH:
        return add_graph(node, at, params->of.graph);
    case PLIM_WORK_EMPTY:
        return add_empty(node, at);
    case PLIM_WORK_EVENT_WAIT:
    case PLIM_WORK_EVENT_RECORD:
        return add_event(node, at, (plim_standin_work_kind)params->kind, params->of.event);
    default: /* conditional ones come after cudaGraphConditionalHandleCreate, which says why not */
        return PLIM_WORK_NOT_SUPPORTED;
    }
}

RUNTIME(cudaGraphAddNode_v2,
        (void **node, void *graph, void *const *after, const void *edges, size_t count,
         const node_params *params),
        add_any(node, HERE, params))

int cudaGraphAddNode(void **node, void *graph, void *const *after, uintptr_t fourth,
                     uintptr_t fifth, const node_params *sixth)
{
    if (has_edge_data()) {
        return cudaGraphAddNode_v2(node, graph, after, (const void *)fourth, fifth, sixth);
    }
    return cudaGraphAddNode_v2(node, graph, after, NULL, fourth, (const node_params *)fifth);
}

BOTH(cuGraphDestroyNode, cudaGraphDestroyNode, (void *node), plim_standin_graph_remove_node(node))

/* ---- edges ----------------------------------------------------------------------------------- */

DRIVER(cuGraphAddDependencies, (void *graph, void *const *from, void *const *to, size_t count),
       plim_standin_graph_connect(graph, from, to, count))
RUNTIME(cudaGraphAddDependencies,
        (void *graph, void *const *from, void *const *to, uintptr_t fourth, size_t fifth),
        plim_standin_graph_connect(graph, from, to, has_edge_data() ? fifth : fourth))
RUNTIME(cudaGraphAddDependencies_v2,
        (void *graph, void *const *from, void *const *to, const void *edges, size_t count),
        plim_standin_graph_connect(graph, from, to, count))
RUNTIME(cudaGraphRemoveDependencies,
        (void *graph, void *const *from, void *const *to, uintptr_t fourth, size_t fifth),
        plim_standin_graph_disconnect(graph, from, to, has_edge_data() ? fifth : fourth))
RUNTIME(cudaGraphRemoveDependencies_v2,
        (void *graph, void *const *from, void *const *to, const void *edges, size_t count),
        plim_standin_graph_disconnect(graph, from, to, count))

/* ---- lists ----------------------------------------------------------------------------------- */

BOTH(cuGraphGetNodes, cudaGraphGetNodes, (void *graph, void **nodes, size_t *count),
     plim_standin_graph_list_nodes(graph, nodes, count))
BOTH(cuGraphGetRootNodes, cudaGraphGetRootNodes, (void *graph, void **nodes, size_t *count),
     plim_standin_graph_list_roots(graph, nodes, count))
DRIVER(cuGraphGetEdges, (void *graph, void **from, void **to, size_t *count),
       plim_standin_graph_list_edges(graph, from, to, count))
DRIVER(cuGraphNodeGetDependencies, (void *node, void **before, size_t *count),
       plim_standin_node_list_before(node, before, count))
DRIVER(cuGraphNodeGetDependentNodes, (void *node, void **after, size_t *count),
       plim_standin_node_list_after(node, after, count))

/* All edges are plain ones: where they were listed, their data are zeros (cudaGraphEdgeData). */
static int with_plain_edges(int error, void **listed, uint64_t *edges, const size_t *count)
{
    for (size_t i = 0; error == 0 && listed != NULL && edges != NULL && i < *count; i++) {
        edges[i] = 0;
    }
    return error;
}

RUNTIME(cudaGraphGetEdges_v2, (void *graph, void **from, void **to, void *edges, size_t *count),
        with_plain_edges(plim_standin_graph_list_edges(graph, from, to, count), from, edges, count))
RUNTIME(cudaGraphNodeGetDependencies_v2, (void *node, void **before, void *edges, size_t *count),
        with_plain_edges(plim_standin_node_list_before(node, before, count), before, edges, count))
RUNTIME(cudaGraphNodeGetDependentNodes_v2, (void *node, void **after, void *edges, size_t *count),
        with_plain_edges(plim_standin_node_list_after(node, after, count), after, edges, count))

int cudaGraphGetEdges(void *graph, void **from, void **to, void *fourth, size_t *fifth)
{
    return has_edge_data() ? cudaGraphGetEdges_v2(graph, from, to, fourth, fifth)
                           : cudaGraphGetEdges_v2(graph, from, to, NULL, fourth);
}

int cudaGraphNodeGetDependencies(void *node, void **before, void *third, size_t *fourth)
{
    return has_edge_data() ? cudaGraphNodeGetDependencies_v2(node, before, third, fourth)
                           : cudaGraphNodeGetDependencies_v2(node, before, NULL, third);
}

int cudaGraphNodeGetDependentNodes(void *node, void **after, void *third, size_t *fourth)
{
    return has_edge_data() ? cudaGraphNodeGetDependentNodes_v2(node, after, third, fourth)
                           : cudaGraphNodeGetDependentNodes_v2(node, after, NULL, third);
}

/* ---- what a node does ------------------------------------------------------------------------ */

static int get_type(void *node, int *type)
{
    const plim_standin_work *const work = plim_standin_node_get_work(node);
    if (work == NULL || type == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    *type = (int)work->kind;
    return PLIM_WORK_OK;
}

static int get_kernel(void *node, plim_standin_kernel_params *params)
{
    const plim_standin_work *const work = plim_standin_node_get_work(node);
    if (work == NULL || params == NULL || work->kind != PLIM_WORK_KERNEL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    *params = plim_standin_kernel_params_of(work);
    return PLIM_WORK_OK;
}

BOTH(cuGraphNodeGetType, cudaGraphNodeGetType, (void *node, int *type), get_type(node, type))
BOTH(cuGraphKernelNodeGetParams, cudaGraphKernelNodeGetParams,
     (void *node, plim_standin_kernel_params *params), get_kernel(node, params))
PLIM_STANDIN_MODELLED(cuGraphKernelNodeGetParams, "kernels' arguments are not kept: NULL")
PLIM_STANDIN_MODELLED(cudaGraphKernelNodeGetParams, "kernels' arguments are not kept: NULL")

int cuGraphKernelNodeGetParams_v2(void *node, plim_standin_kernel_params *params)
{
    struct { /* the second version has two more fields: the kernel and its context */
        plim_standin_kernel_params params;
        void *more[2];
    } *const longer = (void *)params;
    const int error = get_kernel(node, params);
    if (error == 0) {
        longer->more[0] = NULL;
        longer->more[1] = NULL;
    }
    return error;
}

int cudaGraphKernelNodeSetParams(void *node, const plim_standin_kernel_params *params)
{
    if (params == NULL) {
        return plim_standin_current_error_note(PLIM_WORK_INVALID_VALUE);
    }
    const plim_standin_work work = plim_standin_kernel_work(params);
    return plim_standin_current_error_note(plim_standin_node_set_work(node, &work));
}

/* Other parameters of a launched graph's kernels, copies and fills make no difference. */
PLIM_STANDIN_NOTHING(cuGraphExecKernelNodeSetParams_v2)
PLIM_STANDIN_NOTHING(cudaGraphExecKernelNodeSetParams)
PLIM_STANDIN_NOTHING(cudaGraphKernelNodeSetAttribute)
PLIM_STANDIN_NOTHING(cudaGraphKernelNodeCopyAttributes)
PLIM_STANDIN_NOTHING(cudaGraphNodeSetEnabled)

/* Copies and fills come into graphs by capture; no program was seen to build them by hand. */
#define COPY        "capture the copy instead"
#define MEMORY_NOTE "memory that a graph owns is not modelled"
PLIM_STANDIN_REFUSED(cudaGraphAddMemcpyNode, PLIM_WORK_NOT_SUPPORTED, COPY)
PLIM_STANDIN_REFUSED(cudaGraphAddMemcpyNode1D, PLIM_WORK_NOT_SUPPORTED, COPY)
PLIM_STANDIN_REFUSED(cudaGraphAddMemsetNode, PLIM_WORK_NOT_SUPPORTED, "capture the fill instead")
PLIM_STANDIN_REFUSED(cudaGraphAddMemAllocNode, PLIM_WORK_NOT_SUPPORTED, MEMORY_NOTE)
PLIM_STANDIN_REFUSED(cudaGraphAddMemFreeNode, PLIM_WORK_NOT_SUPPORTED, MEMORY_NOTE)
