/*
 * wants.c - which functions of which library a program's objects want.
 *
 * Most symbols carry a version, and its record names the library. The rest have only their names
 * to go by: they belong to a library that the object needs and whose functions have such names.
 * One exception: where an object has versions of a library, what has none and may be missing
 * (weak) was not found in that library when the object was linked. Code asks whether it is there
 * to learn how it was built (libtorch_nvshmem.so: nvshmem_init), so it must stay missing.
 */
#include "facade/wants.h"

#include "base/assert.h"
#include "base/error.h"
#include "facade/elf_object.h"
#include "facade/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WANTS_MAX 65536 /* of one object: no library has as many functions */

/* Opened by hand, so that no object says it needs them. */
static const char *const always[] = { "libcuda.so.1", "libnvidia-ml.so.1" };

/* A version record of the object that is read. */
typedef struct version_record {
    size_t library; /* its index + 1; 0: none of the vendor's */
    const char *name;
} version_record;

typedef struct symbol_reading {
    plim_wants *wants;
    PLIM_VEC(version_record) records; /* by the number symbols bear */
    size_t want_count;
    bool enough_memory;
} symbol_reading;

plim_wants *plim_wants_create(const plim_mem *mem)
{
    mem = plim_mem_or_heap(mem);
    plim_wants *const wants = plim_mem_alloc_zeroed(mem, 1, sizeof *wants);
    if (wants != NULL) {
        wants->mem = mem;
        plim_arena_init(&wants->texts, mem);
    }
    return wants;
}

void plim_wants_destroy(plim_wants *wants)
{
    if (wants == NULL) {
        return;
    }
    for (size_t i = 0; i < wants->libraries.count; i++) {
        PLIM_VEC_FREE(wants->mem, &wants->libraries.items[i].list);
    }
    PLIM_VEC_FREE(wants->mem, &wants->libraries);
    PLIM_VEC_FREE(wants->mem, &wants->standins);
    plim_arena_deinit(&wants->texts);
    plim_mem_free(wants->mem, wants, 1, sizeof *wants);
}

/* The library of this name, added when it is new; NULL: no memory. */
static plim_wants_library *library_named(plim_wants *wants, const char *soname,
                                         const plim_family *family)
{
    for (size_t i = 0; i < wants->libraries.count; i++) {
        if (strcmp(wants->libraries.items[i].soname, soname) == 0) {
            return &wants->libraries.items[i];
        }
    }
    const plim_wants_library fresh = {
        .soname = plim_arena_copy(&wants->texts, soname, strlen(soname)),
        .family = family,
    };
    if (fresh.soname == NULL || !PLIM_VEC_PUSH(wants->mem, &wants->libraries, fresh)) {
        return NULL;
    }
    return &wants->libraries.items[wants->libraries.count - 1];
}

/* Makes place for records up to `index`. */
static bool reach(symbol_reading *now, size_t index)
{
    while (now->records.count <= index) {
        if (!PLIM_VEC_PUSH(now->wants->mem, &now->records, ((version_record){ 0 }))) {
            return false;
        }
    }
    return true;
}

static bool note_version(void *ctx, const plim_elf_need *need)
{
    symbol_reading *const now = ctx;
    const plim_family *const family = plim_family_of_library(need->library);
    if (family == NULL) {
        return true;
    }
    plim_wants *const wants = now->wants;
    plim_wants_library *const library = library_named(wants, need->library, family);
    const char *const name = plim_arena_copy(&wants->texts, need->name, strlen(need->name));
    now->enough_memory = library != NULL && name != NULL && reach(now, need->version);
    if (!now->enough_memory) {
        return false;
    }
    library->versioned_by = wants->object_count;
    if (library->version == NULL) {
        library->version = name;
    }
    now->records.items[need->version] =
        (version_record){ .library = (size_t)(library - wants->libraries.items) + 1, .name = name };
    return true;
}

static bool note_needed(plim_wants *wants, const plim_elf *elf)
{
    size_t cursor = 0;
    const char *soname = NULL;
    while (plim_elf_needed(elf, &cursor, &soname)) {
        const plim_family *const family = plim_family_of_library(soname);
        if (family != NULL) {
            plim_wants_library *const library = library_named(wants, soname, family);
            if (library == NULL) {
                return false;
            }
            library->needed_by = wants->object_count;
        }
    }
    return true;
}

/* The library that a symbol without version is wanted of; NULL: it is not the vendor's. */
static plim_wants_library *library_by_name(plim_wants *wants, const plim_elf_symbol *symbol)
{
    const plim_family *const family = plim_family_of_function(symbol->name);
    for (size_t i = 0; family != NULL && i < wants->libraries.count; i++) {
        plim_wants_library *const library = &wants->libraries.items[i];
        if (library->family == family && library->needed_by == wants->object_count) {
            const bool not_found = library->versioned_by == wants->object_count;
            return symbol->binding == STB_WEAK && not_found ? NULL : library;
        }
    }
    return NULL;
}

