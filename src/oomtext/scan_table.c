/*
 * scan_table.c - choosing rare pieces of phrases, and finding phrases by them.
 */
#include "oomtext/scan_table.h"

#include "base/ascii.h"
#include "base/assert.h"
#include "base/error.h"
#include "oomtext/fold.h"

#include <stdlib.h>
#include <string.h>

/* The longer the shortest phrase, the wider the grid; but each place on it costs each phrase a
 * gram. */
#define STRIDE_MAX ((size_t)6)
#define HEAD_BYTES PLIM_SCAN_PHRASE_BYTES_MIN

struct plim_scan_phrase {
    const unsigned char *text;
    uint8_t bytes;
    uint8_t shared; /* of its first bytes, with the phrase before it */
    uint16_t index; /* the caller's */
};

/* A gram of windows. */
struct plim_scan_gram {
    uint64_t starts; /* bit 63 - k: a phrase may begin k bytes before it; 0: a free place */
    uint32_t gram;
};

/* The phrases that begin with the same bytes. */
struct plim_scan_head {
    uint64_t head;
    uint16_t first; /* in phrases */
    uint16_t count; /* 0: a free place */
};

static uint32_t gram_at(const void *at)
{
    uint32_t gram = 0;
    memcpy(&gram, at, PLIM_SCAN_GRAM_BYTES);
    return gram;
}

static uint64_t head_at(const void *at)
{
    uint64_t head = 0;
    memcpy(&head, at, HEAD_BYTES);
    return head;
}

/* Multiplicative hashing (Knuth, The Art of Computer Programming, volume 3, 6.4). */
static uint32_t gram_hash(uint32_t gram)
{
    return gram * UINT32_C(0x9e3779b1);
}

