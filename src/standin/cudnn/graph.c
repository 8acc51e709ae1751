/*
 * graph.c - cuDNN's graph interface: descriptors that keep their attributes.
 *
 *   operation graph ──► heuristics ──► engine configurations ──► plan: its workspace
 *
 * A caller describes tensors and operations, asks for engine configurations, and makes a plan of
 * one. Everything that can be asked of a descriptor is put into it when it is finalized, so that
 * reading an attribute is a look-up. Which engines there are: engines.c.
 *
 * A plan computes nothing. Checks of the real library's that need a kernel (is this
 * combination of attributes supported?) are not made: cudnn-frontend makes most of them itself.
 */
#include "standin/cudnn/graph.h"

#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/core/tally.h"
#include "standin/cudnn/engines.h"
#include "standin/cudnn/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_BYTES 128

typedef struct descriptor {
    plim_cudnn_body *body; /* holds one reference */
} descriptor;

PLIM_STANDIN_MODELLED(cudnnBackendFinalize, "workspaces of plans: docs/design/cudnn.md")

static const plim_standin_kind unknown_operation = {
    .name = "cudnnBackendFinalize",
    .note = "an operation graph it has no engine for",
    .kind = PLIM_STAGE_REFUSED,
};

static const plim_standin_kind unknown_attribute = {
    .name = "cudnnBackendGetAttribute",
    .note = "an attribute that was not set",
    .kind = PLIM_STAGE_REFUSED,
};

/* ---- what is put into descriptors when they are finalized -------------------------------------
 */

static int set_json(plim_cudnn_body *body, int name, const char *text)
{
    return plim_cudnn_body_set(body, name, PLIM_CUDNN_TYPE_CHAR, (int64_t)strlen(text), text);
}

/* The engine of a number in a graph; false: it has none of that number. */
static bool engine_at(const plim_cudnn_body *graph, int64_t index, plim_cudnn_engine *ret)
{
    plim_cudnn_engine engines[PLIM_CUDNN_ENGINES_MAX];
    const size_t count = graph == NULL ? 0 : plim_cudnn_engines_of(graph, engines);
    for (size_t i = 0; i < count; i++) {
        if (engines[i].index == index) {
            *ret = engines[i];
            return true;
        }
    }
    return false;
}

static bool engine_of(const plim_cudnn_body *engine, plim_cudnn_engine *ret)
{
    return engine != NULL &&
           engine_at(plim_cudnn_body_child(engine, PLIM_CUDNN_ENGINE_GRAPH, 0),
                     plim_cudnn_body_integer(engine, PLIM_CUDNN_ENGINE_INDEX, -1), ret);
}

static int complete_graph(plim_cudnn_body *graph)
{
    plim_cudnn_engine engines[PLIM_CUDNN_ENGINES_MAX];
    return plim_cudnn_body_set_integer(graph, PLIM_CUDNN_GRAPH_ENGINE_COUNT,
                                       (int64_t)plim_cudnn_engines_of(graph, engines));
}

static int complete_engine(plim_cudnn_body *body)
{
    static const int compiled_at_run_time[] = { 0 }; /* CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION */
    plim_cudnn_engine engine;
    if (!engine_of(body, &engine)) {
        return PLIM_CUDNN_NOT_SUPPORTED;
    }
    const int status =
        plim_cudnn_body_set(body, PLIM_CUDNN_ENGINE_NUMERICAL_NOTES, PLIM_CUDNN_TYPE_NUMERICAL_NOTE,
                            engine.note_count, engine.notes);
    return status != PLIM_CUDNN_OK
               ? status
               : plim_cudnn_body_set(body, PLIM_CUDNN_ENGINE_BEHAVIOR_NOTES,
                                     PLIM_CUDNN_TYPE_BEHAVIOR_NOTE,
                                     engine.is_compiled_at_run_time ? 1 : 0, compiled_at_run_time);
}

static int complete_config(plim_cudnn_body *config)
{
    static const int32_t shared_memory_bytes[] = { 0 };
    plim_cudnn_engine engine;
    if (!engine_of(plim_cudnn_body_child(config, PLIM_CUDNN_CONFIG_ENGINE, 0), &engine)) {
        return PLIM_CUDNN_NOT_SUPPORTED;
    }
    const int status = plim_cudnn_body_set_integer(config, PLIM_CUDNN_CONFIG_WORKSPACE,
                                                   (int64_t)engine.workspace_bytes);
    return status != PLIM_CUDNN_OK
               ? status
               : plim_cudnn_body_set(config, PLIM_CUDNN_CONFIG_SHARED_MEMORY, PLIM_CUDNN_TYPE_INT32,
                                     1, shared_memory_bytes);
}

