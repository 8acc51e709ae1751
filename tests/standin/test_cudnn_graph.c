/*
 * test_cudnn_graph.c - descriptors of the graph interface give back what they are told, and a
 * convolution goes all the way to a plan's workspace.
 */
#include "harness.h"

#include "stage/stage.h"
#include "standin/core/stage.h"
#include "standin/cudnn/graph.h"
#include "standin/cudnn/store.h"

#include <unistd.h>

int cudnnBackendCreateDescriptor(int kind, void **ret);
int cudnnBackendDestroyDescriptor(void *self);
int cudnnBackendSetAttribute(void *self, int name, int type, int64_t count, const void *elements);
int cudnnBackendGetAttribute(const void *self, int name, int type, int64_t wanted, int64_t *found,
                             void *elements);
int cudnnBackendFinalize(void *self);
int cudnnBackendExecute(void *handle, const void *plan, const void *variant_pack);

#define KIND_CONVOLUTION 1
#define TEST_ATTRIBUTE   906 /* a tensor's identity */

static char path[64];

/* The stand-ins ask the stage for the GPU. */
static void take_part(void)
{
    if (path[0] != '\0') {
        return;
    }
    plim_stage *stage = NULL;
    plim_error err = { 0 };
    const plim_stage_settings settings = { .gpu = { .capability_major = 7, .multiprocessors = 80 },
                                           .capacity_bytes = UINT64_C(1) << 34,
                                           .device_count = 1,
                                           .cuda_version = 13000,
                                           .cudnn_version = 91900 };
    (void)snprintf(path, sizeof path, "/tmp/plimsoll-test-cudnn-%ld", (long)getpid());
    T_EQ_I64(plim_stage_create(path, &settings, &stage, &err), PLIM_OK);
    plim_stage_close(stage);
    T_EQ_I64(setenv(PLIM_STAGE_VARIABLE, path, 1), 0);
}

static void leave(void)
{
    (void)unlink(path);
}

static plim_stage_figures figures_now(void)
{
    plim_stage_figures figures;
    plim_stage_device_figures(plim_standin_stage(), 0, &figures);
    return figures;
}

static void *make(int kind)
{
    void *made = NULL;
    T_EQ_I64(cudnnBackendCreateDescriptor(kind, &made), PLIM_CUDNN_OK);
    return made;
}

static void set(void *self, int name, int type, int64_t count, const void *elements)
{
    T_EQ_I64(cudnnBackendSetAttribute(self, name, type, count, elements), PLIM_CUDNN_OK);
}

static void finish(void *self)
{
    T_EQ_I64(cudnnBackendFinalize(self), PLIM_CUDNN_OK);
}

