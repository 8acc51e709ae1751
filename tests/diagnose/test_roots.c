/*
 * test_roots.c - which line holds what leaks, and why; memory that is held in vain.
 */
#include "phases/program.h"
#include "plimsoll/diagnose.h"

#define KIB(n) ((uint64_t)(n) << 10)
#define STEPS  12
#define NAMES  100 /* of each step's own */

/* Lines of the program. */
enum {
    LINE_INPUT = 20,
    LINE_MODEL = 21,
    LINE_SIDE = 22,
    LINE_LOSS = 23,
    LINE_BACKWARD = 24,
    LINE_OPTIMIZER = 25,
    LINE_STORE = 26,
    LINE_LAYER = 5, /* in the model's forward() */
    LINE_HEAD = 6,
};

typedef struct roots {
    program at;
    uint32_t input, model, side, loss, backward, optimizer, store, layer, head;
    plim_diagnosis *diagnosis;
    const plim_device_diagnosis *device;
} roots;

static uint32_t stack_of(program *at, const uint32_t *frames, size_t count)
{
    uint32_t stack = 0;
    T_TRUE(plim_history_add_stack(at->history, frames, count, &stack, NULL) == PLIM_OK);
    return stack;
}

static uint32_t at_line(program *at, uint32_t line)
{
    const uint32_t frames[] = { program_frame(at, "/home/u/run.py", "train", line),
                                program_frame(at, "/home/u/run.py", "<module>", 99) };
    return stack_of(at, frames, 2);
}

/* Called by `line` of train(), in a file of PyTorch's. */
static uint32_t in_torch(program *at, const char *file, const char *name, uint32_t line)
{
    const uint32_t frames[] = { program_frame(at, file, name, 1),
                                program_frame(at, "/home/u/run.py", "train", line),
                                program_frame(at, "/home/u/run.py", "<module>", 99) };
    return stack_of(at, frames, 3);
}

/* A linear layer, called by `line` of the model's forward(), which train() calls. */
static uint32_t in_model(program *at, uint32_t line)
{
    const uint32_t frames[] = {
        program_frame(at, TORCH "nn/modules/linear.py", "forward", 1),
        program_frame(at, TORCH "nn/modules/module.py", "_call_impl", 1),
        program_frame(at, "/home/u/net.py", "forward", line),
        program_frame(at, TORCH "nn/modules/module.py", "_call_impl", 1),
        program_frame(at, "/home/u/run.py", "train", LINE_MODEL),
        program_frame(at, "/home/u/run.py", "<module>", 99),
    };
    return stack_of(at, frames, 6);
}

static roots begin(void)
{
    roots made = { 0 };
    program *const at = &made.at;
    program_begin(at);
    made.input = at_line(at, LINE_INPUT);
    made.side = at_line(at, LINE_SIDE);
    made.loss = at_line(at, LINE_LOSS);
    made.store = at_line(at, LINE_STORE);
    made.backward = in_torch(at, TORCH "_tensor.py", "backward", LINE_BACKWARD);
    made.optimizer = in_torch(at, TORCH "optim/adamw.py", "_init_group", LINE_OPTIMIZER);
    made.layer = in_model(at, LINE_LAYER);
    made.head = in_model(at, LINE_HEAD);
    (void)program_alloc(at, 1, KIB(400), CODE_BUILD);
    return made;
}

/* Requests memory with a stack of this program's own. */
static void request(roots *made, uint64_t name, uint64_t bytes, uint32_t stack)
{
    made->at.stacks[CODE_OTHER] = stack;
    (void)program_alloc(&made->at, name, bytes, CODE_OTHER);
}

static void drop(roots *made, uint64_t name, uint64_t bytes)
{
    (void)program_free(&made->at, name, bytes);
}

static void optimize(roots *made)
{
    program_annotate(&made->at, "Optimizer.step#SGD.step", true);
    (void)program_alloc(&made->at, 3, KIB(1), CODE_OPTIMIZER);
    drop(made, 3, KIB(1));
    program_annotate(&made->at, "Optimizer.step#SGD.step", false);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    const plim_diagnose_options options = { .mem = mem };
    plim_diagnosis *diagnosis = NULL;
    const plim_status status = plim_diagnose(ctx, &options, &diagnosis, NULL);
    plim_diagnosis_destroy(diagnosis);
    return status == PLIM_OK;
}

