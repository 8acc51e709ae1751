/* cubin.c - see cubin.h. */
#include "standin/cuda/cubin.h"

#include <elf.h>
#include <string.h>

#define CUDA_MACHINE     190   /* EM_CUDA */
#define KERNEL_MARK      0x10  /* STO_CUDA_ENTRY, in st_other: called from the host */
#define RESERVED_BYTES   1024u /* of shared memory, from capability 8.0: the system's own */
#define RESERVED_FROM_SM 80u

#define FORMAT_NOTHING 1u /* EIFMT_NVAL … EIFMT_SVAL */
#define FORMAT_BYTE    2u
#define FORMAT_HALF    3u
#define FORMAT_SIZED   4u

#define ATTRIBUTE_MAX_THREADS 0x05u
#define ATTRIBUTE_FRAME_SIZE  0x11u
#define ATTRIBUTE_REGISTERS   0x2fu

typedef struct cubin {
    const unsigned char *bytes;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const char *names; /* of sections */
    uint64_t names_bytes;
} cubin;

typedef struct cubin_record {
    unsigned attribute;
    const unsigned char *value;
    size_t bytes;
} cubin_record;

bool plim_standin_cubin_is(const void *image)
{
    const Elf64_Ehdr *const header = image;
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == CUDA_MACHINE;
}

static bool open_cubin(const void *image, cubin *ret)
{
    const Elf64_Ehdr *const header = image;
    const unsigned char *const bytes = image;
    if (!plim_standin_cubin_is(image) || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff % _Alignof(Elf64_Shdr) != 0 || header->e_shstrndx >= header->e_shnum) {
        return false;
    }
    const Elf64_Shdr *const sections = (const Elf64_Shdr *)(const void *)(bytes + header->e_shoff);
    const Elf64_Shdr *const names = &sections[header->e_shstrndx];
    *ret = (cubin){ .bytes = bytes,
                    .header = header,
                    .sections = sections,
                    .names = (const char *)bytes + names->sh_offset,
                    .names_bytes = names->sh_size };
    return names->sh_size > 0 && ret->names[names->sh_size - 1] == '\0';
}

static const char *name_of(const cubin *file, const Elf64_Shdr *section)
{
    return section->sh_name < file->names_bytes ? file->names + section->sh_name : "";
}

static const Elf64_Shdr *section_of(const cubin *file, const char *prefix, const char *name)
{
    const size_t length = strlen(prefix);
    for (unsigned i = 0; i < file->header->e_shnum; i++) {
        const char *const candidate = name_of(file, &file->sections[i]);
        if (strncmp(candidate, prefix, length) == 0 && strcmp(candidate + length, name) == 0) {
            return &file->sections[i];
        }
    }
    return NULL;
}

/* The record at *at, which moves past it. False: the end, or malformed. */
static bool next_record(const unsigned char *bytes, size_t size, size_t *at, cubin_record *ret)
{
    if (size - *at < 4) {
        return false;
    }
    const unsigned char *const head = bytes + *at;
    const size_t half = (size_t)head[2] | (size_t)head[3] << 8;
    const size_t extra = head[0] == FORMAT_SIZED ? half : 0;
    if (head[0] < FORMAT_NOTHING || head[0] > FORMAT_SIZED || extra > size - *at - 4) {
        return false;
    }
    *ret = (cubin_record){ .attribute = head[1], .value = head + 4, .bytes = extra };
    *at += 4 + extra;
    return true;
}

static uint32_t word(const cubin_record *from, size_t index)
{
    uint32_t value = 0;
    memcpy(&value, from->value + 4 * index, sizeof(value));
    return value;
}

