/* layout.c - names get numbers, parts get places. See layout.h. */
#include "facade/layout.h"

#include "base/assert.h"
#include "base/error.h"
#include "facade/table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS_MAX       ((size_t)64 << 20)
#define VERSIONS_MAX      32000 /* numbers have 15 bits */
#define BLOOM_BITS_SYMBOL 16    /* one lookup in 70 is not turned away that should be */

const plim_section plim_sections[PLIM_PART_SECTIONS] = {
    [PLIM_PART_HEADERS] = { .name = "", .flags = SHF_ALLOC, .align = 1 },
    [PLIM_PART_HASH] = { ".gnu.hash", SHT_GNU_HASH, SHF_ALLOC, 8, 0, PLIM_PART_SYMBOLS },
    [PLIM_PART_SYMBOLS] = { ".dynsym", SHT_DYNSYM, SHF_ALLOC, 8, sizeof(Elf64_Sym),
                            PLIM_PART_STRINGS },
    [PLIM_PART_STRINGS] = { ".dynstr", SHT_STRTAB, SHF_ALLOC, 1, 0, PLIM_PART_HEADERS },
    [PLIM_PART_VERSIONS] = { ".gnu.version", SHT_GNU_versym, SHF_ALLOC, 2, sizeof(Elf64_Half),
                             PLIM_PART_SYMBOLS },
    [PLIM_PART_DEFINITIONS] = { ".gnu.version_d", SHT_GNU_verdef, SHF_ALLOC, 8, 0,
                                PLIM_PART_STRINGS },
    [PLIM_PART_RELOCATIONS] = { ".rela.dyn", SHT_RELA, SHF_ALLOC, 8, sizeof(Elf64_Rela),
                                PLIM_PART_SYMBOLS },
    [PLIM_PART_CODE] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16, 0,
                         PLIM_PART_HEADERS },
    [PLIM_PART_CONSTRUCTORS] = { ".init_array", SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE, 8, 8,
                                 PLIM_PART_HEADERS },
    [PLIM_PART_DYNAMIC] = { ".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, 8, sizeof(Elf64_Dyn),
                            PLIM_PART_STRINGS },
    [PLIM_PART_ATTACH] = { ".got", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, 8, PLIM_PART_HEADERS },
    [PLIM_PART_TABLE] = { ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 64, 0, PLIM_PART_HEADERS },
    [PLIM_PART_VARIABLES] = { ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 64, 0, PLIM_PART_HEADERS },
    [PLIM_PART_SECTION_NAMES] = { ".shstrtab", SHT_STRTAB, 0, 1, 0, PLIM_PART_HEADERS },
};

/* Adds a string to .dynstr; failures stick to the text. */
static uint32_t add_string(plim_facade_layout *layout, const char *string)
{
    const size_t offset = layout->strings.length;
    plim_text_append(&layout->strings, string, strlen(string) + 1);
    return (uint32_t)offset; /* below STRINGS_MAX */
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Gathers the versions of a library, each once. */
static bool number_versions(plim_facade_layout *layout, const plim_wants_library *library)
{
    for (size_t i = 0; i < library->list.count; i++) {
        const char *const version = library->list.items[i].version;
        if (version != NULL && !PLIM_VEC_PUSH(layout->mem, &layout->version_names, version)) {
            return false;
        }
    }
    if (layout->version_names.count == 0) {
        return true;
    }
    const char **const names = layout->version_names.items;
    qsort(names, layout->version_names.count, sizeof *names, compare_names);
    size_t kept = 0;
    for (size_t i = 0; i < layout->version_names.count; i++) {
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0) {
            names[kept++] = names[i];
        }
    }
    layout->version_names.count = kept;
    for (size_t i = 0; i < kept; i++) {
        const uint32_t string = add_string(layout, names[i]);
        if (!PLIM_VEC_PUSH(layout->mem, &layout->version_strings, string)) {
            return false;
        }
    }
    return true;
}

static uint16_t version_number(const plim_facade_layout *layout, const char *version)
{
    if (version == NULL) {
        return PLIM_VERSION_NONE;
    }
    const char *const *const found =
        bsearch(&version, layout->version_names.items, layout->version_names.count,
                sizeof *layout->version_names.items, compare_names);
    PLIM_ASSERT(found != NULL);
    return (uint16_t)(PLIM_VERSION_FIRST + (found - layout->version_names.items));
}

