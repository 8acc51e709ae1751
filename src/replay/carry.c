/*
 * carry.c - see carry.h.
 */
#include "replay/carry.h"

#include "base/assert.h"
#include "base/error.h"
#include "replay/conf.h"

#include <string.h>

/*
 * Tables hold each thing once, in the order in which it was met. So adding them in that order to
 * an empty history gives every thing the number it had.
 */
plim_status plim_carry_tables(const plim_history *from, plim_history *to, plim_error *err)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < plim_history_string_count(from); i++) {
        size_t bytes = 0;
        const char *text = plim_history_string(from, i, &bytes);
        PLIM_TRY(plim_history_add_string(to, text, bytes, &number, err));
        PLIM_ASSERT(number == i);
    }
    for (uint32_t i = 0; i < plim_history_frame_count(from); i++) {
        PLIM_TRY(plim_history_add_frame(to, plim_history_frame(from, i), &number, err));
        PLIM_ASSERT(number == i);
    }
    for (uint32_t i = 0; i < plim_history_stack_count(from); i++) {
        const plim_stack stack = plim_history_stack(from, i);
        PLIM_TRY(plim_history_add_stack(to, stack.frames, stack.frame_count, &number, err));
        PLIM_ASSERT(number == i);
    }
    for (uint32_t i = 0; i < plim_history_stream_count(from); i++) {
        PLIM_TRY(plim_history_add_stream(to, plim_history_stream(from, i), &number, err));
        PLIM_ASSERT(number == i);
    }
    return PLIM_OK;
}

plim_status plim_carry_annotations(const plim_history *from, plim_history *to, plim_error *err)
{
    uint64_t count = 0;
    const plim_annotation *annotations = plim_history_annotations(from, &count);
    for (uint64_t i = 0; i < count; i++) {
        PLIM_TRY(plim_history_push_annotation(to, &annotations[i], err));
    }
    return PLIM_OK;
}

plim_status plim_carry_source(const plim_history *from, plim_history *to, plim_error *err)
{
    const plim_source source = plim_history_source(from);
    uint32_t generation = 0;
    PLIM_TRY(plim_history_add_string(to, source.generation, strlen(source.generation), &generation,
                                     err));
    plim_history_set_source(to,
                            &(plim_source){ .format = "replay",
                                            .generation = plim_history_string(to, generation, NULL),
                                            .pickle_protocol = -1 });
    return PLIM_OK;
}

/*
 * The string PyTorch would have been given. Settings that were put together elsewhere need not
 * say themselves what they are; and of other allocators the conf has the name.
 */
static const char *conf_text(const plim_conf *conf, char *text, size_t bytes)
{
    if (conf->policy != PLIM_POLICY_TORCH) {
        return conf->text;
    }
    plim_conf said = plim_conf_default();
    if (plim_settings_parse(conf->settings.text, &said.settings, NULL) == PLIM_OK &&
        plim_conf_equal(&said, conf)) {
        return conf->settings.text;
    }
    (void)plim_settings_format(&conf->settings, text, bytes);
    return text;
}

static plim_status carry_string(const plim_history *from, uint32_t string, plim_history *to,
                                uint32_t *ret_string, plim_error *err)
{
    *ret_string = PLIM_NONE;
    if (string == PLIM_NONE) {
        return PLIM_OK;
    }
    size_t bytes = 0;
    const char *text = plim_history_string(from, string, &bytes);
    return plim_history_add_string(to, text, bytes, ret_string, err);
}

plim_status plim_carry_settings(const plim_history *snapshot, const plim_conf *conf,
                                plim_history *to, plim_error *err)
{
    char formatted[PLIM_SETTINGS_TEXT_BYTES];
    const char *text = conf_text(conf, formatted, sizeof formatted);
    uint64_t count = 0;
    const plim_setting *settings = plim_history_settings(snapshot, &count);
    for (uint64_t i = 0; i < count; i++) {
        plim_setting setting = settings[i];
        PLIM_TRY(carry_string(snapshot, settings[i].group, to, &setting.group, err));
        PLIM_TRY(carry_string(snapshot, settings[i].name, to, &setting.name, err));
        if (setting.kind == PLIM_SETTING_TEXT) { /* there is one, the string */
            PLIM_TRY(plim_history_add_string(to, text, strlen(text), &setting.value.text, err));
        }
        PLIM_TRY(plim_history_push_setting(to, &setting, err));
    }
    return PLIM_OK;
}
