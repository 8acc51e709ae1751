/*
 * clause.c - finding clauses in flat text, and reading the patterns beside their phrases.
 */
#include "oomtext/clause.h"

#include "base/assert.h"
#include "oomtext/clauses.h"
#include "oomtext/shape.h"
#include "verdict/request.h"

#include <string.h>

#define PHRASE_BYTES_MAX   64u
#define BUCKETS            1024u /* by the first two characters of a phrase */
#define NONE               UINT16_MAX
#define CLAUSES_MAX        512u
#define SKIP_CHARS_MAX     64u  /* of what ~ passes over */
#define CLAUSE_REACH_CHARS 300u /* from what was read to the next clause */

typedef struct folded_phrase {
    uint8_t length;
    char bytes[PHRASE_BYTES_MAX];
    uint16_t next; /* clause of the same bucket */
} folded_phrase;

struct plim_clause_index {
    uint16_t first[BUCKETS];
    folded_phrase *phrases;
    size_t count;
};

static size_t bucket_of(char a, char b)
{
    return ((unsigned char)a * 31u + (unsigned char)b) % BUCKETS;
}

static void fold(folded_phrase *ret, const char *phrase)
{
    for (; *phrase != '\0' && ret->length < PHRASE_BYTES_MAX; phrase++) {
        if (plim_is_word_char(plim_lower(*phrase))) {
            ret->bytes[ret->length++] = plim_lower(*phrase);
        }
    }
}

plim_clause_index *plim_clause_index_create(const plim_mem *mem)
{
    size_t count = 0;
    const plim_clause *clauses = plim_clauses(&count);
    PLIM_ASSERT(count <= CLAUSES_MAX);
    plim_clause_index *index = plim_mem_alloc(mem, 1, sizeof *index);
    folded_phrase *phrases = plim_mem_alloc_zeroed(mem, count, sizeof *phrases);
    if (index == NULL || phrases == NULL) {
        plim_mem_free(mem, index, 1, sizeof *index);
        plim_mem_free(mem, phrases, count, sizeof *phrases);
        return NULL;
    }
    index->phrases = phrases;
    index->count = count;
    memset(index->first, 0xff, sizeof index->first);
    for (size_t i = count; i-- > 0;) { /* backwards: buckets then keep the table's order */
        fold(&phrases[i], clauses[i].phrase);
        uint16_t *first = &index->first[bucket_of(phrases[i].bytes[0], phrases[i].bytes[1])];
        phrases[i].next = *first;
        *first = (uint16_t)i;
    }
    return index;
}

