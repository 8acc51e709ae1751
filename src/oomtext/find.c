/*
 * find.c - hits become messages.
 */
#include "oomtext/find.h"

#include "base/arena.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/numbers.h"
#include "oomtext/in_force.h"
#include "oomtext/near.h"
#include "oomtext/phrases.h"
#include "oomtext/prose.h"
#include "oomtext/scan.h"
#include "verdict/request.h"

#include <string.h>

#define HITS_MAX          2048u          /* collected before they are looked at */
#define REACH_BYTES       ((size_t)1300) /* how far after a hit a more special one may stand */
#define CLASS_REACH_BYTES ((size_t)500)  /* a class and the message that it heads */
#define AHEAD_MAX         48u            /* hits that are looked at for that */
#define SAME_LINE_MAX     ((size_t)4096) /* of a line, what counts as the rest of a message */

/* What a reading of clauses depends on, within one flat text. */
typedef struct reading_key {
    bool is_valid;
    uint64_t sets;
    size_t from, first, to;
} reading_key;

/* Where a hit stands in the flat text, and which of its phrase's forms it gives away there. */
typedef struct hit_place {
    size_t begin, end; /* words */
    uint64_t fits;     /* bits by the phrase's list of forms */
    bool is_there;     /* flattening left it whole */
    bool states_error; /* and it is more than a mention: asked where a form is PROSE */
} hit_place;

struct plim_finder {
    plim_mem mem;
    plim_arena arena;
    const plim_message_table *table;
    plim_phrases phrases;
    plim_scan *scan;
    plim_clause_index *clauses;
    plim_near *near;
    plim_said said;          /* the last reading, */
    reading_key read;        /* and of what */
    const plim_piece *piece; /* that is searched */
    plim_flat flat;
    size_t flat_begin; /* of the stretch that flat holds, in the piece */
    size_t flat_end;
    uint32_t in_force;
    const plim_text_mark *program; /* the highest mark seen of a program, or NULL */
    bool ignores_reports;
    size_t hit_count;
    plim_scan_hit hits[HITS_MAX];
    size_t keep[HITS_MAX];      /* their offsets in the stretch */
    hit_place places[HITS_MAX]; /* of hits [placed_from, placed_to), those within flat */
    size_t placed_from, placed_to;
};

plim_status plim_finder_create(const plim_mem *mem, plim_finder **ret, plim_error *err)
{
    plim_finder *finder = plim_mem_alloc_zeroed(mem, 1, sizeof *finder);
    if (finder == NULL) {
        return plim_fail_memory(err, "preparing the search");
    }
    finder->mem = *plim_mem_or_heap(mem);
    plim_arena_init(&finder->arena, &finder->mem);
    plim_status status = PLIM_OK;
    finder->table = plim_message_tables();
    finder->clauses = plim_clause_index_create(&finder->arena);
    finder->near = plim_near_create(&finder->arena);
    if (finder->clauses == NULL || finder->near == NULL ||
        !plim_flat_init(&finder->flat, &finder->mem) ||
        !plim_phrases_collect(finder->table, &finder->arena, &finder->phrases)) {
        status = plim_fail_memory(err, "preparing the search");
    } else {
        status = plim_scan_create(finder->phrases.folded, finder->phrases.count, &finder->mem,
                                  &finder->scan, err);
    }
    if (status != PLIM_OK) {
        plim_finder_destroy(finder);
        return status;
    }
    *ret = finder;
    return PLIM_OK;
}

void plim_finder_destroy(plim_finder *finder)
{
    if (finder == NULL) {
        return;
    }
    const plim_mem mem = finder->mem;
    plim_scan_destroy(finder->scan);
    plim_flat_deinit(&finder->flat, &mem);
    plim_arena_deinit(&finder->arena);
    plim_mem_free(&mem, finder, 1, sizeof *finder);
}

void plim_finder_ignore_reports(plim_finder *finder)
{
    finder->ignores_reports = true;
}

plim_circumstances plim_finder_circumstances(const plim_finder *finder)
{
    return (plim_circumstances){
        .in_force = finder->in_force,
        .program =
            finder->program != NULL ? (plim_oom_family)finder->program->program : PLIM_FAMILY_ANY,
    };
}

/* --- the text around a hit --- */

