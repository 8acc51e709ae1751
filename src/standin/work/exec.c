/*
 * exec.c - graphs made executable, and launched: every node runs, in order, when it is launched.
 */
#include "standin/work/state.h"

#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/footprint.h"
#include "standin/core/shadow.h"
#include "standin/core/stage.h"
#include "standin/core/tally.h"
#include "standin/work/work.h"

#include <stdlib.h>

#define FLAGS_KNOWN UINT64_C(15) /* cudaGraphInstantiateFlags */
#define NODE_BYTES  9437u        /* 2.7 MiB for 300 nodes: docs/formats/gpus.md */

void plim_standin_work_run(const plim_standin_work *work)
{
    if (work->kind == PLIM_WORK_KERNEL) {
        plim_standin_footprint_kernels();
        plim_standin_computed();
    }
    if (work->callback != NULL) {
        work->callback(work->data);
    }
    if (work->run != NULL) {
        work->run(work);
    }
}

static void run_graph(const plim_standin_graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const plim_standin_node *const node = graph->nodes[i];
        if (node->child != NULL) {
            run_graph(node->child); /* as deep as graphs are nested */
        } else if (node->work.kind == PLIM_WORK_EVENT_RECORD) {
            plim_standin_event_happen(node->event);
        } else {
            plim_standin_work_run(&node->work);
        }
    }
}

static plim_standin_exec *exec_of(const void *handle)
{
    return plim_standin_table_get(PLIM_OBJECT_EXEC, handle);
}

static size_t count_nodes(const plim_standin_graph *graph)
{
    size_t count = graph->node_count;
    for (size_t i = 0; i < graph->node_count; i++) {
        const plim_standin_graph *child = graph->nodes[i]->child;
        count += child != NULL ? count_nodes(child) : 0; /* as deep as graphs are nested */
    }
    return count;
}

/* What the driver takes of the device for it. */
static bool take_memory(plim_standin_exec *exec)
{
    exec->place = plim_standin_device_on_stage(plim_standin_current_device());
    exec->bytes = count_nodes(exec->graph) * NODE_BYTES;
    return plim_stage_take(plim_standin_stage(), exec->place, PLIM_STAGE_GRAPHS, exec->bytes);
}

static void give_memory(const plim_standin_exec *exec)
{
    plim_stage_give(plim_standin_stage(), exec->place, PLIM_STAGE_GRAPHS, exec->bytes);
}

