/*
 * convolution.c - convolutions through cuDNN's older interface: which algorithms, and what they
 * want.
 *
 * PyTorch comes here only with TORCH_CUDNN_V8_API_DISABLED=1. The models are those of the graph
 * interface (workspace.h); three directions number their algorithms differently.
 */
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cudnn/descriptors.h"
#include "standin/cudnn/workspace.h"

enum {
    MATH_DEFAULT = 0, /* cudnnMathType_t */
    MATH_TENSOR_OP = 1,
    MATH_FMA = 3,
    DETERMINISTIC = 1, /* cudnnDeterminism_t */
};

/* cudnnConvolutionFwdAlgoPerf_t, and of the same layout those of the other directions. */
typedef struct performance {
    int algorithm;
    int status;
    float time_ms;
    size_t memory_bytes;
    int determinism;
    int math;
    int reserved[3];
} performance;

typedef plim_cudnn_convolution_descriptor convolution;
typedef plim_cudnn_tensor tensor;

/*
 * The number of an algorithm in a direction: IMPLICIT_PRECOMP_GEMM or ALGO_1, and so on. Kernels
 * that copy have none of their own: GEMM, FFT and ALGO_3, which we do not offer otherwise.
 */
static const int algorithm_numbers[][PLIM_CUDNN_ALGORITHMS] = {
    [PLIM_CUDNN_FORWARD] = { 0, 1, 7, 5, 2 },
    [PLIM_CUDNN_BACKWARD_DATA] = { 0, 1, 5, 3, 2 },
    [PLIM_CUDNN_BACKWARD_FILTER] = { 0, 1, 5, 6, 3 },
};

#define WORKSPACE_NOTE "workspaces: docs/design/cudnn.md"

PLIM_STANDIN_NOTHING(cudnnConvolutionForward)
PLIM_STANDIN_NOTHING(cudnnConvolutionBackwardData)
PLIM_STANDIN_NOTHING(cudnnConvolutionBackwardFilter)
PLIM_STANDIN_NOTHING(cudnnConvolutionBiasActivationForward)

static bool read(plim_cudnn_direction direction, const tensor *const operands[3],
                 const convolution *how, plim_cudnn_convolution *ret)
{
    if (operands[0] == NULL || operands[1] == NULL || operands[2] == NULL || how == NULL ||
        operands[0]->rank < 3 || operands[1]->rank != operands[0]->rank ||
        operands[2]->rank != operands[0]->rank || how->spatial != operands[0]->rank - 2) {
        return false;
    }
    *ret = (plim_cudnn_convolution){
        .direction = direction,
        .x = *operands[0],
        .w = *operands[1],
        .y = *operands[2],
        .capability_major = (int)plim_standin_settings()->gpu.capability_major,
    };
    for (int i = 0; i < how->spatial; i++) {
        ret->strides[i] = how->strides[i];
        ret->dilations[i] = how->dilations[i];
    }
    return true;
}

/* With FMA math float32 excludes tensor cores, which round to TF32. */
static bool is_exact(const plim_cudnn_convolution *what, const convolution *how)
{
    return what->x.type == PLIM_CUDNN_FLOAT && how->math == MATH_FMA;
}

/* PyTorch compares it with the math type that it requested. */
static int math_of(plim_cudnn_algorithm algorithm, bool exact)
{
    if (exact) {
        return MATH_FMA;
    }
    return algorithm == PLIM_CUDNN_TENSOR_CORE ? MATH_TENSOR_OP : MATH_DEFAULT;
}

static int rank(plim_cudnn_direction direction, const tensor *const operands[3],
                const convolution *how, int wanted, int *found, performance *results)
{
    plim_cudnn_convolution what;
    plim_cudnn_algorithm algorithms[PLIM_CUDNN_ALGORITHMS];
    if (found == NULL || results == NULL || !read(direction, operands, how, &what)) {
        return PLIM_CUDNN_BAD_PARAM;
    }
    const size_t count = plim_cudnn_convolution_rank(&what, algorithms);
    const bool exact = is_exact(&what, how);
    int made = 0;
    for (size_t i = 0; i < count && made < wanted; i++) {
        if (!exact || algorithms[i] != PLIM_CUDNN_TENSOR_CORE) {
            results[made] = (performance){
                .algorithm = algorithm_numbers[direction][algorithms[i]],
                .time_ms = (float)(made + 1),
                .memory_bytes = plim_cudnn_convolution_workspace(&what, algorithms[i]),
                .determinism = DETERMINISTIC,
                .math = math_of(algorithms[i], exact),
            };
            made++;
        }
    }
    *found = made;
    return PLIM_CUDNN_OK;
}

