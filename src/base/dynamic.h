/*
 * dynamic.h - libraries that a program can do without: looked for when it runs.
 */
#ifndef PLIMSOLL_BASE_DYNAMIC_H
#define PLIMSOLL_BASE_DYNAMIC_H

#include <stdbool.h>
#include <stddef.h>

/* A table of function pointers is a struct of nothing else; this is the name of one of them. */
typedef const char *plim_dynamic_name;

/*
 * Fills a table from a library, which stays loaded.
 *
 * soname     "libzstd.so.1"
 * names      of the functions, in the table's order
 * ret_table  `count` function pointers; unchanged when the library or a function is missing
 * returns    true if all were found
 */
bool plim_dynamic_open(const char *soname, const plim_dynamic_name *names, size_t count,
                       void *ret_table);

#endif
