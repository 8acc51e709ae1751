/*
 * replaying.c - from arguments and a file to a replay whose fidelity is known. See replaying.h.
 */
#include "cli/replaying.h"

#include "base/ascii.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/reading.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------- */

#define STEP_PREFIX "step:"
#define CONF        "conf: " /* messages about confs begin with it; they name the character */
#define COST_US_MAX 1e9      /* of a call, or a MiB of it: a quarter of an hour */

plim_replay_arguments plim_replay_arguments_default(void)
{
    return (plim_replay_arguments){ .device = PLIM_ALL_DEVICES,
                                    .costs = plim_driver_costs_default() };
}

/* The text is checked here, so that a mistake is reported before a long file is
 * read. */
void plim_replay_take_conf(struct argp_state *state, void *given, char *text)
{
    plim_replay_arguments *const arguments = given;
    plim_conf conf;
    plim_error err = { 0 };
    if (plim_conf_parse(text, &conf, &err) != PLIM_OK) {
        const bool names_itself = strncmp(err.message, CONF, strlen(CONF)) == 0;
        /* Not how the command is used is wrong: so nothing is said of its usage. */
        argp_failure(state, PLIM_EXIT_USAGE, 0, "--conf \"%s\": %s", text,
                     err.message + (names_itself ? strlen(CONF) : 0));
    } else if (arguments->conf_count == PLIM_REPLAY_CONFS_MAX) {
        argp_error(state, "--conf: at most %d at once", PLIM_REPLAY_CONFS_MAX);
    } else {
        arguments->confs[arguments->conf_count++] = text;
    }
}

static void take_device(struct argp_state *state, void *arguments, char *text)
{
    ((plim_replay_arguments *)arguments)->device =
        strcmp(text, "all") == 0 ? PLIM_ALL_DEVICES
                                 : (int32_t)plim_option_number(state, "device", text, 0, 65535);
}

/* "1200" or "step:3": one of the two becomes what the text gives. */
static void take_event(struct argp_state *state, const char *option, const char *text,
                       uint64_t *event, uint64_t *step)
{
    const bool is_step = strncmp(text, STEP_PREFIX, strlen(STEP_PREFIX)) == 0;
    const char *digits = is_step ? text + strlen(STEP_PREFIX) : text;
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(digits, &end, 10);
    const bool is_number = plim_is_digit(*digits) && *end == '\0' && errno == 0;
    if (!is_number || number >= INT64_MAX || (is_step && number == 0)) {
        argp_error(state, "--%s takes the number of an event, or step:N from 1, not \"%s\"", option,
                   text);
    }
    *event = is_step ? 0 : number;
    *step = is_step ? number : 0;
}

static void take_from(struct argp_state *state, void *given, char *text)
{
    plim_replay_arguments *const arguments = given;
    arguments->has_range = true;
    take_event(state, "from", text, &arguments->from_event, &arguments->from_step);
}

static void take_to(struct argp_state *state, void *given, char *text)
{
    plim_replay_arguments *const arguments = given;
    arguments->has_range = true;
    take_event(state, "to", text, &arguments->to_event, &arguments->to_step);
    if (arguments->to_event == 0 && arguments->to_step == 0) {
        argp_error(state, "--to 0: no event comes before the first");
    }
}

/* A number above 0 (or 0 too), at the end of a text or before `stop`. */
static bool read_real(const char *text, char stop, double *ret, const char **ret_end)
{
    char *end = NULL;
    const bool is_digit = plim_is_digit(*text) || *text == '.';
    *ret = is_digit ? strtod(text, &end) : (double)NAN;
    *ret_end = end;
    return is_digit && isfinite(*ret) && (*end == '\0' || *end == stop);
}

static void take_scale(struct argp_state *state, void *given, char *text)
{
    plim_replay_arguments *const arguments = given;
    char *equals = strrchr(text, '='); /* the last: stacks may have some */
    double factor = 0;
    const char *end = NULL;
    if (equals == NULL || equals == text || !read_real(equals + 1, '\0', &factor, &end) ||
        !(factor > 0)) {
        argp_error(state, "--scale takes WHAT=FACTOR such as activations=2, not \"%s\"", text);
        return;
    }
    if (arguments->scale_count == PLIM_REPLAY_SCALES_MAX) {
        argp_error(state, "--scale: at most %d at once", PLIM_REPLAY_SCALES_MAX);
        return;
    }
    *equals = '\0';
    arguments->scales[arguments->scale_count++] = (plim_scale){ .what = text, .factor = factor };
}

