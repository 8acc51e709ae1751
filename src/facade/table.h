/*
 * table.h - the table in every facade: what it exports, and where that leads.
 *
 * A facade is a shared object that bears the name of a vendor's library (libcudart.so.13). It is
 * written anew for each rehearsal, for just the functions that the program's objects want of that
 * library (src/facade), and is loaded before any real one (LD_PRELOAD). Each function is
 *
 *     name_i:     lock incq  entries[i].count(%rip)
 *                 jmp        *entries[i].target(%rip)
 *     unknown_i:  lea        entries[i](%rip), %rdi
 *                 jmp        *table.unknown(%rip)
 *
 * and target is unknown_i until the facade's only constructor calls plim_standin_attach(), of
 * libplim_standin.so, which leads each to its stand-in.
 */
#ifndef PLIMSOLL_FACADE_TABLE_H
#define PLIMSOLL_FACADE_TABLE_H

#include <stdint.h>

#define PLIM_FACADE_VERSION 1

typedef struct plim_facade_entry {
    const char *name; /* of the function */
    void *target;     /* where a call goes */
    uint64_t count;   /* of calls */
} plim_facade_entry;

typedef struct plim_facade_table {
    uint32_t version; /* PLIM_FACADE_VERSION */
    uint32_t entry_count;
    const char *soname;
    void *unknown; /* long (*)(const plim_facade_entry *) */
    plim_facade_entry entries[];
} plim_facade_table;

/* libplim_standin.so exports this. The table stays valid until the process ends. */
void plim_standin_attach(plim_facade_table *table);

#endif