static void diagnose(roots *made)
{
    (void)program_end(&made->at);
    T_TRUE(plim_diagnose(made->at.history, NULL, &made->diagnosis, NULL) == PLIM_OK);
    made->device = plim_diagnosis_device(made->diagnosis, 0);
    t_fail_each_allocation(attempt, made->at.history);
}

static void end(roots *made)
{
    plim_diagnosis_destroy(made->diagnosis);
    plim_history_destroy(made->at.history);
}

static const plim_diagnosis_finding *find(const roots *made, const char *cause)
{
    for (size_t i = 0; i < made->device->finding_count; i++) {
        if (strcmp(plim_cause_name(made->device->findings[i].cause), cause) == 0) {
            return &made->device->findings[i];
        }
    }
    return NULL;
}

/* The root is this line, and each {} of the evidence has its figure. */
static void check_finding(const roots *made, const plim_diagnosis_finding *finding, uint32_t line)
{
    T_NOT_NULL(finding);
    T_TRUE(finding->root.frame != PLIM_NONE);
    T_EQ_U64(plim_history_frame(made->at.history, finding->root.frame)->line, line);
    T_TRUE(finding->evidence_count > 0);
    T_TRUE(finding->member_count > 0 || finding->kind != PLIM_VERDICT_LEAK);
}

static void check_leak(roots *made, const char *cause, uint32_t line)
{
    diagnose(made);
    T_EQ_STR(plim_verdict_name(made->device->verdict), "leak");
    const plim_diagnosis_finding *const leak = &made->device->findings[0];
    T_EQ_STR(plim_cause_name(leak->cause), cause);
    check_finding(made, leak, line);
    end(made);
}

/* Diagnoses a program that does not leak. */
static void check_waste(roots *made, const char *cause, uint32_t line)
{
    diagnose(made);
    T_EQ_STR(plim_verdict_name(made->device->verdict), "healthy");
    const plim_diagnosis_finding *const waste = find(made, cause);
    T_NOT_NULL(waste);
    T_FALSE(waste->decides);
    T_EQ_STR(plim_severity_name(waste->finding.severity), "warning");
    check_finding(made, waste, line);
    end(made);
}

/* --- what a step may do --- */

/* Two layers, of which backward frees what it saved; `name` + 0 and + 1. */
static void forward(roots *made, uint64_t name)
{
    request(made, name, KIB(100), made->layer);
    request(made, name + 1, KIB(40), made->head);
}

static void backward(roots *made, uint64_t name)
{
    request(made, name + 8, 4, made->backward);
    (void)program_alloc(&made->at, name + 9, KIB(400), CODE_NOBODY);
    drop(made, name + 8, 4);
}

/* --- graphs --- */

static void side_loss_that_is_kept(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(10), made.input);
        forward(&made, name);
        request(&made, name + 21, KIB(40), made.side); /* what the side loss saves: it stays */
        request(&made, name + 22, KIB(40), made.side);
        request(&made, name + 23, 4, made.side); /* its number */
        drop(&made, name + 22, KIB(40));
        if (step > 0) {
            drop(&made, name - NAMES + 23, 4);
        }
        backward(&made, name);
        drop(&made, name, KIB(100));
        drop(&made, name + 1, KIB(40));
        optimize(&made);
        drop(&made, name + 9, KIB(400));
        drop(&made, name + 20, KIB(10));
    }
    check_leak(&made, "loss_kept", LINE_SIDE);
}

/* The same without a number at its end: a result that is kept with its history. */
static void side_result_is_no_loss(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(10), made.input);
        forward(&made, name);
        request(&made, name + 21, KIB(40), made.side); /* stays, on the way to */
        request(&made, name + 22, KIB(41), made.side); /* what stays */
        request(&made, name + 23, KIB(2), made.loss);
        backward(&made, name);
        drop(&made, name + 23, KIB(2));
        drop(&made, name, KIB(100));
        drop(&made, name + 1, KIB(40));
        optimize(&made);
        drop(&made, name + 9, KIB(400));
        drop(&made, name + 20, KIB(10));
    }
    diagnose(&made);
    T_EQ_STR(plim_verdict_name(made.device->verdict), "leak");
    T_NULL(find(&made, "loss_kept"));
    check_finding(&made, &made.device->findings[0], LINE_SIDE);
    end(&made);
}

