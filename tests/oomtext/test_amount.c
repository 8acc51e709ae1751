/*
 * test_amount.c - amounts as error texts write them, wrapped and cut too.
 */
#include "oomtext/flattened.h"

#include "base/units.h"
#include "oomtext/amount.h"

#define NONE UINT64_MAX /* nothing is read */
#define MOST (UINT64_MAX - 1)

typedef struct amount_case {
    const char *text;
    plim_amount_kind kind;
    uint64_t bytes;
    const char *rest; /* what follows it, flat; NULL: not looked at */
} amount_case;

static void check(const amount_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        T_CASE("\"%s\"", cases[i].text);
        plim_flat flat = t_flatten(cases[i].text);
        plim_amount amount = { .bytes = NONE };
        const bool is_read = plim_amount_read(&flat, 0, cases[i].kind, &amount);
        T_EQ_U64(is_read ? amount.bytes : NONE, cases[i].bytes);
        if (is_read && cases[i].rest != NULL) {
            T_EQ_U64(flat.count - amount.end, strlen(cases[i].rest));
            T_EQ_MEM(flat.full + amount.end, cases[i].rest, strlen(cases[i].rest));
        }
        plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
    }
}

static void sizes_have_units_of_1024(void)
{
    static const amount_case cases[] = {
        { "20.00 MiB (", PLIM_AMOUNT_SIZED, 20 * MIB, "(" },
        { "20.00 MB", PLIM_AMOUNT_SIZED, 20 * MIB, "" },
        { "20M.", PLIM_AMOUNT_SIZED, 20 * MIB, "." },
        { "1.97G (", PLIM_AMOUNT_SIZED, 2115271393, "(" },
        { "512 bytes", PLIM_AMOUNT_SIZED, 512, "" },
        { "640.00 KiB", PLIM_AMOUNT_SIZED, 640 * KIB, "" },
        { "145.5MB", PLIM_AMOUNT_SIZED, 145 * MIB + MIB / 2, "" },
        { "31809540kB,", PLIM_AMOUNT_SIZED, 31809540 * KIB, "," },
        { "0 bytes", PLIM_AMOUNT_SIZED, 0, "" },
        { "1,536.00 MiB", PLIM_AMOUNT_SIZED, 1536 * MIB, "" },
        { "1,048,576 bytes", PLIM_AMOUNT_BYTES, MIB, "" },
        { "12,50 MiB", PLIM_AMOUNT_SIZED, 12 * MIB + MIB / 2, "" },
        { "926. GiB", PLIM_AMOUNT_SIZED, 926 * GIB, "" },
        { "256.000000B", PLIM_AMOUNT_SIZED, 256, "" }, /* printf's own decimals */
        { "3 TiB", PLIM_AMOUNT_SIZED, 3 * KIB * GIB, "" },
    };
    check(cases, T_COUNT(cases));
}

static void the_kind_says_which_units_may_stand(void)
{
    static const amount_case cases[] = {
        { "1024", PLIM_AMOUNT_SIZED, NONE, NULL },
        { "1.57", PLIM_AMOUNT_SIZED, NONE, NULL }, /* cut before the unit */
        { "1.57", PLIM_AMOUNT_ANY, NONE, NULL },
        { "1024", PLIM_AMOUNT_ANY, 1024, "" },
        { "1024 of", PLIM_AMOUNT_BYTES, 1024, "of" },
        { "1024B", PLIM_AMOUNT_BYTES, 1024, "" },
        { "20 MiB", PLIM_AMOUNT_BYTES, NONE, NULL },
        { "2.5 bytes", PLIM_AMOUNT_SIZED, NONE, NULL },
        { "0;", PLIM_AMOUNT_INTEGER, 0, ";" },
        { "1.5", PLIM_AMOUNT_INTEGER, NONE, NULL },
        { "MiB", PLIM_AMOUNT_ANY, NONE, NULL },
        { "", PLIM_AMOUNT_ANY, NONE, NULL },
    };
    check(cases, T_COUNT(cases));
}

