/*
 * techniques.c - the techniques of the field: when each applies, what it costs, what to write.
 *
 * Costs are published measurements: docs/design/diagnose.md has the table and the sources.
 */
#include "diagnose/advice/techniques.h"

static bool sees(const plim_program_shape *shape, uint32_t what)
{
    return (shape->seen & what) != 0;
}

static bool is_trained(const plim_program_shape *shape)
{
    return (shape->has_backward || shape->keeps_graph) && shape->rounds.count > 0;
}

static bool can_fuse(const plim_program_shape *shape)
{
    return sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_ADAM) | PLIM_SEEN(PLIM_TECHNIQUE_SGD)) &&
           !sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_FUSED) | PLIM_SEEN(PLIM_TECHNIQUE_EIGHT_BIT) |
                            PLIM_SEEN(PLIM_TECHNIQUE_ADAFACTOR));
}

static bool can_loop(const plim_program_shape *shape)
{
    return sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_FOREACH)) && !can_fuse(shape);
}

static bool can_recompute(const plim_program_shape *shape)
{
    return is_trained(shape) && shape->blocks.count > 0 &&
           !sees(shape,
                 PLIM_SEEN(PLIM_TECHNIQUE_CHECKPOINTING) | PLIM_SEEN(PLIM_TECHNIQUE_OFFLOADING));
}

static bool has_adam(const plim_program_shape *shape)
{
    return is_trained(shape) && sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_ADAM)) &&
           !sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_EIGHT_BIT));
}

static bool has_states(const plim_program_shape *shape)
{
    return is_trained(shape) && shape->state_bytes > 0;
}

/* Without adapters, and as it stands not quantized. */
static bool trains_all(const plim_program_shape *shape)
{
    return has_states(shape) && !sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_LORA));
}

static bool is_replicated(const plim_program_shape *shape)
{
    return has_states(shape) && sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_REPLICAS)) &&
           !sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_SHARDING));
}

static bool is_full_precision(const plim_program_shape *shape)
{
    return is_trained(shape) && shape->item_bytes == 4 && !shape->has_half_copies;
}

static bool has_wide_weights(const plim_program_shape *shape)
{
    return shape->item_bytes == 4;
}

static bool can_split_step(const plim_program_shape *shape)
{
    return is_trained(shape) && (shape->has_optimizer || shape->keeps_graph) &&
           !sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_GRAPH));
}

/* One batch to each of the optimizer's steps: what accumulates needs all gradients at once. */
static bool steps_each_round(const plim_program_shape *shape)
{
    if (!has_states(shape) ||
        sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_SCALER) | PLIM_SEEN(PLIM_TECHNIQUE_GRAPH))) {
        return false;
    }
    for (size_t i = 0; i + 1 < shape->rounds.count; i++) {
        if (shape->rounds.items[i].end == shape->rounds.items[i].back) {
            return false;
        }
    }
    return true;
}

/* The peak lies before the forward pass that is trained with, in a round that trains. */
static bool peaks_in_evaluation(const plim_program_shape *shape)
{
    for (size_t i = 0; i < shape->rounds.count && shape->has_backward; i++) {
        const plim_training_round *const round = &shape->rounds.items[i];
        const uint32_t until = round->turn < round->back ? round->forward : round->end;
        if (shape->peak_event >= (int64_t)round->start && shape->peak_event < (int64_t)until) {
            return true;
        }
    }
    return false;
}

static bool can_offload(const plim_program_shape *shape)
{
    return is_trained(shape) && !sees(shape, PLIM_SEEN(PLIM_TECHNIQUE_OFFLOADING) |
                                                 PLIM_SEEN(PLIM_TECHNIQUE_CHECKPOINTING));
}

static bool is_any(const plim_program_shape *shape)
{
    return shape->rounds.count > 0;
}