static int complete_plan(plim_cudnn_body *plan)
{
    char json[JSON_BYTES];
    plim_cudnn_engine engine;
    const plim_cudnn_body *config = plim_cudnn_body_child(plan, PLIM_CUDNN_PLAN_CONFIG, 0);
    if (config == NULL ||
        !engine_of(plim_cudnn_body_child(config, PLIM_CUDNN_CONFIG_ENGINE, 0), &engine)) {
        return PLIM_CUDNN_NOT_SUPPORTED;
    }
    (void)snprintf(json, sizeof json, "{\"engine\": %" PRId64 ", \"workspace\": %" PRIu64 "}",
                   engine.index, engine.workspace_bytes);
    const int status = plim_cudnn_body_set_integer(plan, PLIM_CUDNN_PLAN_WORKSPACE,
                                                   (int64_t)engine.workspace_bytes);
    return status != PLIM_CUDNN_OK ? status : set_json(plan, PLIM_CUDNN_PLAN_JSON, json);
}

/* A finalized configuration of an engine, or NULL without memory. */
static plim_cudnn_body *make_config(plim_cudnn_body *graph, int64_t index)
{
    plim_cudnn_body *engine = plim_cudnn_body_create(PLIM_CUDNN_KIND_ENGINE);
    plim_cudnn_body *config = plim_cudnn_body_create(PLIM_CUDNN_KIND_ENGINE_CONFIG);
    plim_cudnn_body *const graphs[] = { graph };
    plim_cudnn_body *const engines[] = { engine };
    const bool is_made =
        engine != NULL && config != NULL &&
        plim_cudnn_body_set(engine, PLIM_CUDNN_ENGINE_GRAPH, PLIM_CUDNN_TYPE_DESCRIPTOR, 1,
                            graphs) == PLIM_CUDNN_OK &&
        plim_cudnn_body_set_integer(engine, PLIM_CUDNN_ENGINE_INDEX, index) == PLIM_CUDNN_OK &&
        complete_engine(engine) == PLIM_CUDNN_OK &&
        plim_cudnn_body_set(config, PLIM_CUDNN_CONFIG_ENGINE, PLIM_CUDNN_TYPE_DESCRIPTOR, 1,
                            engines) == PLIM_CUDNN_OK &&
        complete_config(config) == PLIM_CUDNN_OK;
    if (is_made) {
        plim_cudnn_body_finish(engine);
        plim_cudnn_body_finish(config);
    }
    plim_cudnn_body_drop(engine); /* the configuration has a reference of its own */
    if (!is_made) {
        plim_cudnn_body_drop(config);
        return NULL;
    }
    return config;
}

static int complete_heuristics(plim_cudnn_body *heuristics)
{
    enum { MODE_FALLBACK = 2 }; /* only what always works: the last resort comes last */
    plim_cudnn_engine engines[PLIM_CUDNN_ENGINES_MAX];
    plim_cudnn_body *configs[PLIM_CUDNN_ENGINES_MAX] = { NULL };
    plim_cudnn_body *graph = plim_cudnn_body_child(heuristics, PLIM_CUDNN_HEURISTICS_GRAPH, 0);
    const bool is_fallback =
        plim_cudnn_body_integer(heuristics, PLIM_CUDNN_HEURISTICS_MODE, 0) == MODE_FALLBACK;
    const size_t count = graph == NULL ? 0 : plim_cudnn_engines_of(graph, engines);
    if (count == 0) {
        return (int)plim_standin_refuse(&unknown_operation, PLIM_CUDNN_NOT_SUPPORTED);
    }
    int status = PLIM_CUDNN_OK;
    int64_t made = 0;
    for (size_t i = 0; i < count && status == PLIM_CUDNN_OK; i++) {
        if (is_fallback && engines[i].index != 0 && count > 1) {
            continue;
        }
        configs[made] = make_config(graph, engines[i].index);
        status = configs[made] == NULL ? PLIM_CUDNN_NO_HOST_MEMORY : PLIM_CUDNN_OK;
        made += configs[made] != NULL;
    }
    if (status == PLIM_CUDNN_OK) {
        status = plim_cudnn_body_set(heuristics, PLIM_CUDNN_HEURISTICS_RESULTS,
                                     PLIM_CUDNN_TYPE_DESCRIPTOR, made, configs);
    }
    for (int64_t i = 0; i < made; i++) {
        plim_cudnn_body_drop(configs[i]);
    }
    return status;
}

