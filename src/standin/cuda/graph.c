/*
 * graph.c - the driver's functions of graphs, over work/graphs.h.
 */
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"
#include "standin/work/graphs.h"

int cuGraphCreate(void **graph, unsigned flags)
{
    return flags == 0 ? plim_standin_graph_create(graph) : DRIVER_INVALID_VALUE;
}

int cuGraphDestroy(void *graph)
{
    return plim_standin_graph_destroy(graph);
}

int cuGraphClone(void **clone, void *graph)
{
    return plim_standin_graph_copy(graph, clone);
}

int cuGraphDebugDotPrint(void *graph, const char *path, unsigned flags)
{
    return plim_standin_graph_print(graph, path);
}

int cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags)
{
    return plim_standin_exec_create(graph, flags, exec);
}

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

int cuGraphExecDestroy(void *exec)
{
    return plim_standin_exec_destroy(exec);
}

int cuGraphExecGetFlags(void *exec, uint64_t *flags)
{
    return plim_standin_exec_get_flags(exec, flags);
}

int cuGraphUpload(void *exec, void *stream)
{
    return plim_standin_exec_check(exec);
}

int cuGraphLaunch(void *exec, void *stream)
{
    return plim_standin_exec_launch(exec, stream);
}

int cuGraphAddKernelNode(void **node, void *graph, void *const *after, size_t count,
                         const plim_standin_kernel_params *params)
{
    if (params == NULL) {
        return DRIVER_INVALID_VALUE;
    }
    const plim_standin_node_spec spec = { .work = plim_standin_kernel_work(params),
                                          .after = after,
                                          .after_count = count };
    return plim_standin_graph_add_node(graph, &spec, node);
}

int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *after, size_t count,
                            const plim_standin_kernel_params *params)
{
    return cuGraphAddKernelNode(node, graph, after, count, params);
}

int cuGraphAddHostNode(void **node, void *graph, void *const *after, size_t count,
                       const plim_standin_host_params *params)
{
    if (params == NULL || params->function == NULL) {
        return DRIVER_INVALID_VALUE;
    }
    const plim_standin_node_spec spec = {
        .work = { .kind = PLIM_WORK_HOST, .callback = params->function, .data = params->data },
        .after = after,
        .after_count = count
    };
    return plim_standin_graph_add_node(graph, &spec, node);
}

int cuGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count)
{
    const plim_standin_node_spec spec = { .work = { .kind = PLIM_WORK_EMPTY },
                                          .after = after,
                                          .after_count = count };
    return plim_standin_graph_add_node(graph, &spec, node);
}

int cuGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count,
                             void *child)
{
    const plim_standin_node_spec spec = {
        .work = { .kind = PLIM_WORK_GRAPH }, .child = child, .after = after, .after_count = count
    };
    return plim_standin_graph_add_node(graph, &spec, node);
}

int cuGraphDestroyNode(void *node)
{
    return plim_standin_graph_remove_node(node);
}

int cuGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t count)
{
    return plim_standin_graph_connect(graph, from, to, count);
}

int cuGraphGetNodes(void *graph, void **nodes, size_t *count)
{
    return plim_standin_graph_list_nodes(graph, nodes, count);
}

int cuGraphGetRootNodes(void *graph, void **nodes, size_t *count)
{
    return plim_standin_graph_list_roots(graph, nodes, count);
}

int cuGraphGetEdges(void *graph, void **from, void **to, size_t *count)
{
    return plim_standin_graph_list_edges(graph, from, to, count);
}

int cuGraphNodeGetDependencies(void *node, void **before, size_t *count)
{
    return plim_standin_node_list_before(node, before, count);
}

int cuGraphNodeGetDependentNodes(void *node, void **after, size_t *count)
{
    return plim_standin_node_list_after(node, after, count);
}

int cuGraphNodeGetType(void *node, int *type)
{
    const plim_standin_work *const work = plim_standin_node_get_work(node);
    if (work == NULL || type == NULL) {
        return DRIVER_INVALID_VALUE;
    }
    *type = (int)work->kind;
    return DRIVER_SUCCESS;
}

int cuGraphKernelNodeGetParams(void *node, plim_standin_kernel_params *params)
{
    const plim_standin_work *const work = plim_standin_node_get_work(node);
    if (work == NULL || params == NULL || work->kind != PLIM_WORK_KERNEL) {
        return DRIVER_INVALID_VALUE;
    }
    *params = plim_standin_kernel_params_of(work);
    return DRIVER_SUCCESS;
}

int cuGraphKernelNodeGetParams_v2(void *node, plim_standin_kernel_params *params)
{
    struct { /* the second version has two more fields: the kernel and its context */
        plim_standin_kernel_params params;
        void *more[2];
    } *const longer = (void *)params;
    const int error = cuGraphKernelNodeGetParams(node, params);
    if (error == 0) {
        longer->more[0] = NULL;
        longer->more[1] = NULL;
    }
    return error;
}

int cuUserObjectCreate(void **object, void *data, void (*destroy)(void *), unsigned uses,
                       unsigned flags)
{
    const bool is_right = flags == 1; /* CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, required */
    return is_right ? plim_standin_user_create(data, destroy, uses, object) : DRIVER_INVALID_VALUE;
}

int cuUserObjectRetain(void *object, unsigned count)
{
    return plim_standin_user_retain(object, count);
}

int cuUserObjectRelease(void *object, unsigned count)
{
    return plim_standin_user_release(object, count);
}

int cuGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags)
{
    if (flags > 1) { /* CU_GRAPH_USER_OBJECT_MOVE */
        return DRIVER_INVALID_VALUE;
    }
    return plim_standin_graph_retain_user(graph, object, count, flags == 1);
}

int cuGraphReleaseUserObject(void *graph, void *object, unsigned count)
{
    return plim_standin_graph_release_user(graph, object, count);
}

PLIM_STANDIN_MODELLED(cuGraphKernelNodeGetParams, "kernels' arguments are not kept: NULL")
PLIM_STANDIN_NOTHING(cuGraphExecKernelNodeSetParams_v2)
PLIM_STANDIN_REFUSED(cuGraphConditionalHandleCreate, DRIVER_NOT_SUPPORTED,
                     "conditional nodes depend on values that are never computed")
