/*
 * test_random.c - random settings strings: what they mean is worked out a second time,
 * from what was meant instead of from the text; and strings that were damaged do no harm.
 */
#include "harness.h"

#include "base/units.h"
#include "plimsoll/settings.h"

#define PAIRS_MAX     6
#define ITEMS_MAX     5
#define TEXT_BYTES    4096
#define BOUNDARY_REST 99 /* the list's '>' */

static const char *const reals[] = { "0.5", ".25", "1e-3", "0.8", "+0.125", "9.5E-1", "0.333333" };

typedef struct item {
    uint32_t boundary_log2; /* or BOUNDARY_REST */
    uint64_t value;
} item;

/* One pair as it is meant. */
typedef struct pair {
    plim_setting_key key;
    bool flag;
    uint64_t number;
    const char *real;
    size_t item_count; /* 0: a number instead of a list */
    item items[ITEMS_MAX];
    size_t value_offset; /* in the text */
} pair;

typedef struct conf {
    char text[TEXT_BYTES];
    size_t length;
    size_t pair_count;
    pair pairs[PAIRS_MAX];
} conf;

static bool is_divisions(plim_setting_key key)
{
    return key == PLIM_KEY_ROUNDUP_POWER2_DIVISIONS;
}

static bool is_real(plim_setting_key key)
{
    return key == PLIM_KEY_GARBAGE_COLLECTION_THRESHOLD ||
           key == PLIM_KEY_PER_PROCESS_MEMORY_FRACTION;
}

static bool is_number(plim_setting_key key)
{
    return key == PLIM_KEY_MAX_SPLIT_SIZE_MB || key == PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB ||
           key == PLIM_KEY_LARGE_SEGMENT_SIZE_MB || key == PLIM_KEY_PINNED_NUM_REGISTER_THREADS ||
           key == PLIM_KEY_PINNED_RESERVE_SEGMENT_SIZE_MB ||
           key == PLIM_KEY_PINNED_MAX_ROUND_THRESHOLD_MB ||
           key == PLIM_KEY_PINNED_MAX_CACHED_SIZE_MB;
}

/* The rest are flags, or not taken part in. */
static bool takes_part(plim_setting_key key)
{
    return key != PLIM_KEY_BACKEND && key != PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE &&
           key != PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE_BY_CLASS;
}

static void make_pair(pair *made)
{
    *made = (pair){ .key = PLIM_KEY_BACKEND };
    while (!takes_part(made->key)) {
        made->key = (plim_setting_key)t_random_between(0, PLIM_SETTING_KEY_COUNT - 1);
    }
    made->flag = t_random_between(0, 1) == 1;
    made->real = reals[t_random_between(0, T_COUNT(reals) - 1)];
    if (made->key == PLIM_KEY_PINNED_NUM_REGISTER_THREADS) {
        made->number = (uint64_t)1 << t_random_between(0, 8); /* 256 is too much */
    } else if (is_divisions(made->key)) {
        made->number = (uint64_t)1 << t_random_between(0, 63);
        made->item_count = t_random_between(0, ITEMS_MAX);
        for (size_t i = 0; i < made->item_count; i++) {
            const bool is_rest = t_random_between(0, 4) == 0;
            made->items[i] = (item){
                .boundary_log2 = is_rest ? BOUNDARY_REST : (uint32_t)t_random_between(0, 20),
                .value = t_random_between(0, 4) == 0 ? 0 : (uint64_t)1 << t_random_between(0, 10),
            };
        }
    } else if (t_random_between(0, 9) == 0) {
        made->number = t_random_bytes(0, UINT64_MAX); /* perhaps more than there is room for */
    } else {
        made->number = t_random_between(8, 40); /* around the lower bounds */
    }
}

/* With white space here and there. */
static void write_string(conf *made, const char *string)
{
    for (; *string != '\0'; string++) {
        if (t_random_between(0, 19) == 0) {
            made->text[made->length++] = " \t\n\r\v\f"[t_random_between(0, 5)];
        }
        made->text[made->length++] = *string;
    }
    made->text[made->length] = '\0';
}

static void write_number(conf *made, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    write_string(made, text);
}

