/*
 * fuzz_sizes.c - any text as a size: read it, print it, read that back.
 */
#include "base/assert.h"
#include "base/size.h"

#include <stddef.h>
#include <string.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256] = { 0 };
    memcpy(text, data, size < sizeof text - 1 ? size : sizeof text - 1);

    uint64_t bytes = 0;
    plim_error err;
    if (plim_size_parse(text, &bytes, &err) != PLIM_OK) {
        PLIM_ASSERT(err.status == PLIM_INVALID_ARGUMENT);
        PLIM_ASSERT(err.offset <= strlen(text));
        return 0;
    }
    const plim_short_text printed = plim_format_bytes(bytes);
    uint64_t back = 0;
    if (plim_size_parse(printed.text, &back, NULL) == PLIM_OK) {
        const uint64_t difference = back > bytes ? back - bytes : bytes - back;
        PLIM_ASSERT(difference <= bytes / 199);
    } else {
        PLIM_ASSERT(strcmp(printed.text, "16.0 EiB") == 0); /* rounded up beyond 64 bits */
    }
    PLIM_ASSERT(strlen(plim_format_count(bytes).text) >= 1);
    PLIM_ASSERT(strlen(plim_format_duration_us(bytes).text) >= 4);
    return 0;
}
