/*
 * dynamic.h - libraries that a program can do without: looked for when it runs.
 */
#ifndef PLIMSOLL_BASE_DYNAMIC_H
#define PLIMSOLL_BASE_DYNAMIC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Fills a table from a library, which stays loaded.
 *
 * soname     "libzstd.so.1"
 * names      of the functions, in the table's order
 * ret_table  a struct of `count` function pointers; unchanged when anything is missing
 * returns    true if all were found
 */
bool plim_dynamic_open(const char *soname, const char *const *names, size_t count, void *ret_table);

#endif
