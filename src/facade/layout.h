/*
 * layout.h - where everything lies in a facade, decided before a byte is written.
 *
 * Addresses are offsets in the file. Each part is a section:
 *
 *   read only   headers  .gnu.hash .dynsym .dynstr .gnu.version .gnu.version_d .rela.dyn
 *   code        .text: the constructor, then two trampolines for each function
 *   data        .init_array .dynamic .got: address of plim_standin_attach()  .data: the table
 *               .bss: variables
 *   not loaded  .shstrtab, section headers
 */
#ifndef PLIMSOLL_FACADE_LAYOUT_H
#define PLIMSOLL_FACADE_LAYOUT_H

#include "base/text.h"
#include "facade/machine.h"
#include "facade/wants.h"

typedef enum plim_facade_part {
    PLIM_PART_HEADERS, /* its section is the null section */
    PLIM_PART_HASH,
    PLIM_PART_SYMBOLS,
    PLIM_PART_STRINGS,
    PLIM_PART_VERSIONS,
    PLIM_PART_DEFINITIONS,
    PLIM_PART_RELOCATIONS,
    PLIM_PART_CODE,
    PLIM_PART_CONSTRUCTORS,
    PLIM_PART_DYNAMIC,
    PLIM_PART_ATTACH,
    PLIM_PART_TABLE,
    PLIM_PART_VARIABLES,
    PLIM_PART_SECTION_NAMES,
    PLIM_PART_SECTIONS,
    PLIM_PARTS
} plim_facade_part;

typedef struct plim_section {
    const char *name;
    uint32_t type;
    uint32_t flags; /* 0: not loaded */
    uint32_t align;
    uint32_t item_bytes;
    plim_facade_part link; /* PLIM_PART_HEADERS: none */
} plim_section;

extern const plim_section plim_sections[PLIM_PART_SECTIONS];

enum {
    PLIM_SYMBOL_ATTACH = 1,  /* .dynsym: the null symbol, plim_standin_attach, … */
    PLIM_SYMBOLS_BEFORE = 2, /* … and then what is exported */
    PLIM_VERSION_NONE = 1,   /* of symbols; this is also the number of the file's own record */
    PLIM_VERSION_FIRST = 2,
    PLIM_BLOOM_SHIFT = 26,
    /* Of a variable: enough for any simple one. Who wants it does not say how large it is. */
    PLIM_VARIABLE_BYTES = 256,
    PLIM_SEGMENTS = 5,
    PLIM_DYNAMIC_MAX = 24, /* entries */
};

/* One exported symbol. Several of one name have different versions, and one place. */
typedef struct plim_facade_export {
    uint32_t place;   /* index in the table, or among the variables */
    uint32_t string;  /* the name's offset in .dynstr */
    uint32_t hash;    /* of the name, as DT_GNU_HASH wants it */
    uint32_t bucket;  /* there */
    uint16_t version; /* PLIM_VERSION_NONE … */
    bool is_data;
    bool is_hidden; /* another version of the name is the default */
} plim_facade_export;

typedef struct plim_facade_layout {
    const plim_mem *mem;
    const plim_facade_machine *machine;

    plim_text strings; /* .dynstr */
    uint32_t soname_string;
    uint32_t standin_string;
    uint32_t attach_string;
    PLIM_VEC(plim_facade_export) exports; /* by bucket */
    PLIM_VEC(uint32_t) functions;         /* strings of their names, in the table's order */
    PLIM_VEC(const char *) version_names; /* sorted: PLIM_VERSION_FIRST … */
    PLIM_VEC(uint32_t) version_strings;
    uint32_t variable_count;
    uint32_t bucket_count;
    uint32_t bloom_words; /* a power of two */

    struct {
        uint64_t offset;
        uint64_t bytes;
    } parts[PLIM_PARTS];
} plim_facade_layout;

/* PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT. To be deinitialised in any case. */
PLIM_MUST_USE plim_status plim_layout_init(plim_facade_layout *layout, const plim_wants *wants,
                                           const plim_wants_library *library, plim_error *err);
void plim_layout_deinit(plim_facade_layout *layout);

/* Addresses: of the entry of a function, and of its trampolines. */
uint64_t plim_layout_entry(const plim_facade_layout *layout, size_t function);
uint64_t plim_layout_counting(const plim_facade_layout *layout, size_t function);
uint64_t plim_layout_unknown(const plim_facade_layout *layout, size_t function);

/* emit.c: writes all of it to zeroed memory of plim_layout_file_bytes(). */
uint64_t plim_layout_file_bytes(const plim_facade_layout *layout);
void plim_layout_emit(const plim_facade_layout *layout, unsigned char *image);

#endif