static void write_value(conf *made, const pair *meant)
{
    if (is_real(meant->key)) {
        write_string(made, meant->real);
    } else if (is_number(meant->key) || (is_divisions(meant->key) && meant->item_count == 0)) {
        write_number(made, meant->number);
    } else if (!is_divisions(meant->key)) {
        write_string(made, meant->flag ? "True" : "False");
    } else {
        for (size_t i = 0; i < meant->item_count; i++) {
            write_string(made, i == 0 ? "[" : ",");
            if (meant->items[i].boundary_log2 == BOUNDARY_REST) {
                write_string(made, ">");
            } else {
                write_number(made, (uint64_t)1 << meant->items[i].boundary_log2);
            }
            write_string(made, ":");
            write_number(made, meant->items[i].value);
        }
        write_string(made, "]");
    }
}

static void make_conf(conf *made)
{
    made->length = 0;
    made->text[0] = '\0';
    made->pair_count = t_random_between(0, PAIRS_MAX);
    for (size_t i = 0; i < made->pair_count; i++) {
        pair *const meant = &made->pairs[i];
        make_pair(meant);
        write_string(made, plim_setting_key_name(meant->key));
        write_string(made, ":");
        meant->value_offset = made->length;
        write_value(made, meant);
        if (i + 1 < made->pair_count || t_random_between(0, 9) == 0) {
            write_string(made, ",");
        }
    }
}

/* --- the second opinion --- */

static uint64_t in_bytes(uint64_t mb)
{
    return mb > UINT64_MAX / MIB ? UINT64_MAX / MIB * MIB : mb * MIB;
}

static bool in_range(const pair *meant, uint64_t large_segment_bytes)
{
    switch ((int)meant->key) {
    case PLIM_KEY_MAX_SPLIT_SIZE_MB:
    case PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB:
        return meant->number >= large_segment_bytes / MIB;
    case PLIM_KEY_LARGE_SEGMENT_SIZE_MB:
        return meant->number > 10;
    case PLIM_KEY_PINNED_NUM_REGISTER_THREADS:
        return meant->number <= 128;
    case PLIM_KEY_PINNED_RESERVE_SEGMENT_SIZE_MB:
        return meant->number > 0;
    default:
        return true;
    }
}

static void naive_divisions(uint64_t *divisions, const pair *meant)
{
    for (uint32_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        if (meant->item_count == 0) {
            divisions[i] = meant->number;
            continue;
        }
        /* What each item says of this one interval; the last to say something is right. */
        bool had_boundary = false;
        uint32_t last = 0;
        for (size_t k = 0; k < meant->item_count; k++) {
            const uint32_t log2 = meant->items[k].boundary_log2;
            const uint32_t interval = log2 > 15 ? 15 : log2;
            const bool says =
                log2 == BOUNDARY_REST ? i > last : i == interval || (!had_boundary && i < interval);
            divisions[i] = says ? meant->items[k].value : divisions[i];
            had_boundary = had_boundary || log2 != BOUNDARY_REST;
            last = log2 == BOUNDARY_REST ? last : interval;
        }
    }
}

static bool *flag_of(plim_settings *settings, plim_setting_key key)
{
    switch ((int)key) {
    case PLIM_KEY_EXPANDABLE_SEGMENTS:
        return &settings->expandable_segments;
    case PLIM_KEY_RELEASE_LOCK_ON_CUDAMALLOC:
        return &settings->release_lock_on_cudamalloc;
    case PLIM_KEY_PINNED_USE_CUDA_HOST_REGISTER:
        return &settings->pinned_use_cuda_host_register;
    case PLIM_KEY_PINNED_USE_BACKGROUND_THREADS:
        return &settings->pinned_use_background_threads;
    case PLIM_KEY_PINNED_FREE_CATCH_ALL:
        return &settings->pinned_free_catch_all;
    case PLIM_KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE:
        return &settings->graph_capture_record_stream_reuse;
    default:
        return &settings->throw_on_cudamalloc_oom;
    }
}