static int create(plim_standin_graph *graph, uint64_t flags, plim_standin_exec *made)
{
    if (graph->capture != NULL) {
        return PLIM_WORK_ILLEGAL_STATE; /* not before the end of its capture */
    }
    bool is_cyclic = false;
    *made = (plim_standin_exec){ .flags = flags, .uses = 1 };
    made->graph = plim_standin_graph_clone(graph, &is_cyclic);
    if (made->graph == NULL) {
        return is_cyclic ? PLIM_WORK_INVALID_VALUE : PLIM_WORK_OUT_OF_MEMORY;
    }
    const bool is_taken = take_memory(made);
    made->handle = is_taken ? plim_standin_table_add(PLIM_OBJECT_EXEC, made) : NULL;
    if (made->handle == NULL) {
        if (is_taken) {
            give_memory(made);
        }
        plim_standin_user *doomed = NULL; /* `graph` still holds all of them */
        plim_standin_graph_free(made->graph, &doomed);
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    return PLIM_WORK_OK;
}

int plim_standin_exec_create(void *graph, uint64_t flags, void **ret_exec)
{
    if (ret_exec == NULL || (flags & ~FLAGS_KNOWN) != 0) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_exec *const made = malloc(sizeof(*made));
    if (made == NULL) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    plim_standin_work_lock();
    plim_standin_graph *const found = plim_standin_table_get(PLIM_OBJECT_GRAPH, graph);
    const int error = found != NULL ? create(found, flags, made) : PLIM_WORK_INVALID_VALUE;
    if (error == 0) {
        static const char counted[] = "graph instantiation";
        plim_standin_tally(counted, counted, 1);
        *ret_exec = made->handle;
    }
    plim_standin_work_unlock();
    if (error != 0) {
        free(made);
    }
    return error;
}

/* One use less, with the lock held. */
static void drop(plim_standin_exec *exec, plim_standin_user **doomed)
{
    exec->uses--;
    if (exec->uses == 0) {
        give_memory(exec);
        plim_standin_graph_free(exec->graph, doomed);
        free(exec);
    }
}

int plim_standin_exec_destroy(void *exec)
{
    plim_standin_user *doomed = NULL;
    plim_standin_work_lock();
    plim_standin_exec *const found = plim_standin_table_take(PLIM_OBJECT_EXEC, exec);
    if (found != NULL) {
        drop(found, &doomed);
    }
    plim_standin_work_unlock();
    plim_standin_users_destroy(doomed);
    return found != NULL ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

/* A launch on a stream that captures: the graph becomes one node of the other. */
static int capture_launch(plim_standin_exec *exec, plim_standin_stream *stream)
{
    const plim_standin_work work = { .kind = PLIM_WORK_GRAPH };
    bool is_cyclic = false;
    plim_standin_graph *const child = plim_standin_graph_clone(exec->graph, &is_cyclic);
    if (child == NULL) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    plim_standin_node *node = NULL;
    const int error = plim_standin_capture_node(stream, &work, &node);
    if (error != 0) {
        plim_standin_user *doomed = NULL; /* `exec` still holds all of them */
        plim_standin_graph_free(child, &doomed);
        return error;
    }
    node->child = child;
    return PLIM_WORK_OK;
}

int plim_standin_exec_launch(void *exec, void *stream)
{
    plim_standin_stream *found = NULL;
    bool runs = false;

    plim_standin_work_lock();
    plim_standin_exec *const launched = exec_of(exec);
    int error = launched != NULL ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
    if (error == 0 && !plim_standin_stream_find(stream, &found)) {
        error = PLIM_WORK_INVALID_HANDLE;
    }
    if (error == 0) {
        error = plim_standin_capture_admit(found);
    }
    if (error == 0 && found != NULL && found->capture != NULL) {
        error = capture_launch(launched, found);
    } else if (error == 0) {
        launched->uses++;
        runs = true;
        (void)plim_standin_clock_tick(plim_standin_stream_clock(found));
    }
    plim_standin_work_unlock();
    if (!runs) {
        return error;
    }

    static const char counted[] = "graph launch";
    plim_standin_tally(counted, counted, 1);
    run_graph(launched->graph);
    plim_standin_user *doomed = NULL;
    plim_standin_work_lock();
    drop(launched, &doomed);
    plim_standin_work_unlock();
    plim_standin_users_destroy(doomed);
    return PLIM_WORK_OK;
}

int plim_standin_exec_get_flags(void *exec, uint64_t *ret)
{
    plim_standin_work_lock();
    const plim_standin_exec *const found = exec_of(exec);
    if (found != NULL && ret != NULL) {
        *ret = found->flags;
    }
    plim_standin_work_unlock();
    return found != NULL && ret != NULL ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

int plim_standin_exec_check(void *exec)
{
    plim_standin_work_lock();
    const bool is_there = exec_of(exec) != NULL;
    plim_standin_work_unlock();
    return is_there ? PLIM_WORK_OK : PLIM_WORK_INVALID_VALUE;
}

/* Same nodes, same edges. Both are clones, so their nodes are in order. */
static bool has_shape_of(const plim_standin_graph *a, const plim_standin_graph *b)
{
    if (a->node_count != b->node_count) {
        return false;
    }
    for (size_t i = 0; i < a->node_count; i++) {
        const plim_standin_node *const one = a->nodes[i];
        const plim_standin_node *const other = b->nodes[i];
        if (one->work.kind != other->work.kind || one->before.count != other->before.count) {
            return false;
        }
        for (size_t k = 0; k < one->before.count; k++) {
            if (one->before.items[k]->index != other->before.items[k]->index) {
                return false;
            }
        }
    }
    return true;
}

static int update(plim_standin_exec *exec, plim_standin_graph *graph, bool *ret_fits,
                  plim_standin_user **doomed)
{
    bool is_cyclic = false;
    plim_standin_graph *const clone = plim_standin_graph_clone(graph, &is_cyclic);
    if (clone == NULL && !is_cyclic) {
        return PLIM_WORK_OUT_OF_MEMORY;
    }
    /* A launch under way on another thread still reads the old graph. */
    *ret_fits = clone != NULL && exec->uses == 1 && has_shape_of(exec->graph, clone);
    if (*ret_fits) {
        plim_standin_graph_free(exec->graph, doomed);
        exec->graph = clone;
        return PLIM_WORK_OK;
    }
    if (clone != NULL) {
        plim_standin_graph_free(clone, doomed);
    }
    return PLIM_WORK_UPDATE_FAILURE;
}

int plim_standin_exec_update(void *exec, void *graph, bool *ret_fits)
{
    plim_standin_user *doomed = NULL;
    *ret_fits = false;
    plim_standin_work_lock();
    plim_standin_exec *const changed = exec_of(exec);
    plim_standin_graph *const source = plim_standin_table_get(PLIM_OBJECT_GRAPH, graph);
    const int error = changed != NULL && source != NULL ? update(changed, source, ret_fits, &doomed)
                                                        : PLIM_WORK_INVALID_VALUE;
    plim_standin_work_unlock();
    plim_standin_users_destroy(doomed);
    return error;
}
