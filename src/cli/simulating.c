/*
 * simulating.c - see simulating.h.
 */
#include "cli/simulating.h"

#include "base/size.h"

#include "plimsoll/gpu.h"
#include "plimsoll/settings.h"

#include <stdlib.h>
#include <string.h>

void plim_simulated_check(struct argp_state *state, const plim_rehearse_options *how)
{
    plim_error err = { 0 };
    const plim_gpu *gpu = NULL;
    plim_settings settings = plim_settings_default();
    if (how->gpu != NULL && plim_gpu_find(how->gpu, &gpu, &err) == PLIM_INVALID_ARGUMENT) {
        argp_error(state, "--gpu: %s (plimsoll rehearse --list-gpus lists them)", err.message);
    }
    const plim_status parsed =
        how->settings != NULL ? plim_settings_parse(how->settings, &settings, &err) : PLIM_OK;
    if (parsed != PLIM_OK && parsed != PLIM_OUT_OF_HOST_MEMORY) {
        argp_error(state, "--conf: %s", err.message);
    }
}

void plim_margin_take(struct argp_state *state, plim_rehearse_options *how, const char *text)
{
    plim_error err = { 0 };
    char *end = NULL;
    const double percent = strtod(text, &end);
    if (end != text && strcmp(end, "%") == 0 && percent >= 0 && percent <= 100) {
        how->margin_share = percent / 100;
        how->margin_bytes = 0;
    } else if (plim_size_parse(text, &how->margin_bytes, &err) == PLIM_OK) {
        how->margin_share = 0;
    } else {
        argp_error(state, "--margin takes a size such as 2GiB, or 0%% to 100%%, not \"%s\"", text);
    }
}
