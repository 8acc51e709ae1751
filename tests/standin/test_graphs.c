/*
 * test_graphs.c - graphs: built by hand, copied, launched; and what they keep alive.
 */
#include "standin/rehearsal.h"
#include "standin/work_words.h"

#include "standin/cuda_words.h"

#define INVALID_VALUE  1
#define UPDATE_FAILURE 910
#define NODES          40

static char said[256]; /* what host functions did, in order */

static void say(void *data)
{
    (void)strcat(said, data);
}

static void *host_node(void *graph, char *word, void *const *after, size_t count)
{
    void *node = NULL;
    const host_params params = { say, word };
    R_EQ(cudaGraphAddHostNode(&node, graph, after, count, &params), 0);
    return node;
}

static void *instantiate(void *graph)
{
    void *exec = NULL;
    R_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
    return exec;
}

static char words[][2] = { "a", "b", "c", "d" };

static void order(void)
{
    void *graph = NULL;
    R_EQ(cudaGraphCreate(&graph, 0), 0);
    void *nodes[4];
    for (int i = 0; i < 4; i++) {
        nodes[i] = host_node(graph, words[i], NULL, 0);
    }
    void *from[] = { nodes[3], nodes[2], nodes[1] };
    void *to[] = { nodes[2], nodes[1], nodes[0] };
    R_EQ(cudaGraphAddDependencies(graph, from, to, 0, 3), 0);
    void *exec = instantiate(graph);
    R_EQ(cudaGraphDestroy(graph), 0); /* the other lives on without it */
    R_EQ(said[0], 0);
    R_EQ(cudaGraphUpload(exec, NULL), 0);
    R_EQ(cudaGraphLaunch(exec, NULL), 0);
    R_EQ(cudaGraphLaunch(exec, PER_THREAD), 0);
    R_EQ(strcmp(said, "dcbadcba"), 0);
    R_EQ(cudaGraphExecDestroy(exec), 0);
    R_EQ(cudaGraphLaunch(exec, NULL), INVALID_VALUE);
}

static void nodes_run_in_the_order_of_their_edges(void)
{
    r_play(order);
}

static void memory_of_graphs(void)
{
    void *graph = NULL;
    R_EQ(cudaGraphCreate(&graph, 0), 0);
    for (int i = 0; i < 300; i++) {
        (void)host_node(graph, words[0], NULL, 0);
    }
    void *exec = instantiate(graph);
    const uint64_t bytes = r_device(0).used_bytes[PLIM_STAGE_GRAPHS];
    R_TRUE(bytes > 5 * MIB / 2 && bytes < 3 * MIB);
    R_EQ(cudaGraphExecDestroy(exec), 0);
    R_EQ(r_device(0).used_bytes[PLIM_STAGE_GRAPHS], 0);
    R_EQ(cudaGraphDestroy(graph), 0);
}

/* 2.7 MiB for 300 nodes were measured. */
static void an_instantiated_graph_takes_memory(void)
{
    r_play(memory_of_graphs);
}

static void cycles(void)
{
    void *graph = NULL;
    void *exec = NULL;
    R_EQ(cudaGraphCreate(&graph, 0), 0);
    void *first = host_node(graph, words[0], NULL, 0);
    void *second = host_node(graph, words[1], &first, 1);
    R_EQ(cudaGraphAddDependencies(graph, &second, &first, 0, 1), 0);
    R_EQ(cudaGraphInstantiate(&exec, graph, 0), INVALID_VALUE);
    R_EQ(cudaGraphRemoveDependencies(graph, &second, &first, 0, 1), 0);
    R_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
}

static void cycles_are_refused(void)
{
    r_play(cycles);
}

/* Random graphs: a node never runs before what it depends on. */
static bool has_run[NODES];
static unsigned before[NODES][3];
static unsigned numbers[NODES];

static void run_node(void *data)
{
    const unsigned number = *(unsigned *)data;
    for (int k = 0; k < 3; k++) {
        R_TRUE(before[number][k] == number || has_run[before[number][k]]);
    }
    has_run[number] = true;
}

static void random_graphs(void)
{
    for (int round = 0; round < 50; round++) {
        void *graph = NULL;
        void *nodes[NODES];
        R_EQ(cudaGraphCreate(&graph, 0), 0);
        for (unsigned i = 0; i < NODES; i++) {
            const host_params params = { run_node, &numbers[i] };
            numbers[i] = i;
            R_EQ(cudaGraphAddHostNode(&nodes[i], graph, NULL, 0, &params), 0);
        }
        for (unsigned i = 0; i < NODES; i++) { /* edges only from higher to lower numbers */
            for (int k = 0; k < 3; k++) {
                before[i][k] = (unsigned)t_random_between(i, NODES - 1);
                if (before[i][k] != i) {
                    R_EQ(cudaGraphAddDependencies(graph, &nodes[before[i][k]], &nodes[i], 0, 1), 0);
                }
            }
        }
        memset(has_run, 0, sizeof(has_run));
        R_EQ(cudaGraphLaunch(instantiate(graph), NULL), 0);
        for (unsigned i = 0; i < NODES; i++) {
            R_TRUE(has_run[i]);
        }
    }
}

