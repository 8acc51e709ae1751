/*
 * emit.c - writes a facade's bytes, part by part, to where layout.c put them.
 *
 * Source: System V ABI (gABI 4.1), chapters 4 and 5; symbol versions: Linux Standard Base 5.0,
 * chapter 10.7; DT_GNU_HASH: glibc, elf/dl-lookup.c.
 */
#include "facade/layout.h"

#include "base/assert.h"
#include "facade/table.h"

#include <elf.h>
#include <string.h>

/* Writes things of one kind in sequence. */
typedef struct cursor {
    unsigned char *to;
    const unsigned char *end;
} cursor;

static cursor start(const plim_facade_layout *layout, unsigned char *image, plim_facade_part part)
{
    unsigned char *const to = image + layout->parts[part].offset;
    return (cursor){ .to = to, .end = to + layout->parts[part].bytes };
}

static void put(cursor *out, const void *thing, size_t bytes)
{
    PLIM_ASSERT(bytes <= (size_t)(out->end - out->to));
    memcpy(out->to, thing, bytes);
    out->to += bytes;
}

static void put_u32(cursor *out, uint32_t value)
{
    put(out, &value, sizeof value);
}

static void emit_header(const plim_facade_layout *layout, cursor *out)
{
    const Elf64_Ehdr header = {
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                     ELFOSABI_NONE },
        .e_type = ET_DYN,
        .e_machine = layout->machine->elf_machine,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_shoff = layout->parts[PLIM_PART_SECTIONS].offset,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = PLIM_SEGMENTS,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = PLIM_PART_SECTIONS,
        .e_shstrndx = PLIM_PART_SECTION_NAMES,
    };
    put(out, &header, sizeof header);
}

/* A segment of the parts from `first` to `last`. */
static Elf64_Phdr segment(const plim_facade_layout *layout, plim_facade_part first,
                          plim_facade_part last, uint32_t flags)
{
    const uint64_t offset = layout->parts[first].offset;
    const uint64_t end = layout->parts[last].offset + layout->parts[last].bytes;
    return (Elf64_Phdr){
        .p_type = PT_LOAD,
        .p_flags = flags,
        .p_offset = offset,
        .p_vaddr = offset,
        .p_paddr = offset,
        .p_filesz = end - offset,
        .p_memsz = end - offset,
        .p_align = layout->machine->page_bytes,
    };
}

static void emit_headers(const plim_facade_layout *layout, unsigned char *image)
{
    cursor out = start(layout, image, PLIM_PART_HEADERS);
    emit_header(layout, &out);
    Elf64_Phdr data = segment(layout, PLIM_PART_CONSTRUCTORS, PLIM_PART_VARIABLES, PF_R | PF_W);
    data.p_filesz = layout->parts[PLIM_PART_VARIABLES].offset - data.p_offset;
    Elf64_Phdr dynamic = segment(layout, PLIM_PART_DYNAMIC, PLIM_PART_DYNAMIC, PF_R | PF_W);
    dynamic.p_type = PT_DYNAMIC;
    dynamic.p_align = plim_sections[PLIM_PART_DYNAMIC].align;
    const Elf64_Phdr segments[PLIM_SEGMENTS] = {
        segment(layout, PLIM_PART_HEADERS, PLIM_PART_RELOCATIONS, PF_R),
        segment(layout, PLIM_PART_CODE, PLIM_PART_CODE, PF_R | PF_X),
        data,
        dynamic,
        { .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16 },
    };
    put(&out, segments, sizeof segments);
}

