/*
 * test_scan.c - folding text, and finding phrases in it: against a search that is too simple to
 * be wrong.
 */
#include "harness.h"

#include "oomtext/scan.h"

#include <ctype.h>

#define TEXT_MAX ((size_t)80 << 10) /* a few blocks */
#define HITS_MAX ((size_t)1 << 20)

/* --- the reference: fold everything, try every phrase everywhere --- */

static bool is_kept(unsigned char byte)
{
    return byte >= 0x80 || isalnum(byte) != 0;
}

/* Hits in the order that is promised; returns how many. */
static size_t find_all(const char *const *phrases, size_t phrase_count, const char *text,
                       size_t bytes, plim_scan_hit *hits)
{
    char *const folded = malloc(bytes + 1);
    size_t *const offsets = malloc((bytes + 1) * sizeof *offsets);
    size_t length = 0;
    size_t count = 0;
    T_TRUE(folded != NULL && offsets != NULL);
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (is_kept(byte)) {
            folded[length] = (char)(byte < 0x80 ? tolower(byte) : byte);
            offsets[length++] = i;
        }
    }
    for (size_t at = 0; at < length; at++) {
        for (size_t size = PLIM_SCAN_PHRASE_BYTES_MAX; size > 0; size--) {
            for (size_t i = 0; i < phrase_count && at + size <= length; i++) {
                if (strlen(phrases[i]) == size && memcmp(phrases[i], folded + at, size) == 0) {
                    T_TRUE(count < HITS_MAX);
                    hits[count++] = (plim_scan_hit){ .offset = offsets[at],
                                                     .end = offsets[at + size - 1] + 1,
                                                     .phrase = (uint32_t)i };
                }
            }
        }
    }
    free(offsets);
    free(folded);
    return count;
}