static int tell(plim_cudnn_direction direction, const tensor *const operands[3],
                const convolution *how, int algorithm, size_t *bytes)
{
    plim_cudnn_convolution what;
    if (bytes == NULL || !read(direction, operands, how, &what)) {
        return PLIM_CUDNN_BAD_PARAM;
    }
    for (int i = 0; i < PLIM_CUDNN_ALGORITHMS; i++) {
        if (algorithm_numbers[direction][i] == algorithm) {
            *bytes = plim_cudnn_convolution_workspace(&what, (plim_cudnn_algorithm)i);
            return PLIM_CUDNN_OK;
        }
    }
    return PLIM_CUDNN_NOT_SUPPORTED; /* an algorithm that we did not offer */
}

/*
 * A row for each function: its name, its direction, its parameters, and which of them are the
 * input, the filter and the output, in this order, whatever they are called.
 */
#define RANKS(name, direction, parameters, ...)                        \
    PLIM_STANDIN_MODELLED(name, WORKSPACE_NOTE)                        \
    int name parameters                                                \
    {                                                                  \
        const tensor *const operands[] = { __VA_ARGS__ };              \
        return rank(direction, operands, how, wanted, found, results); \
    }
#define TELLS(name, direction, parameters, ...)                  \
    PLIM_STANDIN_MODELLED(name, WORKSPACE_NOTE)                  \
    int name parameters                                          \
    {                                                            \
        const tensor *const operands[] = { __VA_ARGS__ };        \
        return tell(direction, operands, how, algorithm, bytes); \
    }

RANKS(cudnnGetConvolutionForwardAlgorithm_v7, PLIM_CUDNN_FORWARD,
      (void *handle, const tensor *x, const tensor *w, const convolution *how, const tensor *y,
       int wanted, int *found, performance *results),
      x, w, y)
RANKS(cudnnGetConvolutionBackwardDataAlgorithm_v7, PLIM_CUDNN_BACKWARD_DATA,
      (void *handle, const tensor *w, const tensor *dy, const convolution *how, const tensor *dx,
       int wanted, int *found, performance *results),
      dx, w, dy)
RANKS(cudnnGetConvolutionBackwardFilterAlgorithm_v7, PLIM_CUDNN_BACKWARD_FILTER,
      (void *handle, const tensor *x, const tensor *dy, const convolution *how, const tensor *dw,
       int wanted, int *found, performance *results),
      x, dw, dy)
RANKS(cudnnFindConvolutionForwardAlgorithmEx, PLIM_CUDNN_FORWARD,
      (void *handle, const tensor *x, const void *x_data, const tensor *w, const void *w_data,
       const convolution *how, const tensor *y, void *y_data, int wanted, int *found,
       performance *results, void *workspace, size_t bytes),
      x, w, y)
RANKS(cudnnFindConvolutionBackwardDataAlgorithmEx, PLIM_CUDNN_BACKWARD_DATA,
      (void *handle, const tensor *w, const void *w_data, const tensor *dy, const void *dy_data,
       const convolution *how, const tensor *dx, void *dx_data, int wanted, int *found,
       performance *results, void *workspace, size_t bytes),
      dx, w, dy)
RANKS(cudnnFindConvolutionBackwardFilterAlgorithmEx, PLIM_CUDNN_BACKWARD_FILTER,
      (void *handle, const tensor *x, const void *x_data, const tensor *dy, const void *dy_data,
       const convolution *how, const tensor *dw, void *dw_data, int wanted, int *found,
       performance *results, void *workspace, size_t bytes),
      x, dw, dy)
TELLS(cudnnGetConvolutionForwardWorkspaceSize, PLIM_CUDNN_FORWARD,
      (void *handle, const tensor *x, const tensor *w, const convolution *how, const tensor *y,
       int algorithm, size_t *bytes),
      x, w, y)
TELLS(cudnnGetConvolutionBackwardDataWorkspaceSize, PLIM_CUDNN_BACKWARD_DATA,
      (void *handle, const tensor *w, const tensor *dy, const convolution *how, const tensor *dx,
       int algorithm, size_t *bytes),
      dx, w, dy)
TELLS(cudnnGetConvolutionBackwardFilterWorkspaceSize, PLIM_CUDNN_BACKWARD_FILTER,
      (void *handle, const tensor *x, const tensor *dy, const convolution *how, const tensor *dw,
       int algorithm, size_t *bytes),
      x, dw, dy)
