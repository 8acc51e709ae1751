/*
 * rank_name.c - finding the rank in a file's name.
 */
#include "report/model/rank_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define RANK_DIGITS_MAX 9u /* more digits are a date or a job, no rank */

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) != 0;
}

static bool is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

/* Digits at `text`, not more than a rank has. */
static bool read_number(const char *text, const char *end, uint64_t *ret)
{
    uint64_t value = 0;
    uint32_t digits = 0;
    for (; text < end && is_digit(*text); text++) {
        value = value * 10 + (uint64_t)(*text - '0');
        if (++digits > RANK_DIGITS_MAX) {
            return false;
        }
    }
    if (digits == 0) {
        return false;
    }
    *ret = value;
    return true;
}

/* rank3, rank_3, rank-12, Rank.0; but not frank3. */
static bool read_rank_word(const char *begin, const char *at, const char *end, uint64_t *ret)
{
    if (end - at < 5 || strncasecmp(at, "rank", 4) != 0 || (at > begin && is_letter(at[-1]))) {
        return false;
    }
    at += 4;
    at += at < end && strchr("_-.=", *at) != NULL && *at != '\0';
    return read_number(at, end, ret);
}

/* _r3, -r3, .r3, not followed by a letter. */
static bool read_rank_letter(const char *begin, const char *at, const char *end, uint64_t *ret)
{
    if (end - at < 2 || (*at != 'r' && *at != 'R') ||
        (at > begin && strchr("_-.", at[-1]) == NULL)) {
        return false;
    }
    const char *behind = at + 1;
    while (behind < end && is_digit(*behind)) {
        behind++;
    }
    return (behind == end || !is_letter(*behind)) && read_number(at + 1, end, ret);
}

static bool rank_of_part(const char *begin, const char *end, uint64_t *ret)
{
    for (const char *at = begin; at < end; at++) {
        if (read_rank_word(begin, at, end, ret)) {
            return true;
        }
    }
    for (const char *at = begin; at < end; at++) {
        if (read_rank_letter(begin, at, end, ret)) {
            return true;
        }
    }
    return false;
}

bool plim_rank_of_path(const char *path, uint64_t *ret_rank)
{
    const char *end = path + strlen(path);
    while (end > path) {
        const char *begin = end;
        while (begin > path && begin[-1] != '/') {
            begin--;
        }
        if (rank_of_part(begin, end, ret_rank)) {
            return true;
        }
        end = begin > path ? begin - 1 : path;
    }
    return false;
}
