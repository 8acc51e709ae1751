/*
 * Folding sixteen bytes at once gives what folding them one by one gives.
 */
#include "oomtext/fold.h"

#include "harness.h"

static void folds_as_the_plain_way_does(void)
{
    static plim_fold_moves moves;
    plim_fold_moves_fill(&moves);
    plim_fold_function *const fastest = plim_fold_fastest();
    for (int n = 0; n < 20000; n++) {
        unsigned char data[200];
        char plain[sizeof data + PLIM_FOLD_SLACK_BYTES];
        char fast[sizeof data + PLIM_FOLD_SLACK_BYTES];
        const size_t bytes = (size_t)t_random_between(0, sizeof data);
        const uint64_t low = t_random_between(0, 1) == 0 ? 0 : 0x20;
        const uint64_t high = t_random_between(0, 1) == 0 ? 0xff : 0x7e;
        for (size_t i = 0; i < bytes; i++) {
            data[i] = (unsigned char)t_random_between(low, high);
        }
        const size_t length = plim_fold_plain(&moves, data, bytes, plain);
        T_EQ_U64(fastest(&moves, data, bytes, fast), length);
        T_EQ_MEM(plain, fast, length);
    }
}

static void keeps_letters_digits_and_what_is_above_ascii(void)
{
    for (unsigned c = 0; c < 256; c++) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
        T_EQ_U64(plim_fold_byte((unsigned char)c), kept ? c + (upper ? 'a' - 'A' : 0) : 0);
    }
}

T_MAIN(T_TEST(folds_as_the_plain_way_does), T_TEST(keeps_letters_digits_and_what_is_above_ascii))
