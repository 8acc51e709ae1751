/*
 * test_copies.c - what the host reads from devices: what is known exactly, zeros, noise.
 */
#include "standin/cuda_words.h"
#include "standin/rehearsal.h"

#include "standin/core/shadow.h"

#include <sys/mman.h>

#define WORDS 1024

static void *allocate(size_t bytes)
{
    void *address = NULL;
    R_EQ(cudaMalloc(&address, bytes), 0);
    return address;
}

static void known(void)
{
    int out[WORDS];
    int in[WORDS];
    for (int i = 0; i < WORDS; i++) {
        out[i] = i;
    }
    char *first = allocate(sizeof(out));
    char *second = allocate(sizeof(out));
    R_EQ(cudaMemcpy(first, out, sizeof(out), 4), 0);
    R_EQ(cudaMemcpy(second + 8, first, sizeof(out) - 8, 4), 0);
    memset(in, 0xff, sizeof(in));
    R_EQ(cudaMemcpy(in, second, sizeof(in), 4), 0);
    R_TRUE(in[0] == 0 && in[1] == 0); /* never written */
    R_EQ(memcmp(in + 2, out, sizeof(in) - 8), 0);

    R_EQ(cudaMemset(second + 400, 1, 400), 0); /* a hole in what is known */
    R_EQ(cudaMemcpy(in, second, sizeof(in), 4), 0);
    R_TRUE(in[99] == 97 && in[100] == 0x01010101 && in[199] == 0x01010101 && in[200] == 198);
    R_EQ(cuMemsetD32Async((uintptr_t)second, 5, WORDS, NULL), 0);
    R_EQ(cudaMemcpy(in, second, sizeof(in), 4), 0);
    R_TRUE(in[0] == 5 && in[WORDS - 1] == 5);

    R_EQ(cudaMemcpy(second, second + 8, 64, 4), 0); /* overlapping */
    R_EQ(cudaFree(first), 0);
    R_TRUE(allocate(sizeof(out)) == (void *)first);
    R_EQ(cudaMemcpy(in, first, sizeof(in), 4), 0);
    R_TRUE(in[7] == 0); /* freed and forgotten */
    plim_standin_computed();
    R_EQ(cudaMemcpy(in, second, sizeof(in), 4), 0);
    R_TRUE(in[0] == 0 && in[WORDS - 1] == 0);
}

static void data_comes_back_until_something_is_computed(void)
{
    r_play(known);
}

/* What nvcc generates and its runtime's headers declare; only this test calls it. */
void __cudaRegisterVar(void **module, const void *host_side, const char *address, const char *name,
                       int is_external, size_t bytes, int is_constant, int is_global);
int cudaGetSymbolAddress(void **address, const void *host_side);
int cudaGetSymbolSize(size_t *bytes, const void *host_side);
int cudaMemcpyToSymbol(const void *host_side, const void *source, size_t bytes, size_t offset,
                       int kind);
int cudaMemcpyFromSymbol(void *target, const void *host_side, size_t bytes, size_t offset,
                         int kind);

static void variables(void)
{
    static char host_side;
    static char stranger;
    __cudaRegisterVar(NULL, &host_side, "table", "table", 0, 64, 1, 0);
    void *address = NULL;
    size_t bytes = 0;
    R_EQ(cudaGetSymbolAddress(&address, &host_side), 0);
    R_EQ(cudaGetSymbolSize(&bytes, &host_side), 0);
    R_EQ(bytes, 64);
    int out[2] = { 4, 5 };
    int in[3] = { 9, 9, 9 };
    R_EQ(cudaMemcpyToSymbol(&host_side, out, sizeof(out), 4, 1), 0);
    R_EQ(cudaMemcpyFromSymbol(in, &host_side, sizeof(in), 0, 2), 0);
    R_TRUE(in[0] == 0 && in[1] == 4 && in[2] == 5);
    R_EQ(cudaMemcpy((char *)address + 8, out, sizeof(int), 4), 0); /* also by its address */
    R_EQ(cudaMemcpyFromSymbol(in, &host_side, sizeof(int), 8, 2), 0);
    R_EQ(in[0], 4);
    R_EQ(cudaMemcpyToSymbol(&host_side, out, sizeof(out), 60, 1), 1); /* beyond its end */
    R_EQ(cudaGetSymbolAddress(&address, &stranger), 13);              /* cudaErrorInvalidSymbol */
}

