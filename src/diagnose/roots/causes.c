/*
 * causes.c - see causes.h.
 */
#include "diagnose/roots/causes.h"

#include "base/assert.h"
#include "base/numbers.h"

/* The share of the bytes that a kind of memory must have to speak for all of it. */
#define MOST_SHARE 0.5
/* Likewise where the rest would speak against it. */
#define NEARLY_ALL_SHARE 0.9
/* Of what is kept, so much must be what only a graph holds. */
#define GRAPH_SHARE 0.05
/* Of one forward pass so many tensors must stay, and such a share of all that it makes: of keys and
 * values each layer keeps two of the eight or more tensors that it makes, of a graph without
 * anything but linear layers and activation functions every other one. */
#define GRAPH_TENSORS_MIN   5
#define GRAPH_SHARE_OF_PASS 0.4
/* Among the backward passes of training, a stretch without any stands apart where so many run from
 * one to the next. One is what a second forward pass in each step has. */
#define STRETCH_MIN 2
/* Allocations of a stack that must agree on which line speaks for them. */
#define EXAMPLES 4

/* Sums over the stacks of a leak. */
typedef struct kept_sums {
    uint64_t optimizer;
    uint64_t backward;
    uint64_t forward;
    uint64_t program; /* the user's own code, outside of modules */
    uint64_t inputs;
    uint64_t gradients;
    uint64_t in_pool;
    uint64_t unnamed;     /* bytes of what the user's statements make on the way to a result */
    size_t unnamed_count; /* stacks */
    size_t hidden_count;  /* stacks of what modules make in calls that do not end with it */
    uint64_t returned;    /* bytes that calls of modules return in the middle of a statement */
    size_t returned_count;
    size_t inner_lines; /* stacks inside of modules that keep what they make */
    size_t on_the_way;  /* stacks of what no call of the whole model, or no statement, ends with */
    uint64_t stored;    /* likewise, bytes of what they return there */
    uint64_t largest;
} kept_sums;

static bool is_backward(const plim_root_question *asked, const plim_kept_stack *row)
{
    return row->kind == PLIM_STACK_BACKWARD || row->kind == PLIM_STACK_BUCKETS ||
           (row->kind == PLIM_STACK_NONE && asked->one->passes.has_stacks);
}

/* An optimizer's step may call the program's own code (a closure): only what is known to make
 * states counts. */
static bool is_optimizer(const plim_kept_stack *row)
{
    return row->kind == PLIM_STACK_OPTIMIZER_SETUP || row->kind == PLIM_STACK_OPTIMIZER_STATE;
}

/* True of most that were looked at. */
static bool is_mostly(uint64_t count, const plim_kept_stack *row)
{
    return row->sampled > 0 && 2 * count > row->sampled;
}

static void add_computed(const plim_root_question *asked, const plim_kept_stack *row,
                         kept_sums *sums)
{
    const uint32_t level = row->line;
    const bool is_inside = plim_line_outside_module(asked->one, row->stack, level) != PLIM_NONE;
    const bool is_result = is_mostly(row->results, row);
    const bool is_returned = is_mostly(row->returned, row);
    if (row->sampled == 0 || is_mostly(row->outputs, row)) {
        return;
    }
    sums->on_the_way += !is_result || is_inside;
    if (!is_result && is_returned) {
        sums->returned += row->bytes;
        sums->returned_count++;
    } else if (!is_result && plim_line_module_call(asked->one, row->stack, level) != PLIM_NONE) {
        sums->hidden_count++;
    } else if (!is_result && 2 * row->inputs <= row->count && row->open > 0 &&
               2 * row->open >= asked->kept->sampled_rounds) {
        sums->unnamed += row->bytes;
        sums->unnamed_count++;
    } else if (is_inside) {
        sums->inner_lines++;
        sums->stored += is_returned ? row->bytes : 0;
    }
}

