/*
 * fixes.c - for each cause the change of code that ends it, and what that saves at the peak.
 */
#include "diagnose/advice/fixes.h"
#include "diagnose/advice/techniques.h"

#include "base/map.h"

/* The bytes that a fix takes away. */
typedef enum fix_saving {
    FIX_KEPT,    /* what the finding's stacks leave beyond the step that made it */
    FIX_BOUND,   /* at most the finding's bytes */
    FIX_FORWARD, /* at most all that forward passes without a backward pass make */
    FIX_UNKNOWN, /* the recording does not say */
} fix_saving;

static const struct {
    const char *technique;
    const char *text;
    const char *change;
    fix_saving saving;
} fixes[PLIM_CAUSE_COUNT] = {
    [PLIM_CAUSE_KEPT] = { "drop_references",
                          "Find what keeps a reference from step to step (a list, an attribute, a "
                          "closure) and keep numbers or copies on the host instead.",
                          "kept.append(tensor.detach().cpu())", FIX_KEPT },
    [PLIM_CAUSE_LOSS_KEPT] = { "keep_numbers",
                               "Keep the loss as a number: the tensor holds the graph of its step.",
                               "total += loss.item()", FIX_KEPT },
    [PLIM_CAUSE_OUTPUTS_KEPT] = { "outputs_to_host",
                                  "Move outputs to the host before they are collected.",
                                  "outputs.append(output.detach().cpu())", FIX_KEPT },
    [PLIM_CAUSE_HOOK_KEPT] = { "hook_summary",
                               "Let the hook keep a number or a copy on the host, and remove the "
                               "hook "
                               "when it is no longer needed.",
                               "kept[name] = output.detach().float().norm().item()", FIX_KEPT },
    [PLIM_CAUSE_EVALUATION_WITH_GRAD] = { "inference_mode",
                                          "Evaluate or generate without recording for a backward "
                                          "pass.",
                                          "with torch.inference_mode():", FIX_FORWARD },
    [PLIM_CAUSE_HIDDEN_STATE_KEPT] = { "detach_state",
                                       "Cut the graph where the state goes into the next step.",
                                       "state = state.detach()", FIX_KEPT },
    [PLIM_CAUSE_GRADIENTS_KEPT] = { "free_gradients",
                                    "Free gradients once the optimizer has used them.",
                                    "optimizer.zero_grad(set_to_none=True)", FIX_BOUND },
    [PLIM_CAUSE_OPTIMIZER_RECREATED] = { "one_optimizer",
                                         "Make the optimizer once, before the loop, and drop the "
                                         "old "
                                         "one where it must be made again.",
                                         "del optimizer  # before another is made", FIX_KEPT },
    [PLIM_CAUSE_GROWING_CACHE] = { "bounded_cache",
                                   "Give the cache a limit: a static one for the longest sequence, "
                                   "a "
                                   "window, or an end with each request.",
                                   "cache = StaticCache(config=model.config, "
                                   "max_cache_len=longest)",
                                   FIX_KEPT },
    [PLIM_CAUSE_REPLAY_BUFFER] = { "bounded_buffer",
                                   "Give the buffer a limit, and keep it on the host.",
                                   "buffer = collections.deque(maxlen=limit)", FIX_KEPT },
    [PLIM_CAUSE_GRAPHS_PER_SHAPE] = { "few_shapes",
                                      "Pad inputs to a few sizes, so that graphs and compiled "
                                      "variants are used again.",
                                      "length = max(bucket for bucket in buckets if bucket >= "
                                      "length)  # or torch.compile(model, dynamic=True)",
                                      FIX_KEPT },
    [PLIM_CAUSE_TRACEBACK_KEPT] = { "drop_traceback",
                                    "Keep the exception's text: its traceback holds the frames, "
                                    "and "
                                    "they hold the tensors.",
                                    "failures.append(str(error))", FIX_KEPT },
    [PLIM_CAUSE_REFERENCE_CYCLE] = { "break_cycle",
                                     "Break the cycle, so that tensors go when they are no longer "
                                     "used and not when the collector runs.",
                                     "self.owner = weakref.ref(owner)", FIX_BOUND },
    [PLIM_CAUSE_LOGGED_TENSORS] = { "log_numbers", "Log numbers instead of tensors.",
                                    "log[\"loss\"].append(loss.item())", FIX_KEPT },
    [PLIM_CAUSE_REGISTRY_BY_STEP] = { "forget_steps",
                                      "Remove entries of steps that are over, or keep them on the "
                                      "host.",
                                      "registry.pop(step - keep, None)", FIX_KEPT },
    [PLIM_CAUSE_BATCHES_AHEAD] = { "batches_late",
                                   "Keep batches on the host until they are used, or fewer ahead.",
                                   "for batch in loader: batch = batch.to(device, "
                                   "non_blocking=True)",
                                   FIX_BOUND },
    [PLIM_CAUSE_GATHERED_WEIGHTS] = { "reshard",
                                      "Free gathered weights after each block, and wrap each block "
                                      "of its own, so that few are gathered at a time.",
                                      "fully_shard(block, reshard_after_forward=True)", FIX_BOUND },
    [PLIM_CAUSE_LARGE_BATCH] = { "even_batches",
                                 "Limit tokens instead of rows in a batch, or cut what is too "
                                 "long.",
                                 "batch = batch[:, :longest]", FIX_BOUND },
    [PLIM_CAUSE_COLLECTOR_LATE] = { "collect", "Let Python's collector run, or call it.",
                                    "gc.collect()", FIX_UNKNOWN },
    [PLIM_CAUSE_PRIVATE_POOLS] = { "fewer_graphs",
                                   "Let graphs share one pool, or capture fewer of them.",
                                   "with torch.cuda.graph(graph, pool=pool):", FIX_UNKNOWN },
    [PLIM_CAUSE_PINNED_HOST] = { "less_pinned",
                                 "Pin fewer batches: fewer workers, or fewer batches ahead.",
                                 "DataLoader(data, pin_memory=True, prefetch_factor=1)",
                                 FIX_UNKNOWN },
    [PLIM_CAUSE_KV_CACHE] = { "smaller_cache",
                              "Limit the cache: fewer requests at a time, a shorter longest "
                              "sequence, a window, or keys and values in 8 bits.",
                              "cache = StaticCache(config=model.config, max_cache_len=longest)",
                              FIX_UNKNOWN },
};

