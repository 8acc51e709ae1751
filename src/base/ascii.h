/*
 * ascii.h - kinds of ASCII characters and their case, whatever locale the program has chosen.
 */
#ifndef PLIMSOLL_BASE_ASCII_H
#define PLIMSOLL_BASE_ASCII_H

#include <stdbool.h>

static inline bool plim_is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

static inline bool plim_is_upper(char c)
{
    return (unsigned char)(c - 'A') <= 'Z' - 'A';
}

static inline bool plim_is_lower(char c)
{
    return (unsigned char)(c - 'a') <= 'z' - 'a';
}

static inline bool plim_is_letter(char c)
{
    return plim_is_upper(c) || plim_is_lower(c);
}

/* A blank, a tab, or one of the ends of a line or a page. */
static inline bool plim_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char plim_lower(char c)
{
    return plim_is_upper(c) ? (char)(c | 0x20) : c;
}

static inline char plim_upper(char c)
{
    return plim_is_lower(c) ? (char)(c & ~0x20) : c;
}

#endif
