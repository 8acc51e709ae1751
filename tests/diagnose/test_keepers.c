/*
 * test_keepers.c - what the document of holders says of a leak: the object that keeps it, the cause
 * that this proves, and what memory is for.
 */
#include "phases/program.h"
#include "plimsoll/diagnose.h"

#define KIB(n)      ((uint64_t)(n) << 10)
#define STEPS       12
#define KEPT        100 /* name of the first that is kept */
#define KEPT_BYTES  KIB(64)
#define LARGE_BYTES KIB(4096)
#define LINE_STORE  26
#define LINE_MODEL  21

typedef struct keeping {
    program at;
    uint32_t store;
    plim_holders *holders;
    plim_diagnosis *diagnosis;
    const plim_diagnosis_finding *leak;
} keeping;

/* A program that keeps an output of each step. with_failure: a request fails at its end. */
static keeping begin(bool with_failure)
{
    keeping made = { 0 };
    program *const at = &made.at;
    program_begin(at);
    const uint32_t frames[] = { program_frame(at, "/home/u/run.py", "train", LINE_STORE),
                                program_frame(at, "/home/u/run.py", "<module>", 99) };
    T_TRUE(plim_history_add_stack(at->history, frames, 2, &made.store, NULL) == PLIM_OK);
    at->stacks[CODE_OTHER] = made.store;
    (void)program_alloc(at, 1, KIB(400), CODE_BUILD);
    for (uint64_t step = 0; step < STEPS; step++) {
        program_annotate(at, "Optimizer.step#SGD.step", true);
        (void)program_alloc(at, 3, KIB(1), CODE_OPTIMIZER);
        (void)program_free(at, 3, KIB(1));
        program_annotate(at, "Optimizer.step#SGD.step", false);
        (void)program_alloc(at, 10, KIB(100), CODE_FORWARD);
        (void)program_alloc(at, KEPT + step, KEPT_BYTES, CODE_OTHER);
        (void)program_free(at, 10, KIB(100));
    }
    if (with_failure) {
        (void)program_push(at, PLIM_OOM, 0, KIB(1) << 20, CODE_OTHER);
        (void)program_free(at, KEPT, KEPT_BYTES); /* as the exception passes by */
    }
    (void)program_end(at);
    return made;
}

/* Rows of the blocks that are kept, from step `from` to `to`. */
static void write_blocks(char *text, size_t room, uint64_t from, uint64_t to, uint64_t bytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (uint64_t step = from; step < to; step++) {
        const int added = snprintf(text + length, room - length,
                                   "%s[%" PRIu64 ", %" PRIu64 ", \"[%" PRIu64 "]\"]",
                                   step > from ? ", " : "", (KEPT + step) << 40, bytes, step);
        T_TRUE(added > 0 && length + (size_t)added < room);
        length += (size_t)added;
    }
}

static void give(keeping *made, const char *moment, const char *holders)
{
    char text[8192];
    const int length = snprintf(text, sizeof text,
                                "{\"schema\": \"holders/1\", \"moment\": \"%s\", \"is_complete\": "
                                "true, \"holders\": [%s]}",
                                moment, holders);
    T_TRUE(length > 0 && (size_t)length < sizeof text);
    plim_error err = { 0 };
    T_TRUE(plim_holders_read_text(text, (size_t)length, NULL, &made->holders, &err) == PLIM_OK);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    const keeping *const made = ctx;
    const plim_diagnose_options options = { .mem = mem, .holders = made->holders };
    plim_diagnosis *diagnosis = NULL;
    const plim_status status = plim_diagnose(made->at.history, &options, &diagnosis, NULL);
    plim_diagnosis_destroy(diagnosis);
    return status == PLIM_OK;
}

static void diagnose(keeping *made)
{
    const plim_diagnose_options options = { .holders = made->holders };
    T_TRUE(plim_diagnose(made->at.history, &options, &made->diagnosis, NULL) == PLIM_OK);
    t_fail_each_allocation(attempt, made);
    plim_holders_destroy(made->holders); /* the diagnosis has copies of what it says */
    const plim_device_diagnosis *const device = plim_diagnosis_device(made->diagnosis, 0);
    T_EQ_STR(plim_verdict_name(device->verdict), "leak");
    made->leak = &device->findings[0];
}

static void end(keeping *made)
{
    plim_diagnosis_destroy(made->diagnosis);
    plim_history_destroy(made->at.history);
}

#define HOLDER(id, kind, rest) \
    "{\"id\": " #id ", \"kind\": \"" kind "\", \"device\": 0, " rest ", \"blocks\": [%s]}"
