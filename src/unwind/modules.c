/*
 * modules.c - telling libdw what is loaded, and where its files are.
 */
#include "unwind/modules.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_FOLDER     "/usr/lib/debug/.build-id"
#define ID_BYTES_MAX     64
#define DEBUG_PATH_BYTES (sizeof DEBUG_FOLDER + 2 * ID_BYTES_MAX + sizeof "//.debug")

static int open_file(const char *path, char **ret_copy)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) { /* a device might hang */
        return -1;
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        *ret_copy = strdup(path); /* libdw frees it */
    }
    return fd;
}

/* Types are those of Dwfl_Callbacks. */
static int find_elf(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
                    char **ret_path, Elf **ret_elf)
{
    (void)module;
    (void)user_data;
    (void)base;
    (void)ret_elf;
    return name[0] == '/' ? open_file(name, ret_path) : -1;
}

/* The folder in which distributions install debug information. */
/* NOLINTNEXTLINE(readability-function-size): libdw says what the parameters are */
static int find_debuginfo(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word link_crc, char **ret_path)
{
    (void)user_data;
    (void)name;
    (void)base;
    (void)file;
    (void)link;
    (void)link_crc;
    const unsigned char *id = NULL;
    GElf_Addr where = 0;
    const int bytes = plim_libdw_find()->dwfl_module_build_id(module, &id, &where);
    if (bytes < 2 || bytes > ID_BYTES_MAX) {
        return -1;
    }
    char path[DEBUG_PATH_BYTES];
    int length = snprintf(path, sizeof path, DEBUG_FOLDER "/%02x/", id[0]);
    for (int i = 1; i < bytes; i++) {
        length += snprintf(path + length, sizeof path - (size_t)length, "%02x", id[i]);
    }
    (void)snprintf(path + length, sizeof path - (size_t)length, ".debug");
    return open_file(path, ret_path);
}

static const Dwfl_Callbacks callbacks = { .find_elf = find_elf, .find_debuginfo = find_debuginfo };

static int count_modules(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
    (void)bytes;
    plim_modules *const now = ctx;
    now->loads = info->dlpi_adds;
    now->unloads = info->dlpi_subs;
    return 1; /* the counts are the same for all */
}

/*
 * Tells libdw of one module. Its own way of finding out, by /proc/self/maps, is not for looking
 * at oneself: it takes the files that libdw has mapped to read them for loaded ones.
 */
static int report_module(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
    (void)bytes;
    const plim_modules *const modules = ctx;
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD) {
            const uint64_t align = part->p_align > 1 ? part->p_align : 1;
            const uint64_t start = info->dlpi_addr + (part->p_vaddr & ~(align - 1));
            const uint64_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
            low = start < low ? start : low;
            high = end > high ? end : high;
        }
    }
    char path[PATH_MAX];
    const char *name = info->dlpi_name;
    if (name == NULL || name[0] == '\0') { /* the program itself */
        const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        name = path;
    } else if (name[0] != '/' && strchr(name, '/') != NULL && realpath(name, path) != NULL) {
        name = path;
    }
    if (low < high) {
        (void)modules->libdw->dwfl_report_module(modules->dwfl, name, low,
                                                 high); /* without memory it stays unknown */
    }
    return 0;
}

bool plim_modules_refresh(plim_modules *modules)
{
    plim_modules now = { .libdw = plim_libdw_find() };
    if (now.libdw == NULL) {
        return false;
    }
    (void)dl_iterate_phdr(count_modules, &now);
    if (modules->dwfl != NULL && now.loads == modules->loads && now.unloads == modules->unloads) {
        return false;
    }
    if (now.unloads != modules->unloads) { /* another file may have come to the same place */
        plim_modules_close(modules);
    }
    if (modules->dwfl == NULL) {
        modules->libdw = now.libdw;
        modules->dwfl = now.libdw->dwfl_begin(&callbacks);
    }
    if (modules->dwfl != NULL) {
        now.libdw->dwfl_report_begin(modules->dwfl);
        (void)dl_iterate_phdr(report_module, modules);
        (void)now.libdw->dwfl_report_end(modules->dwfl, NULL, NULL);
    }
    modules->loads = now.loads;
    modules->unloads = now.unloads;
    return true;
}

Dwfl_Module *plim_modules_find(const plim_modules *modules, uint64_t address)
{
    if (modules->dwfl == NULL) {
        return NULL;
    }
    Dwfl_Module *const module = modules->libdw->dwfl_addrmodule(modules->dwfl, address);
    Dwarf_Addr start = 0;
    Dwarf_Addr end = 0;
    if (module == NULL ||
        modules->libdw->dwfl_module_info(module, NULL, &start, &end, NULL, NULL, NULL, NULL) ==
            NULL ||
        address < start || address >= end) { /* libdw gives the nearest one too */
        return NULL;
    }
    return module;
}

void plim_modules_close(plim_modules *modules)
{
    if (modules->dwfl != NULL) {
        modules->libdw->dwfl_end(modules->dwfl);
    }
    *modules = (plim_modules){ 0 };
}
