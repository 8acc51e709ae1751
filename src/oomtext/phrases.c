/*
 * phrases.c - collecting the phrases of all tables, each once.
 */
#include "oomtext/phrases.h"

#include "base/assert.h"
#include "oomtext/scan.h"

#include <string.h>

bool plim_phrase_next(const char **list, char *ret, size_t ret_bytes)
{
    if (*list == NULL || **list == '\0') {
        return false;
    }
    const char *end = strchr(*list, '|');
    const size_t length = end != NULL ? (size_t)(end - *list) : strlen(*list);
    PLIM_ASSERT(length < ret_bytes);
    memcpy(ret, *list, length);
    ret[length] = '\0';
    *list += length + (end != NULL);
    return true;
}

/* The phrase with this folded text, new if there is none; NULL when there is no memory. */
static plim_phrase *find_or_add(plim_phrases *phrases, plim_arena *arena, const char *folded,
                                size_t length)
{
    for (size_t i = 0; i < phrases->count; i++) {
        if (phrases->items[i].length == length &&
            memcmp(phrases->items[i].folded, folded, length) == 0) {
            return &phrases->items[i];
        }
    }
    PLIM_ASSERT(phrases->count < PLIM_SCAN_PHRASES_MAX);
    const char *copy = plim_arena_copy(arena, folded, length);
    if (copy == NULL) {
        return NULL;
    }
    phrases->folded[phrases->count] = copy;
    plim_phrase *phrase = &phrases->items[phrases->count++];
    *phrase = (plim_phrase){ .folded = copy, .length = length };
    return phrase;
}

static bool add_form(plim_phrase *phrase, plim_arena *arena, uint16_t form)
{
    uint16_t *forms = plim_arena_alloc(arena, (phrase->form_count + 1u) * sizeof *forms);
    if (forms == NULL) {
        return false;
    }
    if (phrase->form_count > 0) {
        memcpy(forms, phrase->forms, phrase->form_count * sizeof *forms);
    }
    forms[phrase->form_count++] = form;
    phrase->forms = forms;
    return true;
}

bool plim_phrases_collect(plim_arena *arena, plim_phrases *ret)
{
    plim_phrases phrases = {
        .items = plim_arena_alloc(arena, PLIM_SCAN_PHRASES_MAX * sizeof *phrases.items),
        .folded = plim_arena_alloc(arena, PLIM_SCAN_PHRASES_MAX * sizeof *phrases.folded),
    };
    if (phrases.items == NULL || phrases.folded == NULL) {
        return false;
    }
    size_t form_count = 0;
    const plim_form *forms = plim_forms(&form_count);
    char text[128];
    char folded[128];
    for (size_t i = 0; i < form_count; i++) {
        for (const char *list = forms[i].anchors; plim_phrase_next(&list, text, sizeof text);) {
            const size_t length = plim_scan_fold(text, strlen(text), folded);
            plim_phrase *phrase = find_or_add(&phrases, arena, folded, length);
            if (phrase == NULL || !add_form(phrase, arena, (uint16_t)i)) {
                return false;
            }
            phrase->is_report = (phrase->form_count == 1 || phrase->is_report) &&
                                (forms[i].flags & PLIM_FORM_REPORT) != 0;
            phrase->is_plain |= (forms[i].flags & PLIM_FORM_PLAIN) != 0;
            phrase->is_head |= (forms[i].flags & PLIM_FORM_HEAD) != 0;
        }
    }
    size_t mark_count = 0;
    const plim_in_force_mark *marks = plim_in_force_marks(&mark_count);
    for (size_t i = 0; i < mark_count; i++) {
        plim_phrase *phrase =
            find_or_add(&phrases, arena, marks[i].phrase, strlen(marks[i].phrase));
        if (phrase == NULL) {
            return false;
        }
        phrase->mark = &marks[i];
    }
    *ret = phrases;
    return true;
}