/* The moment from which on an allocation is kept in vain: the end of its own step. */
static int64_t kept_from(const plim_case *one, int64_t born)
{
    if (one->view.steps.count == 0) {
        return PLIM_NEVER;
    }
    const uint64_t step = born < 0 ? 0 : plim_steps_at(&one->view.steps, (uint64_t)born);
    if (step == PLIM_NO_STEP) {
        return born < (int64_t)one->view.steps.first_events[0]
                   ? (int64_t)one->view.steps.first_events[1]
                   : PLIM_NEVER;
    }
    return (int64_t)one->view.steps.first_events[step + 1];
}

static bool take_members(plim_map *stacks, const plim_diagnosis_finding *finding)
{
    for (size_t i = 0; i < finding->member_count; i++) {
        if (!plim_map_put(stacks, finding->members[i].place.stack, 1)) {
            return false;
        }
    }
    return finding->member_count > 0 || plim_map_put(stacks, finding->root.stack, 1);
}

/* Takes away what a finding's stacks keep. False: no memory. */
static bool without_kept(const plim_program_shape *shape, const plim_diagnosis_finding *finding,
                         plim_what_if *what_if)
{
    plim_map stacks;
    plim_map_init(&stacks, shape->mem);
    const bool has_memory = take_members(&stacks, finding);
    plim_what_if_walk walk = plim_program_lives(shape);
    plim_what_if_life life;
    while (has_memory && plim_what_if_next(&walk, &life)) {
        if (plim_map_get(&stacks, life.stack) != PLIM_MAP_ABSENT) {
            plim_what_if_less(what_if, life.bytes, kept_from(shape->one, life.born), life.freed);
        }
    }
    plim_map_deinit(&stacks);
    return has_memory;
}

static bool fix_finding(const plim_program_shape *shape, const plim_diagnosis_finding *finding,
                        plim_what_if *what_if, plim_diagnosis_advice *advice)
{
    const fix_saving saving = fixes[finding->cause].saving;
    if (saving == FIX_UNKNOWN) {
        return true;
    }
    uint64_t saved = finding->bytes < what_if->peak_bytes ? finding->bytes : what_if->peak_bytes;
    advice->basis = PLIM_BASIS_BOUNDED;
    if (saving == FIX_FORWARD) {
        plim_change_evaluation(shape, what_if);
        const uint64_t most = plim_what_if_saves(what_if);
        saved = most > saved ? most : saved;
    }
    if (saving == FIX_KEPT && shape->one->view.steps.count > 0 && shape->one->has_stacks) {
        if (!without_kept(shape, finding, what_if)) {
            return false;
        }
        saved = plim_what_if_saves(what_if);
        advice->basis = PLIM_BASIS_COMPUTED;
    }
    advice->has_saving = saved > 0;
    advice->saves_bytes = saved;
    if (saved == 0) {
        advice->basis = PLIM_BASIS_UNKNOWN;
    }
    return true;
}

bool plim_advice_add(plim_advice_list *list, const plim_diagnosis_advice *advice, bool decides)
{
    const plim_advice_item item = { .advice = *advice, .decides = decides };
    return PLIM_VEC_PUSH(list->mem, list, item);
}

bool plim_advise_findings(const plim_program_shape *shape, plim_what_if *what_if,
                          plim_advice_list *list)
{
    const plim_case *const one = shape->one;
    for (size_t i = 0; i < one->findings.count; i++) {
        const plim_diagnosis_finding *const finding = &one->findings.items[i];
        if (fixes[finding->cause].technique == NULL) {
            continue;
        }
        plim_diagnosis_advice advice = { .finding = finding->finding.id,
                                         .technique = fixes[finding->cause].technique,
                                         .text = fixes[finding->cause].text,
                                         .basis = PLIM_BASIS_UNKNOWN,
                                         .change = fixes[finding->cause].change };
        if (!fix_finding(shape, finding, what_if, &advice) ||
            !plim_advice_add(list, &advice, finding->decides)) {
            return false;
        }
    }
    return true;
}
