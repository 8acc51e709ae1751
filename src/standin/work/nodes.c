/* nodes.c - small sets of nodes: tails of streams, dependencies. Searched from end to end. */
#include "standin/work/state.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(plim_standin_nodes *set, size_t count)
{
    if (count <= set->capacity) {
        return true;
    }
    const size_t doubled = 2 * set->capacity;
    const size_t capacity = count > doubled ? count : doubled;
    plim_standin_node **const items = realloc(set->items, capacity * sizeof(*items));
    if (items == NULL) {
        return false;
    }
    set->items = items;
    set->capacity = capacity;
    return true;
}

bool plim_standin_nodes_push(plim_standin_nodes *set, plim_standin_node *node)
{
    if (!reserve(set, set->count + 1)) {
        return false;
    }
    set->items[set->count] = node;
    set->count++;
    return true;
}

bool plim_standin_nodes_add(plim_standin_nodes *set, plim_standin_node *node)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i] == node) {
            return true;
        }
    }
    return plim_standin_nodes_push(set, node);
}

bool plim_standin_nodes_add_all(plim_standin_nodes *set, const plim_standin_nodes *others)
{
    for (size_t i = 0; i < others->count; i++) {
        if (!plim_standin_nodes_add(set, others->items[i])) {
            return false;
        }
    }
    return true;
}

void plim_standin_nodes_remove(plim_standin_nodes *set, const plim_standin_node *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i] != node) {
            set->items[kept] = set->items[i];
            kept++;
        }
    }
    set->count = kept;
}

bool plim_standin_nodes_assign(plim_standin_nodes *set, const plim_standin_nodes *other)
{
    if (!reserve(set, other->count)) {
        return false;
    }
    if (other->count > 0) {
        memcpy(set->items, other->items, other->count * sizeof(*set->items));
    }
    set->count = other->count;
    return true;
}

void plim_standin_nodes_clear(plim_standin_nodes *set)
{
    free(set->items);
    *set = (plim_standin_nodes){ .items = NULL };
}
