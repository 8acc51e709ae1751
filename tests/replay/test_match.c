/*
 * test_match.c - the calls two lists have in common, against a plain recursion.
 */
#include "replay/run/match.h"

#include "harness.h"

/* Letters stand for calls: 'a' a segment_alloc of 1 MiB, 'b' of 2; 'A' a segment_free of 1. */
static plim_driver_calls calls_of(const char *text)
{
    plim_driver_calls calls = { 0 };
    for (; *text != '\0'; text++) {
        const bool is_free = *text >= 'A' && *text <= 'Z';
        const plim_driver_call call = {
            .bytes = (uint64_t)(*text - (is_free ? 'A' : 'a') + 1) << 20,
            .action = is_free ? PLIM_SEGMENT_FREE : PLIM_SEGMENT_ALLOC,
        };
        T_TRUE(PLIM_VEC_PUSH(&plim_mem_heap, &calls, call));
    }
    return calls;
}

static size_t matched(const plim_driver_calls *a, const plim_driver_calls *b)
{
    plim_match_lengths lengths = { 0 };
    size_t count = 0;
    T_TRUE(plim_calls_match(a, b, &plim_mem_heap, &lengths, &count) == PLIM_OK);
    PLIM_VEC_FREE(&plim_mem_heap, &lengths);
    return count;
}

static const struct {
    const char *a;
    const char *b;
    size_t prefix;
    size_t matched;
} cases[] = {
    { "", "", 0, 0 },
    { "a", "", 0, 0 },
    { "a", "a", 1, 1 },
    { "a", "b", 0, 0 },
    { "a", "A", 0, 0 },
    { "abc", "abc", 3, 3 },
    { "abc", "xabc", 0, 3 },
    { "abc", "abxc", 2, 3 },
    { "ab", "ba", 0, 1 },
    { "abcdef", "abXYdef", 2, 5 },
    { "AAAbAA", "AAbAAA", 2, 5 },
    { "xaxbxc", "aybycy", 0, 3 },
};

static void the_longest_common_part_counts(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("'%s' and '%s'", cases[i].a, cases[i].b);
        plim_driver_calls a = calls_of(cases[i].a);
        plim_driver_calls b = calls_of(cases[i].b);
        T_EQ_U64(plim_calls_prefix(&a, &b), cases[i].prefix);
        T_EQ_U64(matched(&a, &b), cases[i].matched);
        T_EQ_U64(matched(&b, &a), cases[i].matched);
        PLIM_VEC_FREE(&plim_mem_heap, &a);
        PLIM_VEC_FREE(&plim_mem_heap, &b);
    }
}

/* What the longest common subsequence is, to be read. */
static size_t naive(const char *a, const char *b)
{
    if (*a == '\0' || *b == '\0') {
        return 0;
    }
    if (*a == *b) {
        return 1 + naive(a + 1, b + 1);
    }
    const size_t without_a = naive(a + 1, b);
    const size_t without_b = naive(a, b + 1);
    return without_a > without_b ? without_a : without_b;
}

static void short_lists_are_matched_exactly(void)
{
    for (int i = 0; i < 2000; i++) {
        char texts[2][10] = { "", "" };
        for (size_t j = 0; j < 2; j++) {
            const uint64_t length = t_random_between(0, 9);
            for (uint64_t k = 0; k < length; k++) {
                texts[j][k] = "abA"[t_random_between(0, 2)];
            }
        }
        T_CASE("'%s' and '%s'", texts[0], texts[1]);
        plim_driver_calls a = calls_of(texts[0]);
        plim_driver_calls b = calls_of(texts[1]);
        T_EQ_U64(matched(&a, &b), naive(texts[0], texts[1]));
        PLIM_VEC_FREE(&plim_mem_heap, &a);
        PLIM_VEC_FREE(&plim_mem_heap, &b);
    }
}

/* Long lists cost no table: a call that one side lacks, here and there, is found all the same. */
static void long_lists_agree_again_after_a_difference(void)
{
    enum { COUNT = 200000, EVERY = 1000 };
    plim_driver_calls a = { 0 };
    plim_driver_calls b = { 0 };
    for (uint64_t i = 0; i < COUNT; i++) {
        const plim_driver_call call = { .bytes = t_random_between(1, 1000),
                                        .action = PLIM_SEGMENT_FREE };
        T_TRUE(PLIM_VEC_PUSH(&plim_mem_heap, &a, call));
        if (i % EVERY != EVERY / 2) {
            T_TRUE(PLIM_VEC_PUSH(&plim_mem_heap, &b, call));
        }
    }
    const size_t count = matched(&a, &b);
    T_TRUE(count <= b.count);
    T_TRUE(count > b.count - b.count / 100);
    T_EQ_U64(matched(&a, &a), COUNT);
    PLIM_VEC_FREE(&plim_mem_heap, &a);
    PLIM_VEC_FREE(&plim_mem_heap, &b);
}

static bool match_somehow(const plim_mem *mem, void *ctx)
{
    const plim_driver_calls *calls = ctx;
    plim_match_lengths lengths = { 0 };
    size_t count = 0;
    const plim_status status = plim_calls_match(&calls[0], &calls[1], mem, &lengths, &count);
    T_TRUE(status == PLIM_OK ? count == 1 : status == PLIM_OUT_OF_HOST_MEMORY);
    PLIM_VEC_FREE(mem, &lengths);
    return status == PLIM_OK;
}

static void no_memory_is_said(void)
{
    plim_driver_calls calls[2] = { calls_of("ab"), calls_of("ba") };
    t_fail_each_allocation(match_somehow, calls);
    PLIM_VEC_FREE(&plim_mem_heap, &calls[0]);
    PLIM_VEC_FREE(&plim_mem_heap, &calls[1]);
}

T_MAIN(T_TEST(the_longest_common_part_counts), T_TEST(short_lists_are_matched_exactly),
       T_TEST(long_lists_agree_again_after_a_difference), T_TEST(no_memory_is_said))
