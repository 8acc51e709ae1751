/*
 * facade.h - shared objects under the names of a vendor's libraries, written for one program.
 *
 *   objects of the program ── symbols they want, by library and version ──┐
 *   libplim_standin.so ────── functions there are ────────────────────────┴─► libcudart.so.13 …
 *
 * facade/table.h describes its content.
 */
#ifndef PLIMSOLL_FACADE_FACADE_H
#define PLIMSOLL_FACADE_FACADE_H

#include "plimsoll/mem.h"
#include "plimsoll/status.h"

#include <stddef.h>

typedef struct plim_wants plim_wants;

/*
 * The symbols that objects leave undefined and a stood-in library should provide. Objects that want
 * nothing of these add nothing.
 *
 * paths       files; those that are not ELF, or for another machine, are skipped
 * standin     path of libplim_standin.so
 * ret         the caller's, until plim_wants_destroy()
 * errors      PLIM_IO: standin cannot be read; PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_wants_collect(const char *const *paths, size_t path_count,
                                             const char *standin, const plim_mem *mem,
                                             plim_wants **ret, plim_error *err);
void plim_wants_destroy(plim_wants *wants);

/* The number of wanted libraries, and their sonames, sorted. libcuda.so.1 and libnvidia-ml.so.1,
 * which programs open by hand, are always among them when there is any. */
size_t plim_wants_count(const plim_wants *wants);
const char *plim_wants_soname(const plim_wants *wants, size_t index);

/*
 * Writes one facade per library that is wanted into a folder, `folder`/libcudart.so.13 and so on.
 * Their only dependency is libplim_standin.so, by the path given. Same wants, same bytes.
 *
 * errors  PLIM_IO, PLIM_LIMIT (a library of thousands of versions), PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_facades_write(const plim_wants *wants, const char *folder,
                                             plim_error *err);

#endif
