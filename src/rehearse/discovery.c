/*
 * discovery.c - what a Python has that wants CUDA. See discovery.h.
 */
#include "rehearse/discovery.h"

#include "base/error.h"
#include "rehearse/ask.h"
#include "rehearse/program.h"
#include "json/document.h"

#include <stdlib.h>

/* The next part of a version, 0 at its end, and the place after it and its dot. */
static uint32_t next_part(const char **text)
{
    char *end = NULL;
    const unsigned long part = strtoul(*text, &end, 10);
    *text = *end == '.' ? end + 1 : end;
    return part < 10000 ? (uint32_t)part : 0;
}

/* "9.19.0.56" with 10000 and 100 is 91900, "13.2" with 1000 and 10 is 13020. */
static uint32_t number_of_version(const char *text, uint32_t major_unit, uint32_t minor_unit)
{
    if (text == NULL) {
        return 0;
    }
    const uint32_t major = next_part(&text);
    const uint32_t minor = next_part(&text);
    const uint32_t patch = next_part(&text);
    return major * major_unit + minor * minor_unit + (minor_unit == 100 ? patch : 0);
}

static plim_status understand(yajl_val answer, plim_arena *arena, plim_discovery *ret,
                              plim_error *err)
{
    plim_json_copier copier = { .arena = arena };
    ret->torch = plim_json_get_string(answer, "torch", &copier);
    ret->cuda_version = number_of_version(plim_json_get_string(answer, "cuda", &copier), 1000, 10);
    ret->cudnn_version =
        number_of_version(plim_json_get_string(answer, "cudnn", &copier), 10000, 100);
    ret->nccl_version =
        number_of_version(plim_json_get_string(answer, "nccl", &copier), 10000, 100);
    if (!plim_json_get_strings(answer, "objects", &copier, &ret->objects, &ret->object_count) ||
        copier.is_out_of_memory) {
        return plim_fail_memory(err, "listing what wants CUDA");
    }
    return PLIM_OK;
}

plim_status plim_discover(const char *python, const char *home, plim_arena *arena,
                          plim_discovery *ret, plim_error *err)
{
    yajl_val document = NULL;
    const plim_python_question question = {
        .python = python, .home = home, .script = PLIM_HOME_DISCOVER, .doing = "list its packages"
    };
    PLIM_TRY(plim_python_ask(&question, &document, err));
    const plim_status status = understand(document, arena, ret, err);
    yajl_tree_free(document);
    return status;
}
