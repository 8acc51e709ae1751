/*
 * test_map.c - the map against a naive one: an array of pairs, searched from its start.
 */
#include "harness.h"

#include "base/map.h"

#define MODEL_MAX 600

typedef struct model {
    uint64_t keys[MODEL_MAX];
    uint64_t values[MODEL_MAX];
    size_t count;
} model;

static size_t model_find(const model *m, uint64_t key)
{
    size_t i = 0;
    while (i < m->count && m->keys[i] != key) {
        i++;
    }
    return i;
}

static uint64_t model_get(const model *m, uint64_t key)
{
    const size_t i = model_find(m, key);
    return i < m->count ? m->values[i] : PLIM_MAP_ABSENT;
}

static void model_put(model *m, uint64_t key, uint64_t value)
{
    const size_t i = model_find(m, key);
    m->keys[i] = key;
    m->values[i] = value;
    m->count += i == m->count;
}

static uint64_t model_take(model *m, uint64_t key)
{
    const size_t i = model_find(m, key);
    if (i == m->count) {
        return PLIM_MAP_ABSENT;
    }
    const uint64_t value = m->values[i];
    m->count--;
    m->keys[i] = m->keys[m->count];
    m->values[i] = m->values[m->count];
    return value;
}

static void check_equal(const plim_map *map, const model *m)
{
    T_EQ_U64(map->count, m->count);
    size_t used = 0;
    for (size_t i = 0; map->slots != NULL && i <= map->mask; i++) {
        used += map->slots[i].value != PLIM_MAP_ABSENT;
    }
    T_EQ_U64(used, m->count);
    T_TRUE(map->count == 0 || map->count * 8 <= (map->mask + 1) * 5);
    for (size_t i = 0; i < m->count; i++) {
        T_EQ_U64(plim_map_get(map, m->keys[i]), m->values[i]);
    }
}

/* Few keys make many removals hit; multiples of 512 are what addresses look like. */
static void behaves_like_the_naive_map(void)
{
    static const struct {
        const char *name;
        uint64_t keys;
        uint64_t step;
    } cases[] = {
        { "few keys", 8, 1 },
        { "about a first table of keys", 60, 512 },
        { "several growths", MODEL_MAX, 2 << 20 },
    };
    for (size_t c = 0; c < T_COUNT(cases); c++) {
        T_CASE("%s", cases[c].name);
        t_mem heap;
        t_mem_init(&heap);
        plim_map map;
        plim_map_init(&map, &heap.mem);
        model naive = { 0 };
        for (int i = 0; i < 20000; i++) {
            const uint64_t key = t_random_between(0, cases[c].keys - 1) * cases[c].step;
            switch (t_random_between(0, 2)) {
            case 0: {
                const uint64_t value = t_random_between(0, PLIM_MAP_ABSENT - 1);
                T_TRUE(plim_map_put(&map, key, value));
                model_put(&naive, key, value);
                break;
            }
            case 1:
                T_EQ_U64(plim_map_take(&map, key), model_take(&naive, key));
                break;
            default:
                T_EQ_U64(plim_map_get(&map, key), model_get(&naive, key));
                break;
            }
            if (i % 64 == 0) {
                check_equal(&map, &naive);
            }
        }
        check_equal(&map, &naive);
        plim_map_deinit(&map);
        T_EQ_U64(heap.live_bytes, 0);
    }
}

static void an_empty_map_has_nothing_and_takes_nothing(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_map map;
    plim_map_init(&map, &heap.mem);
    T_EQ_U64(plim_map_get(&map, 0), PLIM_MAP_ABSENT);
    T_EQ_U64(plim_map_take(&map, 0), PLIM_MAP_ABSENT);
    plim_map_deinit(&map);
    T_EQ_U64(heap.call_count, 0);
}

static void extreme_keys_and_values_are_ordinary(void)
{
    plim_map map;
    plim_map_init(&map, NULL);
    T_TRUE(plim_map_put(&map, 0, PLIM_MAP_ABSENT - 1));
    T_TRUE(plim_map_put(&map, UINT64_MAX, 0));
    T_EQ_U64(plim_map_get(&map, 0), PLIM_MAP_ABSENT - 1);
    T_EQ_U64(plim_map_get(&map, UINT64_MAX), 0);
    T_EQ_U64(plim_map_take(&map, UINT64_MAX), 0);
    T_EQ_U64(plim_map_get(&map, UINT64_MAX), PLIM_MAP_ABSENT);
    plim_map_deinit(&map);
    plim_map_deinit(&map); /* empty again, and usable */
    T_TRUE(plim_map_put(&map, 1, 2));
    T_EQ_U64(plim_map_get(&map, 1), 2);
    plim_map_deinit(&map);
}

/* A long life at one size: removals leave nothing that would make it grow. */
static void coming_and_going_does_not_make_it_grow(void)
{
    t_mem heap;
    t_mem_init(&heap);
    plim_map map;
    plim_map_init(&map, &heap.mem);
    for (uint64_t i = 0; i < 200000; i++) {
        T_TRUE(plim_map_put(&map, i, i));
        if (i >= 30) {
            T_EQ_U64(plim_map_take(&map, i - 30), i - 30);
        }
    }
    T_EQ_U64(heap.call_count, 1);
    plim_map_deinit(&map);
}

static bool put_some(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_map map;
    plim_map_init(&map, mem);
    uint64_t count = 0;
    while (count < 1000 && plim_map_put(&map, count * 512, count)) {
        count++;
    }
    T_EQ_U64(map.count, count);
    for (uint64_t i = 0; i < 1000; i++) {
        T_EQ_U64(plim_map_get(&map, i * 512), i < count ? i : PLIM_MAP_ABSENT);
    }
    plim_map_deinit(&map);
    return count == 1000;
}

static void without_memory_nothing_changes(void)
{
    t_fail_each_allocation(put_some, NULL);
}

T_MAIN(T_TEST(behaves_like_the_naive_map), T_TEST(an_empty_map_has_nothing_and_takes_nothing),
       T_TEST(extreme_keys_and_values_are_ordinary), T_TEST(coming_and_going_does_not_make_it_grow),
       T_TEST(without_memory_nothing_changes))