static void naive_apply(plim_settings *settings, const pair *meant)
{
    switch ((int)meant->key) {
    case PLIM_KEY_MAX_SPLIT_SIZE_MB:
        settings->max_split_bytes = in_bytes(meant->number);
        break;
    case PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB:
        settings->max_non_split_rounding_bytes = in_bytes(meant->number);
        break;
    case PLIM_KEY_LARGE_SEGMENT_SIZE_MB: /* done before */
        break;
    case PLIM_KEY_PINNED_NUM_REGISTER_THREADS:
        settings->pinned_num_register_threads = meant->number;
        break;
    case PLIM_KEY_PINNED_RESERVE_SEGMENT_SIZE_MB:
        settings->pinned_reserve_segment_bytes = in_bytes(meant->number);
        break;
    case PLIM_KEY_PINNED_MAX_ROUND_THRESHOLD_MB:
        settings->pinned_max_round_threshold_bytes = in_bytes(meant->number);
        break;
    case PLIM_KEY_PINNED_MAX_CACHED_SIZE_MB:
        settings->pinned_max_cached_bytes = in_bytes(meant->number);
        break;
    case PLIM_KEY_GARBAGE_COLLECTION_THRESHOLD:
        settings->garbage_collection_threshold = strtod(meant->real, NULL);
        break;
    case PLIM_KEY_PER_PROCESS_MEMORY_FRACTION:
        settings->per_process_memory_fraction = strtod(meant->real, NULL);
        break;
    case PLIM_KEY_ROUNDUP_POWER2_DIVISIONS:
        naive_divisions(settings->roundup_power2_divisions, meant);
        break;
    default:
        *flag_of(settings, meant->key) = meant->flag;
        break;
    }
    settings->given |= (uint32_t)1 << meant->key;
}

/* The first pair that is out of range, or NULL when settings are now what the string says. */
static const pair *naive_parse(const conf *meant, plim_settings *settings)
{
    plim_settings next = *settings;
    next.given = 0;
    for (size_t i = 0; i < meant->pair_count; i++) {
        const pair *const one = &meant->pairs[i];
        if (one->key == PLIM_KEY_LARGE_SEGMENT_SIZE_MB) {
            if (!in_range(one, 0)) {
                break;
            }
            next.large_segment_bytes = in_bytes(one->number);
        }
    }
    next.max_split_bytes = PLIM_UNLIMITED;
    next.max_non_split_rounding_bytes = next.large_segment_bytes;
    next.garbage_collection_threshold = 0;
    memset(next.roundup_power2_divisions, 0, sizeof next.roundup_power2_divisions);
    for (size_t i = 0; i < meant->pair_count; i++) {
        if (!in_range(&meant->pairs[i], next.large_segment_bytes)) {
            return &meant->pairs[i];
        }
        naive_apply(&next, &meant->pairs[i]);
    }
    *settings = next;
    return NULL;
}

/* All but the text. */
static void expect_equal(const plim_settings *a, const plim_settings *b)
{
    T_EQ_U64(a->max_split_bytes, b->max_split_bytes);
    T_EQ_U64(a->max_non_split_rounding_bytes, b->max_non_split_rounding_bytes);
    T_TRUE(a->garbage_collection_threshold == b->garbage_collection_threshold);
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        T_EQ_U64(a->roundup_power2_divisions[i], b->roundup_power2_divisions[i]);
    }
    T_EQ_U64(a->expandable_segments, b->expandable_segments);
    T_EQ_U64(a->release_lock_on_cudamalloc, b->release_lock_on_cudamalloc);
    T_EQ_U64(a->graph_capture_record_stream_reuse, b->graph_capture_record_stream_reuse);
    T_EQ_U64(a->throw_on_cudamalloc_oom, b->throw_on_cudamalloc_oom);
    T_EQ_U64(a->large_segment_bytes, b->large_segment_bytes);
    T_TRUE(a->per_process_memory_fraction == b->per_process_memory_fraction);
    T_TRUE(a->expandable_segments_reserve_fraction == b->expandable_segments_reserve_fraction);
    T_EQ_U64(a->expandable_segments_reserve_bytes, b->expandable_segments_reserve_bytes);
    T_EQ_U64(a->backend, b->backend);
    T_EQ_U64(a->pinned_use_cuda_host_register, b->pinned_use_cuda_host_register);
    T_EQ_U64(a->pinned_use_background_threads, b->pinned_use_background_threads);
    T_EQ_U64(a->pinned_free_catch_all, b->pinned_free_catch_all);
    T_EQ_U64(a->pinned_num_register_threads, b->pinned_num_register_threads);
    T_EQ_U64(a->pinned_reserve_segment_bytes, b->pinned_reserve_segment_bytes);
    T_EQ_U64(a->pinned_max_round_threshold_bytes, b->pinned_max_round_threshold_bytes);
    T_EQ_U64(a->pinned_max_cached_bytes, b->pinned_max_cached_bytes);
}

