/*
 * user_object.c - things of the program's that a graph keeps alive (cudaUserObjectCreate).
 *
 * When the last reference goes, the destructor runs: at once and on the thread that gave the
 * reference back, where the real one may use a thread of its own a little later.
 */
#include "standin/work/state.h"

#include "standin/work/work.h"

#include <limits.h>
#include <stdlib.h>

void plim_standin_user_drop(plim_standin_user *user, uint64_t count, plim_standin_user **doomed)
{
    user->uses -= count < user->uses ? count : user->uses;
    if (user->uses == 0) {
        (void)plim_standin_table_take(PLIM_OBJECT_USER, user->handle);
        user->next = *doomed;
        *doomed = user;
    }
}

void plim_standin_users_destroy(plim_standin_user *doomed)
{
    while (doomed != NULL) {
        plim_standin_user *const next = doomed->next;
        doomed->destroy(doomed->data);
        free(doomed);
        doomed = next;
    }
}

static bool is_count(unsigned count)
{
    return count > 0 && count <= (unsigned)INT_MAX; /* the manual's bounds */
}

int plim_standin_user_create(void *data, void (*destroy)(void *), unsigned uses, void **ret_user)
{
    if (ret_user == NULL || destroy == NULL || !is_count(uses)) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_user *const made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    plim_standin_work_lock();
    void *const handle = plim_standin_table_add(PLIM_OBJECT_USER, made);
    *made = (plim_standin_user){ .handle = handle, .data = data, .destroy = destroy, .uses = uses };
    plim_standin_work_unlock();
    if (handle == NULL) {
        free(made);
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    *ret_user = handle;
    return PLIM_WORK_OK;
}

int plim_standin_user_retain(void *user, unsigned count)
{
    plim_standin_work_lock();
    plim_standin_user *const found = plim_standin_table_get(PLIM_OBJECT_USER, user);
    const bool is_right = found != NULL && is_count(count);
    if (is_right) {
        found->uses += count;
    }
    plim_standin_work_unlock();
    return is_right ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

int plim_standin_user_release(void *user, unsigned count)
{
    plim_standin_user *doomed = NULL;
    plim_standin_work_lock();
    plim_standin_user *const found = plim_standin_table_get(PLIM_OBJECT_USER, user);
    const bool is_right = found != NULL && is_count(count) && count <= found->uses;
    if (is_right) {
        plim_standin_user_drop(found, count, &doomed);
    }
    plim_standin_work_unlock();
    plim_standin_users_destroy(doomed);
    return is_right ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

/* The graph's reference to the object, made with a count of 0 when it has none. NULL: no memory. */
static plim_standin_user_reference *reference_of(plim_standin_graph *graph, plim_standin_user *user)
{
    for (size_t i = 0; i < graph->user_count; i++) {
        if (graph->users[i].user == user) {
            return &graph->users[i];
        }
    }
    plim_standin_user_reference *const users =
        realloc(graph->users, (graph->user_count + 1) * sizeof(*users));
    if (users == NULL) {
        return NULL;
    }
    graph->users = users;
    users[graph->user_count] = (plim_standin_user_reference){ .user = user };
    graph->user_count++;
    return &users[graph->user_count - 1];
}

static int retain(plim_standin_graph *graph, plim_standin_user *user, unsigned count, bool moves)
{
    if (moves && count > user->uses) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_user_reference *const reference = reference_of(graph, user);
    if (reference == NULL) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    reference->count += count;
    user->uses += moves ? 0 : count;
    return PLIM_WORK_OK;
}

int plim_standin_graph_retain_user(void *graph, void *user, unsigned count, bool moves)
{
    plim_standin_work_lock();
    plim_standin_graph *const holder = plim_standin_table_get(PLIM_OBJECT_GRAPH, graph);
    plim_standin_user *const held = plim_standin_table_get(PLIM_OBJECT_USER, user);
    const bool is_right = holder != NULL && held != NULL && is_count(count);
    const int error = is_right ? retain(holder, held, count, moves) : PLIM_WORK_INVALID_VALUE;
    plim_standin_work_unlock();
    return error;
}

static int release(plim_standin_graph *graph, plim_standin_user *user, unsigned count,
                   plim_standin_user **doomed)
{
    for (size_t i = 0; i < graph->user_count; i++) {
        plim_standin_user_reference *const reference = &graph->users[i];
        if (reference->user != user || reference->count < count) {
            continue;
        }
        reference->count -= count;
        if (reference->count == 0) {
            graph->user_count--;
            *reference = graph->users[graph->user_count];
        }
        plim_standin_user_drop(user, count, doomed);
        return PLIM_WORK_OK;
    }
    return PLIM_WORK_INVALID_VALUE;
}

int plim_standin_graph_release_user(void *graph, void *user, unsigned count)
{
    plim_standin_user *doomed = NULL;
    plim_standin_work_lock();
    plim_standin_graph *const holder = plim_standin_table_get(PLIM_OBJECT_GRAPH, graph);
    plim_standin_user *const held = plim_standin_table_get(PLIM_OBJECT_USER, user);
    const bool is_right = holder != NULL && held != NULL && is_count(count);
    const int error = is_right ? release(holder, held, count, &doomed) : PLIM_WORK_INVALID_VALUE;
    plim_standin_work_unlock();
    plim_standin_users_destroy(doomed);
    return error;
}
