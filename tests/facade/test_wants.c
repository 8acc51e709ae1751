/*
 * test_wants.c - what objects want is read off all of their kinds, and damage does no harm.
 *
 * The objects are those that the fuzz target starts from: small ones, linked with gcc 12 to
 * libraries that bear the vendor's names.
 */
#include "harness.h"

#include "facade/wants.h"

#include <elf.h>

#define CORPUS     "fuzz/corpus/wants/"
#define BYTES_MAX  8192
#define TEXT_BYTES 1024

static unsigned char object[BYTES_MAX];

static size_t read_object(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s%s", CORPUS, name);
    FILE *const file = fopen(path, "rb");
    T_NOT_NULL(file);
    const size_t bytes = fread(object, 1, sizeof object, file);
    T_EQ_I64(fclose(file), 0);
    T_TRUE(bytes > 0 && bytes < sizeof object);
    return bytes;
}

/* What one object wants, from memory no longer than it is. */
static plim_wants *read_wants(size_t bytes)
{
    plim_wants *const wants = plim_wants_create(NULL);
    T_NOT_NULL(wants);
    wants->machine = EM_X86_64;
    unsigned char *const exact = malloc(bytes > 0 ? bytes : 1);
    T_NOT_NULL(exact);
    memcpy(exact, object, bytes);
    T_TRUE(plim_wants_add_object(wants, exact, bytes));
    free(exact);
    T_TRUE(plim_wants_finish(wants));
    return wants;
}

/* "libcuda.so.1: cuInit; libcudart.so.13: cudaFree@libcudart.so.13 …" */
static void describe(const plim_wants *wants, char *ret)
{
    size_t length = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < wants->libraries.count; i++) {
        const plim_wants_library *const library = &wants->libraries.items[i];
        length += (size_t)snprintf(ret + length, TEXT_BYTES - length, "%s%s:", i == 0 ? "" : "; ",
                                   library->soname);
        for (size_t k = 0; k < library->list.count; k++) {
            const plim_want *const want = &library->list.items[k];
            length += (size_t)snprintf(ret + length, TEXT_BYTES - length, " %s%s%s%s", want->name,
                                       want->version == NULL ? "" : "@",
                                       want->version == NULL ? "" : want->version,
                                       want->is_data ? "=" : "");
        }
        T_TRUE(length < TEXT_BYTES);
    }
}

static void objects_of_all_kinds_are_read(void)
{
    static const struct {
        const char *name;
        const char *wants;
    } cases[] = {
        { "gnu_hash", "libcuda.so.1: cuInit; "
                      "libcudart.so.13: cudaFree@libcudart.so.13 cudaMalloc@libcudart.so.13 "
                      "cudaVar@libcudart.so.13= cudaWeak@libcudart.so.13; "
                      "libnccl.so.2: ncclInit; libnvidia-ml.so.1:" },
        { "sysv_hash", "libcuda.so.1: cuInit; "
                       "libcudart.so.13: cudaFree@libcudart.so.13 cudaMalloc@libcudart.so.13 "
                       "cudaVar@libcudart.so.13= cudaWeak@libcudart.so.13; "
                       "libnccl.so.2: ncclInit; libnvidia-ml.so.1:" },
        { "two_versions", "libcuda.so.1: cuInit; "
                          "libcudart.so.12: cudaFree@libcudart.so.12 cudaMalloc@libcudart.so.12.1 "
                          "cudaVar@libcudart.so.12.1= cudaWeak@libcudart.so.12.1; "
                          "libnccl.so.2: ncclInit; libnvidia-ml.so.1:" },
        { "program_without_exports", "libcuda.so.1: cuInit; "
                                     "libcudart.so.13: cudaMalloc@libcudart.so.13; "
                                     "libnvidia-ml.so.1:" },
        { "vendor", "" },
        { "magic", "" },
    };
    char text[TEXT_BYTES];
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        plim_wants *const wants = read_wants(read_object(cases[i].name));
        describe(wants, text);
        T_EQ_STR(text, cases[i].wants);
        plim_wants_destroy(wants);
    }
}