/* Steps whose forward pass stays though a backward pass follows; what the loss makes of it goes
 * with the next step, or at once. */
static roots keep_forward(bool is_carried)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(10), made.input);
        forward(&made, name); /* all of it stays, */
        request(&made, name + 22, KIB(40), made.loss);
        request(&made, name + 23, 4, made.loss);
        if (!is_carried) {
            drop(&made, name + 22, KIB(40));
        } else if (step > 0) { /* but for what the last loss saved */
            drop(&made, name - NAMES + 22, KIB(40));
        }
        if (step > 0) {
            drop(&made, name - NAMES + 23, 4);
        }
        backward(&made, name);
        optimize(&made);
        drop(&made, name + 9, KIB(400));
        drop(&made, name + 20, KIB(10));
    }
    return made;
}

static void state_with_its_history(void)
{
    roots made = keep_forward(true);
    check_leak(&made, "hidden_state_kept", LINE_MODEL);
}

/* A hook that keeps what autograd saves does the same, and of the number nothing stays. */
static void saved_tensors_are_no_state(void)
{
    roots made = keep_forward(false);
    check_leak(&made, "kept", LINE_LOSS);
}

/* Trains; after each `period` of steps a forward pass without backward keeps what it makes. */
static roots train_and_look(uint64_t period)
{
    roots made = begin();
    for (uint64_t step = 0; step < 3 * STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(10), made.input);
        forward(&made, name);
        backward(&made, name);
        drop(&made, name, KIB(100));
        drop(&made, name + 1, KIB(40));
        optimize(&made);
        drop(&made, name + 9, KIB(400));
        drop(&made, name + 20, KIB(10));
        for (uint64_t i = 0; step % period == 0 && i < 6; i++) {
            request(&made, name + 30 + i, KIB(50), made.layer);
        }
        if (step % period == 0) {
            request(&made, name + 40, KIB(50), made.head);
        }
    }
    return made;
}

static void stretch_among_training_is_evaluation(void)
{
    roots made = train_and_look(4);
    check_leak(&made, "evaluation_with_grad", LINE_MODEL);
}

static void second_forward_of_each_step_is_no_evaluation(void)
{
    roots made = train_and_look(1);
    check_leak(&made, "kept", LINE_MODEL);
}

static void evaluation_that_keeps_graphs(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        program_annotate(&made.at, "train_step", true);
        request(&made, name + 20, KIB(10), made.input);
        for (uint64_t i = 0; i < 5; i++) {
            request(&made, name + i, KIB(50), made.layer);
        }
        request(&made, name + 5, KIB(40), made.head);
        drop(&made, name + 20, KIB(10));
        program_annotate(&made.at, "train_step", false);
    }
    check_leak(&made, "evaluation_with_grad", LINE_MODEL);
}

/* --- results --- */

/* Inference: `kept` is 0 for the inner layer's result, 1 for the model's. */
static roots infer(uint64_t kept)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        program_annotate(&made.at, "train_step", true);
        request(&made, name + 20, KIB(10), made.input);
        request(&made, name, KIB(100), made.layer);
        request(&made, name + 1, KIB(40), made.head);
        drop(&made, name + 20, KIB(10));
        if (kept == 1) {
            drop(&made, name, KIB(100));
        }
        request(&made, name + 24, KIB(1), made.store);
        if (kept == 0) {
            drop(&made, name + 1, KIB(40));
        }
        drop(&made, name + 24, KIB(1));
        program_annotate(&made.at, "train_step", false);
    }
    return made;
}

static void result_of_the_model_is_its_callers(void)
{
    roots made = infer(1);
    check_leak(&made, "outputs_kept", LINE_MODEL);
}

static void result_of_a_layer_is_the_models(void)
{
    roots made = infer(0);
    check_leak(&made, "hook_kept", LINE_LAYER);
}