void plim_clause_index_destroy(plim_clause_index *index, const plim_mem *mem)
{
    if (index != NULL) {
        plim_mem_free(mem, index->phrases, index->count, sizeof *index->phrases);
        plim_mem_free(mem, index, 1, sizeof *index);
    }
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

/* --- patterns --- */

/* Where a {name} puts what it reads. */
typedef enum place {
    PLACE_FIGURE,
    PLACE_DEVICE,
    PLACE_PID,
    PLACE_PROCESS,
    PLACE_SHAPE,
    PLACE_NOWHERE,
} place;

typedef struct slot {
    place where;
    plim_figure_id figure;
    plim_amount_kind kind;
} slot;

typedef struct caught {
    slot in;
    plim_amount amount;
    size_t begin;
} caught;

#define CAUGHT_MAX 6u

/* One clause while it is read: what it caught so far. */
typedef struct reading {
    const plim_flat *flat;
    size_t i; /* index in full */
    caught caught[CAUGHT_MAX];
    size_t count;
} reading;

static const struct {
    const char *name;
    place where;
    plim_figure_id figure;
} slot_names[] = {
    { "requested", PLACE_FIGURE, PLIM_FIGURE_REQUESTED },
    { "total", PLACE_FIGURE, PLIM_FIGURE_TOTAL },
    { "free", PLACE_FIGURE, PLIM_FIGURE_FREE },
    { "allocated", PLACE_FIGURE, PLIM_FIGURE_ALLOCATED },
    { "reserved", PLACE_FIGURE, PLIM_FIGURE_RESERVED },
    { "unallocated", PLACE_FIGURE, PLIM_FIGURE_RESERVED_UNALLOCATED },
    { "process", PLACE_FIGURE, PLIM_FIGURE_PROCESS },
    { "limit", PLACE_FIGURE, PLIM_FIGURE_LIMIT },
    { "private", PLACE_FIGURE, PLIM_FIGURE_PRIVATE_POOLS },
    { "allocated_peak", PLACE_FIGURE, PLIM_FIGURE_ALLOCATED_PEAK },
    { "reserved_peak", PLACE_FIGURE, PLIM_FIGURE_RESERVED_PEAK },
    { "active", PLACE_FIGURE, PLIM_FIGURE_ACTIVE },
    { "inactive_split", PLACE_FIGURE, PLIM_FIGURE_INACTIVE_SPLIT },
    { "other", PLACE_FIGURE, PLIM_FIGURE_OTHER_ALLOCATIONS },
    { "shared_required", PLACE_FIGURE, PLIM_FIGURE_SHARED_REQUIRED },
    { "shared_limit", PLACE_FIGURE, PLIM_FIGURE_SHARED_LIMIT },
    { "device", PLACE_DEVICE, PLIM_FIGURE_COUNT },
    { "pid", PLACE_PID, PLIM_FIGURE_COUNT },
    { "process_n", PLACE_PROCESS, PLIM_FIGURE_COUNT },
    { "shape", PLACE_SHAPE, PLIM_FIGURE_REQUESTED_FROM_SHAPE },
    { "", PLACE_NOWHERE, PLIM_FIGURE_COUNT },
};

/* Reads "{name:kind}" at *pattern and steps over it. */
static slot read_slot(const char **pattern)
{
    const char *name = *pattern + 1;
    const char *end = strchr(name, '}');
    const char *colon = memchr(name, ':', (size_t)(end - name));
    const size_t length = (size_t)((colon != NULL ? colon : end) - name);
    slot s = { .kind = PLIM_AMOUNT_SIZED };
    switch (colon != NULL ? colon[1] : 's') {
    case 'b':
        s.kind = PLIM_AMOUNT_BYTES;
        break;
    case 'a':
        s.kind = PLIM_AMOUNT_ANY;
        break;
    case 'i':
        s.kind = PLIM_AMOUNT_INTEGER;
        break;
    case 'u':
        s.kind = PLIM_AMOUNT_UNITLESS;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof slot_names / sizeof slot_names[0]; i++) {
        if (strlen(slot_names[i].name) == length && memcmp(slot_names[i].name, name, length) == 0) {
            s.where = slot_names[i].where;
            s.figure = slot_names[i].figure;
        }
    }
    *pattern = end + 1;
    return s;
}

/* What was wrapped goes on in the very next line: behind an empty one, something else begins. */
static bool is_on_next_line(const plim_flat *flat, size_t i, size_t later)
{
    return later >= flat->count || flat->line[later] - flat->line[i] <= 1;
}

static bool catch_amount(reading *r, slot s)
{
    plim_amount amount = { 0 };
    const size_t begin = r->i;
    if (s.where == PLACE_SHAPE) {
        if (!plim_shape_read(r->flat, begin, &amount)) {
            return false;
        }
    } else if ((begin > 0 && !is_on_next_line(r->flat, begin - 1, begin)) ||
               !plim_amount_read(r->flat, begin, s.kind, &amount)) {
        return false;
    }
    r->i = amount.end;
    if (r->count > 0 && r->caught[r->count - 1].in.kind == PLIM_AMOUNT_UNITLESS) {
        plim_amount_share_unit(&r->caught[r->count - 1].amount, &amount);
    }
    if (r->count < CAUGHT_MAX) {
        r->caught[r->count++] = (caught){ s, amount, begin };
    }
    return true;
}

static void skip_to_digit(reading *r)
{
    const plim_flat *flat = r->flat;
    for (size_t n = 0; n < SKIP_CHARS_MAX && r->i < flat->count; n++, r->i++) {
        if (plim_is_digit(flat->full[r->i])) {
            return;
        }
    }
}

/* Match one pattern up to `end`; false when something of it is not there. */
static bool match(reading *r, const char *pattern, const char *end)
{
    while (pattern < end) {
        if (*pattern == ' ') {
            pattern++;
        } else if (*pattern == '~') {
            skip_to_digit(r);
            pattern++;
        } else if (*pattern == '{') {
            if (!catch_amount(r, read_slot(&pattern))) {
                return false;
            }
        } else if (r->i < r->flat->count && r->flat->full[r->i] == plim_lower(*pattern)) {
            r->i++;
            pattern++;
        } else {
            return false;
        }
    }
    return true;
}

/* The same with parts in brackets, which may be missing. They do not nest. */
static bool match_all(reading *r, const char *pattern)
{
    while (*pattern != '\0') {
        const char *open = strchr(pattern, '[');
        const char *end = open != NULL ? open : pattern + strlen(pattern);
        if (!match(r, pattern, end)) {
            return false;
        }
        if (open == NULL) {
            return true;
        }
        const char *close = strchr(open, ']');
        const reading before = *r;
        if (!match(r, open + 1, close)) {
            *r = before;
        }
        pattern = close + 1;
    }
    return true;
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

static void claim_figure(claims *c, const reading *r, const caught *what, uint8_t rank)
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

/* Whether a claim of this rank may replace what was said: the first one wins, early ones lose to
 * all, and of early ones the last stands. */
static bool may_claim(uint8_t old, uint8_t rank)
{
    return rank > old || (rank == 1 && old == 1);
}

static void claim(claims *c, const reading *r, uint8_t rank)
{
    uint8_t replaced[PLIM_FIGURE_COUNT] = { 0 }; /* by this very clause: its last word counts */
    for (size_t i = 0; i < r->count; i++) {
        const caught *what = &r->caught[i];
        if (what->in.where == PLACE_DEVICE) {
            if (may_claim(c->device_rank, rank) && what->amount.bytes <= UINT16_MAX) {
                c->said->device = (int32_t)what->amount.bytes;
                c->device_rank = rank;
            }
        } else if (what->in.where == PLACE_PID) {
            c->pid = what->amount.bytes;
        } else if (what->amount.is_sentinel || what->in.where == PLACE_NOWHERE) {
            continue;
        } else if (what->in.where == PLACE_PROCESS) {
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
                        reading *ret)
{
    reading r = { .flat = flat, .i = flat->word_at[end - 1] + 1u };
    if (clause->before != NULL) {
        const char *pattern = clause->before;
        const slot s = read_slot(&pattern);
        caught c = { .in = s };
        if (plim_amount_read_before(flat, flat->word_at[w], s.kind, &c.amount, &c.begin) &&
            is_on_next_line(flat, c.begin, flat->word_at[w])) {
            r.caught[r.count++] = c;
        }
    }
    if (clause->after != NULL) {
        const bool all = clause->after[0] == '!';
        const reading before = r;
        const size_t had = r.count;
        const bool matched = match_all(&r, clause->after + all);
        if (!matched && (all || r.count == had)) {
            r = before;
        } else if (r.count > 0 && r.caught[r.count - 1].in.kind == PLIM_AMOUNT_UNITLESS &&
                   r.caught[r.count - 1].in.where != PLACE_NOWHERE) {
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
    uint32_t sets;
    claims claims;
    uint8_t seen[CLAUSES_MAX]; /* by clause: it was read behind the anchor */
    bool is_last;              /* nothing of the message follows */
} course;

/* Whether clause i stands at words [w, end) and says something, which is read. */
static bool reads_at(const course *c, uint16_t i, size_t w, bool is_early, reading *ret)
{
    size_t table_count = 0;
    const plim_clause *clause = &plim_clauses(&table_count)[i];
    const plim_flat *flat = c->flat;
    const folded_phrase *phrase = &c->index->phrases[i];
    const size_t end = w + phrase->length;
    return (clause->sets & c->sets) != 0 && end <= flat->word_count &&
           (!is_early || (clause->flags & PLIM_CLAUSE_EARLY) != 0) &&
           memcmp(flat->words + w, phrase->bytes, phrase->length) == 0 &&
           plim_phrase_stands_alone(flat, w, end) &&
           ((clause->flags & PLIM_CLAUSE_GLUED) == 0 || !has_blanks(flat, w, end)) &&
           read_clause(flat, clause, w, end, ret);
}

/* All clauses at one word. False when the next message begins here. */
static bool read_at(course *c, size_t w, bool is_early)
{
    size_t table_count = 0;
    const plim_clause *table = plim_clauses(&table_count);
    const char next = w + 1 < c->flat->word_count ? c->flat->words[w + 1] : '\0';
    for (uint16_t i = c->index->first[bucket_of(c->flat->words[w], next)]; i != NONE;
         i = c->index->phrases[i].next) {
        reading r;
        if (!reads_at(c, i, w, is_early, &r)) {
            continue;
        }
        if (!is_early && (table[i].flags & PLIM_CLAUSE_KEY) != 0 && c->seen[i] != 0) {
            return false;
        }
        c->seen[i] = !is_early;
        const bool is_exact = (table[i].flags & PLIM_CLAUSE_EXACT) != 0;
        claim(&c->claims, &r, is_exact ? 3 : is_early ? 1 : 2);
        c->is_last |= (table[i].flags & PLIM_CLAUSE_LAST) != 0;
    }
    return true;
}

/* Whether words[w] is too far behind what was read to belong to it. */
static bool is_far(const plim_flat *flat, size_t w, size_t anchor, size_t end)
{
    const size_t last = end > flat->word_at[anchor] ? end : flat->word_at[anchor];
    return flat->word_at[w] > last + CLAUSE_REACH_CHARS;
}

/* Reads up to reach.to, or where a message ends. Returns whether another one begins there. */
static bool read_until(const plim_clause_index *index, const plim_flat *flat, uint32_t sets,
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

void plim_clauses_read(const plim_clause_index *index, const plim_flat *flat, uint32_t sets,
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
