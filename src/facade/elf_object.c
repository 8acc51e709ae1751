/*
 * elf_object.c - bounds first, then bytes.
 *
 * libelf is not used: it reads section headers when it opens an object, and what is wanted here
 * is reached without them. Structures are copied out, because nothing says they lie aligned.
 * Source: System V ABI, generic part (gABI 4.1), chapter 5; symbol versions: Linux Standard Base
 * 5.0, chapter 10.7; DT_GNU_HASH: glibc, elf/dl-lookup.c.
 */
#include "facade/elf_object.h"

#include <string.h>

/* Far above what objects have; what is beyond is not read, so that no file takes long. */
#define SEGMENTS_MAX 256
#define ENTRIES_MAX  4096 /* of PT_DYNAMIC */
#define NEEDS_MAX    1024 /* libraries versions are wanted of, and versions of one */

#define WANTED_VERSIONS_MAX 32768 /* an index has 15 bits */

static const plim_elf_table nothing = { 0, 0 };

/* Copies `bytes` bytes at `offset` of a table; false when it does not have them. */
static bool copy(const plim_elf *elf, const plim_elf_table *table, uint64_t offset, void *to,
                 size_t bytes)
{
    if (offset > table->bytes || bytes > table->bytes - offset) {
        return false;
    }
    memcpy(to, elf->data + table->offset + offset, bytes);
    return true;
}

/* A table of at most `bytes` bytes, cut at the end of the file. */
static plim_elf_table cut(const plim_elf *elf, uint64_t offset, uint64_t bytes)
{
    if (offset >= elf->bytes) {
        return nothing;
    }
    const uint64_t rest = elf->bytes - offset;
    return (plim_elf_table){ .offset = offset, .bytes = bytes < rest ? bytes : rest };
}

/* From an address to the rest of its segment. */
static plim_elf_table table_at(const plim_elf *elf, uint64_t address)
{
    Elf64_Phdr segment;
    for (uint64_t at = 0; copy(elf, &elf->segments, at, &segment, sizeof segment);
         at += sizeof segment) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz) {
            const uint64_t inside = address - segment.p_vaddr;
            if (segment.p_offset > UINT64_MAX - inside) {
                return nothing;
            }
            return cut(elf, segment.p_offset + inside, segment.p_filesz - inside);
        }
    }
    return nothing;
}

/* The tables from which the number of symbols follows. */
typedef struct counters {
    plim_elf_table hash;
    plim_elf_table gnu_hash;
    plim_elf_table relocations[2];
} counters;

static void bound(plim_elf_table *table, uint64_t bytes)
{
    if (bytes < table->bytes) {
        table->bytes = bytes;
    }
}

/* Entry `index` of PT_DYNAMIC; false at its end. */
static bool entry_at(const plim_elf *elf, size_t index, Elf64_Dyn *ret)
{
    return copy(elf, &elf->dynamic, (uint64_t)index * sizeof *ret, ret, sizeof *ret) &&
           ret->d_tag != DT_NULL;
}

static void read_dynamic(plim_elf *elf, counters *ret)
{
    uint64_t string_bytes = 0;
    uint64_t relocation_bytes[2] = { 0, 0 };
    Elf64_Dyn entry;
    for (size_t i = 0; i < ENTRIES_MAX && entry_at(elf, i, &entry); i++) {
        const uint64_t value = entry.d_un.d_val;
        switch (entry.d_tag) {
        case DT_SYMTAB:
            elf->symbols = table_at(elf, value);
            break;
        case DT_STRTAB:
            elf->strings = table_at(elf, value);
            break;
        case DT_STRSZ:
            string_bytes = value;
            break;
        case DT_VERSYM:
            elf->versions = table_at(elf, value);
            break;
        case DT_VERNEED:
            elf->needs = table_at(elf, value);
            break;
        case DT_VERNEEDNUM:
            elf->needs_count = value;
            break;
        case DT_HASH:
            ret->hash = table_at(elf, value);
            break;
        case DT_GNU_HASH:
            ret->gnu_hash = table_at(elf, value);
            break;
        case DT_RELA:
            ret->relocations[0] = table_at(elf, value);
            break;
        case DT_RELASZ:
            relocation_bytes[0] = value;
            break;
        case DT_JMPREL:
            ret->relocations[1] = table_at(elf, value);
            break;
        case DT_PLTRELSZ:
            relocation_bytes[1] = value;
            break;
        default:
            break;
        }
    }
    bound(&elf->strings, string_bytes);
    bound(&ret->relocations[0], relocation_bytes[0]);
    bound(&ret->relocations[1], relocation_bytes[1]);
}

