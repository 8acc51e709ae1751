/*
 * test_cudnn_recurrent.c - weights of recurrent networks lie where the manual says.
 */
#include "harness.h"

#include "standin/cudnn/cudnn.h"

int cudnnCreateRNNDescriptor(void **ret);
int cudnnDestroyRNNDescriptor(void *self);
int cudnnCreateTensorDescriptor(void **ret);
int cudnnDestroyTensorDescriptor(void *self);
int cudnnSetRNNDescriptor_v8(void *self, int algorithm, int cell, int bias_mode, int direction_mode,
                             int input_mode, int type, int math_precision, int math_type,
                             int32_t input_size, int32_t hidden_size, int32_t projected_size,
                             int32_t layers, const void *dropout, uint32_t flags);
int cudnnGetRNNWeightSpaceSize(void *handle, const void *self, size_t *bytes);
int cudnnGetRNNWeightParams(void *handle, const void *self, int32_t pseudo_layer,
                            size_t space_bytes, const void *space, int32_t linear_layer,
                            void *matrix, const void **matrix_address, void *bias,
                            const void **bias_address);
int cudnnGetTensorNdDescriptor(const void *self, int wanted, int *type, int *rank, int *sizes,
                               int *strides);

enum { RELU, TANH, LSTM, GRU };
enum { NO_BIAS, INPUT_BIAS, DOUBLE_BIAS, RECURRENT_BIAS };

typedef struct network {
    int cell, bias_mode;
    int32_t input, hidden, projected, layers;
    int directions;
} network;

static void *describe(const network *what)
{
    void *made = NULL;
    T_EQ_I64(cudnnCreateRNNDescriptor(&made), PLIM_CUDNN_OK);
    T_EQ_I64(cudnnSetRNNDescriptor_v8(made, 0, what->cell, what->bias_mode, what->directions - 1, 0,
                                      PLIM_CUDNN_FLOAT, PLIM_CUDNN_FLOAT, 0, what->input,
                                      what->hidden, what->projected, what->layers, NULL, 0),
             PLIM_CUDNN_OK);
    return made;
}

static size_t space_of(const void *self)
{
    size_t bytes = 0;
    T_EQ_I64(cudnnGetRNNWeightSpaceSize(NULL, self, &bytes), PLIM_CUDNN_OK);
    return bytes;
}

/* The parameters of torch.nn.LSTM and its sisters, counted as PyTorch's manual gives them. */
static void the_space_is_the_sum_of_the_parameters(void)
{
    static const struct {
        network what;
        size_t values;
    } cases[] = {
        { { LSTM, DOUBLE_BIAS, 40, 64, 64, 1, 1 }, 4 * 64 * 40 + 4 * 64 * 64 + 8 * 64 },
        { { LSTM, DOUBLE_BIAS, 40, 64, 64, 2, 2 },
          2 * (4 * 64 * 40 + 4 * 64 * 64 + 8 * 64) + 2 * (4 * 64 * 128 + 4 * 64 * 64 + 8 * 64) },
        { { GRU, DOUBLE_BIAS, 7, 5, 5, 1, 1 }, 3 * 5 * 7 + 3 * 5 * 5 + 6 * 5 },
        { { RELU, DOUBLE_BIAS, 7, 5, 5, 3, 1 }, 5 * 7 + 5 * 5 + 2 * (5 * 5 + 5 * 5) + 3 * 10 },
        { { TANH, NO_BIAS, 7, 5, 5, 1, 1 }, 5 * 7 + 5 * 5 },
        { { GRU, INPUT_BIAS, 7, 5, 5, 1, 1 }, 3 * 5 * 7 + 3 * 5 * 5 + 3 * 5 },
        { { LSTM, DOUBLE_BIAS, 40, 64, 32, 2, 1 },
          (4 * 64 * 40 + 4 * 64 * 32 + 32 * 64 + 8 * 64) +
              (4 * 64 * 32 + 4 * 64 * 32 + 32 * 64 + 8 * 64) },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        void *self = describe(&cases[i].what);
        T_CASE("case %zu", i);
        T_EQ_U64(space_of(self), cases[i].values * sizeof(float));
        T_EQ_I64(cudnnDestroyRNNDescriptor(self), PLIM_CUDNN_OK);
    }
}

