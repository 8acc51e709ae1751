/*
 * test_modules.c - modules, the figures of their kernels, run-time compilation; and contexts.
 */
#include "standin/rehearsal.h"
#include "standin/work_words.h"

#include "standin/cuda_words.h"

#include <elf.h>

#define INVALID_VALUE   1
#define INVALID_IMAGE   200
#define INVALID_CONTEXT 201
#define NO_FILE         301
#define NOT_FOUND       500

enum { MAX_THREADS, SHARED, CONSTANT, LOCAL, REGISTERS, PTX_VERSION, BINARY_VERSION };

/* A cubin of one kernel "scale", 12 registers, 40 bytes of stack, 2 KiB of shared memory and at
 * most 128 threads, and one variable "table": sections as ptxas of CUDA 12.8 writes them. */
enum { S_NULL, S_NAMES, S_STRINGS, S_SYMBOLS, S_INFO, S_OWN, S_CODE, S_SHARED, S_GLOBAL, S_COUNT };

typedef struct cubin {
    Elf64_Ehdr header;
    Elf64_Shdr sections[S_COUNT];
    Elf64_Sym symbols[3];
    unsigned char common[24];
    unsigned char own[16];
    char names[128];
    char strings[32];
} cubin;

static unsigned add_text(char *table, size_t *used, const char *text)
{
    const size_t at = *used;
    memcpy(table + at, text, strlen(text) + 1);
    *used += strlen(text) + 1;
    return (unsigned)at;
}

static void make_cubin(cubin *file)
{
    static const struct {
        const char *name;
        size_t offset;
        size_t bytes;
    } layout[S_COUNT] = {
        [S_NAMES] = { ".shstrtab", offsetof(cubin, names), sizeof(file->names) },
        [S_STRINGS] = { ".strtab", offsetof(cubin, strings), sizeof(file->strings) },
        [S_SYMBOLS] = { ".symtab", offsetof(cubin, symbols), sizeof(file->symbols) },
        [S_INFO] = { ".nv.info", offsetof(cubin, common), sizeof(file->common) },
        [S_OWN] = { ".nv.info.scale", offsetof(cubin, own), sizeof(file->own) },
        [S_CODE] = { ".text.scale", 0, 0 },
        [S_SHARED] = { ".nv.shared.scale", 0, 2048 + 1024 },
        [S_GLOBAL] = { ".nv.global", 0, 4096 },
    };
    static const unsigned char common[24] = { 4, 0x2f, 8, 0, 1, 0, 0, 0, 12, 0, 0, 0,
                                              4, 0x11, 8, 0, 1, 0, 0, 0, 40, 0, 0, 0 };
    static const unsigned char own[16] = { 4, 5, 12, 0, 128, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 };
    size_t names = 1;
    size_t strings = 1;
    memset(file, 0, sizeof(*file));
    memcpy(file->header.e_ident, ELFMAG, SELFMAG);
    file->header.e_ident[EI_CLASS] = ELFCLASS64;
    file->header.e_machine = 190;
    file->header.e_flags = 0x5a0d5a;
    file->header.e_shoff = offsetof(cubin, sections);
    file->header.e_shentsize = sizeof(Elf64_Shdr);
    file->header.e_shnum = S_COUNT;
    file->header.e_shstrndx = S_NAMES;
    for (int i = 1; i < S_COUNT; i++) {
        file->sections[i].sh_name = add_text(file->names, &names, layout[i].name);
        file->sections[i].sh_offset = layout[i].offset;
        file->sections[i].sh_size = layout[i].bytes;
    }
    file->sections[S_SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
    file->sections[S_SYMBOLS].sh_link = S_STRINGS;
    file->symbols[1] = (Elf64_Sym){ .st_name = add_text(file->strings, &strings, "scale"),
                                    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                    .st_other = 0x10,
                                    .st_shndx = S_CODE };
    file->symbols[2] = (Elf64_Sym){ .st_name = add_text(file->strings, &strings, "table"),
                                    .st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT),
                                    .st_shndx = S_GLOBAL,
                                    .st_size = 4096 };
    memcpy(file->common, common, sizeof(common));
    memcpy(file->own, own, sizeof(own));
}