static const plim_advised_technique techniques[] = {
    { "set_to_none",
      "Free gradients after the optimizer's step instead of filling them with zeros: they are made "
      "anew in the next backward pass, when activations are gone.",
      "optimizer.zero_grad(set_to_none=True)", NULL, 0, PLIM_BASIS_COMPUTED,
      PLIM_CAUSE_GRADIENTS_KEPT, can_split_step, plim_change_set_to_none },
    { "fused_optimizer",
      "Let the optimizer's step run in one kernel, without temporary copies of the weights.",
      "optimizer = torch.optim.AdamW(model.parameters(), fused=True)", NULL, 0, PLIM_BASIS_COMPUTED,
      PLIM_CAUSE_OPTIMIZER_TEMPORARIES, can_fuse, plim_change_fused },
    { "foreach_off",
      "Let the optimizer take one tensor after the other: its temporaries are then as large as one "
      "weight, not as all of them.",
      "optimizer = Optimizer(model.parameters(), foreach=False)",
      "a slower optimizer step, which shows where there are many small tensors", 0.1,
      PLIM_BASIS_COMPUTED, PLIM_CAUSE_OPTIMIZER_TEMPORARIES, can_loop, plim_change_foreach },
    { "fused_attention",
      "Let one kernel compute attention, so that the scores of all pairs of positions never stand "
      "in memory.",
      "y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)", NULL, 0,
      PLIM_BASIS_BOUNDED, PLIM_CAUSE_ATTENTION_SCORES, is_trained, plim_change_attention },
    { "chunked_loss",
      "Compute logits and loss in 8 pieces and again in the backward pass, or with a fused linear "
      "cross entropy: the logits of one piece stand at a time.",
      "loss = sum(checkpoint(loss_of, h, t, use_reentrant=False) for h, t in "
      "zip(hidden.chunk(8), targets.chunk(8)))",
      "0 to 2 % of time", 0.02, PLIM_BASIS_COMPUTED, PLIM_CAUSE_LOGITS, is_trained,
      plim_change_loss },
    { "smaller_evaluation_batch",
      "Evaluate with half the batch, and without recording for a backward pass.",
      "evaluation = DataLoader(data, batch_size=batch_size // 2)",
      "evaluation takes a little longer", 0.02, PLIM_BASIS_COMPUTED, PLIM_CAUSE_EVALUATION_BATCH,
      peaks_in_evaluation, plim_change_evaluation_batch },
    { "micro_batches",
      "Half the batch twice for each step of the optimizer: the same gradients, with the "
      "activations of half.",
      "(loss / 2).backward()  # for each half of the batch, then optimizer.step()",
      "0 to 15 % of time; batch normalisation sees half", 0.12, PLIM_BASIS_COMPUTED,
      PLIM_CAUSE_UNKNOWN, can_split_step, plim_change_micro_batches },
    { "autocast", "Run the forward pass in bfloat16: most activations take half.",
      "with torch.autocast(\"cuda\", dtype=torch.bfloat16):", "results differ in the last digits",
      0.1, PLIM_BASIS_BOUNDED, PLIM_CAUSE_UNKNOWN, is_full_precision, plim_change_autocast },
    { "adam_8bit", "Keep the optimizer's states in 8 bits.",
      "optimizer = bitsandbytes.optim.AdamW8bit(model.parameters())",
      "1 to 5 % of time, and results differ a little", 0.15, PLIM_BASIS_COMPUTED,
      PLIM_CAUSE_OPTIMIZER_STATES, has_adam, plim_change_eight_bit },
    { "optimizer_in_backward",
      "Step each weight as soon as its gradient is there, and free the gradient at once. It goes "
      "neither with accumulation nor with clipping by the norm of all.",
      "p.register_post_accumulate_grad_hook(lambda p: (step_of[p].step(), "
      "step_of[p].zero_grad()))",
      "about 1 % of time", 0.2, PLIM_BASIS_BOUNDED, PLIM_CAUSE_UNKNOWN, steps_each_round,
      plim_change_in_backward },
    { "activation_offload", "Keep what the backward pass needs in the host's memory until then.",
      "with torch.autograd.graph.save_on_cpu(pin_memory=True):",
      "up to 5 % of time, more where the bus is slow, and as much pinned host memory", 0.25,
      PLIM_BASIS_BOUNDED, PLIM_CAUSE_UNKNOWN, can_offload, plim_change_activation_offload },
    { "checkpointing_half",
      "Keep only the input of every second of the repeated blocks, and compute the rest again in "
      "the backward pass.",
      "x = checkpoint(block, x, use_reentrant=False) if i % 2 == 0 else block(x)",
      "10 to 15 % of time", 0.2, PLIM_BASIS_COMPUTED, PLIM_CAUSE_UNKNOWN, can_recompute,
      plim_change_half_checkpointing },
    { "checkpointing",
      "Keep only the input of each of the repeated blocks, and compute the rest again in the "
      "backward pass.",
      "x = checkpoint(block, x, use_reentrant=False)", "20 to 33 % of time", 0.3,
      PLIM_BASIS_COMPUTED, PLIM_CAUSE_ACTIVATIONS, can_recompute, plim_change_checkpointing },
    { "sharded_states",
      "Divide the optimizer's states among the ranks that hold copies of the same model: of n "
      "ranks "
      "each keeps one part of n.",
      "optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW)",
      "0 to 3 % of time between GPUs of one machine", 0.1, PLIM_BASIS_BOUNDED, PLIM_CAUSE_UNKNOWN,
      is_replicated, plim_change_no_states },
    { "optimizer_offload",
      "Keep the optimizer's states in the host's memory and take its steps there.",
      "model, optimizer, _, _ = deepspeed.initialize(model=model, config={\"zero_optimization\": "
      "{\"stage\": 1, \"offload_optimizer\": {\"device\": \"cpu\"}}})",
      "20 to 150 % more time", 0.5, PLIM_BASIS_COMPUTED, PLIM_CAUSE_MODEL_STATE, has_states,
      plim_change_no_states },
    { "adafactor",
      "An optimizer that keeps sums of rows and columns instead of states as large as the weights.",
      "optimizer = torch.optim.Adafactor(model.parameters())",
      "2 to 15 % of time, and another optimizer: its learning rate must be found anew", 0.6,
      PLIM_BASIS_COMPUTED, PLIM_CAUSE_UNKNOWN, has_adam, plim_change_no_states },
    { "bf16_weights", "Keep weights, gradients and states in bfloat16.",
      "model = model.to(torch.bfloat16)", "another result: small updates are rounded away", 0.6,
      PLIM_BASIS_BOUNDED, PLIM_CAUSE_UNKNOWN, has_wide_weights, plim_change_half_weights },
    { "smaller_batch", "Half the batch: activations take half.", "batch_size //= 2",
      "another result, unless the learning rate is adapted; smaller batches use the GPU worse", 0.5,
      PLIM_BASIS_COMPUTED, PLIM_CAUSE_LARGE_BATCH, is_any, plim_change_batch },
    { "momentum", "SGD with momentum keeps one state for each weight, Adam two.",
      "optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)",
      "another optimizer: its learning rate must be found anew", 0.8, PLIM_BASIS_COMPUTED,
      PLIM_CAUSE_UNKNOWN, has_adam, plim_change_one_state },
    { "lora",
      "Train adapters only: the weights need no gradients and no states. Adapters need a little of "
      "their own.",
      "model = peft.get_peft_model(model, peft.LoraConfig(r=16))",
      "another result: the weights themselves do not learn", 0.9, PLIM_BASIS_BOUNDED,
      PLIM_CAUSE_UNKNOWN, trains_all, plim_change_adapters },
    { "sgd", "Plain SGD keeps no states.", "optimizer = torch.optim.SGD(model.parameters(), lr=lr)",
      "another optimizer: its learning rate must be found anew", 0.9, PLIM_BASIS_COMPUTED,
      PLIM_CAUSE_UNKNOWN, has_states, plim_change_no_states },
};

const plim_advised_technique *plim_techniques(size_t *ret_count)
{
    *ret_count = sizeof techniques / sizeof techniques[0];
    return techniques;
}
