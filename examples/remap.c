/*
 * remap.c - proof that memory stays what it is while pages are unmapped and mapped again around it.
 *
 *     cc -O2 remap.c $(pkg-config --cflags --libs plimsoll) && ./a.out
 *
 * The host device maps real memory, so a wrong handle, offset or length would show as a wrong byte.
 * Each block is filled with words that occur nowhere else. In every round the device is filled to
 * the last piece, until every page that is mapped has been written through; two thirds are freed,
 * at random; and plim_empty_cache() unmaps what is whole. All words of all blocks are read back
 * after each of these steps. Exit status 1: a byte was wrong.
 */
#include <plimsoll/allocator.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICE_BYTES ((uint64_t)384 << 20)
#define PAGE_BYTES   ((uint64_t)2 << 20)
#define ROUNDS       6
#define BLOCKS_MAX   4096
#define PAGES_MAX    4096

typedef struct block {
    plim_addr addr;
    uint64_t bytes;
    uint64_t id;
} block;

/* A page of a range, for as long as the program runs. */
typedef struct page {
    plim_addr addr;
    bool is_mapped;
    bool is_written; /* since it was mapped */
    uint64_t times_mapped;
} page;

typedef struct proof {
    plim_allocator *allocator;
    block blocks[BLOCKS_MAX];
    size_t count;
    page pages[PAGES_MAX];
    size_t page_count;
    uint64_t ids;
    uint64_t random;
    uint64_t words;
    uint64_t wrong;
    uint64_t unwritten; /* pages that were unmapped without having been written */
} proof;

static plim_error err;

static void must(plim_status status)
{
    if (status != PLIM_OK) {
        fprintf(stderr, "remap: %s\n", err.message);
        exit(3);
    }
}

static uint64_t below(proof *p, uint64_t limit)
{
    p->random ^= p->random << 13; /* xorshift64: the same in every run */
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random % limit;
}

/* --- pages: told by the allocator as it maps and unmaps --- */

static page *page_at(proof *p, plim_addr addr)
{
    for (size_t i = 0; i < p->page_count; i++) {
        if (p->pages[i].addr == addr) {
            return &p->pages[i];
        }
    }
    if (p->page_count == PAGES_MAX) {
        fputs("remap: more pages than expected\n", stderr);
        exit(3);
    }
    p->pages[p->page_count] = (page){ .addr = addr };
    return &p->pages[p->page_count++];
}

static void hear(void *ctx, const plim_event *event)
{
    proof *p = ctx;
    if (event->action != PLIM_SEGMENT_MAP && event->action != PLIM_SEGMENT_UNMAP) {
        return;
    }
    for (uint64_t at = 0; at < event->bytes; at += PAGE_BYTES) {
        page *told = page_at(p, event->addr + at);
        told->is_mapped = event->action == PLIM_SEGMENT_MAP;
        told->times_mapped += told->is_mapped ? 1 : 0;
        p->unwritten += !told->is_mapped && !told->is_written ? 1 : 0;
        told->is_written = false;
    }
}

/* --- blocks --- */

static uint64_t word_of(const block *of, uint64_t index)
{
    return (of->id << 32 | index) * UINT64_C(0x9E3779B97F4A7C15);
}

static void write_words(proof *p, const block *to)
{
    uint64_t *words = (uint64_t *)(uintptr_t)to->addr; /* the host's addresses are our own */
    for (uint64_t i = 0; i < to->bytes / sizeof *words; i++) {
        words[i] = word_of(to, i);
    }
    plim_addr at = to->addr & ~(PAGE_BYTES - 1);
    for (; at < to->addr + to->bytes; at += PAGE_BYTES) {
        page_at(p, at)->is_written = true;
    }
}

static void read_words(proof *p, const block *from)
{
    const uint64_t *words = (const uint64_t *)(uintptr_t)from->addr;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < from->bytes / sizeof *words; i++) {
        wrong += words[i] != word_of(from, i) ? 1 : 0;
    }
    p->words += from->bytes / sizeof *words;
    p->wrong += wrong;
}

static void read_all(proof *p)
{
    for (size_t i = 0; i < p->count; i++) {
        read_words(p, &p->blocks[i]);
    }
}

static bool take(proof *p, uint64_t bytes)
{
    block taken = { .bytes = bytes, .id = ++p->ids };
    const plim_status status = plim_malloc(p->allocator, 0, bytes, 0, &taken.addr, &err);
    if (status == PLIM_OUT_OF_DEVICE_MEMORY) {
        return false;
    }
    must(status);
    if (p->count == BLOCKS_MAX) {
        fputs("remap: more blocks than expected\n", stderr);
        exit(3);
    }
    write_words(p, &taken);
    p->blocks[p->count++] = taken;
    return true;
}

