/*
 * vocabulary.c - reading vocabulary.tsv.
 */
#include "series/vocabulary.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/tsv.h"

#include <pthread.h>
#include <string.h>

/* A row of any section. */
typedef struct vocabulary_row {
    char text[PLIM_SERIES_KEY_BYTES];
    uint32_t says;
    int8_t log2;
} vocabulary_row;

static plim_status read_says(plim_tsv *file, plim_tsv_field field)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } known[] = {
#define SAYS(bit, name, more) { name, PLIM_WORD_##bit | (more) },
        PLIM_SERIES_SAYS_LIST(SAYS)
#undef SAYS
    };
    vocabulary_row *const row = file->row;
    plim_tsv_field word;
    while (plim_tsv_cut(&field, ' ', &word)) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && !plim_tsv_is(word, known[i].name)) {
            i++;
        }
        if (i == sizeof known / sizeof *known) {
            return plim_tsv_fail(file, "'%.*s' is nothing that a word says", (int)word.bytes,
                                 word.text);
        }
        row->says |= known[i].bits;
    }
    return PLIM_OK;
}

static plim_status read_log2(plim_tsv *file, plim_tsv_field field)
{
    vocabulary_row *const row = file->row;
    uint64_t log2 = 0;
    if (plim_tsv_is(field, "else")) {
        row->log2 = PLIM_UNIT_ELSE;
    } else if (plim_tsv_number(field, 60, &log2)) {
        row->log2 = (int8_t)log2;
    } else {
        return plim_tsv_fail(file, "'%.*s' is not a power of two such as 20, nor 'else'",
                             (int)field.bytes, field.text);
    }
    return PLIM_OK;
}

/* The unit of a column, one of [units]. */
static plim_status read_unit(plim_tsv *file, plim_tsv_field field)
{
    const plim_series_vocabulary *const all = file->ctx;
    vocabulary_row *const row = file->row;
    row->log2 = PLIM_UNIT_NONE;
    for (size_t i = 0; i < all->unit_count; i++) {
        if (plim_tsv_is(field, all->units[i].text)) {
            row->log2 = all->units[i].log2;
            return PLIM_OK;
        }
    }
    return plim_tsv_fail(file, "'%.*s' is not one of [units] above", (int)field.bytes, field.text);
}

static plim_status add_short(plim_tsv *file, plim_series_word *items, size_t count_max,
                             size_t *count)
{
    const vocabulary_row *const row = file->row;
    if (*count == count_max) {
        return plim_tsv_fail(file, "more than %zu rows", count_max);
    }
    plim_series_word *const word = &items[(*count)++];
    memcpy(word->text, row->text, sizeof word->text);
    word->says = row->says;
    word->log2 = row->log2;
    return PLIM_OK;
}

static plim_status add_word(plim_tsv *file)
{
    plim_series_vocabulary *const all = file->ctx;
    const vocabulary_row *const row = file->row;
    if (all->word_count > 0 && strcmp(all->words[all->word_count - 1].text, row->text) >= 0) {
        return plim_tsv_fail(file, "'%s' is not in the order of the alphabet", row->text);
    }
    PLIM_TRY(add_short(file, all->words, PLIM_SERIES_WORDS_MAX, &all->word_count));
    for (size_t letter = ((size_t)row->text[0] & 127u) + 1; letter <= 128; letter++) {
        all->words_from[letter] = (uint16_t)all->word_count;
    }
    return PLIM_OK;
}

/* At the end of its chain: an earlier row wins. */
static void chain(plim_series_chains *chains, char letter, size_t row)
{
    const unsigned char small = (unsigned char)plim_lower(letter) & 127u;
    uint8_t *end = &chains->first[plim_is_digit((char)small) ? '#' : small];
    while (*end != 0) {
        end = &chains->next[*end - 1];
    }
    *end = (uint8_t)(row + 1);
}

