/*
 * player.c - loads consumers over facades, and looks at what happened.
 *
 *   player FOLDER CONSUMER12 CONSUMER13
 *
 * FOLDER holds the facades. Exit status 0 when all is well; else says what is not.
 */
#include "calls.h"
#include "consumer.h"
#include "standin.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *facades;

static void expect(bool condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "player: %s\n", what);
        exit(1);
    }
}

static void *find(void *handle, const char *name)
{
    void *const found = dlsym(handle, name);
    expect(found != NULL, name);
    return found;
}

/* POSIX has function pointers fit into object pointers; C does not. */
#define CALL(handle, type, name) ((type)find(handle, name))

typedef int int_to_int(int a);
typedef const char *consume_function(void);
typedef int64_t count_function(const char *soname, const char *name);

static void run_consumer(const char *path, const char *soname, int64_t constructors)
{
    void *const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        expect(false, dlerror());
    }
    const char *const wrong = CALL(handle, consume_function *, "consume")();
    expect(wrong == NULL, wrong);
    count_function *const count = CALL(RTLD_DEFAULT, count_function *, "play_count");
    expect(count(soname, "cudaPair") == 1 + constructors, "calls are counted");
    expect(count(soname, "cudaNobodyKnows") == 1, "unknown calls are counted");
    expect(count(soname, "cudaOnlyByName") == 0, "what nobody wanted is there");
    expect(count(soname, "cudaVariableData") == -1, "a variable is no function");
    expect(strcmp(CALL(RTLD_DEFAULT, consume_function *, "play_last_unknown")(),
                  "cudaNobodyKnows") == 0,
           "unknown functions are told by name");
}

static void ask_by_name(const char *soname, const char *name, int more)
{
    void *const handle = dlopen(soname, RTLD_NOW);
    expect(handle != NULL, soname);
    int_to_int *const function = CALL(handle, int_to_int *, name);
    count_function *const count = CALL(RTLD_DEFAULT, count_function *, "play_count");
    const int64_t before = count(soname, name);
    expect(function(40) == 40 + more, name);
    expect(count(soname, name) == before + 1, "what is asked for by name is counted");
}

/* Each major has versions of its own. */
static void ask_by_version(void)
{
    void *const handle = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
    void *const handle12 = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
    expect(handle != NULL && handle12 != NULL && handle != handle12, "both majors are loaded");
    void *const by_version = dlvsym(handle, "cudaPair", "libcudart.so.13");
    expect(by_version != NULL && by_version == dlsym(handle, "cudaPair"), "the version is known");
    expect(dlvsym(handle, "cudaPair", "libcudart.so.12") == NULL, "another is not");
    expect(dlsym(handle12, "cudaPair") != by_version, "majors have functions of their own");
    expect(dlsym(handle, "cudaWeakAbsent") == NULL, "what the vendor does not have is not there");
}

/* The vendor's libraries lie where the consumers' DT_RPATH leads. */
static int look_at(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
    (void)bytes;
    const char *const name = strrchr(info->dlpi_name, '/');
    if (name != NULL && (strncmp(name, "/libcud", 7) == 0 || strncmp(name, "/libncc", 7) == 0)) {
        expect(strncmp(info->dlpi_name, facades, strlen(facades)) == 0, info->dlpi_name);
        ++*(int *)ctx;
    }
    return 0;
}

int main(int argc, char **argv)
{
    expect(argc == 4, "wants FOLDER CONSUMER12 CONSUMER13");
    facades = argv[1];
    run_consumer(argv[2], "libcudart.so.12", 1);
    run_consumer(argv[3], "libcudart.so.13", 1);
    ask_by_name("libcudart.so.13", "cudaOnlyByName", 2);
    ask_by_name("libcuda.so.1", "cuOnlyByName", 3);
    ask_by_name("libnccl.so.2", "ncclWithoutVersion", 1);
    ask_by_version();
    int facade_count = 0;
    (void)dl_iterate_phdr(look_at, &facade_count);
    expect(facade_count == 4, "cudart twice, cuda and nccl");
    return 0;
}