static uint32_t word_at(const plim_elf *elf, const plim_elf_table *table, uint64_t index)
{
    uint32_t word = 0;
    return copy(elf, table, index * sizeof word, &word, sizeof word) ? word : 0;
}

/*
 * One more than the last symbol that DT_GNU_HASH knows: the last of the longest chain, which
 * ends in an odd hash. 0 when it knows none.
 */
static uint64_t count_by_gnu_hash(const plim_elf *elf, const plim_elf_table *hash)
{
    const uint64_t bucket_count = word_at(elf, hash, 0);
    const uint64_t first = word_at(elf, hash, 1);
    const uint64_t buckets = 4 + (uint64_t)word_at(elf, hash, 2) * 2;
    uint64_t last = 0;
    for (uint64_t i = 0; i < bucket_count && (buckets + i) * 4 < hash->bytes; i++) {
        const uint64_t head = word_at(elf, hash, buckets + i);
        last = head > last ? head : last;
    }
    if (last < first || last == 0) {
        return 0;
    }
    const uint64_t chains = buckets + bucket_count;
    uint32_t value = 0;
    while (copy(elf, hash, (chains + last - first) * 4, &value, sizeof value) &&
           (value & 1u) == 0) {
        last++;
    }
    return last + 1;
}

/* One more than the last symbol that is relocated against. */
static uint64_t count_by_relocations(const plim_elf *elf, const plim_elf_table *relocations)
{
    uint64_t count = 0;
    Elf64_Rela one;
    for (uint64_t at = 0; copy(elf, relocations, at, &one, sizeof one); at += sizeof one) {
        const uint64_t symbol = ELF64_R_SYM(one.r_info);
        count = symbol + 1 > count ? symbol + 1 : count;
    }
    return count;
}

/*
 * No entry says how many symbols there are. DT_HASH has a chain per symbol; DT_GNU_HASH leads to
 * the last one, but says nothing of an object that defines none, and what such an object leaves
 * undefined is found where it is used.
 */
static size_t count_symbols(const plim_elf *elf, const counters *from)
{
    uint64_t count = word_at(elf, &from->hash, 1);
    if (count == 0) {
        count = count_by_gnu_hash(elf, &from->gnu_hash);
    }
    for (size_t i = 0; count == 0 && i < 2; i++) {
        const uint64_t other = count_by_relocations(elf, &from->relocations[1 - i]);
        count = other > count ? other : count;
    }
    const uint64_t most = elf->symbols.bytes / sizeof(Elf64_Sym);
    return (size_t)(count < most ? count : most);
}