#define A_LIST                                                                                    \
    HOLDER(0, "local",                                                                            \
           "\"text\": \"list `outputs` in train (run.py:26)\", \"name\": \"outputs\", \"type\": " \
           "\"list\", \"file\": \"run.py\", \"line\": 26, \"function\": \"train\", \"path\": "    \
           "[\"local outputs\"]")

/* One holder of the steps from 0 to `to`. */
static keeping hold(const char *holder, uint64_t to, uint64_t bytes)
{
    char blocks[2048];
    char text[4096];
    keeping made = begin(false);
    write_blocks(blocks, sizeof blocks, 0, to, bytes);
    (void)snprintf(text, sizeof text, holder, blocks);
    give(&made, "dump", text);
    diagnose(&made);
    return made;
}

static void a_list_is_named_with_its_share_and_its_line(void)
{
    keeping made = hold(A_LIST, 8, KEPT_BYTES);
    const plim_diagnosis_finding *const leak = made.leak;
    T_EQ_U64(leak->holder_count, 1);
    const plim_finding_holder *const list = &leak->holders[0];
    T_EQ_STR(list->text, "list `outputs` in train (run.py:26)");
    T_EQ_STR(list->name, "outputs");
    T_EQ_STR(list->type, "list");
    T_EQ_U64(list->of_blocks, leak->members[0].count); /* of the last step nothing is known */
    T_EQ_U64(list->of_bytes, leak->bytes);
    T_EQ_U64(list->blocks, 8);
    T_EQ_U64(list->bytes, 8 * KEPT_BYTES);
    T_TRUE(leak->keeper_confidence >= 0.9);
    T_EQ_U64(plim_history_frame(made.at.history, leak->keeper.frame)->line, LINE_STORE);
    T_EQ_STR(leak->evidence[0].id, "holder");
    T_EQ_STR(leak->evidence[0].figures[0].word, list->text);
    T_EQ_STR(leak->evidence[1].id, "kept");
    for (size_t i = 2; i < leak->evidence_count; i++) {
        T_TRUE(strcmp(leak->evidence[i].id, "kept") != 0); /* the doubt of the stacks is gone */
    }
    T_EQ_STR(plim_cause_name(leak->cause), "outputs_kept");
    T_EQ_STR(leak->finding.id, "leak.outputs_kept");
    end(&made);
}

static void kinds_of_holders_prove_causes(void)
{
    static const struct {
        const char *holder;
        const char *cause;
    } cases[] = {
        { HOLDER(0, "traceback", "\"text\": \"traceback of ValueError\""), "traceback_kept" },
        { HOLDER(0, "garbage", "\"text\": \"garbage\""), "reference_cycle" },
        { HOLDER(0, "cache", "\"text\": \"cache of f\""), "growing_cache" },
        { HOLDER(0, "closure",
                 "\"text\": \"closure\", \"path\": [\"global model\", \"._forward_hooks[3]\"]"),
          "hook_kept" },
        { HOLDER(0, "local", "\"name\": \"x\", \"type\": \"Tensor\""), "kept" },
        { HOLDER(0, "attribute", "\"name\": \"self.seen\", \"type\": \"dict\""),
          "registry_by_step" },
        { HOLDER(0, "global", "\"name\": \"kv_cache\", \"type\": \"OrderedDict\""),
          "growing_cache" },
        { HOLDER(0, "graph", "\"text\": \"the autograd graph of `x`\""),
          "evaluation_with_grad" }, /* no backward pass ever comes */
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].cause);
        keeping made = hold(cases[i].holder, STEPS, KEPT_BYTES);
        T_EQ_STR(plim_cause_name(made.leak->cause), cases[i].cause);
        T_EQ_U64(made.leak->holder_count, 1);
        T_NOT_NULL(made.leak->holders[0].text);
        T_TRUE(strstr(plim_finding_cause_text(made.leak), "nothing says") == NULL);
        T_EQ_U64(made.leak->keeper.frame, PLIM_NONE);
        end(&made);
    }
}

/* A share that is too small to speak for the whole proves no cause. */
static void a_part_is_named_as_a_part(void)
{
    keeping made = hold(HOLDER(0, "traceback", "\"text\": \"traceback\""), 3, KEPT_BYTES);
    T_EQ_U64(made.leak->holder_count, 1);
    T_EQ_STR(plim_cause_name(made.leak->cause), "kept");
    T_TRUE(strncmp(made.leak->evidence[0].text, "in part", 7) == 0);
    T_TRUE(made.leak->keeper_confidence < 0.9);
    end(&made);
    made = hold(HOLDER(0, "traceback", "\"text\": \"traceback\""), 0, KEPT_BYTES);
    T_EQ_U64(made.leak->holder_count, 0);
    T_TRUE(strcmp(made.leak->evidence[0].id, "holder") != 0);
    end(&made);
}

