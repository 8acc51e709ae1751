/*
 * symbols.c - names of return addresses, from the symbol tables and line tables of the files that
 * the process consists of (libdw).
 *
 * A return address is that of the instruction after the call, which may belong to the next line
 * or even to the next function; so what is looked up is the byte before it.
 */
#include "unwind/unwind.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "unwind/modules.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* C++'s own: mangled name, buffer, its bytes, status (Itanium C++ ABI, chapter 3.4). */
typedef char *demangler(const char *mangled, char *buffer, size_t *bytes, int *status);

struct plim_symbols {
    const plim_mem *mem;
    plim_modules modules;
    plim_arena arena;    /* plim_symbol, and the strings of this process */
    plim_map found;      /* address → plim_symbol * */
    demangler *demangle; /* NULL in programs without C++ */
    void *cxx;           /* the C++ library, held so that it stays */
};

static const plim_symbol unknown = { .name = "", .filename = "", .line = 0 };

/* C++ frames exist only where its library is loaded already. */
static void find_demangler(plim_symbols *symbols)
{
    symbols->cxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (symbols->cxx != NULL) {
        void *const found = dlsym(symbols->cxx, "__cxa_demangle");
        memcpy(&symbols->demangle, &found, sizeof found); /* C has no cast from data to code */
    }
}

plim_status plim_symbols_create(const plim_mem *mem, plim_symbols **ret_symbols, plim_error *err)
{
    const plim_mem *const heap = plim_mem_or_heap(mem);
    plim_symbols *const symbols = plim_mem_alloc(heap, 1, sizeof *symbols);
    if (symbols == NULL) {
        return plim_fail_memory(err, "preparing to name stacks");
    }
    *symbols = (plim_symbols){ .mem = heap };
    plim_arena_init(&symbols->arena, heap);
    plim_map_init(&symbols->found, heap);
    find_demangler(symbols);
    *ret_symbols = symbols;
    return PLIM_OK;
}

void plim_symbols_destroy(plim_symbols *symbols)
{
    if (symbols == NULL) {
        return;
    }
    plim_modules_close(&symbols->modules);
    plim_map_deinit(&symbols->found);
    plim_arena_deinit(&symbols->arena);
    if (symbols->cxx != NULL) {
        (void)dlclose(symbols->cxx);
    }
    plim_mem_free(symbols->mem, symbols, 1, sizeof *symbols);
}

/* A copy that lives as long as the symbols; NULL without memory. */
static const char *keep(plim_symbols *symbols, const char *text)
{
    return text == NULL ? "" : plim_arena_copy(&symbols->arena, text, strlen(text));
}

static const char *keep_name(plim_symbols *symbols, const char *name)
{
    if (symbols->demangle != NULL && name != NULL && strncmp(name, "_Z", 2) == 0) {
        int status = 0;
        char *const plain = symbols->demangle(name, NULL, NULL, &status);
        if (plain != NULL) {
            const char *const kept = keep(symbols, plain);
            free(plain); /* __cxa_demangle() takes it from malloc() */
            return kept;
        }
    }
    return keep(symbols, name);
}

/* The line of an address, or NULL. libdw finds the unit by a table that some compilers leave out;
 * then we go through all of them. */
static Dwarf_Line *find_line(const plim_libdw *libdw, Dwfl_Module *module, uint64_t address)
{
    Dwfl_Line *const line = libdw->dwfl_module_getsrc(module, address);
    Dwarf_Addr bias = 0;
    if (line != NULL) {
        return libdw->dwfl_dwarf_line(line, &bias);
    }
    for (Dwarf_Die *unit = libdw->dwfl_module_nextcu(module, NULL, &bias); unit != NULL;
         unit = libdw->dwfl_module_nextcu(module, unit, &bias)) {
        if (libdw->dwarf_haspc(unit, address - bias) == 1) {
            return libdw->dwarf_getsrc_die(unit, address - bias);
        }
    }
    return NULL;
}

/* False without memory. */
static bool name_address(plim_symbols *symbols, uint64_t address, plim_symbol *ret_symbol)
{
    *ret_symbol = unknown;
    (void)plim_modules_refresh(&symbols->modules);
    Dwfl_Module *const module = plim_modules_find(&symbols->modules, address);
    if (module == NULL) {
        return true;
    }
    const plim_libdw *const libdw = symbols->modules.libdw;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    ret_symbol->name = keep_name(
        symbols, libdw->dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL));

    Dwarf_Line *const line = find_line(libdw, module, address);
    const char *const source = line == NULL ? NULL : libdw->dwarf_linesrc(line, NULL, NULL);
    int line_number = 0;
    if (source != NULL && libdw->dwarf_lineno(line, &line_number) == 0 && line_number > 0) {
        ret_symbol->line = (uint32_t)line_number;
    }
    ret_symbol->filename =
        keep(symbols, source != NULL ? source
                                     : libdw->dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL,
                                                               NULL, NULL));
    return ret_symbol->name != NULL && ret_symbol->filename != NULL;
}

plim_status plim_symbols_look_up(plim_symbols *symbols, uint64_t address, plim_symbol *ret_symbol,
                                 plim_error *err)
{
    const uint64_t known = plim_map_get(&symbols->found, address);
    if (known != PLIM_MAP_ABSENT) {
        *ret_symbol = *(const plim_symbol *)(uintptr_t)known;
        return PLIM_OK;
    }
    plim_symbol *const kept = plim_arena_alloc(&symbols->arena, sizeof *kept);
    if (kept == NULL || !name_address(symbols, address - 1, kept) ||
        !plim_map_put(&symbols->found, address, (uintptr_t)kept)) {
        return plim_fail_memory(err, "naming a stack");
    }
    *ret_symbol = *kept;
    return PLIM_OK;
}

/* The folder of this library's sources: this file's name, as the compiler was given it, without
 * what every clone of the tree has. */
#define THIS_FILE "unwind/symbols.c"

bool plim_symbol_is_ours(const plim_symbol *symbol)
{
    _Static_assert(sizeof __FILE__ > sizeof THIS_FILE, "the build names files with their folder");
    return strncmp(symbol->name, "plim_", 5) == 0 ||
           strncmp(symbol->filename, __FILE__, sizeof __FILE__ - sizeof THIS_FILE) == 0;
}
