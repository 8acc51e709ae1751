/*
 * test_build.c - making values: what is shared with a sink, what is not without, what it costs.
 */
#include "harness.h"

#include "pickle/build.h"

static plim_status no_rows(void *ctx, uint32_t shape, const plim_value *pairs, size_t pair_count,
                           plim_pickle_row_class *ret_class, plim_error *err)
{
    (void)ctx;
    (void)shape;
    (void)pairs;
    (void)pair_count;
    (void)err;
    *ret_class = (plim_pickle_row_class){ 0 };
    return PLIM_OK;
}

static const plim_row_sink sink = { .on_shape = no_rows };

static plim_value make_string(plim_builder *builder, const char *text)
{
    plim_value value = PLIM_VALUE_ABSENT;
    T_TRUE(plim_make_string(builder, text, strlen(text), &value));
    return value;
}

static plim_value make_list(plim_builder *builder, const plim_value *items, size_t count)
{
    plim_value value = PLIM_VALUE_ABSENT;
    T_TRUE(plim_make_container(builder, PLIM_KIND_LIST, &value));
    T_EQ_U64(plim_container_extend(builder, value, items, count, NULL), PLIM_OK);
    return value;
}

static void strings_are_kept_once_with_a_sink(void)
{
    for (int has_sink = 0; has_sink < 2; has_sink++) {
        plim_builder builder;
        plim_builder_init(&builder, NULL, has_sink ? &sink : NULL);
        T_EQ_I64(make_string(&builder, "a").bits == make_string(&builder, "a").bits, has_sink);
        T_TRUE(make_string(&builder, "a").bits != make_string(&builder, "b").bits);
        T_EQ_I64(make_string(&builder, "").bits == make_string(&builder, "").bits, has_sink);
        plim_builder_deinit(&builder);
    }
}

static void long_strings_are_not_looked_for(void)
{
    char text[5001];
    plim_builder builder;
    memset(text, 'x', sizeof text);
    text[5000] = '\0';
    plim_builder_init(&builder, NULL, &sink);
    T_TRUE(make_string(&builder, text).bits != make_string(&builder, text).bits);
    plim_builder_deinit(&builder);
}

static void items_of_equal_lists_are_kept_once_with_a_sink(void)
{
    for (int has_sink = 0; has_sink < 2; has_sink++) {
        plim_builder builder;
        plim_builder_init(&builder, NULL, has_sink ? &sink : NULL);
        const plim_value items[] = { PLIM_VALUE_TRUE, PLIM_VALUE_NONE };
        const plim_value first = make_list(&builder, items, 2);
        const plim_value second = make_list(&builder, items, 2);
        T_TRUE(first.bits != second.bits); /* lists are things of their own all the same */
        T_EQ_I64(plim_value_slot(first) == plim_value_slot(second), has_sink);
        T_TRUE(plim_value_slot(first) != plim_value_slot(make_list(&builder, items, 1)));
        plim_builder_deinit(&builder);
    }
}

/* Lists grow item by item, batch by batch, with a sink and without, and keep what they have. */
static void containers_grow_to_any_length(void)
{
    for (int i = 0; i < 40; i++) {
        plim_builder builder;
        plim_builder_init(&builder, NULL, i % 2 == 0 ? &sink : NULL);
        plim_value list = make_list(&builder, NULL, 0);
        int64_t total = 0;
        while (total < 3000) {
            plim_value batch[1100];
            const size_t count = (size_t)t_random_bytes(0, T_COUNT(batch));
            for (size_t k = 0; k < count; k++) {
                T_TRUE(plim_make_int(&builder, total + (int64_t)k, &batch[k]));
            }
            T_EQ_U64(plim_container_extend(&builder, list, batch, count, NULL), PLIM_OK);
            total += (int64_t)count;
        }
        T_EQ_U64(plim_value_count(list), total);
        for (int64_t k = 0; k < total; k++) {
            int64_t integer = -1;
            T_TRUE(plim_value_i64(plim_value_item(list, (uint64_t)k), &integer));
            T_EQ_I64(integer, k);
        }
        plim_builder_deinit(&builder);
    }
}

static void what_is_taken_is_what_is_told(void)
{
    t_mem heap;
    plim_builder builder;
    t_mem_init(&heap);
    plim_builder_init(&builder, &heap.mem, &sink);
    T_EQ_U64(plim_builder_bytes(&builder), 0);
    for (int i = 0; i < 20000; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "string %d", i);
        const plim_value item = make_string(&builder, text);
        (void)make_list(&builder, &item, 1);
    }
    /* Vectors grow by half: what is told is within that of what is held. */
    T_TRUE(plim_builder_bytes(&builder) >= heap.live_bytes / 2);
    T_TRUE(plim_builder_bytes(&builder) <= heap.live_bytes * 2);
    plim_builder_deinit(&builder);
    T_EQ_U64(heap.live_bytes, 0);
}

static bool build_or_fail(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_builder builder;
    plim_builder_init(&builder, mem, &sink);
    bool made = true;
    for (int i = 0; i < 300 && made; i++) {
        char text[200];
        plim_value items[3];
        plim_value list = PLIM_VALUE_ABSENT;
        memset(text, 'a' + i % 26, sizeof text);
        made = plim_make_string(&builder, text, (size_t)i % sizeof text, &items[0]) &&
               plim_make_real(&builder, i, &items[1]) &&
               plim_make_int(&builder, INT64_MAX - i, &items[2]) &&
               plim_make_container(&builder, i % 2 == 0 ? PLIM_KIND_LIST : PLIM_KIND_SET, &list) &&
               plim_container_extend(&builder, list, items, 3, NULL) == PLIM_OK;
    }
    plim_builder_deinit(&builder);
    return made;
}

static void running_out_of_memory_anywhere_leaks_nothing(void)
{
    t_fail_each_allocation(build_or_fail, NULL);
}

static void sizes_beyond_memory_are_no_memory(void)
{
    plim_builder builder;
    plim_value value = PLIM_VALUE_NONE;
    plim_builder_init(&builder, NULL, NULL);
    T_FALSE(plim_make_bytes(&builder, PLIM_KIND_BYTES, "", SIZE_MAX, &value));
    T_FALSE(plim_make_bytes(&builder, PLIM_KIND_BYTES, "", SIZE_MAX - 16, &value));
    T_EQ_U64(value.bits, PLIM_VALUE_NONE.bits);
    plim_builder_deinit(&builder);
}

T_MAIN(T_TEST(strings_are_kept_once_with_a_sink), T_TEST(long_strings_are_not_looked_for),
       T_TEST(items_of_equal_lists_are_kept_once_with_a_sink),
       T_TEST(containers_grow_to_any_length), T_TEST(what_is_taken_is_what_is_told),
       T_TEST(running_out_of_memory_anywhere_leaks_nothing),
       T_TEST(sizes_beyond_memory_are_no_memory))