/* Filter, then the first symbol of each bucket, then hashes whose lowest bit ends a bucket. */
static void emit_hash(const plim_facade_layout *layout, unsigned char *image)
{
    cursor out = start(layout, image, PLIM_PART_HASH);
    put_u32(&out, layout->bucket_count);
    put_u32(&out, PLIM_SYMBOLS_BEFORE);
    put_u32(&out, layout->bloom_words);
    put_u32(&out, PLIM_BLOOM_SHIFT);
    unsigned char *const filter = out.to;
    out.to += (size_t)layout->bloom_words * sizeof(uint64_t);
    unsigned char *const buckets = out.to;
    out.to += (size_t)layout->bucket_count * sizeof(uint32_t);
    const size_t count = layout->exports.count;
    for (size_t i = 0; i < count; i++) {
        const plim_facade_export *const one = &layout->exports.items[i];
        unsigned char *const word =
            filter + (one->hash / 64 % layout->bloom_words) * sizeof(uint64_t);
        uint64_t bits = 0;
        memcpy(&bits, word, sizeof bits);
        bits |= UINT64_C(1) << (one->hash % 64);
        bits |= UINT64_C(1) << ((one->hash >> PLIM_BLOOM_SHIFT) % 64);
        memcpy(word, &bits, sizeof bits);
        if (i == 0 || one[-1].bucket != one->bucket) {
            const uint32_t symbol = (uint32_t)(PLIM_SYMBOLS_BEFORE + i);
            memcpy(buckets + one->bucket * sizeof symbol, &symbol, sizeof symbol);
        }
        const bool is_last = i + 1 == count || one[1].bucket != one->bucket;
        put_u32(&out, is_last ? one->hash | 1u : one->hash & ~1u);
    }
}

static void emit_symbols(const plim_facade_layout *layout, unsigned char *image)
{
    cursor out = start(layout, image, PLIM_PART_SYMBOLS);
    const Elf64_Sym before[PLIM_SYMBOLS_BEFORE] = {
        [PLIM_SYMBOL_ATTACH] = { .st_name = layout->attach_string,
                                 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) },
    };
    put(&out, before, sizeof before);
    for (size_t i = 0; i < layout->exports.count; i++) {
        const plim_facade_export *const one = &layout->exports.items[i];
        Elf64_Sym symbol = { .st_name = one->string };
        if (one->is_data) {
            symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
            symbol.st_shndx = PLIM_PART_VARIABLES;
            symbol.st_value = layout->parts[PLIM_PART_VARIABLES].offset +
                              (uint64_t)one->place * PLIM_VARIABLE_BYTES;
            symbol.st_size = PLIM_VARIABLE_BYTES;
        } else {
            symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
            symbol.st_shndx = PLIM_PART_CODE;
            symbol.st_value = plim_layout_counting(layout, one->place);
            symbol.st_size = layout->machine->counting_bytes;
        }
        put(&out, &symbol, sizeof symbol);
    }
}

static void emit_strings(const plim_facade_layout *layout, unsigned char *image)
{
    cursor out = start(layout, image, PLIM_PART_STRINGS);
    put(&out, plim_text_string(&layout->strings), layout->strings.length);
}

static void emit_versions(const plim_facade_layout *layout, unsigned char *image)
{
    cursor out = start(layout, image, PLIM_PART_VERSIONS);
    const Elf64_Half before[PLIM_SYMBOLS_BEFORE] = { VER_NDX_LOCAL, VER_NDX_GLOBAL };
    put(&out, before, sizeof before);
    for (size_t i = 0; i < layout->exports.count; i++) {
        const plim_facade_export *const one = &layout->exports.items[i];
        const Elf64_Half hidden = one->is_hidden ? 0x8000 : 0;
        const Elf64_Half version = one->version | hidden;
        put(&out, &version, sizeof version);
    }
}