static void expect_round_trip(const plim_settings *settings)
{
    char text[TEXT_BYTES];
    T_TRUE(plim_settings_format(settings, text, sizeof text) < sizeof text);
    plim_settings back = plim_settings_default();
    plim_error err = { .status = PLIM_OK };
    if (plim_settings_parse(text, &back, &err) != PLIM_OK) {
        fail_msg("\"%s\": %s", text, err.message);
    }
    expect_equal(&back, settings);
}

static void strings_mean_what_was_meant(void)
{
    uint64_t good = 0;
    plim_settings settings = plim_settings_default();
    for (int i = 0; i < 20000; i++) {
        if (i % 8 == 0) {
            settings = plim_settings_default();
        }
        conf made;
        make_conf(&made);
        T_CASE("\"%.150s\"", made.text);
        plim_settings expected = settings;
        const pair *const bad = naive_parse(&made, &expected);
        plim_error err = { .status = PLIM_OK };
        const plim_status status = plim_settings_parse(made.text, &settings, &err);
        expect_equal(&settings, &expected);
        T_EQ_U64(settings.given, expected.given);
        T_EQ_U64(status, bad == NULL ? PLIM_OK : PLIM_INVALID_ARGUMENT);
        if (bad == NULL) {
            good++;
            expect_round_trip(&settings);
        } else {
            /* White space before the value is not the value. */
            const size_t space = strspn(made.text + bad->value_offset, " \t\n\r\v\f");
            T_EQ_U64(err.offset, bad->value_offset + space);
        }
    }
    T_TRUE(good > 2000); /* or this tests errors only */
}

static void damage(char *text)
{
    static const char signs[] = ",:[]> \tTrueFalse0123456789.-eG_xm\x80\x01";
    const size_t length = strlen(text);
    const size_t at = t_random_between(0, length);
    const char c = signs[t_random_between(0, sizeof signs - 2)];
    switch (t_random_between(0, 4)) {
    case 0: /* replace; at the very end, nothing */
        text[at] = (char)(text[at] == '\0' ? '\0' : c);
        break;
    case 1: /* insert */
        memmove(text + at + 1, text + at, length - at + 1);
        text[at] = c;
        break;
    case 2: /* remove */
        memmove(text + at, text + at + (at < length), length - at + (at == length));
        break;
    case 3: /* end here */
        text[at] = '\0';
        break;
    default: { /* say the end twice */
        const size_t again = length - at < 64 ? length - at : 64;
        memcpy(text + length, text + length - again, again);
        text[length + again] = '\0';
        break;
    }
    }
}

static void damaged_strings_do_no_harm(void)
{
    for (int i = 0; i < 20000; i++) {
        conf made;
        make_conf(&made);
        const uint64_t count = t_random_between(1, 6);
        for (uint64_t k = 0; k < count; k++) {
            damage(made.text);
        }
        T_CASE("\"%.150s\"", made.text);
        /* Exactly as long as it is, so that reading beyond it is caught. */
        const size_t bytes = strlen(made.text) + 1;
        char *const text = malloc(bytes);
        T_NOT_NULL(text);
        memcpy(text, made.text, bytes);
        plim_settings settings = plim_settings_default();
        const plim_settings before = settings;
        plim_error err = { .status = PLIM_OK };
        const plim_status status = plim_settings_parse(text, &settings, &err);
        if (status == PLIM_OK) {
            expect_round_trip(&settings);
        } else {
            T_TRUE(status == PLIM_CORRUPT || status == PLIM_INVALID_ARGUMENT);
            T_EQ_U64(err.status, status);
            T_TRUE(err.offset < bytes);
            T_EQ_U64(strncmp(err.message, "settings: character ", 20), 0);
            T_NULL(strchr(err.message, '\n'));
            expect_equal(&settings, &before);
        }
        free(text);
    }
}

T_MAIN(T_TEST(strings_mean_what_was_meant), T_TEST(damaged_strings_do_no_harm))
