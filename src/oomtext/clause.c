/*
 * clause.c - finding clauses in flat text, and reading the patterns beside their phrases.
 */
#include "oomtext/clause.h"

#include "oomtext/pattern.h"
#include "oomtext/phrase_set.h"
#include "oomtext/table.h"
#include "verdict/request.h"

#include <string.h>

#define CLAUSE_REACH_CHARS 300u /* from what was read to the next clause */

struct plim_clause_index {
    const plim_message_table *table;
    plim_phrase_set set;
    uint16_t first[PLIM_CLAUSES_MAX]; /* by phrase: its first clause, and from there */
    uint16_t next[PLIM_CLAUSES_MAX];  /* the others, in the order of the table */
};

plim_clause_index *plim_clause_index_create(plim_arena *arena)
{
    plim_clause_index *const index = plim_arena_alloc(arena, sizeof *index);
    if (index == NULL) {
        return NULL;
    }
    index->table = plim_message_tables();
    plim_phrase_set_init(&index->set);
    memset(index->first, 0xff, sizeof index->first);
    for (size_t i = 0; i < index->table->clause_count; i++) {
        const uint16_t id =
            plim_phrase_set_add(&index->set, arena, index->table->clauses[i].phrase);
        if (id == PLIM_PHRASE_NONE) {
            return NULL;
        }
        uint16_t *link = &index->first[id];
        while (*link != PLIM_PHRASE_NONE) {
            link = &index->next[*link];
        }
        *link = (uint16_t)i;
        index->next[i] = PLIM_PHRASE_NONE;
    }
    return index;
}

bool plim_phrase_at(const plim_flat *flat, size_t w, const char *phrase, size_t *ret_end)
{
    for (; *phrase != '\0'; phrase++) {
        const char c = plim_lower(*phrase);
        if (!plim_is_word_char(c)) {
            continue;
        }
        if (w >= flat->word_count || flat->words[w] != c) {
            return false;
        }
        w++;
    }
    *ret_end = w;
    return true;
}

/* The letter as it stands in the text. */
static char original(const plim_flat *flat, size_t i)
{
    return flat->text[flat->at[i]];
}

/* "7.5MBtotal", where a paste lost a line's end: a number's unit in capitals begins no word. */
static bool follows_unit(const plim_flat *flat, size_t i)
{
    if (i < 2 || original(flat, i - 1) != 'B') {
        return false;
    }
    const char before = flat->full[i - 2];
    const size_t digit = strchr("kmgt", before) != NULL && i > 2 ? i - 3 : i - 2;
    return plim_is_digit(flat->full[digit]);
}

static bool is_glued(const plim_flat *flat, size_t w)
{
    const size_t i = flat->word_at[w];
    if (follows_unit(flat, i)) {
        return false;
    }
    return flat->gap[i] == 0 && i > 0 && plim_is_lower(flat->full[i - 1]) &&
           plim_is_lower(flat->full[i]);
}

bool plim_phrase_stands_alone(const plim_flat *flat, size_t begin, size_t end)
{
    return !is_glued(flat, begin) && (end >= flat->word_count || !is_glued(flat, end));
}

static bool has_blanks(const plim_flat *flat, size_t begin, size_t end)
{
    for (size_t w = begin + 1; w < end; w++) {
        if ((flat->gap[flat->word_at[w]] & PLIM_GAP_BLANK) != 0) {
            return true;
        }
    }
    return false;
}

/* --- one message --- */

/* What is known of each figure while clauses are read. */
typedef struct claims {
    plim_said *said;
    uint8_t rank[PLIM_FIGURE_COUNT]; /* 0 not said, 1 early, 2 said, 3 exactly */
    uint8_t device_rank;
    uint64_t pid;
} claims;

static void claim_process(claims *c, uint64_t bytes)
{
    plim_said *said = c->said;
    if (said->process_count < PLIM_PROCESSES_MAX) {
        said->processes[said->process_count++] =
            (plim_process_figure){ .pid = c->pid, .bytes = bytes };
    }
    plim_figure *sum = &said->figures[PLIM_FIGURE_OTHER_PROCESSES];
    const uint64_t so_far = sum->bytes == PLIM_BYTES_UNKNOWN ? 0 : sum->bytes;
    sum->bytes = bytes > UINT64_MAX - 1 - so_far ? UINT64_MAX - 1 : so_far + bytes;
}

