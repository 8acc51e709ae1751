/*
 * A judgement in two sentences: the right figures in them, and none where there are none.
 */
#include "plimsoll/verdict.h"

#include "base/units.h"
#include "harness.h"

#define REASON_COUNT (PLIM_REASON_DRIVER_POOL + 1)
#define LENGTH_MAX   300

static plim_failed_request bare_case(plim_oom_topic topic)
{
    return plim_failed_request_of(topic, PLIM_FAMILY_ANY);
}

static plim_judgement bare_judgement(plim_reason reason)
{
    return (plim_judgement){
        .reason = reason,
        .held_bytes = PLIM_BYTES_UNKNOWN,
        .gap_bytes = PLIM_BYTES_UNKNOWN,
        .elsewhere_bytes = PLIM_BYTES_UNKNOWN,
        .outside_bytes = PLIM_BYTES_UNKNOWN,
        .short_bytes = PLIM_BYTES_UNKNOWN,
        .this_process = SIZE_MAX,
    };
}

/* The words, in a buffer of the caller. */
static const char *why(const plim_failed_request *oom, const plim_judgement *judgement,
                       char *buffer, size_t size)
{
    const size_t length = plim_judgement_why(oom, judgement, buffer, size);
    T_TRUE(length < PLIM_WHY_BYTES);
    T_EQ_U64(length, strlen(buffer));
    return buffer;
}

/* Points after a word and before a blank or the end. */
static size_t sentence_count(const char *text)
{
    size_t count = 0;
    for (const char *at = text; *at != '\0'; at++) {
        count += at[0] == '.' && (at[1] == ' ' || at[1] == '\0') ? 1 : 0;
    }
    return count;
}

static void check(const char *text)
{
    if (sentence_count(text) != 2 || strlen(text) > LENGTH_MAX) {
        print_error("%zu characters: %s\n", strlen(text), text);
    }
    T_EQ_U64(sentence_count(text), 2);
    T_TRUE(strlen(text) <= LENGTH_MAX);
    T_EQ_U64(text[strlen(text) - 1], '.');
    T_TRUE(text[0] >= '0' && text[0] <= 'Z');
    T_NULL(strstr(text, "18446744073709551615"));
    T_NULL(strstr(text, "16.0 EiB"));
    T_NULL(strstr(text, "unknown B"));
    T_NULL(strstr(text, "  "));
    T_NULL(strstr(text, ".."));
    T_NULL(strstr(text, " ."));
    T_NULL(strstr(text, " ,"));
}

/* --- without figures --- */

static void without_figures_there_are_two_sentences_and_no_number(void)
{
    for (int reason = 0; reason < REASON_COUNT; reason++) {
        for (int topic = 0; topic < PLIM_TOPIC_COUNT; topic++) {
            T_CASE("reason %d topic %d", reason, topic);
            const plim_failed_request oom = bare_case((plim_oom_topic)topic);
            const plim_judgement judgement = bare_judgement((plim_reason)reason);
            char buffer[1000];
            check(why(&oom, &judgement, buffer, sizeof buffer));
            /* "/dev/shm … 64 MiB" is a fact about containers. */
            T_TRUE(strpbrk(buffer, "0123456789") == NULL || topic == PLIM_TOPIC_HOST_SHM);
        }
    }
}

/* --- with any of them --- */

static uint64_t any_bytes(void)
{
    /* Two of them never add up to 16 EiB, which is what an unknown would print as. */
    return t_random_between(0, 2) == 0 ? PLIM_BYTES_UNKNOWN : t_random_bytes(0, UINT64_C(7) << 60);
}