static void what_does_not_match_is_not_used(void)
{
    static const uint64_t sizes[] = { KEPT_BYTES + 512, KEPT_BYTES - 512, 1 };
    for (size_t i = 0; i < T_COUNT(sizes); i++) {
        keeping made = hold(A_LIST, STEPS, sizes[i]);
        T_EQ_U64(made.leak->holder_count, 0);
        T_TRUE(made.leak->keeper_confidence == 0);
        T_EQ_STR(plim_finding_cause_text(made.leak), plim_cause_text(made.leak->cause));
        end(&made);
    }
    keeping made = hold(A_LIST, STEPS, 0); /* the document does not say how large */
    T_EQ_U64(made.leak->holder_count, 1);
    end(&made);
}

static void several_holders_come_largest_first(void)
{
    char first[1024];
    char second[1024];
    char text[4096];
    keeping made = begin(false);
    write_blocks(first, sizeof first, 0, 4, KEPT_BYTES);
    write_blocks(second, sizeof second, 4, STEPS, KEPT_BYTES);
    (void)snprintf(
        text, sizeof text,
        HOLDER(0, "global", "\"text\": \"a\"") ", " HOLDER(1, "cache", "\"text\": \"b\""), first,
        second);
    give(&made, "dump", text);
    diagnose(&made);
    T_EQ_U64(made.leak->holder_count, 2);
    T_EQ_STR(made.leak->holders[0].text, "b");
    T_TRUE(made.leak->holders[0].bytes > made.leak->holders[1].bytes);
    T_EQ_STR(made.leak->holders[1].text, "a");
    T_EQ_STR(plim_cause_name(made.leak->cause), "growing_cache");
    end(&made);
}

static void the_failure_is_the_moment(void)
{
    char blocks[2048];
    char text[4096];
    keeping made = begin(true);
    write_blocks(blocks, sizeof blocks, 0, STEPS, KEPT_BYTES);
    (void)snprintf(text, sizeof text, A_LIST, blocks);
    give(&made, "failure", text);
    diagnose(&made);
    T_EQ_U64(made.leak->holder_count, 1);
    T_EQ_U64(made.leak->holders[0].blocks, made.leak->holders[0].of_blocks);
    end(&made);
}

static void categories_come_from_holders(void)
{
    keeping made = begin(false);
    char text[256];
    (void)snprintf(
        text, sizeof text,
        "{\"id\": 0, \"kind\": \"optimizer_states\", \"device\": 0, \"blocks\": [[%" PRIu64
        ", %" PRIu64 ", \"exp_avg of w\"]]}",
        UINT64_C(1) << 40, KIB(400));
    give(&made, "dump", text);
    diagnose(&made);
    const plim_device_composition *const peak = &plim_diagnosis_device(made.diagnosis, 0)->peak;
    bool is_found = false;
    for (size_t i = 0; i < peak->sum_count; i++) {
        if (strcmp(peak->sums[i].name, "optimizer_state") == 0) {
            T_EQ_U64(peak->sums[i].bytes, KIB(400));
            T_EQ_STR(peak->sums[i].rule, "holders");
            is_found = true;
        }
    }
    T_TRUE(is_found);
    end(&made);
}

static const plim_category_sum *sum_of(const keeping *made, const char *name)
{
    const plim_device_composition *const peak = &plim_diagnosis_device(made->diagnosis, 0)->peak;
    for (size_t i = 0; i < peak->sum_count; i++) {
        if (strcmp(peak->sums[i].name, name) == 0) {
            return &peak->sums[i];
        }
    }
    return NULL;
}

/* The guess of the stacks is parameters; the document has all blocks, and none of a module. */
static void weights_that_no_module_has_are_not_parameters(void)
{
    static const char *const tensors[] = { "0", "5" }; /* of the document; it has no block */
    for (size_t i = 0; i < T_COUNT(tensors); i++) {
        char text[256];
        keeping made = begin(false);
        (void)snprintf(text, sizeof text,
                       "{\"id\": 0, \"kind\": \"local\", \"device\": 0, \"tensors\": %s, "
                       "\"blocks\": []}",
                       tensors[i]);
        give(&made, "dump", text);
        diagnose(&made);
        T_TRUE((sum_of(&made, "parameters") == NULL) == (i == 0));
        end(&made);
    }
}