static void *make_tensor(const int64_t *sizes, const int64_t *strides)
{
    static const int32_t type = PLIM_CUDNN_FLOAT;
    void *made = make(PLIM_CUDNN_KIND_TENSOR);
    set(made, PLIM_CUDNN_TENSOR_TYPE, PLIM_CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(made, PLIM_CUDNN_TENSOR_SIZES, PLIM_CUDNN_TYPE_INT64, 4, sizes);
    set(made, PLIM_CUDNN_TENSOR_STRIDES, PLIM_CUDNN_TYPE_INT64, 4, strides);
    finish(made);
    return made;
}

static void *make_graph(void)
{
    static const int64_t x_sizes[] = { 32, 256, 14, 14 }, x_strides[] = { 50176, 196, 14, 1 };
    static const int64_t w_sizes[] = { 256, 256, 3, 3 }, w_strides[] = { 2304, 9, 3, 1 };
    static const int64_t ones[] = { 1, 1 };
    void *x = make_tensor(x_sizes, x_strides);
    void *w = make_tensor(w_sizes, w_strides);
    void *y = make_tensor(x_sizes, x_strides);
    void *how = make(KIND_CONVOLUTION);
    set(how, PLIM_CUDNN_CONVOLUTION_STRIDES, PLIM_CUDNN_TYPE_INT64, 2, ones);
    set(how, PLIM_CUDNN_CONVOLUTION_DILATIONS, PLIM_CUDNN_TYPE_INT64, 2, ones);
    finish(how);
    void *operation = make(PLIM_CUDNN_KIND_CONVOLUTION_FORWARD);
    set(operation, PLIM_CUDNN_FORWARD_X, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &x);
    set(operation, PLIM_CUDNN_FORWARD_W, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &w);
    set(operation, PLIM_CUDNN_FORWARD_Y, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &y);
    set(operation, PLIM_CUDNN_FORWARD_CONVOLUTION, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &how);
    finish(operation);
    void *graph = make(PLIM_CUDNN_KIND_GRAPH);
    set(graph, PLIM_CUDNN_GRAPH_OPERATIONS, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &operation);
    finish(graph);
    /* What holds them keeps them. */
    void *const all[] = { x, w, y, how, operation };
    for (size_t i = 0; i < T_COUNT(all); i++) {
        T_EQ_I64(cudnnBackendDestroyDescriptor(all[i]), PLIM_CUDNN_OK);
    }
    return graph;
}

static void descriptors_give_back_what_they_are_told(void)
{
    static const struct {
        int type;
        int64_t count;
    } cases[] = {
        { PLIM_CUDNN_TYPE_INT64, 3 },    { PLIM_CUDNN_TYPE_BOOLEAN, 1 },
        { PLIM_CUDNN_TYPE_FLOAT, 2 },    { PLIM_CUDNN_TYPE_DOUBLE, 1 },
        { PLIM_CUDNN_TYPE_CHAR, 24 },    { PLIM_CUDNN_TYPE_INT32, 6 },
        { PLIM_CUDNN_TYPE_FRACTION, 1 }, { PLIM_CUDNN_TYPE_VOID_PTR, 3 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        unsigned char told[24];
        unsigned char given[24] = { 0 };
        int64_t found = -1;
        const size_t bytes = (size_t)cases[i].count * plim_cudnn_attribute_bytes(cases[i].type);
        T_CASE("type %d", cases[i].type);
        for (size_t k = 0; k < sizeof told; k++) {
            told[k] = (unsigned char)t_random();
        }
        void *self = make(PLIM_CUDNN_KIND_TENSOR);
        set(self, TEST_ATTRIBUTE, cases[i].type, cases[i].count, told);
        T_EQ_I64(cudnnBackendGetAttribute(self, TEST_ATTRIBUTE, cases[i].type, cases[i].count,
                                          &found, given),
                 PLIM_CUDNN_BAD_PARAM_NOT_FINALIZED);
        finish(self);
        T_EQ_I64(cudnnBackendSetAttribute(self, TEST_ATTRIBUTE, cases[i].type, 1, told),
                 PLIM_CUDNN_FINALIZED);
        T_EQ_I64(cudnnBackendGetAttribute(self, TEST_ATTRIBUTE, cases[i].type, cases[i].count,
                                          &found, given),
                 PLIM_CUDNN_OK);
        T_EQ_I64(found, cases[i].count);
        T_EQ_MEM(given, told, bytes);
        T_EQ_I64(cudnnBackendGetAttribute(self, TEST_ATTRIBUTE, PLIM_CUDNN_TYPE_HEUR_MODE, 1,
                                          &found, given),
                 PLIM_CUDNN_BAD_PARAM_ATTRIBUTE_TYPE);
        T_EQ_I64(cudnnBackendDestroyDescriptor(self), PLIM_CUDNN_OK);
    }
}

static void descriptors_refuse_what_makes_no_sense(void)
{
    void *self = make(PLIM_CUDNN_KIND_GRAPH);
    void *open = make(PLIM_CUDNN_KIND_TENSOR);
    void *nothing = NULL;
    T_EQ_I64(cudnnBackendCreateDescriptor(-1, &nothing), PLIM_CUDNN_NOT_SUPPORTED);
    T_EQ_I64(cudnnBackendCreateDescriptor(1, NULL), PLIM_CUDNN_BAD_PARAM_NULL);
    T_EQ_I64(cudnnBackendSetAttribute(self, 801, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &open),
             PLIM_CUDNN_BAD_PARAM_NOT_FINALIZED);
    T_EQ_I64(cudnnBackendSetAttribute(self, 801, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &nothing),
             PLIM_CUDNN_BAD_PARAM_NULL);
    T_EQ_I64(cudnnBackendSetAttribute(self, 801, PLIM_CUDNN_TYPE_INT64, -1, &open),
             PLIM_CUDNN_BAD_PARAM);
    T_EQ_I64(cudnnBackendSetAttribute(self, 801, 4711, 1, &open),
             PLIM_CUDNN_BAD_PARAM_ATTRIBUTE_TYPE);
    T_EQ_I64(cudnnBackendDestroyDescriptor(open), PLIM_CUDNN_OK);
    T_EQ_I64(cudnnBackendDestroyDescriptor(self), PLIM_CUDNN_OK);
}

static int64_t integer_of(const void *self, int name)
{
    int64_t value = -1;
    T_EQ_I64(cudnnBackendGetAttribute(self, name, PLIM_CUDNN_TYPE_INT64, 1, NULL, &value),
             PLIM_CUDNN_OK);
    return value;
}

/* The way cudnn-frontend goes: heuristics, a configuration, its engine's notes, a plan. */
static void a_convolution_comes_to_a_plan_with_its_workspace(void)
{
    static const int32_t mode = 0; /* CUDNN_HEUR_MODE_INSTANT */
    int64_t found = -1;
    int32_t notes[8] = { -1 };
    take_part();
    void *graph = make_graph();
    void *heuristics = make(PLIM_CUDNN_KIND_HEURISTICS);
    set(heuristics, PLIM_CUDNN_HEURISTICS_GRAPH, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &graph);
    set(heuristics, PLIM_CUDNN_HEURISTICS_MODE, PLIM_CUDNN_TYPE_HEUR_MODE, 1, &mode);
    finish(heuristics);
    T_EQ_I64(cudnnBackendGetAttribute(heuristics, PLIM_CUDNN_HEURISTICS_RESULTS,
                                      PLIM_CUDNN_TYPE_DESCRIPTOR, 0, &found, NULL),
             PLIM_CUDNN_OK);
    /* Winograd, implicit GEMM, copies, FFT: no tensor cores for float32 before 8.0 */
    T_EQ_I64(found, 4);
    T_EQ_I64(integer_of(graph, PLIM_CUDNN_GRAPH_ENGINE_COUNT), found);

    void *config = make(PLIM_CUDNN_KIND_ENGINE_CONFIG);
    void *engine = make(PLIM_CUDNN_KIND_ENGINE);
    T_EQ_I64(cudnnBackendGetAttribute(heuristics, PLIM_CUDNN_HEURISTICS_RESULTS,
                                      PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &found, &config),
             PLIM_CUDNN_OK);
    T_EQ_I64(found, 1); /* as many as were given, though there are more */
    T_EQ_I64(cudnnBackendGetAttribute(config, PLIM_CUDNN_CONFIG_ENGINE, PLIM_CUDNN_TYPE_DESCRIPTOR,
                                      1, &found, &engine),
             PLIM_CUDNN_OK);
    T_EQ_I64(cudnnBackendGetAttribute(engine, PLIM_CUDNN_ENGINE_NUMERICAL_NOTES,
                                      PLIM_CUDNN_TYPE_NUMERICAL_NOTE, 8, &found, notes),
             PLIM_CUDNN_OK);
    T_EQ_I64(found, 2);
    T_EQ_I64(notes[0], 5); /* CUDNN_NUMERICAL_NOTE_WINOGRAD */

    void *plan = make(PLIM_CUDNN_KIND_PLAN);
    set(plan, PLIM_CUDNN_PLAN_CONFIG, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &config);
    finish(plan);
    T_EQ_I64(integer_of(plan, PLIM_CUDNN_PLAN_WORKSPACE), 47185920);
    T_EQ_I64(integer_of(config, PLIM_CUDNN_CONFIG_WORKSPACE), 47185920);

    void *const all[] = { graph, heuristics, config, engine, plan };
    for (size_t i = 0; i < T_COUNT(all); i++) {
        T_EQ_I64(cudnnBackendDestroyDescriptor(all[i]), PLIM_CUDNN_OK);
    }
    leave();
}

/* As a search for the fastest runs them: nothing takes time, so the first has to be it. */
static void the_first_plan_of_a_graph_that_runs_is_the_one(void)
{
    int64_t found = -1;
    void *configs[3];
    void *plans[3];
    take_part();
    void *graph = make_graph();
    void *heuristics = make(PLIM_CUDNN_KIND_HEURISTICS);
    void *pack = make(16); /* CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR */
    set(heuristics, PLIM_CUDNN_HEURISTICS_GRAPH, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &graph);
    finish(heuristics);
    for (size_t i = 0; i < T_COUNT(configs); i++) {
        configs[i] = make(PLIM_CUDNN_KIND_ENGINE_CONFIG);
    }
    T_EQ_I64(cudnnBackendGetAttribute(heuristics, PLIM_CUDNN_HEURISTICS_RESULTS,
                                      PLIM_CUDNN_TYPE_DESCRIPTOR, 3, &found, configs),
             PLIM_CUDNN_OK);
    for (size_t i = 0; i < T_COUNT(configs); i++) {
        plans[i] = make(PLIM_CUDNN_KIND_PLAN);
        set(plans[i], PLIM_CUDNN_PLAN_CONFIG, PLIM_CUDNN_TYPE_DESCRIPTOR, 1, &configs[i]);
        finish(plans[i]);
    }
    T_EQ_I64(cudnnBackendExecute(NULL, plans[1], pack), PLIM_CUDNN_OK);
    /* Winograd would take more */
    T_EQ_U64(figures_now().modelled_below_bytes, 256 * 256 * 9 * 4);
    T_EQ_U64(figures_now().modelled_above_bytes, 47185920 - 256 * 256 * 9 * 4);
    T_EQ_I64(cudnnBackendExecute(NULL, plans[0], pack), PLIM_CUDNN_NOT_SUPPORTED);
    /* A search also tries FFT, which is far from sure. */
    T_TRUE(figures_now().modelled_below_bytes > UINT64_C(256) << 20);
    T_EQ_I64(cudnnBackendExecute(NULL, plans[2], pack), PLIM_CUDNN_NOT_SUPPORTED);
    T_EQ_I64(cudnnBackendExecute(NULL, plans[1], pack), PLIM_CUDNN_OK);
    for (size_t i = 0; i < T_COUNT(configs); i++) {
        T_EQ_I64(cudnnBackendDestroyDescriptor(configs[i]), PLIM_CUDNN_OK);
        T_EQ_I64(cudnnBackendDestroyDescriptor(plans[i]), PLIM_CUDNN_OK);
    }
    T_EQ_I64(cudnnBackendDestroyDescriptor(graph), PLIM_CUDNN_OK);
    T_EQ_I64(cudnnBackendDestroyDescriptor(heuristics), PLIM_CUDNN_OK);
    T_EQ_I64(cudnnBackendDestroyDescriptor(pack), PLIM_CUDNN_OK);
    leave();
}

T_MAIN(T_TEST(descriptors_give_back_what_they_are_told),
       T_TEST(descriptors_refuse_what_makes_no_sense),
       T_TEST(a_convolution_comes_to_a_plan_with_its_workspace),
       T_TEST(the_first_plan_of_a_graph_that_runs_is_the_one))