static void any_order_of_nodes_is_sorted(void)
{
    r_play(random_graphs);
}

static void lists(void)
{
    void *graph = NULL;
    size_t count = 0;
    R_EQ(cudaGraphCreate(&graph, 0), 0);
    void *first = host_node(graph, words[0], NULL, 0);
    void *second = host_node(graph, words[1], &first, 1);
    void *both[] = { first, second };
    void *third = NULL;
    R_EQ(cudaGraphAddEmptyNode(&third, graph, both, 2), 0);

    void *found[5] = { graph, graph, graph, graph, graph };
    count = 2;
    R_EQ(cudaGraphGetNodes(graph, found, &count), 0);
    R_TRUE(count == 2 && found[0] == first && found[1] == second && found[2] == graph);
    count = 5;
    R_EQ(cudaGraphGetNodes(graph, found, &count), 0);
    R_TRUE(count == 3 && found[2] == third && found[3] == NULL && found[4] == NULL);
    R_EQ(cudaGraphGetRootNodes(graph, NULL, &count), 0);
    R_EQ(count, 1);
    count = 5;
    R_EQ(cudaGraphNodeGetDependencies(third, found, NULL, &count), 0);
    R_TRUE(count == 2 && found[0] == first && found[1] == second);
    count = 5;
    uint64_t edges[5] = { 1, 1, 1, 1, 1 };
    R_EQ(cudaGraphNodeGetDependentNodes(first, found, edges, &count), 0);
    R_TRUE(count == 2 && found[0] == second && edges[0] == 0 && edges[2] == 1);

    R_EQ(cudaGraphDestroyNode(second), 0);
    R_EQ(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count), 0);
    R_EQ(count, 1);
    int type = -1;
    R_EQ(cudaGraphNodeGetType(third, &type), 0);
    R_EQ(type, 5);
    void *copy = NULL;
    void *none = NULL;
    R_EQ(cudaGraphClone(&copy, graph), 0);
    R_EQ(cudaGraphAddEmptyNode(&none, copy, &first, 1), INVALID_VALUE); /* of another graph */
    R_EQ(cudaGraphDestroy(graph), 0);
    R_EQ(cudaGraphGetNodes(copy, NULL, &count), 0);
    R_EQ(count, 2);
}

static void graphs_list_their_nodes(void)
{
    r_play(lists);
}

static void nested(void)
{
    void *inner = NULL;
    void *outer = NULL;
    void *node = NULL;
    R_EQ(cudaGraphCreate(&inner, 0), 0);
    R_EQ(cudaGraphCreate(&outer, 0), 0);
    (void)host_node(inner, words[0], NULL, 0);
    R_EQ(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, inner), 0);
    R_EQ(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, NULL), INVALID_VALUE);
    (void)host_node(inner, words[1], NULL, 0); /* too late for the outer one */
    void *exec = instantiate(outer);
    R_EQ(cudaGraphLaunch(exec, NULL), 0);
    R_EQ(strcmp(said, "a"), 0);

    void *stream = NULL; /* a launch that is captured becomes such a node */
    void *captured = NULL;
    size_t count = 0;
    R_EQ(cudaStreamCreateWithFlags(&stream, 1), 0);
    R_EQ(cudaStreamBeginCapture(stream, MODE_GLOBAL), 0);
    R_EQ(cudaGraphLaunch(exec, stream), 0);
    R_EQ(cudaLaunchHostFunc(stream, say, words[3]), 0);
    R_EQ(cudaStreamEndCapture(stream, &captured), 0);
    R_EQ(cudaGraphGetNodes(captured, NULL, &count), 0);
    R_EQ(count, 2);
    R_EQ(strcmp(said, "a"), 0);
    R_EQ(cudaGraphLaunch(instantiate(captured), stream), 0);
    R_EQ(strcmp(said, "aad"), 0);
}

static void graphs_are_nested(void)
{
    r_play(nested);
}

static void replayed(void)
{
    char host[4] = "old";
    char sent[4] = "one";
    void *device = NULL;
    void *stream = NULL;
    void *graph = NULL;
    R_EQ(cudaMalloc(&device, 512), 0);
    R_EQ(cudaStreamCreateWithFlags(&stream, 1), 0);
    R_EQ(cudaStreamBeginCapture(stream, MODE_GLOBAL), 0);
    R_EQ(cudaMemcpyAsync(device, sent, 4, 1, stream), 0);
    R_EQ(cudaMemcpyAsync(host, device, 4, 2, stream), 0);
    R_EQ(cudaStreamEndCapture(stream, &graph), 0);
    void *exec = instantiate(graph);
    R_EQ(strcmp(host, "old"), 0);
    R_EQ(cudaGraphLaunch(exec, stream), 0);
    R_EQ(strcmp(host, "one"), 0);
    memcpy(sent, "two", 4);
    R_EQ(cudaGraphLaunch(exec, stream), 0);
    R_EQ(strcmp(host, "two"), 0);
}

