/*
 * graph.c - graphs: nodes, what they depend on, and copies of both.
 *
 * A captured graph's nodes come in an order in which they can run. One built by hand may have its
 * edges added in any order, so a clone, which is what runs, sorts them (Kahn 1962).
 */
#include "standin/work/state.h"

#include "standin/work/work.h"

#include <stdlib.h>

plim_standin_graph *plim_standin_graph_new(void)
{
    plim_standin_graph *const made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    made->handle = plim_standin_table_add(PLIM_OBJECT_GRAPH, made);
    if (made->handle == NULL) {
        free(made);
        return NULL;
    }
    return made;
}

static bool reserve(plim_standin_graph *graph, size_t count)
{
    if (count <= graph->node_capacity) {
        return true;
    }
    const size_t half_more = graph->node_capacity + graph->node_capacity / 2 + 16;
    const size_t capacity = count > half_more ? count : half_more;
    plim_standin_node **const nodes = realloc(graph->nodes, capacity * sizeof(*nodes));
    if (nodes == NULL) {
        return false;
    }
    graph->nodes = nodes;
    graph->node_capacity = capacity;
    return true;
}

plim_standin_node *plim_standin_graph_add(plim_standin_graph *graph, const plim_standin_work *work,
                                          const plim_standin_nodes *before)
{
    plim_standin_node *const node = calloc(1, sizeof(*node));
    if (node == NULL || !reserve(graph, graph->node_count + 1) ||
        !plim_standin_nodes_assign(&node->before, before)) {
        free(node);
        return NULL;
    }
    node->work = *work;
    node->graph = graph;
    node->index = graph->node_count;
    graph->nodes[graph->node_count] = node;
    graph->node_count++;
    return node;
}

static void free_node(plim_standin_node *node, plim_standin_user **doomed)
{
    if (node->child != NULL) {
        plim_standin_graph_free(node->child, doomed); /* as deep as graphs are nested */
    }
    plim_standin_nodes_clear(&node->before);
    free(node);
}

void plim_standin_graph_free(plim_standin_graph *graph, plim_standin_user **doomed)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        free_node(graph->nodes[i], doomed);
    }
    for (size_t i = 0; i < graph->user_count; i++) {
        plim_standin_user_drop(graph->users[i].user, graph->users[i].count, doomed);
    }
    free(graph->nodes);
    free(graph->users);
    free(graph);
}

uint64_t plim_standin_graph_next_mark(void)
{
    static uint64_t marks;
    marks++;
    return marks;
}

bool plim_standin_graph_mark(const plim_standin_nodes *from, uint64_t mark)
{
    plim_standin_nodes waiting = { .items = NULL };
    bool has_memory = plim_standin_nodes_assign(&waiting, from);
    while (has_memory && waiting.count > 0) {
        waiting.count--;
        plim_standin_node *const node = waiting.items[waiting.count];
        if (node->mark == mark) {
            continue;
        }
        node->mark = mark;
        for (size_t i = 0; i < node->before.count && has_memory; i++) {
            if (node->before.items[i]->mark != mark) {
                has_memory = plim_standin_nodes_push(&waiting, node->before.items[i]);
            }
        }
    }
    plim_standin_nodes_clear(&waiting);
    return has_memory;
}

/* ---- clones ---------------------------------------------------------------------------------- */

static bool is_in_order(const plim_standin_graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const plim_standin_nodes *const before = &graph->nodes[i]->before;
        for (size_t k = 0; k < before->count; k++) {
            if (before->items[k]->index >= i) {
                return false;
            }
        }
    }
    return true;
}

/* For Kahn's algorithm: the successors of all nodes in one array, with a range for each. */
typedef struct graph_sorting {
    size_t *starts;  /* node_count + 1 */
    size_t *after;   /* indices of nodes */
    size_t *missing; /* how many of a node's predecessors have no place yet */
} graph_sorting;

static size_t edge_count(const plim_standin_graph *graph)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        count += graph->nodes[i]->before.count;
    }
    return count;
}

static void fill_sorting(const plim_standin_graph *graph, const graph_sorting *s)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const plim_standin_nodes *const before = &graph->nodes[i]->before;
        s->missing[i] = before->count;
        for (size_t k = 0; k < before->count; k++) {
            s->starts[before->items[k]->index + 1]++;
        }
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        s->starts[i + 1] += s->starts[i];
    }
    /* From the back, so that each range is filled downwards and its start comes out right. */
    for (size_t i = graph->node_count; i-- > 0;) {
        const plim_standin_nodes *const before = &graph->nodes[i]->before;
        for (size_t k = 0; k < before->count; k++) {
            const size_t earlier = before->items[k]->index;
            s->starts[earlier + 1]--;
            s->after[s->starts[earlier + 1]] = i;
        }
    }
}

/* Fills order[]; how many nodes have a place: fewer than there are, if there is a cycle. */
static size_t sort(const plim_standin_graph *graph, const graph_sorting *s, size_t *order)
{
    const size_t total = edge_count(graph);
    size_t placed = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        if (s->missing[i] == 0) {
            order[placed] = i;
            placed++;
        }
    }
    for (size_t done = 0; done < placed; done++) {
        const size_t at = order[done];
        /* fill_sorting() left in starts[i + 1] where the range of i begins. */
        const size_t end = at + 2 <= graph->node_count ? s->starts[at + 2] : total;
        for (size_t k = s->starts[at + 1]; k < end; k++) {
            s->missing[s->after[k]]--;
            if (s->missing[s->after[k]] == 0) {
                order[placed] = s->after[k];
                placed++;
            }
        }
    }
    return placed;
}

