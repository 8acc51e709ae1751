/*
 * test_symbols.c - names and lines of return addresses: in this program, in the C library, in a
 * module that is loaded while it runs.
 */
#include "harness.h"

#include "base/memory.h"
#include "unwind/module.h"
#include "unwind/unwind.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#define CAPACITY 64

typedef struct trace {
    uint64_t addresses[CAPACITY];
    size_t count;
} trace;

static _Thread_local volatile size_t
    after_call; /* written after calls, so that they are not jumps */
static _Thread_local uint32_t inner_line;
static _Thread_local uint32_t outer_line;

__attribute__((noinline)) static void inner_place(trace *t)
{
    inner_line = __LINE__ + 1;
    t->count = plim_unwind(t->addresses, CAPACITY, 0);
    after_call++;
}

__attribute__((noinline)) static void outer_place(trace *t)
{
    outer_line = __LINE__ + 1;
    inner_place(t);
    after_call++;
}

static plim_symbols *fresh_symbols(const plim_mem *mem)
{
    plim_symbols *symbols = NULL;
    plim_error err;
    T_EQ_I64(plim_symbols_create(mem, &symbols, &err), PLIM_OK);
    return symbols;
}

/* What is known of an address; a lack of memory fails the test. */
static plim_symbol find(plim_symbols *symbols, uint64_t address)
{
    plim_symbol found = { 0 };
    T_EQ_I64(plim_symbols_look_up(symbols, address, &found, NULL), PLIM_OK);
    return found;
}

static void expect_end(const char *text, const char *end)
{
    const size_t bytes = strlen(text);
    T_TRUE(bytes >= strlen(end));
    T_EQ_STR(text + bytes - strlen(end), end);
}

static void callers_have_names_files_and_lines(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_symbols *const symbols = fresh_symbols(&heap.mem);
    trace t;
    outer_place(&t);
    for (int again = 0; again < 2; again++) {
        const plim_symbol inner = find(symbols, t.addresses[0]);
        T_EQ_STR(inner.name, "inner_place");
        expect_end(inner.filename, "tests/unwind/test_symbols.c");
        T_EQ_U64(inner.line, inner_line);
        const plim_symbol outer = find(symbols, t.addresses[1]);
        T_EQ_STR(outer.name, "outer_place");
        T_EQ_U64(outer.line, outer_line);
    }
    bool has_main = false;
    for (size_t i = 0; i < t.count; i++) {
        has_main = has_main || strcmp(find(symbols, t.addresses[i]).name, "main") == 0;
    }
    T_TRUE(has_main);
    plim_symbols_destroy(symbols);
    T_EQ_U64(heap.live_bytes, 0);
}

static void what_was_found_is_remembered(void)
{
    plim_symbols *const symbols = fresh_symbols(NULL);
    trace t;
    outer_place(&t);
    const plim_symbol first = find(symbols, t.addresses[0]);
    const plim_symbol second = find(symbols, t.addresses[0]);
    T_TRUE(first.name == second.name);
    T_TRUE(first.filename == second.filename);
    plim_symbols_destroy(symbols);
}

static size_t take(void *ctx)
{
    trace *const t = ctx;
    t->count = plim_unwind(t->addresses, CAPACITY, 0);
    return t->count;
}

static void modules_that_are_loaded_later_are_known(void)
{
    plim_symbols *const symbols = fresh_symbols(NULL);
    trace t;
    outer_place(&t);
    T_EQ_STR(find(symbols, t.addresses[0]).name, "inner_place");

    for (int again = 0; again < 3; again++) {
        void *const module = dlopen(T_MODULE, RTLD_NOW | RTLD_LOCAL);
        T_NOT_NULL(module);
        size_t (*call)(t_module_callback *, void *) = NULL;
        size_t (*line)(void) = NULL;
        *(void **)&call = dlsym(module, "t_module_call");
        *(void **)&line = dlsym(module, "t_module_line");
        T_EQ_U64(call(take, &t), t.count);
        T_TRUE(t.count > 2);
        const plim_symbol there = find(symbols, t.addresses[1]);
        T_EQ_STR(there.name, "t_module_call");
        expect_end(there.filename, "tests/unwind/module.c");
        T_EQ_U64(there.line, line());
        T_EQ_I64(dlclose(module), 0);
    }
    plim_symbols_destroy(symbols);
}

