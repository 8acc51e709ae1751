/*
 * stub.h - how a function is stood in for, said where it is written.
 *
 * A function that is written in full and does what the real one would needs no word. The others:
 *
 *   PLIM_STANDIN_NOTHING(name)                doing nothing and returning 0 is right
 *   PLIM_STANDIN_MODELLED(name, note)         beside a written one: its figures are a model's
 *   PLIM_STANDIN_DECLINED(name, status, note) says no, as the real one does on many machines
 *   PLIM_STANDIN_REFUSED(name, status, note)  known but not stood in for: says so on stderr, once,
 *                                             and makes the rehearsal fail
 *
 * Calls of the libraries that compute (cuBLAS, cuDNN, …) are known by their facade (core/calls.c);
 * launches and the like in the others call plim_standin_computed(). What that is for: shadow.h.
 *
 * A function that is written takes all that its vendor's header says, for the reader, and looks at
 * what it needs. It is declared nowhere: only programs call it, by that header.
 *
 * A name that stands nowhere is unknown, which is refused too. `status` is an error code of the
 * function's own library. `note` is half a line: why, or what is modelled and after which source.
 *
 * Parameters are left out: in the x86-64 and AArch64 calling conventions the caller removes its
 * own arguments, so a callee may ignore them. A full register is returned, so that 0 is also NULL.
 */
#ifndef PLIMSOLL_STANDIN_CORE_STUB_H
#define PLIMSOLL_STANDIN_CORE_STUB_H

#include "stage/stage.h"

typedef struct plim_standin_kind {
    const char *name;
    const char *note;
    plim_stage_call kind;
} plim_standin_kind;

/* Says so on stderr the first time, notes it on the stage, and returns the status. */
long plim_standin_refuse(const plim_standin_kind *kind, long status);

/* The linker gathers these in a table of its own, core/calls.c reads it. */
#define PLIM_STANDIN_KIND(function_name, call_kind, text)                         \
    static const plim_standin_kind plim_standin_kind_of_##function_name           \
        __attribute__((section("plim_kinds"), used, aligned(sizeof(void *)))) = { \
            .name = #function_name, .note = (text), .kind = (call_kind)           \
        };

#define PLIM_STANDIN_MODELLED(name, note) PLIM_STANDIN_KIND(name, PLIM_STAGE_MODELLED, note)

#define PLIM_STANDIN_NOTHING(name)                  \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_NOTHING, "") \
    long name(void);                                \
    long name(void)                                 \
    {                                               \
        return 0;                                   \
    }

#define PLIM_STANDIN_DECLINED(name, status, note)      \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_DECLINED, note) \
    long name(void);                                   \
    long name(void)                                    \
    {                                                  \
        return (status);                               \
    }

#define PLIM_STANDIN_REFUSED(name, status, note)                            \
    PLIM_STANDIN_KIND(name, PLIM_STAGE_REFUSED, note)                       \
    long name(void);                                                        \
    long name(void)                                                         \
    {                                                                       \
        return plim_standin_refuse(&plim_standin_kind_of_##name, (status)); \
    }

/* Returns the status of a call that did not succeed, which is 0 in each library. */
#define PLIM_STANDIN_TRY(call)                 \
    do {                                       \
        const int standin_try_status = (call); \
        if (standin_try_status != 0) {         \
            return standin_try_status;         \
        }                                      \
    } while (0)

#endif