/* False: no memory, or with *ret_is_cyclic a cycle. */
static bool find_order(const plim_standin_graph *graph, size_t *order, bool *ret_is_cyclic)
{
    const size_t count = graph->node_count;
    if (is_in_order(graph)) {
        for (size_t i = 0; i < count; i++) {
            order[i] = i;
        }
        return true;
    }
    const graph_sorting s = { .starts = calloc(count + 2, sizeof(size_t)),
                              .after = calloc(edge_count(graph) + 1, sizeof(size_t)),
                              .missing = calloc(count, sizeof(size_t)) };
    bool is_found = false;
    if (s.starts != NULL && s.after != NULL && s.missing != NULL) {
        fill_sorting(graph, &s);
        is_found = sort(graph, &s, order) == count;
        *ret_is_cyclic = !is_found;
    }
    free(s.starts);
    free(s.after);
    free(s.missing);
    return is_found;
}

static bool copy_users(plim_standin_graph *clone, const plim_standin_graph *graph)
{
    if (graph->user_count == 0) {
        return true;
    }
    clone->users = calloc(graph->user_count, sizeof(*clone->users));
    if (clone->users == NULL) {
        return false;
    }
    for (size_t i = 0; i < graph->user_count; i++) {
        clone->users[i] = graph->users[i];
        clone->users[i].user->uses += graph->users[i].count;
    }
    clone->user_count = graph->user_count;
    return true;
}

/* Adds the node's copy after those it depends on; copies[] finds these by their old indices. */
static bool copy_node(plim_standin_graph *clone, const plim_standin_node *node,
                      plim_standin_node **copies)
{
    static const plim_standin_nodes none = { .items = NULL };
    plim_standin_node *const copy = plim_standin_graph_add(clone, &node->work, &none);
    if (copy == NULL) {
        return false;
    }
    copies[node->index] = copy;
    copy->event = node->event;
    for (size_t i = 0; i < node->before.count; i++) {
        if (!plim_standin_nodes_add(&copy->before, copies[node->before.items[i]->index])) {
            return false;
        }
    }
    if (node->child != NULL) {
        bool is_cyclic = false; /* a child is a clone, so it is not */
        copy->child = plim_standin_graph_clone(node->child, &is_cyclic);
        return copy->child != NULL;
    }
    return true;
}

plim_standin_graph *plim_standin_graph_clone(plim_standin_graph *graph, bool *ret_is_cyclic)
{
    *ret_is_cyclic = false;
    size_t *const order = calloc(graph->node_count + 1, sizeof(*order));
    plim_standin_node **const copies = calloc(graph->node_count + 1, sizeof(*copies));
    plim_standin_graph *clone = calloc(1, sizeof(*clone));

    bool is_done = order != NULL && copies != NULL && clone != NULL &&
                   find_order(graph, order, ret_is_cyclic) && copy_users(clone, graph);
    for (size_t i = 0; i < graph->node_count && is_done; i++) {
        is_done = copy_node(clone, graph->nodes[order[i]], copies);
    }
    if (!is_done && clone != NULL) {
        plim_standin_user *doomed = NULL; /* the original still holds all of them */
        plim_standin_graph_free(clone, &doomed);
        clone = NULL;
    }
    free(order);
    free(copies);
    return clone;
}

/* ---- by handle ------------------------------------------------------------------------------- */

int plim_standin_graph_create(void **ret_graph)
{
    if (ret_graph == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_lock();
    plim_standin_graph *const made = plim_standin_graph_new();
    if (made != NULL) {
        *ret_graph = made->handle;
    }
    plim_standin_work_unlock();
    return made != NULL ? PLIM_WORK_OK : PLIM_WORK_OUT_OF_MEMORY;
}

int plim_standin_graph_destroy(void *graph)
{
    plim_standin_user *doomed = NULL;
    plim_standin_work_lock();
    plim_standin_graph *const found = plim_standin_table_get(PLIM_OBJECT_GRAPH, graph);
    const bool is_free = found != NULL && found->capture == NULL;
    if (is_free) {
        (void)plim_standin_table_take(PLIM_OBJECT_GRAPH, graph);
        plim_standin_graph_free(found, &doomed);
    }
    plim_standin_work_unlock();
    plim_standin_users_destroy(doomed);
    return is_free ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

static int copy(plim_standin_graph *graph, void **ret_graph)
{
    bool is_cyclic = false;
    plim_standin_graph *const made = plim_standin_graph_clone(graph, &is_cyclic);
    if (made == NULL) {
        return is_cyclic ? PLIM_WORK_INVALID_VALUE : PLIM_WORK_OUT_OF_MEMORY;
    }
    made->handle = plim_standin_table_add(PLIM_OBJECT_GRAPH, made);
    if (made->handle == NULL) {
        plim_standin_user *doomed = NULL; /* `graph` still holds all of them */
        plim_standin_graph_free(made, &doomed);
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    *ret_graph = made->handle;
    return PLIM_WORK_OK;
}

int plim_standin_graph_copy(void *graph, void **ret_graph)
{
    if (ret_graph == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_lock();
    plim_standin_graph *const found = plim_standin_table_get(PLIM_OBJECT_GRAPH, graph);
    const int error = found != NULL ? copy(found, ret_graph) : PLIM_WORK_INVALID_VALUE;
    plim_standin_work_unlock();
    return error;
}