bool plim_elf_open(const void *data, size_t bytes, plim_elf *ret)
{
    *ret = (plim_elf){ .data = data, .bytes = bytes };
    const plim_elf_table all = { 0, bytes };
    Elf64_Ehdr header;
    if (!copy(ret, &all, 0, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof(Elf64_Phdr)) {
        return false;
    }
    ret->machine = header.e_machine;
    const uint64_t segment_count = header.e_phnum < SEGMENTS_MAX ? header.e_phnum : SEGMENTS_MAX;
    ret->segments = cut(ret, header.e_phoff, segment_count * sizeof(Elf64_Phdr));
    Elf64_Phdr segment;
    for (uint64_t at = 0; copy(ret, &ret->segments, at, &segment, sizeof segment);
         at += sizeof segment) {
        if (segment.p_type == PT_DYNAMIC) {
            ret->dynamic = cut(ret, segment.p_offset, segment.p_filesz);
        }
    }
    if (ret->dynamic.bytes == 0) {
        return false;
    }
    counters counted = { 0 };
    read_dynamic(ret, &counted);
    ret->symbol_count = count_symbols(ret, &counted);
    return true;
}

/* NULL when it does not lie in the strings, is empty, or is longer than names are. */
static const char *string_at(const plim_elf *elf, uint64_t offset)
{
    if (offset >= elf->strings.bytes) {
        return NULL;
    }
    const uint64_t rest = elf->strings.bytes - offset;
    const size_t most = rest < PLIM_ELF_NAME_MAX + 1 ? (size_t)rest : PLIM_ELF_NAME_MAX + 1;
    const char *const string = (const char *)elf->data + elf->strings.offset + offset;
    return string[0] != '\0' && memchr(string, '\0', most) != NULL ? string : NULL;
}

bool plim_elf_symbol_at(const plim_elf *elf, size_t index, plim_elf_symbol *ret)
{
    Elf64_Sym symbol;
    if (index >= elf->symbol_count ||
        !copy(elf, &elf->symbols, index * sizeof symbol, &symbol, sizeof symbol)) {
        return false;
    }
    const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
    const char *const name = binding == STB_LOCAL ? NULL : string_at(elf, symbol.st_name);
    uint16_t version = VER_NDX_GLOBAL;
    (void)copy(elf, &elf->versions, index * sizeof version, &version, sizeof version);
    *ret = (plim_elf_symbol){
        .name = name,
        .type = ELF64_ST_TYPE(symbol.st_info),
        .binding = binding,
        .undefined = symbol.st_shndx == SHN_UNDEF,
        .version = version & (WANTED_VERSIONS_MAX - 1), /* the top bit hides a definition */
    };
    return name != NULL;
}

bool plim_elf_needed(const plim_elf *elf, size_t *cursor, const char **ret)
{
    Elf64_Dyn entry;
    while (*cursor < ENTRIES_MAX && entry_at(elf, *cursor, &entry)) {
        *cursor += 1;
        if (entry.d_tag == DT_NEEDED) {
            *ret = string_at(elf, entry.d_un.d_val);
            if (*ret != NULL) {
                return true;
            }
        }
    }
    return false;
}

/* The versions that are wanted of one library; false: enough. */
static bool visit_one(const plim_elf *elf, uint64_t at, const Elf64_Verneed *need,
                      bool (*visit)(void *ctx, const plim_elf_need *need), void *ctx)
{
    const char *const library = string_at(elf, need->vn_file);
    uint64_t where = at + need->vn_aux;
    for (uint32_t i = 0; library != NULL && i < need->vn_cnt && i < NEEDS_MAX; i++) {
        Elf64_Vernaux version;
        if (!copy(elf, &elf->needs, where, &version, sizeof version)) {
            return true;
        }
        const char *const name = string_at(elf, version.vna_name);
        const plim_elf_need found = { version.vna_other, library, name };
        if (name != NULL && version.vna_other < WANTED_VERSIONS_MAX && !visit(ctx, &found)) {
            return false;
        }
        if (version.vna_next == 0) {
            return true;
        }
        where += version.vna_next;
    }
    return true;
}

void plim_elf_visit_needs(const plim_elf *elf, bool (*visit)(void *ctx, const plim_elf_need *need),
                          void *ctx)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < elf->needs_count && i < NEEDS_MAX; i++) {
        Elf64_Verneed need;
        if (!copy(elf, &elf->needs, at, &need, sizeof need) ||
            !visit_one(elf, at, &need, visit, ctx) || need.vn_next == 0) {
            return;
        }
        at += need.vn_next;
    }
}