static atomic_bool is_over;

/* Returns whether all stacks were as long as the first one. */
static void *take_all_the_time(void *ctx)
{
    bool *const good = ctx;
    trace t;
    outer_place(&t);
    const size_t count = t.count;
    *good = count > 2;
    while (!atomic_load(&is_over)) {
        outer_place(&t);
        *good = *good && t.count == count;
    }
    return NULL;
}

static void modules_come_and_go_while_stacks_are_taken(void)
{
    pthread_t thread;
    bool good = false;
    atomic_store(&is_over, false);
    T_EQ_I64(pthread_create(&thread, NULL, take_all_the_time, &good), 0);
    size_t first_count = 0;
    const volatile size_t rounds = 50; /* not unrolled: all from the same place */
    for (size_t i = 0; i < rounds; i++) {
        void *const module = dlopen(T_MODULE, RTLD_NOW | RTLD_LOCAL);
        T_NOT_NULL(module);
        size_t (*call)(t_module_callback *, void *) = NULL;
        *(void **)&call = dlsym(module, "t_module_call");
        trace t;
        first_count = i == 0 ? call(take, &t) : first_count;
        T_EQ_U64(call(take, &t), first_count);
        T_TRUE(first_count > 2);
        T_EQ_I64(dlclose(module), 0);
    }
    atomic_store(&is_over, true);
    T_EQ_I64(pthread_join(thread, NULL), 0);
    T_TRUE(good);
}

static trace in_compare;

static int compare(const void *a, const void *b)
{
    in_compare.count = plim_unwind(in_compare.addresses, CAPACITY, 0);
    return *(const int *)a - *(const int *)b;
}

static void without_a_source_the_library_is_named(void)
{
    plim_symbols *const symbols = fresh_symbols(NULL);
    int numbers[] = { 2, 1 };
    qsort(numbers, 2, sizeof numbers[0], compare);
    T_EQ_STR(find(symbols, in_compare.addresses[0]).name, "compare");
    bool has_libc = false;
    for (size_t i = 1; i < in_compare.count; i++) {
        const plim_symbol symbol = find(symbols, in_compare.addresses[i]);
        has_libc = has_libc || (strstr(symbol.filename, "libc.so") != NULL && symbol.line == 0) ||
                   strstr(symbol.filename, "msort") != NULL; /* where its sources are known */
    }
    T_TRUE(has_libc);
    plim_symbols_destroy(symbols);
}

static void nobody_lives_at_wild_addresses(void)
{
    plim_symbols *const symbols = fresh_symbols(NULL);
    const uint64_t wild[] = { 0, 1, 4096, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63 };
    for (size_t i = 0; i < T_COUNT(wild); i++) {
        const plim_symbol symbol = find(symbols, wild[i]);
        T_EQ_STR(symbol.name, "");
        T_EQ_STR(symbol.filename, "");
        T_EQ_U64(symbol.line, 0);
    }
    plim_symbols_destroy(symbols);
    plim_symbols_destroy(NULL);
}

/* A function as a C++ compiler would name it. */
void demo_place(trace *t) __asm__("_ZN4demo5placeEl");

__attribute__((noinline)) void demo_place(trace *t)
{
    t->count = plim_unwind(t->addresses, CAPACITY, 0);
    after_call++;
}

static void names_of_cxx_are_made_readable(void)
{
    void *const cxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (cxx == NULL) {
        T_SKIP("there is no C++ library");
    }
    plim_symbols *const symbols = fresh_symbols(NULL);
    trace t;
    demo_place(&t);
    T_EQ_STR(find(symbols, t.addresses[0]).name, "demo::place(long)");
    plim_symbols_destroy(symbols);
    T_EQ_I64(dlclose(cxx), 0);
}

