/*
 * fuzz_pickle.c - any bytes as a pickle: read, walked, written and read again.
 *
 * Whatever is read, writing what was read gives a pickle that reads as something that is written
 * the same: the writer and the reader agree on every value there is.
 */
#include "base/assert.h"
#include "pickle/reader.h"
#include "pickle/writer.h"

#include <string.h>

#define INPUT_BYTES_MAX  ((size_t)64 << 10)
#define OUTPUT_BYTES_MAX ((size_t)4 << 20) /* tuples on many cycles grow when written */
#define WALK_DEPTH_MAX   5
#define WALK_ITEMS_MAX   20

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks at everything a value says of itself; the sum keeps the compiler from skipping it. */
static uint64_t walk(plim_value value, int depth)
{
    const char *text = NULL;
    size_t bytes = 0;
    uint64_t sum = 0;
    double real = 0;
    PLIM_ASSERT(plim_kind_text(plim_value_kind(value))[0] != '\0');
    if (plim_value_string(value, &text, &bytes)) {
        PLIM_ASSERT(text[bytes] == '\0');
        sum += bytes == 0 ? 0 : (unsigned char)text[bytes - 1];
    }
    sum += plim_value_u64(value, &sum) && plim_value_real(value, &real) ? 1 : 0;
    sum += plim_value_get(value, "segments").bits != 0;
    sum += plim_value_slot(value) != NULL;
    const uint64_t count = depth == 0 ? 0 : plim_value_count(value);
    for (uint64_t i = 0; i < count && i < WALK_ITEMS_MAX; i++) {
        sum += walk(plim_value_item(value, i), depth - 1);
    }
    const uint64_t pairs = depth == 0 ? 0 : plim_value_pairs(value);
    for (uint64_t i = 0; i < pairs && i < WALK_ITEMS_MAX; i++) {
        sum += walk(plim_value_pair_key(value, i), depth - 1);
        sum += walk(plim_value_pair_value(value, i), depth - 1);
    }
    return sum;
}

/* Reads `data` and writes what it holds to `ret_pickle`, which is empty when either fails. */
static plim_status rewrite(const void *data, size_t size, plim_text *ret_pickle)
{
    plim_error err = { .status = PLIM_OK };
    plim_pickle_facts facts;
    plim_value root = PLIM_VALUE_ABSENT;
    plim_builder builder;
    plim_input *input = NULL;
    plim_builder_init(&builder, NULL, NULL);
    plim_text_init(ret_pickle, NULL, OUTPUT_BYTES_MAX);
    plim_status status = plim_input_open_memory(data, size, NULL, &input, &err);
    if (status == PLIM_OK) {
        status = plim_pickle_read(input, &builder, NULL, &facts, &root, &err);
    }
    if (status == PLIM_OK) {
        (void)walk(root, WALK_DEPTH_MAX);
        status = plim_pickle_write(root, NULL, plim_sink_to_text(ret_pickle), &err);
    }
    PLIM_ASSERT(err.status == status);
    PLIM_ASSERT(status == PLIM_OK || err.message[0] != '\0');
    PLIM_ASSERT(memchr(err.message, '\0', sizeof err.message) != NULL);
    plim_input_close(input);
    plim_builder_deinit(&builder);
    return status;
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_text first;
    plim_text second;
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    if (rewrite(data, size, &first) == PLIM_OK) {
        const plim_status status = rewrite(first.data, first.length, &second);
        PLIM_ASSERT(status == PLIM_OK);
        PLIM_ASSERT(first.length == second.length);
        PLIM_ASSERT(memcmp(first.data, second.data, first.length) == 0);
        plim_text_deinit(&second);
    }
    plim_text_deinit(&first);
    return 0;
}
