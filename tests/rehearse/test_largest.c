/*
 * test_largest.c - the search for the largest number that fits, one and two at a time, on memory
 * that grows in steps over a part that does not.
 */
#include "harness.h"

#include "base/units.h"
#include "rehearse/largest.h"

#define ROUNDS_MAX 60

typedef struct growth {
    uint64_t floor_bytes; /* another phase's peak, whatever the number */
    uint64_t fixed_bytes;
    uint64_t bytes_per_value;
    uint64_t step_bytes; /* of segments */
    uint64_t capacity_bytes;
} growth;

static uint64_t need(const growth *self, uint64_t value)
{
    const uint64_t bytes = self->fixed_bytes + value * self->bytes_per_value;
    const uint64_t rounded = (bytes + self->step_bytes - 1) / self->step_bytes * self->step_bytes;
    return rounded > self->floor_bytes ? rounded : self->floor_bytes;
}

static growth random_growth(void)
{
    growth self = { .capacity_bytes = 4 * GIB + t_random() % (76 * GIB) };
    self.floor_bytes = t_random() % self.capacity_bytes;
    self.fixed_bytes = t_random() % (self.capacity_bytes / 2);
    self.bytes_per_value = 64 * KIB + t_random() % (t_random() % 2 == 0 ? GIB : 4 * MIB);
    self.step_bytes = t_random() % 2 == 0 ? 2 * MIB : 20 * MIB;
    return self;
}

/* Returns the rounds that it took. */
static size_t search(const growth *self, plim_largest *known, bool in_pairs)
{
    size_t rounds = 0;
    while (!plim_largest_is_found(known) && !plim_largest_is_unbounded(known)) {
        uint64_t values[2] = { 0 };
        size_t count = 1;
        if (in_pairs) {
            count = plim_largest_next_pair(known, values);
        } else {
            values[0] = plim_largest_next(known);
        }
        for (size_t i = 0; i < count; i++) {
            T_TRUE(values[i] > known->low &&
                   (known->high == 0 || i > 0 || values[i] < known->high));
            const uint64_t bytes = need(self, values[i]);
            plim_largest_learn(known, values[i], bytes, bytes <= self->capacity_bytes);
        }
        if (++rounds == ROUNDS_MAX) {
            break;
        }
    }
    return rounds;
}

static void check_answer(const growth *self, const plim_largest *known)
{
    T_TRUE(plim_largest_is_found(known));
    T_TRUE(known->low == 0 || need(self, known->low) <= self->capacity_bytes);
    T_TRUE(need(self, known->low + 1) > self->capacity_bytes);
}

static void the_largest_is_found(void)
{
    size_t alone = 0;
    size_t in_pairs = 0;
    for (int i = 0; i < 2000; i++) {
        const growth self = random_growth();
        plim_largest known = { .capacity_bytes = self.capacity_bytes };
        alone += search(&self, &known, false);
        check_answer(&self, &known);
        known = (plim_largest){ .capacity_bytes = self.capacity_bytes,
                                .first = t_random() % 3 == 0 ? 0 : 1 + t_random() % 512 };
        in_pairs += search(&self, &known, true);
        check_answer(&self, &known);
    }
    print_message("rounds: %zu alone, %zu in pairs\n", alone, in_pairs);
    T_TRUE(in_pairs < alone);
    T_TRUE(in_pairs <= 9 * 2000);
}

static void a_larger_one_that_fits_outdoes_a_smaller_that_did_not(void)
{
    plim_largest known = { .capacity_bytes = GIB };
    plim_largest_learn(&known, 8, 0, false);
    plim_largest_learn(&known, 9, GIB, true);
    T_EQ_U64(known.low, 9);
    T_FALSE(plim_largest_is_found(&known));
}

/* The end of a dataset, learned on the way, is tried at once: all of it may fit. */
static void a_first_number_goes_before_what_lies_between(void)
{
    plim_largest known = { .capacity_bytes = 80 * GIB };
    plim_largest_learn(&known, 64, GIB, true);
    plim_largest_learn(&known, 36880, 2 * GIB, true);
    plim_largest_learn(&known, 200001, 0, false);
    known.first = 200000;
    for (known.turn = 0; known.turn < 4; known.turn++) {
        plim_largest trying = known;
        uint64_t values[2] = { 0 };
        T_EQ_U64(plim_largest_next_pair(&trying, values), 1);
        T_EQ_U64(values[0], 200000);
    }
}

static void numbers_are_filled_in(void)
{
    static const char *const argv[] = { "python", "{}/a{}.py", "--batch={}", "{", NULL };
    plim_arena arena;
    plim_arena_init(&arena, plim_mem_or_heap(NULL));
    const char **const filled = plim_command_with(&arena, argv, 37);
    T_EQ_STR(filled[0], "python");
    T_EQ_STR(filled[1], "37/a37.py");
    T_EQ_STR(filled[2], "--batch=37");
    T_EQ_STR(filled[3], "{");
    T_NULL(filled[4]);
    plim_arena_deinit(&arena);
}

T_MAIN(T_TEST(the_largest_is_found), T_TEST(a_larger_one_that_fits_outdoes_a_smaller_that_did_not),
       T_TEST(a_first_number_goes_before_what_lies_between), T_TEST(numbers_are_filled_in))
