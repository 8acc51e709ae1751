/*
 * settings_environment.c - the settings that a program was started with.
 */
#include "alloc/settings_parse.h"
#include "base/error.h"

#include <stdlib.h>

/* Ours first; then PyTorch's, in the order its code asks for them (§9.4). */
static const char *const variables[] = {
    "PLIMSOLL_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
};

plim_status plim_settings_from_environment(plim_settings *settings, const char **ret_variable,
                                           plim_error *err)
{
    plim_settings found = plim_settings_default();
    const char *variable = NULL;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0] && variable == NULL; i++) {
        const char *const text = getenv(variables[i]);
        if (text != NULL) { /* set to nothing is set, too */
            variable = variables[i];
            PLIM_TRY(plim_settings_parse_from(variable, text, &found, err));
        }
    }
    *settings = found;
    if (ret_variable != NULL) {
        *ret_variable = variable;
    }
    return PLIM_OK;
}
