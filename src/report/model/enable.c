/*
 * enable.c - the page of `enable` and `disable`. See enable.h.
 */
#include "report/model/enable.h"

static void say_python(plim_page *page, const plim_enabled *enabled)
{
    plim_page_say(page, "python", PLIM_TONE_HEADING, "{}, Python {}",
                  PLIM_FACTS(plim_words(enabled->python), plim_words(enabled->version)))
        ->layout = PLIM_LAYOUT_PATH;
}

static void say_line(plim_page *page, const char *id, plim_tone tone, const char *text,
                     const char *path)
{
    plim_page_say(page, id, tone, text, PLIM_FACTS(plim_words(path)))->layout = PLIM_LAYOUT_COPY;
}

/* The change that this call made to a file. */
static void say_done(plim_page *page, const plim_enable_place *place)
{
    switch (place->done) {
    case PLIM_ENABLE_DONE_WRITTEN:
        say_line(page, "written", PLIM_TONE_PLAIN, "wrote {}", place->path);
        break;
    case PLIM_ENABLE_DONE_REPLACED:
        say_line(page, "replaced", PLIM_TONE_PLAIN, "replaced {}", place->path);
        break;
    case PLIM_ENABLE_DONE_UNCHANGED:
        say_line(page, "unchanged", PLIM_TONE_PLAIN, "was enabled already: {}", place->path);
        break;
    case PLIM_ENABLE_DONE_REMOVED:
        say_line(page, "removed", PLIM_TONE_PLAIN, "removed {}", place->path);
        break;
    case PLIM_ENABLE_DONE_NOTHING:
    case PLIM_ENABLE_DONE_COUNT:
        break;
    }
}

/* The state of a file that this call left as it was. */
static void say_state(plim_page *page, const plim_enable_place *place)
{
    if (place->state == PLIM_ENABLE_STATE_ENABLED) {
        say_line(page, "enabled", PLIM_TONE_IN_USE, "enabled by {}", place->path);
    } else if (place->state == PLIM_ENABLE_STATE_STALE) {
        say_line(page, "stale", PLIM_TONE_WARN, "not this Plimsoll's: {}", place->path);
        if (place->leads_to != NULL) {
            plim_page_note(page, "leads", PLIM_TONE_FAINT, "it leads to {}",
                           PLIM_FACTS(plim_words(place->leads_to)))
                ->layout = PLIM_LAYOUT_COPY;
        }
    }
}

static bool was_any(const plim_enabled *enabled, plim_enable_state state)
{
    for (size_t i = 0; i < enabled->place_count; i++) {
        if (enabled->places[i].state == state) {
            return true;
        }
    }
    return false;
}

static bool did_any(const plim_enabled *enabled)
{
    for (size_t i = 0; i < enabled->place_count; i++) {
        if (enabled->places[i].done != PLIM_ENABLE_DONE_NOTHING) {
            return true;
        }
    }
    return false;
}

static void say_what_follows(plim_page *page, plim_enable_action action,
                             const plim_enabled *enabled)
{
    if (action == PLIM_ENABLE_ON) {
        plim_page_say(page, "follows", PLIM_TONE_PLAIN,
                      "Programs of this Python that use PyTorch are recorded from their next start "
                      "on; \"import plimsoll\" works in it. \"plimsoll disable\" undoes this.",
                      NULL);
    } else if (was_any(enabled, PLIM_ENABLE_STATE_ENABLED)) {
        return;
    } else if (action == PLIM_ENABLE_OFF && did_any(enabled)) {
        plim_page_say(page, "follows", PLIM_TONE_PLAIN,
                      "Programs of this Python are no longer recorded; those that run now are.",
                      NULL);
    } else {
        plim_page_say(page, "absent", PLIM_TONE_PLAIN, "not enabled", NULL);
    }
}

void plim_enable_page(plim_page *page, plim_enable_action action, const plim_enabled *enabled)
{
    say_python(page, enabled);
    for (size_t i = 0; i < enabled->place_count; i++) {
        const plim_enable_place *const place = &enabled->places[i];
        if (place->done != PLIM_ENABLE_DONE_NOTHING) {
            say_done(page, place);
        } else {
            say_state(page, place);
        }
    }
    if (enabled->refused != NULL) {
        plim_page_say(page, "refused", PLIM_TONE_BAD, "Nothing was changed: {}.",
                      PLIM_FACTS(plim_words(enabled->refused)));
        return;
    }
    say_what_follows(page, action, enabled);
}