/* No step is known, so that nothing grows: the search for holders alone shows why it ran out. */
static void garbage_that_covers_the_request_is_the_verdict(void)
{
    static const struct {
        uint64_t request_bytes;
        const char *verdict;
    } cases[] = { { KIB(64), "leak" }, { KIB(1) << 20, "unknown" } };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        char blocks[2048];
        char text[4096];
        T_CASE("%s", cases[i].verdict);
        keeping made = { 0 };
        program_begin(&made.at);
        for (uint64_t k = 0; k < STEPS; k++) {
            (void)program_alloc(&made.at, KEPT + k, KEPT_BYTES, CODE_BUILD);
        }
        (void)program_push(&made.at, PLIM_OOM, 0, cases[i].request_bytes, CODE_BUILD);
        (void)program_end(&made.at);
        write_blocks(blocks, sizeof blocks, 0, STEPS, KEPT_BYTES);
        (void)snprintf(text, sizeof text, HOLDER(0, "garbage", "\"text\": \"objects\""), blocks);
        give(&made, "failure", text);
        const plim_diagnose_options options = { .holders = made.holders };
        T_TRUE(plim_diagnose(made.at.history, &options, &made.diagnosis, NULL) == PLIM_OK);
        t_fail_each_allocation(attempt, &made);
        plim_holders_destroy(made.holders);
        const plim_device_diagnosis *const device = plim_diagnosis_device(made.diagnosis, 0);
        T_EQ_STR(plim_verdict_name(device->verdict), cases[i].verdict);
        const plim_diagnosis_finding *cycle = NULL;
        for (size_t k = 0; k < device->finding_count; k++) {
            if (device->findings[k].cause == PLIM_CAUSE_REFERENCE_CYCLE) {
                cycle = &device->findings[k];
            }
        }
        T_NOT_NULL(cycle);
        T_EQ_U64(cycle->bytes, STEPS * KEPT_BYTES);
        T_EQ_STR(cycle->evidence[0].id, "garbage");
        T_TRUE(sum_of(&made, "parameters") == NULL);
        end(&made);
    }
}

/* Nothing grows from step to step: the failure says which list was full, and where it was filled.
 */
static void the_largest_collection_is_named_at_a_failure(void)
{
    for (uint64_t held = 0; held <= STEPS; held += STEPS / 2) {
        char blocks[2048];
        char text[4096];
        T_CASE("%" PRIu64 " blocks", held);
        keeping made = { 0 };
        program_begin(&made.at);
        for (uint64_t k = 0; k < STEPS + 1; k++) {
            (void)program_alloc(&made.at, KEPT + k, LARGE_BYTES, CODE_BUILD);
        }
        (void)program_push(&made.at, PLIM_OOM, 0, LARGE_BYTES, CODE_BUILD);
        (void)program_end(&made.at);
        write_blocks(blocks, sizeof blocks, 0, held, LARGE_BYTES);
        (void)snprintf(text, sizeof text, A_LIST, blocks);
        give(&made, "failure", text);
        const plim_diagnose_options options = { .holders = made.holders,
                                                .capacity_bytes = (STEPS + 1) * LARGE_BYTES };
        T_TRUE(plim_diagnose(made.at.history, &options, &made.diagnosis, NULL) == PLIM_OK);
        t_fail_each_allocation(attempt, &made);
        plim_holders_destroy(made.holders);
        const plim_device_diagnosis *const device = plim_diagnosis_device(made.diagnosis, 0);
        T_EQ_STR(plim_verdict_name(device->verdict), "exhausted");
        const plim_evidence_line *line = NULL;
        for (size_t k = 0; k < device->findings[0].evidence_count; k++) {
            if (strcmp(device->findings[0].evidence[k].id, "largest_holder") == 0) {
                line = &device->findings[0].evidence[k];
            }
        }
        T_TRUE((line != NULL) == (held == STEPS)); /* half of them is less than half of all */
        if (line != NULL) {
            T_TRUE(line->figures[0].value == (double)(held * LARGE_BYTES));
            T_EQ_STR(line->figures[1].word, "list `outputs` in train (run.py:26)");
            T_EQ_U64(line->figure_count, 3);
        }
        end(&made);
    }
}

T_MAIN(T_TEST(the_largest_collection_is_named_at_a_failure),
       T_TEST(garbage_that_covers_the_request_is_the_verdict),
       T_TEST(a_list_is_named_with_its_share_and_its_line), T_TEST(kinds_of_holders_prove_causes),
       T_TEST(a_part_is_named_as_a_part), T_TEST(what_does_not_match_is_not_used),
       T_TEST(several_holders_come_largest_first), T_TEST(the_failure_is_the_moment),
       T_TEST(categories_come_from_holders), T_TEST(weights_that_no_module_has_are_not_parameters))
