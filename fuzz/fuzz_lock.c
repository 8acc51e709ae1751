/*
 * fuzz_lock.c - any bytes as a lock: read, held to itself, made histories.
 */
#include "base/assert.h"

#include "plimsoll/lock.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX ((size_t)64 << 10)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const plim_lock_entry *entry)
{
    const plim_upgrade_limit limit = { 0 };
    plim_lock_comparison all;
    if (plim_lock_compare(entry, entry, &limit, NULL, &all, NULL) == PLIM_OK) {
        PLIM_ASSERT(all.figure_count <= all.figure_room);
        plim_lock_comparison_deinit(&all);
    }
    for (size_t i = 0; i < entry->peak_count; i++) {
        plim_history *history = NULL;
        if (plim_lock_history(&entry->peaks[i], NULL, &history, NULL) == PLIM_OK) {
            PLIM_ASSERT(plim_history_device_count(history) == 1);
        }
        plim_history_destroy(history);
    }
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = size <= INPUT_BYTES_MAX ? malloc(size + 1) : NULL;
    plim_lock *lock = NULL;
    plim_error err = { .status = PLIM_OK };
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    if (plim_lock_read_text("fuzz", text, NULL, &lock, &err) == PLIM_OK) {
        for (size_t i = 0; i < plim_lock_count(lock); i++) {
            use(plim_lock_at(lock, i));
            PLIM_ASSERT(plim_lock_find(lock, plim_lock_at(lock, i)) == plim_lock_at(lock, i));
        }
    } else {
        PLIM_ASSERT(lock == NULL);
        PLIM_ASSERT(err.message[0] != '\0');
    }
    plim_lock_destroy(lock);
    free(text);
    return 0;
}
