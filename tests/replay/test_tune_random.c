/*
 * test_tune_random.c - searches of made-up programs, against trying every capacity of every row.
 */
#include "plimsoll/replay.h"

#include "story.h"
#include "tuning.h"

#define ROUNDS 4
#define EVENTS 160

/*
 * The least that any settings of the table cost, by the smallest capacity such that they survive
 * with it and all that is more, up to what the baseline needs. (What survives need not survive with
 * more: a cache that is given back early breaks up less. Such islands are found or not; this is
 * not to be missed.)
 */
static uint64_t cheapest_of_settings(const plim_replay *replay, const plim_tuning *tuning)
{
    const plim_tune_row *const baseline = &tuning->rows[tuning->baseline];
    const bool survives = tuning->rows[tuning->best].result.survives;
    uint64_t cheapest = UINT64_MAX;
    for (size_t i = 0; i < tuning->row_count; i++) {
        const plim_tune_row *const row = &tuning->rows[i];
        if (tuning_is_settings(tuning, i) && row->result.survives == survives) {
            const uint64_t bytes = tuning_smallest(replay, row, baseline->min_capacity_bytes);
            const uint64_t cost = bytes == UINT64_MAX ? bytes : tuning_cost(row, bytes);
            cheapest = cost < cheapest ? cost : cheapest;
        }
    }
    return cheapest;
}

static void check(const plim_history *history, uint64_t capacity_bytes)
{
    plim_replay *const replay = tuning_replay(history);
    plim_tune_options options = { .capacity_bytes = capacity_bytes, .threads = 1 };
    plim_tuning *const tuning = tuning_of(replay, &options);
    tuning_check(replay, tuning);

    /* Who wins is as good as the best there is, within what counts as a tie. */
    const plim_tune_row *const best = &tuning->rows[tuning->best];
    if (best->empty_cache == PLIM_EMPTY_NEVER) {
        const uint64_t cheapest = cheapest_of_settings(replay, tuning);
        T_TRUE(tuning_cost(best, best->min_capacity_bytes) <= cheapest + cheapest / 100 + 1);
    }
    static const uint32_t threads[] = { 2, 5 };
    for (size_t i = 0; i < T_COUNT(threads); i++) {
        options.threads = threads[i];
        plim_tuning *const again = tuning_of(replay, &options);
        tuning_expect_same(tuning, again);
        plim_tuning_destroy(again);
    }
    plim_tuning_destroy(tuning);
    plim_replay_destroy(replay);
}

static void nothing_better_is_overlooked(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        story s;
        story_begin(&s);
        story_tell_random(&s, EVENTS);
        plim_history *const history = story_end(&s);
        check(history, PLIM_UNLIMITED);
        plim_replay *const replay = tuning_replay(history);
        const uint64_t floor_bytes = plim_replay_device(replay, 0)->floor_bytes;
        plim_replay_destroy(replay);
        check(history, floor_bytes + floor_bytes / 8);
        check(history, floor_bytes + 5 * MIB / 2);
        check(history, floor_bytes - 1);
        plim_history_destroy(history);
    }
}

T_MAIN(T_TEST(nothing_better_is_overlooked))