static void small_tensors_are_numbers(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(10), made.input);
        forward(&made, name);
        request(&made, name + 23, 4, made.loss);
        backward(&made, name);
        drop(&made, name, KIB(100));
        drop(&made, name + 1, KIB(40));
        optimize(&made);
        drop(&made, name + 9, KIB(400));
        drop(&made, name + 20, KIB(10));
    }
    check_leak(&made, "logged_tensors", LINE_LOSS);
}

static void batches_that_stay(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(10), made.input);
        forward(&made, name);
        backward(&made, name);
        drop(&made, name, KIB(100));
        drop(&made, name + 1, KIB(40));
        optimize(&made);
        drop(&made, name + 9, KIB(400));
    }
    diagnose(&made);
    T_EQ_STR(plim_verdict_name(made.device->verdict), "leak");
    check_finding(&made, &made.device->findings[0], LINE_INPUT);
    end(&made);
}

static void states_made_again(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < 2 * STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(10), made.input);
        forward(&made, name);
        backward(&made, name);
        drop(&made, name, KIB(100));
        drop(&made, name + 1, KIB(40));
        program_annotate(&made.at, "Optimizer.step#AdamW.step", true);
        if (step % 3 == 0) {
            request(&made, name + 30, KIB(400), made.optimizer);
            request(&made, name + 31, KIB(400), made.optimizer);
        }
        program_annotate(&made.at, "Optimizer.step#AdamW.step", false);
        drop(&made, name + 9, KIB(400));
        drop(&made, name + 20, KIB(10));
    }
    check_leak(&made, "optimizer_recreated", LINE_OPTIMIZER);
}

/* Layers of other sizes get their states one after the other: none is made again. */
static void states_made_late(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < 2 * STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(10), made.input);
        forward(&made, name);
        backward(&made, name);
        drop(&made, name, KIB(100));
        drop(&made, name + 1, KIB(40));
        program_annotate(&made.at, "Optimizer.step#AdamW.step", true);
        request(&made, name + 30, KIB(400) + step * KIB(4), made.optimizer);
        program_annotate(&made.at, "Optimizer.step#AdamW.step", false);
        drop(&made, name + 9, KIB(400));
        drop(&made, name + 20, KIB(10));
    }
    diagnose(&made);
    T_NULL(find(&made, "optimizer_recreated"));
    end(&made);
}

/* An optimizer's step calls a closure, which keeps what it makes. */
static void closure_of_an_optimizer(void)
{
    roots made = begin();
    const uint32_t frames[] = {
        program_frame(&made.at, "/home/u/run.py", "closure", LINE_STORE),
        program_frame(&made.at, TORCH "optim/lbfgs.py", "step", 1),
        program_frame(&made.at, TORCH "optim/optimizer.py", "wrapper", 1),
        program_frame(&made.at, "/home/u/run.py", "train", LINE_OPTIMIZER),
    };
    const uint32_t closure = stack_of(&made.at, frames, 4);
    for (uint64_t step = 0; step < 2 * STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        program_annotate(&made.at, "train_step", true);
        request(&made, name + 20, KIB(10), made.input);
        forward(&made, name);
        request(&made, name + 30, KIB(60), closure);
        backward(&made, name);
        drop(&made, name, KIB(100));
        drop(&made, name + 1, KIB(40));
        drop(&made, name + 9, KIB(400));
        drop(&made, name + 20, KIB(10));
        program_annotate(&made.at, "train_step", false);
    }
    check_leak(&made, "kept", LINE_STORE);
}

/* A batch, the result of a layer and that of the model: variables of a frame, or a list. */
static void batches_and_results_are_no_traceback(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        program_annotate(&made.at, "train_step", true);
        request(&made, name + 20, KIB(10), made.input);
        request(&made, name + 1, KIB(40), made.head);
        request(&made, name + 24, KIB(1), made.store);
        drop(&made, name + 24, KIB(1));
        program_annotate(&made.at, "train_step", false);
    }
    diagnose(&made);
    T_EQ_STR(plim_verdict_name(made.device->verdict), "leak");
    T_NULL(find(&made, "traceback_kept"));
    T_NULL(find(&made, "evaluation_with_grad"));
    end(&made);
}