static bool is_data(const plim_elf_symbol *symbol)
{
    return symbol->type == STT_OBJECT || symbol->type == STT_COMMON;
}

static bool note_symbol(symbol_reading *now, const plim_elf_symbol *symbol)
{
    plim_wants *const wants = now->wants;
    const version_record *const version =
        symbol->version < now->records.count ? &now->records.items[symbol->version] : NULL;
    const bool has_version = version != NULL && version->library != 0;
    plim_wants_library *const library = has_version ? &wants->libraries.items[version->library - 1]
                                                    : library_by_name(wants, symbol);
    if (library == NULL || symbol->type == STT_TLS) {
        return true;
    }
    now->want_count++;
    const plim_want want = {
        .name = plim_arena_copy(&wants->texts, symbol->name, strlen(symbol->name)),
        .version = has_version ? version->name : NULL,
        .is_data = is_data(symbol),
    };
    return want.name != NULL && PLIM_VEC_PUSH(wants->mem, &library->list, want);
}

bool plim_wants_add_object(plim_wants *wants, const void *data, size_t bytes)
{
    plim_elf elf;
    if (!plim_elf_open(data, bytes, &elf) || elf.machine != wants->machine) {
        return true;
    }
    wants->object_count++;
    symbol_reading now = { .wants = wants, .enough_memory = note_needed(wants, &elf) };
    if (now.enough_memory) {
        plim_elf_visit_needs(&elf, note_version, &now);
    }
    for (size_t i = 1; now.enough_memory && i < elf.symbol_count && now.want_count < WANTS_MAX;
         i++) {
        plim_elf_symbol symbol;
        if (plim_elf_symbol_at(&elf, i, &symbol) && symbol.undefined) {
            now.enough_memory = note_symbol(&now, &symbol);
        }
    }
    PLIM_VEC_FREE(wants->mem, &now.records);
    return now.enough_memory;
}

bool plim_wants_add_standin(plim_wants *wants, const void *data, size_t bytes)
{
    plim_elf elf;
    if (!plim_elf_open(data, bytes, &elf)) {
        return true;
    }
    wants->machine = elf.machine;
    for (size_t i = 1; i < elf.symbol_count && wants->standins.count < WANTS_MAX; i++) {
        plim_elf_symbol symbol;
        if (!plim_elf_symbol_at(&elf, i, &symbol) || symbol.undefined ||
            plim_family_of_function(symbol.name) == NULL) {
            continue;
        }
        const plim_want standin = {
            .name = plim_arena_copy(&wants->texts, symbol.name, strlen(symbol.name)),
            .is_data = is_data(&symbol),
        };
        if (standin.name == NULL || !PLIM_VEC_PUSH(wants->mem, &wants->standins, standin)) {
            return false;
        }
    }
    return true;
}

static int compare_wants(const void *a, const void *b)
{
    const plim_want *const one = a;
    const plim_want *const other = b;
    const int by_name = strcmp(one->name, other->name);
    if (by_name != 0) {
        return by_name;
    }
    return strcmp(one->version == NULL ? "" : one->version,
                  other->version == NULL ? "" : other->version);
}

static int compare_libraries(const void *a, const void *b)
{
    const plim_wants_library *const one = a;
    const plim_wants_library *const other = b;
    return strcmp(one->soname, other->soname);
}

static bool is_variable_of_standin(const plim_wants *wants, const plim_want *want)
{
    for (size_t i = 0; i < wants->standins.count; i++) {
        const plim_want *const standin = &wants->standins.items[i];
        if (standin->is_data && strcmp(standin->name, want->name) == 0) {
            return true;
        }
    }
    return false;
}

/* The version of what no object wants by version; NULL: none. */
static bool choose_version(plim_wants *wants, plim_wants_library *library)
{
    if (library->version != NULL || library->family->version[0] == '\0') {
        return true;
    }
    library->version = library->family->version;
    if (strcmp(library->version, "*") != 0) {
        return true;
    }
    /* libcudart-9335f6a2.so.12 was libcudart.so.12 when it gave out versions. */
    const char *const end = strstr(library->soname, ".so");
    const size_t stem = strlen("lib") + strlen(library->family->stem);
    const size_t bytes = stem + strlen(end) + 1;
    char *const version = plim_arena_alloc(&wants->texts, bytes);
    if (version == NULL) {
        return false;
    }
    (void)snprintf(version, bytes, "%.*s%s", (int)stem, library->soname, end);
    library->version = version;
    return true;
}