static void claim_figure(claims *c, const plim_reading *r, const plim_caught *what, uint8_t rank)
{
    const plim_flat *flat = r->flat;
    const uint32_t from = flat->at[what->begin];
    const uint32_t to = flat->at[what->amount.end - 1] + 1;
    c->rank[what->in.figure] = rank;
    c->said->figures[what->in.figure] = (plim_figure){
        .bytes = what->amount.bytes,
        .slack_bytes = what->amount.slack_bytes,
        .offset = from,
        .length = to - from,
    };
}

/* True if a claim of this rank may replace what was said: the first one wins, early ones lose to
 * all, and of early ones the last stands. */
static bool may_claim(uint8_t old, uint8_t rank)
{
    return rank > old || (rank == 1 && old == 1);
}

static void claim(claims *c, const plim_reading *r, uint8_t rank)
{
    uint8_t replaced[PLIM_FIGURE_COUNT] = { 0 }; /* by this very clause: its last word counts */
    for (size_t i = 0; i < r->count; i++) {
        const plim_caught *what = &r->caught[i];
        if (what->in.where == PLIM_PLACE_DEVICE) {
            if (may_claim(c->device_rank, rank) && what->amount.bytes <= UINT16_MAX) {
                c->said->device = (int32_t)what->amount.bytes;
                c->device_rank = rank;
            }
        } else if (what->in.where == PLIM_PLACE_VICTIM) {
            c->said->victim = c->said->victim == 0 ? what->amount.bytes : c->said->victim;
        } else if (what->in.where == PLIM_PLACE_NAME) {
            if (c->said->victim_end == 0) { /* the first one stays */
                c->said->victim_begin = what->begin;
                c->said->victim_end = what->amount.end;
            }
        } else if (what->in.where == PLIM_PLACE_PID) {
            c->pid = what->amount.bytes;
        } else if (what->amount.is_sentinel || what->in.where == PLIM_PLACE_NOWHERE) {
            continue;
        } else if (what->in.where == PLIM_PLACE_PROCESS) {
            claim_process(c, what->amount.bytes);
        } else if (replaced[what->in.figure] != 0 || may_claim(c->rank[what->in.figure], rank)) {
            claim_figure(c, r, what, rank);
            replaced[what->in.figure] = 1;
        }
    }
    if (r->i > c->said->end) {
        c->said->end = r->i;
    }
}

/* Read one clause whose phrase stands at words [w, end). False when it yields nothing. */
static bool read_clause(const plim_flat *flat, const plim_clause *clause, size_t w, size_t end,
                        plim_reading *ret)
{
    plim_reading r = { .flat = flat, .i = flat->word_at[end - 1] + 1u };
    if (clause->before[0] != '\0') {
        const char *pattern = clause->before;
        const plim_pattern_piece s = plim_pattern_slot(&pattern);
        plim_caught c = { .in = s };
        if (plim_amount_read_before(flat, flat->word_at[w], s.kind, &c.amount, &c.begin) &&
            plim_pattern_continues(flat, c.begin, flat->word_at[w])) {
            r.caught[r.count++] = c;
        }
    }
    if (clause->after[0] != '\0') {
        const bool all = clause->after[0] == '!';
        const plim_reading before = r;
        const size_t had = r.count;
        const bool matched = plim_pattern_match(&r, clause->after + all);
        if (!matched && (all || r.count == had)) {
            r = before;
        } else if (r.count > 0 && r.caught[r.count - 1].in.kind == PLIM_AMOUNT_UNITLESS &&
                   r.caught[r.count - 1].in.where != PLIM_PLACE_NOWHERE) {
            r.count--; /* cut before its unit */
        }
    }
    *ret = r;
    return r.count > 0;
}