/* Marks the values of a matrix in a map of the space; they must be inside and nobody else's. */
static void mark(unsigned char *map, size_t values, const char *space, const void *address,
                 const void *tensor)
{
    int type = -1;
    int rank = -1;
    int sizes[3] = { 0 };
    int strides[3] = { 0 };
    T_EQ_I64(cudnnGetTensorNdDescriptor(tensor, 3, &type, &rank, sizes, strides), PLIM_CUDNN_OK);
    if (address == NULL) {
        T_EQ_I64(rank, 0);
        return;
    }
    T_EQ_I64(rank, 3);
    T_EQ_I64(sizes[0], 1);
    T_EQ_I64(type, PLIM_CUDNN_FLOAT);
    const size_t start = (size_t)((const char *)address - space) / sizeof(float);
    const size_t count = (size_t)sizes[1] * (size_t)sizes[2];
    T_TRUE(start + count <= values);
    for (size_t i = start; i < start + count; i++) {
        T_EQ_I64(map[i], 0);
        map[i] = 1;
    }
}

static void matrices_and_biases_tile_the_space(void)
{
    for (int round = 0; round < 60; round++) {
        const int32_t hidden = 1 + (int32_t)(t_random() % 9);
        const network what = { (int)(t_random() % 4),
                               (int)(t_random() % 4),
                               1 + (int32_t)(t_random() % 9),
                               hidden,
                               1 + (int32_t)(t_random() % (uint64_t)hidden),
                               1 + (int32_t)(t_random() % 3),
                               1 + (int)(t_random() % 2) };
        static const int32_t linear_layers[] = { 2, 2, 8, 6 };
        void *self = describe(&what);
        void *matrix = NULL;
        void *bias = NULL;
        const size_t bytes = space_of(self);
        const size_t values = bytes / sizeof(float);
        char *space = calloc(1, bytes);
        unsigned char *map = calloc(1, values);
        T_NOT_NULL(space);
        T_NOT_NULL(map);
        T_EQ_I64(cudnnCreateTensorDescriptor(&matrix), PLIM_CUDNN_OK);
        T_EQ_I64(cudnnCreateTensorDescriptor(&bias), PLIM_CUDNN_OK);
        for (int32_t layer = 0; layer < what.layers * what.directions; layer++) {
            for (int32_t linear = 0; linear <= linear_layers[what.cell]; linear++) {
                const void *matrix_address = NULL;
                const void *bias_address = NULL;
                T_EQ_I64(cudnnGetRNNWeightParams(NULL, self, layer, bytes, space, linear, matrix,
                                                 &matrix_address, bias, &bias_address),
                         PLIM_CUDNN_OK);
                mark(map, values, space, matrix_address, matrix);
                mark(map, values, space, bias_address, bias);
            }
        }
        for (size_t i = 0; i < values; i++) {
            T_EQ_I64(map[i], 1);
        }
        free(map);
        free(space);
        T_EQ_I64(cudnnDestroyTensorDescriptor(matrix), PLIM_CUDNN_OK);
        T_EQ_I64(cudnnDestroyTensorDescriptor(bias), PLIM_CUDNN_OK);
        T_EQ_I64(cudnnDestroyRNNDescriptor(self), PLIM_CUDNN_OK);
    }
}

static void what_is_not_there_is_refused(void)
{
    const network what = { GRU, DOUBLE_BIAS, 4, 4, 4, 1, 1 };
    void *self = describe(&what);
    const size_t bytes = space_of(self);
    const void *address = NULL;
    T_EQ_I64(cudnnGetRNNWeightParams(NULL, self, 1, bytes, NULL, 0, NULL, &address, NULL, NULL),
             PLIM_CUDNN_BAD_PARAM);
    T_EQ_I64(cudnnGetRNNWeightParams(NULL, self, 0, bytes, NULL, 7, NULL, &address, NULL, NULL),
             PLIM_CUDNN_BAD_PARAM);
    T_EQ_I64(cudnnGetRNNWeightParams(NULL, self, 0, bytes - 1, NULL, 0, NULL, &address, NULL, NULL),
             PLIM_CUDNN_BAD_PARAM_SIZE);
    T_EQ_I64(cudnnSetRNNDescriptor_v8(self, 0, 4, 0, 0, 0, 0, 0, 0, 4, 4, 4, 1, NULL, 0),
             PLIM_CUDNN_BAD_PARAM);
    T_EQ_I64(cudnnDestroyRNNDescriptor(self), PLIM_CUDNN_OK);
}

T_MAIN(T_TEST(the_space_is_the_sum_of_the_parameters), T_TEST(matrices_and_biases_tile_the_space),
       T_TEST(what_is_not_there_is_refused))
