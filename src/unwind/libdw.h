/*
 * libdw.h - elfutils' libdw, found when the program runs: without it stacks are walked by the C
 * library, and their functions have no names.
 */
#ifndef PLIMSOLL_UNWIND_LIBDW_H
#define PLIMSOLL_UNWIND_LIBDW_H

#include <elfutils/libdwfl.h>

#define PLIM_LIBDW_LIST(X)  \
    X(dwarf_cfi_addrframe)  \
    X(dwarf_frame_cfa)      \
    X(dwarf_frame_info)     \
    X(dwarf_frame_register) \
    X(dwarf_getsrc_die)     \
    X(dwarf_haspc)          \
    X(dwarf_lineno)         \
    X(dwarf_linesrc)        \
    X(dwfl_addrmodule)      \
    X(dwfl_begin)           \
    X(dwfl_dwarf_line)      \
    X(dwfl_end)             \
    X(dwfl_module_addrinfo) \
    X(dwfl_module_build_id) \
    X(dwfl_module_eh_cfi)   \
    X(dwfl_module_getsrc)   \
    X(dwfl_module_info)     \
    X(dwfl_module_nextcu)   \
    X(dwfl_report_begin)    \
    X(dwfl_report_end)      \
    X(dwfl_report_module)

/* Each member has its function's name and type. */
typedef struct plim_libdw {
#define PLIM_LIBDW_MEMBER(name) __typeof__(name) *name;
    PLIM_LIBDW_LIST(PLIM_LIBDW_MEMBER)
#undef PLIM_LIBDW_MEMBER
} plim_libdw;

/* NULL where the library is not installed. Any thread. */
const plim_libdw *plim_libdw_find(void);

#endif