static kept_sums add_up(const plim_root_question *asked)
{
    kept_sums sums = { 0 };
    for (size_t i = 0; i < asked->kept->stack_count; i++) {
        const plim_kept_stack *const row = &asked->kept->stacks[i];
        sums.inputs +=
            row->count > 0
                ? plim_whole((double)row->bytes * (double)row->inputs / (double)row->count)
                : 0;
        sums.gradients +=
            row->count > 0
                ? plim_whole((double)row->bytes * (double)row->graded / (double)row->count)
                : 0;
        sums.in_pool += row->in_pool;
        sums.largest = row->largest > sums.largest ? row->largest : sums.largest;
        if (is_optimizer(row)) {
            sums.optimizer += row->bytes;
        } else if (is_backward(asked, row)) {
            sums.backward += row->bytes;
        } else if (row->kind == PLIM_STACK_FORWARD) {
            sums.forward += row->bytes;
            add_computed(asked, row, &sums);
        } else if (row->kind == PLIM_STACK_USER) {
            sums.program += row->bytes;
            add_computed(asked, row, &sums);
        }
    }
    return sums;
}

static bool is_share(const plim_root_question *asked, uint64_t bytes, double share)
{
    return (double)bytes >= share * (double)asked->kept->bytes && bytes > 0;
}

/* --- roots --- */

/* The stack with most bytes among those that `want` (NULL: all); the later one of two alike. */
static const plim_kept_stack *largest_stack(const plim_root_question *asked,
                                            bool (*want)(const plim_kept_stack *row))
{
    const plim_kept_stack *largest = NULL;
    for (size_t i = 0; i < asked->kept->stack_count; i++) {
        const plim_kept_stack *const row = &asked->kept->stacks[i];
        if ((want == NULL || want(row)) && (largest == NULL || row->bytes >= largest->bytes)) {
            largest = row;
        }
    }
    return largest;
}

static bool are_results(const plim_root_question *asked, const plim_allocation *made, size_t count,
                        uint32_t level)
{
    for (size_t i = 0; i < count; i++) {
        if (made[i].born < 0 || !plim_is_result(asked->one, &made[i], level, asked->look)) {
            return false;
        }
    }
    return true;
}

/* The line for what one stack made: that of the call of a module where its result is kept, else
 * the one that makes it. */
static plim_code_place line_for(const plim_root_question *asked, const plim_allocation *made,
                                size_t count)
{
    const uint32_t stack = made[0].stack;
    uint32_t level = plim_line_innermost(asked->one, stack);
    for (;;) {
        const uint32_t next = plim_line_outside_module(asked->one, stack, level);
        if (next == PLIM_NONE || !are_results(asked, made, count, next)) {
            break;
        }
        level = next;
    }
    return plim_line_place(asked->one, stack, level);
}

/* Allocations of a stack, late ones first, at most EXAMPLES of them; none of the last round, which
 * may be torn, if there are others. */
static size_t find_examples(const plim_root_question *asked, const plim_kept_stack *row,
                            plim_allocation examples[EXAMPLES])
{
    const plim_leak_content *const kept = asked->kept;
    const size_t wanted = (size_t)(row - kept->stacks);
    const size_t ends[] = { kept->round_count > 1 ? kept->round_ends[kept->round_count - 2] : 0,
                            asked->leak->id_count };
    size_t count = 0;
    for (size_t try = 0; try < 2 && count == 0; try++) {
        for (size_t i = ends[try]; i > 0 && count < EXAMPLES; i--) {
            if (kept->stack_of[i - 1] == wanted) {
                examples[count++] = plim_kept_allocation(asked->one, asked->leak, i - 1);
            }
        }
    }
    return count;
}

static plim_allocation example_of(const plim_root_question *asked, const plim_kept_stack *row)
{
    plim_allocation examples[EXAMPLES] = { 0 };
    (void)find_examples(asked, row, examples);
    return examples[0];
}

static void set_root(const plim_root_question *asked, const plim_kept_stack *row)
{
    plim_allocation examples[EXAMPLES] = { 0 };
    const size_t count = find_examples(asked, row, examples);
    asked->finding->root = line_for(asked, examples, count);
}

