/*
 * places.h - where a Python program requests memory: the frames that stacks are made of.
 *
 * Files and functions are those that training and serving programs on PyTorch have, lines are
 * made up.
 */
#ifndef PLIMSOLL_BENCH_TRACES_PLACES_H
#define PLIMSOLL_BENCH_TRACES_PLACES_H

#include "plimsoll/allocator.h"

/* Some frames that follow each other, innermost first. */
typedef struct trace_place {
    const plim_foreign_frame *frames;
    size_t count;
} trace_place;

/* In the list: the place, and its frames. */
#define TRACE_PLACES(X)                                                                           \
    /* what a program does */                                                                     \
    X(at_setup, SCRIPT("setup", 41), SCRIPT("main", 20))                                          \
    X(at_train_step, SCRIPT("train_step", 88), SCRIPT("train", 122), SCRIPT("main", 24))          \
    X(at_evaluate, SCRIPT("evaluate", 140), SCRIPT("train", 131), SCRIPT("main", 24))             \
    X(at_rollout, SCRIPT("rollout", 160), SCRIPT("ppo_epoch", 201), SCRIPT("main", 26))           \
    X(at_logprobs, SCRIPT("logprobs", 178), SCRIPT("ppo_epoch", 207), SCRIPT("main", 26))         \
    X(at_serve, ENGINE("execute_model", 1032), ENGINE("step", 287), ENGINE("run_busy_loop", 540)) \
    X(at_profile_run, ENGINE("profile_run", 1790), ENGINE("determine_num_available_blocks", 210)) \
    X(at_capture, ENGINE("capture_model", 1840), ENGINE("compile_or_warm_up_model", 260))         \
    X(at_generate, HUB("generation/utils.py", "_sample", 3245),                                   \
      HUB("generation/utils.py", "generate", 2223), SCRIPT("handle_request", 64))                 \
    X(at_sample_image, SCRIPT("sample_image", 97), SCRIPT("main", 28))                            \
    X(at_load_batch, SCRIPT("to_device", 71))                                                     \
    X(at_forward, MODULE_CALL, SCRIPT("compute_loss", 101))                                       \
    X(at_backward, ENGINE_CPP, TORCH("autograd/graph.py", "_engine_run_backward", 823),           \
      TORCH("autograd/__init__.py", "backward", 347), TORCH("_tensor.py", "backward", 626))       \
    X(at_recompute, TORCH("utils/checkpoint.py", "recompute_fn", 1400),                           \
      TORCH("utils/checkpoint.py", "unpack_hook", 1123))                                          \
    X(at_optimizer, TORCH("optim/adamw.py", "_multi_tensor_adamw", 612),                          \
      TORCH("optim/adamw.py", "adamw", 772), TORCH("optim/adamw.py", "step", 243),                \
      TORCH("optim/optimizer.py", "wrapper", 493))                                                \
    X(at_optimizer_state, TORCH("optim/adamw.py", "_init_group", 182),                            \
      TORCH("optim/adamw.py", "step", 232), TORCH("optim/optimizer.py", "wrapper", 493))          \
    X(at_zero_grad, TORCH("optim/optimizer.py", "zero_grad", 972))                                \
    X(at_clip, TORCH("nn/utils/clip_grad.py", "clip_grad_norm_", 215))                            \
    X(at_autocast, TORCH("amp/autocast_mode.py", "cached_cast", 44))                              \
    /* modules of a transformer */                                                                \
    X(at_block, MODULE_CALL, MODEL("transformer.py", "forward", 214))                             \
    X(at_parameter, TORCH("nn/modules/module.py", "convert", 1326),                               \
      TORCH("nn/modules/module.py", "_apply", 915), TORCH("nn/modules/module.py", "to", 1340))    \
    X(at_embedding, TORCH("nn/functional.py", "embedding", 2551), MODULE_CALL,                    \
      MODEL("transformer.py", "embed", 190))                                                      \
    X(at_norm, TORCH("nn/modules/normalization.py", "forward", 390), MODULE_CALL)                 \
    X(at_q, LINEAR, MODEL("attention.py", "forward", 61))                                         \
    X(at_k, LINEAR, MODEL("attention.py", "forward", 62))                                         \
    X(at_v, LINEAR, MODEL("attention.py", "forward", 63))                                         \
    X(at_rotary, MODEL("attention.py", "apply_rotary", 33), MODEL("attention.py", "forward", 66)) \
    X(at_sdpa, TORCH("nn/functional.py", "scaled_dot_product_attention", 6000),                   \
      MODEL("attention.py", "forward", 74))                                                       \
    X(at_scores, MODEL("attention.py", "eager_attention", 44),                                    \
      MODEL("attention.py", "forward", 76))                                                       \
    X(at_o, LINEAR, MODEL("attention.py", "forward", 80))                                         \
    X(at_residual, MODEL("transformer.py", "forward", 120))                                       \
    X(at_gate, LINEAR, MODEL("mlp.py", "forward", 27))                                            \
    X(at_up, LINEAR, MODEL("mlp.py", "forward", 28))                                              \
    X(at_act, TORCH("nn/functional.py", "silu", 2380), MODEL("mlp.py", "forward", 29))            \
    X(at_down, LINEAR, MODEL("mlp.py", "forward", 30))                                            \
    X(at_head, LINEAR, MODEL("transformer.py", "forward", 231))                                   \
    X(at_loss, TORCH("nn/functional.py", "cross_entropy", 3494), MODEL("loss.py", "forward", 12)) \
    X(at_dropout, TORCH("nn/functional.py", "dropout", 1425), MODULE_CALL)                        \
    X(at_weight_grad, ENGINE_CPP)                                                                 \
    /* mixture of experts */                                                                      \
    X(at_router, LINEAR, MODEL("moe.py", "route", 38))                                            \
    X(at_topk, MODEL("moe.py", "route", 41))                                                      \
    X(at_dispatch, MODEL("moe.py", "dispatch", 57), MODEL("moe.py", "forward", 80))               \
    X(at_expert, LINEAR, MODEL("moe.py", "expert", 66), MODEL("moe.py", "forward", 83))           \
    X(at_combine, MODEL("moe.py", "combine", 72), MODEL("moe.py", "forward", 86))                 \
    /* images */                                                                                  \
    X(at_conv, TORCH("nn/modules/conv.py", "_conv_forward", 548),                                 \
      TORCH("nn/modules/conv.py", "forward", 553), MODULE_CALL)                                   \
    X(at_group_norm, TORCH("nn/functional.py", "group_norm", 2965), MODULE_CALL)                  \
    X(at_batch_norm, TORCH("nn/functional.py", "batch_norm", 2822), MODULE_CALL)                  \
    X(at_relu, TORCH("nn/functional.py", "relu", 1704), MODULE_CALL)                              \
    X(at_resnet_block, MODEL("resnet.py", "forward", 321), MODULE_CALL)                           \
    X(at_skip, MODEL("unet.py", "concatenate", 88), MODEL("unet.py", "forward", 140))             \
    X(at_upsample, TORCH("nn/functional.py", "interpolate", 4655), MODULE_CALL)                   \
    X(at_detect, MODEL("detector.py", "proposals", 203), MODULE_CALL)                             \
    X(at_decode, MODEL("autoencoder.py", "decode", 311), MODULE_CALL)                             \
    X(at_noise, MODEL("scheduler.py", "step", 98))                                                \
    /* serving */                                                                                 \
    X(at_kv_pool, ENGINE("initialize_kv_cache", 1910), ENGINE("_allocate_kv_cache", 1880))        \
    X(at_kv_grow, HUB("cache_utils.py", "update", 451), MODEL("attention.py", "forward", 69))     \
    X(at_inputs, ENGINE("_prepare_inputs", 611))                                                  \
    X(at_logits, ENGINE("compute_logits", 1120))                                                  \
    X(at_sampler, ENGINE("sample", 1141))                                                         \
    X(at_advantage, SCRIPT("advantages", 190))                                                    \
    X(at_sync_weights, SCRIPT("sync_weights", 230))                                               \
    /* sharded */                                                                                 \
    X(at_all_gather, SHARD("_fsdp_collectives.py", "foreach_all_gather", 171),                    \
      SHARD("_fsdp_param_group.py", "unshard", 289))                                              \
    X(at_reduce_scatter, SHARD("_fsdp_collectives.py", "foreach_reduce", 402),                    \
      SHARD("_fsdp_param_group.py", "post_backward", 437))

#define TRACE_PLACE_DECLARED(name, ...) extern const trace_place name;
TRACE_PLACES(TRACE_PLACE_DECLARED)
#undef TRACE_PLACE_DECLARED

#endif
