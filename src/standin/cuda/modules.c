/* modules.c - see modules.h. */
#include "standin/cuda/modules.h"

#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/memory.h"
#include "standin/core/stage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FATBIN_WRAPPER_MAGIC UINT32_C(0x466243b1) /* of what the compiler puts around one */
#define KERNEL_MAGIC         UINT64_C(0x6c656e72656b6d70)
#define MODULE_MAGIC         UINT64_C(0x656c75646f6d6d70)

#define REGISTERS_PER_MULTIPROCESSOR 65536u /* every GPU since Kepler */
#define REGISTER_UNIT                256u   /* a warp's are rounded up to it (cuda_occupancy.h) */
#define WARP_UNIT                    4u     /* warps are placed four at a time */
#define BLOCK_MAX                    1024u

enum { /* CUresult */
       LOAD_OK = 0,
       LOAD_NO_MEMORY = 2,
       LOAD_BAD_IMAGE = 200,
       LOAD_NO_FILE = 301,
       LOAD_BAD_HANDLE = 400,
       LOAD_NO_NAME = 500
};

/* A cubin's kernel of which no more is known: PyTorch's are about like this. */
static const plim_standin_kernel_facts usual_kernel = { .registers = 32 };

struct plim_standin_kernel {
    uint64_t magic; /* programs hold host addresses for kernels, too */
    plim_standin_module *module;
    plim_standin_kernel *next;
    plim_standin_kernel_facts facts;
    char name[];
};

typedef struct variable {
    struct variable *next;
    uint64_t address; /* 0: not requested yet */
    uint64_t bytes;
    char name[];
} variable;

struct plim_standin_module {
    uint64_t magic;
    bool knows_all;             /* a cubin: names that are not in it do not exist */
    plim_standin_kernel *first; /* in the order of the image */
    plim_standin_kernel **end;
    variable *variables;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over the lists of all modules */

static plim_standin_kernel *add_kernel(plim_standin_module *module, const char *name,
                                       plim_standin_kernel_facts facts)
{
    const size_t bytes = strlen(name) + 1;
    plim_standin_kernel *const made = calloc(1, sizeof(*made) + bytes);
    if (made != NULL) {
        made->magic = KERNEL_MAGIC;
        made->module = module;
        made->facts = facts;
        memcpy(made->name, name, bytes);
        *module->end = made;
        module->end = &made->next;
    }
    return made;
}

static variable *add_variable(plim_standin_module *module, const char *name, uint64_t bytes)
{
    const size_t name_bytes = strlen(name) + 1;
    variable *const made = calloc(1, sizeof(*made) + name_bytes);
    if (made != NULL) {
        made->bytes = bytes;
        memcpy(made->name, name, name_bytes);
        made->next = module->variables;
        module->variables = made;
    }
    return made;
}

static bool add_symbol(void *data, const plim_standin_cubin_symbol *symbol)
{
    plim_standin_module *const module = data;
    if (symbol->is_kernel) {
        return add_kernel(module, symbol->name, symbol->facts) != NULL;
    }
    return add_variable(module, symbol->name, symbol->bytes) != NULL;
}

/* Code that is compiled or chosen when it is loaded: nothing is known of it. */
static bool is_opaque(const char *image)
{
    uint32_t magic = 0;
    memcpy(&magic, image, sizeof(magic));
    if (magic == PLIM_FATBIN_MAGIC || magic == FATBIN_WRAPPER_MAGIC ||
        strncmp(image, PLIM_STANDIN_CUBIN_TOKEN, strlen(PLIM_STANDIN_CUBIN_TOKEN)) == 0) {
        return true;
    }
    return strstr(image, ".version") != NULL; /* PTX, which is text */
}

int plim_standin_module_load(const void *image, plim_standin_module **ret)
{
    if (!plim_standin_footprint_context(plim_standin_current_device())) {
        return LOAD_NO_MEMORY;
    }
    plim_standin_module *const made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return LOAD_NO_MEMORY;
    }
    made->magic = MODULE_MAGIC;
    made->end = &made->first;
    made->knows_all = plim_standin_cubin_is(image);
    const bool is_loaded =
        made->knows_all ? plim_standin_cubin_read(image, add_symbol, made) : is_opaque(image);
    if (!is_loaded) {
        (void)plim_standin_module_unload(made);
        return LOAD_BAD_IMAGE;
    }
    *ret = made;
    return LOAD_OK;
}

