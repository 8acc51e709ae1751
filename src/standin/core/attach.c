/*
 * attach.c - leads the functions of the facades to their stand-ins. See facade/table.h.
 *
 * This runs in every process of a program, before its main(), so it does little and touches no
 * stage. What has no stand-in keeps the facade's stub, which comes to unknown() here.
 */
#include "standin/core/attach.h"

#include "standin/core/calls.h"
#include "standin/core/kinds.h"
#include "standin/core/libraries.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static plim_facade_table *tables[PLIM_STANDIN_TABLES_MAX];
static atomic_size_t table_count; /* written by constructors, which the loader runs one by one */

size_t plim_standin_table_count(void)
{
    return atomic_load(&table_count);
}

plim_facade_table *plim_standin_table_at(size_t index)
{
    return tables[index];
}

/* This shared object (or, in tests, the program); never closed. */
static void *self(void)
{
    static _Atomic(void *) handle;
    void *found = atomic_load(&handle);
    if (found == NULL) {
        Dl_info about = { 0 };
        if (dladdr((void *)tables, &about) != 0) {
            found = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        }
        if (found == NULL) {
            found = dlopen(NULL, RTLD_LAZY);
        }
        atomic_store(&handle, found);
    }
    return found;
}

void *plim_standin_find(const char *name)
{
    return dlsym(self(), name);
}

void *plim_standin_find_counted(const char *name)
{
    void *own = plim_standin_find(name);
    void *first = own != NULL ? dlsym(RTLD_DEFAULT, name) : NULL; /* preloaded ones come first */
    return first != NULL ? first : own;
}

static const plim_facade_table *table_of(const plim_facade_entry *entry)
{
    for (size_t i = 0; i < plim_standin_table_count(); i++) {
        if (entry >= tables[i]->entries && entry < tables[i]->entries + tables[i]->entry_count) {
            return tables[i];
        }
    }
    return NULL;
}

static long unknown(const plim_facade_entry *entry)
{
    const plim_facade_table *table = table_of(entry);
    const char *soname = table != NULL ? table->soname : "a library";
    if (plim_standin_is_first_time(entry)) {
        (void)fprintf(stderr,
                      "plimsoll: the program called %s (%s), which is not stood in for: this "
                      "rehearsal's figures are not to be believed; leave out what uses it\n",
                      entry->name, soname);
        plim_standin_calls_flush();
    }
    return plim_standin_vendor_of(soname)->not_supported;
}

void plim_standin_attach(plim_facade_table *table)
{
    /* ISO C has no pointer that is a function and an object; POSIX says they are the same. */
    long (*const function)(const plim_facade_entry *) = unknown;
    memcpy(&table->unknown, &function, sizeof(function));
    for (uint32_t i = 0; i < table->entry_count; i++) {
        void *found = plim_standin_find(table->entries[i].name);
        if (found != NULL) {
            table->entries[i].target = found;
        }
    }
    const size_t index = atomic_load(&table_count);
    if (index < PLIM_STANDIN_TABLES_MAX) {
        tables[index] = table;
        atomic_store(&table_count, index + 1);
    }
}
