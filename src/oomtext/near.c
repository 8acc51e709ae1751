/*
 * near.c - the places of many phrases in one stretch of text.
 */
#include "oomtext/near.h"

#include "oomtext/phrase_set.h"
#include "oomtext/table.h"

#include <string.h>

#define LISTS      3u /* with, also, without */
#define PLACES_MAX (2 * PLIM_FLAT_BYTES_MAX)

/* The phrases of one list of a form: a run of ids. */
typedef struct near_list {
    uint32_t first;
    uint16_t count;
} near_list;

typedef struct near_place {
    uint16_t phrase;
    uint16_t word;
} near_place;

struct plim_near {
    const plim_message_table *table;
    plim_phrase_set set;
    uint16_t *ids;             /* of all lists, one after the other */
    near_list (*lists)[LISTS]; /* by form */
    near_place *found;         /* in the order of the text */
    uint16_t *words;           /* the same, by phrase and then by place */
    uint32_t begins[PLIM_PHRASES_MAX + 1];
};

static size_t count_phrases(const char *list)
{
    size_t count = list[0] != '\0';
    for (; *list != '\0'; list++) {
        count += *list == '|';
    }
    return count;
}

static bool add_list(plim_near *near, plim_arena *arena, const char *list, uint32_t first,
                     near_list *ret)
{
    char phrase[PLIM_PHRASE_TEXT_BYTES];
    *ret = (near_list){ .first = first };
    while (plim_phrase_next(&list, phrase, sizeof phrase)) {
        const uint16_t id = plim_phrase_set_add(&near->set, arena, phrase);
        if (id == PLIM_PHRASE_NONE) {
            return false;
        }
        near->ids[first + ret->count++] = id;
    }
    return true;
}

static bool add_forms(plim_near *near, plim_arena *arena)
{
    const plim_form *const forms = near->table->forms;
    uint32_t next = 0;
    for (size_t i = 0; i < near->table->form_count; i++) {
        const char *const lists[LISTS] = { forms[i].with, forms[i].also, forms[i].without };
        for (size_t k = 0; k < LISTS; k++) {
            if (!add_list(near, arena, lists[k], next, &near->lists[i][k])) {
                return false;
            }
            next += near->lists[i][k].count;
        }
    }
    return true;
}

plim_near *plim_near_create(plim_arena *arena)
{
    const plim_message_table *const table = plim_message_tables();
    const plim_form *const forms = table->forms;
    const size_t form_count = table->form_count;
    size_t id_count = 0;
    for (size_t i = 0; i < form_count; i++) {
        id_count += count_phrases(forms[i].with) + count_phrases(forms[i].also) +
                    count_phrases(forms[i].without);
    }
    plim_near *near = plim_arena_alloc(arena, sizeof *near);
    if (near == NULL) {
        return NULL;
    }
    near->table = table;
    plim_phrase_set_init(&near->set);
    near->ids = plim_arena_alloc(arena, id_count * sizeof *near->ids);
    near->lists = plim_arena_alloc(arena, form_count * sizeof *near->lists);
    near->found = plim_arena_alloc(arena, PLACES_MAX * sizeof *near->found);
    near->words = plim_arena_alloc(arena, PLACES_MAX * sizeof *near->words);
    if (near->ids == NULL || near->lists == NULL || near->found == NULL || near->words == NULL ||
        !add_forms(near, arena)) {
        return NULL;
    }
    return near;
}

static size_t find_places(plim_near *near, const plim_flat *flat)
{
    size_t count = 0;
    for (size_t w = 0; w + 1 < flat->word_count; w++) {
        for (uint16_t i = plim_phrase_set_first(&near->set, flat->words[w], flat->words[w + 1]);
             i != PLIM_PHRASE_NONE; i = near->set.phrases[i].next) {
            const plim_folded *const phrase = &near->set.phrases[i];
            if (phrase->length <= flat->word_count - w && count < PLACES_MAX &&
                memcmp(phrase->bytes, flat->words + w, phrase->length) == 0) {
                near->found[count++] = (near_place){ i, (uint16_t)w };
            }
        }
    }
    return count;
}

void plim_near_set(plim_near *near, const plim_flat *flat)
{
    _Static_assert(PLIM_FLAT_BYTES_MAX <= UINT16_MAX, "places are 16 bits");
    const size_t count = find_places(near, flat);
    memset(near->begins, 0, sizeof near->begins);
    for (size_t i = 0; i < count; i++) {
        near->begins[near->found[i].phrase + 1]++;
    }
    for (size_t i = 0; i < near->set.count; i++) {
        near->begins[i + 1] += near->begins[i];
    }
    for (size_t i = 0; i < count; i++) { /* begins become ends … */
        near->words[near->begins[near->found[i].phrase]++] = near->found[i].word;
    }
    for (size_t i = near->set.count; i > 0; i--) { /* … and begins again */
        near->begins[i] = near->begins[i - 1];
    }
    near->begins[0] = 0;
}

/* True if a phrase stands in words [from, to), all of it. */
static bool stands_in(const plim_near *near, uint16_t id, size_t from, size_t to)
{
    size_t low = near->begins[id];
    size_t high = near->begins[id + 1];
    const size_t end = high;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (near->words[middle] < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && near->words[low] + (size_t)near->set.phrases[id].length <= to;
}

static bool has_one(const plim_near *near, near_list list, size_t from, size_t to)
{
    for (uint16_t i = 0; i < list.count; i++) {
        if (stands_in(near, near->ids[list.first + i], from, to)) {
            return true;
        }
    }
    return false;
}

bool plim_near_fits(const plim_near *near, const plim_form *form, size_t from, size_t to)
{
    const near_list *lists = near->lists[form - near->table->forms];
    return (lists[0].count == 0 || has_one(near, lists[0], from, to)) &&
           (lists[1].count == 0 || has_one(near, lists[1], from, to)) &&
           !has_one(near, lists[2], from, to);
}
