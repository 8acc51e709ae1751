/*
 * conf.c - confs as text: a settings string with at most two things more, the name of a policy in
 * front and a release_threshold among the pairs, which the parser of settings leaves to this file;
 * and those of recordings.
 */
#include "replay/conf.h"

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/size.h"
#include "history/setting_words.h"
#include "settings/parse.h"
#include "settings/recorded.h"

#include <string.h>

#define THRESHOLD_KEY  "release_threshold"
#define THRESHOLD_NEAR 4 /* letters that may be wrong; as of the other keys, about a third */
#define SPACE          " \t\n\v\f\r" /* as isspace() in the C locale */

typedef struct conf_reader {
    plim_conf conf;
    char rest[PLIM_CONF_TEXT_BYTES]; /* the text, without what is not PyTorch's */
    bool has_policy;
    bool has_threshold;
    size_t policy_at; /* in the text; where they are given */
    size_t threshold_at;
} conf_reader;

plim_conf plim_conf_default(void)
{
    return (plim_conf){ .settings = plim_settings_default(), .policy = PLIM_POLICY_TORCH };
}

/* As much as there is room for. */
static void copy_without_space(char *to, size_t bytes, const char *from)
{
    char *const last = to + bytes - 1;
    for (from += strspn(from, SPACE); *from != '\0' && to < last; from += strspn(from, SPACE)) {
        *to++ = *from++;
    }
    memset(to, 0, (size_t)(last - to) + 1);
}

/* --- the policy --- */

/* The policy that a word names, or, with one letter wrong, is meant to; PLIM_POLICY_COUNT: none. */
static plim_policy_kind find_policy(const char *word, bool exactly)
{
    size_t i = 0;
    for (; i < PLIM_POLICY_COUNT; i++) {
        const char *const name = plim_policy_name((plim_policy_kind)i);
        if (exactly ? strcmp(word, name) == 0 : plim_edit_distance(word, name) <= 1) {
            break;
        }
    }
    return (plim_policy_kind)i;
}

static plim_status fail_policy(const plim_settings_reader *reader)
{
    const char *const word = reader->token.word;
    const plim_settings_quote quote = plim_settings_quoted(reader);
    const plim_policy_kind nearest = find_policy(word, false);
    if (nearest != PLIM_POLICY_COUNT || plim_edit_distance(word, "default") <= 2) {
        return plim_settings_fail(
            reader, PLIM_CORRUPT, 0, "%s is not an allocator, did you mean %s?", quote.text,
            nearest != PLIM_POLICY_COUNT ? plim_policy_name(nearest) : "default");
    }
    const char *const key = plim_setting_key_nearest(word);
    if (key != NULL) {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                                  "%s is neither an allocator nor a setting, did you mean %s:…?",
                                  quote.text, key);
    }
    char names[128];
    plim_fixed_text list = plim_fixed_text_begin(names, sizeof names);
    for (size_t i = 0; i < PLIM_POLICY_COUNT; i++) {
        plim_fixed_text_put(&list, "%s%s", i == 0 ? "" : ", ",
                            plim_policy_name((plim_policy_kind)i));
    }
    return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                              "%s is neither an allocator (%s) nor a setting (key:value)",
                              quote.text, names);
}

/* A first word that stands alone: "default" and policies are taken, with the comma. */
static plim_status read_policy(conf_reader *conf, plim_settings_reader *reader,
                               const plim_settings_reader *after)
{
    if (plim_settings_at_word(reader, "default")) {
        if (after->token.kind != '\0') {
            return plim_settings_fail(after, PLIM_CORRUPT, 0,
                                      "nothing goes with 'default', leave it out");
        }
        conf->conf.text[0] = '\0'; /* one conf, one text */
    } else {
        conf->conf.policy = find_policy(reader->token.word, true);
        conf->has_policy = true;
        conf->policy_at = reader->token.offset;
    }
    if (conf->conf.policy == PLIM_POLICY_COUNT) {
        return fail_policy(reader);
    }
    *reader = *after;
    return reader->token.kind == '\0' ? PLIM_OK : plim_settings_expect(reader, ',', "");
}

/* The pair, and the comma after it. */
static plim_status read_threshold(conf_reader *conf, plim_settings_reader *reader)
{
    conf->has_threshold = true;
    conf->threshold_at = reader->token.offset;
    plim_settings_advance(reader);
    PLIM_TRY(plim_settings_expect(reader, ':', THRESHOLD_KEY));
    const plim_settings_token *const value = &reader->token;
    if (value->kind != 'w' || value->length >= PLIM_SETTINGS_WORD_BYTES) {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                                  "expected a size for " THRESHOLD_KEY ", like 512MiB, not %s",
                                  plim_settings_quoted(reader).text);
    }
    plim_error wrong = { .status = PLIM_OK };
    if (plim_size_parse(value->word, &conf->conf.release_threshold_bytes, &wrong) != PLIM_OK) {
        const bool has_offset = wrong.offset < value->length;
        return plim_settings_fail(reader, wrong.status, has_offset ? (size_t)wrong.offset : 0,
                                  "%s is not a size, like 512MiB (" THRESHOLD_KEY ")",
                                  plim_settings_quoted(reader).text);
    }
    plim_settings_advance(reader);
    return reader->token.kind == '\0' ? PLIM_OK : plim_settings_expect(reader, ',', "the value");
}

