/*
 * test_value.c - what values say of themselves, whatever they are.
 */
#include "harness.h"

#include "pickle/build.h"

static plim_builder builder;

static plim_value make_int(int64_t integer)
{
    plim_value value = PLIM_VALUE_ABSENT;
    T_TRUE(plim_make_int(&builder, integer, &value));
    return value;
}

static plim_value make_long(const void *bytes, size_t count)
{
    plim_value value = PLIM_VALUE_ABSENT;
    T_TRUE(plim_make_long(&builder, bytes, count, &value));
    return value;
}

static plim_value make_real(double real)
{
    plim_value value = PLIM_VALUE_ABSENT;
    T_TRUE(plim_make_real(&builder, real, &value));
    return value;
}

static plim_value make_string(const char *text)
{
    plim_value value = PLIM_VALUE_ABSENT;
    T_TRUE(plim_make_string(&builder, text, strlen(text), &value));
    return value;
}

static plim_value make_container(plim_kind kind, const plim_value *items, size_t count)
{
    plim_value value = PLIM_VALUE_ABSENT;
    T_TRUE(plim_make_container(&builder, kind, &value));
    T_EQ_U64(plim_container_extend(&builder, value, items, count, NULL), PLIM_OK);
    return value;
}

static void begin(void)
{
    plim_builder_init(&builder, NULL, NULL);
}

static void integers_of_every_size_come_back(void)
{
    begin();
    for (int bits = 0; bits < 64; bits++) {
        for (int delta = -2; delta <= 2; delta++) {
            const int64_t integer = (int64_t)((UINT64_C(1) << bits) + (uint64_t)(int64_t)delta);
            int64_t back = 0;
            uint64_t modulo = 0;
            const plim_value value = make_int(integer);
            T_EQ_I64(plim_value_kind(value), PLIM_KIND_INT);
            T_TRUE(plim_value_i64(value, &back));
            T_EQ_I64(back, integer);
            T_TRUE(plim_value_u64(value, &modulo));
            T_EQ_U64(modulo, (uint64_t)integer);
        }
    }
    plim_builder_deinit(&builder);
}

static const struct {
    const char *name;
    const char *bytes;
    size_t count;
    plim_kind kind;
    uint64_t u64; /* 0: does not fit */
} longs[] = {
    { "nothing is zero", "", 0, PLIM_KIND_INT, 0 },
    { "eight bytes fit", "\xff\xff\xff\xff\xff\xff\xff\x7f", 8, PLIM_KIND_INT, INT64_MAX },
    { "a ninth byte that repeats the sign", "\1\0\0\0\0\0\0\0\0", 9, PLIM_KIND_INT, 1 },
    { "the same below zero", "\xfe\xff\xff\xff\xff\xff\xff\xff\xff", 9, PLIM_KIND_INT,
      UINT64_MAX - 1 },
    { "2^63", "\0\0\0\0\0\0\0\x80\0", 9, PLIM_KIND_BIGINT, UINT64_C(1) << 63 },
    { "2^64 - 1", "\xff\xff\xff\xff\xff\xff\xff\xff\0", 9, PLIM_KIND_BIGINT, UINT64_MAX },
    { "2^64", "\0\0\0\0\0\0\0\0\1", 9, PLIM_KIND_BIGINT, 0 },
    { "-2^63 - 1", "\xff\xff\xff\xff\xff\xff\xff\x7f\xff", 9, PLIM_KIND_BIGINT, 0 },
};

static void long_integers_take_as_few_bytes_as_they_need(void)
{
    begin();
    for (size_t i = 0; i < T_COUNT(longs); i++) {
        T_CASE("%s", longs[i].name);
        uint64_t u64 = 0;
        int64_t i64 = 0;
        const plim_value value = make_long(longs[i].bytes, longs[i].count);
        T_EQ_I64(plim_value_kind(value), longs[i].kind);
        T_EQ_I64(plim_value_i64(value, &i64), longs[i].kind == PLIM_KIND_INT);
        T_EQ_I64(plim_value_u64(value, &u64), longs[i].kind == PLIM_KIND_INT || longs[i].u64 != 0);
        T_EQ_U64(u64, longs[i].u64);
    }
    plim_builder_deinit(&builder);
}

static void numbers_answer_as_one_would_expect(void)
{
    begin();
    int64_t integer = 7;
    double real = 7;
    bool boolean = false;
    T_TRUE(plim_value_i64(PLIM_VALUE_TRUE, &integer));
    T_EQ_I64(integer, 1);
    T_FALSE(plim_value_i64(make_real(1.5), &integer));
    T_FALSE(plim_value_i64(make_string("1"), &integer));
    T_FALSE(plim_value_i64(PLIM_VALUE_NONE, &integer));
    T_FALSE(plim_value_i64(PLIM_VALUE_ABSENT, &integer));
    T_EQ_I64(integer, 1); /* untouched */
    T_TRUE(plim_value_real(make_real(1.5), &real));
    T_TRUE(real == 1.5);
    T_TRUE(plim_value_real(make_int(-3), &real));
    T_TRUE(real == -3);
    T_FALSE(plim_value_real(make_string("1"), &real));
    T_FALSE(plim_value_bool(make_int(1), &boolean));
    T_FALSE(plim_value_bool(PLIM_VALUE_NONE, &boolean));
    T_TRUE(plim_value_bool(PLIM_VALUE_TRUE, &boolean));
    T_TRUE(boolean);
    plim_builder_deinit(&builder);
}