static uint32_t hash_name(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++) {
        hash = hash * 33 + (unsigned char)*name;
    }
    return hash;
}

/* Gives names their places: the list is by name, so that one name's versions follow each other. */
static bool place_exports(plim_facade_layout *layout, const plim_wants_library *library)
{
    plim_facade_export now = { 0 };
    const char *name = "";
    for (size_t i = 0; i < library->list.count; i++) {
        const plim_want *const want = &library->list.items[i];
        now.is_hidden = strcmp(want->name, name) == 0;
        now.version = version_number(layout, want->version);
        if (!now.is_hidden) {
            name = want->name;
            now.is_data = want->is_data;
            now.string = add_string(layout, name);
            now.hash = hash_name(name);
            now.place =
                want->is_data ? layout->variable_count++ : (uint32_t)layout->functions.count;
            if (!want->is_data && !PLIM_VEC_PUSH(layout->mem, &layout->functions, now.string)) {
                return false;
            }
        }
        if (!PLIM_VEC_PUSH(layout->mem, &layout->exports, now)) {
            return false;
        }
    }
    return true;
}

static int compare_exports(const void *a, const void *b)
{
    const plim_facade_export *const one = a;
    const plim_facade_export *const other = b;
    if (one->bucket != other->bucket) {
        return one->bucket < other->bucket ? -1 : 1;
    }
    if (one->string != other->string) {
        return one->string < other->string ? -1 : 1;
    }
    return one->version < other->version ? -1 : 1; /* no two are alike */
}

/* Buckets are short, and the filter wide: the linker asks each facade for each symbol it seeks. */
static void sort_into_buckets(plim_facade_layout *layout)
{
    layout->bucket_count = (uint32_t)(layout->exports.count / 2 + 1);
    layout->bloom_words = 1;
    while ((uint64_t)layout->bloom_words * 64 < layout->exports.count * BLOOM_BITS_SYMBOL) {
        layout->bloom_words *= 2;
    }
    for (size_t i = 0; i < layout->exports.count; i++) {
        plim_facade_export *const one = &layout->exports.items[i];
        one->bucket = one->hash % layout->bucket_count;
    }
    if (layout->exports.count > 0) {
        qsort(layout->exports.items, layout->exports.count, sizeof *layout->exports.items,
              compare_exports);
    }
}

/* The bytes of a part. */
static uint64_t part_bytes(const plim_facade_layout *layout, plim_facade_part part)
{
    const uint64_t exports = layout->exports.count;
    const uint64_t functions = layout->functions.count;
    const uint64_t symbols = PLIM_SYMBOLS_BEFORE + exports;
    const uint64_t versions = layout->version_names.count;
    const plim_facade_machine *const machine = layout->machine;
    switch (part) {
    case PLIM_PART_HEADERS:
        return sizeof(Elf64_Ehdr) + PLIM_SEGMENTS * sizeof(Elf64_Phdr);
    case PLIM_PART_HASH:
        return 16 + layout->bloom_words * 8u + layout->bucket_count * 4u + exports * 4;
    case PLIM_PART_SYMBOLS:
        return symbols * sizeof(Elf64_Sym);
    case PLIM_PART_STRINGS:
        return layout->strings.length;
    case PLIM_PART_VERSIONS:
        return versions == 0 ? 0 : symbols * sizeof(Elf64_Half);
    case PLIM_PART_DEFINITIONS:
        return versions == 0 ? 0 : (versions + 1) * (sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux));
    case PLIM_PART_RELOCATIONS: /* constructor, soname, two of each entry; the last: attach */
        return (2 + 2 * functions + 1) * sizeof(Elf64_Rela);
    case PLIM_PART_CODE:
        return machine->constructor_bytes +
               functions * (machine->counting_bytes + machine->unknown_bytes);
    case PLIM_PART_CONSTRUCTORS:
    case PLIM_PART_ATTACH:
        return sizeof(Elf64_Addr);
    case PLIM_PART_DYNAMIC:
        return PLIM_DYNAMIC_MAX * sizeof(Elf64_Dyn);
    case PLIM_PART_TABLE:
        return sizeof(plim_facade_table) + functions * sizeof(plim_facade_entry);
    case PLIM_PART_VARIABLES:
        return (uint64_t)layout->variable_count * PLIM_VARIABLE_BYTES;
    case PLIM_PART_SECTION_NAMES: {
        uint64_t bytes = 0;
        for (int i = 0; i < PLIM_PART_SECTIONS; i++) {
            bytes += strlen(plim_sections[i].name) + 1;
        }
        return bytes;
    }
    case PLIM_PART_SECTIONS:
        return PLIM_PART_SECTIONS * sizeof(Elf64_Shdr);
    case PLIM_PARTS:
        break;
    }
    PLIM_ASSERT(false);
    return 0;
}

