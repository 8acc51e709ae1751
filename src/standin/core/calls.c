/*
 * calls.c - the facades of this process, what their functions are, and how often they are called.
 *
 * Attaching leads a facade's functions to their stand-ins (facade/table.h). It runs in every
 * process of a program, before its main(), so it does little and touches no stage. A function
 * without a stand-in keeps the facade's stub, which comes to unknown() here.
 */
#include "standin/core/calls.h"

#include "base/assert.h"
#include "facade/table.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- libraries ------------------------------------------------------------------------------- */

static const plim_standin_vendor vendors[] = {
    { "libcublas", 15, true },      /* CUBLAS_STATUS_NOT_SUPPORTED */
    { "libcublasLt", 15, true },    /* the same enumeration */
    { "libcuda", 801, false },      /* CUDA_ERROR_NOT_SUPPORTED */
    { "libcudart", 801, false },    /* cudaErrorNotSupported */
    { "libcudnn", 3000, true },     /* CUDNN_STATUS_NOT_SUPPORTED */
    { "libcufft", 16, true },       /* CUFFT_NOT_SUPPORTED */
    { "libcufile", 5008, true },    /* CU_FILE_IO_NOT_SUPPORTED; it reads into device memory */
    { "libcupti", 27, false },      /* CUPTI_ERROR_NOT_SUPPORTED */
    { "libcurand", 999, true },     /* CURAND_STATUS_INTERNAL_ERROR: it has nothing nearer */
    { "libcusolver", 9, true },     /* CUSOLVER_STATUS_NOT_SUPPORTED */
    { "libcusparse", 10, true },    /* CUSPARSE_STATUS_NOT_SUPPORTED */
    { "libcusparseLt", 10, true },  /* the same enumeration */
    { "libnccl", 3, false },        /* ncclInternalError: it has nothing nearer */
    { "libnvidia-ml", 3, false },   /* NVML_ERROR_NOT_SUPPORTED */
    { "libnvrtc", 11, false },      /* NVRTC_ERROR_INTERNAL_ERROR: it has nothing nearer */
    { "libnvshmem_host", 3, true }, /* NVSHMEMX_ERROR_NOT_SUPPORTED */
};

const plim_standin_vendor *plim_standin_vendor_of(const char *soname)
{
    static const plim_standin_vendor unknown = { "", 1, true };
    const char *end = strstr(soname, ".so");
    const size_t length = end != NULL ? (size_t)(end - soname) : strlen(soname);
    for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
        if (strlen(vendors[i].stem) == length && strncmp(vendors[i].stem, soname, length) == 0) {
            return &vendors[i];
        }
    }
    return &unknown;
}

/* ---- facades --------------------------------------------------------------------------------- */

/* More than a process has; what comes after is attached, but not counted. */
#define TABLES_MAX 64

static plim_facade_table *tables[TABLES_MAX];
static atomic_size_t table_count; /* written by constructors, which the loader runs one by one */

/* This shared object (or, in tests, the program); never closed. */
static void *self(void)
{
    static _Atomic(void *) handle;
    void *found = atomic_load(&handle);
    if (found == NULL) {
        Dl_info about = { 0 };
        if (dladdr((void *)tables, &about) != 0) {
            found = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        }
        if (found == NULL) {
            found = dlopen(NULL, RTLD_LAZY);
        }
        atomic_store(&handle, found);
    }
    return found;
}

/* The stand-in of that name, or NULL. */
static void *find(const char *name)
{
    return dlsym(self(), name);
}

void *plim_standin_find_counted(const char *name)
{
    void *own = find(name);
    void *first = own != NULL ? dlsym(RTLD_DEFAULT, name) : NULL; /* preloaded ones come first */
    return first != NULL ? first : own;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

#define KINDS_MAX 8192
#define SAID_MAX  1024

/* The bounds of section plim_kinds; the linker makes names like these for every section. */
extern const plim_standin_kind __start_plim_kinds[] __attribute__((visibility("hidden")));
extern const plim_standin_kind __stop_plim_kinds[] __attribute__((visibility("hidden")));

static const plim_standin_kind *sorted[KINDS_MAX];
static size_t sorted_count;
static pthread_once_t is_sorted = PTHREAD_ONCE_INIT;

static int compare(const void *a, const void *b)
{
    const plim_standin_kind *const *left = a;
    const plim_standin_kind *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static void sort(void)
{
    sorted_count = (size_t)(__stop_plim_kinds - __start_plim_kinds);
    PLIM_ASSERT(sorted_count <= KINDS_MAX);
    for (size_t i = 0; i < sorted_count; i++) {
        sorted[i] = &__start_plim_kinds[i];
    }
    qsort(sorted, sorted_count, sizeof(sorted[0]), compare);
}

/* Of the function of that name: what its file says of it, ANSWERED or UNKNOWN. */
static plim_standin_kind kind_of(const char *name)
{
    (void)pthread_once(&is_sorted, sort);
    const plim_standin_kind wanted = { .name = name, .note = "", .kind = PLIM_STAGE_ANSWERED };
    const plim_standin_kind *const key = &wanted;
    const plim_standin_kind *const *found =
        bsearch(&key, sorted, sorted_count, sizeof(sorted[0]), compare);
    if (found != NULL) {
        return **found;
    }
    if (find(name) != NULL) {
        return wanted;
    }
    return (plim_standin_kind){ .name = name, .note = "", .kind = PLIM_STAGE_UNKNOWN };
}

/* True once for each thing in a process, so that a message about it is written once. */
static bool is_first_time(const void *thing)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const void *said[SAID_MAX];
    static size_t said_count;

    (void)pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < said_count && said[i] != thing) {
        i++;
    }
    const bool is_first = i == said_count && said_count < SAID_MAX;
    if (is_first) {
        said[said_count] = thing;
        said_count++;
    }
    (void)pthread_mutex_unlock(&lock);
    return is_first;
}