static void tensor_that_is_concatenated_to(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < 2 * STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        program_annotate(&made.at, "train_step", true);
        request(&made, name + 20, KIB(10), made.input);
        request(&made, name, KIB(100), made.layer);
        request(&made, name + 25, KIB(20) * (step + 1), made.store);
        if (step > 0) {
            drop(&made, name - NAMES + 25, KIB(20) * step);
        }
        drop(&made, name, KIB(100));
        drop(&made, name + 20, KIB(10));
        program_annotate(&made.at, "train_step", false);
    }
    check_leak(&made, "growing_cache", LINE_STORE);
}

/* --- waste --- */

static void train_step(roots *made, uint64_t name, bool makes_gradients, bool frees_gradients)
{
    forward(made, name);
    request(made, name + 8, 4, made->backward);
    if (makes_gradients) {
        (void)program_alloc(&made->at, name + 9, KIB(400), CODE_NOBODY);
    } else {
        (void)program_alloc(&made->at, name + 10, KIB(30), CODE_NOBODY);
        drop(made, name + 10, KIB(30));
    }
    drop(made, name + 8, 4);
    drop(made, name, KIB(100));
    drop(made, name + 1, KIB(40));
    optimize(made);
    if (frees_gradients) {
        drop(made, name + 9, KIB(400));
    }
}

static void gradients_that_no_step_frees(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(10), made.input);
        train_step(&made, name, step == 0, false);
        drop(&made, name + 20, KIB(10));
    }
    check_waste(&made, "gradients_kept", LINE_BACKWARD);
}

static void batches_that_wait(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        request(&made, (step + 1) * NAMES + 20, KIB(50), made.input);
    }
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        train_step(&made, name, true, true);
        drop(&made, name + 20, KIB(50));
    }
    check_waste(&made, "batches_ahead", LINE_INPUT);
}

/* Every fourth step frees what the steps before it left, in their order or the other way round. */
static roots free_in_mass(bool in_order)
{
    roots made = begin();
    for (uint64_t step = 0; step < 2 * STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(50), made.input);
        train_step(&made, name, true, true);
        for (uint64_t i = 0; step % 4 == 3 && i < 4; i++) {
            const uint64_t back = in_order ? 3 - i : i;
            drop(&made, name - back * NAMES + 20, KIB(50));
        }
    }
    return made;
}

static void tensors_of_many_steps_freed_in_order(void)
{
    roots made = free_in_mass(true);
    check_waste(&made, "reference_cycle", LINE_INPUT);
}

static void list_that_is_dropped_is_no_cycle(void)
{
    roots made = free_in_mass(false);
    diagnose(&made);
    T_EQ_STR(plim_verdict_name(made.device->verdict), "healthy");
    T_NULL(find(&made, "reference_cycle"));
    end(&made);
}

static void healthy_training_wastes_nothing(void)
{
    roots made = begin();
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t name = (step + 1) * NAMES;
        request(&made, name + 20, KIB(50), made.input);
        train_step(&made, name, true, true);
        drop(&made, name + 20, KIB(50));
    }
    diagnose(&made);
    T_NULL(find(&made, "gradients_kept"));
    T_NULL(find(&made, "batches_ahead"));
    T_NULL(find(&made, "reference_cycle"));
    end(&made);
}

T_MAIN(T_TEST(side_loss_that_is_kept), T_TEST(side_result_is_no_loss),
       T_TEST(state_with_its_history), T_TEST(saved_tensors_are_no_state),
       T_TEST(stretch_among_training_is_evaluation),
       T_TEST(second_forward_of_each_step_is_no_evaluation), T_TEST(states_made_late),
       T_TEST(closure_of_an_optimizer), T_TEST(batches_and_results_are_no_traceback),
       T_TEST(evaluation_that_keeps_graphs), T_TEST(result_of_the_model_is_its_callers),
       T_TEST(result_of_a_layer_is_the_models), T_TEST(small_tensors_are_numbers),
       T_TEST(batches_that_stay), T_TEST(states_made_again), T_TEST(tensor_that_is_concatenated_to),
       T_TEST(gradients_that_no_step_frees), T_TEST(batches_that_wait),
       T_TEST(tensors_of_many_steps_freed_in_order), T_TEST(list_that_is_dropped_is_no_cycle),
       T_TEST(healthy_training_wastes_nothing))
