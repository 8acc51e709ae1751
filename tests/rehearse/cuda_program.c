/*
 * cuda_program.c - a small program of CUDA's runtime, to be rehearsed: does what its arguments say.
 *
 *     cuda_program [alloc MIB | free | info | read BYTES | unknown | start MIB | fail STATUS]...
 *
 * It is linked against an empty libcudart.so.13 (cudart.c), which a rehearsal puts a facade before.
 */
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE_TO_HOST    2
#define BLOCKS_MAX        64
#define STATUS_OF_FAILURE 5

int cudaMalloc(void **address, size_t bytes);
int cudaFree(void *address);
int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
int cudaMemcpy(void *target, const void *source, size_t bytes, int kind);
int cudaNobodyKnowsThis(int value);

static void *blocks[BLOCKS_MAX];
static size_t block_count;

/* As PyTorch's C++ programs die: a message, and a status. */
static void allocate(const char *mib)
{
    const size_t bytes = strtoull(mib, NULL, 10) * MIB;
    const int code = cudaMalloc(&blocks[block_count], bytes);
    if (code != 0) {
        (void)fprintf(stderr, "CUDA error: out of memory (code %d), wanted %zu bytes\n", code,
                      bytes);
        exit(STATUS_OF_FAILURE);
    }
    block_count++;
}

static void tell(void)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    const int code = cudaMemGetInfo(&free_bytes, &total_bytes);
    (void)printf("info %d %zu %zu\n", code, free_bytes, total_bytes);
}

static void read_back(const char *count)
{
    const size_t bytes = strtoull(count, NULL, 10);
    unsigned char *host = malloc(bytes + 1);
    if (host == NULL) {
        exit(STATUS_OF_FAILURE);
    }
    memset(host, 0xff, bytes);
    (void)cudaMemcpy(host, blocks[0], bytes, DEVICE_TO_HOST);
    for (size_t i = 0; i < bytes; i++) {
        (void)printf("%02x", host[i]);
    }
    (void)printf("\n");
    free(host);
}

/* A second process on the same GPU. It starts anew: CUDA does not survive a fork. */
static void start_another(const char *program, const char *mib)
{
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)execl(program, program, "alloc", mib, "info", (char *)NULL);
        _exit(127);
    }
    int status = 0;
    (void)waitpid(pid, &status, 0);
    (void)printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "0";
        if (strcmp(argv[i], "alloc") == 0) {
            allocate(next);
        } else if (strcmp(argv[i], "free") == 0) {
            (void)cudaFree(blocks[--block_count]);
        } else if (strcmp(argv[i], "info") == 0) {
            tell();
        } else if (strcmp(argv[i], "read") == 0) {
            read_back(next);
        } else if (strcmp(argv[i], "start") == 0) {
            start_another(argv[0], next);
        } else if (strcmp(argv[i], "unknown") == 0) {
            (void)printf("unknown %d\n", cudaNobodyKnowsThis(1));
        } else if (strcmp(argv[i], "fail") == 0) {
            return (int)strtol(next, NULL, 10);
        }
    }
    return 0;
}