/* A phrase that ends in a digit within a longer number: "code 13" in "code 137". */
static bool splits_number(const plim_flat *flat, size_t end)
{
    const char last = flat->words[end - 1];
    return end < flat->word_count && plim_is_digit(last) && plim_is_digit(flat->words[end]) &&
           flat->gap[flat->word_at[end]] == 0 && flat->word_at[end] == flat->word_at[end - 1] + 1;
}

static bool reads_as(const plim_form *form, const plim_flat *flat, const hit_place *place)
{
    const size_t begin = place->begin;
    const size_t end = place->end;
    if ((form->flags & PLIM_FORM_ALONE) != 0 && !plim_prose_is_shell_line(flat, begin, end)) {
        return false;
    }
    if ((form->flags & PLIM_FORM_SIGNAL) != 0 && !plim_prose_is_signal(flat, end)) {
        return false;
    }
    if ((form->flags & (PLIM_FORM_NONE | PLIM_FORM_SOME)) != 0 &&
        plim_prose_counts(flat, end) !=
            ((form->flags & PLIM_FORM_SOME) != 0 ? PLIM_COUNT_SOME : PLIM_COUNT_NONE)) {
        return false;
    }
    if ((form->flags & PLIM_FORM_GLUED) != 0 &&
        flat->word_at[end - 1] - flat->word_at[begin] + 1u != end - begin) {
        return false;
    }
    if ((form->flags & PLIM_FORM_LINE) != 0 && !plim_prose_begins_line(flat, begin)) {
        return false;
    }
    return (form->flags & PLIM_FORM_PROSE) == 0 || place->states_error;
}

/* Bits of the forms of hit i's phrase that fit where it stands. */
static uint64_t fits_at(const plim_finder *finder, size_t i)
{
    const plim_flat *const flat = &finder->flat;
    const plim_phrase *const phrase = &finder->phrases.items[finder->hits[i].phrase];
    const hit_place *const place = &finder->places[i];
    uint64_t fits = 0;
    for (size_t f = 0; f < phrase->form_count && f < 64; f++) {
        const plim_form *const its = &finder->table->forms[phrase->forms[f]];
        const size_t from = plim_flat_word_before(flat, place->begin, its->before);
        const size_t to = plim_flat_word_after(flat, place->end, its->after);
        fits |=
            (uint64_t)(reads_as(its, flat, place) && plim_near_fits(finder->near, its, from, to))
            << f;
    }
    return fits;
}

/* Find all hits of a new flat text in it, once: each is asked for by many others. */
static void place_hits(plim_finder *finder)
{
    const plim_flat *const flat = &finder->flat;
    size_t i = 0;
    while (i < finder->hit_count && finder->hits[i].offset < finder->flat_begin) {
        i++;
    }
    finder->placed_from = i;
    for (; i < finder->hit_count && finder->hits[i].offset < finder->flat_end; i++) {
        const plim_scan_hit *const hit = &finder->hits[i];
        hit_place *const place = &finder->places[i];
        const size_t w = plim_flat_word_from(flat, hit->offset - finder->flat_begin);
        *place = (hit_place){ .begin = w };
        place->is_there =
            hit->end <= finder->flat_end &&
            plim_phrase_at(flat, w, finder->phrases.items[hit->phrase].folded, &place->end) &&
            !splits_number(flat, place->end);
        place->states_error = place->is_there && finder->phrases.items[hit->phrase].is_prose &&
                              plim_prose_states_error(flat, w, place->end);
        place->fits = place->is_there ? fits_at(finder, i) : 0;
    }
    finder->placed_to = i;
}

