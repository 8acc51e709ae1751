/*
 * test_cudnn_workspace.c - models of workspaces against what was measured in public.
 */
#include "harness.h"

#include "standin/cudnn/workspace.h"

/* A convolution of square planes, channels first, stride 1, padded so that planes stay. */
static plim_cudnn_convolution make(plim_cudnn_direction direction, int type, int major,
                                   const int64_t *n_c_k_plane_filter)
{
    const int64_t *s = n_c_k_plane_filter;
    plim_cudnn_convolution made = {
        .direction = direction,
        .x = { type, 4, { s[0], s[1], s[3], s[3] }, { s[1] * s[3] * s[3], s[3] * s[3], s[3], 1 } },
        .w = { type, 4, { s[2], s[1], s[4], s[4] }, { s[1] * s[4] * s[4], s[4] * s[4], s[4], 1 } },
        .y = { type, 4, { s[0], s[2], s[3], s[3] }, { s[2] * s[3] * s[3], s[3] * s[3], s[3], 1 } },
        .strides = { 1, 1 },
        .dilations = { 1, 1 },
        .capability_major = major,
    };
    return made;
}

static void lay_channels_last(plim_cudnn_tensor *tensor)
{
    tensor->strides[1] = 1;
    tensor->strides[3] = tensor->sizes[1];
    tensor->strides[2] = tensor->sizes[1] * tensor->sizes[3];
    tensor->strides[0] = tensor->sizes[1] * tensor->sizes[2] * tensor->sizes[3];
}

static uint64_t best_workspace(const plim_cudnn_convolution *convolution)
{
    plim_cudnn_algorithm ranked[PLIM_CUDNN_ALGORITHMS];
    T_TRUE(plim_cudnn_convolution_rank(convolution, ranked) > 0);
    return plim_cudnn_convolution_workspace(convolution, ranked[0]);
}

/*
 * ResNet-50 in float32 on a V100: pytorch/kineto, tb_plugin/samples. Sizes are of the allocator's
 * blocks, so that a request of 60,162,048 bytes shows as 58 MiB.
 */
static void resnet_on_a_v100_wants_what_was_measured(void)
{
    static const struct {
        plim_cudnn_direction direction;
        int64_t n_c_k_plane_filter[5];
        uint64_t bytes;
    } cases[] = {
        { PLIM_CUDNN_FORWARD, { 32, 256, 256, 14, 3 }, 47185920 },
        { PLIM_CUDNN_FORWARD, { 32, 512, 512, 7, 3 }, 56623104 },
        { PLIM_CUDNN_FORWARD, { 32, 128, 128, 28, 3 }, 60162048 },
        { PLIM_CUDNN_FORWARD, { 32, 256, 1024, 14, 1 }, 0 },
        { PLIM_CUDNN_BACKWARD_DATA, { 32, 256, 256, 14, 3 }, 47185920 },
        { PLIM_CUDNN_BACKWARD_DATA, { 32, 512, 512, 7, 3 }, 56623104 },
        { PLIM_CUDNN_BACKWARD_DATA, { 32, 1024, 256, 14, 1 }, 0 },
        { PLIM_CUDNN_BACKWARD_FILTER, { 32, 64, 64, 56, 3 }, 116195328 },
        { PLIM_CUDNN_BACKWARD_FILTER, { 32, 256, 256, 14, 3 }, 47185920 },
        { PLIM_CUDNN_BACKWARD_FILTER, { 32, 512, 512, 7, 3 }, 56623104 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        const plim_cudnn_convolution what =
            make(cases[i].direction, PLIM_CUDNN_FLOAT, 7, cases[i].n_c_k_plane_filter);
        T_CASE("case %zu", i);
        T_EQ_U64(best_workspace(&what), cases[i].bytes);
    }
}

/* ---- figures of others: those of device-use.jsonl, where it is present ----------------------- */

/* The number after a name in a line of JSON; -1: it is not there. */
static int64_t field(const char *line, const char *name)
{
    char quoted[32];
    (void)snprintf(quoted, sizeof quoted, "\"%s\": ", name);
    const char *at = strstr(line, quoted);
    return at == NULL ? -1 : strtoll(at + strlen(quoted), NULL, 10);
}

/*
 * A layer of ResNet-50 on a V100. What the recording leaves out follows from the network: the
 * filter of a gradient, and where strides are.
 */
static bool read_layer(const char *line, plim_cudnn_convolution *ret)
{
    const int64_t n = field(line, "n");
    const int64_t c = field(line, "c");
    const int64_t k = field(line, "k");
    if (strstr(line, "\"v100-32gb\"") == NULL || n < 0) {
        return false;
    }
    const bool is_forward = strstr(line, "\"direction\": \"forward\"") != NULL;
    const bool is_data = strstr(line, "\"direction\": \"backward data\"") != NULL;
    int64_t filter = field(line, "r");
    filter = filter > 0 ? filter : (c == 3 ? 7 : (c == k ? 3 : 1));
    const int64_t h = field(line, "h");
    const int64_t p = field(line, "p");
    const int64_t stride = h > 0 && p > 0 ? h / p
                                          : (filter == 7 || (filter == 1 && k == 2 * c) ||
                                                     (filter == 3 && h * c == 128 * 56)
                                                 ? 2
                                                 : 1);
    const int64_t in = h > 0 ? h : p * stride;
    const int64_t shape[] = { n, c, k, in, filter };
    *ret = make(is_forward ? PLIM_CUDNN_FORWARD
                           : (is_data ? PLIM_CUDNN_BACKWARD_DATA : PLIM_CUDNN_BACKWARD_FILTER),
                PLIM_CUDNN_FLOAT, 7, shape);
    const int64_t out = in / stride;
    ret->y = (plim_cudnn_tensor){
        PLIM_CUDNN_FLOAT, 4, { n, k, out, out }, { k * out * out, out * out, out, 1 }
    };
    ret->strides[0] = stride;
    ret->strides[1] = stride;
    return true;
}

static void layers_of_others_are_inside_the_bounds(void)
{
    static char line[4096];
    const char *named = getenv("PLIM_DEVICE_USE");
    FILE *const file = fopen(named != NULL ? named : "../shared/data/device-use.jsonl", "rb");
    if (file == NULL) {
        T_SKIP("no device-use.jsonl: set PLIM_DEVICE_USE to its path");
    }
    uint64_t sums[2] = { 0 };
    uint64_t largest[2] = { 0 };
    uint64_t error = 0;
    size_t count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        plim_cudnn_convolution what;
        if (strstr(line, "\"cudnn_workspace\"") == NULL || !read_layer(line, &what)) {
            continue;
        }
        const uint64_t bytes[] = { (uint64_t)field(line, "workspace_bytes"),
                                   best_workspace(&what) };
        const plim_cudnn_bounds bounds = plim_cudnn_convolution_bounds(&what, false);
        count++;
        T_CASE("row %zu: measured %" PRIu64 ", here %" PRIu64 " of %" PRIu64, count, bytes[0],
               bytes[1], bounds.most_bytes);
        T_TRUE(bytes[0] <= bounds.most_bytes + 2 * 1024 * 1024); /* some KiB for indices */
        for (int i = 0; i < 2; i++) {
            sums[i] += bytes[i];
            largest[i] = bytes[i] > largest[i] ? bytes[i] : largest[i];
        }
        error += bytes[0] > bytes[1] ? bytes[0] - bytes[1] : bytes[1] - bytes[0];
    }
    (void)fclose(file);
    T_EQ_U64(count, 64);
    T_EQ_U64(largest[1], largest[0]);
    T_TRUE(error < sums[0] / 50); /* 2 % */
    print_message("%zu layers: %" PRIu64 " bytes measured, %" PRIu64 " here, %" PRIu64 " apart\n",
                  count, sums[0], sums[1], error);
}