static void what_only_looks_like_a_number_is_none(void)
{
    static const amount_case cases[] = {
        { "1.2.3 GiB", PLIM_AMOUNT_SIZED, NONE, NULL },
        { "3 Mbps", PLIM_AMOUNT_SIZED, NONE, NULL },
        { "3 gigantic", PLIM_AMOUNT_SIZED, NONE, NULL },
        { "3 models", PLIM_AMOUNT_SIZED, NONE, NULL },
        { "01:00.0", PLIM_AMOUNT_INTEGER, NONE, NULL },
        { "2024-05-01", PLIM_AMOUNT_INTEGER, NONE, NULL },
        { "98%", PLIM_AMOUNT_INTEGER, NONE, NULL },
        { "1234567890123456789012345 GiB", PLIM_AMOUNT_SIZED, NONE, NULL },
        { "-2 GiB", PLIM_AMOUNT_SIZED, NONE, NULL },
    };
    check(cases, T_COUNT(cases));
}

static void huge_amounts_saturate(void)
{
    static const amount_case cases[] = {
        { "18446744073709551615 bytes", PLIM_AMOUNT_SIZED, MOST, "" },
        { "99999999999 GiB", PLIM_AMOUNT_SIZED, MOST, "" },
        { "8589934592.00 GiB", PLIM_AMOUNT_SIZED, (uint64_t)1 << 63, "" },
        { "9223372036854775808 bytes", PLIM_AMOUNT_BYTES, (uint64_t)1 << 63, "" },
    };
    check(cases, T_COUNT(cases));
}

static void two_to_the_64_is_told_apart(void)
{
    static const struct {
        const char *text;
        bool is_sentinel;
    } cases[] = {
        { "17179869184.00 GiB", true },
        { "18446744073709551616 bytes", true },
        { "17179869183.99 GiB", false },
        { "16.00 GiB", false },
        { "16 EiB", true },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        plim_flat flat = t_flatten(cases[i].text);
        plim_amount amount;
        T_TRUE(plim_amount_read(&flat, 0, PLIM_AMOUNT_SIZED, &amount));
        T_EQ_U64(amount.is_sentinel, cases[i].is_sentinel);
        plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
    }
}

static void wrapped_numbers_are_joined_where_a_unit_shows_it(void)
{
    static const amount_case cases[] = {
        { "1.5\n7 GiB", PLIM_AMOUNT_SIZED, 1685774664, "" },
        { "1.\n57 GiB", PLIM_AMOUNT_SIZED, 1685774664, "" },
        { "1\n.57 GiB", PLIM_AMOUNT_ANY, 1685774664, "" },
        { "1.57\nGiB", PLIM_AMOUNT_SIZED, 1685774664, "" },
        { "1.57 G\niB", PLIM_AMOUNT_SIZED, 1685774664, "" },
        { "1.57 Gi\nB", PLIM_AMOUNT_SIZED, 1685774664, "" },
        { "926.\n GiB", PLIM_AMOUNT_SIZED, 926 * GIB, "" },
        { "2,684,\n354,560 bytes", PLIM_AMOUNT_BYTES, 2684354560, "" },
        { "161061\n2736B", PLIM_AMOUNT_BYTES, 1610612736, "" },
        { "6144\n34 MB", PLIM_AMOUNT_ANY, 614434 * MIB, "" },
        { "1610612736\n34 MB", PLIM_AMOUNT_ANY, 1610612736, NULL }, /* says enough for itself */
        { "512\nM: 3", PLIM_AMOUNT_ANY, 512, NULL },
        { "6442450944 m\nemory", PLIM_AMOUNT_ANY, 6442450944, NULL },
        { "12\n34", PLIM_AMOUNT_ANY, 12, NULL },
        { "0\n34 files", PLIM_AMOUNT_INTEGER, 0, NULL },
    };
    check(cases, T_COUNT(cases));
}