static void with_any_figures_there_are_two_sentences(void)
{
    for (int round = 0; round < 40; round++) {
        for (int reason = 0; reason < REASON_COUNT; reason++) {
            for (int topic = 0; topic < PLIM_TOPIC_COUNT; topic++) {
                T_CASE("reason %d topic %d", reason, topic);
                plim_failed_request oom = bare_case((plim_oom_topic)topic);
                plim_judgement judgement = bare_judgement((plim_reason)reason);
                for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
                    oom.figures[i].bytes = any_bytes();
                }
                const plim_process_figure processes[] = {
                    { .pid = t_random() >> 40, .bytes = any_bytes() },
                    { .pid = t_random() >> 40, .bytes = any_bytes() },
                };
                oom.processes = processes;
                oom.process_count = t_random_between(0, 2);
                judgement.held_bytes = any_bytes();
                judgement.gap_bytes = any_bytes();
                judgement.elsewhere_bytes = any_bytes();
                judgement.outside_bytes = any_bytes();
                judgement.short_bytes = any_bytes();
                char buffer[1000];
                check(why(&oom, &judgement, buffer, sizeof buffer));
            }
        }
    }
}

/* --- each reason --- */

/* A card of 24 GiB; 20 MiB requested, 22 GiB held, 20 of them live, 12 MiB free. */
static plim_failed_request usual_case(void)
{
    plim_failed_request oom = bare_case(PLIM_TOPIC_ALLOCATION);
    oom.figures[PLIM_FIGURE_REQUESTED].bytes = 20 * MIB;
    oom.figures[PLIM_FIGURE_TOTAL].bytes = 24 * GIB;
    oom.figures[PLIM_FIGURE_FREE].bytes = 12 * MIB;
    oom.figures[PLIM_FIGURE_ALLOCATED].bytes = 20 * GIB;
    return oom;
}

static plim_judgement usual_judgement(plim_reason reason)
{
    plim_judgement judgement = bare_judgement(reason);
    judgement.held_bytes = 22 * GIB;
    judgement.gap_bytes = 2 * GIB;
    judgement.elsewhere_bytes = 2 * GIB - 12 * MIB;
    judgement.short_bytes = 8 * MIB;
    return judgement;
}

#define USUAL                                                                             \
    "The program requested 20.0 MiB while it held 22.0 GiB (2.00 GiB of it unused), and " \
    "12.0 MiB of 24.0 GiB were free. "

static void each_reason_is_told_with_its_figures(void)
{
    static const struct {
        plim_reason reason;
        const char *text;
    } cases[] = {
        { PLIM_REASON_GAP, USUAL "2.00 GiB reserved but unused would have covered the 20.0 MiB, "
                                 "but not in one piece." },
        { PLIM_REASON_GAP_AND_FREE, USUAL "Unused and free together, 2.01 GiB, would have "
                                          "covered the 20.0 MiB, but not in one piece." },
        { PLIM_REASON_FULL, USUAL "What was free was too little by 8.00 MiB; how much of the "
                                  "rest is live is not known." },
        { PLIM_REASON_FULL_NEARLY, USUAL "The 2.00 GiB unused would have covered the 20.0 MiB, "
                                         "but under a tenth of what is held is unused: hardly "
                                         "any fragmentation." },
        { PLIM_REASON_ELSEWHERE, USUAL "Others hold 1.99 GiB, more than this program: room is to "
                                       "be made there." },
        { PLIM_REASON_HOLDS_LITTLE, USUAL "This program holds a small part of the device: "
                                          "others hold 1.99 GiB, and room is to be made there." },
        { PLIM_REASON_OVER_LIMIT, USUAL "Together that passes the limit of 21.0 GiB by 1.02 GiB: "
                                        "the limit refused it, not the device." },
        { PLIM_REASON_OVER_DEVICE, USUAL "That one request exceeds the 21.0 GiB that may be had "
                                         "at once, so nothing that is freed can make it fit." },
        { PLIM_REASON_OVER_ANY, USUAL "No device is that large: the size is computed wrongly "
                                      "somewhere, or overflowed." },
        { PLIM_REASON_FREE_ENOUGH,
          USUAL "That contradicts the error: suspect a limit that is not printed, a virtual GPU, "
                "a Windows driver, or a reading that came too late." },
        { PLIM_REASON_NEAR_MISS, USUAL "The share is missed by 8.00 MiB only: a slightly smaller "
                                       "one starts." },
        { PLIM_REASON_TABLE, USUAL "So nearly all of that was in use at the peak: that points to a "
                                   "full device, though the table has neither the request nor "
                                   "what was free." },
        { PLIM_REASON_DRIVER_POOL,
          USUAL "Live data and the request would fit: the other 1.99 GiB are held by the "
                "driver's pool, which keeps what was freed, or by other processes." },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("reason %d", (int)cases[i].reason);
        plim_failed_request oom = usual_case();
        oom.figures[PLIM_FIGURE_LIMIT].bytes = 21 * GIB;
        const plim_judgement judgement = usual_judgement(cases[i].reason);
        char buffer[1000];
        T_EQ_STR(why(&oom, &judgement, buffer, sizeof buffer), cases[i].text);
        check(buffer);
    }
}

