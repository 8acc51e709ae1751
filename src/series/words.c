/*
 * words.c - a table of the words that logs put before figures, and what each means.
 *
 * The table is what people write, found in the logs of mmdetection, Megatron, DeepSpeed,
 * Ultralytics, torchtune, torchtitan, MLX, Paddle, nanotron, fairseq, composer, verl, Habana,
 * axolotl, nvidia-smi and psutil. docs/design/series.md says how the sets are used.
 */
#include "series/words.h"

#include <string.h>

#define LETTERS_MAX 15u

#define MEMORY   PLIM_WORD_MEMORY
#define HOLD     (PLIM_WORD_HOLD | PLIM_WORD_USED)
#define AMOUNT   PLIM_WORD_AMOUNT
#define USED     (PLIM_WORD_USED | PLIM_WORD_AMOUNT)
#define DEVICE   (PLIM_WORD_DEVICE | PLIM_WORD_IDENTITY | PLIM_WORD_ACCELERATOR)
#define PEAK     (PLIM_WORD_PEAK | PLIM_WORD_AMOUNT | PLIM_WORD_NO_STEP)
#define RESERVED PLIM_WORD_RESERVED
#define HOST     PLIM_WORD_HOST
#define FREE     (PLIM_WORD_FREE | PLIM_WORD_AMOUNT)
#define TOTAL    (PLIM_WORD_TOTAL | PLIM_WORD_AMOUNT | PLIM_WORD_NO_STEP)
#define BOUND    (TOTAL | PLIM_WORD_BOUND)
#define NEVER    (PLIM_WORD_NEVER | PLIM_WORD_NO_STEP)
#define SHARE    (NEVER | PLIM_WORD_SHARE)
#define STEP     PLIM_WORD_STEP
#define EPOCH    PLIM_WORD_EPOCH
#define NO_STEP  PLIM_WORD_NO_STEP
#define IDENTITY PLIM_WORD_IDENTITY

typedef struct word_entry {
    char word[LETTERS_MAX + 1];
    uint32_t sets;
} word_entry;

/* By the alphabet. */
static const word_entry words[] = {
    { "acc", NEVER },
    { "active", USED },
    { "addr", NEVER },
    { "address", NEVER },
    { "alloc", HOLD },
    { "allocated", HOLD },
    { "allocation", HOLD },
    { "attention", NEVER },
    { "avail", FREE },
    { "available", FREE },
    { "bandwidth", NEVER },
    { "bank", NEVER }, /* of keys, as in contrastive learning */
    { "batch", STEP },
    { "ca", HOLD | RESERVED }, /* DeepSpeed: cached */
    { "cache", AMOUNT | RESERVED },
    { "cached", AMOUNT | RESERVED },
    { "calls", NEVER },
    { "capacity", BOUND },
    { "checkpoint", NEVER },
    { "ckpt", NEVER },
    { "clock", NEVER },
    { "consumed", USED },
    { "cost", NO_STEP },
    { "count", NEVER },
    { "cp", IDENTITY },
    { "cpu", HOST },
    { "cuda", DEVICE },
    { "current", AMOUNT },
    { "dataset", NEVER },
    { "default", IDENTITY }, /* torchrun: [default3]: */
    { "delta", NEVER },
    { "dev", DEVICE },
    { "device", DEVICE },
    { "diff", NEVER },
    { "disk", NEVER },
    { "download", NEVER },
    { "downloading", NEVER },
    { "dp", IDENTITY },
    { "efficiency", NEVER },
    { "efficient", NEVER },
    { "ep", IDENTITY },
    { "epoch", EPOCH },
    { "file", NEVER },
    { "files", NEVER },
    { "frac", NEVER },
    { "fraction", NEVER },
    { "fragmentation", NEVER },
    { "free", FREE },
    { "freed", NEVER },
    { "freq", NEVER },
    { "gb", AMOUNT }, /* fairseq: gb_free */
    { "global", PLIM_WORD_GLOBAL },
    { "gpu", DEVICE },
    { "growth", NEVER },
    { "hbm", MEMORY },
    { "hd", NEVER }, /* nanotron: hd_used_memory_tb */
    { "heads", NEVER },
    { "hip", DEVICE },
    { "host", HOST },
    { "id", NO_STEP },
    { "increase", NEVER },
    { "inuse", USED },
    { "it", STEP },
    { "item", NO_STEP },
    { "iter", STEP },
    { "iteration", STEP },
    { "latency", NEVER },
    { "left", FREE },
    { "len", NEVER },
    { "length", NEVER },
    { "limit", BOUND },
    { "loss", NEVER },
    { "lr", NEVER },
    { "ma", HOLD }, /* DeepSpeed: memory allocated */
    { "max", PEAK },
    { "maximum", PEAK },
    { "maxrss", MEMORY | HOST | PEAK },
    { "mem", MEMORY },
    { "memory", MEMORY },
    { "mhz", NEVER },
    { "micro", NO_STEP },
    { "ms", NEVER },
    { "node", IDENTITY },
    { "norm", NEVER },
    { "npu", DEVICE },
    { "num", NEVER },
    { "objects", NEVER },
    { "occupied", USED },
    { "oom", NEVER },
    { "ooms", NEVER },
    { "param", NEVER },
    { "parameter", NEVER },
    { "parameters", NEVER },
    { "params", NEVER },
    { "pct", SHARE },
    { "peak", PEAK },
    { "per", NO_STEP },
    { "percent", SHARE },
    { "percentage", SHARE },
    { "pid", IDENTITY },
    { "pin", NEVER },
    { "power", NEVER },
    { "pp", IDENTITY },
    { "process", IDENTITY },
    { "pss", MEMORY | HOST },
    { "ram", PLIM_WORD_DEVICE | HOST },
    { "rank", IDENTITY },
    { "rate", NEVER },
    { "ratio", NEVER },
    { "remaining", FREE },
    { "replay", NEVER }, /* reinforcement learning: a memory of events */
    { "reserved", HOLD | RESERVED },
    { "resv", HOLD | RESERVED },
    { "retires", NEVER }, /* sic: llama-recipes */
    { "retries", NEVER },
    { "rss", MEMORY | HOST },
    { "saved", NEVER },
    { "score", NEVER },
    { "sec", NEVER },
    { "seconds", NEVER },
    { "size", NO_STEP },
    { "slots", NEVER },
    { "speed", NEVER },
    { "ssd", NEVER },
    { "step", STEP },
    { "steps", STEP },
    { "svmem", MEMORY | HOST }, /* psutil.virtual_memory() */
    { "swap", MEMORY | HOST },
    { "system", HOST },
    { "temp", NEVER },
    { "temperature", NEVER },
    { "throughput", NEVER },
    { "time", NEVER },
    { "token", NEVER },
    { "tokens", NEVER },
    { "total", TOTAL },
    { "tp", IDENTITY },
    { "update", STEP },
    { "updates", STEP | PLIM_WORD_GLOBAL },
    { "usage", USED },
    { "use", USED },
    { "used", USED },
    { "uss", MEMORY | HOST },
    { "util", NEVER },
    { "utilisation", NEVER },
    { "utilization", NEVER },
    { "uuid", IDENTITY },
    { "version", NEVER },
    { "virtual", HOST },
    { "vms", MEMORY | HOST },
    { "vram", MEMORY },
    { "width", NEVER },
    { "worker", IDENTITY },
    { "xpu", DEVICE },
};

