/*
 * graph_edit.c - graphs built by hand: nodes and edges added and taken away, and lists of both.
 */
#include "standin/work/state.h"

#include "standin/work/work.h"

#include <stdlib.h>

static plim_standin_graph *graph_of(const void *handle)
{
    return plim_standin_table_get(PLIM_OBJECT_GRAPH, handle);
}

/* A node's state beside its work; the caller undoes it when this fails. */
static int complete(plim_standin_node *node, const plim_standin_node_spec *spec)
{
    node->event = spec->event;
    if (spec->work.kind != PLIM_WORK_GRAPH) {
        return PLIM_WORK_OK;
    }
    plim_standin_graph *const child = graph_of(spec->child);
    if (child == NULL || child->capture != NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    bool is_cyclic = false;
    node->child = plim_standin_graph_clone(child, &is_cyclic);
    if (node->child == NULL) {
        return is_cyclic ? PLIM_WORK_INVALID_VALUE : PLIM_WORK_OUT_OF_MEMORY;
    }
    return PLIM_WORK_OK;
}

static int add_node(plim_standin_graph *graph, const plim_standin_node_spec *spec, void **ret_node)
{
    plim_standin_nodes before = { .items = NULL };
    int error = PLIM_WORK_OK;
    for (size_t i = 0; i < spec->after_count && error == 0; i++) {
        plim_standin_node *const node = spec->after[i];
        if (node == NULL || node->graph != graph) {
            error = PLIM_WORK_INVALID_VALUE;
        } else if (!plim_standin_nodes_add(&before, node)) {
            error = PLIM_WORK_OUT_OF_MEMORY;
        }
    }
    if (error == 0) {
        plim_standin_node *const made = plim_standin_graph_add(graph, &spec->work, &before);
        error = made != NULL ? complete(made, spec) : PLIM_WORK_OUT_OF_MEMORY;
        if (error == 0) {
            *ret_node = made;
        } else if (made != NULL) {
            graph->node_count--;
            plim_standin_nodes_clear(&made->before);
            free(made);
        }
    }
    plim_standin_nodes_clear(&before);
    return error;
}

int plim_standin_graph_add_node(void *graph, const plim_standin_node_spec *spec, void **ret_node)
{
    if (ret_node == NULL || (spec->after == NULL && spec->after_count > 0)) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_lock();
    plim_standin_graph *const found = graph_of(graph);
    const int error = found != NULL ? add_node(found, spec, ret_node) : PLIM_WORK_INVALID_VALUE;
    plim_standin_work_unlock();
    return error;
}

static void take_out(plim_standin_graph *graph, const plim_standin_node *node)
{
    for (size_t i = node->index + 1; i < graph->node_count; i++) {
        graph->nodes[i - 1] = graph->nodes[i];
        graph->nodes[i - 1]->index = i - 1;
    }
    graph->node_count--;
    for (size_t i = 0; i < graph->node_count; i++) {
        plim_standin_nodes_remove(&graph->nodes[i]->before, node);
    }
}

int plim_standin_graph_remove_node(void *node)
{
    if (node == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_node *const gone = node;
    plim_standin_user *doomed = NULL;
    plim_standin_work_lock();
    const bool is_free = gone->graph->capture == NULL;
    if (is_free) {
        take_out(gone->graph, gone);
        if (gone->child != NULL) {
            plim_standin_graph_free(gone->child, &doomed);
        }
        plim_standin_nodes_clear(&gone->before);
        free(gone);
    }
    plim_standin_work_unlock();
    plim_standin_users_destroy(doomed);
    return is_free ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

static int edit_edges(void *graph, void *const *from, void *const *to, size_t count, bool adds)
{
    if (count > 0 && (from == NULL || to == NULL)) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_lock();
    const plim_standin_graph *const found = graph_of(graph);
    int error = found != NULL ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
    for (size_t i = 0; i < count && error == 0; i++) {
        plim_standin_node *const first = from[i];
        plim_standin_node *const second = to[i];
        if (first == NULL || second == NULL || first->graph != found || second->graph != found) {
            error = PLIM_WORK_INVALID_VALUE;
        } else if (!adds) {
            plim_standin_nodes_remove(&second->before, first);
        } else if (!plim_standin_nodes_add(&second->before, first)) {
            error = PLIM_WORK_OUT_OF_MEMORY;
        }
    }
    plim_standin_work_unlock();
    return error;
}

int plim_standin_graph_connect(void *graph, void *const *from, void *const *to, size_t count)
{
    return edit_edges(graph, from, to, count, true);
}

int plim_standin_graph_disconnect(void *graph, void *const *from, void *const *to, size_t count)
{
    return edit_edges(graph, from, to, count, false);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* A list in the making: how many were found, how many fit. */
typedef struct listing {
    void **items; /* NULL: count only */
    size_t room;
    size_t found;
} listing;

static listing listing_begin(void **items, const size_t *count)
{
    return (listing){ .items = items, .room = items != NULL ? *count : 0 };
}

static void listing_add(listing *list, void *item)
{
    if (list->found < list->room) {
        list->items[list->found] = item;
    }
    list->found++;
}

static void listing_end(const listing *list, size_t *count)
{
    for (size_t i = list->found; i < list->room; i++) {
        list->items[i] = NULL;
    }
    const bool is_short = list->items != NULL && list->found > list->room;
    *count = is_short ? list->room : list->found;
}

static int list_nodes(void *graph, void **ret, size_t *count, bool only_roots)
{
    if (count == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_lock();
    const plim_standin_graph *const found = graph_of(graph);
    if (found != NULL) {
        listing list = listing_begin(ret, count);
        for (size_t i = 0; i < found->node_count; i++) {
            if (!only_roots || found->nodes[i]->before.count == 0) {
                listing_add(&list, found->nodes[i]);
            }
        }
        listing_end(&list, count);
    }
    plim_standin_work_unlock();
    return found != NULL ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

int plim_standin_graph_list_nodes(void *graph, void **ret, size_t *count)
{
    return list_nodes(graph, ret, count, false);
}

int plim_standin_graph_list_roots(void *graph, void **ret, size_t *count)
{
    return list_nodes(graph, ret, count, true);
}

int plim_standin_graph_list_edges(void *graph, void **ret_from, void **ret_to, size_t *count)
{
    if (count == NULL || (ret_from == NULL) != (ret_to == NULL)) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_lock();
    const plim_standin_graph *const found = graph_of(graph);
    if (found != NULL) {
        listing from = listing_begin(ret_from, count);
        listing to = listing_begin(ret_to, count);
        for (size_t i = 0; i < found->node_count; i++) {
            const plim_standin_nodes *const before = &found->nodes[i]->before;
            for (size_t k = 0; k < before->count; k++) {
                listing_add(&from, before->items[k]);
                listing_add(&to, found->nodes[i]);
            }
        }
        listing_end(&from, count);
        listing_end(&to, count);
    }
    plim_standin_work_unlock();
    return found != NULL ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

static void list_before(listing *list, const plim_standin_node *node)
{
    for (size_t i = 0; i < node->before.count; i++) {
        listing_add(list, node->before.items[i]);
    }
}

static bool is_before(const plim_standin_node *first, const plim_standin_node *second)
{
    for (size_t i = 0; i < second->before.count; i++) {
        if (second->before.items[i] == first) {
            return true;
        }
    }
    return false;
}

static void list_after(listing *list, const plim_standin_node *node)
{
    for (size_t i = 0; i < node->graph->node_count; i++) {
        if (is_before(node, node->graph->nodes[i])) {
            listing_add(list, node->graph->nodes[i]);
        }
    }
}

static int list_around(const plim_standin_node *node, void **ret, size_t *count,
                       void (*lists)(listing *list, const plim_standin_node *node))
{
    if (node == NULL || count == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_lock();
    listing list = listing_begin(ret, count);
    lists(&list, node);
    listing_end(&list, count);
    plim_standin_work_unlock();
    return PLIM_WORK_OK;
}

int plim_standin_node_list_before(void *node, void **ret, size_t *count)
{
    return list_around(node, ret, count, list_before);
}

int plim_standin_node_list_after(void *node, void **ret, size_t *count)
{
    return list_around(node, ret, count, list_after);
}

/* ---- what a node does ------------------------------------------------------------------------ */

const plim_standin_work *plim_standin_node_get_work(void *node)
{
    return node != NULL ? &((const plim_standin_node *)node)->work : NULL;
}

int plim_standin_node_set_work(void *node, const plim_standin_work *work)
{
    if (node == NULL || work == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_node *const changed = node;
    plim_standin_work_lock();
    const bool is_same_kind = changed->work.kind == work->kind;
    if (is_same_kind) {
        changed->work = *work;
    }
    plim_standin_work_unlock();
    return is_same_kind ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

plim_standin_work plim_standin_kernel_work(const plim_standin_kernel_params *params)
{
    return (plim_standin_work){ .kind = PLIM_WORK_KERNEL,
                                .function = params->function,
                                .grid = { params->grid[0], params->grid[1], params->grid[2] },
                                .block = { params->block[0], params->block[1], params->block[2] },
                                .shared_bytes = params->shared_bytes };
}

plim_standin_kernel_params plim_standin_kernel_params_of(const plim_standin_work *work)
{
    return (plim_standin_kernel_params){
        .function = work->function,
        .grid = { work->grid[0], work->grid[1], work->grid[2] },
        .block = { work->block[0], work->block[1], work->block[2] },
        .shared_bytes = (unsigned)work->shared_bytes,
    };
}