void plim_root_largest(const plim_root_question *asked)
{
    set_root(asked, largest_stack(asked, NULL));
}

plim_code_place plim_backward_place(plim_case *one, uint64_t event)
{
    const plim_pass *const passes = one->passes.list.items;
    size_t pass = plim_pass_of(one, event);
    while (pass > 0 && (passes[pass - 1].kind == PLIM_PASS_BACKWARD ||
                        passes[pass - 1].kind == PLIM_PASS_RECOMPUTE)) {
        pass--;
    }
    const plim_events *const events = &one->device->events;
    for (uint64_t i = passes[pass].first; i < events->count && i < passes[pass].backward_end; i++) {
        const uint32_t stack = events->stack[i];
        if (events->action[i] == PLIM_ALLOC &&
            plim_stack_kind_of(&one->passes.stacks, stack) == PLIM_STACK_BACKWARD &&
            plim_group_user_frame(&one->view.grouper, stack) != PLIM_NONE) {
            return plim_case_place(one, stack);
        }
    }
    return (plim_code_place){ .stack = PLIM_NONE, .frame = PLIM_NONE };
}

/* --- sentences --- */

static bool say(const plim_root_question *asked, const char *id, const char *text,
                const plim_evidence_figure *figures, size_t count)
{
    plim_evidence_line line = { .id = id, .text = text, .figure_count = count };
    for (size_t i = 0; i < count; i++) {
        line.figures[i] = figures[i];
    }
    return plim_case_say(asked->one, asked->finding, &line);
}

/* The line of the root as a last figure, where it is known: `with_line` has a {} more. */
static bool say_at(const plim_root_question *asked, const char *id, const char *with_line,
                   const char *without, const plim_evidence_figure *figures, size_t count)
{
    const uint32_t frame = asked->finding->root.frame;
    plim_evidence_line line = { .id = id, .text = without, .figure_count = count };
    for (size_t i = 0; i < count; i++) {
        line.figures[i] = figures[i];
    }
    if (frame != PLIM_NONE) {
        line.text = with_line;
        line.figures[line.figure_count++] = plim_say_frame("root_line", frame);
    }
    return plim_case_say(asked->one, asked->finding, &line);
}

static bool name_cause(const plim_root_question *asked, plim_cause cause, double confidence)
{
    if (asked->finding->confidence <= 0) {
        asked->finding->confidence = confidence;
    }
    return plim_case_name_cause(asked->one, asked->finding, cause);
}

/* --- causes --- */

/* The holder of a graph: the number that it ends in, else the last that its forward pass keeps. */
static plim_allocation find_holder(const plim_root_question *asked, bool *ret_is_scalar)
{
    const plim_leak_content *const kept = asked->kept;
    const size_t round = kept->round_count > 1 ? kept->round_count - 2 : 0;
    /* Of the sampled rounds the last complete one; its last is taken if most rounds end so. */
    const plim_kept_stack *most = &kept->stacks[kept->stack_of[kept->last_of[round]]];
    for (size_t i = 0; i < kept->stack_count; i++) {
        if (kept->stacks[i].last > most->last) {
            most = &kept->stacks[i];
        }
    }
    plim_allocation holder = plim_kept_allocation(asked->one, asked->leak, kept->last_of[round]);
    if (most != &kept->stacks[kept->stack_of[kept->last_of[round]]]) {
        holder = example_of(asked, most);
    }
    plim_allocation scalar;
    *ret_is_scalar = holder.requested_bytes <= PLIM_SCALAR_BYTES;
    if (!*ret_is_scalar && plim_find_scalar(asked->one, &holder, asked->look, &scalar)) {
        *ret_is_scalar = true;
        holder = scalar;
    }
    return holder;
}

