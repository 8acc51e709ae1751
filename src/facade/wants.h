/*
 * wants.h - what is wanted, as the writer of facades sees it.
 */
#ifndef PLIMSOLL_FACADE_WANTS_H
#define PLIMSOLL_FACADE_WANTS_H

#include "facade/facade.h"

#include "base/arena.h"
#include "base/vec.h"
#include "facade/families.h"

typedef struct plim_want {
    const char *name;
    const char *version; /* NULL: none */
    bool is_data;        /* a variable, not a function */
} plim_want;

typedef struct plim_wants_library {
    const char *soname;
    const plim_family *family;
    const char *version;      /* the first that is wanted; NULL: none */
    PLIM_VEC(plim_want) list; /* by name, then version; no two alike */
    /* Objects are numbered from 1. */
    size_t needed_by;    /* the last object that needs it */
    size_t versioned_by; /* the last object that wants versions of it */
} plim_wants_library;

struct plim_wants {
    const plim_mem *mem;
    plim_arena texts;
    const char *standin; /* absolute path of libplim_standin.so */
    uint16_t machine;    /* that it is for: EM_X86_64 … */
    size_t object_count;
    PLIM_VEC(plim_wants_library) libraries; /* by soname */
    PLIM_VEC(plim_want) standins;           /* what libplim_standin.so defines, by name */
};

/* The parts of plim_wants_collect(), for tests. */
plim_wants *plim_wants_create(const plim_mem *mem);
/* False: no memory. An object that is damaged adds what can be read of it. */
bool plim_wants_add_object(plim_wants *wants, const void *data, size_t bytes);
bool plim_wants_add_standin(plim_wants *wants, const void *data, size_t bytes);
/* Adds what is always there, sorts, and drops what is there twice. */
bool plim_wants_finish(plim_wants *wants);

#endif