/* Flatten the stretch around a hit, unless the last one still has all of it. */
static void flatten_around(plim_finder *finder, size_t offset)
{
    const char *text = finder->piece->text;
    const size_t bytes = finder->piece->bytes;
    const size_t from = offset > PLIM_FIND_BEFORE_BYTES ? offset - PLIM_FIND_BEFORE_BYTES : 0;
    const size_t to = plim_min(bytes, offset + PLIM_FIND_AFTER_BYTES);
    if (finder->flat_end > 0 && finder->flat_begin <= from && to <= finder->flat_end) {
        return;
    }
    /* Begin where a line does, if one does; room for the hits to come. */
    size_t begin = from;
    while (begin > 0 && from - begin < PLIM_FIND_BEFORE_BYTES && text[begin - 1] != '\n') {
        begin--;
    }
    begin = begin > 0 && text[begin - 1] != '\n' ? from : begin;
    const size_t most = plim_min(bytes, begin + PLIM_FLAT_BYTES_MAX);
    size_t end = plim_min(most, to);
    for (size_t i = 0; i < finder->hit_count && finder->hits[i].offset < end; i++) {
        /* Those that follow closely will need what follows them. */
        const size_t wanted = plim_min(most, finder->hits[i].offset + PLIM_FIND_AFTER_BYTES);
        end = wanted > end ? wanted : end;
    }
    size_t keep_count = 0;
    for (size_t i = 0; i < finder->hit_count && finder->hits[i].offset < end; i++) {
        if (finder->hits[i].offset >= begin &&
            finder->phrases.items[finder->hits[i].phrase].form_count > 0) {
            finder->keep[keep_count++] = finder->hits[i].offset - begin;
        }
    }
    plim_flat_set(&finder->flat, text + begin, end - begin, finder->keep, keep_count);
    plim_near_set(finder->near, &finder->flat);
    finder->read.is_valid = false;
    finder->flat_begin = begin;
    finder->flat_end = end;
    place_hits(finder);
}

/* A hit as words of the flat text; false when flattening took it apart. */
static bool locate(const plim_finder *finder, const plim_scan_hit *hit, size_t *ret_begin,
                   size_t *ret_end)
{
    const size_t i = (size_t)(hit - finder->hits);
    if (i < finder->placed_from || i >= finder->placed_to || !finder->places[i].is_there) {
        return false;
    }
    *ret_begin = finder->places[i].begin;
    *ret_end = finder->places[i].end;
    return true;
}

/* A letter glued before the phrase makes it part of another word, unless a capital parts them. */
static bool begins_word(const char *text, const plim_scan_hit *hit)
{
    if (hit->offset == 0) {
        return true;
    }
    const char c = text[hit->offset];
    const char before = text[hit->offset - 1];
    const bool letter_before = plim_is_letter(before);
    const bool is_escape = hit->offset > 1 && text[hit->offset - 2] == '\\'; /* "\nout of memory" */
    return !letter_before || is_escape || (plim_is_upper(c) && plim_is_lower(before)) ||
           (plim_is_upper(c) && hit->end - hit->offset > 8);
}

/* --- forms at a hit --- */

/* A form tried around one hit. */
typedef struct candidate {
    const plim_form *form;
    const plim_scan_hit *hit; /* that gave it away */
    size_t from, to;          /* words it may cover */
    plim_said said;
} candidate;

static uint32_t says(const plim_said *said)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < PLIM_FIGURE_PRINTED_COUNT; i++) {
        if (said->figures[i].bytes != PLIM_BYTES_UNKNOWN) {
            mask |= PLIM_SAYS(i);
        }
    }
    return mask;
}

/* The same reading serves all forms of a family, which differ in what they want it to say. */
static const plim_said *read_clauses(plim_finder *finder, uint64_t sets, size_t from, size_t first,
                                     size_t to)
{
    reading_key *key = &finder->read;
    if (!key->is_valid || key->sets != sets || key->from != from || key->first != first ||
        key->to != to) {
        plim_clauses_read(finder->clauses, &finder->flat, sets, (plim_reach){ from, first, to },
                          &finder->said);
        *key = (reading_key){ true, sets, from, first, to };
    }
    return &finder->said;
}

static bool has_folded(const char *list, const char *folded)
{
    char phrase[PLIM_PHRASE_TEXT_BYTES];
    char fold[PLIM_PHRASE_TEXT_BYTES];
    while (plim_phrase_next(&list, phrase, sizeof phrase)) {
        const size_t length = plim_scan_fold(phrase, strlen(phrase), fold);
        if (strlen(folded) == length && memcmp(folded, fold, length) == 0) {
            return true;
        }
    }
    return false;
}

/* "pytorch" and "pytorch-mps". */
static bool is_same_program(const char *a, const char *b)
{
    const size_t length = strcspn(a, "-");
    return length == strcspn(b, "-") && memcmp(a, b, length) == 0;
}