/* The sentence on the backward passes that follow. */
static const plim_evidence_line *after_forward(const plim_root_question *asked, plim_cause cause)
{
    static const plim_evidence_line released = {
        .id = "released",
        .text = "A backward pass follows and frees other activations of the same forward pass: "
                "these belong to a result from which none was run."
    };
    static const plim_evidence_line carried = {
        .id = "not_released",
        .text = "A backward pass follows, and frees no activation of this forward pass: the graph "
                "outlives it, as with retain_graph=True. What is made of the last of it goes with "
                "the next step: a state that is carried on has such a history, and a list of "
                "results would look alike."
    };
    static const plim_evidence_line not_released = {
        .id = "not_released",
        .text = "A backward pass follows, and frees no activation of this forward pass: the graph "
                "outlives it, or a hook keeps what autograd saves."
    };
    static const plim_evidence_line passed_by = {
        .id = "passed_by",
        .text = "The backward pass that follows frees only what is made later: none was run "
                "through these, or something else keeps them as well."
    };
    static const plim_evidence_line never = {
        .id = "no_backward",
        .text = "No backward pass follows that frees any of it: a history is recorded in vain, or "
                "the program keeps each of these itself."
    };
    static const plim_evidence_line partly = {
        .id = "no_backward",
        .text = "No backward pass follows that frees any of it. Much of the forward pass is not "
                "kept: a history, a hook, a table or a closure may be what keeps the rest."
    };
    const plim_leak_content *const kept = asked->kept;
    if (kept->rounds_released > 0) {
        return &released;
    }
    if (kept->rounds_with_backward > kept->rounds_passed_by) {
        return cause == PLIM_CAUSE_HIDDEN_STATE_KEPT ? &carried : &not_released;
    }
    if (cause == PLIM_CAUSE_KEPT) {
        return kept->rounds_passed_by > 0 ? &passed_by : &partly;
    }
    return &never;
}

/* Of a graph that ends in a number, or not. */
static plim_cause name_graph(const plim_root_question *asked, const plim_allocation *holder,
                             bool is_scalar)
{
    const plim_leak_content *const kept = asked->kept;
    const bool has_backward = kept->rounds_with_backward > kept->rounds_passed_by;
    if (has_backward && kept->rounds_released == 0) {
        /* Retained, or kept as it is saved: it may end in a number of which nothing stays. */
        return is_scalar && holder->freed == PLIM_NEVER          ? PLIM_CAUSE_LOSS_KEPT
               : 2 * kept->rounds_carried > kept->sampled_rounds ? PLIM_CAUSE_HIDDEN_STATE_KEPT
                                                                 : PLIM_CAUSE_KEPT;
    }
    if (is_scalar && asked->one->passes.has_backward) {
        return PLIM_CAUSE_LOSS_KEPT;
    }
    if (has_backward) {
        return PLIM_CAUSE_KEPT; /* a result with its history, which is no number */
    }
    const bool is_deep = kept->computed_kept >= GRAPH_TENSORS_MIN * kept->sampled_rounds;
    /* A stretch without backward passes stands among them: each training step has one. */
    const bool is_stretch = !asked->one->passes.has_backward ||
                            kept->backward_passes >= STRETCH_MIN * kept->sampled_rounds;
    return is_deep && is_stretch ? PLIM_CAUSE_EVALUATION_WITH_GRAD : PLIM_CAUSE_KEPT;
}

static bool judge_graph(const plim_root_question *asked, const kept_sums *sums)
{
    const plim_leak_content *const kept = asked->kept;
    bool is_scalar = false;
    const plim_allocation holder = find_holder(asked, &is_scalar);
    plim_code_place place = line_for(asked, &holder, 1);
    const plim_cause cause = name_graph(asked, &holder, is_scalar);
    if (kept->rounds_passed_by >= kept->rounds_with_backward) {
        /* The whole of the model's call is kept: its caller should not have recorded it. */
        const plim_stack frames = plim_history_stack(asked->one->history, holder.stack);
        uint32_t level = 0;
        while (level < frames.frame_count && frames.frames[level] != place.frame) {
            level++;
        }
        place = plim_line_place(asked->one, holder.stack,
                                plim_line_outside_model(asked->one, holder.stack, level));
    }
    asked->finding->root = place;
    const plim_evidence_figure inner[] = {
        plim_say_amount("graph_stacks", sums->on_the_way),
        plim_say_amount("kept_stacks", kept->stack_count),
    };
    return name_cause(asked, cause, cause == PLIM_CAUSE_KEPT ? 0.6 : 0.85) &&
           say_at(asked, "graph",
                  "{} of the {} stacks that keep memory make tensors on the way to a result, as "
                  "autograd's history holds them; the last of them belongs to {}.",
                  "{} of the {} stacks that keep memory make tensors on the way to a result, as "
                  "autograd's history holds them.",
                  inner, 2) &&
           plim_case_say(asked->one, asked->finding, after_forward(asked, cause));
}