/* Of all kernels together: pairs of a symbol and a figure. */
static void read_common(const cubin *file, uint32_t symbol, plim_standin_kernel_facts *facts)
{
    const Elf64_Shdr *const info = section_of(file, ".nv.info", "");
    if (info == NULL) {
        return;
    }
    cubin_record found;
    size_t at = 0;
    while (next_record(file->bytes + info->sh_offset, info->sh_size, &at, &found)) {
        if (found.bytes != 8 || word(&found, 0) != symbol) {
            continue;
        }
        if (found.attribute == ATTRIBUTE_REGISTERS) {
            facts->registers = word(&found, 1);
        } else if (found.attribute == ATTRIBUTE_FRAME_SIZE) {
            facts->local_bytes = word(&found, 1);
        }
    }
}

static void read_own(const cubin *file, const char *name, plim_standin_kernel_facts *facts)
{
    const Elf64_Shdr *const info = section_of(file, ".nv.info.", name);
    if (info == NULL) {
        return;
    }
    cubin_record found;
    size_t at = 0;
    while (next_record(file->bytes + info->sh_offset, info->sh_size, &at, &found)) {
        if (found.attribute == ATTRIBUTE_MAX_THREADS && found.bytes == 12) {
            const uint64_t threads = (uint64_t)word(&found, 0) * word(&found, 1) * word(&found, 2);
            facts->threads_max = threads < 1024 ? (unsigned)threads : 1024;
        }
    }
}

static plim_standin_kernel_facts facts_of(const cubin *file, const char *name, uint32_t symbol)
{
    plim_standin_kernel_facts facts = { 0 };
    read_common(file, symbol, &facts);
    read_own(file, name, &facts);

    const Elf64_Shdr *const shared = section_of(file, ".nv.shared.", name);
    if (shared != NULL) {
        const bool has_reserved = (file->header->e_flags & 0xffu) >= RESERVED_FROM_SM &&
                                  shared->sh_size >= RESERVED_BYTES;
        facts.shared_bytes = shared->sh_size - (has_reserved ? RESERVED_BYTES : 0);
    }
    const Elf64_Shdr *const constant = section_of(file, ".nv.constant3", "");
    facts.constant_bytes = constant != NULL ? constant->sh_size : 0;
    return facts;
}

static bool is_variable(const cubin *file, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_shndx >= file->header->e_shnum) {
        return false;
    }
    const char *const section = name_of(file, &file->sections[symbol->st_shndx]);
    return strncmp(section, ".nv.global", 10) == 0 || strcmp(section, ".nv.constant3") == 0;
}

bool plim_standin_cubin_read(const void *image,
                             bool (*visit)(void *data, const plim_standin_cubin_symbol *symbol),
                             void *data)
{
    cubin file;
    if (!open_cubin(image, &file)) {
        return false;
    }
    const Elf64_Shdr *const table = section_of(&file, ".symtab", "");
    if (table == NULL || table->sh_entsize != sizeof(Elf64_Sym) ||
        table->sh_link >= file.header->e_shnum || table->sh_offset % _Alignof(Elf64_Sym) != 0) {
        return false;
    }
    const Elf64_Shdr *const strings = &file.sections[table->sh_link];
    const Elf64_Sym *const symbols =
        (const Elf64_Sym *)(const void *)(file.bytes + table->sh_offset);
    for (uint32_t i = 1; i < table->sh_size / sizeof(Elf64_Sym); i++) {
        const Elf64_Sym *const symbol = &symbols[i];
        if (symbol->st_name >= strings->sh_size) {
            return false;
        }
        const char *const name = (const char *)file.bytes + strings->sh_offset + symbol->st_name;
        const bool is_kernel =
            ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & KERNEL_MARK) != 0;
        if (!is_kernel && !is_variable(&file, symbol)) {
            continue;
        }
        const plim_standin_cubin_symbol found = {
            .name = name,
            .is_kernel = is_kernel,
            .bytes = symbol->st_size,
            .facts = is_kernel ? facts_of(&file, name, i) : (plim_standin_kernel_facts){ 0 },
        };
        if (!visit(data, &found)) {
            return false;
        }
    }
    return true;
}
