/* cuda.h - nothing: c10's headers include it for CUDA_VERSION, which decides what they declare. */
#ifndef ORACLE_SHIM_CUDA_H
#define ORACLE_SHIM_CUDA_H

#define CUDA_VERSION 13000

#endif
