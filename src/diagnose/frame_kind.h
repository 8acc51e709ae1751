/*
 * frame_kind.h - whose code a stack frame is: the user's, or somebody's below it.
 */
#ifndef PLIMSOLL_DIAGNOSE_FRAME_KIND_H
#define PLIMSOLL_DIAGNOSE_FRAME_KIND_H

#include "plimsoll/history.h"

typedef enum plim_frame_kind {
    PLIM_FRAME_USER,    /* whatever is nothing of the following */
    PLIM_FRAME_NATIVE,  /* compiled code: C++ of PyTorch or of an extension */
    PLIM_FRAME_TORCH,   /* PyTorch's Python, and Python that PyTorch generates */
    PLIM_FRAME_PYTHON,  /* Python's own library */
    PLIM_FRAME_LIBRARY, /* any other installed package */
} plim_frame_kind;

/* Either separator in `filename` will do, as stacks of Windows have both. */
plim_frame_kind plim_frame_kind_of(const char *filename, const char *name, uint32_t line);

#endif