static int find_call(const char *name, size_t length)
{
    for (int i = 0; i < PLIM_DEVICE_CALL_COUNT; i++) {
        const char *known = plim_device_call_name((plim_device_call)i);
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            return i;
        }
    }
    return -1;
}

static void take_costs(struct argp_state *state, void *arguments, char *text)
{
    plim_driver_costs *const costs = &((plim_replay_arguments *)arguments)->costs;
    const char *equals = strchr(text, '=');
    const int call = equals != NULL ? find_call(text, (size_t)(equals - text)) : -1;
    double call_us = 0;
    double mib_us = 0;
    const char *end = NULL;
    bool is_good = call >= 0 && read_real(equals + 1, '+', &call_us, &end);
    if (is_good && *end == '+') {
        is_good = read_real(end + 1, '\0', &mib_us, &end);
    }
    if (!is_good || call_us > COST_US_MAX || mib_us > COST_US_MAX) {
        argp_error(state,
                   "--costs takes CALL=US or CALL=US+US such as malloc=300+1.5, not \"%s\"; calls "
                   "are malloc, free, create, release, map, unmap, access and their like",
                   text);
        return;
    }
    costs->call_us[call] = call_us;
    costs->mib_us[call] = mib_us;
}

static void take_gpu(struct argp_state *state, void *arguments, char *text)
{
    plim_error err = { 0 };
    if (plim_gpu_find(text, &((plim_replay_arguments *)arguments)->gpu, &err) != PLIM_OK) {
        argp_error(state, "--gpu: %s", err.message);
    }
}

const plim_option plim_replay_option_rows[PLIM_REPLAY_OPTION_COUNT] = {
    PLIM_SIZE("capacity", plim_replay_arguments, capacity_bytes,
              "memory that the program may use, 24GiB (as the file says)"),
    PLIM_TAKEN("gpu", "NAME", take_gpu, "memory of a GPU of that name: h100, rtx4090, a100-80gb …"),
    PLIM_SIZE("total", plim_replay_arguments, total_bytes,
              "memory of the whole device, for settings that are fractions of it (the GPU's, or "
              "the capacity)"),
    PLIM_TAKEN("device", "N", take_device, "only GPU N, or all (all)"),
    PLIM_TAKEN("from", "EVENT", take_from, "begin with that event, or with step:N"),
    PLIM_TAKEN("to", "EVENT", take_to, "end before that event, or before step:N"),
    PLIM_TAKEN("scale", "WHAT=FACTOR", take_scale,
               "multiply requests: activations=2, all=1.5, stack:TEXT=0.5; may be repeated"),
    PLIM_TAKEN("costs", "CALL=US", take_costs,
               "time of a driver call, in us, and of each MiB: malloc=300+1.5; may be repeated"),
};

void plim_replay_arguments_check(struct argp_state *state, const plim_replay_arguments *arguments)
{
    const plim_asked *const asked = &arguments->asked;
    if (asked->file_count == 0) {
        argp_error(state, "which file? Give a snapshot or a recording, or - for standard input");
    }
    if (asked->file_count > 1) {
        argp_error(state, "one file at a time: \"%s\" or \"%s\"?", asked->files[0],
                   asked->files[1]);
    }
    if (arguments->total_bytes > 0 && arguments->total_bytes < arguments->capacity_bytes) {
        argp_error(state, "--capacity is a part of --total, and cannot be more");
    }
    if (arguments->gpu != NULL && arguments->gpu->memory_bytes < arguments->capacity_bytes) {
        argp_error(state, "--capacity is a part of what --gpu has, and cannot be more");
    }
}

int plim_replaying_failed(const plim_replaying *self, const plim_error *err)
{
    plim_say(self->who, "%s: %s", plim_reading_name(self->arguments->asked.files[0]), err->message);
    return err->status == PLIM_INVALID_ARGUMENT ? PLIM_EXIT_USAGE : PLIM_EXIT_FAILED;
}

static int load(plim_replaying *self)
{
    const char *const path = self->arguments->asked.files[0];
    plim_error err = { 0 };
    if (plim_reading_history(path, &self->history, &err) != PLIM_OK) {
        plim_reading_failed(self->who, path, &err);
        return PLIM_EXIT_FAILED;
    }
    return PLIM_EXIT_OK;
}

/* ---- the replay ------------------------------------------------------------------------------ */