/* Eight letters as a number that orders like them: compilers make one load of it. */
static inline uint64_t in_order(const char *at)
{
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof number; i++) {
        number = number << 8 | (unsigned char)at[i];
    }
    return number;
}

/* `word` has zeros up to LETTERS_MAX + 1, as the table's words have. */
static uint32_t look_up(const char *word)
{
    const uint64_t head = in_order(word);
    const uint64_t tail = in_order(word + sizeof head);
    size_t low = 0;
    size_t high = sizeof words / sizeof *words;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const uint64_t its_head = in_order(words[middle].word);
        const uint64_t its_tail = in_order(words[middle].word + sizeof head);
        if (head == its_head && tail == its_tail) {
            return words[middle].sets;
        }
        if (head < its_head || (head == its_head && tail < its_tail)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return 0;
}

/* Words run together: gpumem, maxmem, memused, memalloc. */
static uint32_t look_up_compound(const char *word, size_t length)
{
    if (length > 3 && strncmp(word, "mem", 3) == 0) {
        char tail[LETTERS_MAX + 1] = { 0 };
        memcpy(tail, word + 3, length - 3);
        const uint32_t rest = look_up(tail);
        return (rest & (PLIM_WORD_HOLD | PLIM_WORD_AMOUNT)) != 0 ? MEMORY | rest : 0;
    }
    if (length > 3 && strcmp(word + length - 3, "mem") == 0) {
        char head[LETTERS_MAX + 1] = { 0 };
        memcpy(head, word, length - 3);
        const uint32_t rest = look_up(head) & ~(uint32_t)PLIM_WORD_IDENTITY;
        return rest != 0 ? MEMORY | rest : 0;
    }
    return 0;
}

/* "memory" in Chinese (of a device, of a host), which is written without blanks. */
static uint32_t look_up_foreign(const char *line, plim_series_span word)
{
    static const char device[] = "\xe6\x98\xbe\xe5\xad\x98";
    static const char host[] = "\xe5\x86\x85\xe5\xad\x98";
    const size_t length = sizeof device - 1;
    for (size_t at = word.at; at + length <= word.end; at++) {
        if (memcmp(line + at, device, length) == 0) {
            return MEMORY;
        }
        if (memcmp(line + at, host, length) == 0) {
            return MEMORY | HOST;
        }
    }
    return 0;
}

static const char *step_name(const char *word, uint32_t sets)
{
    if ((sets & PLIM_WORD_EPOCH) != 0) {
        return "epoch";
    }
    switch (word[0]) {
    case 'b':
        return "batch";
    case 'i':
        return "iteration";
    case 'u':
        return "update";
    default:
        return "step";
    }
}

static void add_word(plim_series_words *all, const char *line, plim_series_span word)
{
    const size_t length = word.end - word.at;
    char lower[LETTERS_MAX + 1] = { 0 };
    uint32_t sets = 0;
    if ((unsigned char)line[word.at] >= 0x80) {
        sets = look_up_foreign(line, word);
    } else if (length <= LETTERS_MAX) {
        for (size_t i = 0; i < length; i++) {
            lower[i] = plim_lower(line[word.at + i]);
        }
        sets = look_up(lower);
        sets = sets == 0 ? look_up_compound(lower, length) : sets;
    }
    all->count++;
    all->any |= sets;
    const char before = word.at == 0 ? ' ' : line[word.at - 1];
    const int8_t log2 = plim_series_unit_of(line + word.at, length);
    /* A letter alone is a unit in (G) and [M], not in words. */
    if (log2 >= 0 && (length > 1 || before == '(' || before == '[')) {
        all->unit = (plim_series_unit){ .log2 = log2, .text = word };
        return; /* not the last word: what is "used (MB)" is used */
    }
    all->last = sets;
    if (strcmp(lower, "maxrss") == 0 && all->unit.log2 == PLIM_UNIT_NONE) {
        all->unit.log2 = 10; /* getrusage() on Linux counts KiB */
    }
    if ((sets & (PLIM_WORD_STEP | PLIM_WORD_EPOCH)) != 0) {
        all->step_name = step_name(lower, sets);
    }
}

/* Whether a word ends before `at`: memUsed, GPUMem. */
static bool is_hump(const char *line, plim_series_span text, size_t at)
{
    if (!plim_is_upper(line[at])) {
        return false;
    }
    const bool after_small = !plim_is_upper(line[at - 1]);
    const bool before_small =
        at + 1 < text.end && plim_is_alphabetic(line[at + 1]) && !plim_is_upper(line[at + 1]);
    /* "MiB" and "GiB" are one word. */
    return after_small ? !(line[at] == 'B' && line[at - 1] == 'i') : before_small;
}

plim_series_words plim_series_words_of(const char *line, plim_series_span text)
{
    plim_series_words all = { .unit = { .log2 = PLIM_UNIT_NONE } };
    uint32_t at = text.at;
    while (at < text.end) {
        if (!plim_is_alphabetic(line[at])) {
            at++;
            continue;
        }
        plim_series_span word = { .at = at };
        const bool is_foreign = (unsigned char)line[at] >= 0x80;
        do {
            at++;
        } while (at < text.end && plim_is_alphabetic(line[at]) &&
                 ((unsigned char)line[at] >= 0x80) == is_foreign && !is_hump(line, text, at));
        word.end = at;
        add_word(&all, line, word);
    }
    return all;
}

bool plim_series_is_host(uint32_t any)
{
    return (any & HOST) != 0 && (any & PLIM_WORD_ACCELERATOR) == 0; /* a GPU's RAM is its own */
}

bool plim_series_is_total(uint32_t any)
{
    const uint32_t others = PLIM_WORD_USED | PLIM_WORD_PEAK | PLIM_WORD_FREE;
    return (any & PLIM_WORD_TOTAL) != 0 && (any & others) == 0;
}

plim_series_kind plim_series_kind_of(uint32_t any)
{
    const bool is_peak = (any & PLIM_WORD_PEAK) != 0;
    if ((any & PLIM_WORD_FREE) != 0) {
        return PLIM_SERIES_FREE;
    }
    if (plim_series_is_host(any)) {
        return PLIM_SERIES_HOST;
    }
    if (plim_series_is_total(any)) {
        return PLIM_SERIES_TOTAL;
    }
    if ((any & RESERVED) != 0) {
        return is_peak ? PLIM_SERIES_PEAK_RESERVED : PLIM_SERIES_RESERVED;
    }
    return is_peak ? PLIM_SERIES_PEAK : PLIM_SERIES_USED;
}

/* --- failures --- */

static bool is_folded_at(const char *line, size_t length, const char *phrase)
{
    for (size_t i = 0; phrase[i] != '\0'; i++) {
        if (i == length || plim_lower(line[i]) != phrase[i]) {
            return false;
        }
    }
    return true;
}

bool plim_series_says_out_of_memory(const char *line, size_t length)
{
    static const char *const phrases[] = { "out of memory", "outofmemory", "to allocate",
                                           "out_of_memory", "cannot allocate" };
    for (size_t at = 0; at < length; at++) {
        const char c = plim_lower(line[at]);
        if (c != 'o' && c != 't' && c != 'c') {
            continue;
        }
        for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
            if (is_folded_at(line + at, length - at, phrases[i])) {
                return true;
            }
        }
    }
    return false;
}
