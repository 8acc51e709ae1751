/*
 * machine_x86_64.c - trampolines for x86-64.
 *
 * They touch no register that carries an argument, nor the stack: counting is an addition in
 * memory, and flags mean nothing at a call. Source: AMD64 Architecture Programmer's Manual,
 * volume 3; System V ABI, AMD64 supplement, 3.2.
 */
#include "facade/machine.h"

#include "base/assert.h"
#include "facade/table.h"

#include <elf.h>
#include <string.h>

#define INT3 0xcc /* int3: what is never reached */

typedef struct x86_64_writer {
    unsigned char *to;
    uint64_t at;   /* address of the next byte */
    uint64_t left; /* room */
} x86_64_writer;

static void put(x86_64_writer *out, const void *bytes, size_t count)
{
    PLIM_ASSERT(count <= out->left);
    memcpy(out->to, bytes, count);
    out->to += count;
    out->at += count;
    out->left -= count;
}

/* An instruction whose last four bytes are the distance from its end to `target`. */
static void put_relative(x86_64_writer *out, const char *opcode, size_t opcode_bytes,
                         uint64_t target)
{
    put(out, opcode, opcode_bytes);
    const int64_t distance = (int64_t)(target - (out->at + 4));
    PLIM_ASSERT(distance >= INT32_MIN && distance <= INT32_MAX);
    const int32_t short_distance = (int32_t)distance;
    put(out, &short_distance, sizeof short_distance);
}

static void increment(x86_64_writer *out, uint64_t counter)
{
    put_relative(out, "\xf0\x48\xff\x05", 4, counter); /* lock incq counter(%rip) */
}

static void first_argument(x86_64_writer *out, uint64_t address)
{
    put_relative(out, "\x48\x8d\x3d", 3, address); /* lea address(%rip), %rdi */
}

static void jump_through(x86_64_writer *out, uint64_t pointer)
{
    put_relative(out, "\xff\x25", 2, pointer); /* jmp *pointer(%rip) */
}

static void fill(x86_64_writer *out)
{
    memset(out->to, INT3, out->left);
}

static void write_constructor(unsigned char *to, uint64_t at, uint64_t table, uint64_t attach)
{
    x86_64_writer out = { to, at, plim_machine_x86_64.constructor_bytes };
    first_argument(&out, table);
    jump_through(&out, attach);
    fill(&out);
}

static void write_counting(unsigned char *to, uint64_t at, uint64_t entry)
{
    x86_64_writer out = { to, at, plim_machine_x86_64.counting_bytes };
    increment(&out, entry + offsetof(plim_facade_entry, count));
    jump_through(&out, entry + offsetof(plim_facade_entry, target));
    fill(&out);
}

static void write_unknown(unsigned char *to, uint64_t at, uint64_t entry, uint64_t unknown)
{
    x86_64_writer out = { to, at, plim_machine_x86_64.unknown_bytes };
    first_argument(&out, entry);
    jump_through(&out, unknown);
    fill(&out);
}

const plim_facade_machine plim_machine_x86_64 = {
    .elf_machine = EM_X86_64,
    .page_bytes = 4096,
    .relative_type = R_X86_64_RELATIVE,
    .absolute_type = R_X86_64_64,
    .constructor_bytes = 16,
    .counting_bytes = 16,
    .unknown_bytes = 16,
    .write_constructor = write_constructor,
    .write_counting = write_counting,
    .write_unknown = write_unknown,
};
