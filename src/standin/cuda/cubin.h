/*
 * cubin.h - what a compiled module says of its kernels: registers, stack, shared memory.
 *
 * A cubin is an ELF file for the machine EM_CUDA. Kernels are symbols in sections ".text.<name>";
 * ".nv.info" and ".nv.info.<name>" hold records (a format byte, an attribute byte, then 2 bytes of
 * value, or their count and the values). The layout is not in NVIDIA's manuals; the names and
 * numbers are those that cuobjdump -elf prints (EIATTR_REGCOUNT is 0x2f, EIATTR_FRAME_SIZE 0x11,
 * EIATTR_MAX_THREADS 0x05), and the figures agree with ptxas -v of CUDA 12.8.
 */
#ifndef PLIMSOLL_STANDIN_CUDA_CUBIN_H
#define PLIMSOLL_STANDIN_CUDA_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct plim_standin_kernel_facts {
    unsigned registers;   /* of a thread */
    unsigned threads_max; /* of a block, as the source promised; 0: not promised */
    uint64_t local_bytes; /* of a thread: stack and spills */
    uint64_t shared_bytes;
    uint64_t constant_bytes;
} plim_standin_kernel_facts;

typedef struct plim_standin_cubin_symbol {
    const char *name; /* in the image */
    bool is_kernel;
    uint64_t bytes;                  /* of a variable */
    plim_standin_kernel_facts facts; /* of a kernel */
} plim_standin_cubin_symbol;

bool plim_standin_cubin_is(const void *image);

/*
 * Calls `visit` with each kernel and variable. False: a record or section is not what it should
 * be, or visit said no.
 *
 * image  as long as its own headers say; there is no other length
 */
bool plim_standin_cubin_read(const void *image,
                             bool (*visit)(void *data, const plim_standin_cubin_symbol *symbol),
                             void *data);

#endif