static size_t head_hash(uint64_t head)
{
    return (size_t)((head * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

/* --- which pieces are rare --- */

/*
 * A sample of what logs are full of, folded: words of training, serving and installing, and the
 * commonest English ones. What stands in it is no rare piece of a phrase.
 */
static const char ordinary[] =
    "stepepochiterationlosslearningratelrgradnormlmlossscaletimedataetaelapsedtimeper"
    "iterationmsconsumedsamplesglobalbatchsizethroughputpergputokenssitsaccaccuracytop"
    "maxmemoryallocatedmaxmemgpumemmemoryusagereservedactiveallocatedbytesmibgibmbgb"
    "infowarningdebugerror20260304120159rank0worldsizelocalranknodeworkerprocessgroup"
    "runningwaitingreqspendingrequestspromptthroughputgenerationthroughputkvcacheusageprefix"
    "cachehitraterunningreqqueuereqtokenusagedecodebatchgenthroughputavailmem"
    "fileusrlibpython311sitepackagestorchnnmodulesmodulepylineinforwardcallimplreturn"
    "selfargskwargstracebackmostrecentcalllastfileoptcondalibpython3intrainmain"
    "ncclinfochannelviap2pcumemnetibcommnrankscudadevbusidinitcompletenvidiasmidefault"
    "iterationnumberofskippediterationsnumberofnaniterationsactualseqlenlossscalegradnorm"
    "logdiststepskippedmomseememoryusagecpuvirtualmemoryusedpercentmamaxmacamaxca"
    "loadingcheckpointshardssavingmodelcheckpointtoconfigurationsavedintokenizerspecialtokens"
    "foundcacheddatasetnumexamplesnumepochstotaltrainbatchsizegradientaccumulationsteps"
    "totaloptimizationstepsnumberoftrainableparametersparamstrainingvalidationtestingeval"
    "progressbar100502510size640instancesboxlossclslossdfllossimagesclassmap50"
    "requirementalreadysatisfiedcollectingdownloadinginstallingcollectedpackagessuccessfully"
    "installedsettingupunpackingpreparingtounpackgethttparchiveubuntuamd64buildingwheel"
    "devicecudagpu0createddevicejoblocalhostreplicataskdevicegpuwithmemorycomputecapability"
    "tensorflowcorecommonruntimegpugpudeviceccthisbinaryisoptimizedtouseavailablecpu"
    "instructionsinperformancecriticaloperationshttpgetpostv1chatcompletions200ok"
    "theandoftoinaisthatforitwasonwithashishebeatbythishadnotarebutfromorhave"
    "antheywhichoneyouwereallhershetherewouldtheirwehimbeenhaswhenwhowillnomoreif"
    "outsoupsaidwhatitsaboutthanintothemcanonlyothertimenewsomecouldthesetwomayfirst"
    "thendoanylikemynowoversuchourmanmeevenmostmadeafteralsodidmanyoffbeforemustwell"
    "backthroughyearsmuchwhereyourwaydownshouldbecauselongeachjuststatethosepeopletoohow"
    "littlegoodworldmakeveryyearstillseeownworkmendaygethereoldlifebothbetweenbeingunder"
    "neversameanotherknowwhilelastmightusgreatsinceagainstrightcametakethreeenoughduring";

#define ORDINARY_PLACES ((size_t)8192) /* a power of two, some times the sample's grams */

typedef struct common_gram {
    uint32_t gram;
    uint32_t count; /* 0: a free place */
} common_gram;

static common_gram *find_common(common_gram *common, uint32_t gram)
{
    size_t at = gram_hash(gram) >> 8;
    for (;; at++) {
        common_gram *const place = &common[at & (ORDINARY_PLACES - 1)];
        if (place->count == 0 || place->gram == gram) {
            return place;
        }
    }
}

static void count_common(common_gram *common)
{
    _Static_assert(2 * sizeof ordinary < ORDINARY_PLACES, "places are left free");
    for (size_t at = 0; at + PLIM_SCAN_GRAM_BYTES < sizeof ordinary; at++) {
        common_gram *const place = find_common(common, gram_at(ordinary + at));
        place->gram = gram_at(ordinary + at);
        place->count++;
    }
}

/* How many of 1000 letters and digits of logs, about, are this one; at least 1. */
static uint64_t byte_commonness(unsigned char byte)
{
    /* Of English letters: Lewand, Cryptological Mathematics, 2000. */
    static const unsigned char letters[26] = { 82, 15, 28, 43, 127, 22, 20, 61, 70, 2,  8, 40, 24,
                                               67, 75, 19, 1,  60,  63, 91, 28, 10, 24, 2, 20, 1 };
    if (plim_is_lower((char)byte)) {
        return letters[byte - 'a'];
    }
    return byte < 0x80 ? 40 : 1;
}

/* Of grams that are not in the sample, those of common letters are the more common. */
static uint64_t gram_commonness(common_gram *common, const unsigned char *gram)
{
    uint64_t product = 1;
    for (size_t i = 0; i < PLIM_SCAN_GRAM_BYTES; i++) {
        product *= byte_commonness(gram[i]);
    }
    return product + find_common(common, gram_at(gram))->count * UINT64_C(1000000000);
}

/* The gram's place, or the free one where it would be. */
static plim_scan_gram *find_gram(const plim_scan_table *table, uint32_t gram)
{
    size_t at = gram_hash(gram) >> 8;
    for (;; at++) {
        plim_scan_gram *const place = &table->grams[at & table->gram_mask];
        if (place->starts == 0 || place->gram == gram) {
            return place;
        }
    }
}

/* Where the window of a phrase begins. Pieces that are looked for anyhow cost nothing. */
static size_t choose_window(const plim_scan_table *table, common_gram *common,
                            const plim_scan_phrase *phrase)
{
    const size_t grams = phrase->bytes - (PLIM_SCAN_GRAM_BYTES - 1);
    uint64_t costs[PLIM_SCAN_PHRASE_BYTES_MAX];
    uint64_t cost = 0; /* of the window that ends with gram i */
    uint64_t cost_min = UINT64_MAX;
    size_t best = 0;
    for (size_t i = 0; i < grams; i++) {
        const unsigned char *const at = phrase->text + i;
        costs[i] = find_gram(table, gram_at(at))->starts != 0 ? 0 : gram_commonness(common, at);
        cost += costs[i] - (i >= table->stride ? costs[i - table->stride] : 0);
        if (i + 1 >= table->stride && cost < cost_min) {
            cost_min = cost;
            best = i + 1 - table->stride;
        }
    }
    return best;
}

static void add_grams(plim_scan_table *table, common_gram *common, const plim_scan_phrase *phrase)
{
    const size_t window = choose_window(table, common, phrase);
    for (size_t at = window; at < window + table->stride; at++) {
        const uint32_t gram = gram_at(phrase->text + at);
        plim_scan_gram *const place = find_gram(table, gram);
        place->gram = gram;
        place->starts |= UINT64_C(1) << (63 - at);
        const uint32_t bit = gram_hash(gram) >> (32 - PLIM_SCAN_FILTER_BITS);
        table->filter[bit / 32] |= UINT32_C(1) << bit % 32;
    }
}

/* --- phrases in their order --- */

/* Of equal phrases the last comes first. */
static int compare_phrases(const void *a, const void *b)
{
    const plim_scan_phrase *const left = a;
    const plim_scan_phrase *const right = b;
    const size_t bytes = left->bytes < right->bytes ? left->bytes : right->bytes;
    const int order = memcmp(left->text, right->text, bytes);
    if (order != 0) {
        return order;
    }
    return left->bytes != right->bytes ? left->bytes - right->bytes : right->index - left->index;
}

static plim_scan_head *find_head(const plim_scan_table *table, uint64_t head)
{
    size_t at = head_hash(head);
    for (;; at++) {
        plim_scan_head *const place = &table->heads[at & table->head_mask];
        if (place->count == 0 || place->head == head) {
            return place;
        }
    }
}

static uint8_t shared_bytes(const plim_scan_phrase *a, const plim_scan_phrase *b)
{
    uint8_t shared = 0;
    while (shared < a->bytes && shared < b->bytes && a->text[shared] == b->text[shared]) {
        shared++;
    }
    return shared;
}

static void order_phrases(plim_scan_table *table)
{
    qsort(table->phrases, table->phrase_count, sizeof *table->phrases, compare_phrases);
    for (size_t i = 0; i < table->phrase_count; i++) {
        plim_scan_phrase *const phrase = &table->phrases[i];
        phrase->shared = i == 0 ? 0 : shared_bytes(phrase - 1, phrase);
        const uint64_t head = head_at(phrase->text);
        plim_scan_head *const place = find_head(table, head);
        if (place->count == 0) {
            *place = (plim_scan_head){ .head = head, .first = (uint16_t)i };
        }
        place->count++;
    }
}

/* --- in its life --- */

static plim_status take_phrases(plim_scan_table *table, const char *const *phrases, size_t count,
                                plim_error *err)
{
    size_t bytes_min = PLIM_SCAN_PHRASE_BYTES_MAX;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = strlen(phrases[i]);
        if (bytes < PLIM_SCAN_PHRASE_BYTES_MIN || bytes > PLIM_SCAN_PHRASE_BYTES_MAX) {
            return plim_fail(err, PLIM_INVALID_ARGUMENT,
                             "phrase \"%.80s\" has %zu bytes, which is not %u to %u", phrases[i],
                             bytes, PLIM_SCAN_PHRASE_BYTES_MIN, PLIM_SCAN_PHRASE_BYTES_MAX);
        }
        for (size_t k = 0; k < bytes; k++) {
            if (plim_fold_byte((unsigned char)phrases[i][k]) != (unsigned char)phrases[i][k]) {
                return plim_fail(err, PLIM_INVALID_ARGUMENT, "phrase \"%s\" is not folded",
                                 phrases[i]);
            }
        }
        table->phrases[i] = (plim_scan_phrase){ .text = (const unsigned char *)phrases[i],
                                                .bytes = (uint8_t)bytes,
                                                .index = (uint16_t)i };
        bytes_min = bytes < bytes_min ? bytes : bytes_min;
        table->phrase_bytes_max = bytes > table->phrase_bytes_max ? bytes : table->phrase_bytes_max;
    }
    const size_t stride = bytes_min - (PLIM_SCAN_GRAM_BYTES - 1);
    table->stride = stride < STRIDE_MAX ? stride : STRIDE_MAX;
    table->phrase_count = count;
    return PLIM_OK;
}

/* Zeroed room for `count` items in at least twice as many places, a power of two. */
static void *hashed_room(plim_arena *arena, size_t count, size_t item_bytes, size_t *ret_mask)
{
    size_t places = 2;
    while (places < 2 * count) {
        places *= 2;
    }
    void *const room = plim_arena_alloc(arena, places * item_bytes);
    if (room != NULL) {
        memset(room, 0, places * item_bytes);
    }
    *ret_mask = places - 1;
    return room;
}

plim_status plim_scan_table_init(plim_scan_table *table, const char *const *phrases, size_t count,
                                 plim_arena *arena, plim_error *err)
{
    if (count > PLIM_SCAN_PHRASES_MAX) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "%zu phrases are more than %u", count,
                         PLIM_SCAN_PHRASES_MAX);
    }
    table->phrases = plim_arena_alloc(arena, count * sizeof *table->phrases);
    if (table->phrases == NULL) {
        return plim_fail_memory(err, "preparing to search text");
    }
    PLIM_TRY(take_phrases(table, phrases, count, err));
    table->grams =
        hashed_room(arena, count * table->stride, sizeof *table->grams, &table->gram_mask);
    table->heads = hashed_room(arena, count, sizeof *table->heads, &table->head_mask);
    if (table->grams == NULL || table->heads == NULL) {
        return plim_fail_memory(err, "preparing to search text");
    }
    common_gram *const common = plim_mem_alloc_zeroed(arena->mem, ORDINARY_PLACES, sizeof *common);
    if (common == NULL) {
        return plim_fail_memory(err, "preparing to search text");
    }
    count_common(common);
    for (size_t i = 0; i < count; i++) {
        add_grams(table, common, &table->phrases[i]);
    }
    plim_mem_free(arena->mem, common, ORDINARY_PLACES, sizeof *common);
    order_phrases(table);
    return PLIM_OK;
}