static int attribute(const void *function, int which)
{
    int value = -7;
    R_EQ(cuFuncGetAttribute(&value, which, function), 0);
    return value;
}

static void known(void)
{
    cubin file;
    void *module = NULL;
    void *kernel = NULL;
    const char *name = NULL;
    uint64_t address = 0;
    uint64_t again = 0;
    size_t bytes = 0;
    int blocks = 0;
    make_cubin(&file);
    R_EQ(cuModuleLoadData(&module, &file), 0);
    memset(&file, 0, sizeof(file)); /* nobody needs it any more */
    R_EQ(cuModuleGetFunction(&kernel, module, "other"), NOT_FOUND);
    R_EQ(cuModuleGetFunction(&kernel, module, "scale"), 0);
    R_EQ(cuFuncGetName(&name, kernel), 0);
    R_EQ(strcmp(name, "scale"), 0);
    R_EQ(attribute(kernel, REGISTERS), 12);
    R_EQ(attribute(kernel, LOCAL), 40);
    R_EQ(attribute(kernel, SHARED), 2048);
    R_EQ(attribute(kernel, MAX_THREADS), 128);
    R_EQ(attribute(kernel, BINARY_VERSION), 90);
    R_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0), 0);
    R_EQ(blocks, 16); /* 2048 threads */
    R_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 97 * 1024), 0);
    R_EQ(blocks, 2); /* 228 KiB, 100 for each */
    R_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0), 0);
    R_EQ(blocks, 0); /* it promised 128 */
    R_EQ(cuModuleGetGlobal_v2(&address, &bytes, module, "table"), 0);
    R_TRUE(address != 0 && bytes == 4096);
    R_EQ(cuModuleGetGlobal_v2(&again, NULL, module, "table"), 0);
    R_EQ(again, address);
    R_EQ(cuModuleGetGlobal_v2(&again, NULL, module, "scale"), NOT_FOUND);
    R_EQ(cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL), 0);
    R_EQ(cuLaunchKernel(kernel, 0, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL), INVALID_VALUE);
    R_EQ(cuModuleUnload(module), 0);
}

static void a_cubin_tells_what_its_kernels_need(void)
{
    r_play(known);
}

static void broken(void)
{
    cubin file;
    void *module = NULL;
    make_cubin(&file);
    file.header.e_shstrndx = S_COUNT;
    R_EQ(cuModuleLoadData(&module, &file), INVALID_IMAGE);
    make_cubin(&file);
    file.symbols[1].st_name = 1000;
    R_EQ(cuModuleLoadData(&module, &file), INVALID_IMAGE);
    make_cubin(&file);
    file.sections[S_SYMBOLS].sh_entsize = 1;
    R_EQ(cuModuleLoadData(&module, &file), INVALID_IMAGE);
    make_cubin(&file);
    file.common[2] = 200; /* a record longer than its section: what follows is not read */
    R_EQ(cuModuleLoadData(&module, &file), 0);
    R_EQ(cuModuleLoadData(&module, "something else that has sixty-four bytes, or so, in its text"),
         INVALID_IMAGE);
    R_EQ(cuModuleLoad(&module, "/nowhere/at/all.cubin"), NO_FILE);
    R_EQ(cuModuleLoadData(&module, NULL), INVALID_VALUE);
}

static void images_that_are_none_are_refused(void)
{
    r_play(broken);
}

/* What stands for the host side of a kernel: code, at an address. */
static const unsigned char host_side[16] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x55 };