/* The whole file, zero-terminated, to be freed. NULL: it cannot be read. */
static char *read_file(const char *path)
{
    FILE *const file = fopen(path, "rbe");
    if (file == NULL) {
        return NULL;
    }
    char *bytes = NULL;
    long size = -1;
    if (fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
    }
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        bytes = calloc((size_t)size + sizeof(uint32_t), 1);
    }
    if (bytes != NULL && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        free(bytes);
        bytes = NULL;
    }
    (void)fclose(file);
    return bytes;
}

int plim_standin_module_open(const char *path, plim_standin_module **ret)
{
    char *const image = read_file(path);
    if (image == NULL) {
        return LOAD_NO_FILE;
    }
    const int error = plim_standin_module_load(image, ret); /* keeps copies of what it needs */
    free(image);
    return error;
}

static bool is_module(const plim_standin_module *module)
{
    return module != NULL && module->magic == MODULE_MAGIC;
}

int plim_standin_module_unload(plim_standin_module *module)
{
    if (module == NULL) {
        return LOAD_OK;
    }
    if (!is_module(module)) {
        return LOAD_BAD_HANDLE;
    }
    plim_standin_kernel *kernel = module->first;
    while (kernel != NULL) {
        plim_standin_kernel *const next = kernel->next;
        kernel->magic = 0;
        free(kernel);
        kernel = next;
    }
    variable *at = module->variables;
    while (at != NULL) {
        variable *const next = at->next;
        if (at->address != 0) {
            (void)plim_standin_memory_release(at->address);
        }
        free(at);
        at = next;
    }
    module->magic = 0;
    free(module);
    return LOAD_OK;
}

static plim_standin_kernel *find_kernel(plim_standin_module *module, const char *name)
{
    plim_standin_kernel *at = module->first;
    while (at != NULL && strcmp(at->name, name) != 0) {
        at = at->next;
    }
    if (at == NULL && !module->knows_all) {
        at = add_kernel(module, name, usual_kernel);
    }
    return at;
}

int plim_standin_module_kernel(plim_standin_module *module, const char *name,
                               plim_standin_kernel **ret)
{
    if (!is_module(module) || name == NULL || ret == NULL) {
        return LOAD_BAD_HANDLE;
    }
    (void)pthread_mutex_lock(&lock);
    plim_standin_kernel *const found = find_kernel(module, name);
    (void)pthread_mutex_unlock(&lock);
    if (found == NULL) {
        return LOAD_NO_NAME;
    }
    *ret = found;
    return LOAD_OK;
}

static int place_variable(plim_standin_module *module, const char *name, variable **ret)
{
    variable *at = module->variables;
    while (at != NULL && strcmp(at->name, name) != 0) {
        at = at->next;
    }
    if (at == NULL && !module->knows_all) {
        at = add_variable(module, name, PLIM_STANDIN_PAGE_BYTES); /* as large as it may be */
    }
    if (at == NULL) {
        return LOAD_NO_NAME;
    }
    if (at->address == 0 && plim_standin_memory_allocate(plim_standin_current_device(), at->bytes,
                                                         &at->address) != PLIM_STANDIN_MEMORY_OK) {
        return LOAD_NO_MEMORY;
    }
    *ret = at;
    return LOAD_OK;
}

int plim_standin_module_variable(plim_standin_module *module, const char *name,
                                 uint64_t *ret_address, size_t *ret_bytes)
{
    if (!is_module(module) || name == NULL) {
        return LOAD_BAD_HANDLE;
    }
    variable *found = NULL;
    (void)pthread_mutex_lock(&lock);
    const int error = place_variable(module, name, &found);
    (void)pthread_mutex_unlock(&lock);
    if (error == LOAD_OK && ret_address != NULL) {
        *ret_address = found->address;
    }
    if (error == LOAD_OK && ret_bytes != NULL) {
        *ret_bytes = found->bytes;
    }
    return error;
}