static uint64_t align_up(uint64_t offset, uint64_t align)
{
    return (offset + align - 1) / align * align;
}

/* One after the other; where the way of access changes, on a new page. */
static void place_parts(plim_facade_layout *layout)
{
    uint64_t offset = 0;
    for (plim_facade_part part = 0; part < PLIM_PARTS; part++) {
        uint64_t align = 8;
        if (part < PLIM_PART_SECTIONS) {
            align = plim_sections[part].align;
        }
        if (part == PLIM_PART_CODE || part == PLIM_PART_CONSTRUCTORS) {
            align = layout->machine->page_bytes;
        }
        offset = align_up(offset, align);
        layout->parts[part].offset = offset;
        layout->parts[part].bytes = part_bytes(layout, part);
        if (part != PLIM_PART_VARIABLES) { /* which are not in the file */
            offset += layout->parts[part].bytes;
        }
    }
}

plim_status plim_layout_init(plim_facade_layout *layout, const plim_wants *wants,
                             const plim_wants_library *library, plim_error *err)
{
    *layout =
        (plim_facade_layout){ .mem = wants->mem, .machine = plim_machine_find(wants->machine) };
    PLIM_ASSERT(layout->machine != NULL);
    plim_text_init(&layout->strings, layout->mem, STRINGS_MAX);
    (void)add_string(layout, "");
    layout->soname_string = add_string(layout, library->soname);
    layout->standin_string = add_string(layout, wants->standin);
    layout->attach_string = add_string(layout, "plim_standin_attach");
    if (!number_versions(layout, library) || !place_exports(layout, library)) {
        return plim_fail_memory(err, "laying out a facade");
    }
    PLIM_TRY(plim_text_status(&layout->strings, "laying out a facade", err));
    if (layout->version_names.count > VERSIONS_MAX) {
        return plim_fail(err, PLIM_LIMIT, "%s: objects want more than %d versions of it",
                         library->soname, VERSIONS_MAX);
    }
    sort_into_buckets(layout);
    place_parts(layout);
    return PLIM_OK;
}

void plim_layout_deinit(plim_facade_layout *layout)
{
    plim_text_deinit(&layout->strings);
    PLIM_VEC_FREE(layout->mem, &layout->exports);
    PLIM_VEC_FREE(layout->mem, &layout->functions);
    PLIM_VEC_FREE(layout->mem, &layout->version_names);
    PLIM_VEC_FREE(layout->mem, &layout->version_strings);
}

uint64_t plim_layout_entry(const plim_facade_layout *layout, size_t function)
{
    return layout->parts[PLIM_PART_TABLE].offset + sizeof(plim_facade_table) +
           function * sizeof(plim_facade_entry);
}

uint64_t plim_layout_counting(const plim_facade_layout *layout, size_t function)
{
    const plim_facade_machine *const machine = layout->machine;
    return layout->parts[PLIM_PART_CODE].offset + machine->constructor_bytes +
           function * (machine->counting_bytes + machine->unknown_bytes);
}

uint64_t plim_layout_unknown(const plim_facade_layout *layout, size_t function)
{
    return plim_layout_counting(layout, function) + layout->machine->counting_bytes;
}

uint64_t plim_layout_file_bytes(const plim_facade_layout *layout)
{
    return layout->parts[PLIM_PART_SECTIONS].offset + layout->parts[PLIM_PART_SECTIONS].bytes;
}
