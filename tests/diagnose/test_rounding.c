/*
 * test_rounding.c - the rounding rule by its written examples and against its plain statement.
 */
#include "base/units.h"
#include "diagnose/rounding.h"
#include "history/script.h"

static plim_rounding with_divisions(uint64_t divisions)
{
    plim_rounding rounding = { .has_divisions = true };
    for (size_t i = 0; i < PLIM_ROUNDING_INTERVALS; i++) {
        rounding.divisions[i] = divisions;
    }
    return rounding;
}

static const struct {
    uint64_t divisions, bytes, rounded;
} cases[] = {
    { 0, 0, 512 },
    { 0, 1, 512 },
    { 0, 512, 512 },
    { 0, 513, 1024 },
    { 0, MIB + 1, MIB + 512 },
    { 0, UINT64_MAX, UINT64_MAX },
    { 0, UINT64_MAX - 511, UINT64_MAX - 511 },
    { 1, 5000, 5120 },
    { 4, 100, 512 },
    { 4, 1200, 1536 }, /* at most 512 * 4: the plain rule */
    { 4, 2049, 2560 },
    { 4, 3000, 3072 },
    { 4, 5000000, 5242880 },
    { 2, 1048577, 1572864 },
    { 2, MIB, MIB },
    { 3, 1537, 2048 }, /* cut down to 2 divisions */
    { 4, UINT64_MAX, UINT64_MAX },
    { UINT64_MAX, 5000, 5120 }, /* never more than 512 * divisions */
};

static void rounds_as_written_down(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%" PRIu64 " with %" PRIu64, cases[i].bytes, cases[i].divisions);
        const plim_rounding rounding =
            cases[i].divisions == 0 ? (plim_rounding){ 0 } : with_divisions(cases[i].divisions);
        T_EQ_U64(plim_round(&rounding, cases[i].bytes), cases[i].rounded);
    }
}

static void a_division_is_the_next_step_between_powers_of_two(void)
{
    for (uint64_t divisions = 2; divisions <= 32; divisions *= 2) {
        const plim_rounding rounding = with_divisions(divisions);
        for (uint64_t bytes = 512 * divisions + 1; bytes < 400000; bytes += 7) {
            uint64_t power = 512;
            while (power * 2 <= bytes) {
                power *= 2;
            }
            uint64_t step = power;
            while (step < bytes) {
                step += power / divisions;
            }
            T_EQ_U64(plim_round(&rounding, bytes), step);
        }
    }
}

static void each_interval_has_the_setting_of_its_key(void)
{
    plim_history *const history =
        script_history("divisions 1 2; divisions 256 4; divisions 32768 8; divisions 2 0");
    const plim_rounding rounding = plim_rounding_of(history);
    plim_history_destroy(history);
    T_TRUE(rounding.has_divisions);
    T_EQ_U64(rounding.divisions[0], 2);
    T_EQ_U64(rounding.divisions[1], 0);
    T_EQ_U64(rounding.divisions[8], 4);
    T_EQ_U64(rounding.divisions[15], 8);
    T_EQ_U64(plim_round(&rounding, 1500), 1536);
    T_EQ_U64(plim_round(&rounding, 5 * MIB / 4), 3 * MIB / 2);
    T_EQ_U64(plim_round(&rounding, 3 * MIB + 1), 3 * MIB + 512);
    T_EQ_U64(plim_round(&rounding, 257 * MIB), 320 * MIB);
    T_EQ_U64(plim_round(&rounding, (65 << 10) * MIB), (72 << 10) * MIB);
}

static void no_setting_means_multiples_of_512(void)
{
    plim_history *const history = script_history("divisions 1 1; divisions 2 0");
    T_FALSE(plim_rounding_of(history).has_divisions);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(rounds_as_written_down), T_TEST(a_division_is_the_next_step_between_powers_of_two),
       T_TEST(each_interval_has_the_setting_of_its_key), T_TEST(no_setting_means_multiples_of_512))