static int complete(plim_cudnn_body *body)
{
    switch (plim_cudnn_body_kind(body)) {
    case PLIM_CUDNN_KIND_GRAPH:
        return complete_graph(body);
    case PLIM_CUDNN_KIND_ENGINE:
        return complete_engine(body);
    case PLIM_CUDNN_KIND_ENGINE_CONFIG:
        return complete_config(body);
    case PLIM_CUDNN_KIND_HEURISTICS:
        return complete_heuristics(body);
    case PLIM_CUDNN_KIND_PLAN:
        return complete_plan(body);
    case PLIM_CUDNN_KIND_KERNEL_CACHE:
        return set_json(body, PLIM_CUDNN_KERNEL_CACHE_JSON, "{}");
    case PLIM_CUDNN_KIND_DEVICE_PROPERTIES:
        return set_json(body, PLIM_CUDNN_DEVICE_PROPERTIES_JSON, "{}");
    default:
        return PLIM_CUDNN_OK;
    }
}

/* ---- the functions ----------------------------------------------------------------------------
 */

int cudnnBackendCreateDescriptor(int kind, descriptor **ret)
{
    if (ret == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (kind < 0 || kind >= PLIM_CUDNN_KINDS) {
        return PLIM_CUDNN_NOT_SUPPORTED;
    }
    descriptor *made = malloc(sizeof *made);
    plim_cudnn_body *body = plim_cudnn_body_create(kind);
    if (made == NULL || body == NULL) {
        free(made);
        plim_cudnn_body_drop(body);
        return PLIM_CUDNN_NO_HOST_MEMORY;
    }
    made->body = body;
    *ret = made;
    return PLIM_CUDNN_OK;
}

int cudnnBackendDestroyDescriptor(descriptor *self)
{
    if (self != NULL) {
        plim_cudnn_body_drop(self->body);
        free(self);
    }
    return PLIM_CUDNN_OK;
}

/* Attributes of type descriptor: the bodies of the handles. */
static int set_children(plim_cudnn_body *body, int name, int64_t count,
                        const descriptor *const *handles)
{
    if (count < 0 || (count > 0 && handles == NULL)) {
        return PLIM_CUDNN_BAD_PARAM;
    }
    plim_cudnn_body **bodies = calloc((size_t)count + 1, sizeof *bodies);
    if (bodies == NULL) {
        return PLIM_CUDNN_NO_HOST_MEMORY;
    }
    int status = PLIM_CUDNN_OK;
    for (int64_t i = 0; i < count && status == PLIM_CUDNN_OK; i++) {
        if (handles[i] == NULL) {
            status = PLIM_CUDNN_BAD_PARAM_NULL;
        } else if (!plim_cudnn_body_is_final(handles[i]->body)) {
            status = PLIM_CUDNN_BAD_PARAM_NOT_FINALIZED;
        } else {
            bodies[i] = handles[i]->body;
        }
    }
    if (status == PLIM_CUDNN_OK) {
        status = plim_cudnn_body_set(body, name, PLIM_CUDNN_TYPE_DESCRIPTOR, count, bodies);
    }
    free(bodies);
    return status;
}

int cudnnBackendSetAttribute(descriptor *self, int name, int type, int64_t count,
                             const void *elements)
{
    if (self == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (plim_cudnn_body_is_final(self->body)) {
        return PLIM_CUDNN_FINALIZED;
    }
    return type == PLIM_CUDNN_TYPE_DESCRIPTOR
               ? set_children(self->body, name, count, elements)
               : plim_cudnn_body_set(self->body, name, type, count, elements);
}

/* Empty unless set. */
static bool may_be_missing(int name)
{
    switch (name) {
    case PLIM_CUDNN_CONFIG_INTERMEDIATES:
    case PLIM_CUDNN_CONFIG_KNOBS:
    case PLIM_CUDNN_PLAN_COMPUTED_INTERMEDIATES:
    case PLIM_CUDNN_PLAN_RUN_ONLY_INTERMEDIATES:
    case PLIM_CUDNN_ENGINE_KNOBS:
    case PLIM_CUDNN_ENGINE_LAYOUTS:
    case PLIM_CUDNN_KERNEL_CACHE_HAS_CONFIG:
        return true;
    default:
        return false;
    }
}

/* The caller's handles come to stand for what is in the attribute. */
static void get_children(const plim_cudnn_body *body, int name, int64_t count,
                         descriptor *const *handles)
{
    for (int64_t i = 0; i < count; i++) {
        plim_cudnn_body *child = plim_cudnn_body_child(body, name, i);
        if (child != NULL && handles[i] != NULL && handles[i]->body != child) {
            plim_cudnn_body_drop(handles[i]->body);
            handles[i]->body = plim_cudnn_body_keep(child);
        }
    }
}

int cudnnBackendGetAttribute(const descriptor *self, int name, int type, int64_t wanted,
                             int64_t *found, void *elements)
{
    int type_there = type;
    if (self == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    if (!plim_cudnn_body_is_final(self->body)) {
        return PLIM_CUDNN_BAD_PARAM_NOT_FINALIZED;
    }
    int64_t count = plim_cudnn_body_count(self->body, name, &type_there);
    if (count < 0 && !may_be_missing(name)) {
        plim_standin_trace("cudnnBackendGetAttribute: attribute %d of a descriptor of kind %d",
                           name, plim_cudnn_body_kind(self->body));
        return (int)plim_standin_refuse(&unknown_attribute, PLIM_CUDNN_BAD_PARAM);
    }
    if (type_there != type) {
        return PLIM_CUDNN_BAD_PARAM_ATTRIBUTE_TYPE;
    }
    count = count < 0 ? 0 : count;
    if (elements != NULL && wanted < count) {
        count = wanted; /* callers take what is found for what they were given */
    }
    if (found != NULL) {
        *found = count;
    }
    if (elements != NULL && type == PLIM_CUDNN_TYPE_DESCRIPTOR) {
        get_children(self->body, name, count, elements);
    } else if (elements != NULL) {
        (void)plim_cudnn_body_get(self->body, name, count, elements);
    }
    return PLIM_CUDNN_OK;
}

int cudnnBackendFinalize(descriptor *self)
{
    if (self == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    const int status = complete(self->body);
    if (status == PLIM_CUDNN_OK) {
        plim_cudnn_body_finish(self->body);
    }
    return status;
}

/* An attention is one operation in new graphs; in older ones it shows by its products, two forward
 * and five backward. */
static void tally_attention(const plim_cudnn_body *graph)
{
    static const char forward[] = "cudnn attention forward";
    static const char backward[] = "cudnn attention backward";
    size_t products = 0;
    const plim_cudnn_body *operation = NULL;
    for (int64_t i = 0; graph != NULL; i++) {
        operation = plim_cudnn_body_child(graph, PLIM_CUDNN_GRAPH_OPERATIONS, i);
        if (operation == NULL) {
            break;
        }
        const int kind = plim_cudnn_body_kind(operation);
        products += kind == PLIM_CUDNN_KIND_OPERATION_MATMUL ? 1 : 0;
        products += kind == PLIM_CUDNN_KIND_OPERATION_ATTENTION_FORWARD ? 2 : 0;
        products += kind == PLIM_CUDNN_KIND_OPERATION_ATTENTION_BACKWARD ? 5 : 0;
    }
    if (products >= 2) {
        const char *name = products < 5 ? forward : backward;
        plim_standin_tally(name, name, 1);
    }
}

/*
 * Leaves results as they are. With torch.backends.cudnn.benchmark all plans of a graph are run
 * and timed, and the fastest is kept. No work takes time here, so it would be one by chance, and
 * another each time: of a graph's plans only the first to run succeeds. That is the one the
 * heuristics like best among those the caller wants; the caller passes over those that fail.
 */
int cudnnBackendExecute(void *handle, const descriptor *plan, const descriptor *variant_pack)
{
    if (plan == NULL || variant_pack == NULL) {
        return PLIM_CUDNN_BAD_PARAM_NULL;
    }
    const plim_cudnn_body *config = plim_cudnn_body_child(plan->body, PLIM_CUDNN_PLAN_CONFIG, 0);
    if (config == NULL || !plim_cudnn_body_is_final(plan->body)) {
        return PLIM_CUDNN_BAD_PARAM_NOT_FINALIZED;
    }
    const plim_cudnn_body *engine = plim_cudnn_body_child(config, PLIM_CUDNN_CONFIG_ENGINE, 0);
    plim_cudnn_body *graph = plim_cudnn_body_child(engine, PLIM_CUDNN_ENGINE_GRAPH, 0);
    const int64_t index = plim_cudnn_body_integer(engine, PLIM_CUDNN_ENGINE_INDEX, 0);
    const bool is_claimed = plim_cudnn_body_claim(graph, index);
    plim_cudnn_engines_note_range(graph, index, !is_claimed);
    if (!is_claimed) {
        return PLIM_CUDNN_NOT_SUPPORTED;
    }
    tally_attention(graph);
    return PLIM_CUDNN_OK;
}
