/*
 * elf_object.h - what the dynamic linker reads of an object, read without trusting it.
 *
 * Only what the program headers lead to is looked at: section headers may have been stripped,
 * and objects of a gigabyte are touched in few places. Everything is checked against the bounds
 * of the file before it is read, so that damage makes things missing and nothing worse.
 */
#ifndef PLIMSOLL_FACADE_ELF_OBJECT_H
#define PLIMSOLL_FACADE_ELF_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLIM_ELF_NAME_MAX 255 /* longer names are passed over: C functions have shorter ones */

/* A piece of the file; nothing is after it in its segment. Empty when the object has none. */
typedef struct plim_elf_table {
    uint64_t offset;
    uint64_t bytes;
} plim_elf_table;

typedef struct plim_elf {
    const unsigned char *data; /* the caller's */
    size_t bytes;
    uint16_t machine;    /* EM_X86_64 … */
    size_t symbol_count; /* the null symbol included */
    plim_elf_table segments;
    plim_elf_table dynamic;
    plim_elf_table symbols;
    plim_elf_table strings;
    plim_elf_table versions; /* of symbols: uint16_t each */
    plim_elf_table needs;    /* Elf64_Verneed */
    uint64_t needs_count;
} plim_elf;

typedef struct plim_elf_symbol {
    const char *name;
    unsigned char type;    /* STT_FUNC … */
    unsigned char binding; /* STB_GLOBAL … */
    bool undefined;
    uint16_t version; /* which record of needs, VER_NDX_GLOBAL for none */
} plim_elf_symbol;

/* A version that symbols have, as wanted of a library. */
typedef struct plim_elf_need {
    uint16_t version;
    const char *library;
    const char *name;
} plim_elf_need;

/* False: the data is no ELF object of this machine's kind that is linked dynamically. */
bool plim_elf_open(const void *data, size_t bytes, plim_elf *ret);
/* Symbol `index`; false when it is damaged, or local, or has no name. */
bool plim_elf_symbol_at(const plim_elf *elf, size_t index, plim_elf_symbol *ret);
/* The next library the object needs; *cursor is 0 at first. False: there are no more. */
bool plim_elf_needed(const plim_elf *elf, size_t *cursor, const char **ret);
/* Calls `visit` for each version that is wanted, until it returns false. */
void plim_elf_visit_needs(const plim_elf *elf, bool (*visit)(void *ctx, const plim_elf_need *need),
                          void *ctx);

#endif