/* One program, or two that share a pool. */
static bool are_related(const plim_form *a, const plim_form *b)
{
    const bool share_pool = (a->family == PLIM_FAMILY_TENSORFLOW || a->family == PLIM_FAMILY_JAX) &&
                            (b->family == PLIM_FAMILY_TENSORFLOW || b->family == PLIM_FAMILY_JAX);
    return (share_pool || is_same_program(a->framework, b->framework)) &&
           plim_topic_is_host(a->topic) == plim_topic_is_host(b->topic);
}

/*
 * True if a hit belongs to another program than a form does: it gives forms away by itself, and
 * none of them has to do with this one.
 */
static bool is_of_another(const plim_finder *finder, const plim_scan_hit *hit,
                          const plim_form *form)
{
    const plim_phrase *phrase = &finder->phrases.items[hit->phrase];
    const size_t i = (size_t)(hit - finder->hits);
    if (phrase->is_plain || phrase->is_head || i < finder->placed_from || i >= finder->placed_to) {
        return false;
    }
    const uint64_t fits = finder->places[i].fits;
    for (size_t f = 0; f < phrase->form_count && f < 64; f++) {
        if ((fits >> f & 1) != 0 && are_related(&finder->table->forms[phrase->forms[f]], form)) {
            return false;
        }
    }
    return fits != 0 && !has_folded(form->with, phrase->folded) &&
           !has_folded(form->also, phrase->folded);
}

/* The same of one of two hits, where they do not stand on one line. */
static bool tell_apart(const plim_finder *finder, const plim_scan_hit *earlier,
                       const plim_scan_hit *later, bool is_later, const plim_form *form)
{
    return memchr(finder->piece->text + earlier->offset, '\n', later->offset - earlier->offset) !=
               NULL &&
           is_of_another(finder, is_later ? later : earlier, form);
}

/* True if any of the hits from i on, before hit j, belongs to another program than j's form does.
 */
static bool are_told_apart(const plim_finder *finder, size_t i, size_t j, const plim_form *form)
{
    for (size_t k = i; k < j; k++) {
        if (tell_apart(finder, &finder->hits[k], &finder->hits[j], false, form)) {
            return true;
        }
    }
    return false;
}

/* The word at which another program's message begins after a hit; `to` if none begins before it. */
static size_t next_other(const plim_finder *finder, const plim_scan_hit *hit, const plim_form *form,
                         size_t to)
{
    for (const plim_scan_hit *later = hit + 1; later < finder->hits + finder->hit_count; later++) {
        size_t begin = 0;
        size_t end = 0;
        if (later->end > finder->flat_end) {
            break;
        }
        if (!locate(finder, later, &begin, &end)) {
            continue;
        }
        if (begin >= to) {
            break;
        }
        if (tell_apart(finder, hit, later, true, form)) {
            return begin;
        }
    }
    return to;
}

/* Try a form at `hit`, for a message whose first phrase stands at word `first`. */
static bool try_form(plim_finder *finder, const plim_form *form, const plim_scan_hit *hit,
                     size_t done, size_t first, candidate *ret)
{
    const plim_flat *flat = &finder->flat;
    size_t begin = 0;
    size_t end = 0;
    if (!locate(finder, hit, &begin, &end) ||
        !reads_as(form, flat, &finder->places[hit - finder->hits])) {
        return false;
    }
    const size_t limit =
        done > finder->flat_begin ? plim_flat_word_from(flat, done - finder->flat_begin) : 0;
    const size_t from = plim_flat_word_before(flat, begin, form->before);
    candidate c = {
        .form = form,
        .hit = hit,
        .from = from > limit ? from : limit,
        .to = plim_flat_word_after(flat, end, form->after),
    };
    c.to = next_other(finder, hit, form, c.to);
    if (!plim_near_fits(finder->near, form, c.from, c.to)) {
        return false;
    }
    const plim_said *said = read_clauses(finder, form->sets, c.from, first, c.to);
    const uint32_t mask = says(said);
    if ((mask & form->says) != form->says || (mask & form->lacks) != 0) {
        return false;
    }
    const size_t place = flat->at[flat->word_at[begin]];
    if (mask == 0 && plim_prose_is_source(flat->text, flat->text_bytes, place)) {
        return false;
    }
    c.said = *said;
    *ret = c;
    return true;
}

/*
 * True if a message that begins at hit i may be given away by hit j. Between two failures on two
 * lines stands another "out of memory"; in one wrapped failure does not.
 */