static void missing_figures_are_left_out(void)
{
    plim_failed_request oom = usual_case();
    plim_judgement judgement = usual_judgement(PLIM_REASON_GAP);
    char buffer[1000];
    judgement.gap_bytes = PLIM_BYTES_UNKNOWN;
    oom.figures[PLIM_FIGURE_TOTAL].bytes = PLIM_BYTES_UNKNOWN;
    T_EQ_STR(why(&oom, &judgement, buffer, sizeof buffer),
             "The program requested 20.0 MiB while it held 22.0 GiB, and 12.0 MiB were free. "
             "What is reserved but unused would have covered the 20.0 MiB, but not in one piece.");
    judgement.held_bytes = PLIM_BYTES_UNKNOWN;
    oom.figures[PLIM_FIGURE_FREE].bytes = PLIM_BYTES_UNKNOWN;
    T_EQ_STR(why(&oom, &judgement, buffer, sizeof buffer),
             "The program requested 20.0 MiB while 20.0 GiB were live. What is reserved but unused "
             "would "
             "have covered the 20.0 MiB, but not in one piece.");
    oom.figures[PLIM_FIGURE_ALLOCATED].bytes = PLIM_BYTES_UNKNOWN;
    judgement.reason = PLIM_REASON_NO_FIGURES;
    T_EQ_STR(why(&oom, &judgement, buffer, sizeof buffer),
             "The program requested 20.0 MiB. Too few figures are known to say more: what is held, "
             "and by whom, is not among them.");
    oom.figures[PLIM_FIGURE_REQUESTED].bytes = PLIM_BYTES_UNKNOWN;
    oom.figures[PLIM_FIGURE_REQUESTED_FROM_SHAPE].bytes = GIB;
    oom.topic = PLIM_TOPIC_POOL;
    T_EQ_STR(why(&oom, &judgement, buffer, sizeof buffer),
             "By the shape of a tensor, the program requested 1.00 GiB. The program takes one pool "
             "at the "
             "start, and how large or how full it is, the text does not say.");
}

static void what_matters_beside_is_mentioned(void)
{
    plim_failed_request oom = usual_case();
    plim_judgement judgement = usual_judgement(PLIM_REASON_GAP);
    char buffer[1000];

    judgement.elsewhere_bytes = 5 * GIB;
    why(&oom, &judgement, buffer, sizeof buffer);
    T_NOT_NULL(strstr(buffer, "; 5.00 GiB were held elsewhere, and freeing that would have been "
                              "enough."));
    judgement.elsewhere_bytes = 4 * GIB; /* not a fifth of 24 */
    T_NULL(strstr(why(&oom, &judgement, buffer, sizeof buffer), "elsewhere"));

    judgement.outside_bytes = 3 * GIB;
    why(&oom, &judgement, buffer, sizeof buffer);
    T_NOT_NULL(
        strstr(buffer, "; 3.00 GiB more of this process are beside it (context, libraries)."));

    oom.figures[PLIM_FIGURE_PRIVATE_POOLS].bytes = GIB;
    why(&oom, &judgement, buffer, sizeof buffer);
    T_NOT_NULL(strstr(buffer, "; 1.00 GiB lie in private pools, closed to ordinary requests."));

    judgement.reason = PLIM_REASON_ELSEWHERE;
    const plim_process_figure processes[] = {
        { .pid = 1, .bytes = 22 * GIB, .is_this = true },
        { .pid = 4711, .bytes = 3 * GIB },
    };
    oom.processes = processes;
    oom.process_count = T_COUNT(processes);
    why(&oom, &judgement, buffer, sizeof buffer);
    T_NOT_NULL(strstr(buffer, "Others hold 4.00 GiB (process 4711 alone 3.00 GiB), more than"));
}

