/*
 * rules.c - the table of rules, and reading one from a module's .eh_frame by libdw.
 *
 * The table is open addressing with linear probing; only who holds the lock writes. A slot's
 * address is written after its rule and looked at again once the rule was read, so that a reader
 * who is overtaken by forget_all() sees it. Tables that became too small are kept: a reader may be
 * in one, and all of them together are smaller than the last.
 *
 * The rules of an unloaded module may be wrong for what is loaded in its place. All
 * are forgotten as soon as a thread meets a place that is not in the table; until then a wrong rule
 * costs a wrong frame and nothing else, because the walk reads only the thread's own stack.
 */
#include "unwind/rules.h"

#if defined(__x86_64__)

#include "base/memory.h"
#include "unwind/modules.h"

#include <dwarf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define LIBDW     rules.modules.libdw /* there, if a module was found */
#define RULES_MIN ((size_t)4096)
#define SLOTS_MAX ((size_t)1 << 22) /* 64 MiB: a program has fewer places that call */

/* DWARF numbers of registers (System V ABI for AMD64, figure 3.36). */
#define REG_RBP            6
#define REG_RSP            7
#define REG_RETURN_ADDRESS 16

typedef struct rule_slot {
    _Atomic uint64_t address; /* 0: empty */
    _Atomic plim_rule rule;
} rule_slot;

typedef struct table {
    struct table *smaller; /* the one it replaced */
    size_t mask;
    rule_slot *slots;
} table;

static struct {
    _Atomic(table *) table; /* NULL before the first rule */
    pthread_mutex_t lock;   /* held by who writes: the table, and all below */
    size_t count;           /* slots that are taken */
    plim_modules modules;
} rules = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The slot of an address, or the empty one where it would go. */
static rule_slot *find_slot(const table *in, uint64_t address)
{
    /* Fibonacci hashing: the middle bits depend on all bits of the address. */
    size_t i = (size_t)((address * 0x9e3779b97f4a7c15u) >> 32) & in->mask;
    for (;; i = (i + 1) & in->mask) {
        const uint64_t there = atomic_load_explicit(&in->slots[i].address, memory_order_acquire);
        if (there == address || there == 0) {
            return &in->slots[i];
        }
    }
}

/* False when there is no memory. */
static bool grow(void)
{
    table *const old = atomic_load_explicit(&rules.table, memory_order_relaxed);
    const size_t slots = old == NULL ? RULES_MIN : (old->mask + 1) * 2;
    if (slots > SLOTS_MAX) {
        return false;
    }
    table *const fresh = plim_mem_alloc(&plim_mem_heap, 1, sizeof *fresh);
    if (fresh == NULL) {
        return false;
    }
    *fresh = (table){ .smaller = old,
                      .mask = slots - 1,
                      .slots = plim_mem_alloc_zeroed(&plim_mem_heap, slots, sizeof(rule_slot)) };
    if (fresh->slots == NULL) {
        plim_mem_free(&plim_mem_heap, fresh, 1, sizeof *fresh);
        return false;
    }
    for (size_t i = 0; old != NULL && i <= old->mask; i++) {
        const uint64_t address = atomic_load_explicit(&old->slots[i].address, memory_order_relaxed);
        if (address != 0) {
            rule_slot *const to = find_slot(fresh, address);
            atomic_store_explicit(&to->rule,
                                  atomic_load_explicit(&old->slots[i].rule, memory_order_relaxed),
                                  memory_order_relaxed);
            atomic_store_explicit(&to->address, address, memory_order_relaxed);
        }
    }
    atomic_store_explicit(&rules.table, fresh, memory_order_release);
    return true;
}

static void forget_all(void)
{
    table *const now = atomic_load_explicit(&rules.table, memory_order_relaxed);
    for (size_t i = 0; now != NULL && i <= now->mask; i++) {
        atomic_store_explicit(&now->slots[i].address, 0, memory_order_relaxed);
    }
    rules.count = 0;
}

/* Without memory it is not remembered. */
static void remember(uint64_t address, plim_rule rule)
{
    const table *in = atomic_load_explicit(&rules.table, memory_order_relaxed);
    if ((in == NULL || (rules.count + 1) * 2 > in->mask + 1) && !grow()) {
        return;
    }
    in = atomic_load_explicit(&rules.table, memory_order_relaxed);
    rule_slot *const at = find_slot(in, address);
    atomic_store_explicit(&at->rule, rule, memory_order_release);
    atomic_store_explicit(&at->address, address, memory_order_release);
    rules.count++;
}

/* --- reading what the module says --- */

typedef enum register_place {
    PLACE_ODD,
    PLACE_UNDEFINED,
    PLACE_SAME,   /* the register was not touched */
    PLACE_SAVED,  /* at a distance from the CFA */
    PLACE_IS_CFA, /* the register's value is the CFA itself */
} register_place;