static bool belong_together(const plim_finder *finder, size_t i, size_t j)
{
    const char *text = finder->piece->text;
    const plim_scan_hit *first = &finder->hits[i];
    const plim_scan_hit *later = &finder->hits[j];
    const char *line_end = memchr(text + first->offset, '\n', later->offset - first->offset);
    size_t begin = 0;
    size_t end = 0;
    if (line_end == NULL || finder->phrases.items[first->phrase].is_head ||
        !locate(finder, first, &begin, &end) || plim_prose_is_class_name(&finder->flat, end)) {
        return true;
    }
    const size_t next_line = (size_t)(line_end - text);
    for (size_t k = i + 1; k < j; k++) {
        if (finder->hits[k].offset > next_line && finder->hits[k].offset >= first->end &&
            finder->phrases.items[finder->hits[k].phrase].is_plain &&
            finder->phrases.items[finder->hits[i].phrase].is_plain) {
            return false;
        }
    }
    return true;
}

/* The most telling form for a message that begins at hit i. */
static bool best_form(plim_finder *finder, size_t i, size_t done, candidate *ret)
{
    const plim_form *const forms = finder->table->forms;
    const size_t form_count = finder->table->form_count;
    const plim_scan_hit *first = &finder->hits[i];
    size_t begin = 0;
    size_t end = 0;
    size_t best = form_count;
    if (!locate(finder, first, &begin, &end)) {
        return false;
    }
    for (size_t j = i; j < finder->hit_count && j - i < AHEAD_MAX; j++) {
        const plim_scan_hit *hit = &finder->hits[j];
        size_t hit_begin = 0;
        if (hit->offset - first->offset > REACH_BYTES) {
            break;
        }
        if (!locate(finder, hit, &hit_begin, &end)) {
            continue;
        }
        const size_t distance = plim_flat_distance(&finder->flat, begin, hit_begin);
        const plim_phrase *phrase = &finder->phrases.items[hit->phrase];
        for (size_t f = 0; f < phrase->form_count && phrase->forms[f] < best; f++) {
            const plim_form *form = &forms[phrase->forms[f]];
            if (distance <= form->before && begins_word(finder->piece->text, hit) &&
                belong_together(finder, i, j) && !are_told_apart(finder, i, j, form) &&
                try_form(finder, form, hit, done, begin, ret)) {
                best = phrase->forms[f];
            }
        }
    }
    return best < form_count;
}

/* --- a message --- */

/* The line around an offset, at most SAME_LINE_MAX to each side. */
static size_t line_begin(const char *text, size_t offset)
{
    size_t i = offset;
    while (i > 0 && offset - i < SAME_LINE_MAX && text[i - 1] != '\n' && text[i - 1] != '\r') {
        i--;
    }
    return i;
}

static size_t line_end(const plim_piece *piece, size_t offset)
{
    const char *text = piece->text;
    size_t i = offset;
    while (i < piece->bytes && i - offset < SAME_LINE_MAX && text[i] != '\n' && text[i] != '\r') {
        i++;
    }
    return i;
}

/* Characters [begin, end) of the full text as they were written, blanks as one. */
static void copy_words(const plim_flat *flat, size_t begin, size_t end, char *ret, size_t ret_bytes)
{
    size_t length = 0;
    for (size_t i = begin; i < end && length + 3 < ret_bytes; i++) {
        if (length > 0 && (flat->gap[i] & PLIM_GAP_BLANK) != 0) {
            ret[length++] = ' ';
        }
        ret[length++] = flat->text[flat->at[i]];
    }
    ret[length] = '\0';
}

/* The message's own words, as a person would quote them: blanks as one, no colours. */
static void write_excerpt(const plim_finder *finder, size_t begin, size_t end, plim_found *found)
{
    const plim_flat *flat = &finder->flat;
    const size_t from = begin > finder->flat_begin ? begin - finder->flat_begin : 0;
    const size_t w = plim_flat_word_from(flat, from);
    size_t length = 0;
    for (size_t i = w < flat->word_count ? flat->word_at[w] : flat->count;
         i < flat->count && finder->flat_begin + flat->at[i] < end &&
         length + 2 < PLIM_EXCERPT_BYTES_MAX;
         i++) {
        if (length > 0 && (flat->gap[i] & (PLIM_GAP_BLANK | PLIM_GAP_LINE)) != 0) {
            found->excerpt[length++] = ' ';
        }
        found->excerpt[length++] = flat->text[flat->at[i]];
    }
    found->excerpt[length] = '\0';
}