static void mark_gram(const plim_scan_table *table, uint32_t gram, size_t at, uint64_t *marks)
{
    const uint64_t starts = find_gram(table, gram)->starts;
    /* The 64 marks up to `at` itself; in front of the text there is room for those of no place. */
    const size_t bit = at + PLIM_SCAN_MARK_FIRST - 63;
    const unsigned shift = bit % 64;
    marks[bit / 64] |= starts << shift;
    marks[bit / 64 + 1] |= starts >> 1 >> (63 - shift);
}

/* Bit 0 says it. */
static inline uint32_t may_be_gram(const plim_scan_table *table, const char *at)
{
    const uint32_t bit = gram_hash(gram_at(at)) >> (32 - PLIM_SCAN_FILTER_BITS);
    return table->filter[bit / 32] >> bit % 32;
}

void plim_scan_table_mark(const plim_scan_table *table, const char *folded, size_t bytes,
                          uint64_t *marks)
{
    const size_t stride = table->stride;
    memset(marks, 0, PLIM_SCAN_MARK_WORDS(bytes) * sizeof *marks);
    if (table->phrase_count == 0) {
        return;
    }
    /* Four at a time: one branch, seldom taken. The zeros after the text are not a gram. */
    for (size_t at = 0; at < bytes; at += 4 * stride) {
        const char *const four = folded + at;
        const uint32_t found = may_be_gram(table, four) | may_be_gram(table, four + stride) |
                               may_be_gram(table, four + 2 * stride) |
                               may_be_gram(table, four + 3 * stride);
        for (size_t i = 0; i < 4 && (found & 1) != 0; i++) {
            mark_gram(table, gram_at(four + i * stride), at + i * stride, marks);
        }
    }
}