/* In how many passes, up to two, states of the size of the stack's largest are made. */
static size_t count_makings(const plim_root_question *asked, const plim_kept_stack *row)
{
    const plim_leak_content *const kept = asked->kept;
    const size_t wanted = (size_t)(row - kept->stacks);
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < kept->id_count; i++) {
        if (kept->stack_of[i] != wanted) {
            continue;
        }
        const plim_allocation made = plim_kept_allocation(asked->one, asked->leak, i);
        if (made.requested_bytes != row->largest || made.born < 0) {
            continue;
        }
        const size_t pass = plim_pass_of(asked->one, (uint64_t)made.born);
        if (first != SIZE_MAX && pass != first) {
            return 2;
        }
        first = pass;
    }
    return first != SIZE_MAX;
}

static bool judge_optimizer(const plim_root_question *asked, const kept_sums *sums)
{
    set_root(asked, largest_stack(asked, is_optimizer));
    const plim_evidence_figure figures[] = {
        plim_say_bytes("optimizer_bytes", sums->optimizer),
        plim_say_bytes("kept_bytes", asked->kept->bytes),
    };
    if (count_makings(asked, largest_stack(asked, is_optimizer)) < 2) {
        return name_cause(asked, PLIM_CAUSE_KEPT, 0.6) &&
               say(asked, "states",
                   "{} of {} that stay are states which an optimizer made, of each size in one of "
                   "its steps.",
                   figures, 2);
    }
    return name_cause(asked, PLIM_CAUSE_OPTIMIZER_RECREATED, 0.9) &&
           say(asked, "optimizer",
               "{} of {} that stay are states which an optimizer made, of the same sizes in "
               "several of its steps. An optimizer makes them once for each weight: they are made "
               "again, and the old ones are not freed.",
               figures, 2);
}

static bool judge_backward(const plim_root_question *asked, const kept_sums *sums)
{
    const plim_leak_content *const kept = asked->kept;
    plim_code_place place = { .stack = PLIM_NONE, .frame = PLIM_NONE };
    const plim_kept_stack *largest = NULL;
    for (size_t i = 0; i < kept->stack_count; i++) {
        const plim_kept_stack *const row = &kept->stacks[i];
        if (is_backward(asked, row) && (largest == NULL || row->bytes > largest->bytes)) {
            largest = row;
        }
    }
    PLIM_ASSERT(largest != NULL); /* their sum made this the cause */
    const plim_allocation made = example_of(asked, largest);
    if (plim_group_user_frame(&asked->one->view.grouper, made.stack) != PLIM_NONE) {
        place = plim_case_place(asked->one, made.stack);
    } else if (made.born >= 0) {
        place = plim_backward_place(asked->one, (uint64_t)made.born);
    }
    asked->finding->root = place.frame != PLIM_NONE
                               ? place
                               : plim_line_place(asked->one, largest->stack, largest->line);
    const bool is_weights = is_share(asked, sums->gradients, MOST_SHARE);
    const plim_evidence_figure figures[] = { plim_say_bytes("backward_bytes", sums->backward),
                                             plim_say_bytes("kept_bytes", kept->bytes) };
    return name_cause(asked, is_weights ? PLIM_CAUSE_GRADIENTS_KEPT : PLIM_CAUSE_HOOK_KEPT, 0.7) &&
           say(asked, "backward",
               is_weights ? "{} of {} that stay were made in backward passes, in the sizes of "
                            "gradients of weights."
                          : "{} of {} that stay were made in backward passes, and not in the sizes "
                            "of gradients of weights: gradients of activations, as a backward hook "
                            "sees them.",
               figures, 2);
}

