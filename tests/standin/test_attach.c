/*
 * test_attach.c - facades made by hand: where their functions lead, and what the stage hears.
 *
 * The program exports its functions, as libplim_standin.so does.
 */
#include "standin/cuda_words.h"
#include "standin/rehearsal.h"

#include "facade/table.h"

#include "standin/core/calls.h"
#include "standin/core/shadow.h"
#include "standin/core/stub.h"

/* Functions of a library that there is not. */
long cublasDeclines(void);
long cublasIsRefused(void);
long cublasIsModelled(void);
long cublasDoesNothing(void);

PLIM_STANDIN_DECLINED(cublasDeclines, 15, "many machines cannot")
PLIM_STANDIN_REFUSED(cublasIsRefused, 15, "too hard")
PLIM_STANDIN_NOTHING(cublasDoesNothing)
PLIM_STANDIN_MODELLED(cublasIsModelled, "guessed")

long cublasIsModelled(void)
{
    return 42;
}

enum { SET_DEVICE, GET_DEVICE, DECLINES, REFUSED, MODELLED, NOTHING, MISSING, ENTRIES };

/* As a facade has it; a flexible array cannot be had in a static table otherwise. */
static struct {
    uint32_t version;
    uint32_t entry_count;
    const char *soname;
    void *unknown;
    plim_facade_entry entries[ENTRIES];
} facade = { PLIM_FACADE_VERSION,
             ENTRIES,
             "libcublas.so.13",
             NULL,
             { { "cudaSetDevice", NULL, 0 },
               { "cudaGetDevice", NULL, 0 },
               { "cublasDeclines", NULL, 0 },
               { "cublasIsRefused", NULL, 0 },
               { "cublasIsModelled", NULL, 0 },
               { "cublasDoesNothing", NULL, 0 },
               { "cublasIsMissing", NULL, 0 } } };

static plim_facade_table *table_of_facade(void)
{
    void *table = &facade;
    return table;
}

/* What a program does that calls by way of the facade. */
static long call(int which)
{
    facade.entries[which].count++;
    if (facade.entries[which].target == NULL) {
        long (*unknown)(const plim_facade_entry *) = NULL;
        memcpy(&unknown, &facade.unknown, sizeof(unknown));
        return unknown(&facade.entries[which]);
    }
    long (*target)(int) = NULL;
    memcpy(&target, &facade.entries[which].target, sizeof(target));
    return (int)target(0);
}

static void expect(const char *name, plim_stage_call kind, const char *note, uint64_t count)
{
    plim_stage_call_count found;
    R_TRUE(r_call(name, &found));
    R_EQ(found.kind, kind);
    R_EQ(found.count, count);
    R_EQ(strcmp(found.note, note), 0);
}

static void each_kind(void)
{
    plim_standin_attach(table_of_facade());
    R_TRUE(facade.entries[MISSING].target == NULL);
    R_EQ(call(SET_DEVICE), 0);
    R_EQ(call(SET_DEVICE), 0);
    R_EQ(call(DECLINES), 15);
    R_EQ(call(MODELLED), 42);
    R_EQ(call(NOTHING), 0);
    plim_standin_calls_flush();
    expect("cudaSetDevice", PLIM_STAGE_ANSWERED, "", 2);
    expect("cublasDeclines", PLIM_STAGE_DECLINED, "many machines cannot", 1);
    expect("cublasIsModelled", PLIM_STAGE_MODELLED, "guessed", 1);
    expect("cublasDoesNothing", PLIM_STAGE_NOTHING, "", 1);
    plim_stage_call_count found;
    R_TRUE(!r_call("cudaGetDevice", &found)); /* nobody called it */

    R_EQ(call(REFUSED), 15); /* heard of at once */
    expect("cublasIsRefused", PLIM_STAGE_REFUSED, "too hard", 1);
    R_EQ(call(MISSING), 15);
    expect("cublasIsMissing", PLIM_STAGE_UNKNOWN, "", 1);
    R_EQ(call(MISSING), 15);
    R_EQ(call(SET_DEVICE), 0);
    plim_standin_calls_flush();
    expect("cublasIsMissing", PLIM_STAGE_UNKNOWN, "", 2);
    expect("cudaSetDevice", PLIM_STAGE_ANSWERED, "", 3);
}

static void functions_lead_to_their_stand_ins(void)
{
    r_play(each_kind);
}