static void variables_have_addresses(void)
{
    r_play(variables);
}

/* cudaMemcpy3DParms, with its arrays left out; written here a second time, from the manual. */
typedef struct box {
    void *source_array;
    size_t source_at[3];
    void *source;
    size_t source_pitch[3];
    void *target_array;
    size_t target_at[3];
    void *target;
    size_t target_pitch[3];
    size_t extent[3];
    int kind;
} box;

int cudaMemcpy3D(const box *copy);

static void boxes(void)
{
    char out[3][4][8]; /* layers, rows, bytes */
    char in[2][2][2] = { 0 };
    for (int i = 0; i < (int)sizeof(out); i++) {
        ((char *)out)[i] = (char)i;
    }
    char *device = allocate(sizeof(out));
    R_EQ(cudaMemcpy(device, out, sizeof(out), 4), 0);
    const box copy = { .source_at = { 3, 2, 1 },
                       .source = device,
                       .source_pitch = { 8, 8, 4 },
                       .target = in,
                       .target_pitch = { 2, 2, 2 },
                       .extent = { 2, 2, 2 },
                       .kind = 4 };
    R_EQ(cudaMemcpy3D(&copy), 0);
    for (int i = 0; i < (int)sizeof(in); i++) {
        R_EQ(((char *)in)[i], out[1 + i / 4][2 + i / 2 % 2][3 + i % 2]);
    }
}

static void boxes_are_copied(void)
{
    r_play(boxes);
}

static void limits(void)
{
    const size_t piece = PLIM_STANDIN_SHADOW_PIECE_BYTES;
    char *host = calloc(1, piece + 1);
    char *device = allocate(32 * piece);
    host[0] = 1;
    R_EQ(cudaMemcpy(device, host, piece + 1, 4), 0); /* too much to be kept */
    host[0] = 2;
    R_EQ(cudaMemcpy(host, device, 1, 4), 0);
    R_EQ(host[0], 0);
    host[0] = 3;
    for (size_t i = 0; i < 20; i++) { /* more than are kept in all: the earlier ones go */
        R_EQ(cudaMemcpy(device + i * piece, host, piece, 4), 0);
    }
    R_EQ(cudaMemcpy(host, device, 1, 4), 0);
    R_EQ(host[0], 0);
    R_EQ(cudaMemcpy(host, device + 19 * piece, 1, 4), 0);
    R_EQ(host[0], 3);
    free(host);
}

static void only_so_much_is_kept(void)
{
    r_play(limits);
}

/* Random pieces of a small range, against an array that says which bytes are known. */
static void random_copies(void)
{
    enum { BYTES = 4096 };
    static unsigned char model[2 * BYTES]; /* what the host would see */
    unsigned char host[BYTES];
    unsigned char *device = allocate(2 * sizeof(host));
    for (int step = 0; step < 5000; step++) {
        const size_t bytes = t_random_between(1, BYTES);
        const size_t to = t_random_between(0, 2 * BYTES - bytes);
        const size_t from = t_random_between(0, 2 * BYTES - bytes);
        switch (t_random_between(0, 3)) {
        case 0:
            for (size_t i = 0; i < bytes; i++) {
                host[i] = (unsigned char)t_random();
            }
            memcpy(model + to, host, bytes);
            R_EQ(cudaMemcpy(device + to, host, bytes, 4), 0);
            break;
        case 1:
            memmove(model + to, model + from, bytes);
            R_EQ(cudaMemcpy(device + to, device + from, bytes, 4), 0);
            break;
        case 2:
            memset(model + to, step, bytes);
            R_EQ(cudaMemset(device + to, step, bytes), 0);
            break;
        default:
            R_EQ(cudaMemcpy(host, device + from, bytes, 4), 0);
            R_EQ(memcmp(host, model + from, bytes), 0);
            break;
        }
        if (step % 1000 == 999) {
            plim_standin_computed();
            memset(model, 0, sizeof(model));
        }
    }
}

static void random_copies_agree_with_real_memory(void)
{
    r_play(random_copies);
}

