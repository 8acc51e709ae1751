/*
 * attach.h - the facades of this process, and the stand-ins by name.
 */
#ifndef PLIMSOLL_STANDIN_CORE_ATTACH_H
#define PLIMSOLL_STANDIN_CORE_ATTACH_H

#include "facade/table.h"

#include <stddef.h>

/* More than a process has; what comes after is attached, but not counted. */
#define PLIM_STANDIN_TABLES_MAX 64

/* The tables that were attached so far; they stay. */
size_t plim_standin_table_count(void);
plim_facade_table *plim_standin_table_at(size_t index);

/* The stand-in of that name, or NULL. */
void *plim_standin_find(const char *name);

/* The same, by way of its facade if there is one, so that calls are counted. */
void *plim_standin_find_counted(const char *name);

#endif