/* Gives one library what libplim_standin.so has for it, and puts its list in order. */
static bool finish_library(plim_wants *wants, plim_wants_library *library)
{
    if (!choose_version(wants, library)) {
        return false;
    }
    for (size_t i = 0; i < wants->standins.count; i++) {
        const plim_want *const standin = &wants->standins.items[i];
        if (!standin->is_data && plim_family_of_function(standin->name) == library->family &&
            !PLIM_VEC_PUSH(wants->mem, &library->list, *standin)) {
            return false;
        }
    }
    plim_want *const list = library->list.items;
    for (size_t i = 0; i < library->list.count; i++) {
        if (list[i].version == NULL) {
            list[i].version = library->version;
        }
    }
    if (library->list.count > 0) {
        qsort(list, library->list.count, sizeof *list, compare_wants);
    }
    size_t kept = 0;
    for (size_t i = 0; i < library->list.count; i++) {
        if (kept > 0 && compare_wants(&list[kept - 1], &list[i]) == 0) {
            list[kept - 1].is_data = list[kept - 1].is_data || list[i].is_data;
        } else if (!(list[i].is_data && is_variable_of_standin(wants, &list[i]))) {
            list[kept++] = list[i];
        }
    }
    library->list.count = kept;
    return true;
}

bool plim_wants_finish(plim_wants *wants)
{
    if (wants->libraries.count == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (library_named(wants, always[i], plim_family_of_library(always[i])) == NULL) {
            return false;
        }
    }
    for (size_t i = 0; i < wants->libraries.count; i++) {
        if (!finish_library(wants, &wants->libraries.items[i])) {
            return false;
        }
    }
    qsort(wants->libraries.items, wants->libraries.count, sizeof *wants->libraries.items,
          compare_libraries);
    return true;
}

/* A file's bytes, mapped; NULL with errno when it cannot be read. Empty files cannot. */
static void *map_file(const char *path, size_t *ret_bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hang us */
    if (fd < 0) {
        return NULL;
    }
    struct stat info;
    void *data = NULL;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        *ret_bytes = (size_t)info.st_size;
        data = mmap(NULL, *ret_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        data = data == MAP_FAILED ? NULL : data;
    } else {
        errno = EINVAL;
    }
    const int why = errno;
    (void)close(fd);
    errno = why;
    return data;
}

static plim_status read_standin(plim_wants *wants, const char *path, plim_error *err)
{
    size_t bytes = 0;
    char *const absolute = realpath(path, NULL);
    void *const data = absolute == NULL ? NULL : map_file(absolute, &bytes);
    if (data == NULL) {
        const int why = errno;
        free(absolute);
        return plim_fail_errno(err, why, "%s: the stand-ins cannot be read", path);
    }
    const bool enough = plim_wants_add_standin(wants, data, bytes);
    (void)munmap(data, bytes);
    wants->standin = plim_arena_copy(&wants->texts, absolute, strlen(absolute));
    free(absolute);
    if (!enough || wants->standin == NULL) {
        return plim_fail_memory(err, "reading what is stood in for");
    }
    if (wants->machine == EM_NONE) {
        return plim_fail(err, PLIM_CORRUPT,
                         "%s: the stand-ins are no shared object: build them "
                         "anew",
                         path);
    }
    if (plim_machine_find(wants->machine) == NULL) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "%s: facades cannot be written for this machine "
                         "(ELF machine %d): rehearse on x86-64 or AArch64",
                         path, wants->machine);
    }
    return PLIM_OK;
}

static plim_status read_all(plim_wants *wants, const char *const *paths, size_t path_count,
                            const char *standin, plim_error *err)
{
    PLIM_TRY(read_standin(wants, standin, err));
    bool enough = true;
    for (size_t i = 0; enough && i < path_count; i++) {
        size_t bytes = 0;
        void *const data = map_file(paths[i], &bytes);
        if (data != NULL) {
            enough = plim_wants_add_object(wants, data, bytes);
            (void)munmap(data, bytes);
        }
    }
    return enough && plim_wants_finish(wants) ? PLIM_OK
                                              : plim_fail_memory(err, "reading what objects want");
}

plim_status plim_wants_collect(const char *const *paths, size_t path_count, const char *standin,
                               const plim_mem *mem, plim_wants **ret, plim_error *err)
{
    plim_wants *const wants = plim_wants_create(mem);
    if (wants == NULL) {
        return plim_fail_memory(err, "reading what objects want");
    }
    const plim_status status = read_all(wants, paths, path_count, standin, err);
    if (status != PLIM_OK) {
        plim_wants_destroy(wants);
        return status;
    }
    *ret = wants;
    return PLIM_OK;
}

size_t plim_wants_count(const plim_wants *wants)
{
    return wants->libraries.count;
}

const char *plim_wants_soname(const plim_wants *wants, size_t index)
{
    PLIM_ASSERT(index < wants->libraries.count);
    return wants->libraries.items[index].soname;
}
