/*
 * unwind.h - where a program is: return addresses, fast; their names, later.
 */
#ifndef PLIMSOLL_UNWIND_UNWIND_H
#define PLIMSOLL_UNWIND_UNWIND_H

#include "plimsoll/mem.h"
#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Return addresses of the calling thread, innermost first, without the `skip` innermost callers of
 * this function; returns how many. Once it has run in a thread, it takes no lock and no memory
 * for places that were met before. Not for handlers of signals that come at any moment.
 */
size_t plim_unwind(uint64_t *addresses, size_t capacity, size_t skip);

/* Strings belong to the plim_symbols and live as long; "" and 0 where nothing is known. */
typedef struct plim_symbol {
    const char *name;     /* of the function */
    const char *filename; /* of the source, or of the library where no source is known */
    uint32_t line;
} plim_symbol;

/*
 * True if a function is this library's: known by its source file, and where there is no debug
 * information by its name, which static functions do not have. Stacks are told without them.
 */
bool plim_symbol_is_ours(const plim_symbol *symbol);

typedef struct plim_symbols plim_symbols;

plim_status plim_symbols_create(const plim_mem *mem, plim_symbols **ret_symbols, plim_error *err);
/* NULL is allowed. */
void plim_symbols_destroy(plim_symbols *symbols);
/*
 * Names a return address of this process; remembers what it found. Not for two threads at once.
 * An address that nobody knows is no error.
 */
plim_status plim_symbols_look_up(plim_symbols *symbols, uint64_t address, plim_symbol *ret_symbol,
                                 plim_error *err);

#endif