static plim_status add_unit(plim_tsv *file)
{
    plim_series_vocabulary *const all = file->ctx;
    const vocabulary_row *const row = file->row;
    const size_t at = all->unit_count;
    PLIM_TRY(add_short(file, all->units, PLIM_SERIES_UNITS_MAX, &all->unit_count));
    chain(&all->unit_chains, row->text[0], at);
    return PLIM_OK;
}

static plim_status add_long(plim_tsv *file, plim_series_key *items, size_t count_max, size_t *count)
{
    const vocabulary_row *const row = file->row;
    if (*count == count_max) {
        return plim_tsv_fail(file, "more than %zu rows", count_max);
    }
    plim_series_key *const key = &items[(*count)++];
    memcpy(key->text, row->text, sizeof key->text);
    key->says = row->says;
    key->log2 = row->log2;
    return PLIM_OK;
}

static plim_status add_key(plim_tsv *file)
{
    plim_series_vocabulary *const all = file->ctx;
    const vocabulary_row *const row = file->row;
    const size_t at = all->key_count;
    PLIM_TRY(add_long(file, all->keys, PLIM_SERIES_KEYS_MAX, &all->key_count));
    chain(&all->key_chains, row->text[strlen(row->text) - 1], at);
    return PLIM_OK;
}

static plim_status add_column(plim_tsv *file)
{
    plim_series_vocabulary *const all = file->ctx;
    return add_long(file, all->columns, PLIM_SERIES_COLUMNS_MAX, &all->column_count);
}

#define TEXT(title, bytes)                                       \
    {                                                            \
        .name = title, .kind = PLIM_TSV_CHARS, .limit = (bytes), \
        .offset = offsetof(vocabulary_row, text)                 \
    }
#define SAYS                                                      \
    {                                                             \
        .name = "says", .kind = PLIM_TSV_OTHER, .read = read_says \
    }

plim_status plim_series_vocabulary_read(const char *const *lines, plim_series_vocabulary *ret,
                                        plim_error *err)
{
    static const plim_tsv_column words[] = { TEXT("word", PLIM_SERIES_WORD_BYTES),
                                             SAYS,
                                             { .name = "note" } };
    static const plim_tsv_column units[] = {
        TEXT("unit", PLIM_SERIES_WORD_BYTES),
        { .name = "log2", .kind = PLIM_TSV_OTHER, .read = read_log2 }
    };
    static const plim_tsv_column keys[] = { TEXT("key", PLIM_SERIES_KEY_BYTES),
                                            SAYS,
                                            { .name = "source" } };
    static const plim_tsv_column columns[] = {
        TEXT("column", PLIM_SERIES_KEY_BYTES),
        SAYS,
        { .name = "unit", .kind = PLIM_TSV_OTHER, .read = read_unit },
        { .name = "source" }
    };
    static const plim_tsv_section sections[] = {
        { "[words]", words, sizeof words / sizeof *words, add_word },
        { "[units]", units, sizeof units / sizeof *units, add_unit },
        { "[keys]", keys, sizeof keys / sizeof *keys, add_key },
        { "[columns]", columns, sizeof columns / sizeof *columns, add_column },
    };
    vocabulary_row row;
    plim_tsv file = { .name = "vocabulary.tsv",
                      .lines = lines,
                      .row = &row,
                      .row_bytes = sizeof row,
                      .ctx = ret,
                      .err = err };
    *ret = (plim_series_vocabulary){ 0 };
    return plim_tsv_read(&file, sections, sizeof sections / sizeof *sections);
}

extern const char *const plim_series_vocabulary_lines[]; /* vocabulary.tsv */

static plim_series_vocabulary shared; /* constant once read */
static pthread_once_t shared_once = PTHREAD_ONCE_INIT;

static void read_shared(void)
{
    plim_error err = { 0 };
    if (plim_series_vocabulary_read(plim_series_vocabulary_lines, &shared, &err) != PLIM_OK) {
        plim_assert_failed(err.message, __FILE__, __LINE__); /* built wrong: tests/series */
    }
}

const plim_series_vocabulary *plim_series_vocabulary_shared(void)
{
    (void)pthread_once(&shared_once, read_shared);
    return &shared;
}