static register_place find_register(Dwarf_Frame *frame, int number, int64_t *ret_distance)
{
    Dwarf_Op room[3];
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    *ret_distance = 0;
    if (LIBDW->dwarf_frame_register(frame, number, room, &ops, &count) != 0) {
        return PLACE_ODD;
    }
    if (count == 0) {
        return ops == NULL ? PLACE_SAME : PLACE_UNDEFINED;
    }
    if (ops[0].atom != DW_OP_call_frame_cfa) {
        return PLACE_ODD;
    }
    if (count == 2 && ops[1].atom == DW_OP_stack_value) {
        return PLACE_IS_CFA;
    }
    if (count == 2 && ops[1].atom == DW_OP_plus_uconst) {
        *ret_distance = (int64_t)ops[1].number;
        return PLACE_SAVED;
    }
    return PLACE_ODD;
}

/* The register that the CFA is measured from; -1 for anything less simple. */
static int find_cfa(Dwarf_Frame *frame, int64_t *ret_distance)
{
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    *ret_distance = 0;
    if (LIBDW->dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1) {
        return -1;
    }
    if (ops[0].atom == DW_OP_bregx) {
        *ret_distance = (int64_t)ops[0].number2;
        return ops[0].number <= REG_RSP ? (int)ops[0].number : -1;
    }
    if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
        *ret_distance = (int64_t)ops[0].number;
        return ops[0].atom - DW_OP_breg0;
    }
    return -1;
}

static plim_rule rule_of(Dwarf_Frame *frame)
{
    bool is_signal = false;
    int64_t return_at = 0;
    int64_t rbp_at = 0;
    int64_t rsp_at = 0;
    int64_t cfa_at = 0;
    if (LIBDW->dwarf_frame_info(frame, NULL, NULL, &is_signal) != REG_RETURN_ADDRESS || is_signal) {
        return PLIM_RULE_OTHER;
    }
    const register_place returns = find_register(frame, REG_RETURN_ADDRESS, &return_at);
    if (returns == PLACE_UNDEFINED) {
        return PLIM_RULE_END;
    }
    const register_place rbp = find_register(frame, REG_RBP, &rbp_at);
    const int from = find_cfa(frame, &cfa_at);
    if (returns != PLACE_SAVED || return_at != -8 || (from != REG_RSP && from != REG_RBP) ||
        cfa_at != (int32_t)cfa_at || (rbp != PLACE_SAME && rbp != PLACE_SAVED) ||
        rbp_at != (int16_t)rbp_at || find_register(frame, REG_RSP, &rsp_at) != PLACE_IS_CFA) {
        return PLIM_RULE_OTHER;
    }
    return PLIM_RULE_STEP | (from == REG_RBP ? 4u : 0u) | (rbp == PLACE_SAVED ? 8u : 0u) |
           (uint64_t)(uint16_t)rbp_at << 16 | (uint64_t)(uint32_t)cfa_at << 32;
}

static plim_rule read_rule(uint64_t return_address)
{
    const uint64_t at = return_address - 1; /* in the call, not after it */
    Dwfl_Module *const module = plim_modules_find(&rules.modules, at);
    if (module == NULL) { /* made at run time: the compiler's unwinder may know it */
        return PLIM_RULE_OTHER;
    }
    Dwarf_Addr bias = 0;
    Dwarf_CFI *const cfi = LIBDW->dwfl_module_eh_cfi(module, &bias);
    Dwarf_Frame *frame = NULL;
    if (cfi == NULL || LIBDW->dwarf_cfi_addrframe(cfi, at - bias, &frame) != 0) {
        return PLIM_RULE_OTHER;
    }
    const plim_rule rule = rule_of(frame);
    free(frame); /* libdw takes it from malloc(), and says so */
    return rule;
}

static plim_rule learn(uint64_t return_address)
{
    if (pthread_mutex_trylock(&rules.lock) != 0) {
        return PLIM_RULE_OTHER;
    }
    const uint64_t unloads = rules.modules.unloads;
    (void)plim_modules_refresh(&rules.modules);
    if (rules.modules.unloads != unloads) {
        forget_all();
    }
    const plim_rule rule = read_rule(return_address);
    const table *const in = atomic_load_explicit(&rules.table, memory_order_relaxed);
    if (in == NULL ||
        atomic_load_explicit(&find_slot(in, return_address)->address, memory_order_relaxed) == 0) {
        remember(return_address, rule);
    }
    (void)pthread_mutex_unlock(&rules.lock);
    return rule;
}

plim_rule plim_rule_find(uint64_t return_address)
{
    const table *const in = atomic_load_explicit(&rules.table, memory_order_acquire);
    if (in != NULL) {
        const rule_slot *const at = find_slot(in, return_address);
        if (atomic_load_explicit(&at->address, memory_order_relaxed) == return_address) {
            const plim_rule rule = atomic_load_explicit(&at->rule, memory_order_acquire);
            if (atomic_load_explicit(&at->address, memory_order_relaxed) == return_address) {
                return rule;
            }
        }
    }
    return return_address == 0 ? PLIM_RULE_OTHER : learn(return_address);
}

#else

plim_rule plim_rule_find(uint64_t return_address)
{
    (void)return_address;
    return PLIM_RULE_OTHER;
}

#endif
