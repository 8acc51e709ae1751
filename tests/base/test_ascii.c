/*
 * test_ascii.c - kinds of characters, against the C library in its "C" locale, over all bytes.
 */
#include "base/ascii.h"
#include "harness.h"

#include <ctype.h>

static void agrees_with_the_c_locale(void)
{
    for (int c = 0; c < 256; c++) {
        T_CASE("byte %d", c);
        T_EQ_U64(plim_is_digit((char)c), isdigit(c) != 0);
        T_EQ_U64(plim_is_upper((char)c), isupper(c) != 0);
        T_EQ_U64(plim_is_lower((char)c), islower(c) != 0);
        T_EQ_U64(plim_is_letter((char)c), isalpha(c) != 0);
        T_EQ_U64(plim_is_space((char)c), isspace(c) != 0);
        T_EQ_U64((unsigned char)plim_lower((char)c), tolower(c));
        T_EQ_U64((unsigned char)plim_upper((char)c), toupper(c));
    }
}

T_MAIN(T_TEST(agrees_with_the_c_locale))