plim_standin_kernel *plim_standin_module_kernel_at(plim_standin_module *module, size_t index)
{
    (void)pthread_mutex_lock(&lock);
    plim_standin_kernel *at = is_module(module) ? module->first : NULL;
    for (size_t i = 0; i < index && at != NULL; i++) {
        at = at->next;
    }
    (void)pthread_mutex_unlock(&lock);
    return at;
}

size_t plim_standin_module_kernel_count(plim_standin_module *module)
{
    size_t count = 0;
    (void)pthread_mutex_lock(&lock);
    plim_standin_kernel *at = is_module(module) ? module->first : NULL;
    for (; at != NULL; at = at->next) {
        count++;
    }
    (void)pthread_mutex_unlock(&lock);
    return count;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* A function may also be known by its host side's address: there is code to be read, no more. */
static const plim_standin_kernel *kernel_of(const void *function)
{
    if (function == NULL) {
        return NULL;
    }
    uint64_t magic = 0;
    memcpy(&magic, function, sizeof(magic));
    return magic == KERNEL_MAGIC ? function : NULL;
}

plim_standin_kernel_facts plim_standin_kernel_get_facts(const void *function)
{
    const plim_standin_kernel *const kernel = kernel_of(function);
    return kernel != NULL ? kernel->facts : usual_kernel;
}

const char *plim_standin_kernel_name(const void *function)
{
    const plim_standin_kernel *const kernel = kernel_of(function);
    return kernel != NULL ? kernel->name : NULL;
}

plim_standin_module *plim_standin_kernel_module(const void *function)
{
    const plim_standin_kernel *const kernel = kernel_of(function);
    return kernel != NULL ? kernel->module : NULL;
}

static unsigned round_up(unsigned value, unsigned unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Warps whose registers a multiprocessor holds: NVIDIA's cuda_occupancy.h has the rule. */
static unsigned warps_by_registers(const plim_standin_kernel_facts *facts)
{
    const unsigned registers = facts->registers > 0 ? facts->registers : 1;
    const unsigned of_a_warp = round_up(registers * PLIM_WARP_THREADS, REGISTER_UNIT);
    return REGISTERS_PER_MULTIPROCESSOR / of_a_warp / WARP_UNIT * WARP_UNIT;
}

unsigned plim_standin_kernel_threads_max(const plim_standin_kernel_facts *facts)
{
    unsigned threads = warps_by_registers(facts) * PLIM_WARP_THREADS;
    if (facts->threads_max > 0 && facts->threads_max < threads) {
        threads = facts->threads_max;
    }
    return threads < BLOCK_MAX ? threads : BLOCK_MAX;
}

unsigned plim_standin_kernel_blocks(const plim_standin_kernel_facts *facts, unsigned threads,
                                    uint64_t dynamic_bytes)
{
    const plim_gpu *const gpu = &plim_standin_settings()->gpu;
    if (threads == 0 || threads > plim_standin_kernel_threads_max(facts)) {
        return 0;
    }
    const unsigned warps = round_up(threads, PLIM_WARP_THREADS) / PLIM_WARP_THREADS;
    unsigned blocks = gpu->threads_per_multiprocessor / (warps * PLIM_WARP_THREADS);
    const unsigned by_registers = warps_by_registers(facts) / warps;
    blocks = by_registers < blocks ? by_registers : blocks;

    uint64_t shared = facts->shared_bytes + dynamic_bytes;
    shared += gpu->capability_major >= 8 ? PLIM_SHARED_RESERVED : 0;
    if (shared > 0) {
        const uint64_t by_shared = gpu->shared_bytes_per_multiprocessor / shared;
        blocks = by_shared < blocks ? (unsigned)by_shared : blocks;
    }
    return blocks < gpu->blocks_per_multiprocessor ? blocks : gpu->blocks_per_multiprocessor;
}