/* ---- counts ---------------------------------------------------------------------------------- */

#define PAUSE_NS UINT64_C(100000000) /* between two flushes */

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t computing_flushed; /* calls that are no longer in the facades' counts */

/* The facades count with one instruction, at any moment. */
static uint64_t read_count(plim_facade_entry *entry)
{
    return __atomic_load_n(&entry->count, __ATOMIC_RELAXED);
}

static uint64_t take_count(plim_facade_entry *entry)
{
    return __atomic_exchange_n(&entry->count, 0, __ATOMIC_RELAXED);
}

static void flush_table(plim_facade_table *table)
{
    const bool computes = plim_standin_vendor_of(table->soname)->computes;
    for (uint32_t i = 0; i < table->entry_count; i++) {
        plim_facade_entry *entry = &table->entries[i];
        if (read_count(entry) == 0) {
            continue;
        }
        const uint64_t times = take_count(entry);
        computing_flushed += computes ? times : 0;
        const plim_standin_kind kind = kind_of(entry->name);
        plim_stage_count_call(plim_standin_stage(), entry->name, kind.kind, kind.note, times);
        if (plim_standin_settings()->prints_calls && is_first_time(entry->name)) {
            (void)fprintf(stderr, "plimsoll: called: %s (%s)\n", entry->name, table->soname);
        }
    }
}

void plim_standin_calls_flush(void)
{
    (void)pthread_mutex_lock(&count_lock);
    for (size_t i = 0; i < atomic_load(&table_count); i++) {
        flush_table(tables[i]);
    }
    (void)pthread_mutex_unlock(&count_lock);
}

void plim_standin_calls_flush_now_and_then(void)
{
    static atomic_uint_fast64_t next_ns;
    struct timespec now = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    uint_fast64_t due_ns = atomic_load(&next_ns);
    if (now_ns >= due_ns && atomic_compare_exchange_strong(&next_ns, &due_ns, now_ns + PAUSE_NS)) {
        plim_standin_calls_flush();
    }
}

uint64_t plim_standin_calls_computing(void)
{
    (void)pthread_mutex_lock(&count_lock);
    uint64_t calls = computing_flushed;
    for (size_t i = 0; i < atomic_load(&table_count); i++) {
        plim_facade_table *table = tables[i];
        if (!plim_standin_vendor_of(table->soname)->computes) {
            continue;
        }
        for (uint32_t k = 0; k < table->entry_count; k++) {
            calls += read_count(&table->entries[k]);
        }
    }
    (void)pthread_mutex_unlock(&count_lock);
    return calls;
}

/* In a forked child: what is counted so far was its parent's. */
static void forget_counts(void)
{
    (void)pthread_mutex_init(&count_lock, NULL);
    for (size_t i = 0; i < atomic_load(&table_count); i++) {
        plim_facade_table *table = tables[i];
        for (uint32_t k = 0; k < table->entry_count; k++) {
            (void)take_count(&table->entries[k]);
        }
    }
}

static bool was_called(void)
{
    for (size_t i = 0; i < atomic_load(&table_count); i++) {
        plim_facade_table *table = tables[i];
        for (uint32_t k = 0; k < table->entry_count; k++) {
            if (read_count(&table->entries[k]) > 0) {
                return true;
            }
        }
    }
    return false;
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, forget_counts); /* fails only without memory */
}

/* Processes that only carry the preloaded stand-ins along have called nothing, and have no stage.
 */
__attribute__((destructor)) static void finish(void)
{
    if (getenv(PLIM_STAGE_VARIABLE) != NULL && was_called()) {
        plim_standin_calls_flush();
        plim_stage_leave(plim_standin_stage());
    }
}

/* ---- functions without a stand-in ------------------------------------------------------------ */

long plim_standin_refuse(const plim_standin_kind *kind, long status)
{
    if (is_first_time(kind)) {
        (void)fprintf(stderr,
                      "plimsoll: the program called %s, which has no stand-in (%s): this "
                      "rehearsal's figures are not valid; leave out what uses it\n",
                      kind->name, kind->note);
        plim_stage_count_call(plim_standin_stage(), kind->name, kind->kind, kind->note, 0);
        plim_standin_calls_flush();
    }
    return status;
}

static const plim_facade_table *table_of(const plim_facade_entry *entry)
{
    for (size_t i = 0; i < atomic_load(&table_count); i++) {
        if (entry >= tables[i]->entries && entry < tables[i]->entries + tables[i]->entry_count) {
            return tables[i];
        }
    }
    return NULL;
}

static long unknown(const plim_facade_entry *entry)
{
    const plim_facade_table *table = table_of(entry);
    const char *soname = table != NULL ? table->soname : "a library";
    if (is_first_time(entry)) {
        (void)fprintf(stderr,
                      "plimsoll: the program called %s (%s), which has no stand-in: this "
                      "rehearsal's figures are not valid; leave out what uses it\n",
                      entry->name, soname);
        plim_standin_calls_flush();
    }
    return plim_standin_vendor_of(soname)->not_supported;
}

void plim_standin_attach(plim_facade_table *table)
{
    /* ISO C has no pointer that is a function and an object; POSIX says they are the same. */
    long (*const function)(const plim_facade_entry *) = unknown;
    memcpy(&table->unknown, &function, sizeof(function));
    for (uint32_t i = 0; i < table->entry_count; i++) {
        void *found = find(table->entries[i].name);
        if (found != NULL) {
            table->entries[i].target = found;
        }
    }
    const size_t index = atomic_load(&table_count);
    if (index < TABLES_MAX) {
        tables[index] = table;
        atomic_store(&table_count, index + 1);
    }
}
