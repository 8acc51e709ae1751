/*
 * phrases.c - collecting the phrases of forms and marks, each once.
 */
#include "oomtext/phrases.h"

#include "oomtext/phrase_set.h"

#include <string.h>

/* The phrases while they are collected. */
typedef struct collecting {
    plim_phrase_set set;
    plim_phrase items[PLIM_PHRASES_MAX];
} collecting;

static plim_phrase *find_or_add(collecting *c, plim_arena *arena, const char *text)
{
    const size_t count = c->set.count;
    const uint16_t id = plim_phrase_set_add(&c->set, arena, text);
    if (id == PLIM_PHRASE_NONE) {
        return NULL;
    }
    if (c->set.count > count) {
        c->items[id] = (plim_phrase){ .folded = c->set.phrases[id].bytes, .is_report = true };
    }
    return &c->items[id];
}

static bool add_form(plim_phrase *phrase, plim_arena *arena, const plim_form *form, uint16_t index)
{
    uint16_t *forms = plim_arena_alloc(arena, (phrase->form_count + 1u) * sizeof *forms);
    if (forms == NULL) {
        return false;
    }
    if (phrase->form_count > 0) {
        memcpy(forms, phrase->forms, phrase->form_count * sizeof *forms);
    }
    forms[phrase->form_count++] = index;
    phrase->forms = forms;
    phrase->is_report &= (form->flags & PLIM_FORM_REPORT) != 0;
    phrase->is_plain |= (form->flags & PLIM_FORM_PLAIN) != 0;
    phrase->is_prose |= (form->flags & PLIM_FORM_PROSE) != 0;
    phrase->is_head |= (form->flags & PLIM_FORM_HEAD) != 0;
    return true;
}

static bool collect(collecting *c, const plim_message_table *table, plim_arena *arena)
{
    char text[PLIM_PHRASE_TEXT_BYTES];
    for (size_t i = 0; i < table->form_count; i++) {
        const plim_form *const form = &table->forms[i];
        for (const char *list = form->phrases; plim_phrase_next(&list, text, sizeof text);) {
            plim_phrase *phrase = find_or_add(c, arena, text);
            if (phrase == NULL || !add_form(phrase, arena, form, (uint16_t)i)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < table->mark_count; i++) {
        plim_phrase *phrase = find_or_add(c, arena, table->marks[i].phrase);
        if (phrase == NULL) {
            return false;
        }
        phrase->mark = &table->marks[i];
    }
    return true;
}

bool plim_phrases_collect(const plim_message_table *table, plim_arena *arena, plim_phrases *ret)
{
    collecting *const c = plim_arena_alloc(arena, sizeof *c);
    const char **const folded = plim_arena_alloc(arena, PLIM_PHRASES_MAX * sizeof *folded);
    if (c == NULL || folded == NULL) {
        return false;
    }
    plim_phrase_set_init(&c->set);
    if (!collect(c, table, arena)) {
        return false;
    }
    for (size_t i = 0; i < c->set.count; i++) {
        folded[i] = c->items[i].folded;
    }
    *ret = (plim_phrases){ c->items, folded, c->set.count };
    return true;
}
