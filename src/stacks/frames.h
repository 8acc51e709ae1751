/*
 * frames.h - what a stack frame is: whose code, what it does, whether it names its stack, and which
 * technique it shows.
 *
 * One table for all rooms, frames.tsv, which docs/formats/frames.md describes.
 */
#ifndef PLIMSOLL_STACKS_FRAMES_H
#define PLIMSOLL_STACKS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the lists: enumerator, name in the table. Without a row a frame is user, none and other. */
#define PLIM_FRAME_OWNER_LIST(X)                                                         \
    X(PLIM_FRAME_USER, "user")                                                           \
    X(PLIM_FRAME_NATIVE, "native")   /* compiled: C++ of PyTorch or of an extension */   \
    X(PLIM_FRAME_TORCH, "torch")     /* its Python, and Python that PyTorch generates */ \
    X(PLIM_FRAME_PYTHON, "python")   /* Python's own library */                          \
    X(PLIM_FRAME_LIBRARY, "library") /* any other installed package */

/* Those from PLIM_ROLE_CALL on decide what a stack does. */
#define PLIM_FRAME_ROLE_LIST(X)                                                           \
    X(PLIM_ROLE_NONE, "none")                                                             \
    X(PLIM_ROLE_EITHER, "either") /* of the forward or the backward pass: says nothing */ \
    X(PLIM_ROLE_INIT, "init")     /* an object is made */                                 \
    X(PLIM_ROLE_START, "start")   /* a thread or a program begins */                      \
    X(PLIM_ROLE_CALL, "call")     /* a module is called */                                \
    X(PLIM_ROLE_BUILD, "build")   /* a module is made, moved, copied, loaded */           \
    X(PLIM_ROLE_DATA, "data")     /* batches are fetched and moved */                     \
    X(PLIM_ROLE_RECOMPUTE, "recompute")                                                   \
    X(PLIM_ROLE_BACKWARD, "backward")                                                     \
    X(PLIM_ROLE_ENGINE, "engine")   /* native code of the backward pass alone */          \
    X(PLIM_ROLE_BUCKETS, "buckets") /* data-parallel training makes room for gradients */ \
    X(PLIM_ROLE_GRADIENT_TOOLS, "gradient_tools")                                         \
    X(PLIM_ROLE_ZERO_GRAD, "zero_grad")                                                   \
    X(PLIM_ROLE_OPTIMIZER_SETUP, "optimizer_setup")                                       \
    X(PLIM_ROLE_OPTIMIZER_STATE, "optimizer_state")                                       \
    X(PLIM_ROLE_OPTIMIZER_STEP, "optimizer_step")

/* From the one that names a stack best to the one that does so worst. */
#define PLIM_FRAME_LABEL_LIST(X)                     \
    X(PLIM_LABEL_BACKWARD_NODE, "backward_node")     \
    X(PLIM_LABEL_ACCUMULATE_GRAD, "accumulate_grad") \
    X(PLIM_LABEL_OPERATOR, "operator")               \
    X(PLIM_LABEL_OTHER, "other")                     \
    X(PLIM_LABEL_MACHINERY, "machinery") /* the allocator's and the recorder's: names nothing */

/* A technique or tool that a frame shows to be in use. */
#define PLIM_FRAME_TECHNIQUE_LIST(X)                                                          \
    X(PLIM_TECHNIQUE_NONE, "no_technique")                                                    \
    X(PLIM_TECHNIQUE_CHECKPOINTING, "checkpointing")                                          \
    X(PLIM_TECHNIQUE_OFFLOADING, "offloading") /* of activations */                           \
    X(PLIM_TECHNIQUE_LORA, "lora")                                                            \
    X(PLIM_TECHNIQUE_SHARDING, "sharding")       /* FSDP, ZeRO */                             \
    X(PLIM_TECHNIQUE_REPLICAS, "replicas")       /* data-parallel training of whole models */ \
    X(PLIM_TECHNIQUE_COLLECTIVES, "collectives") /* what ranks do together, besides these */  \
    X(PLIM_TECHNIQUE_FUSED, "fused")             /* an optimizer in one kernel, */            \
    X(PLIM_TECHNIQUE_FOREACH, "foreach")         /* or over lists of tensors */               \
    X(PLIM_TECHNIQUE_ADAM, "adam")                                                            \
    X(PLIM_TECHNIQUE_SGD, "sgd")                                                              \
    X(PLIM_TECHNIQUE_ADAFACTOR, "adafactor")                                                  \
    X(PLIM_TECHNIQUE_EIGHT_BIT, "eight_bit") /* states of an optimizer */                     \
    X(PLIM_TECHNIQUE_CROSS_ENTROPY, "cross_entropy")                                          \
    X(PLIM_TECHNIQUE_LOG_SOFTMAX, "log_softmax")                                              \
    X(PLIM_TECHNIQUE_ATTENTION, "attention")                                                  \
    X(PLIM_TECHNIQUE_GATHERING, "gathering")                                                  \
    X(PLIM_TECHNIQUE_GRAPH, "graph")   /* captured */                                         \
    X(PLIM_TECHNIQUE_SCALER, "scaler") /* of a loss in half precision */

#define PLIM_FRAME_ENUM(code, name) code,
typedef enum plim_frame_owner { PLIM_FRAME_OWNER_LIST(PLIM_FRAME_ENUM) } plim_frame_owner;
typedef enum plim_frame_role {
    PLIM_FRAME_ROLE_LIST(PLIM_FRAME_ENUM) PLIM_ROLE_COUNT
} plim_frame_role;
typedef enum plim_frame_label { PLIM_FRAME_LABEL_LIST(PLIM_FRAME_ENUM) } plim_frame_label;
typedef enum plim_frame_technique {
    PLIM_FRAME_TECHNIQUE_LIST(PLIM_FRAME_ENUM)
} plim_frame_technique;
#undef PLIM_FRAME_ENUM

/*
 * What a frame is. Some microseconds each: a caller with many keeps the answers.
 *
 * file      as recorded: of any system, absolute or not, "" or "??" where it is not known
 * function  as recorded, "" where it is not known
 * line      0: not known
 * threads   any
 */
plim_frame_owner plim_frame_owner_of(const char *file, const char *function, uint32_t line);
/* Of a native frame, PLIM_ROLE_ENGINE or none; of any other, never that. */
plim_frame_role plim_frame_role_of(const char *file, const char *function, plim_frame_owner owner);
plim_frame_label plim_frame_label_of(const char *function);
plim_frame_technique plim_frame_technique_of(const char *file, const char *function);
/*
 * The path of a file within the installed code that it belongs to: "torch/nn/functional.py" of
 * "/opt/venv/lib/python3.11/site-packages/torch/nn/functional.py", "threading.py" of
 * "/usr/lib/python3.11/threading.py". A part of `file`, or NULL: not of installed Python code.
 */
const char *plim_frame_installed_path(const char *file);
/* The package of such a path, of *ret_bytes bytes: "torch", "transformers"; a module that is one
 * file goes without its ending. */
const char *plim_frame_package(const char *installed_path, size_t *ret_bytes);
/* True if the function is that in which Python makes an object, whatever role it has. */
bool plim_frame_is_init(const char *function);

#endif