static uint32_t hash_version(const char *name)
{
    uint32_t hash = 0;
    for (; *name != '\0'; name++) {
        hash = (hash << 4) + (unsigned char)*name;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    return hash;
}

/* The first record names the file itself. */
static void emit_definitions(const plim_facade_layout *layout, unsigned char *image)
{
    cursor out = start(layout, image, PLIM_PART_DEFINITIONS);
    const char *const strings = plim_text_string(&layout->strings);
    for (size_t i = 0; i <= layout->version_names.count; i++) {
        const uint32_t string =
            i == 0 ? layout->soname_string : layout->version_strings.items[i - 1];
        const bool is_last = i == layout->version_names.count;
        const Elf64_Verdaux name = { .vda_name = string };
        const Elf64_Verdef definition = {
            .vd_version = VER_DEF_CURRENT,
            .vd_flags = i == 0 ? VER_FLG_BASE : 0,
            .vd_ndx = (Elf64_Half)(VER_NDX_GLOBAL + i),
            .vd_cnt = 1,
            .vd_hash = hash_version(strings + string),
            .vd_aux = sizeof definition,
            .vd_next = is_last ? 0 : sizeof definition + sizeof name,
        };
        put(&out, &definition, sizeof definition);
        put(&out, &name, sizeof name);
    }
}

/* A pointer in the object, to the object: its place gets the address and a relocation. */
static void put_pointer(const plim_facade_layout *layout, unsigned char *image, cursor *relocations,
                        uint64_t place, uint64_t address)
{
    const Elf64_Rela relocation = {
        .r_offset = place,
        .r_info = ELF64_R_INFO(0, (uint64_t)layout->machine->relative_type),
        .r_addend = (Elf64_Sxword)address,
    };
    put(relocations, &relocation, sizeof relocation);
    memcpy(image + place, &address, sizeof address);
}

/* The table, and with it all relocations. */
static void emit_table(const plim_facade_layout *layout, unsigned char *image)
{
    cursor out = start(layout, image, PLIM_PART_TABLE);
    const plim_facade_table table = {
        .version = PLIM_FACADE_VERSION,
        .entry_count = (uint32_t)layout->functions.count,
    };
    put(&out, &table, sizeof table);

    cursor relocations = start(layout, image, PLIM_PART_RELOCATIONS);
    const uint64_t at = layout->parts[PLIM_PART_TABLE].offset;
    const uint64_t strings = layout->parts[PLIM_PART_STRINGS].offset;
    put_pointer(layout, image, &relocations, layout->parts[PLIM_PART_CONSTRUCTORS].offset,
                layout->parts[PLIM_PART_CODE].offset);
    put_pointer(layout, image, &relocations, at + offsetof(plim_facade_table, soname),
                strings + layout->soname_string);
    for (size_t i = 0; i < layout->functions.count; i++) {
        const uint64_t entry = plim_layout_entry(layout, i);
        put_pointer(layout, image, &relocations, entry + offsetof(plim_facade_entry, name),
                    strings + layout->functions.items[i]);
        put_pointer(layout, image, &relocations, entry + offsetof(plim_facade_entry, target),
                    plim_layout_unknown(layout, i));
    }
    const Elf64_Rela attach = {
        .r_offset = layout->parts[PLIM_PART_ATTACH].offset,
        .r_info = ELF64_R_INFO((uint64_t)PLIM_SYMBOL_ATTACH, layout->machine->absolute_type),
    };
    put(&relocations, &attach, sizeof attach);
    PLIM_ASSERT(relocations.to == relocations.end);
}

static void emit_code(const plim_facade_layout *layout, unsigned char *image)
{
    const plim_facade_machine *const machine = layout->machine;
    const uint64_t table = layout->parts[PLIM_PART_TABLE].offset;
    const uint64_t unknown = table + offsetof(plim_facade_table, unknown);
    const uint64_t constructor = layout->parts[PLIM_PART_CODE].offset;
    machine->write_constructor(image + constructor, constructor, table,
                               layout->parts[PLIM_PART_ATTACH].offset);
    for (size_t i = 0; i < layout->functions.count; i++) {
        const uint64_t entry = plim_layout_entry(layout, i);
        const uint64_t first = plim_layout_counting(layout, i);
        const uint64_t second = plim_layout_unknown(layout, i);
        machine->write_counting(image + first, first, entry);
        machine->write_unknown(image + second, second, entry, unknown);
    }
}

static void emit_dynamic(const plim_facade_layout *layout, unsigned char *image)
{
    cursor out = start(layout, image, PLIM_PART_DYNAMIC);
    const size_t versions = layout->version_names.count;
    const uint64_t relocation_bytes = layout->parts[PLIM_PART_RELOCATIONS].bytes;
    const struct {
        Elf64_Sxword tag;
        uint64_t value;
        bool left_out;
    } entries[] = {
        { DT_NEEDED, layout->standin_string, false },
        { DT_SONAME, layout->soname_string, false },
        { DT_INIT_ARRAY, layout->parts[PLIM_PART_CONSTRUCTORS].offset, false },
        { DT_INIT_ARRAYSZ, layout->parts[PLIM_PART_CONSTRUCTORS].bytes, false },
        { DT_GNU_HASH, layout->parts[PLIM_PART_HASH].offset, false },
        { DT_STRTAB, layout->parts[PLIM_PART_STRINGS].offset, false },
        { DT_SYMTAB, layout->parts[PLIM_PART_SYMBOLS].offset, false },
        { DT_STRSZ, layout->parts[PLIM_PART_STRINGS].bytes, false },
        { DT_SYMENT, sizeof(Elf64_Sym), false },
        { DT_RELA, layout->parts[PLIM_PART_RELOCATIONS].offset, false },
        { DT_RELASZ, relocation_bytes, false },
        { DT_RELAENT, sizeof(Elf64_Rela), false },
        { DT_RELACOUNT, relocation_bytes / sizeof(Elf64_Rela) - 1, false },
        { DT_VERSYM, layout->parts[PLIM_PART_VERSIONS].offset, versions == 0 },
        { DT_VERDEF, layout->parts[PLIM_PART_DEFINITIONS].offset, versions == 0 },
        { DT_VERDEFNUM, versions + 1, versions == 0 },
        { DT_FLAGS_1, DF_1_NODELETE, false }, /* the table stays valid until the process ends */
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (!entries[i].left_out) {
            const Elf64_Dyn entry = { .d_tag = entries[i].tag, .d_un.d_val = entries[i].value };
            put(&out, &entry, sizeof entry);
        }
    }
    PLIM_ASSERT(out.to < out.end); /* what is left is DT_NULL */
}

/* Section headers: for people with readelf and gdb, the dynamic linker does not read them. */
static void emit_sections(const plim_facade_layout *layout, unsigned char *image)
{
    cursor names = start(layout, image, PLIM_PART_SECTION_NAMES);
    const unsigned char *const first_name = names.to;
    cursor out = start(layout, image, PLIM_PART_SECTIONS);
    for (int i = 0; i < PLIM_PART_SECTIONS; i++) {
        const plim_section *const section = &plim_sections[i];
        Elf64_Shdr header = { .sh_name = (Elf64_Word)(names.to - first_name) };
        put(&names, section->name, strlen(section->name) + 1);
        if (i != PLIM_PART_HEADERS) {
            header.sh_type = section->type;
            header.sh_flags = section->flags;
            header.sh_offset = layout->parts[i].offset;
            header.sh_addr = section->flags == 0 ? 0 : header.sh_offset;
            header.sh_size = layout->parts[i].bytes;
            header.sh_link = section->link;
            header.sh_addralign = section->align;
            header.sh_entsize = section->item_bytes;
        }
        if (i == PLIM_PART_SYMBOLS) {
            header.sh_info = 1; /* the first that is not local */
        } else if (i == PLIM_PART_DEFINITIONS && header.sh_size > 0) {
            header.sh_info = (Elf64_Word)layout->version_names.count + 1;
        }
        put(&out, &header, sizeof header);
    }
}

void plim_layout_emit(const plim_facade_layout *layout, unsigned char *image)
{
    emit_headers(layout, image);
    emit_hash(layout, image);
    emit_symbols(layout, image);
    emit_strings(layout, image);
    if (layout->version_names.count > 0) {
        emit_versions(layout, image);
        emit_definitions(layout, image);
    }
    emit_code(layout, image);
    emit_table(layout, image);
    emit_dynamic(layout, image);
    emit_sections(layout, image);
}