static plim_scan *new_scan(const char *const *phrases, size_t count)
{
    plim_scan *scan = NULL;
    plim_error err = { .status = PLIM_OK };
    if (plim_scan_create(phrases, count, NULL, &scan, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return scan;
}

static void check_hit(const plim_scan_hit *found, const plim_scan_hit *expected)
{
    T_EQ_U64(found->offset, expected->offset);
    T_EQ_U64(found->end, expected->end);
    T_EQ_U64(found->phrase, expected->phrase);
}

/* Whatever is requested, an exact copy of the text is searched: reading beyond it is caught. */
static void check_text(const char *const *phrases, size_t count, const char *text, size_t bytes)
{
    plim_scan_hit *const expected = malloc(HITS_MAX * sizeof *expected);
    char *const copy = malloc(bytes > 0 ? bytes : 1);
    T_TRUE(expected != NULL && copy != NULL);
    memcpy(copy, text, bytes);
    const size_t expected_count = find_all(phrases, count, text, bytes, expected);

    plim_scan *const scan = new_scan(phrases, count);
    plim_scan_hit hit;
    T_FALSE(plim_scan_next(scan, &hit)); /* there is no piece yet */
    for (int round = 0; round < 2; round++) {
        plim_scan_begin(scan, copy, bytes);
        for (size_t i = 0; i < expected_count; i++) {
            T_TRUE(plim_scan_next(scan, &hit));
            check_hit(&hit, &expected[i]);
        }
        T_FALSE(plim_scan_next(scan, &hit));
        T_FALSE(plim_scan_next(scan, &hit));
    }
    plim_scan_destroy(scan);
    free(copy);
    free(expected);
}

/* --- phrases --- */

static const char *const some_phrases[] = {
    "outofmemory",
    "outofmemoryerror",
    "outofmemorytriedtoallocate",
    "cudaoutofmemory",
    "cudaerroroutofmemory",
    "resourceexhausted",
    "oomwhenallocatingtensor",
    "failedtoallocate",
    "cannotallocatememory",
    "unabletoallocate",
    "memoryerror",
    "oomkill",
    "killed",
    "stdbadalloc",
    "cublasstatusallocfailed",
    "hiperroroutofmemory",
    "outofmemoryallocating",
    "notenoughmemory",
    "\xe5\x86\x85\xe5\xad\x98\xe4\xb8\x8d\xe8\xb6\xb3",
};

/* --- tests --- */

static void text_is_folded(void)
{
    static const struct {
        const char *text;
        const char *folded;
    } cases[] = {
        { "", "" },
        { "Out \nof memory", "outofmemory" },
        { "CUDA_ERROR_OUT_OF_MEMORY", "cudaerroroutofmemory" },
        { "OutOfMemoryError: 79.1 GiB", "outofmemoryerror791gib" },
        { "\t\r\n !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\x7f", "" },
        { "AZaz09", "azaz09" },
        { "\xc3\x84 \x80\xff.", "\xc3\x84\x80\xff" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        char folded[100] = "";
        T_CASE("\"%s\"", cases[i].text);
        const size_t length = plim_scan_fold(cases[i].text, strlen(cases[i].text), folded);
        T_EQ_U64(length, strlen(cases[i].folded));
        T_EQ_MEM(folded, cases[i].folded, length);
    }
    for (int byte = 0; byte < 256; byte++) {
        const char text = (char)byte;
        char folded = 'X';
        T_CASE("byte %d", byte);
        T_EQ_U64(plim_scan_fold(&text, 1, &folded), is_kept((unsigned char)byte));
    }
    char same[] = "In Place, too";
    T_EQ_U64(plim_scan_fold(same, sizeof same - 1, same), 10);
    T_EQ_MEM(same, "inplacetoo", 10);
}

static void hits_say_where_they_are(void)
{
    plim_scan *const scan = new_scan(some_phrases, T_COUNT(some_phrases));
    static const char text[] = "E: CUDA out\r\n  of memory. Killed!";
    static const struct {
        const char *text;
        const char *phrase;
    } expected[] = {
        { "CUDA out\r\n  of memory", "cudaoutofmemory" },
        { "out\r\n  of memory", "outofmemory" },
        { "Killed", "killed" },
    };
    plim_scan_hit hit;
    plim_scan_begin(scan, text, sizeof text - 1);
    for (size_t i = 0; i < T_COUNT(expected); i++) {
        T_TRUE(plim_scan_next(scan, &hit));
        T_EQ_STR(some_phrases[hit.phrase], expected[i].phrase);
        T_EQ_U64(hit.offset, strstr(text, expected[i].text) - text);
        T_EQ_U64(hit.end - hit.offset, strlen(expected[i].text));
    }
    T_FALSE(plim_scan_next(scan, &hit));
    plim_scan_destroy(scan);
}

static void small_pieces_have_what_is_in_them(void)
{
    check_text(some_phrases, T_COUNT(some_phrases), "", 0);
    check_text(some_phrases, T_COUNT(some_phrases), "k", 1);
    check_text(some_phrases, T_COUNT(some_phrases), "Killed", 6);
    check_text(some_phrases, T_COUNT(some_phrases), "Kille", 5);
    check_text(some_phrases, 0, "Killed", 6);

    plim_scan *const scan = new_scan(some_phrases, T_COUNT(some_phrases));
    plim_scan_hit hit;
    plim_scan_begin(scan, NULL, 0);
    T_FALSE(plim_scan_next(scan, &hit));
    plim_scan_destroy(scan);
}

/* Random letters with phrases among them, wrapped in any way. */
static size_t random_text(const char *const *phrases, size_t count, const char *letters,
                          size_t bytes, char *text)
{
    static const char between[] = " \n\t_-.:\x1b[],\"";
    const uint64_t density = t_random_bytes(1, 5000);
    const uint64_t gap_max = t_random() % 8 == 0 ? t_random_bytes(1, 30000) : 2;
    size_t at = 0;
    while (at < bytes) {
        if (t_random() % density != 0) {
            text[at++] = letters[t_random() % strlen(letters)];
            continue;
        }
        const char *const phrase = phrases[t_random() % count];
        const size_t size = strlen(phrase) - (t_random() % 8 == 0 ? 1 : 0);
        for (size_t i = 0; i < size && at < bytes; i++) {
            const int byte = (unsigned char)phrase[i];
            text[at++] = (char)(t_random() % 2 == 0 && byte < 0x80 ? toupper(byte) : byte);
            for (uint64_t gap = t_random() % 4 == 0 ? t_random_bytes(0, gap_max) : 0;
                 gap > 0 && at < bytes; gap--) {
                text[at++] = between[t_random() % (sizeof between - 1)];
            }
        }
    }
    return bytes;
}

static void random_texts_agree_with_the_reference(void)
{
    char *const text = malloc(TEXT_MAX);
    T_NOT_NULL(text);
    for (int i = 0; i < 150; i++) {
        const char *const letters = t_random() % 2 == 0 ? "outofmerycda AB\n" : "abcdefghijklmn  ";
        const size_t bytes = (size_t)t_random_bytes(0, TEXT_MAX);
        T_CASE("text %d of %zu bytes", i, bytes);
        check_text(some_phrases, T_COUNT(some_phrases), text,
                   random_text(some_phrases, T_COUNT(some_phrases), letters, bytes, text));
    }
    free(text);
}

/* Few letters, so that phrases overlap, contain and repeat each other. */
static void random_phrases_agree_with_the_reference(void)
{
    enum { COUNT = 40 };
    char *const text = malloc(TEXT_MAX);
    T_NOT_NULL(text);
    for (int i = 0; i < 150; i++) {
        char room[COUNT][PLIM_SCAN_PHRASE_BYTES_MAX + 1];
        const char *phrases[COUNT];
        const uint64_t letters = t_random_between(1, 4);
        const size_t count = (size_t)t_random_between(1, COUNT);
        const uint64_t least = t_random_between(PLIM_SCAN_PHRASE_BYTES_MIN, 12);
        for (size_t p = 0; p < count; p++) {
            const size_t bytes = (size_t)t_random_bytes(least, PLIM_SCAN_PHRASE_BYTES_MAX);
            for (size_t k = 0; k < bytes; k++) {
                room[p][k] = (char)('a' + t_random() % letters);
            }
            room[p][bytes] = '\0';
            phrases[p] = room[p];
        }
        const size_t bytes = (size_t)t_random_bytes(0, letters == 1 ? 9000 : TEXT_MAX);
        T_CASE("phrases %d", i);
        check_text(phrases, count, text, random_text(phrases, count, "abc ", bytes, text));
    }
    free(text);
}

static void adversarial_texts_agree_with_the_reference(void)
{
    static const char *const patterns[] = {
        "a",
        "outofmemor",
        "outofm",
        "outofmemory",
        "out of memory ",
        "OOM",
        " ",
        "killed",
        "o u t o f m e m o r y",
        "\xe5\x86\x85",
        "cudaoutofmemoryerror\n",
        "utofmem",
    };
    static const char *const phrases[] = {
        "aaaaaa",      "aaaaaaa",          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "outofmemory", "outofmemoryerror", "cudaoutofmemory",
        "memoryoutof", "outofmemory", /* twice: both are found */
        "killed",      "ledkil",           "oomoomoom",
    };
    char *const text = malloc(TEXT_MAX);
    T_NOT_NULL(text);
    for (size_t i = 0; i < T_COUNT(patterns); i++) {
        const size_t size = strlen(patterns[i]);
        for (size_t at = 0; at < TEXT_MAX; at++) {
            text[at] = patterns[i][at % size];
        }
        T_CASE("pattern \"%s\"", patterns[i]);
        check_text(phrases, T_COUNT(phrases), text, TEXT_MAX);
    }
    free(text);
}

static void a_phrase_is_found_wherever_it_is_cut(void)
{
    char *const text = malloc(TEXT_MAX);
    T_NOT_NULL(text);
    for (size_t at = 0; at < 33000;) {
        for (size_t gap = 0; gap < 20000; gap = gap * 7 + 1) {
            const size_t bytes = at + 3 + gap + 8;
            static const char words[] = "OutofMemory";
            memset(text, 'x', at);
            memset(text + at, ' ', bytes - at);
            for (size_t k = 0; k < sizeof words - 1; k++) {
                text[at + k + (k < 3 ? 0 : gap)] = words[k];
            }
            plim_scan *const scan = new_scan(some_phrases, 1);
            plim_scan_hit hit = { 0 };
            T_CASE("at %zu, gap %zu", at, gap);
            plim_scan_begin(scan, text, bytes);
            T_TRUE(plim_scan_next(scan, &hit));
            T_EQ_U64(hit.offset, at);
            T_EQ_U64(hit.end, bytes);
            T_FALSE(plim_scan_next(scan, &hit));
            plim_scan_destroy(scan);
        }
        at += at > 16250 && at < 16500 ? 1 : 61; /* blocks are of 16 KiB */
    }
    free(text);
}

static void impossible_phrases_are_refused(void)
{
    static const char *const cases[] = {
        "",
        "short",
        "out of memory",
        "OutOfMemory",
        "outofmemory.",
        "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg",
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        plim_scan *scan = NULL;
        plim_error err;
        T_CASE("\"%s\"", cases[i]);
        T_EQ_U64(plim_scan_create(&cases[i], 1, NULL, &scan, &err), PLIM_INVALID_ARGUMENT);
        T_NULL(scan);
    }
    const char *too_many[PLIM_SCAN_PHRASES_MAX + 1];
    for (size_t i = 0; i < T_COUNT(too_many); i++) {
        too_many[i] = "outofmemory";
    }
    plim_scan *scan = NULL;
    T_EQ_U64(plim_scan_create(too_many, T_COUNT(too_many), NULL, &scan, NULL),
             PLIM_INVALID_ARGUMENT);
    scan = new_scan(too_many, PLIM_SCAN_PHRASES_MAX); /* as many as are allowed, all in one place */
    plim_scan_begin(scan, "out of memory", 13);
    plim_scan_hit hit;
    for (uint32_t i = 0; i < PLIM_SCAN_PHRASES_MAX; i++) {
        T_TRUE(plim_scan_next(scan, &hit));
        T_EQ_U64(hit.phrase, i);
    }
    T_FALSE(plim_scan_next(scan, &hit));
    plim_scan_destroy(scan);
}

static bool create_once(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_scan *scan = NULL;
    plim_error err = { .status = PLIM_OK };
    const plim_status status =
        plim_scan_create(some_phrases, T_COUNT(some_phrases), mem, &scan, &err);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_EQ_U64(err.status, status);
    T_TRUE((scan != NULL) == (status == PLIM_OK));
    plim_scan_destroy(scan);
    return status == PLIM_OK;
}

static void failing_allocations_are_survived(void)
{
    t_fail_each_allocation(create_once, NULL);
    plim_scan_destroy(NULL);
}

static void a_few_hundred_kib_are_enough(void)
{
    enum { COUNT = PLIM_SCAN_PHRASES_MAX };
    char room[COUNT][PLIM_SCAN_PHRASE_BYTES_MAX + 1];
    const char *phrases[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < PLIM_SCAN_PHRASE_BYTES_MAX; k++) {
            room[i][k] = (char)('a' + t_random() % 26);
        }
        room[i][PLIM_SCAN_PHRASE_BYTES_MAX] = '\0';
        phrases[i] = room[i];
    }
    t_mem heap;
    t_mem_init(&heap);
    plim_scan *scan = NULL;
    T_EQ_U64(plim_scan_create(phrases, COUNT, &heap.mem, &scan, NULL), PLIM_OK);
    T_TRUE(heap.peak_bytes < (size_t)700 << 10);
    plim_scan_destroy(scan);
    T_EQ_U64(heap.live_bytes, 0);
}

T_MAIN(T_TEST(text_is_folded), T_TEST(hits_say_where_they_are),
       T_TEST(small_pieces_have_what_is_in_them), T_TEST(random_texts_agree_with_the_reference),
       T_TEST(random_phrases_agree_with_the_reference),
       T_TEST(adversarial_texts_agree_with_the_reference),
       T_TEST(a_phrase_is_found_wherever_it_is_cut), T_TEST(impossible_phrases_are_refused),
       T_TEST(failing_allocations_are_survived), T_TEST(a_few_hundred_kib_are_enough))