static void captured_copies_happen_at_each_launch(void)
{
    r_play(replayed);
}

static void updated(void)
{
    void *one = NULL;
    void *same = NULL;
    void *other = NULL;
    void *none = NULL;
    R_EQ(cudaGraphCreate(&one, 0), 0);
    R_EQ(cudaGraphCreate(&same, 0), 0);
    R_EQ(cudaGraphCreate(&other, 0), 0);
    (void)host_node(one, words[0], NULL, 0);
    (void)host_node(same, words[1], NULL, 0);
    R_EQ(cudaGraphAddEmptyNode(&none, other, NULL, 0), 0);
    void *exec = instantiate(one);
    struct {
        int result;
        void *nodes[2];
    } result = { -1, { NULL, NULL } };
    R_EQ(cudaGraphExecUpdate(exec, same, &result), 0);
    R_EQ(result.result, 0);
    R_EQ(cudaGraphLaunch(exec, NULL), 0);
    R_EQ(strcmp(said, "b"), 0);
    R_EQ(cudaGraphExecUpdate(exec, other, &result), UPDATE_FAILURE);
    R_EQ(result.result, 2);
    R_EQ(cudaGraphLaunch(exec, NULL), 0);
    R_EQ(strcmp(said, "bb"), 0);
}

static void graphs_of_one_shape_take_each_others_place(void)
{
    r_play(updated);
}

static void users(void)
{
    void *object = NULL;
    void *graph = NULL;
    void *stays = NULL;
    R_EQ(cudaUserObjectCreate(&object, words[0], say, 1, 0), INVALID_VALUE);
    R_EQ(cudaUserObjectCreate(&object, words[0], say, 0, 1), INVALID_VALUE);
    R_EQ(cudaUserObjectCreate(&object, words[0], say, 1, 1), 0);
    R_EQ(cudaGraphCreate(&graph, 0), 0);
    R_EQ(cudaGraphCreate(&stays, 0), 0);
    R_EQ(cudaGraphRetainUserObject(graph, object, 1, 1), 0); /* moved */
    void *exec = instantiate(graph);
    R_EQ(cudaGraphDestroy(graph), 0);
    R_EQ(said[0], 0); /* the executable one still needs it */
    R_EQ(cudaGraphExecDestroy(exec), 0);
    R_EQ(strcmp(said, "a"), 0);
    R_EQ(cudaUserObjectRelease(object, 1), INVALID_VALUE); /* it is gone */

    R_EQ(cudaUserObjectCreate(&object, words[1], say, 2, 1), 0);
    R_EQ(cudaGraphRetainUserObject(stays, object, 3, 0), 0);
    R_EQ(cudaUserObjectRelease(object, 2), 0);
    R_EQ(cudaGraphReleaseUserObject(stays, object, 4), INVALID_VALUE);
    R_EQ(cudaGraphReleaseUserObject(stays, object, 2), 0);
    R_EQ(strcmp(said, "a"), 0);
    R_EQ(cudaUserObjectRetain(object, 1), 0);
    R_EQ(cudaUserObjectRelease(object, 1), 0);
    R_EQ(cudaGraphReleaseUserObject(stays, object, 1), 0);
    R_EQ(strcmp(said, "ab"), 0);
}

static void graphs_keep_user_objects_alive(void)
{
    r_play(users);
}

static void printed(void)
{
    void *graph = NULL;
    char text[200] = "";
    R_EQ(cudaGraphCreate(&graph, 0), 0);
    void *first = host_node(graph, words[0], NULL, 0);
    (void)host_node(graph, words[1], &first, 1);
    char path[] = "/tmp/plimsoll-graph-XXXXXX";
    const int descriptor = mkstemp(path);
    R_TRUE(descriptor >= 0);
    R_EQ(cudaGraphDebugDotPrint(graph, path, 0), 0);
    R_TRUE(read(descriptor, text, sizeof(text) - 1) > 0);
    R_TRUE(strstr(text, "digraph") == text);
    R_TRUE(strstr(text, "node_0 -> node_1;") != NULL);
    (void)close(descriptor);
    (void)unlink(path);
    R_EQ(cudaGraphDebugDotPrint(graph, "/nowhere/at/all", 0), 304);
}

static void graphs_are_printed(void)
{
    r_play(printed);
}

T_MAIN(T_TEST(an_instantiated_graph_takes_memory), T_TEST(nodes_run_in_the_order_of_their_edges),
       T_TEST(cycles_are_refused), T_TEST(any_order_of_nodes_is_sorted),
       T_TEST(graphs_list_their_nodes), T_TEST(graphs_are_nested),
       T_TEST(captured_copies_happen_at_each_launch),
       T_TEST(graphs_of_one_shape_take_each_others_place), T_TEST(graphs_keep_user_objects_alive),
       T_TEST(graphs_are_printed))
