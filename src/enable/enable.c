/*
 * enable.c - asks an environment's own Python to arm itself. See plimsoll/enable.h.
 *
 * All that has to do with the environment is done by agent/enabling.py: it knows where its Python
 * looks for packages.
 */
#include "plimsoll/enable.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "launch/path.h"
#include "rehearse/ask.h"
#include "rehearse/folder.h"
#include "rehearse/program.h"
#include "json/document.h"

#include <string.h>

#define SCRIPT "agent/enabling.py"

typedef struct plim_enabling {
    plim_arena arena;
} plim_enabling;

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const state_names[] = {
#define STATE_NAME(code, name) [code] = name,
    PLIM_ENABLE_STATE_LIST(STATE_NAME)
#undef STATE_NAME
};

static const char *const done_names[] = {
#define DONE_NAME(code, name) [code] = name,
    PLIM_ENABLE_DONE_LIST(DONE_NAME)
#undef DONE_NAME
};

const char *plim_enable_state_name(plim_enable_state state)
{
    return state_names[state];
}

const char *plim_enable_done_name(plim_enable_done done)
{
    return done_names[done];
}

/* Index of a name; 0 for one that is not there. */
static size_t find_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; name != NULL && i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return 0;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static plim_status keep_places(plim_enabled *ret, yajl_val answer, plim_json_copier *copier,
                               plim_error *err)
{
    yajl_val list = plim_json_get(answer, "places");
    const size_t count = plim_json_length(list);
    plim_enable_place *places = plim_arena_alloc(copier->arena, (count + 1) * sizeof(*places));
    if (places == NULL) {
        return plim_fail_memory(err, "asking Python for its places");
    }
    for (size_t i = 0; i < count; i++) {
        yajl_val one = plim_json_item(list, i);
        const char *const state = plim_json_get_string(one, "state", copier);
        const char *const done = plim_json_get_string(one, "done", copier);
        places[i] = (plim_enable_place){
            .path = plim_json_get_string(one, "path", copier),
            .is_users = YAJL_IS_TRUE(plim_json_get(one, "is_user")),
            .state = (plim_enable_state)find_name(state_names, PLIM_ENABLE_STATE_COUNT, state),
            .done = (plim_enable_done)find_name(done_names, PLIM_ENABLE_DONE_COUNT, done),
            .leads_to = plim_json_get_string(one, "leads_to", copier),
        };
        if (places[i].path == NULL && !copier->is_out_of_memory) {
            return plim_fail(err, PLIM_CORRUPT, "a place without a path");
        }
    }
    ret->places = places;
    ret->place_count = count;
    return PLIM_OK;
}

static plim_status keep_answer(plim_enabled *ret, yajl_val answer, plim_error *err)
{
    plim_json_copier copier = { .arena = &ret->owner->arena };
    PLIM_TRY(keep_places(ret, answer, &copier, err));
    ret->python = plim_json_get_string(answer, "python", &copier);
    ret->version = plim_json_get_string(answer, "version", &copier);
    ret->prefix = plim_json_get_string(answer, "prefix", &copier);
    ret->kind = plim_json_get_string(answer, "kind", &copier);
    ret->is_managed = YAJL_IS_TRUE(plim_json_get(answer, "is_managed"));
    ret->package = plim_json_get_string(answer, "package", &copier);
    ret->refused = plim_json_get_string(answer, "refused", &copier);
    if (copier.is_out_of_memory) {
        return plim_fail_memory(err, "asking Python for its places");
    }
    if (ret->python == NULL || ret->version == NULL || ret->prefix == NULL || ret->kind == NULL ||
        ret->package == NULL) {
        return plim_fail(err, PLIM_CORRUPT, "the Python does not say which it is");
    }
    return PLIM_OK;
}

/* ---- the question ---------------------------------------------------------------------------- */

static plim_status find_python(const char *given, char *path, size_t path_bytes, plim_error *err)
{
    if (given != NULL) {
        return plim_path_find(given, true, path, path_bytes)
                   ? PLIM_OK
                   : plim_fail(err, PLIM_INVALID_ARGUMENT, "cannot find the Python \"%s\"", given);
    }
    return plim_path_find("python3", true, path, path_bytes) ||
                   plim_path_find("python", true, path, path_bytes)
               ? PLIM_OK
               : plim_fail(err, PLIM_INVALID_ARGUMENT,
                           "there is no python3 in PATH: name the environment's (--python)");
}

static plim_status ask(plim_enable_action action, const plim_enable_choice *choice,
                       plim_enabled *ret, plim_error *err)
{
    static const char *const actions[] = {
        [PLIM_ENABLE_STATUS] = "status", [PLIM_ENABLE_ON] = "enable", [PLIM_ENABLE_OFF] = "disable"
    };
    char home[PLIM_PATH_BYTES];
    char python[PLIM_PATH_BYTES];
    yajl_val answer = NULL;
    PLIM_TRY(plim_home_find(choice->home, home, sizeof(home), err));
    PLIM_TRY(find_python(choice->python, python, sizeof(python), err));
    const char *const words[] = { actions[action], choice->for_user ? "--user" : NULL, NULL };
    const plim_python_question question = { .python = python,
                                            .home = home,
                                            .script = SCRIPT,
                                            .words = words,
                                            .doing = "say where it looks for packages" };
    PLIM_TRY(plim_python_ask(&question, &answer, err));
    const plim_status status = keep_answer(ret, answer, err);
    yajl_tree_free(answer);
    return status;
}

plim_status plim_enable(plim_enable_action action, const plim_enable_choice *choice,
                        plim_enabled *ret, plim_error *err)
{
    static const plim_enable_choice defaults;
    choice = choice != NULL ? choice : &defaults;
    *ret = (plim_enabled){ 0 };
    const plim_mem *mem = plim_mem_or_heap(choice->mem);
    ret->owner = plim_mem_alloc_zeroed(mem, 1, sizeof(*ret->owner));
    if (ret->owner == NULL) {
        return plim_fail_memory(err, "asking Python for its places");
    }
    plim_arena_init(&ret->owner->arena, mem);
    return ask(action, choice, ret, err);
}

void plim_enabled_deinit(plim_enabled *enabled)
{
    plim_enabling *const owner = enabled->owner;
    if (owner != NULL) {
        const plim_mem *mem = owner->arena.mem;
        plim_arena_deinit(&owner->arena);
        plim_mem_free(mem, owner, 1, sizeof(*owner));
    }
    *enabled = (plim_enabled){ 0 };
}