static void count_in_child(void)
{
    R_EQ(call(NOTHING), 0);
    plim_standin_calls_flush();
}

static void parent_and_child(void)
{
    plim_standin_attach(table_of_facade());
    R_EQ(call(SET_DEVICE), 0);
    R_EQ(call(NOTHING), 0); /* not brought to the stage before the fork */
    R_EQ(r_run_child(count_in_child), 0);
    expect("cublasDoesNothing", PLIM_STAGE_NOTHING, "", 1);
    plim_standin_calls_flush();
    expect("cublasDoesNothing", PLIM_STAGE_NOTHING, "", 2);
}

static void a_forked_child_counts_its_own(void)
{
    r_play(parent_and_child);
}

static void computing(void)
{
    plim_standin_attach(table_of_facade());
    void *device = NULL;
    int out = 5;
    R_EQ(cudaMalloc(&device, 4), 0);
    R_EQ(cudaMemcpy(device, &out, 4, 4), 0);
    R_EQ(cudaMemcpy(&out, device, 4, 4), 0);
    R_EQ(out, 5);
    R_EQ(call(NOTHING), 0); /* cuBLAS may have written anything */
    R_EQ(cudaMemcpy(&out, device, 4, 4), 0);
    R_EQ(out, 0);
    R_EQ(cudaMemset(device, 1, 4), 0);
    plim_standin_calls_flush(); /* changes the counts, but nothing is computed */
    R_EQ(cudaMemcpy(&out, device, 4, 4), 0);
    R_EQ(out, 0x01010101);
}

static void calls_of_computing_libraries_end_what_is_known(void)
{
    r_play(computing);
}

static void by_name(void)
{
    void *function = &facade;
    int status = -1;
    R_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 13000, 0, &status), 0);
    R_TRUE(function != NULL && status == 0); /* cuMemAlloc_v2 */
    R_EQ(cuGetProcAddress_v2("cuMakeCoffee", &function, 13000, 0, &status), 0);
    R_TRUE(function == NULL && status == 1);
    expect("cuMakeCoffee", PLIM_STAGE_DECLINED, "asked for by name", 1);
}

static void driver_functions_are_found_by_name(void)
{
    r_play(by_name);
}

static void call_without_a_stage(void)
{
    (void)unsetenv(PLIM_STAGE_VARIABLE);
    plim_standin_attach(table_of_facade()); /* needs none */
    int device = 0;
    R_EQ(r_run_child(each_kind), 3);
    (void)setenv(PLIM_STAGE_VARIABLE, "/nowhere/stage", 1);
    R_EQ(r_run_child(each_kind), 3);
    (void)cudaGetDevice(&device);
    R_TRUE(false); /* not reached */
}

static void without_a_stage_the_process_ends(void)
{
    const int status = r_run_child(call_without_a_stage);
    T_EQ_U64(status, 3);
}

static const struct {
    const char *soname;
    long not_supported;
    bool computes;
} vendors[] = {
    { "libcudart.so.12", 801, false },  { "libcuda.so.1", 801, false },
    { "libcublas.so.13", 15, true },    { "libcublasLt.so.13", 15, true },
    { "libcudnn.so.9", 3000, true },    { "libcusparse.so.12", 10, true },
    { "libcusparseLt.so.0", 10, true }, { "libcusolver.so.12", 9, true },
    { "libcufft.so.12", 16, true },     { "libnccl.so.2", 3, false },
    { "libnvidia-ml.so.1", 3, false },  { "libsomething.so.1", 1, true },
};

static void each_library_fails_in_its_own_words(void)
{
    for (size_t i = 0; i < T_COUNT(vendors); i++) {
        T_CASE("%s", vendors[i].soname);
        const plim_standin_vendor *vendor = plim_standin_vendor_of(vendors[i].soname);
        T_EQ_I64(vendor->not_supported, vendors[i].not_supported);
        T_TRUE(vendor->computes == vendors[i].computes);
    }
}

T_MAIN(T_TEST(functions_lead_to_their_stand_ins), T_TEST(a_forked_child_counts_its_own),
       T_TEST(calls_of_computing_libraries_end_what_is_known),
       T_TEST(driver_functions_are_found_by_name), T_TEST(without_a_stage_the_process_ends),
       T_TEST(each_library_fails_in_its_own_words))