static void section_headers_are_not_needed(void)
{
    char with[TEXT_BYTES];
    char without[TEXT_BYTES];
    const size_t bytes = read_object("gnu_hash");
    plim_wants *wants = read_wants(bytes);
    describe(wants, with);
    plim_wants_destroy(wants);

    Elf64_Ehdr header;
    memcpy(&header, object, sizeof header);
    T_TRUE(header.e_shoff > 0 && header.e_shoff < bytes);
    memset(object + header.e_shoff, 0xff, bytes - header.e_shoff);
    header.e_shoff = 0;
    header.e_shnum = 0;
    memcpy(object, &header, sizeof header);
    wants = read_wants(bytes);
    describe(wants, without);
    plim_wants_destroy(wants);
    T_EQ_STR(with, without);
}

static void objects_for_other_machines_are_passed_over(void)
{
    const size_t bytes = read_object("gnu_hash");
    const struct {
        size_t at;
        unsigned char value;
    } cases[] = {
        { offsetof(Elf64_Ehdr, e_machine), EM_AARCH64 },
        { EI_CLASS, ELFCLASS32 },
        { EI_DATA, ELFDATA2MSB },
        { 0, 'E' },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        const unsigned char before = object[cases[i].at];
        object[cases[i].at] = cases[i].value;
        plim_wants *const wants = read_wants(bytes);
        T_EQ_U64(plim_wants_count(wants), 0);
        plim_wants_destroy(wants);
        object[cases[i].at] = before;
    }
}

/* Sanitizers tell whether anything was read that is not there. */
static void an_object_may_end_anywhere(void)
{
    const size_t bytes = read_object("sysv_hash");
    for (size_t i = 0; i < bytes; i++) {
        plim_wants_destroy(read_wants(i));
    }
}

static void any_byte_may_be_wrong(void)
{
    static const char *const names[] = { "gnu_hash", "sysv_hash", "two_versions",
                                         "program_without_exports" };
    for (int i = 0; i < 4000; i++) {
        const size_t bytes = read_object(names[t_random_between(0, T_COUNT(names) - 1)]);
        for (uint64_t k = t_random_between(1, 8); k > 0; k--) {
            object[t_random_between(0, bytes - 1)] = (unsigned char)t_random();
        }
        plim_wants_destroy(read_wants(bytes));
    }
}

/* What opens a library by hand knows its versions all the same. */
static void the_version_of_a_library_is_known_where_none_is_wanted(void)
{
    static const struct {
        const char *soname;
        const char *version;
    } cases[] = {
        { "libcudart.so.13", "libcudart.so.13" },
        { "libcudart-9335f6a2.so.12", "libcudart.so.12" },
        { "libnvshmem_host.so.3", "NVSHMEM" },
        { "libnccl.so.2", "" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].soname);
        plim_wants *const wants = plim_wants_create(NULL);
        T_NOT_NULL(wants);
        const plim_wants_library library = { .soname = cases[i].soname,
                                             .family = plim_family_of_library(cases[i].soname) };
        T_TRUE(PLIM_VEC_PUSH(wants->mem, &wants->libraries, library));
        T_TRUE(plim_wants_finish(wants));
        for (size_t k = 0; k < wants->libraries.count; k++) {
            if (strcmp(wants->libraries.items[k].soname, cases[i].soname) == 0) {
                const char *const version = wants->libraries.items[k].version;
                T_EQ_STR(version == NULL ? "" : version, cases[i].version);
            }
        }
        plim_wants_destroy(wants);
    }
}

T_MAIN(T_TEST(objects_of_all_kinds_are_read), T_TEST(section_headers_are_not_needed),
       T_TEST(objects_for_other_machines_are_passed_over), T_TEST(an_object_may_end_anywhere),
       T_TEST(any_byte_may_be_wrong),
       T_TEST(the_version_of_a_library_is_known_where_none_is_wanted))