static void the_slack_is_half_a_unit_of_the_last_digit(void)
{
    static const struct {
        const char *text;
        uint64_t slack_bytes;
    } cases[] = {
        { "1.57 GiB", 5368709 }, { "1.5 GiB", 53687091 }, { "2 GiB", GIB / 2 },
        { "20.00 MiB", 5243 },   { "512 bytes", 0 },      { "512", 0 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        plim_flat flat = t_flatten(cases[i].text);
        plim_amount amount;
        T_TRUE(plim_amount_read(&flat, 0, PLIM_AMOUNT_ANY, &amount));
        T_EQ_U64(amount.slack_bytes, cases[i].slack_bytes);
        plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
    }
}

static void numbers_are_read_backwards_too(void)
{
    static const struct {
        const char *text; /* the amount ends where the text does */
        uint64_t bytes;
    } cases[] = {
        { "GPU 0; 7.79 GiB", 8364448809 },
        { "1,024 MiB", GIB },
        { "allocated; 0 bytes", 0 },
        { "12\n.5 MiB", 12 * MIB + MIB / 2 },
        { "x 1.5\n0 MiB", MIB + MIB / 2 },
        { "7 of 2.00 MiB", 2 * MIB },
        { ".92 GiB", NONE }, /* the rest of a number */
        { "; .92 GiB", NONE },
        { "free", NONE },
        { "7 files", NONE },
        { ".31 GiB", NONE },
        { "", NONE },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("\"%s\"", cases[i].text);
        plim_flat flat = t_flatten(cases[i].text);
        plim_amount amount = { .bytes = NONE };
        size_t begin = 0;
        const bool is_read =
            plim_amount_read_before(&flat, flat.count, PLIM_AMOUNT_SIZED, &amount, &begin);
        T_EQ_U64(is_read ? amount.bytes : NONE, cases[i].bytes);
        if (is_read) {
            T_EQ_U64(amount.end, flat.count);
            T_TRUE(flat.full[begin] >= '0' && flat.full[begin] <= '9');
        }
        plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
    }
}

static void a_pair_shares_its_unit(void)
{
    plim_flat flat = t_flatten("61.03/79.10 GiB");
    plim_amount first;
    plim_amount second;
    T_TRUE(plim_amount_read(&flat, 0, PLIM_AMOUNT_UNITLESS, &first));
    T_TRUE(plim_amount_read(&flat, first.end + 1, PLIM_AMOUNT_SIZED, &second));
    plim_amount_share_unit(&first, &second);
    T_EQ_U64(first.bytes, 65530463519);
    T_EQ_U64(first.slack_bytes, 5368709);
    plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
}

/* Any bytes are read without reaching beyond them, and give one answer. */
static void any_text_is_read(void)
{
    static const char letters[] = "0123456789.,: \n-%gGiBMKbytes";
    char text[48];
    for (size_t round = 0; round < 20000; round++) {
        const size_t length = (size_t)t_random_between(0, sizeof text - 1);
        for (size_t i = 0; i < length; i++) {
            text[i] = letters[t_random_between(0, sizeof letters - 2)];
        }
        text[length] = '\0';
        plim_flat flat = t_flatten(text);
        for (size_t i = 0; i < flat.count; i++) {
            for (int kind = PLIM_AMOUNT_SIZED; kind <= PLIM_AMOUNT_UNITLESS; kind++) {
                plim_amount amount;
                size_t begin = 0;
                if (plim_amount_read(&flat, i, (plim_amount_kind)kind, &amount)) {
                    T_TRUE(amount.end > i && amount.end <= flat.count);
                    T_TRUE(amount.bytes <= MOST);
                }
                if (plim_amount_read_before(&flat, i, (plim_amount_kind)kind, &amount, &begin)) {
                    T_TRUE(begin < i && amount.end == i);
                }
            }
        }
        plim_flat_deinit(&flat, plim_mem_or_heap(NULL));
    }
}

T_MAIN(T_TEST(sizes_have_units_of_1024), T_TEST(the_kind_says_which_units_may_stand),
       T_TEST(what_only_looks_like_a_number_is_none), T_TEST(huge_amounts_saturate),
       T_TEST(two_to_the_64_is_told_apart),
       T_TEST(wrapped_numbers_are_joined_where_a_unit_shows_it),
       T_TEST(the_slack_is_half_a_unit_of_the_last_digit), T_TEST(numbers_are_read_backwards_too),
       T_TEST(a_pair_shares_its_unit), T_TEST(any_text_is_read))