/* Takes a word that is not a setting of PyTorch's, and what belongs to it: it becomes blank. */
static plim_status take(void *ctx, plim_settings_reader *reader, bool *ret_taken)
{
    conf_reader *const conf = ctx;
    const char *const word = reader->token.word;
    const size_t from = reader->token.offset;
    const bool is_first = strspn(reader->text, SPACE) == from;
    plim_settings_reader after = *reader;
    plim_settings_advance(&after);
    if (plim_settings_at_word(reader, THRESHOLD_KEY)) {
        PLIM_TRY(read_threshold(conf, reader));
    } else if (is_first && (after.token.kind == ',' || after.token.kind == '\0')) {
        PLIM_TRY(read_policy(conf, reader, &after));
    } else if (plim_setting_key_nearest(word) == NULL &&
               plim_edit_distance(word, THRESHOLD_KEY) <= THRESHOLD_NEAR) {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                                  "%s is not a setting, did you mean " THRESHOLD_KEY "?",
                                  plim_settings_quoted(reader).text);
    } else {
        return PLIM_OK;
    }
    memset(conf->rest + from, ' ', reader->token.offset - from);
    *ret_taken = true;
    return PLIM_OK;
}

/* PyTorch's name for the policy "async", and what only that policy has. */
static plim_status settle_policy(conf_reader *conf, const char *text, plim_error *err)
{
    plim_settings_reader at;
    plim_settings_reader_init(&at, "conf", text, err);
    plim_conf *const parsed = &conf->conf;
    if (parsed->settings.backend == PLIM_BACKEND_CUDA_MALLOC_ASYNC) {
        if (conf->has_policy && parsed->policy != PLIM_POLICY_ASYNC) {
            at.token.offset = conf->policy_at;
            return plim_settings_fail(&at, PLIM_INVALID_ARGUMENT, 0,
                                      "'%s' is another allocator than backend:cudaMallocAsync",
                                      plim_policy_name(parsed->policy));
        }
        parsed->policy = PLIM_POLICY_ASYNC;
        if (!conf->has_threshold) {
            parsed->release_threshold_bytes = PLIM_UNLIMITED; /* PyTorch keeps everything */
        }
    }
    if (conf->has_threshold && parsed->policy != PLIM_POLICY_ASYNC) {
        at.token.offset = conf->threshold_at;
        return plim_settings_fail(&at, PLIM_INVALID_ARGUMENT, 0,
                                  THRESHOLD_KEY " is a setting of the allocator async alone");
    }
    return PLIM_OK;
}

plim_status plim_conf_parse(const char *text, plim_conf *ret_conf, plim_error *err)
{
    if (strlen(text) >= PLIM_CONF_TEXT_BYTES) {
        return plim_fail_at(err, PLIM_LIMIT, PLIM_CONF_TEXT_BYTES - 1,
                            "conf: longer than %d characters", PLIM_CONF_TEXT_BYTES - 1);
    }
    conf_reader conf = { .conf = plim_conf_default() };
    copy_without_space(conf.conf.text, sizeof conf.conf.text, text);
    memcpy(conf.rest, text, strlen(text) + 1);
    const plim_settings_extra ours = { .take = take, .ctx = &conf };
    plim_settings *const settings = &conf.conf.settings;
    PLIM_TRY(plim_settings_parse_from("conf", text, &ours, settings, err));
    PLIM_TRY(settle_policy(&conf, text, err));
    copy_without_space(settings->text, sizeof settings->text, conf.rest);
    *ret_conf = conf.conf;
    return PLIM_OK;
}

bool plim_conf_equal(const plim_conf *a, const plim_conf *b)
{
    return a->policy == b->policy && a->release_threshold_bytes == b->release_threshold_bytes &&
           plim_settings_decide_alike(&a->settings, &b->settings);
}

/* --- of recordings: the string, the values over that, and what segments show --- */

/* True if segments of the device grew page by page. */
static bool shows_expandable(const plim_device_history *device)
{
    for (uint64_t i = 0; i < device->segment_count; i++) {
        if (device->segments[i].is_expandable) {
            return true;
        }
    }
    const plim_events *const events = &device->events;
    return events->count > 0 &&
           memchr(events->action, PLIM_SEGMENT_MAP, (size_t)events->count) != NULL;
}

bool plim_conf_of_history(const plim_history *history, const plim_device_history *device,
                          plim_conf *ret_conf)
{
    plim_recorded_settings recorded = { .conf = "" };
    plim_setting_words_each(history, plim_recorded_setting_add, &recorded);
    plim_conf conf = plim_conf_default();
    plim_settings *const settings = &conf.settings;
    /* PyTorch's, or the conf that a prediction was made under. */
    const bool has_string =
        recorded.conf[0] != '\0' && plim_conf_parse(recorded.conf, &conf, NULL) == PLIM_OK;
    plim_recorded_settings_apply(&recorded, settings);

    const bool says_expandable =
        plim_setting_is_given(settings, PLIM_KEY_EXPANDABLE_SEGMENTS) ||
        plim_recorded_settings_have(&recorded, PLIM_KEY_EXPANDABLE_SEGMENTS);
    if (!says_expandable && conf.policy == PLIM_POLICY_TORCH) {
        settings->expandable_segments = shows_expandable(device);
    }
    if (conf.policy == PLIM_POLICY_TORCH || settings->backend != PLIM_BACKEND_NATIVE) {
        plim_settings_format(settings, conf.text, sizeof conf.text);
    }
    if (!has_string) {
        plim_settings_format(settings, settings->text, sizeof settings->text);
    }
    *ret_conf = conf;
    uint64_t count = 0;
    (void)plim_history_settings(history, &count);
    return count > 0 && (has_string || !plim_recorded_settings_name_other(&recorded));
}
