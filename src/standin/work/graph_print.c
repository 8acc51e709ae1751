/*
 * graph_print.c - a graph as Graphviz's dot reads it (cudaGraphDebugDotPrint).
 *
 * The layout of the real one's is not documented, and no program should read it back: ours says
 * which nodes there are, of what kind, and what comes before what.
 */
#include "standin/work/state.h"

#include "standin/work/work.h"

#include <stdio.h>

static const char *word_of(plim_standin_work_kind kind)
{
    switch (kind) {
    case PLIM_WORK_KERNEL:
        return "kernel";
    case PLIM_WORK_COPY:
        return "copy";
    case PLIM_WORK_FILL:
        return "fill";
    case PLIM_WORK_HOST:
        return "host function";
    case PLIM_WORK_GRAPH:
        return "graph";
    case PLIM_WORK_EMPTY:
        return "empty";
    case PLIM_WORK_EVENT_WAIT:
        return "event wait";
    case PLIM_WORK_EVENT_RECORD:
        return "event record";
    case PLIM_WORK_ALLOCATE:
        return "allocate";
    case PLIM_WORK_FREE:
        return "free";
    }
    return "unknown";
}

static void print_node(FILE *file, const plim_standin_node *node)
{
    const plim_standin_work *const work = &node->work;
    (void)fprintf(file, "  node_%zu [label=\"%zu: %s", node->index, node->index,
                  word_of(work->kind));
    if (work->grid[0] > 0) {
        (void)fprintf(file, "\\ngrid %u,%u,%u block %u,%u,%u shared %zu", work->grid[0],
                      work->grid[1], work->grid[2], work->block[0], work->block[1], work->block[2],
                      work->shared_bytes);
    }
    if (work->rows > 0) {
        (void)fprintf(file, "\\n%zu x %zu bytes", work->rows, work->row_bytes);
    }
    if (node->child != NULL) {
        (void)fprintf(file, "\\n%zu nodes", node->child->node_count);
    }
    (void)fputs("\"];\n", file);
    for (size_t i = 0; i < node->before.count; i++) {
        (void)fprintf(file, "  node_%zu -> node_%zu;\n", node->before.items[i]->index, node->index);
    }
}

int plim_standin_graph_print(void *graph, const char *path)
{
    if (path == NULL) {
        return PLIM_WORK_INVALID_VALUE;
    }
    plim_standin_work_lock();
    const plim_standin_graph *const found = plim_standin_table_get(PLIM_OBJECT_GRAPH, graph);
    int error = PLIM_WORK_INVALID_VALUE;
    if (found != NULL) {
        FILE *const file = fopen(path, "we");
        error = PLIM_WORK_FILE_ERROR;
        if (file != NULL) {
            (void)fputs("digraph graph_1 {\n  node [shape=box];\n", file);
            for (size_t i = 0; i < found->node_count; i++) {
                print_node(file, found->nodes[i]);
            }
            (void)fputs("}\n", file);
            const bool is_bad = ferror(file) != 0;
            error = fclose(file) == 0 && !is_bad ? PLIM_WORK_OK : PLIM_WORK_FILE_ERROR;
        }
    }
    plim_standin_work_unlock();
    return error;
}