/* cuDNN 7 told 29,600,043 and 22,137,259 bytes: it counted the result twice. */
static void half_precision_channels_first_is_copied_to_channels_last(void)
{
    static const int64_t shape[] = { 32, 96, 256, 27, 5 };
    const plim_cudnn_convolution forward = make(PLIM_CUDNN_FORWARD, PLIM_CUDNN_HALF, 7, shape);
    const plim_cudnn_convolution backward =
        make(PLIM_CUDNN_BACKWARD_DATA, PLIM_CUDNN_HALF, 7, shape);
    const uint64_t x = 32 * 96 * 27 * 27 * 2;
    const uint64_t y = 32 * 256 * 27 * 27 * 2;
    const uint64_t w = 256 * 96 * 5 * 5 * 2;
    T_EQ_U64(best_workspace(&forward), x + w + y);
    T_EQ_U64(best_workspace(&backward), x + w + y);
    T_TRUE(29600043 - (x + w + 2 * y) < 8192);
    T_TRUE(22137259 - (y + w + 2 * x) < 8192);
}

static void channels_last_wants_nothing_but_sums_for_filters(void)
{
    static const int64_t shape[] = { 8, 64, 128, 56, 3 };
    for (int direction = PLIM_CUDNN_FORWARD; direction <= PLIM_CUDNN_BACKWARD_FILTER; direction++) {
        plim_cudnn_convolution what =
            make((plim_cudnn_direction)direction, PLIM_CUDNN_BFLOAT16, 9, shape);
        lay_channels_last(&what.x);
        lay_channels_last(&what.w);
        lay_channels_last(&what.y);
        T_CASE("direction %d", direction);
        T_EQ_U64(best_workspace(&what),
                 direction == PLIM_CUDNN_BACKWARD_FILTER ? 128 * 64 * 9 * 4 : 0);
    }
}

static void three_channels_are_padded_to_eight(void)
{
    static const int64_t shape[] = { 8, 3, 64, 224, 7 };
    plim_cudnn_convolution what = make(PLIM_CUDNN_FORWARD, PLIM_CUDNN_HALF, 9, shape);
    lay_channels_last(&what.x);
    lay_channels_last(&what.w);
    lay_channels_last(&what.y);
    T_EQ_U64(best_workspace(&what), (8 * 224 * 224 + 64 * 49) * 8 * 2);
}