static void compiled(void)
{
    void *program = NULL;
    void *module = NULL;
    void *kernel = NULL;
    const char *lowered = NULL;
    size_t bytes = 0;
    char code[256];
    R_EQ(nvrtcCreateProgram(&program, "__global__ void f() {}", NULL, 0, NULL, NULL), 0);
    R_EQ(nvrtcAddNameExpression(program, "scale<float, 4>"), 0);
    R_EQ(nvrtcGetLoweredName(program, "scale<float, 4>", &lowered), 9);
    R_EQ(nvrtcGetCUBINSize(program, &bytes), 4);
    R_EQ(nvrtcCompileProgram(program, 0, NULL), 0);
    R_EQ(nvrtcAddNameExpression(program, "late"), 8);
    R_EQ(nvrtcGetLoweredName(program, "unknown", &lowered), 10);
    R_EQ(nvrtcGetLoweredName(program, "scale<float, 4>", &lowered), 0);
    R_TRUE(lowered[0] == '_' && strpbrk(lowered, "<, >") == NULL);
    R_EQ(nvrtcGetProgramLogSize(program, &bytes), 0);
    R_EQ(bytes, 1);
    R_EQ(nvrtcGetCUBINSize(program, &bytes), 0);
    R_TRUE(bytes <= sizeof(code));
    R_EQ(nvrtcGetCUBIN(program, code), 0);
    R_EQ(cuModuleLoadData(&module, code), 0);
    R_EQ(cuModuleGetFunction(&kernel, module, lowered), 0);
    R_EQ(attribute(kernel, REGISTERS), 32);
    R_EQ(attribute(kernel, MAX_THREADS), 1024);
    R_EQ(nvrtcDestroyProgram(&program), 0);
    R_TRUE(program == NULL);
    R_EQ(nvrtcDestroyProgram(&program), 4);
    R_EQ(cuModuleLoadData(&module, ".version 8.7\n.target sm_90\n"), 0); /* PTX */
    R_EQ(cuModuleGetFunction(&kernel, module, "anything"), 0);
    R_EQ(attribute(host_side, REGISTERS), 32); /* the runtime's name for a kernel */
}

static void what_is_compiled_at_run_time_has_every_kernel(void)
{
    r_play(compiled);
}

static void contexts(void)
{
    void *context = (void *)1;
    void *other = NULL;
    int device = -1;
    R_EQ(cuCtxGetCurrent(&context), 0);
    R_TRUE(context == NULL); /* nothing was done on the device */
    R_EQ(cuCtxGetDevice(&device), INVALID_CONTEXT);
    R_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    R_EQ(cuDevicePrimaryCtxRetain(&other, 1), 0);
    R_EQ(cuDevicePrimaryCtxRetain(&other, 2), 101);
    R_TRUE(context != other);
    R_EQ(cuCtxSetCurrent(context), 0);
    R_EQ(cuCtxPushCurrent_v2(other), 0);
    R_EQ(cudaGetDevice(&device), 0);
    R_EQ(device, 1);
    void *popped = NULL;
    R_EQ(cuCtxPopCurrent_v2(&popped), 0);
    R_TRUE(popped == other);
    R_EQ(cuCtxGetDevice(&device), 0);
    R_EQ(device, 0);
    R_EQ(cuCtxPopCurrent_v2(NULL), 0);
    R_EQ(cuCtxGetCurrent(&popped), 0);
    R_TRUE(popped == NULL);
    R_EQ(cuCtxPopCurrent_v2(NULL), INVALID_CONTEXT);
    R_EQ(cuCtxSetCurrent((void *)(uintptr_t)77), INVALID_CONTEXT);
}

static void contexts_are_a_stack(void)
{
    r_play(contexts);
}

T_MAIN(T_TEST(a_cubin_tells_what_its_kernels_need), T_TEST(images_that_are_none_are_refused),
       T_TEST(what_is_compiled_at_run_time_has_every_kernel), T_TEST(contexts_are_a_stack))
