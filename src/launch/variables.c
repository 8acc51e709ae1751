/*
 * variables.c - changing a copy of the environment. See variables.h.
 */
#include "launch/variables.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_named(const char *variable, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

static void add(plim_variables *all, char *variable)
{
    all->is_out_of_memory = all->is_out_of_memory || variable == NULL ||
                            !PLIM_VEC_PUSH(all->arena->mem, &all->list, variable);
}

void plim_variables_begin(plim_variables *all, plim_arena *arena)
{
    *all = (plim_variables){ .arena = arena };
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        add(all, plim_arena_copy(arena, *variable, strlen(*variable)));
    }
}

const char *plim_variables_get(const plim_variables *all, const char *name)
{
    for (size_t i = 0; i < all->list.count; i++) {
        if (is_named(all->list.items[i], name)) {
            return all->list.items[i] + strlen(name) + 1;
        }
    }
    return NULL;
}

void plim_variables_unset(plim_variables *all, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->list.count; i++) {
        if (!is_named(all->list.items[i], name)) {
            all->list.items[kept++] = all->list.items[i];
        }
    }
    all->list.count = kept;
}

void plim_variables_set(plim_variables *all, const char *name, const char *value)
{
    const size_t bytes = strlen(name) + strlen(value) + 2;
    char *variable = plim_arena_alloc(all->arena, bytes);
    if (variable != NULL) {
        (void)snprintf(variable, bytes, "%s=%s", name, value);
    }
    plim_variables_unset(all, name);
    add(all, variable);
}

void plim_variables_put(plim_variables *all, const char *name, const char *value)
{
    if (value != NULL) {
        plim_variables_set(all, name, value);
    } else {
        plim_variables_unset(all, name);
    }
}

void plim_variables_set_number(plim_variables *all, const char *name, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    plim_variables_set(all, name, text);
}

void plim_variables_set_text(plim_variables *all, const char *name, const plim_text *value)
{
    all->is_out_of_memory = all->is_out_of_memory || value->status != PLIM_OK;
    plim_variables_set(all, name, plim_text_string(value));
}

void plim_variables_put_before(plim_variables *all, const char *name, const plim_text *value)
{
    const char *const there = plim_variables_get(all, name);
    plim_text both;
    plim_text_init(&both, all->arena->mem, PLIM_VARIABLE_BYTES_MAX);
    plim_text_append_string(&both, plim_text_string(value));
    if (there != NULL && there[0] != '\0') {
        plim_text_append_format(&both, ":%s", there);
    }
    all->is_out_of_memory = all->is_out_of_memory || value->status != PLIM_OK;
    plim_variables_set_text(all, name, &both);
    plim_text_deinit(&both);
}

plim_status plim_variables_finish(plim_variables *all, char ***ret, plim_error *err)
{
    char **list = plim_arena_alloc(all->arena, (all->list.count + 1) * sizeof(*list));
    const bool is_whole = list != NULL && !all->is_out_of_memory;
    if (is_whole) {
        for (size_t i = 0; i < all->list.count; i++) {
            list[i] = all->list.items[i];
        }
        list[all->list.count] = NULL;
        *ret = list;
    }
    PLIM_VEC_FREE(all->arena->mem, &all->list);
    return is_whole ? PLIM_OK : plim_fail_memory(err, "making an environment");
}
