/*
 * fuzz_wants.c - any bytes as an object whose wants are read, and as the stand-ins.
 *
 * What is written for such wants is itself read back, and has everything that was wanted.
 */
#include "base/assert.h"
#include "facade/elf_object.h"
#include "facade/layout.h"

#include <stdlib.h>
#include <string.h>

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Symbols stand in the order of the layout's exports. */
static void check_symbols(const plim_facade_layout *layout, const plim_elf *elf)
{
    PLIM_ASSERT(elf->symbol_count == PLIM_SYMBOLS_BEFORE + layout->exports.count ||
                layout->exports.count == 0);
    for (size_t i = 0; i < layout->exports.count; i++) {
        const plim_facade_export *const one = &layout->exports.items[i];
        plim_elf_symbol symbol;
        PLIM_ASSERT(plim_elf_symbol_at(elf, PLIM_SYMBOLS_BEFORE + i, &symbol));
        PLIM_ASSERT(!symbol.undefined);
        PLIM_ASSERT(symbol.version == one->version);
        PLIM_ASSERT(strcmp(symbol.name, plim_text_string(&layout->strings) + one->string) == 0);
    }
}

static void check_facade(const plim_wants *wants, const plim_wants_library *library)
{
    plim_facade_layout layout;
    plim_error err;
    if (plim_layout_init(&layout, wants, library, &err) == PLIM_OK) {
        PLIM_ASSERT(layout.exports.count == library->list.count);
        const size_t bytes = (size_t)plim_layout_file_bytes(&layout);
        unsigned char *const image = calloc(1, bytes);
        PLIM_ASSERT(image != NULL);
        plim_layout_emit(&layout, image);
        plim_elf elf;
        PLIM_ASSERT(plim_elf_open(image, bytes, &elf));
        check_symbols(&layout, &elf);
        free(image);
    } else {
        PLIM_ASSERT(err.status == PLIM_LIMIT);
    }
    plim_layout_deinit(&layout);
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plim_wants *const wants = plim_wants_create(NULL);
    PLIM_ASSERT(wants != NULL);
    wants->standin = "/libplim_standin.so";
    PLIM_ASSERT(plim_wants_add_standin(wants, data, size));
    PLIM_ASSERT(plim_wants_add_object(wants, data, size));
    PLIM_ASSERT(plim_wants_add_object(wants, data, size));
    PLIM_ASSERT(plim_wants_finish(wants));
    for (size_t i = 0; i < wants->libraries.count; i++) {
        if (plim_machine_find(wants->machine) != NULL) {
            check_facade(wants, &wants->libraries.items[i]);
        }
    }
    plim_wants_destroy(wants);
    return 0;
}