size_t plim_scan_table_match(const plim_scan_table *table, const char *at, uint16_t *ret)
{
    const unsigned char *const text = (const unsigned char *)at;
    const plim_scan_head *const head = find_head(table, head_at(text));
    const plim_scan_phrase *phrase = table->phrases + head->first;
    size_t equal = HEAD_BYTES; /* bytes of the phrase looked at last that the text has too */
    size_t count = 0;
    for (size_t i = 0; i < head->count; i++, phrase++) {
        if (i > 0 && phrase->shared < equal) {
            break; /* it goes on after the text in the alphabet, and so do all after it */
        }
        if (i > 0 && phrase->shared > equal) {
            continue; /* it differs from the text where the one before does */
        }
        while (equal < phrase->bytes && phrase->text[equal] == text[equal]) {
            equal++;
        }
        if (equal == phrase->bytes) {
            ret[count++] = (uint16_t)(head->first + i);
        }
    }
    return count;
}

uint32_t plim_scan_table_phrase(const plim_scan_table *table, uint16_t place)
{
    PLIM_ASSERT(place < table->phrase_count);
    return table->phrases[place].index;
}

size_t plim_scan_table_phrase_bytes(const plim_scan_table *table, uint16_t place)
{
    PLIM_ASSERT(place < table->phrase_count);
    return table->phrases[place].bytes;
}