static bool name_all(const plim_mem *mem, void *ctx)
{
    const trace *const t = ctx;
    plim_symbols *symbols = NULL;
    plim_error err = { 0 };
    plim_status status = plim_symbols_create(mem, &symbols, &err);
    for (size_t i = 0; i < t->count && status == PLIM_OK; i++) {
        plim_symbol symbol;
        status = plim_symbols_look_up(symbols, t->addresses[i], &symbol, &err);
    }
    if (status == PLIM_OK) {
        T_EQ_STR(find(symbols, t->addresses[0]).name, "inner_place");
        plim_symbols_destroy(symbols);
        return true;
    }
    T_EQ_I64(status, PLIM_OUT_OF_HOST_MEMORY);
    T_EQ_I64(err.status, PLIM_OUT_OF_HOST_MEMORY);
    if (symbols != NULL) { /* the same goes well as soon as there is memory */
        T_EQ_STR(find(symbols, t->addresses[0]).name, "inner_place");
    }
    plim_symbols_destroy(symbols);
    return false;
}

static void a_lack_of_memory_is_told(void)
{
    trace t;
    outer_place(&t);
    t_fail_each_allocation(name_all, &t);
}

/* --- whose a function is --- */

static void functions_of_the_library_are_known_by_file_and_by_name(void)
{
    static const char here[] = "tests/unwind/test_symbols.c";
    char inside[4096];
    (void)snprintf(inside, sizeof inside, "%.*ssrc/base/any.c",
                   (int)(sizeof __FILE__ - sizeof here), __FILE__);
    const struct {
        plim_symbol symbol;
        bool is_ours;
    } cases[] = {
        { { .name = "step", .filename = inside, .line = 3 }, true },
        { { .name = "plim_malloc", .filename = "", .line = 0 }, true },
        { { .name = "plim_malloc", .filename = "/home/u/bin/train", .line = 0 }, true },
        { { .name = "step", .filename = __FILE__, .line = 3 }, false },
        { { .name = "step", .filename = "/home/u/bin/train", .line = 0 }, false },
        { { .name = "step_plim_", .filename = "/src/base/any.c", .line = 0 }, false },
        { { .name = "", .filename = "", .line = 0 }, false },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s in %s", cases[i].symbol.name, cases[i].symbol.filename);
        T_EQ_I64(plim_symbol_is_ours(&cases[i].symbol), cases[i].is_ours);
    }
}

/* Memory, and where the library requested it. */
static void *take_and_give(void *ctx, void *old, size_t old_bytes, size_t bytes)
{
    if (bytes > 0) {
        (void)take(ctx);
    }
    return plim_mem_heap.resize(plim_mem_heap.ctx, old, old_bytes, bytes);
}

/* The program called the library, which called the program. */
static void frames_of_the_library_lie_between_the_programs(void)
{
    trace t;
    const plim_mem mem = { .ctx = &t, .resize = take_and_give };
    plim_symbols_destroy(fresh_symbols(&mem));
    plim_symbols *const symbols = fresh_symbols(NULL);
    size_t changes = 0;
    bool is_ours = false;
    for (size_t i = 0; i < t.count; i++) {
        const plim_symbol symbol = find(symbols, t.addresses[i]);
        changes += plim_symbol_is_ours(&symbol) != is_ours;
        is_ours = plim_symbol_is_ours(&symbol);
    }
    T_EQ_U64(changes, 2);
    T_FALSE(is_ours);
    plim_symbols_destroy(symbols);
}

T_MAIN(T_TEST(callers_have_names_files_and_lines), T_TEST(what_was_found_is_remembered),
       T_TEST(modules_that_are_loaded_later_are_known),
       T_TEST(modules_come_and_go_while_stacks_are_taken),
       T_TEST(without_a_source_the_library_is_named), T_TEST(nobody_lives_at_wild_addresses),
       T_TEST(names_of_cxx_are_made_readable), T_TEST(a_lack_of_memory_is_told),
       T_TEST(functions_of_the_library_are_known_by_file_and_by_name),
       T_TEST(frames_of_the_library_lie_between_the_programs))