static plim_status prepare(plim_replaying *self, plim_error *err)
{
    const plim_replay_arguments *arguments = self->arguments;
    const plim_replay_options options = {
        .device = arguments->device,
        .from_event = arguments->from_event,
        .to_event = arguments->to_event,
        .from_step = arguments->from_step,
        .to_step = arguments->to_step,
        .scales = arguments->scales,
        .scale_count = arguments->scale_count,
    };
    PLIM_TRY(plim_replay_create(self->history, &options, &self->replay, err));
    const size_t count = plim_replay_device_count(self->replay);
    self->facts = calloc(count, sizeof *self->facts);
    self->fidelity = calloc(count, sizeof *self->fidelity);
    if (self->facts == NULL || self->fidelity == NULL) {
        return plim_fail_memory(err, "listing devices");
    }
    for (size_t i = 0; i < count; i++) {
        self->facts[i] = *plim_replay_device(self->replay, i);
    }
    self->input = (plim_replay_input){
        .path = arguments->asked.files[0],
        .history = self->history,
        .facts = self->facts,
        .fidelity = self->fidelity,
        .device_count = count,
        .scales = arguments->scales,
        .scale_count = arguments->scale_count,
        .has_range = arguments->has_range,
    };
    return PLIM_OK;
}

/* The user's, else the GPU's, else the smallest that the file gives. */
static void choose_capacity(plim_replaying *self)
{
    plim_replay_input *input = &self->input;
    const plim_replay_arguments *arguments = self->arguments;
    input->capacity_bytes = PLIM_UNLIMITED;
    if (arguments->capacity_bytes > 0) {
        input->capacity = PLIM_REPLAY_CAPACITY_ASKED;
        input->capacity_bytes = arguments->capacity_bytes;
        return;
    }
    if (arguments->gpu != NULL) {
        input->capacity = PLIM_REPLAY_CAPACITY_GPU;
        input->gpu = arguments->gpu;
        input->capacity_bytes = plim_gpu_allocator_bytes(arguments->gpu);
        return;
    }
    for (size_t i = 0; i < input->device_count; i++) {
        if (self->facts[i].capacity_source != PLIM_CAPACITY_UNKNOWN &&
            self->facts[i].capacity_bytes < input->capacity_bytes) {
            input->capacity_bytes = self->facts[i].capacity_bytes;
            input->capacity_device = i;
        }
    }
}

uint64_t plim_replaying_total_bytes(const plim_replaying *self)
{
    const plim_replay_arguments *arguments = self->arguments;
    if (arguments->total_bytes > 0) {
        return arguments->total_bytes;
    }
    return arguments->gpu != NULL ? arguments->gpu->memory_bytes : 0;
}

plim_run_options plim_replaying_run_options(const plim_replaying *self, plim_progress_bar *bar)
{
    return (plim_run_options){
        .capacity_bytes = self->input.capacity_bytes,
        .total_bytes = plim_replaying_total_bytes(self),
        .costs = &self->arguments->costs,
        .progress = plim_progress_bar_update,
        .progress_ctx = bar,
    };
}

static plim_status verify(plim_replaying *self, plim_error *err)
{
    plim_progress_bar bar;
    plim_output_progress(&bar, "comparing", "events");
    plim_run_options options = plim_replaying_run_options(self, &bar);
    options.capacity_bytes = PLIM_UNLIMITED; /* as it was recorded, whatever it is asked about */
    const plim_status status = plim_replay_verify(self->replay, &options, self->fidelity, err);
    plim_progress_bar_finish(&bar);
    return status;
}

static plim_status begin(plim_replaying *self, plim_error *err)
{
    PLIM_TRY(prepare(self, err));
    choose_capacity(self);
    return verify(self, err);
}

int plim_replaying_begin(const char *who, const plim_replay_arguments *arguments,
                         plim_replaying *ret)
{
    *ret = (plim_replaying){ .who = who, .arguments = arguments };
    const int loaded = load(ret);
    if (loaded != PLIM_EXIT_OK) {
        return loaded;
    }
    plim_error err = { 0 };
    return begin(ret, &err) == PLIM_OK ? PLIM_EXIT_OK : plim_replaying_failed(ret, &err);
}

plim_status plim_replaying_of(plim_history *history, const plim_replay_arguments *arguments,
                              plim_replaying *ret, plim_error *err)
{
    *ret = (plim_replaying){ .arguments = arguments, .history = history, .is_borrowed = true };
    return begin(ret, err);
}

void plim_replaying_end(plim_replaying *self)
{
    free(self->facts);
    free(self->fidelity);
    plim_replay_destroy(self->replay);
    if (!self->is_borrowed) {
        plim_history_destroy(self->history);
    }
    *self = (plim_replaying){ 0 };
}
