/*
 * triton.h - what Triton, and so torch.compile, needs to work over the stand-ins.
 *
 * Triton compiles a small helper of its own against libcuda.so.1, which on a machine without a
 * GPU is nowhere. It gets a linker script of that name that defines nothing: what the helper
 * wants is found in the facade, which is loaded already. Results of autotuning are kept in the
 * run's own folder: kernels that do nothing are all as fast, and a later run on a real GPU must
 * not believe what was found here.
 */
#ifndef PLIMSOLL_REHEARSE_TRITON_H
#define PLIMSOLL_REHEARSE_TRITON_H

#include "plimsoll/status.h"

/* Names in the folder of a run. */
#define PLIM_RUN_LINK           "link"
#define PLIM_RUN_TRITON_CACHE   "triton"
#define PLIM_RUN_INDUCTOR_CACHE "inductor"

/* Writes the linker script into the folder of a run. */
PLIM_MUST_USE plim_status plim_triton_prepare(const char *run, plim_error *err);

#endif