/* One reading of a part of a text. */
typedef struct course {
    const plim_clause_index *index;
    const plim_flat *flat;
    uint64_t sets;
    claims claims;
    uint8_t seen[PLIM_CLAUSES_MAX]; /* by clause: it was read after the anchor */
    bool is_last;                   /* nothing of the message follows */
} course;

/* All clauses of a phrase that stands at words [w, end). False when the next message begins here.
 */
static bool read_phrase(course *c, uint16_t phrase, size_t w, size_t end, bool is_early)
{
    const plim_clause *const table = c->index->table->clauses;
    for (uint16_t i = c->index->first[phrase]; i != PLIM_PHRASE_NONE; i = c->index->next[i]) {
        const plim_clause *const clause = &table[i];
        plim_reading r;
        if ((clause->sets & c->sets) == 0 ||
            (is_early && (clause->flags & PLIM_CLAUSE_EARLY) == 0) ||
            ((clause->flags & PLIM_CLAUSE_GLUED) != 0 && has_blanks(c->flat, w, end)) ||
            !read_clause(c->flat, clause, w, end, &r)) {
            continue;
        }
        if (!is_early && (clause->flags & PLIM_CLAUSE_KEY) != 0 && c->seen[i] != 0) {
            return false;
        }
        c->seen[i] = !is_early;
        const bool is_exact = (clause->flags & PLIM_CLAUSE_EXACT) != 0;
        claim(&c->claims, &r, is_exact ? 3 : is_early ? 1 : 2);
        c->is_last |= (clause->flags & PLIM_CLAUSE_LAST) != 0;
    }
    return true;
}

/* All clauses at one word. False when the next message begins here. */
static bool read_at(course *c, size_t w, bool is_early)
{
    const plim_flat *const flat = c->flat;
    const plim_phrase_set *const set = &c->index->set;
    const char next = w + 1 < flat->word_count ? flat->words[w + 1] : '\0';
    for (uint16_t p = plim_phrase_set_first(set, flat->words[w], next); p != PLIM_PHRASE_NONE;
         p = set->phrases[p].next) {
        const plim_folded *const phrase = &set->phrases[p];
        const size_t end = w + phrase->length;
        if (end <= flat->word_count &&
            memcmp(flat->words + w, phrase->bytes, phrase->length) == 0 &&
            plim_phrase_stands_alone(flat, w, end) && !read_phrase(c, p, w, end, is_early)) {
            return false;
        }
    }
    return true;
}

/* True if words[w] is too far after what was read to belong to it. */
static bool is_far(const plim_flat *flat, size_t w, size_t anchor, size_t end)
{
    const size_t last = end > flat->word_at[anchor] ? end : flat->word_at[anchor];
    return flat->word_at[w] > last + CLAUSE_REACH_CHARS;
}

/* Reads up to reach.to, or where a message ends. Returns whether another one begins there. */
static bool read_until(const plim_clause_index *index, const plim_flat *flat, uint64_t sets,
                       plim_reach reach, plim_said *ret)
{
    *ret = (plim_said){ .device = PLIM_DEVICE_UNKNOWN };
    plim_figures_clear(ret->figures);
    course c = { .index = index, .flat = flat, .sets = sets, .claims = { .said = ret } };
    bool is_other = false;
    size_t w = reach.from;
    while (w < reach.to && !c.is_last &&
           (w < reach.anchor || !is_far(flat, w, reach.anchor, ret->end))) {
        is_other = !read_at(&c, w, w < reach.anchor);
        if (is_other) {
            break;
        }
        w++;
    }
    ret->stop = w;
    return is_other;
}

void plim_clauses_read(const plim_clause_index *index, const plim_flat *flat, uint64_t sets,
                       plim_reach reach, plim_said *ret)
{
    if (!read_until(index, flat, sets, reach, ret)) {
        return;
    }
    /* The other one's line may have said something before its first words: not of this message. */
    size_t w = ret->stop;
    while (w > reach.anchor && flat->line[flat->word_at[w - 1]] == flat->line[flat->word_at[w]]) {
        w--;
    }
    if (w > reach.anchor) {
        (void)read_until(index, flat, sets, (plim_reach){ reach.from, reach.anchor, w }, ret);
    }
}