static void fill_found(const plim_finder *finder, size_t i, const candidate *best,
                       plim_found *found)
{
    const plim_flat *flat = &finder->flat;
    size_t end = best->hit->end;
    if (best->said.end > 0) {
        const size_t read = finder->flat_begin + flat->at[best->said.end - 1] + 1;
        end = read > end ? read : end;
    }
    *found = (plim_found){
        .form = best->form,
        .begin = finder->hits[i].offset,
        .end = end,
        .said = best->said,
    };
    for (size_t f = 0; f < PLIM_FIGURE_COUNT; f++) {
        found->said.figures[f].offset += finder->flat_begin;
    }
    copy_words(flat, best->said.victim_begin, best->said.victim_end, found->victim,
               sizeof found->victim);
    const size_t quoted_from = line_begin(finder->piece->text, found->begin);
    const size_t quoted_to = line_end(finder->piece, end);
    write_excerpt(finder, quoted_from + 200 < found->begin ? found->begin : quoted_from, quoted_to,
                  found);
}

/* True if hit k only repeats in other words what the message said already. */
static bool is_absorbed(const plim_finder *finder, size_t k, const candidate *best, size_t end)
{
    const plim_scan_hit *hit = &finder->hits[k];
    const plim_phrase *phrase = &finder->phrases.items[hit->phrase];
    if (hit->offset < end) {
        return true;
    }
    const size_t mine = (size_t)(best->form - finder->table->forms);
    const bool on_line = hit->offset < line_end(finder->piece, end);
    bool is_mine = false;
    bool is_lesser = phrase->form_count > 0;
    for (size_t f = 0; f < phrase->form_count; f++) {
        is_mine |= phrase->forms[f] == mine;
        is_lesser &= phrase->forms[f] > mine;
    }
    size_t begin = 0;
    size_t word_end = 0;
    const bool in_reach = locate(finder, hit, &begin, &word_end) && begin < best->said.stop;
    const bool is_plain = (best->form->flags & PLIM_FORM_PLAIN) != 0;
    return (on_line && (is_lesser || (is_mine && is_plain))) ||
           (is_mine && in_reach && !is_plain && (on_line || best->form->sets != 0));
}

/* Marks of what is in force are noted; false for hits that may begin a message. */
static bool note_in_force(plim_finder *finder, const plim_scan_hit *hit)
{
    const plim_piece *piece = finder->piece;
    const plim_phrase *phrase = &finder->phrases.items[hit->phrase];
    if (phrase->mark != NULL &&
        plim_in_force_holds(phrase->mark, piece->text, piece->bytes, hit->offset, hit->end)) {
        if (phrase->mark->what != PLIM_IN_FORCE_COUNT) {
            finder->in_force |= PLIM_IN_FORCE_BIT(phrase->mark->what);
        }
        if (phrase->mark->program != PLIM_FAMILY_ANY &&
            (finder->program == NULL || phrase->mark < finder->program)) {
            finder->program = phrase->mark; /* special programs stand first in words.tsv */
        }
    }
    return phrase->form_count == 0 || (phrase->is_report && finder->ignores_reports);
}

/* "OutOfMemoryError('…: CUDA out of memory …": a class, and on its line the words themselves. */
static bool only_names_class(const plim_finder *finder, size_t i)
{
    const char *text = finder->piece->text;
    const plim_scan_hit *hit = &finder->hits[i];
    size_t begin = 0;
    size_t end = 0;
    const bool is_head = finder->phrases.items[hit->phrase].is_head;
    if (!finder->phrases.items[hit->phrase].is_plain || !locate(finder, hit, &begin, &end) ||
        (!is_head && !plim_prose_is_class_name(&finder->flat, end))) {
        return false;
    }
    for (size_t k = i + 1; k < finder->hit_count; k++) {
        const plim_scan_hit *later = &finder->hits[k];
        if (later->offset < hit->end) {
            continue; /* a phrase within the name */
        }
        if (later->offset - hit->offset > CLASS_REACH_BYTES ||
            (!is_head && memchr(text + hit->end, '\n', later->offset - hit->end) != NULL)) {
            return false;
        }
        if (finder->phrases.items[later->phrase].form_count > 0 &&
            !finder->phrases.items[later->phrase].is_head && locate(finder, later, &begin, &end) &&
            !plim_prose_is_class_name(&finder->flat, end) &&
            plim_prose_states_error(&finder->flat, begin, end)) {
            return true;
        }
    }
    return false;
}

