/*
 * machine.h - the few instructions in a facade, for each kind of processor.
 *
 * For each function two trampolines, one after the other, as facade/table.h has them: one that
 * counts and goes where the entry says, one that goes to what the table has for unknown names.
 * And one constructor, which hands the table to plim_standin_attach().
 */
#ifndef PLIMSOLL_FACADE_MACHINE_H
#define PLIMSOLL_FACADE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

typedef struct plim_facade_machine {
    uint16_t elf_machine;   /* EM_X86_64 … */
    uint32_t page_bytes;    /* the largest there is: segments start at multiples */
    uint32_t relative_type; /* of relocations: base + addend */
    uint32_t absolute_type; /* symbol + addend */
    uint32_t constructor_bytes;
    uint32_t counting_bytes;
    uint32_t unknown_bytes;
    /* Each writes just these many bytes. `at` and the others are addresses in the object. */
    void (*write_constructor)(unsigned char *to, uint64_t at, uint64_t table, uint64_t attach);
    void (*write_counting)(unsigned char *to, uint64_t at, uint64_t entry);
    void (*write_unknown)(unsigned char *to, uint64_t at, uint64_t entry, uint64_t unknown);
} plim_facade_machine;

extern const plim_facade_machine plim_machine_aarch64;
extern const plim_facade_machine plim_machine_x86_64;

/* The one of this ELF number, or NULL. */
const plim_facade_machine *plim_machine_find(uint16_t elf_machine);

#endif