static void one_by_one_filters_in_float32_want_nothing(void)
{
    static const int64_t shape[] = { 1, 16, 64, 335, 1 };
    const plim_cudnn_convolution what = make(PLIM_CUDNN_FORWARD, PLIM_CUDNN_FLOAT, 8, shape);
    T_EQ_U64(best_workspace(&what), 0);
}

static void every_convolution_has_an_algorithm_of_last_resort(void)
{
    static const int types[] = { PLIM_CUDNN_FLOAT, PLIM_CUDNN_DOUBLE, PLIM_CUDNN_HALF,
                                 PLIM_CUDNN_BFLOAT16, PLIM_CUDNN_INT8 };
    for (int round = 0; round < 2000; round++) {
        plim_cudnn_algorithm ranked[PLIM_CUDNN_ALGORITHMS];
        const int64_t shape[] = { 1 + (int64_t)(t_random() % 64), 1 + (int64_t)(t_random() % 512),
                                  1 + (int64_t)(t_random() % 512), 1 + (int64_t)(t_random() % 128),
                                  1 + 2 * (int64_t)(t_random() % 4) };
        const plim_cudnn_convolution what =
            make((plim_cudnn_direction)(t_random() % 3), types[t_random() % T_COUNT(types)],
                 6 + (int)(t_random() % 6), shape);
        const size_t count = plim_cudnn_convolution_rank(&what, ranked);
        bool has_gemm = false;
        unsigned seen = 0;
        for (size_t i = 0; i < count; i++) {
            has_gemm |= ranked[i] == PLIM_CUDNN_IMPLICIT_GEMM;
            T_TRUE((seen & (1u << ranked[i])) == 0);
            seen |= 1u << ranked[i];
        }
        T_TRUE(has_gemm);
    }
}

static void attention_keeps_query_gradients_in_float32(void)
{
    plim_cudnn_attention what = { .type = PLIM_CUDNN_BFLOAT16,
                                  .batch = 2,
                                  .query_heads = 16,
                                  .key_heads = 16,
                                  .value_heads = 16,
                                  .query_length = 1024,
                                  .key_length = 1024,
                                  .query_size = 64,
                                  .value_size = 64 };
    const uint64_t rows = 2 * 16 * 1024;
    T_EQ_U64(plim_cudnn_attention_backward_workspace(&what), rows * 64 * 4 + rows * 4);
    what.key_heads = what.value_heads = 4;
    T_EQ_U64(plim_cudnn_attention_backward_workspace(&what),
             rows * 64 * 4 + rows * 4 + 2 * rows * 64 * 2);
}

static void recurrent_networks_keep_gates_cells_and_outputs(void)
{
    const plim_cudnn_recurrent lstm = { .cell = PLIM_CUDNN_CELL_LSTM,
                                        .type = PLIM_CUDNN_FLOAT,
                                        .input_size = 40,
                                        .hidden_size = 64,
                                        .projected_size = 64,
                                        .layers = 1,
                                        .directions = 1,
                                        .sequence_length = 25,
                                        .batch = 8 };
    T_EQ_U64(plim_cudnn_recurrent_workspace(&lstm), 25 * 8 * 4 * 64 * 4);
    T_EQ_U64(plim_cudnn_recurrent_reserve(&lstm), 25 * 8 * (4 + 1 + 1) * 64 * 4);
    plim_cudnn_recurrent deep = lstm;
    deep.layers = 3;
    deep.directions = 2;
    T_EQ_U64(plim_cudnn_recurrent_reserve(&deep), 6 * plim_cudnn_recurrent_reserve(&lstm));
    deep.has_dropout = true;
    T_EQ_U64(plim_cudnn_recurrent_reserve(&deep),
             6 * plim_cudnn_recurrent_reserve(&lstm) + 2 * 25 * 8 * 2 * 64 * 4);
}

static void a_mask_has_a_bit_for_each_element(void)
{
    const plim_cudnn_tensor x = { PLIM_CUDNN_HALF, 4, { 3, 5, 7, 7 }, { 245, 49, 7, 1 } };
    T_EQ_U64(plim_cudnn_activation_mask_bytes(&x), (3 * 5 * 49 + 7) / 8);
    T_EQ_U64(plim_cudnn_batch_norm_workspace(&x, 132), 0);
}

T_MAIN(T_TEST(layers_of_others_are_inside_the_bounds),
       T_TEST(resnet_on_a_v100_wants_what_was_measured),
       T_TEST(half_precision_channels_first_is_copied_to_channels_last),
       T_TEST(channels_last_wants_nothing_but_sums_for_filters),
       T_TEST(three_channels_are_padded_to_eight),
       T_TEST(one_by_one_filters_in_float32_want_nothing),
       T_TEST(every_convolution_has_an_algorithm_of_last_resort),
       T_TEST(attention_keeps_query_gradients_in_float32),
       T_TEST(recurrent_networks_keep_gates_cells_and_outputs),
       T_TEST(a_mask_has_a_bit_for_each_element))
