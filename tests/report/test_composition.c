/*
 * test_composition.c - parts add up to the whole, and failures are judged by their sums.
 */
#include "harness.h"

#include "report/model/composition.h"
#include "sample.h"

static uint64_t sum_of(const plim_composition *whole)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < whole->part_count; i++) {
        sum += whole->parts[i].bytes;
    }
    return sum;
}

static void parts_add_up_whatever_is_shown(void)
{
    plim_history *history = sample_history(1);
    const plim_moment *peak = &sample_devices[0].peak;
    for (size_t top = 0; top < 10; top++) {
        for (int merged = 0; merged < 2; merged++) {
            plim_composition whole;
            T_CASE("top %zu%s", top, merged != 0 ? ", merged" : "");
            T_TRUE(plim_composition_init(NULL, history, peak, top, merged != 0, &whole));
            T_EQ_U64(whole.total_bytes, peak->reserved_bytes);
            T_EQ_U64(sum_of(&whole), whole.total_bytes);
            for (size_t i = 0; i + 1 < whole.part_count; i++) {
                T_TRUE(whole.parts[i].kind <= whole.parts[i + 1].kind);
                T_TRUE(whole.parts[i + 1].kind != PLIM_PART_STACKS ||
                       whole.parts[i].bytes >= whole.parts[i + 1].bytes);
            }
            plim_composition_deinit(&whole);
        }
    }
    plim_history_destroy(history);
}

static void stacks_that_share_a_line_are_merged(void)
{
    plim_history *history = sample_history(1);
    plim_composition whole;
    T_TRUE(plim_composition_init(NULL, history, &sample_devices[0].peak, 2, true, &whole));
    T_EQ_U64(whole.part_count, 6);
    T_EQ_U64(whole.parts[0].bytes, 600 * MIB);
    T_EQ_U64(whole.parts[0].count, 48);
    T_EQ_U64(whole.parts[0].group_count, 2);
    T_EQ_U64(whole.parts[2].kind, PLIM_PART_OTHERS);
    T_EQ_U64(whole.parts[2].bytes, 66 * MIB);
    T_EQ_U64(whole.parts[2].group_count, 4);
    T_EQ_U64(whole.parts[3].kind, PLIM_PART_ROUNDING);
    T_EQ_U64(whole.parts[4].kind, PLIM_PART_PENDING);
    T_EQ_U64(whole.parts[5].kind, PLIM_PART_FREE);
    plim_composition_deinit(&whole);
    plim_history_destroy(history);
}

static void a_rest_of_one_is_shown_as_itself(void)
{
    plim_history *history = sample_history(1);
    plim_composition whole;
    T_TRUE(plim_composition_init(NULL, history, &sample_devices[0].peak, 6, false, &whole));
    T_EQ_U64(whole.parts[6].kind, PLIM_PART_STACKS);
    plim_composition_deinit(&whole);
    plim_history_destroy(history);
}

static void contradictions_do_not_wrap(void)
{
    plim_history *history = sample_history(1);
    plim_moment odd = sample_devices[0].peak;
    odd.allocated_bytes = 1;
    odd.active_bytes = 0;
    odd.reserved_bytes = 10;
    plim_composition whole;
    T_TRUE(plim_composition_init(NULL, history, &odd, 8, true, &whole));
    T_EQ_U64(whole.total_bytes, 816 * MIB + 10); /* though less was reserved */
    T_EQ_U64(sum_of(&whole), whole.total_bytes);
    T_EQ_U64(whole.parts[whole.part_count - 1].bytes, 10);
    plim_composition_deinit(&whole);
    plim_history_destroy(history);
}

static bool compose(const plim_mem *mem, void *ctx)
{
    plim_composition whole = { 0 };
    const bool ok = plim_composition_init(mem, ctx, &sample_devices[0].peak, 3, true, &whole);
    plim_composition_deinit(&whole);
    return ok;
}

static void survives_lack_of_memory(void)
{
    plim_history *history = sample_history(1);
    t_fail_each_allocation(compose, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(parts_add_up_whatever_is_shown), T_TEST(stacks_that_share_a_line_are_merged),
       T_TEST(a_rest_of_one_is_shown_as_itself), T_TEST(contradictions_do_not_wrap),
       T_TEST(survives_lack_of_memory))
