/*
 * test_shared_table.c - what was added is found, and nothing else; while others read; without
 * memory.
 */
#include "base/shared_table.h"

#include "base/hash.h"
#include "harness.h"

#include <pthread.h>

#define THINGS 5000

typedef struct thing {
    uint64_t key;
    uint64_t hash;
} thing;

static uint64_t hash_of(const void *one)
{
    return ((const thing *)one)->hash;
}

static bool has_key(const void *one, const void *wanted)
{
    return ((const thing *)one)->key == ((const thing *)wanted)->key;
}

static thing *find(const plim_shared_table *table, const thing *wanted)
{
    return plim_shared_find(table, wanted->hash, has_key, wanted);
}

/* Few hashes for many keys where `bits` are few: they share slots. */
static void make(thing *things, size_t count, unsigned bits)
{
    for (size_t i = 0; i < count; i++) {
        things[i] = (thing){ .key = i, .hash = plim_hash_u64(i, 1) & (((uint64_t)1 << bits) - 1) };
    }
}

static void what_was_added_is_found_and_nothing_else(void)
{
    static thing things[THINGS];
    t_mem heap;
    t_mem_init(&heap);
    for (unsigned bits = 0; bits <= 60; bits += 10) {
        plim_shared_table table = { .slots = NULL };
        const size_t count = bits == 0 ? 200 : THINGS;
        make(things, count, bits);
        T_NULL(find(&table, &things[0]));
        for (size_t i = 0; i < count; i++) {
            T_TRUE(plim_shared_add(&table, &heap.mem, hash_of, &things[i]));
            T_TRUE(find(&table, &things[i / 2]) == &things[i / 2]);
            T_TRUE(i + 1 == count || find(&table, &things[i + 1]) == NULL);
        }
        size_t at = 0;
        uint64_t keys = 0;
        size_t seen = 0;
        for (const thing *one; (one = plim_shared_next(&table, &at)) != NULL; seen++) {
            keys += one->key;
        }
        T_EQ_U64(seen, count);
        T_EQ_U64(keys, (uint64_t)count * (count - 1) / 2);
        T_TRUE(plim_shared_bytes(&table) >= count * 2 * sizeof(void *));
        plim_shared_deinit(&table, &heap.mem);
        T_NULL(find(&table, &things[0]));
    }
    T_EQ_U64(heap.live_bytes, 0);
}

/* --- readers beside the one who adds --- */

static struct {
    plim_shared_table table;
    thing things[THINGS];
    atomic_size_t added;
    atomic_bool has_fault;
} all;

static void *read_all(void *unused)
{
    for (size_t known = 0; known < THINGS;) {
        known = atomic_load(&all.added);
        for (size_t i = 0; i < known; i += 17) {
            if (find(&all.table, &all.things[i]) != &all.things[i]) {
                atomic_store(&all.has_fault, true);
            }
        }
    }
    return unused;
}

static void readers_find_what_was_added_before_they_looked(void)
{
    pthread_t readers[2];
    make(all.things, THINGS, 60);
    for (size_t i = 0; i < T_COUNT(readers); i++) {
        T_EQ_I64(pthread_create(&readers[i], NULL, read_all, NULL), 0);
    }
    for (size_t i = 0; i < THINGS; i++) {
        T_TRUE(plim_shared_add(&all.table, &plim_mem_heap, hash_of, &all.things[i]));
        atomic_store(&all.added, i + 1);
    }
    for (size_t i = 0; i < T_COUNT(readers); i++) {
        T_EQ_I64(pthread_join(readers[i], NULL), 0);
    }
    T_FALSE(atomic_load(&all.has_fault));
    plim_shared_deinit(&all.table, &plim_mem_heap);
}

/* --- without memory --- */

static bool add_some(const plim_mem *mem, void *ctx)
{
    thing *const things = ctx;
    plim_shared_table table = { .slots = NULL };
    size_t count = 0;
    while (count < 100 && plim_shared_add(&table, mem, hash_of, &things[count])) {
        count++;
    }
    for (size_t i = 0; i < 100; i++) {
        T_TRUE(find(&table, &things[i]) == (i < count ? &things[i] : NULL));
    }
    plim_shared_deinit(&table, mem);
    return count == 100;
}

static void without_memory_nothing_changes(void)
{
    static thing things[100];
    make(things, T_COUNT(things), 60);
    t_fail_each_allocation(add_some, things);
}

T_MAIN(T_TEST(what_was_added_is_found_and_nothing_else),
       T_TEST(readers_find_what_was_added_before_they_looked),
       T_TEST(without_memory_nothing_changes))
