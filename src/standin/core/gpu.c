/*
 * gpu.c - the table of GPUs to choose from.
 *
 * Figures come from the vendor's public data sheets and from the table
 * "Technical Specifications per Compute Capability" of the CUDA C++ Programming
 * Guide. Memory is the nominal size, rounded: a real driver keeps some for
 * itself and reports a little less.
 */
#include "standin/core/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define GIB (UINT64_C(1) << 30)
#define KIB 1024
#define MIB (1024 * 1024)

static const plim_standin_gpu gpus[] = {
    { "t4", "Tesla T4", 16 * GIB, 7, 5, 40, 1024, 16, 64 * KIB, 64 * KIB, 4 * MIB, 256, 1590000 },
    { "a100", "NVIDIA A100-SXM4-80GB", 80 * GIB, 8, 0, 108, 2048, 32, 164 * KIB, 163 * KIB,
      40 * MIB, 5120, 1410000 },
    { "rtx4090", "NVIDIA GeForce RTX 4090", 24 * GIB, 8, 9, 128, 1536, 24, 100 * KIB, 99 * KIB,
      72 * MIB, 384, 2520000 },
    { "h100", "NVIDIA H100 80GB HBM3", 80 * GIB, 9, 0, 132, 2048, 32, 228 * KIB, 227 * KIB,
      50 * MIB, 5120, 1980000 },
    { "b200", "NVIDIA B200", 180 * GIB, 10, 0, 148, 2048, 32, 228 * KIB, 227 * KIB, 126 * MIB, 8192,
      1965000 },
};

static plim_standin_gpu chosen;
static int device_count;
static once_flag chosen_once = ONCE_FLAG_INIT;

static _Noreturn void refuse(const char *variable, const char *value)
{
    (void)fprintf(stderr, "standin: cannot use %s='%s'\n", variable, value);
    exit(EXIT_FAILURE);
}

static uint64_t number_from(const char *variable, uint64_t fallback, uint64_t largest)
{
    const char *value = getenv(variable);
    if (value == NULL || value[0] == '\0') {
        return fallback;
    }
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    if (errno != 0 || *end != '\0' || number == 0 || number > largest) {
        refuse(variable, value);
    }
    return number;
}

static void choose(void)
{
    const char *key = getenv("PLIM_STANDIN_GPU");
    if (key == NULL || key[0] == '\0') {
        key = "h100";
    }
    for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
        if (strcmp(gpus[i].key, key) == 0) {
            chosen = gpus[i];
        }
    }
    if (chosen.key == NULL) {
        refuse("PLIM_STANDIN_GPU", key);
    }
    chosen.memory_bytes =
        number_from("PLIM_STANDIN_CAPACITY", chosen.memory_bytes, PLIM_STANDIN_CAPACITY_BYTES_MAX);
    device_count = (int)number_from("PLIM_STANDIN_DEVICES", 1, PLIM_STANDIN_DEVICES_MAX);
}

const plim_standin_gpu *plim_standin_gpu_chosen(void)
{
    call_once(&chosen_once, choose);
    return &chosen;
}

int plim_standin_device_count(void)
{
    call_once(&chosen_once, choose);
    return device_count;
}
