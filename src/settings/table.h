/*
 * table.h - the table of settings: all that is known of each key, in one row.
 *
 * Parsing, printing, defaults, bounds, comparing and reading from files follow from it.
 */
#ifndef PLIMSOLL_SETTINGS_TABLE_H
#define PLIMSOLL_SETTINGS_TABLE_H

#include "plimsoll/settings.h"

#include <string.h>

typedef enum plim_setting_type {
    PLIM_TYPE_BOOL,      /* bool: True or False */
    PLIM_TYPE_MB,        /* uint64_t, bytes: whole MiB in a string, in files whole MiB or bytes */
    PLIM_TYPE_COUNT,     /* uint64_t: a power of two up to `max` */
    PLIM_TYPE_FRACTION,  /* double: from 0 to 1, whose ends count if the default is one of them */
    PLIM_TYPE_DIVISIONS, /* uint64_t[PLIM_ROUNDUP_INTERVALS]: divisions.h */
    PLIM_TYPE_BACKEND,   /* plim_backend */
    PLIM_TYPE_RESERVE,   /* double and uint64_t: of the device, or bytes */
    PLIM_TYPE_CLASSES,   /* nothing is kept of a list by class */
} plim_setting_type;

/* A bound or a default that is the large segment's size. */
#define PLIM_LARGE_SEGMENT (UINT64_MAX - 1)

typedef struct plim_setting_row {
    const char *name;     /* in PYTORCH_CUDA_ALLOC_CONF */
    const char *alias;    /* ROCm's name for it, or NULL */
    const char *recorded; /* in a snapshot's allocator_settings, in bytes; NULL: as in the string */
    plim_setting_type type;
    uint16_t offset;  /* in plim_settings */
    uint16_t bytes;   /* there */
    bool acts;        /* the allocator acts on it */
    bool is_reset;    /* a parse begins with its default */
    uint32_t since;   /* the first release that knows it, as PLIM_TORCH(2, 11), as far as known */
    uint64_t initial; /* the default: bytes, a number, a fraction that is 0 or 1, False */
    uint64_t min;     /* PLIM_TYPE_MB: in MiB */
    uint64_t max;
} plim_setting_row;

/* The rows, in the order of plim_setting_key. */
extern const plim_setting_row plim_setting_rows[PLIM_SETTING_KEY_COUNT];

#define PLIM_SETTING_BIT(key) ((uint32_t)1 << (key)) /* in plim_settings.given */

static inline void *plim_setting_field(plim_settings *settings, const plim_setting_row *row)
{
    return (char *)settings + row->offset;
}

static inline const void *plim_setting_value(const plim_settings *settings,
                                             const plim_setting_row *row)
{
    return (const char *)settings + row->offset;
}

/* True if the last parse named a key. */
static inline bool plim_setting_is_given(const plim_settings *settings, plim_setting_key key)
{
    return (settings->given & PLIM_SETTING_BIT(key)) != 0;
}

/* Gives one setting its default, which may depend on large_segment_bytes. */
void plim_setting_reset(plim_settings *settings, const plim_setting_row *row);
/* Takes one setting over. */
static inline void plim_setting_copy(plim_settings *to, const plim_settings *from,
                                     plim_setting_key key)
{
    const plim_setting_row *const row = &plim_setting_rows[key];
    memcpy(plim_setting_field(to, row), plim_setting_value(from, row), row->bytes);
}
/* True if one setting has the same value in both. */
bool plim_setting_equal(const plim_settings *a, const plim_settings *b,
                        const plim_setting_row *row);
/* The least that a setting of PLIM_TYPE_MB may be, in MiB. */
uint64_t plim_setting_min_mb(const plim_settings *settings, const plim_setting_row *row);
/* True if a fraction is in the range of its setting. */
bool plim_setting_has_fraction(const plim_setting_row *row, double fraction);

/*
 * Finds the key that a word names, by alias too.
 *
 * returns   whether the word is a key
 * ret_name  the word itself as a constant, which is not the key's name where it is an alias
 */
bool plim_setting_key_find(const char *word, plim_setting_key *ret_key, const char **ret_name);
/* The name that is nearest to a word that is not one, or NULL when nothing is near. */
const char *plim_setting_key_nearest(const char *word);

/* True if an allocator with one thread makes every decision alike under both. */
bool plim_settings_decide_alike(const plim_settings *a, const plim_settings *b);

/* The first release that knows all keys that the last parse named; 0: it named none. */
uint32_t plim_settings_since(const plim_settings *settings);
/* The newest release that words such as "PyTorch 2.5 to 2.7" name; UINT32_MAX: they name none of
 * PyTorch, or say that it may be newer. */
uint32_t plim_release_of(const char *words);

#endif