static void noise(void)
{
    char *device = allocate(WORDS * sizeof(float));
    float values[WORDS];
    double sum = 0;
    double alone = -1;
    R_EQ(cudaMemcpy(values, device, sizeof(values), 4), 0);
    for (int i = 0; i < WORDS; i++) {
        R_TRUE(values[i] >= 0 && values[i] < 1);
        sum += (double)values[i];
    }
    R_TRUE(sum > WORDS * 0.4 && sum < WORDS * 0.6);
    R_EQ(cudaMemcpy(&alone, device, sizeof(alone), 4), 0);
    R_TRUE(alone == 0); /* it may be an index */
    float single = -1;
    R_EQ(cudaMemcpy(&single, device, sizeof(single), 4), 0);
    R_TRUE(single == 0); /* it may be a count */
    R_EQ(cudaMemcpy(values, device, 16, 4), 0);
    R_TRUE(values[0] == 0 && values[3] == 0); /* a place and its value */
    const float exact = 7;
    R_EQ(cudaMemcpy(device, &exact, sizeof(exact), 4), 0);
    R_EQ(cudaMemcpy(values, device, 8 * sizeof(float), 4), 0);
    R_TRUE(values[0] == 7 && values[1] < 1);
}

static void noise_is_between_zero_and_one(void)
{
    plim_stage_settings settings = r_settings();
    settings.gives_values = true;
    r_play_on(&settings, noise);
}

static char *shared; /* with the children */

static void draw_into_shared(void)
{
    char *device = allocate(WORDS * sizeof(float));
    R_EQ(cudaMemcpy(shared, device, WORDS * sizeof(float), 4), 0);
}

static void noise_repeats_itself(void)
{
    plim_stage_settings settings = r_settings();
    settings.gives_values = true;
    const size_t bytes = WORDS * sizeof(float);
    shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    T_TRUE(shared != MAP_FAILED);
    char first[WORDS * sizeof(float)];
    r_play_on(&settings, draw_into_shared);
    memcpy(first, shared, bytes);
    memset(shared, 0, bytes);
    r_play_on(&settings, draw_into_shared);
    T_EQ_MEM(first, shared, bytes);
    settings.seed++;
    r_play_on(&settings, draw_into_shared);
    T_TRUE(memcmp(first, shared, bytes) != 0);
    (void)munmap(shared, bytes);
}

/* What of a buffer is in this machine's memory. */
static size_t count_resident(void *address, size_t bytes)
{
    unsigned char resident[1 << 12];
    size_t count = 0;
    R_TRUE(bytes / 4096 <= sizeof(resident));
    R_EQ(mincore(address, bytes, resident), 0);
    for (size_t i = 0; i < bytes / 4096; i++) {
        count += resident[i] & 1;
    }
    return count;
}

static void large(void)
{
    const size_t bytes = (size_t)8 << 20;
    const size_t odd = 100; /* neither end of the copy is that of a page */
    void *address = NULL;
    char *const device = allocate(bytes);
    R_EQ(cudaHostAlloc(&address, bytes, 0), 0);
    unsigned char *const pinned = address;
    memset(pinned, 0xff, bytes);
    R_EQ(cudaMemcpy(pinned + odd, device, bytes - 2 * odd, 4), 0);
    R_TRUE(count_resident(pinned, bytes) <= 2);
    for (size_t i = 0; i < bytes; i++) {
        R_TRUE(pinned[i] == (i < odd || i >= bytes - odd ? 0xff : 0));
    }
    R_EQ(cudaFreeHost(address), 0);

    unsigned char *const own = malloc(bytes); /* the program's: CUDA does not know what it is */
    R_TRUE(own != NULL);
    memset(own, 0xff, bytes);
    R_EQ(cudaHostRegister(own, bytes, 0), 0);
    R_EQ(cudaMemcpy(own, device, bytes, 4), 0);
    for (size_t i = 0; i < bytes; i++) {
        R_TRUE(own[i] == 0);
    }
    R_EQ(cudaHostUnregister(own), 0);
    free(own);
}

static void pinned_buffers_give_their_pages_back(void)
{
    r_play(large);
}

T_MAIN(T_TEST(data_comes_back_until_something_is_computed), T_TEST(variables_have_addresses),
       T_TEST(boxes_are_copied), T_TEST(only_so_much_is_kept),
       T_TEST(random_copies_agree_with_real_memory), T_TEST(noise_is_between_zero_and_one),
       T_TEST(noise_repeats_itself), T_TEST(pinned_buffers_give_their_pages_back))