static void give(proof *p, size_t index)
{
    read_words(p, &p->blocks[index]);
    must(plim_free(p->allocator, p->blocks[index].addr, &err));
    p->blocks[index] = p->blocks[--p->count];
}

/* Blocks that begin in 60 MiB from one of them on, so that whole handles fall free. */
static void give_neighbours(proof *p)
{
    if (p->count == 0) {
        return;
    }
    const plim_addr from = p->blocks[below(p, p->count)].addr;
    for (size_t i = p->count; i > 0; i--) {
        if (p->blocks[i - 1].addr - from < (uint64_t)60 << 20) {
            give(p, i - 1);
        }
    }
}

/* --- a round --- */

static uint64_t reserved_bytes(const proof *p)
{
    plim_device_stats stats;
    must(plim_allocator_stats(p->allocator, 0, &stats, &err));
    return (uint64_t)stats.families[PLIM_STAT_RESERVED_BYTES][PLIM_SLOT_ALL].current;
}

/* Requests of all sizes while there is plenty; then, with the limit at what is mapped, until no
 * page is without a block in it. */
static void fill(proof *p)
{
    while (reserved_bytes(p) + ((uint64_t)84 << 20) <= DEVICE_BYTES) {
        const uint64_t most = (uint64_t)1 << (10 + below(p, 17)); /* 1 KiB to 64 MiB */
        (void)take(p, (most / 2 + below(p, most / 2) + 8) & ~UINT64_C(7));
    }
    const double mapped = (double)reserved_bytes(p);
    must(plim_set_memory_fraction(p->allocator, 0, mapped / (double)DEVICE_BYTES, &err));
    while (take(p, (1 << 20) + 512)) { /* the smallest large request */
    }
    while (take(p, 64 << 10)) {
    }
    must(plim_set_memory_fraction(p->allocator, 0, 1, &err));
}

static size_t pages_mapped(const proof *p, bool and_written)
{
    size_t mapped = 0;
    for (size_t i = 0; i < p->page_count; i++) {
        mapped += p->pages[i].is_mapped && (p->pages[i].is_written || !and_written) ? 1 : 0;
    }
    return mapped;
}

static bool play_round(proof *p, int number)
{
    fill(p);
    read_all(p);
    const size_t mapped = pages_mapped(p, false);
    const bool is_covered = pages_mapped(p, true) == mapped;
    const size_t full = p->count;
    give_neighbours(p);
    while (p->count > full / 3) {
        give(p, (size_t)below(p, p->count));
    }
    read_all(p);
    const uint64_t before = reserved_bytes(p);
    must(plim_empty_cache(p->allocator, NULL, &err));
    read_all(p);
    must(plim_allocator_check(p->allocator, &err));
    printf("round %d: %4zu blocks on %zu pages, %s written; %4zu freed, %3" PRIu64
           " MiB unmapped; %4zu blocks stay\n",
           number, full, mapped, is_covered ? "all" : "NOT ALL", full - p->count,
           (before - reserved_bytes(p)) >> 20, p->count);
    return is_covered;
}

static int run(proof *p)
{
    bool is_covered = true;
    for (int number = 1; number <= ROUNDS; number++) {
        is_covered = play_round(p, number) && is_covered;
    }
    while (p->count > 0) {
        give(p, p->count - 1);
    }
    must(plim_empty_cache(p->allocator, NULL, &err));
    uint64_t mappings = 0, again = 0;
    for (size_t i = 0; i < p->page_count; i++) {
        mappings += p->pages[i].times_mapped;
        again += p->pages[i].times_mapped - 1;
    }
    printf("%" PRIu64 " pages of 2 MiB were mapped, %" PRIu64 " of them where one had been "
           "unmapped before.\n%" PRIu64 " words were read back, %" PRIu64 " were wrong. "
           "%" PRIu64 " MiB are left mapped.\n",
           mappings, again, p->words, p->wrong, reserved_bytes(p) >> 20);
    return p->wrong == 0 && is_covered && p->unwritten == 0 && again > 0 && reserved_bytes(p) == 0
               ? 0
               : 1;
}

int main(void)
{
    static proof p = { .random = 20240711 };
    const plim_host_options host = { .total_bytes = DEVICE_BYTES, .granularity_bytes = PAGE_BYTES };
    plim_settings settings = plim_settings_default();
    plim_device device = { 0 };
    settings.expandable_segments = true;
    must(plim_host_create(&host, &device, &err));
    const plim_allocator_options options = { .devices = &device,
                                             .device_count = 1,
                                             .settings = &settings };
    must(plim_allocator_create(&options, &p.allocator, &err));
    must(plim_add_event_sink(p.allocator, &(plim_event_sink){ .event = hear, .ctx = &p }, &err));
    const int status = run(&p);
    plim_allocator_destroy(p.allocator);
    plim_device_destroy(&device);
    return status;
}
