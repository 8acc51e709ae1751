/*
 * shadow.h - small data on devices that is known exactly.
 *
 * Bytes that the host copied or filled into device memory come back when read, as long as nothing
 * was computed since: kernels may have written anywhere, so the first of them ends all knowledge.
 * That is enough for lists of lengths that go to a device and back, for shapes that ranks show
 * each other, and it can never be wrong. Only pieces up to PLIM_STANDIN_SHADOW_PIECE_BYTES are
 * kept, PLIM_STANDIN_SHADOW_BYTES in all.
 *
 * Calls of the libraries that compute (cuBLAS, cuDNN, …) end it by themselves, see calls.h.
 * Launches of kernels and graphs, and collectives that reduce, say plim_standin_computed().
 */
#ifndef PLIMSOLL_STANDIN_CORE_SHADOW_H
#define PLIMSOLL_STANDIN_CORE_SHADOW_H

#include <stddef.h>
#include <stdint.h>

#define PLIM_STANDIN_SHADOW_PIECE_BYTES (UINT64_C(1) << 20)
#define PLIM_STANDIN_SHADOW_BYTES       (UINT64_C(16) << 20)
#define PLIM_STANDIN_SHADOW_PIECES      4096

/* Something may have written to any device memory. */
void plim_standin_computed(void);

/* Device to device, or within one: what is known goes along. They may overlap. */
void plim_standin_shadow_copy(void *target, const void *source, size_t bytes);

/* From the host. */
void plim_standin_shadow_write(uint64_t address, const void *source, size_t bytes);
void plim_standin_shadow_fill(uint64_t address, int byte, size_t bytes);
/* To the host: overwrites the bytes that are known, and no others. Returns how many are. */
uint64_t plim_standin_shadow_read(void *target, uint64_t address, size_t bytes);

/* Given back, or written by we do not know what. */
void plim_standin_shadow_forget(uint64_t address, uint64_t bytes);

#endif