static void strings_hold_any_bytes_and_end_in_a_zero(void)
{
    begin();
    plim_value value = PLIM_VALUE_ABSENT;
    const char *text = NULL;
    size_t bytes = 0;
    T_TRUE(plim_make_string(&builder, "a\0b", 3, &value));
    T_TRUE(plim_value_string(value, &text, &bytes));
    T_EQ_U64(bytes, 3);
    T_EQ_MEM(text, "a\0b", 4);
    T_FALSE(plim_value_is_string(value, "a"));
    T_TRUE(plim_value_is_string(make_string(""), ""));
    T_FALSE(plim_value_is_string(make_string("ab"), "abc"));
    T_FALSE(plim_value_is_string(PLIM_VALUE_NONE, "None"));
    T_TRUE(plim_make_bytes(&builder, PLIM_KIND_BYTES, "ab", 2, &value));
    T_FALSE(plim_value_string(value, &text, &bytes));
    plim_builder_deinit(&builder);
}

static void containers_tell_their_items(void)
{
    begin();
    const plim_value items[] = { make_int(1), make_string("two"), PLIM_VALUE_NONE,
                                 PLIM_VALUE_TRUE };
    static const plim_kind kinds[] = { PLIM_KIND_LIST, PLIM_KIND_TUPLE, PLIM_KIND_SET,
                                       PLIM_KIND_FROZENSET };
    for (size_t i = 0; i < T_COUNT(kinds); i++) {
        const plim_value value = make_container(kinds[i], items, 4);
        T_EQ_I64(plim_value_kind(value), kinds[i]);
        T_EQ_U64(plim_value_count(value), 4);
        T_EQ_U64(plim_value_pairs(value), 0);
        T_EQ_U64(plim_value_item(value, 3).bits, PLIM_VALUE_TRUE.bits);
        T_EQ_U64(plim_value_count(make_container(kinds[i], items, 0)), 0);
    }
    T_EQ_U64(plim_value_count(make_string("two")), 0);
    T_EQ_U64(plim_value_count(make_int(3)), 0);
    T_EQ_U64(plim_value_count(PLIM_VALUE_ABSENT), 0);
    plim_builder_deinit(&builder);
}

static void dicts_give_the_last_value_of_a_key(void)
{
    begin();
    const plim_value pairs[] = { make_string("a"), make_int(1), make_int(5),      make_int(2),
                                 make_string("a"), make_int(3), make_string("b"), make_int(4) };
    const plim_value dict = make_container(PLIM_KIND_DICT, pairs, 8);
    T_EQ_U64(plim_value_pairs(dict), 4);
    T_EQ_U64(plim_value_count(dict), 0);
    T_EQ_U64(plim_value_get(dict, "a").bits, make_int(3).bits);
    T_EQ_U64(plim_value_get(dict, "b").bits, make_int(4).bits);
    T_EQ_U64(plim_value_get(dict, "c").bits, 0);
    T_EQ_U64(plim_value_get(make_string("a"), "a").bits, 0);
    T_EQ_U64(plim_value_get(PLIM_VALUE_ABSENT, "a").bits, 0);
    T_EQ_U64(plim_value_pair_key(dict, 1).bits, make_int(5).bits);
    T_EQ_U64(plim_value_pair_value(dict, 1).bits, make_int(2).bits);
    plim_builder_deinit(&builder);
}

static void rows_tell_class_and_id(void)
{
    uint8_t row_class = 0;
    uint64_t id = 0;
    const plim_value row = plim_value_row(255, PLIM_ROW_ID_MAX);
    T_EQ_I64(plim_value_kind(row), PLIM_KIND_ROW);
    T_TRUE(plim_value_row_of(row, &row_class, &id));
    T_EQ_U64(row_class, 255);
    T_EQ_U64(id, PLIM_ROW_ID_MAX);
    T_FALSE(plim_value_row_of(PLIM_VALUE_NONE, &row_class, &id));
}

static void slots_are_where_something_can_be_kept(void)
{
    begin();
    const plim_value item = make_int(1);
    const plim_value pair[] = { item, item };
    T_NOT_NULL(plim_value_slot(make_string("a")));
    T_NOT_NULL(plim_value_slot(make_container(PLIM_KIND_LIST, &item, 1)));
    T_NOT_NULL(plim_value_slot(make_container(PLIM_KIND_DICT, pair, 2)));
    T_NULL(plim_value_slot(make_container(PLIM_KIND_LIST, NULL, 0)));
    T_NULL(plim_value_slot(make_real(1)));
    T_NULL(plim_value_slot(item));
    T_NULL(plim_value_slot(PLIM_VALUE_ABSENT));
    T_NULL(plim_value_slot(plim_value_row(1, 1)));
    T_EQ_U64(*plim_value_slot(make_string("b")), 0);
    plim_builder_deinit(&builder);
}

static void every_kind_has_a_text(void)
{
    for (int kind = PLIM_KIND_ABSENT; kind <= PLIM_KIND_ROW; kind++) {
        T_TRUE(strlen(plim_kind_text((plim_kind)kind)) > 3);
    }
    T_EQ_STR(plim_kind_text((plim_kind)99), "something");
}

T_MAIN(T_TEST(integers_of_every_size_come_back),
       T_TEST(long_integers_take_as_few_bytes_as_they_need),
       T_TEST(numbers_answer_as_one_would_expect), T_TEST(strings_hold_any_bytes_and_end_in_a_zero),
       T_TEST(containers_tell_their_items), T_TEST(dicts_give_the_last_value_of_a_key),
       T_TEST(rows_tell_class_and_id), T_TEST(slots_are_where_something_can_be_kept),
       T_TEST(every_kind_has_a_text))
