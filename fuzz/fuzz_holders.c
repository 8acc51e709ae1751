/*
 * fuzz_holders.c - any bytes as a document of holders: read, and each block found again.
 */
#include "base/assert.h"

#include "plimsoll/holders.h"

#include <string.h>

#define INPUT_BYTES_MAX ((size_t)64 << 10)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t use(const plim_holders *holders)
{
    size_t length = 0;
    for (size_t i = 0; i < plim_holders_count(holders); i++) {
        const plim_holder *const holder = plim_holders_at(holders, i);
        length += holder->text != NULL ? strlen(holder->text) : 0;
        for (size_t k = 0; k < holder->path_count; k++) {
            length += strlen(holder->path[k]);
        }
        const plim_holder_block *const block =
            plim_holders_find(holders, holder->device, holder->bytes);
        PLIM_ASSERT(block == NULL || block->address == holder->bytes);
        length += block != NULL && block->label != NULL ? strlen(block->label) : 0;
    }
    for (size_t i = 0; i < plim_holders_device_count(holders); i++) {
        length += plim_holders_device_at(holders, i)->device >= 0;
    }
    const plim_holders_facts *const facts = plim_holders_facts_of(holders);
    for (size_t i = 0; i < facts->warning_count; i++) {
        length += strlen(facts->warnings[i]);
    }
    return length;
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_holders *holders = NULL;
    plim_error err = { .status = PLIM_OK };
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    if (plim_holders_read_text((const char *)data, size, NULL, &holders, &err) == PLIM_OK) {
        PLIM_ASSERT(use(holders) <= 8 * size);
    } else {
        PLIM_ASSERT(holders == NULL);
        PLIM_ASSERT(err.message[0] != '\0');
    }
    plim_holders_destroy(holders);
    return 0;
}