/* A verdict may rest on unused and free memory together: so must its sentence. */
static void what_would_have_covered_a_request_is_as_large(void)
{
    static const struct {
        uint64_t requested, free, allocated, unused;
        const char *second;
    } rows[] = {
        /* MiB, of 24 GiB */
        { 512, 480, 23000, 60,
          "Unused and free together, 540 MiB, would have covered the 512 MiB, but" },
        { 2, 1, 23000, 100, "The 100 MiB unused would have covered the 2.00 MiB, but" },
        { 2, 3, 23000, 0, "The 3.00 MiB that were free are the last of a full device" },
        { 512, 12, 23000, 0,
          "Live data and the request do not fit together: 500 MiB were missing" },
        { 3000, 100, 20000, 4000,
          "3.91 GiB reserved but unused would have covered the 2.93 GiB, but not in" },
        { 4050, 100, 20000, 4000,
          "Unused and free together, 4.00 GiB, would have covered the 3.96 GiB, but" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_failed_request oom = bare_case(PLIM_TOPIC_ALLOCATION);
        oom.figures[PLIM_FIGURE_REQUESTED].bytes = rows[i].requested * MIB;
        oom.figures[PLIM_FIGURE_TOTAL].bytes = 24 * GIB;
        oom.figures[PLIM_FIGURE_FREE].bytes = rows[i].free * MIB;
        oom.figures[PLIM_FIGURE_ALLOCATED].bytes = rows[i].allocated * MIB;
        oom.figures[PLIM_FIGURE_RESERVED_UNALLOCATED].bytes = rows[i].unused * MIB;
        const plim_judgement judgement = plim_judge(&oom);
        char buffer[1000];
        T_CASE("%.150s", why(&oom, &judgement, buffer, sizeof buffer));
        T_NOT_NULL(strstr(buffer, rows[i].second));
    }
}

static void other_kinds_of_requests_have_their_words(void)
{
    char buffer[1000];
    plim_failed_request oom = bare_case(PLIM_TOPIC_STARTUP);
    oom.figures[PLIM_FIGURE_REQUESTED].bytes = 72 * GIB;
    oom.figures[PLIM_FIGURE_FREE].bytes = 70 * GIB;
    oom.figures[PLIM_FIGURE_TOTAL].bytes = 80 * GIB;
    plim_judgement judgement = bare_judgement(PLIM_REASON_NEAR_MISS);
    judgement.short_bytes = 2 * GIB;
    T_EQ_STR(
        why(&oom, &judgement, buffer, sizeof buffer),
        "At the start the program wanted 72.0 GiB while 70.0 GiB of 80.0 GiB were free. The share "
        "is missed by 2.00 GiB only: a slightly smaller one starts.");

    oom = bare_case(PLIM_TOPIC_PROGRAM);
    oom.figures[PLIM_FIGURE_REQUESTED].bytes = 20 * GIB;
    oom.figures[PLIM_FIGURE_TOTAL].bytes = 16 * GIB;
    judgement = bare_judgement(PLIM_REASON_OVER_DEVICE);
    T_EQ_STR(why(&oom, &judgement, buffer, sizeof buffer),
             "The compiled program needs 20.0 GiB while the device has 16.0 GiB. That one request "
             "exceeds the whole device of 16.0 GiB, so nothing that is freed can make it fit.");

    oom = bare_case(PLIM_TOPIC_WATERMARK);
    oom.figures[PLIM_FIGURE_REQUESTED].bytes = GIB;
    oom.figures[PLIM_FIGURE_OTHER_ALLOCATIONS].bytes = 512 * MIB;
    oom.figures[PLIM_FIGURE_LIMIT].bytes = 18 * GIB;
    judgement = bare_judgement(PLIM_REASON_OVER_LIMIT);
    judgement.held_bytes = 17 * GIB + 512 * MIB;
    T_EQ_STR(why(&oom, &judgement, buffer, sizeof buffer),
             "The program requested 1.00 GiB while it held 17.5 GiB (512 MiB of it outside the "
             "allocator). Together that passes the limit of 18.0 GiB by 512 MiB: the "
             "limit refused it, not the device.");
}

static void a_topic_is_told_with_its_figures(void)
{
    static const struct {
        plim_oom_topic topic;
        plim_figure_id wanted;
        plim_figure_id bound;
        const char *first;
    } cases[] = {
        { PLIM_TOPIC_KERNEL, PLIM_FIGURE_SHARED_REQUIRED, PLIM_FIGURE_SHARED_LIMIT,
          "A kernel needs 3.00 GiB of shared memory, and 1.00 GiB is what the hardware has. " },
        { PLIM_TOPIC_KV_CACHE, PLIM_FIGURE_REQUESTED, PLIM_FIGURE_LIMIT,
          "3.00 GiB of KV cache are needed, and 1.00 GiB are what its budget leaves. " },
        { PLIM_TOPIC_BUFFER_MAX, PLIM_FIGURE_REQUESTED, PLIM_FIGURE_LIMIT,
          "One buffer of 3.00 GiB was requested, and 1.00 GiB is the most that the driver gives "
          "at once. " },
        { PLIM_TOPIC_HOST_RAM, PLIM_FIGURE_REQUESTED, PLIM_FIGURE_FREE,
          "The program requested 3.00 GiB of the host's memory, and 1.00 GiB were available. " },
        { PLIM_TOPIC_HOST_PINNED, PLIM_FIGURE_REQUESTED, PLIM_FIGURE_LIMIT,
          "The program requested 3.00 GiB of pinned host memory. " },
        { PLIM_TOPIC_DISK, PLIM_FIGURE_REQUESTED, PLIM_FIGURE_LIMIT, "A disk is full. " },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        plim_failed_request oom = bare_case(cases[i].topic);
        oom.figures[cases[i].wanted].bytes = 3 * GIB;
        oom.figures[cases[i].bound].bytes = GIB;
        const plim_judgement judgement = bare_judgement(PLIM_REASON_TOPIC);
        char buffer[1000];
        why(&oom, &judgement, buffer, sizeof buffer);
        T_CASE("%.100s", buffer);
        T_EQ_MEM(buffer, cases[i].first, strlen(cases[i].first));
    }
}

/* --- room --- */

static void words_without_room_have_their_length_all_the_same(void)
{
    const plim_failed_request oom = usual_case();
    const plim_judgement judgement = usual_judgement(PLIM_REASON_GAP);
    char buffer[PLIM_WHY_BYTES];
    const size_t length = plim_judgement_why(&oom, &judgement, NULL, 0);
    T_EQ_U64(plim_judgement_why(&oom, &judgement, buffer, 20), length);
    T_EQ_STR(buffer, "The program request");
    T_EQ_U64(plim_judgement_why(&oom, &judgement, buffer, sizeof buffer), length);
    T_EQ_U64(strlen(buffer), length);
}

T_MAIN(T_TEST(without_figures_there_are_two_sentences_and_no_number),
       T_TEST(with_any_figures_there_are_two_sentences),
       T_TEST(each_reason_is_told_with_its_figures), T_TEST(missing_figures_are_left_out),
       T_TEST(what_matters_beside_is_mentioned),
       T_TEST(what_would_have_covered_a_request_is_as_large),
       T_TEST(other_kinds_of_requests_have_their_words), T_TEST(a_topic_is_told_with_its_figures),
       T_TEST(words_without_room_have_their_length_all_the_same))