static bool judge_hook(const plim_root_question *asked, const kept_sums *sums)
{
    set_root(asked, largest_stack(asked, NULL));
    const plim_evidence_figure figures[] = {
        plim_say_bytes("returned_bytes", sums->returned + sums->stored),
        plim_say_bytes("kept_bytes", asked->kept->bytes),
    };
    const bool is_released = asked->kept->rounds_released > 0;
    const bool is_unnamed = sums->returned > sums->stored;
    return name_cause(asked, PLIM_CAUSE_HOOK_KEPT, is_unnamed && is_released ? 0.85 : 0.6) &&
           say(asked, "hook",
               is_unnamed
                   ? "{} of {} that stay are what calls of modules return in the middle of a "
                     "larger expression: a forward hook sees them, a variable does not."
                   : "{} of {} that stay are what calls of modules return inside of a larger "
                     "model: a forward hook keeps them, or the model stores them.",
               figures, 2) &&
           (!is_released ||
            say(asked, "released",
                "The backward pass frees other activations of the same forward pass: it is not "
                "the graph that keeps these.",
                NULL, 0));
}

/* True if each request of the stack takes the place of a smaller one. */
static bool grows_by_copies(const plim_root_question *asked, const plim_kept_stack *row)
{
    const plim_case *const one = asked->one;
    const plim_events *const events = &one->device->events;
    uint64_t count = 0;
    uint64_t larger = 0;
    uint64_t freed = 0;
    uint64_t last = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] != PLIM_ALLOC || events->stack[i] != row->stack) {
            continue;
        }
        const int64_t end =
            plim_timeline_allocation(&one->view.timeline,
                                     plim_timeline_recorded_id(&one->view.timeline, i))
                .freed;
        larger += count > 0 && events->bytes[i] > last;
        freed += end != PLIM_NEVER;
        last = events->bytes[i];
        count++;
    }
    return count >= 4 && 2 * larger > count && 2 * freed > count;
}

static bool judge_growing(const plim_root_question *asked, const plim_kept_stack *row)
{
    set_root(asked, row);
    return name_cause(asked, PLIM_CAUSE_GROWING_CACHE, 0.9) &&
           say(asked, "grows",
               "Each request of this line is larger than the one before, which is freed after it: "
               "a tensor is concatenated to.",
               NULL, 0);
}

static bool judge_numbers(const plim_root_question *asked)
{
    set_root(asked, largest_stack(asked, NULL));
    const plim_evidence_figure figures[] = {
        plim_say_amount("kept_allocations", asked->leak->id_count),
        plim_say_bytes("largest_bytes", asked->kept->stacks[0].largest),
    };
    return name_cause(asked, PLIM_CAUSE_LOGGED_TENSORS, 0.7) &&
           say(asked, "numbers",
               "{} small tensors stay, each in a block of 512 bytes: numbers that are kept as "
               "tensors.",
               figures, 1);
}

static bool is_input(const plim_kept_stack *row)
{
    return 2 * row->inputs > row->count || row->kind == PLIM_STACK_DATA;
}

static bool judge_inputs(const plim_root_question *asked, const kept_sums *sums)
{
    const plim_kept_stack *const row = largest_stack(asked, is_input);
    set_root(asked, row != NULL ? row : largest_stack(asked, NULL));
    const plim_evidence_figure figures[] = {
        plim_say_bytes("input_bytes", sums->inputs),
        plim_say_bytes("kept_bytes", asked->kept->bytes),
    };
    return name_cause(asked, PLIM_CAUSE_REPLAY_BUFFER, 0.6) &&
           say(asked, "inputs",
               "{} of {} that stay are batches. A view of a few rows keeps the whole of its batch; "
               "whether the batches are stored or views of them, the recording does not show.",
               figures, 2);
}

