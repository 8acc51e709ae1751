/*
 * fuzz_input.c - any bytes as an input, read in small steps and in large ones.
 *
 * The first byte says how large the small steps are; what follows is the input. Whatever it is,
 * windows keep their promises, and both ways give the same bytes.
 */
#include "base/assert.h"
#include "base/hash.h"
#include "base/input.h"
#include "codec/codec.h"

/* A few hundred bytes can hold gigabytes of zeros; reading on would only take time. */
#define BYTES_MAX ((uint64_t)4 << 20)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct outcome {
    plim_status status;
    uint64_t length;
    uint64_t sum;
} outcome;

static outcome read_in_steps(const uint8_t *data, size_t size, size_t wanted)
{
    outcome result = { 0 };
    plim_input *input = NULL;
    plim_error err;
    result.status = plim_input_open_memory(
        data, size, &(plim_input_options){ .codecs = plim_codecs }, &input, &err);
    size_t consumed = 0;
    while (result.status == PLIM_OK && result.length < BYTES_MAX) {
        plim_window window = { 0 };
        result.status = plim_input_refill(input, consumed, wanted, &window, &err);
        if (result.status != PLIM_OK || window.length == 0) {
            break;
        }
        consumed = window.length < wanted ? window.length : wanted;
        for (size_t i = 0; i < consumed; i++) {
            result.sum = plim_hash_fold(result.sum ^ window.data[i], UINT64_C(0x9e3779b97f4a7c15));
        }
        result.length += consumed;
        PLIM_ASSERT(plim_input_offset(input) + consumed == result.length);
        PLIM_ASSERT(plim_input_done_bytes(input) <= size);
    }
    PLIM_ASSERT(result.status == PLIM_OK || err.status == result.status);
    PLIM_ASSERT(result.status == PLIM_OK || err.message[0] != '\0');
    plim_input_close(input);
    return result;
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const outcome small = read_in_steps(data + 1, size - 1, (size_t)data[0] + 1);
    const outcome large = read_in_steps(data + 1, size - 1, (size_t)1 << 20);
    if (small.length < BYTES_MAX && large.length < BYTES_MAX) {
        PLIM_ASSERT(small.status == large.status);
        PLIM_ASSERT(small.status != PLIM_OK || small.length == large.length);
        PLIM_ASSERT(small.status != PLIM_OK || small.sum == large.sum);
    }
    return 0;
}