/* What follows a message on its last line is not part of one that begins on a later line. */
static size_t after_line(const char *text, size_t done, size_t offset)
{
    const char *const feed = memchr(text + done, '\n', offset - done);
    return done > 0 && feed != NULL ? (size_t)(feed - text) + 1 : done;
}

static void done_to(size_t *done, size_t end)
{
    *done = end > *done ? end : *done;
}

/* After a message: what only repeats it is passed over. Returns the next hit to look at. */
static size_t pass_over(plim_finder *finder, size_t i, const candidate *best, size_t *done)
{
    const char *text = finder->piece->text;
    for (; i < finder->hit_count; i++) {
        const plim_scan_hit *next = &finder->hits[i];
        if (finder->phrases.items[next->phrase].form_count == 0) {
            (void)note_in_force(finder, next);
        } else if (!is_absorbed(finder, i, best, *done)) {
            break;
        } else if (memchr(text + next->offset, '\n', next->end - next->offset) == NULL) {
            done_to(done, next->end); /* "out of memory\nError": the next line has its own */
        }
    }
    return i;
}

/* Look at the collected hits that begin before `limit`. Returns where to go on. */
static plim_status take_hits(plim_finder *finder, size_t limit, size_t *done, plim_taker taker,
                             plim_error *err)
{
    size_t skip_to = 0; /* hits before it are within a name */
    for (size_t i = 0; i < finder->hit_count && finder->hits[i].offset < limit;) {
        const plim_scan_hit *hit = &finder->hits[i];
        candidate best = { 0 };
        if (hit->offset < *done || hit->offset < skip_to || note_in_force(finder, hit)) {
            i++;
            continue;
        }
        flatten_around(finder, hit->offset);
        if (only_names_class(finder, i)) {
            skip_to = hit->end; /* the message it heads stands after it */
            i++;
            continue;
        }
        if (!best_form(finder, i, after_line(finder->piece->text, *done, hit->offset), &best)) {
            i++;
            continue;
        }
        plim_found found;
        fill_found(finder, i, &best, &found);
        if (!taker.take(taker.ctx, &found)) {
            return plim_fail_memory(err, "keeping messages");
        }
        *done = found.end;
        i = pass_over(finder, i + 1, &best, done);
    }
    return PLIM_OK;
}

/* Collect hits from a place on. True when there may be more than there is room for. */
static bool collect_hits(plim_finder *finder, size_t begin)
{
    const plim_piece *piece = finder->piece;
    plim_scan_begin(finder->scan, piece->text + begin, piece->bytes - begin);
    finder->hit_count = 0;
    finder->flat_end = 0;
    finder->placed_from = finder->placed_to = 0;
    while (finder->hit_count < HITS_MAX &&
           plim_scan_next(finder->scan, &finder->hits[finder->hit_count])) {
        finder->hits[finder->hit_count].offset += begin;
        finder->hits[finder->hit_count++].end += begin;
    }
    return finder->hit_count == HITS_MAX;
}

plim_status plim_finder_search(plim_finder *finder, const plim_piece *piece, plim_taker taker,
                               size_t *ret_done, plim_error *err)
{
    /* What begins this late may go on in the next piece. */
    const size_t limit = piece->is_last ? piece->bytes
                         : piece->bytes > PLIM_FIND_AFTER_BYTES
                             ? piece->bytes - PLIM_FIND_AFTER_BYTES
                             : 0;
    finder->piece = piece;
    size_t done = piece->from;
    size_t begin = piece->from;
    bool more = true;
    while (more && begin < limit) {
        more = collect_hits(finder, begin);
        /* With a full list, the last hits do not see those after them. */
        const size_t seen = more ? finder->hits[HITS_MAX - AHEAD_MAX].offset : limit;
        const size_t now = plim_min(limit, seen > begin ? seen : begin + 1);
        PLIM_TRY(take_hits(finder, now, &done, taker, err));
        begin = done > now ? done : now;
    }
    *ret_done = done > limit ? done : limit;
    return PLIM_OK;
}
