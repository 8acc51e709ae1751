/*
 * graph_nodes.c - the runtime's functions of single nodes and edges, over work/graphs.h.
 *
 * As in capture.c, some names got one more parameter in CUDA 13, for data of edges.
 */
#include "standin/core/current.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/work/graphs.h"

#define CUDA_13 13000u

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

static int note(int error)
{
    return plim_standin_current_error_note(error);
}

static bool has_edge_data(void)
{
    return plim_standin_settings()->cuda_version >= CUDA_13;
}

static int add(void **node, void *graph, const plim_standin_node_spec *spec)
{
    return note(plim_standin_graph_add_node(graph, spec, node));
}

int cudaGraphAddKernelNode(void **node, void *graph, void *const *after, size_t count,
                           const plim_standin_kernel_params *params)
{
    if (params == NULL) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    const plim_standin_node_spec spec = { .work = plim_standin_kernel_work(params),
                                          .after = after,
                                          .after_count = count };
    return add(node, graph, &spec);
}

int cudaGraphAddHostNode(void **node, void *graph, void *const *after, size_t count,
                         const plim_standin_host_params *params)
{
    if (params == NULL || params->function == NULL) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    const plim_standin_node_spec spec = {
        .work = { .kind = PLIM_WORK_HOST, .callback = params->function, .data = params->data },
        .after = after,
        .after_count = count
    };
    return add(node, graph, &spec);
}

int cudaGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count)
{
    const plim_standin_node_spec spec = { .work = { .kind = PLIM_WORK_EMPTY },
                                          .after = after,
                                          .after_count = count };
    return add(node, graph, &spec);
}

int cudaGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count,
                               void *child)
{
    const plim_standin_node_spec spec = {
        .work = { .kind = PLIM_WORK_GRAPH }, .child = child, .after = after, .after_count = count
    };
    return add(node, graph, &spec);
}

int cudaGraphAddEventRecordNode(void **node, void *graph, void *const *after, size_t count,
                                void *event)
{
    const plim_standin_node_spec spec = { .work = { .kind = PLIM_WORK_EVENT_RECORD },
                                          .event = event,
                                          .after = after,
                                          .after_count = count };
    return add(node, graph, &spec);
}

int cudaGraphAddEventWaitNode(void **node, void *graph, void *const *after, size_t count,
                              void *event)
{
    const plim_standin_node_spec spec = { .work = { .kind = PLIM_WORK_EVENT_WAIT },
                                          .event = event,
                                          .after = after,
                                          .after_count = count };
    return add(node, graph, &spec);
}

int cudaGraphAddNode_v2(void **node, void *graph, void *const *after, const void *edges,
                        size_t count, const node_params *params)
{
    if (params == NULL) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    switch (params->kind) {
    case PLIM_WORK_KERNEL:
        return cudaGraphAddKernelNode(node, graph, after, count, &params->of.kernel);
    case PLIM_WORK_HOST:
        return cudaGraphAddHostNode(node, graph, after, count, &params->of.host);
    case PLIM_WORK_GRAPH:
        return cudaGraphAddChildGraphNode(node, graph, after, count, params->of.graph);
    case PLIM_WORK_EMPTY:
        return cudaGraphAddEmptyNode(node, graph, after, count);
    case PLIM_WORK_EVENT_WAIT:
        return cudaGraphAddEventWaitNode(node, graph, after, count, params->of.event);
    case PLIM_WORK_EVENT_RECORD:
        return cudaGraphAddEventRecordNode(node, graph, after, count, params->of.event);
    default: /* conditional ones come after cudaGraphConditionalHandleCreate, which says why not */
        return note(PLIM_WORK_NOT_SUPPORTED);
    }
}

int cudaGraphAddNode(void **node, void *graph, void *const *after, uintptr_t fourth,
                     uintptr_t fifth, const node_params *sixth)
{
    if (has_edge_data()) {
        return cudaGraphAddNode_v2(node, graph, after, (const void *)fourth, fifth, sixth);
    }
    return cudaGraphAddNode_v2(node, graph, after, NULL, fourth, (const node_params *)fifth);
}

int cudaGraphDestroyNode(void *node)
{
    return note(plim_standin_graph_remove_node(node));
}

int cudaGraphAddDependencies_v2(void *graph, void *const *from, void *const *to, const void *edges,
                                size_t count)
{
    return note(plim_standin_graph_connect(graph, from, to, count));
}

int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, uintptr_t fourth,
                             size_t fifth)
{
    const size_t count = has_edge_data() ? fifth : fourth;
    return cudaGraphAddDependencies_v2(graph, from, to, NULL, count);
}

int cudaGraphRemoveDependencies_v2(void *graph, void *const *from, void *const *to,
                                   const void *edges, size_t count)
{
    return note(plim_standin_graph_disconnect(graph, from, to, count));
}

int cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, uintptr_t fourth,
                                size_t fifth)
{
    const size_t count = has_edge_data() ? fifth : fourth;
    return cudaGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

int cudaGraphGetNodes(void *graph, void **nodes, size_t *count)
{
    return note(plim_standin_graph_list_nodes(graph, nodes, count));
}

int cudaGraphGetRootNodes(void *graph, void **nodes, size_t *count)
{
    return note(plim_standin_graph_list_roots(graph, nodes, count));
}

/* All edges are plain ones: their data are zeros, eight bytes each (cudaGraphEdgeData). */
static void clear_edges(void *edges, size_t count)
{
    uint64_t *const data = edges;
    for (size_t i = 0; data != NULL && i < count; i++) {
        data[i] = 0;
    }
}

int cudaGraphGetEdges_v2(void *graph, void **from, void **to, void *edges, size_t *count)
{
    const int error = plim_standin_graph_list_edges(graph, from, to, count);
    if (error == 0 && from != NULL) {
        clear_edges(edges, *count);
    }
    return note(error);
}

int cudaGraphGetEdges(void *graph, void **from, void **to, void *fourth, size_t *fifth)
{
    if (has_edge_data()) {
        return cudaGraphGetEdges_v2(graph, from, to, fourth, fifth);
    }
    return cudaGraphGetEdges_v2(graph, from, to, NULL, fourth);
}

int cudaGraphNodeGetDependencies_v2(void *node, void **before, void *edges, size_t *count)
{
    const int error = plim_standin_node_list_before(node, before, count);
    if (error == 0 && before != NULL) {
        clear_edges(edges, *count);
    }
    return note(error);
}

int cudaGraphNodeGetDependencies(void *node, void **before, void *third, size_t *fourth)
{
    if (has_edge_data()) {
        return cudaGraphNodeGetDependencies_v2(node, before, third, fourth);
    }
    return cudaGraphNodeGetDependencies_v2(node, before, NULL, third);
}

int cudaGraphNodeGetDependentNodes_v2(void *node, void **after, void *edges, size_t *count)
{
    const int error = plim_standin_node_list_after(node, after, count);
    if (error == 0 && after != NULL) {
        clear_edges(edges, *count);
    }
    return note(error);
}

int cudaGraphNodeGetDependentNodes(void *node, void **after, void *third, size_t *fourth)
{
    if (has_edge_data()) {
        return cudaGraphNodeGetDependentNodes_v2(node, after, third, fourth);
    }
    return cudaGraphNodeGetDependentNodes_v2(node, after, NULL, third);
}

int cudaGraphNodeGetType(void *node, int *type)
{
    const plim_standin_work *const work = plim_standin_node_get_work(node);
    if (work == NULL || type == NULL) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    *type = (int)work->kind;
    return PLIM_WORK_OK;
}

int cudaGraphKernelNodeGetParams(void *node, plim_standin_kernel_params *params)
{
    const plim_standin_work *const work = plim_standin_node_get_work(node);
    if (work == NULL || params == NULL || work->kind != PLIM_WORK_KERNEL) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    *params = plim_standin_kernel_params_of(work);
    return PLIM_WORK_OK;
}

int cudaGraphKernelNodeSetParams(void *node, const plim_standin_kernel_params *params)
{
    if (params == NULL) {
        return note(PLIM_WORK_INVALID_VALUE);
    }
    const plim_standin_work work = plim_standin_kernel_work(params);
    return note(plim_standin_node_set_work(node, &work));
}

PLIM_STANDIN_MODELLED(cudaGraphKernelNodeGetParams, "kernels' arguments are not kept: NULL")

/* What a launched graph's kernels, copies and fills would do otherwise makes no difference. */
PLIM_STANDIN_NOTHING(cudaGraphExecKernelNodeSetParams)
PLIM_STANDIN_NOTHING(cudaGraphKernelNodeSetAttribute)
PLIM_STANDIN_NOTHING(cudaGraphKernelNodeCopyAttributes)
PLIM_STANDIN_NOTHING(cudaGraphNodeSetEnabled)

/* Copies and fills come into graphs by capture; nobody was seen to build them by hand. */
PLIM_STANDIN_REFUSED(cudaGraphAddMemcpyNode, PLIM_WORK_NOT_SUPPORTED, "capture the copy instead")
PLIM_STANDIN_REFUSED(cudaGraphAddMemcpyNode1D, PLIM_WORK_NOT_SUPPORTED, "capture the copy instead")
PLIM_STANDIN_REFUSED(cudaGraphAddMemsetNode, PLIM_WORK_NOT_SUPPORTED, "capture the fill instead")
PLIM_STANDIN_REFUSED(cudaGraphAddMemAllocNode, PLIM_WORK_NOT_SUPPORTED,
                     "memory that a graph owns is not modelled")
PLIM_STANDIN_REFUSED(cudaGraphAddMemFreeNode, PLIM_WORK_NOT_SUPPORTED,
                     "memory that a graph owns is not modelled")
