/*
 * test_machine.c - trampolines are the instructions they should be.
 *
 * What is expected was written by assemblers: GNU as 2.40 for x86-64, LLVM 14 for AArch64.
 */
#include "harness.h"

#include "facade/machine.h"

#include <elf.h>

/* Where the made-up facade has things. */
#define TABLE       0x2200u
#define UNKNOWN     (TABLE + 16)
#define ENTRY       0x223c8u
#define ATTACH      0x21d0u
#define CONSTRUCTOR 0x1000u
#define COUNTING    0x1020u
#define UNKNOWN_AT  0x1040u

static void x86_64_is_as_assembled(void)
{
    static const unsigned char constructor[] = {
        0x48, 0x8d, 0x3d, 0xf9, 0x11, 0x00, 0x00, /* lea 0x2200(%rip), %rdi */
        0xff, 0x25, 0xc3, 0x11, 0x00, 0x00,       /* jmp *0x21d0(%rip) */
        0xcc, 0xcc, 0xcc,
    };
    static const unsigned char counting[] = {
        0xf0, 0x48, 0xff, 0x05, 0xb0, 0x13, 0x02, 0x00, /* lock incq 0x223d8(%rip) */
        0xff, 0x25, 0xa2, 0x13, 0x02, 0x00,             /* jmp *0x223d0(%rip) */
        0xcc, 0xcc,
    };
    static const unsigned char unknown[] = {
        0x48, 0x8d, 0x3d, 0x81, 0x13, 0x02, 0x00, /* lea 0x223c8(%rip), %rdi */
        0xff, 0x25, 0xc3, 0x11, 0x00, 0x00,       /* jmp *0x2210(%rip) */
        0xcc, 0xcc, 0xcc,
    };
    const plim_facade_machine *const machine = plim_machine_find(EM_X86_64);
    T_NOT_NULL(machine);
    T_EQ_U64(machine->constructor_bytes, sizeof constructor);
    T_EQ_U64(machine->counting_bytes, sizeof counting);
    T_EQ_U64(machine->unknown_bytes, sizeof unknown);
    unsigned char written[16];
    machine->write_constructor(written, CONSTRUCTOR, TABLE, ATTACH);
    T_EQ_MEM(written, constructor, sizeof constructor);
    machine->write_counting(written, COUNTING, ENTRY);
    T_EQ_MEM(written, counting, sizeof counting);
    machine->write_unknown(written, UNKNOWN_AT, ENTRY, UNKNOWN);
    T_EQ_MEM(written, unknown, sizeof unknown);
}

static void aarch64_is_as_assembled(void)
{
    static const uint32_t constructor[] = {
        0xb0000000, /* adrp x0, 0x2000 */
        0x91080000, /* add x0, x0, #0x200 */
        0xb0000010, /* adrp x16, 0x2000 */
        0xf940ea10, /* ldr x16, [x16, #0x1d0] */
        0xd61f0200, /* br x16 */
        0xd4200000, /* brk #0 */
        0xd4200000, 0xd4200000,
    };
    static const uint32_t counting[] = {
        0xb0000110, /* adrp x16, 0x22000 */
        0x910f6210, /* add x16, x16, #0x3d8 */
        0xc85f7e11, /* ldxr x17, [x16] */
        0x91000631, /* add x17, x17, #1 */
        0xc8097e11, /* stxr w9, x17, [x16] */
        0x35ffffa9, /* cbnz w9, the ldxr */
        0xf85f8211, /* ldur x17, [x16, #-8] */
        0xd61f0220, /* br x17 */
    };
    static const uint32_t unknown[] = {
        0xb0000100, /* adrp x0, 0x22000 */
        0x910f2000, /* add x0, x0, #0x3c8 */
        0xb0000010, /* adrp x16, 0x2000 */
        0xf9410a10, /* ldr x16, [x16, #0x210] */
        0xd61f0200, /* br x16 */
        0xd4200000, /* brk #0 */
        0xd4200000, 0xd4200000,
    };
    const plim_facade_machine *const machine = plim_machine_find(EM_AARCH64);
    T_NOT_NULL(machine);
    T_EQ_U64(machine->constructor_bytes, sizeof constructor);
    T_EQ_U64(machine->counting_bytes, sizeof counting);
    T_EQ_U64(machine->unknown_bytes, sizeof unknown);
    unsigned char written[32];
    machine->write_constructor(written, CONSTRUCTOR, TABLE, ATTACH);
    T_EQ_MEM(written, constructor, sizeof constructor);
    machine->write_counting(written, COUNTING, ENTRY);
    T_EQ_MEM(written, counting, sizeof counting);
    machine->write_unknown(written, UNKNOWN_AT, ENTRY, UNKNOWN);
    T_EQ_MEM(written, unknown, sizeof unknown);
}

static void other_machines_have_none(void)
{
    T_NULL(plim_machine_find(EM_NONE));
    T_NULL(plim_machine_find(EM_386));
    T_NULL(plim_machine_find(EM_RISCV));
}

T_MAIN(T_TEST(x86_64_is_as_assembled), T_TEST(aarch64_is_as_assembled),
       T_TEST(other_machines_have_none))
