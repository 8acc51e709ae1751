/*
 * fail_alloc.c - a preloaded heap whose Nth allocation fails.
 *
 *   PLIM_FAIL_ALLOC=N      which call fails, counted from 1 and from the start of main()
 *   PLIM_FAIL_ALLOC_ALL=1  and every later one
 *   PLIM_FAIL_ALLOC_LOG=F  the file to which the word "failed" is appended once it came to that
 *
 * Counted are malloc, calloc, realloc, posix_memalign and aligned_alloc, by whichever thread.
 * Those before main() belong to the loader, and the loader's failures are not ours to handle.
 * Commands that the program starts are spared, and so is libyajl: it checks none of its own
 * allocations (2.1.0: yajl_alloc(), yajl_buf.c), and nobody can do so in its place.
 * glibc's own names (__libc_malloc, …) do the work, so nothing has to be looked up, which would
 * itself allocate.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc exports these and declares them nowhere. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *ptr, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

typedef int (*main_function)(int argc, char **argv, char **environment);
typedef int (*start_function)(main_function main, int argc, char **argv, void (*init)(void),
                              void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

/* Replaced so that main() is found; declared by no header. */
int __libc_start_main(main_function main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

static atomic_bool counting;
static atomic_long calls;
static long fail_at;
static bool fail_all;
static main_function real_main;
static uintptr_t spared_begin; /* code of libyajl */
static uintptr_t spared_end;

static void note_failure(void)
{
    const char *const path = getenv("PLIM_FAIL_ALLOC_LOG");
    if (path == NULL) {
        return;
    }
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) {
        if (write(file, "failed\n", 7) != 7) {
            abort(); /* the test would take this run for one that went well */
        }
        close(file);
    }
}

/* True if this call is the one to fail. `caller` is an address in the code that made it. */
static bool is_our_turn(const void *caller)
{
    const uintptr_t from = (uintptr_t)caller;
    if (!atomic_load(&counting) || (from >= spared_begin && from < spared_end)) {
        return false;
    }
    const long call = atomic_fetch_add(&calls, 1) + 1;
    if (call != fail_at && !(fail_all && call > fail_at)) {
        return false;
    }
    if (call == fail_at) {
        note_failure();
    }
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return is_our_turn(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return is_our_turn(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *ptr, size_t bytes)
{
    return is_our_turn(__builtin_return_address(0)) ? NULL : __libc_realloc(ptr, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return is_our_turn(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    void *const fresh =
        is_our_turn(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
    if (fresh == NULL) {
        return ENOMEM;
    }
    *ret = fresh;
    return 0;
}

static int find_spared(struct dl_phdr_info *object, size_t bytes, void *ctx)
{
    (void)bytes;
    (void)ctx;
    if (strstr(object->dlpi_name, "/libyajl.so") == NULL) {
        return 0;
    }
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
            spared_begin = object->dlpi_addr + part->p_vaddr;
            spared_end = spared_begin + part->p_memsz;
        }
    }
    return 1;
}

static int counted_main(int argc, char **argv, char **environment)
{
    const char *const nth = getenv("PLIM_FAIL_ALLOC");
    const char *const all = getenv("PLIM_FAIL_ALLOC_ALL");
    fail_at = nth == NULL ? 0 : strtol(nth, NULL, 10);
    fail_all = all != NULL && all[0] == '1';
    unsetenv("PLIM_FAIL_ALLOC");
    (void)dl_iterate_phdr(find_spared, NULL);
    atomic_store(&counting, fail_at > 0);
    return real_main(argc, argv, environment);
}

int __libc_start_main(main_function main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    union {
        void *object; /* ISO C has no cast from an object's address to a function's */
        start_function function;
    } start = { .object = dlsym(RTLD_NEXT, "__libc_start_main") };
    real_main = main;
    return start.function(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
