/*
 * nvshmem.c - memory that GPUs of several processes share. PyTorch uses it only where a program
 * asks for it (torch.distributed._symmetric_memory, backend "NVSHMEM"), and then a rehearsal
 * would be wrong: what the library allocates for all processes is not stood in for.
 */
#include "standin/core/stub.h"

#include <stddef.h>

#define INTERNAL_ERROR 7 /* NVSHMEMX_ERROR_INTERNAL, nvshmem_constants.h */
#define WHY            "NVSHMEM's symmetric memory is not rehearsed"

/* Version of the interface that NVSHMEM 2 and 3 say they follow: OpenSHMEM 1.3. */
#define INTERFACE_MAJOR 1
#define INTERFACE_MINOR 3

void nvshmem_info_get_version(int *ret_major, int *ret_minor)
{
    *ret_major = INTERFACE_MAJOR;
    *ret_minor = INTERFACE_MINOR;
}

/* 0: the library is not initialised. */
PLIM_STANDIN_NOTHING(nvshmemid_init_status)
PLIM_STANDIN_NOTHING(nvshmemid_hostlib_finalize)

/* --- beginning */
PLIM_STANDIN_REFUSED(nvshmem_init, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemid_hostlib_init_attr, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_get_uniqueid, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_set_attr_uniqueid_args, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_cumodule_init, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmem_selected_device_transport, INTERNAL_ERROR, WHY)

/* --- memory: NULL */
PLIM_STANDIN_REFUSED(nvshmem_malloc, 0, WHY)
PLIM_STANDIN_REFUSED(nvshmem_free, 0, WHY)
PLIM_STANDIN_REFUSED(nvshmem_ptr, 0, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_mc_ptr, 0, WHY)

/* --- teams: none has members */
PLIM_STANDIN_REFUSED(nvshmem_team_n_pes, -1, WHY)
PLIM_STANDIN_REFUSED(nvshmem_team_split_strided, INTERNAL_ERROR, WHY)

/* --- moving data */
PLIM_STANDIN_REFUSED(nvshmem_barrier_all, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_alltoallmem_on_stream, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_broadcastmem_on_stream, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_getmem_on_stream, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_putmem_on_stream, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_putmem_signal_on_stream, INTERNAL_ERROR, WHY)
PLIM_STANDIN_REFUSED(nvshmemx_signal_wait_until_on_stream, INTERNAL_ERROR, WHY)
