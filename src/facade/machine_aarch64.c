/*
 * machine_aarch64.c - trampolines for AArch64.
 *
 * Between caller and callee x16 and x17 are free for anyone, and x9 holds nothing that either
 * expects to keep; counting is a loop of exclusive loads and stores, which every processor has.
 * Source: Arm Architecture Reference Manual, C6; Procedure Call Standard for the Arm 64-bit
 * Architecture, 6.1.
 */
#include "facade/machine.h"

#include "base/assert.h"
#include "facade/table.h"

#include <elf.h>
#include <string.h>

#define BRK 0xd4200000u /* brk #0: what is never reached */

enum {
    FIRST_ARGUMENT = 0,
    SCRATCH = 9, /* registers */
    ADDRESS = 16,
    VALUE = 17,
};

typedef struct aarch64_writer {
    unsigned char *to;
    uint64_t at; /* address of the next instruction */
    uint64_t end;
} aarch64_writer;

static void put(aarch64_writer *out, uint32_t instruction)
{
    PLIM_ASSERT(out->at < out->end);
    memcpy(out->to, &instruction, sizeof instruction);
    out->to += sizeof instruction;
    out->at += sizeof instruction;
}

static void fill(aarch64_writer *out)
{
    while (out->at < out->end) {
        put(out, BRK);
    }
}

/* adrp register, target: the page of 4 KiB it lies on. */
static void load_page(aarch64_writer *out, uint32_t to_register, uint64_t target)
{
    const int64_t pages = (int64_t)(target >> 12) - (int64_t)(out->at >> 12);
    PLIM_ASSERT(pages >= -(INT64_C(1) << 20) && pages < INT64_C(1) << 20);
    const uint32_t bits = (uint32_t)pages & 0x1fffff;
    put(out, 0x90000000u | (bits & 3) << 29 | (bits >> 2) << 5 | to_register);
}

static void load_address(aarch64_writer *out, uint32_t to_register, uint64_t target)
{
    load_page(out, to_register, target);
    put(out, 0x91000000u | (uint32_t)(target & 0xfff) << 10 | to_register << 5 |
                 to_register); /* add register, register, #low bits */
}

static void jump(aarch64_writer *out, uint32_t to_register)
{
    put(out, 0xd61f0000u | to_register << 5); /* br register */
}

static void jump_through(aarch64_writer *out, uint64_t pointer)
{
    PLIM_ASSERT(pointer % 8 == 0);
    load_page(out, ADDRESS, pointer);
    put(out, 0xf9400000u | (uint32_t)(pointer & 0xfff) / 8 << 10 | ADDRESS << 5 |
                 ADDRESS); /* ldr x16, [x16, #low bits] */
    jump(out, ADDRESS);
}

static void write_constructor(unsigned char *to, uint64_t at, uint64_t table, uint64_t attach)
{
    aarch64_writer out = { to, at, at + plim_machine_aarch64.constructor_bytes };
    load_address(&out, FIRST_ARGUMENT, table);
    jump_through(&out, attach);
    fill(&out);
}

static void write_counting(unsigned char *to, uint64_t at, uint64_t entry)
{
    _Static_assert(offsetof(plim_facade_entry, count) - offsetof(plim_facade_entry, target) == 8,
                   "the target lies right before the count");
    aarch64_writer out = { to, at, at + plim_machine_aarch64.counting_bytes };
    load_address(&out, ADDRESS, entry + offsetof(plim_facade_entry, count));
    put(&out, 0xc85f7c00u | ADDRESS << 5 | VALUE);                 /* ldxr x17, [x16] */
    put(&out, 0x91000400u | VALUE << 5 | VALUE);                   /* add x17, x17, #1 */
    put(&out, 0xc8007c00u | SCRATCH << 16 | ADDRESS << 5 | VALUE); /* stxr w9, x17, [x16] */
    put(&out, 0x35ffffa0u | SCRATCH);                              /* cbnz w9, the ldxr */
    put(&out, 0xf85f8000u | ADDRESS << 5 | VALUE);                 /* ldur x17, [x16, #-8] */
    jump(&out, VALUE);
    fill(&out);
}

static void write_unknown(unsigned char *to, uint64_t at, uint64_t entry, uint64_t unknown)
{
    aarch64_writer out = { to, at, at + plim_machine_aarch64.unknown_bytes };
    load_address(&out, FIRST_ARGUMENT, entry);
    jump_through(&out, unknown);
    fill(&out);
}

const plim_facade_machine plim_machine_aarch64 = {
    .elf_machine = EM_AARCH64,
    .page_bytes = 65536,
    .relative_type = R_AARCH64_RELATIVE,
    .absolute_type = R_AARCH64_ABS64,
    .constructor_bytes = 32,
    .counting_bytes = 32,
    .unknown_bytes = 32,
    .write_constructor = write_constructor,
    .write_counting = write_counting,
    .write_unknown = write_unknown,
};
