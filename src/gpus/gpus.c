/* gpus.c - the table of GPUs. See plimsoll/gpu.h. */
#include "plimsoll/gpu.h"
