/*
 * conf.c - confs as text: a settings string with at most two things more, the name of a policy in
 * front and a release_threshold among the pairs.
 *
 * What is not PyTorch's is read here and blanked out; the rest goes to the parser of settings. So
 * there is one grammar of pairs, and every offset still points into the text that was given.
 */
#include "replay/conf.h"

#include "alloc/settings_key.h"
#include "alloc/settings_parse.h"
#include "alloc/settings_reader.h"
#include "base/ascii.h"
#include "base/edit_distance.h"
#include "base/error.h"
#include "base/size.h"

#include <stdio.h>
#include <string.h>

#define THRESHOLD_KEY  "release_threshold"
#define THRESHOLD_NEAR 4 /* letters that may be wrong; as of the other keys, about a third */

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

static void copy_without_space(char *to, const char *from)
{
    for (; *from != '\0'; from++) {
        if (!plim_is_space(*from)) {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/* --- the policy --- */

static bool find_policy(const char *word, plim_policy_kind *ret_policy)
{
    for (size_t i = 0; i < PLIM_POLICY_COUNT; i++) {
        if (strcmp(word, plim_policy_name((plim_policy_kind)i)) == 0) {
            *ret_policy = (plim_policy_kind)i;
            return true;
        }
    }
    return false;
}

/* One letter of a short name may be wrong. */
static const char *nearest_policy(const char *word)
{
    for (size_t i = 0; i < PLIM_POLICY_COUNT; i++) {
        const char *const name = plim_policy_name((plim_policy_kind)i);
        if (plim_edit_distance(word, name) <= 1) {
            return name;
        }
    }
    return plim_edit_distance(word, "default") <= 2 ? "default" : NULL;
}

static plim_status fail_policy(const plim_settings_reader *reader)
{
    const plim_settings_quote quote = plim_settings_quoted(reader);
    const char *const nearest = nearest_policy(reader->token.word);
    if (nearest != NULL) {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                                  "%s is not an allocator, did you mean %s?", quote.text, nearest);
    }
    const char *const key = plim_setting_key_nearest(reader->token.word);
    if (key != NULL) {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                                  "%s is neither an allocator nor a setting, did you mean %s:…?",
                                  quote.text, key);
    }
    char names[128];
    size_t length = 0;
    for (size_t i = 0; i < PLIM_POLICY_COUNT && length < sizeof names; i++) {
        const int added = snprintf(names + length, sizeof names - length, "%s%s",
                                   i == 0 ? "" : ", ", plim_policy_name((plim_policy_kind)i));
        length += added > 0 ? (size_t)added : sizeof names;
    }
    return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                              "%s is neither an allocator (%s) nor a setting (key:value)",
                              quote.text, names);
}

/*
 * A first word with nothing or a comma behind it: "default" and policies are taken, together with
 * the comma. Keys that lack their value are the settings parser's.
 */
static plim_status read_policy(conf_reader *conf, plim_settings_reader *reader)
{
    plim_settings_reader behind = *reader;
    plim_settings_advance(&behind);
    plim_setting_key key = PLIM_SETTING_KEY_COUNT;
    const char *name = NULL;
    if (reader->token.kind != 'w' || (behind.token.kind != ',' && behind.token.kind != '\0') ||
        plim_setting_key_find(reader->token.word, &key, &name) ||
        plim_settings_at_word(reader, THRESHOLD_KEY)) {
        return PLIM_OK;
    }
    if (plim_settings_at_word(reader, "default")) {
        if (behind.token.kind != '\0') {
            return plim_settings_fail(&behind, PLIM_CORRUPT, 0,
                                      "nothing goes with 'default', leave it out");
        }
        conf->conf.text[0] = '\0'; /* one conf, one text */
    } else if (find_policy(reader->token.word, &conf->conf.policy)) {
        conf->has_policy = true;
        conf->policy_at = reader->token.offset;
    } else {
        return fail_policy(reader);
    }
    *reader = behind;
    if (reader->token.kind == ',') {
        plim_settings_advance(reader);
    }
    return PLIM_OK;
}

/* --- pairs --- */

/* Stands behind the key. The pair goes, and the comma behind it. */
static plim_status read_threshold(conf_reader *conf, plim_settings_reader *reader)
{
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
    if (reader->token.kind != '\0') {
        PLIM_TRY(plim_settings_expect(reader, ',', "the value"));
    }
    return PLIM_OK;
}