/* Everything else: results of models, variables of a call, batches among others. */
static bool judge_rest(const plim_root_question *asked, const kept_sums *sums)
{
    set_root(asked, largest_stack(asked, NULL));
    const bool has_outputs = is_share(asked, sums->forward, MOST_SHARE);
    const plim_evidence_figure figures[] = { plim_say_bytes("kept_bytes", asked->kept->bytes) };
    const bool is_mixed = has_outputs && sums->inputs > 0 && asked->kept->stack_count >= 3;
    if (is_mixed) {
        return name_cause(asked, PLIM_CAUSE_KEPT, 0.5) &&
               say_at(asked, "locals",
                      "{} stay: batches and what a model made of them. An exception's traceback "
                      "keeps the variables of its frames so; a list of inputs with their outputs "
                      "or a history would look alike. The largest is made at {}.",
                      "{} stay: batches and what a model made of them. An exception's traceback "
                      "keeps the variables of its frames so; a list of inputs with their outputs "
                      "or a history would look alike.",
                      figures, 1);
    }
    if (has_outputs) {
        return name_cause(asked, PLIM_CAUSE_OUTPUTS_KEPT, 0.8) &&
               say_at(asked, "outputs",
                      "{} stay: what calls of a model return, or what it stores. A list, a table "
                      "and a closure that keep them look alike. Most is made at {}.",
                      "{} stay: what calls of a model return, or what it stores. A list, a table "
                      "and a closure that keep them look alike.",
                      figures, 1);
    }
    return name_cause(asked, PLIM_CAUSE_KEPT, 0.6) &&
           say_at(asked, "kept", "{} stay. What keeps them is not recorded; most is made at {}.",
                  "{} stay. Neither what keeps them is recorded nor what made them.", figures, 1);
}

bool plim_judge_cause(plim_root_question *asked)
{
    const kept_sums sums = add_up(asked);
    const plim_kept_stack *const largest = largest_stack(asked, NULL);
    /* A backward pass frees what its forward pass saved, unless its graph is kept. */
    const bool is_retained = sums.forward + sums.program > sums.inputs && sums.on_the_way > 0 &&
                             asked->kept->rounds_with_backward > 0 &&
                             asked->kept->rounds_released + asked->kept->rounds_passed_by == 0;
    const plim_leak_content *const kept = asked->kept;
    const bool is_whole =
        kept->rounds_released == 0 &&
        kept->computed_kept >= GRAPH_TENSORS_MIN * kept->sampled_rounds &&
        (double)kept->computed_kept >= GRAPH_SHARE_OF_PASS * (double)kept->computed &&
        sums.hidden_count + sums.returned_count + sums.inner_lines > 0;
    const bool is_graph = (is_share(asked, sums.unnamed, GRAPH_SHARE) || is_retained || is_whole) &&
                          sums.largest > PLIM_SMALLEST_BLOCK;
    if (is_share(asked, sums.in_pool, MOST_SHARE)) {
        set_root(asked, largest);
        return name_cause(asked, PLIM_CAUSE_GRAPHS_PER_SHAPE, 0.8) &&
               say(asked, "private_pools",
                   "Most of what stays lies in private pools, as captured graphs have them.", NULL,
                   0);
    }
    if (is_graph) {
        return judge_graph(asked, &sums);
    }
    if (is_share(asked, sums.optimizer, MOST_SHARE)) {
        return judge_optimizer(asked, &sums);
    }
    if (is_share(asked, sums.backward, MOST_SHARE)) {
        return judge_backward(asked, &sums);
    }
    if (grows_by_copies(asked, largest)) {
        return judge_growing(asked, largest);
    }
    /* Of a single round it is not known where a statement ends. */
    if (is_share(asked, sums.returned + sums.stored, MOST_SHARE) && kept->round_count > 1) {
        return judge_hook(asked, &sums);
    }
    if (sums.largest <= PLIM_SMALLEST_BLOCK) {
        return judge_numbers(asked);
    }
    if (is_share(asked, sums.inputs, NEARLY_ALL_SHARE)) {
        return judge_inputs(asked, &sums);
    }
    return judge_rest(asked, &sums);
}
