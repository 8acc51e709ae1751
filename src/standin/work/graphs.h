/*
 * graphs.h - graphs, what is made of them and what they hold: for both libraries' functions.
 *
 * Codes of work.h. Graphs, executable graphs and user objects are known by handles; a node is
 * known by its address, and belongs to its graph.
 */
#ifndef PLIMSOLL_STANDIN_WORK_GRAPHS_H
#define PLIMSOLL_STANDIN_WORK_GRAPHS_H

#include "standin/work/work.h"

#include <stdbool.h>

/* cudaKernelNodeParams and CUDA_KERNEL_NODE_PARAMS: one layout. Arguments are not kept. */
typedef struct plim_standin_kernel_params {
    const void *function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void **arguments;
    void **extra;
} plim_standin_kernel_params;

/* cudaHostNodeParams, CUDA_HOST_NODE_PARAMS. */
typedef struct plim_standin_host_params {
    void (*function)(void *);
    void *data;
} plim_standin_host_params;

plim_standin_work plim_standin_kernel_work(const plim_standin_kernel_params *params);
plim_standin_kernel_params plim_standin_kernel_params_of(const plim_standin_work *work);

int plim_standin_graph_create(void **ret_graph);
int plim_standin_graph_destroy(void *graph);
int plim_standin_graph_copy(void *graph, void **ret_graph);

typedef struct plim_standin_node_spec {
    plim_standin_work work;
    void *child; /* PLIM_WORK_GRAPH: a graph, which is cloned */
    void *event; /* PLIM_WORK_EVENT_… */
    void *const *after;
    size_t after_count;
} plim_standin_node_spec;

int plim_standin_graph_add_node(void *graph, const plim_standin_node_spec *spec, void **ret_node);
int plim_standin_graph_remove_node(void *node);
/* Edges from[i] → to[i]: added, or taken away. */
int plim_standin_graph_connect(void *graph, void *const *from, void *const *to, size_t count);
int plim_standin_graph_disconnect(void *graph, void *const *from, void *const *to, size_t count);

/*
 * Lists, all in the manual's manner. `ret` NULL: *count is set to how many there are. Else at most
 * *count are written, those that are missing as NULL, and *count is set to how many were.
 */
int plim_standin_graph_list_nodes(void *graph, void **ret, size_t *count);
int plim_standin_graph_list_roots(void *graph, void **ret, size_t *count);
int plim_standin_graph_list_edges(void *graph, void **ret_from, void **ret_to, size_t *count);
int plim_standin_node_list_before(void *node, void **ret, size_t *count);
int plim_standin_node_list_after(void *node, void **ret, size_t *count);

/* What a node does; valid until it is changed or gone. NULL: `node` is none. */
const plim_standin_work *plim_standin_node_get_work(void *node);
int plim_standin_node_set_work(void *node, const plim_standin_work *work);

/* PLIM_WORK_FILE_ERROR when the file cannot be written. */
int plim_standin_graph_print(void *graph, const char *path);

int plim_standin_exec_create(void *graph, uint64_t flags, void **ret_exec);
int plim_standin_exec_destroy(void *exec);
int plim_standin_exec_launch(void *exec, void *stream);
int plim_standin_exec_get_flags(void *exec, uint64_t *ret);
/* Takes over a graph of the same shape; false in *ret_fits, and PLIM_WORK_UPDATE_FAILURE, if not.
 */
int plim_standin_exec_update(void *exec, void *graph, bool *ret_fits);
int plim_standin_exec_check(void *exec);

/* Something of the program's that lives as long as a graph needs it. */
int plim_standin_user_create(void *data, void (*destroy)(void *), unsigned uses, void **ret_user);
int plim_standin_user_retain(void *user, unsigned count);
int plim_standin_user_release(void *user, unsigned count);
/* `moves`: the caller's references become the graph's. */
int plim_standin_graph_retain_user(void *graph, void *user, unsigned count, bool moves);
int plim_standin_graph_release_user(void *graph, void *user, unsigned count);

#endif