static void skip_value(plim_settings_reader *reader)
{
    if (reader->token.kind == '[') {
        while (reader->token.kind != ']' && reader->token.kind != '\0') {
            plim_settings_advance(reader);
        }
    }
    plim_settings_advance(reader);
}

/* Over a pair of PyTorch's. False where it has not the form of one: the rest is not looked at,
 * because the settings parser will fail no later than here. */
static bool skip_pair(plim_settings_reader *reader)
{
    plim_error *const err = reader->err;
    reader->err = NULL;
    bool is_pair = plim_settings_expect(reader, ':', "") == PLIM_OK;
    if (is_pair) {
        skip_value(reader);
        is_pair = reader->token.kind == '\0' || plim_settings_expect(reader, ',', "") == PLIM_OK;
    }
    reader->err = err;
    return is_pair;
}

/* A word that is meant to be our key, and that the settings parser would have no name for. */
static bool is_mistyped_threshold(const plim_settings_reader *reader)
{
    const char *const word = reader->token.word;
    return plim_setting_key_nearest(word) == NULL &&
           plim_edit_distance(word, THRESHOLD_KEY) <= THRESHOLD_NEAR;
}

/* Behind what stands at `from`, up to the token: blank. */
static void blank(conf_reader *conf, size_t from, const plim_settings_reader *reader)
{
    memset(conf->rest + from, ' ', reader->token.offset - from);
}

static plim_status read_ours(conf_reader *conf, plim_settings_reader *reader)
{
    PLIM_TRY(read_policy(conf, reader));
    blank(conf, 0, reader);
    while (reader->token.kind == 'w') {
        const size_t from = reader->token.offset;
        if (plim_settings_at_word(reader, THRESHOLD_KEY)) {
            conf->has_threshold = true;
            conf->threshold_at = from;
            plim_settings_advance(reader);
            PLIM_TRY(read_threshold(conf, reader));
            blank(conf, from, reader);
        } else if (is_mistyped_threshold(reader)) {
            return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                                      "%s is not a setting, did you mean " THRESHOLD_KEY "?",
                                      plim_settings_quoted(reader).text);
        } else {
            plim_settings_advance(reader);
            if (!skip_pair(reader)) {
                break;
            }
        }
    }
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
    copy_without_space(conf.conf.text, text);
    memcpy(conf.rest, text, strlen(text) + 1);
    plim_settings_reader reader;
    plim_settings_reader_init(&reader, "conf", text, err);
    PLIM_TRY(read_ours(&conf, &reader));
    plim_settings *const settings = &conf.conf.settings;
    PLIM_TRY(plim_settings_parse_from("conf", conf.rest, settings, err));
    PLIM_TRY(settle_policy(&conf, text, err));
    copy_without_space(settings->text, settings->text); /* in place: it only gets shorter */
    *ret_conf = conf.conf;
    return PLIM_OK;
}

/* --- comparing --- */

static bool equal_reals(double a, double b)
{
    return !(a < b) && !(a > b);
}

static bool equal_divisions(const plim_settings *a, const plim_settings *b)
{
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) { /* 0 and 1 both mean none */
        const uint64_t left = a->roundup_power2_divisions[i];
        const uint64_t right = b->roundup_power2_divisions[i];
        if (left != right && (left > 1 || right > 1)) {
            return false;
        }
    }
    return true;
}

/* Letting go of a lock decides nothing where one thread asks. */
bool plim_conf_equal(const plim_conf *a, const plim_conf *b)
{
    const plim_settings *const x = &a->settings;
    const plim_settings *const y = &b->settings;
    return a->policy == b->policy && a->release_threshold_bytes == b->release_threshold_bytes &&
           x->max_split_bytes == y->max_split_bytes &&
           x->max_non_split_rounding_bytes == y->max_non_split_rounding_bytes &&
           equal_reals(x->garbage_collection_threshold, y->garbage_collection_threshold) &&
           equal_divisions(x, y) && x->expandable_segments == y->expandable_segments &&
           x->throw_on_cudamalloc_oom == y->throw_on_cudamalloc_oom &&
           x->large_segment_bytes == y->large_segment_bytes &&
           equal_reals(x->per_process_memory_fraction, y->per_process_memory_fraction) &&
           equal_reals(x->expandable_segments_reserve_fraction,
                       y->expandable_segments_reserve_fraction) &&
           x->expandable_segments_reserve_bytes == y->expandable_segments_reserve_bytes;
}
