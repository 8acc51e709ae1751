/*
 * stacks.c - a table of distinct stacks that is read without a lock.
 *
 *   index: hash ──► slot ──► record, never changed      ids: number ──► record
 *
 * A record is complete before it is put into the index, and stays where it is until the end. So
 * a thread that meets a known stack takes no lock; one that adds a stack does, and looks again
 * first.
 */
#include "alloc/core/stacks.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/shared_table.h"
#include "base/vec.h"
#include "unwind/unwind.h"

#include <pthread.h>
#include <string.h>

#define ADDRESSES_MAX 512 /* of a stack; what is further out is left out */
#define FOREIGN_MAX   512

typedef struct stack_record {
    uint64_t hash;
    plim_stack_record stack;
} stack_record;

/* A string that is kept once. */
typedef struct text {
    const char *chars;
    size_t bytes;
} text;

struct plim_stacks {
    const plim_mem *mem;
    uint64_t hash_key;
    plim_shared_table index; /* records; added to under the lock */
    pthread_mutex_t lock;    /* for everything below it */
    plim_arena arena;        /* records, addresses, frames, strings */
    PLIM_VEC(const stack_record *) ids;
    PLIM_VEC(text) texts;
    plim_intern text_ids;
    pthread_mutex_t naming; /* for symbols; taken before no other lock */
    plim_symbols *symbols;  /* NULL before the first history */
};

plim_status plim_stacks_create(const plim_mem *mem, plim_stacks **ret_stacks, plim_error *err)
{
    const plim_mem *const heap = plim_mem_or_heap(mem);
    plim_stacks *const stacks = plim_mem_alloc(heap, 1, sizeof *stacks);
    if (stacks == NULL) {
        return plim_fail_memory(err, "preparing to keep stacks");
    }
    memset(stacks, 0, sizeof *stacks);
    stacks->mem = heap;
    stacks->hash_key = plim_hash_key();
    plim_arena_init(&stacks->arena, heap);
    plim_intern_init(&stacks->text_ids, heap);
    (void)pthread_mutex_init(&stacks->lock, NULL); /* a plain one cannot fail on Linux */
    (void)pthread_mutex_init(&stacks->naming, NULL);
    *ret_stacks = stacks;
    return PLIM_OK;
}

void plim_stacks_destroy(plim_stacks *stacks)
{
    if (stacks == NULL) {
        return;
    }
    const plim_mem *const mem = stacks->mem;
    plim_shared_deinit(&stacks->index, mem);
    plim_symbols_destroy(stacks->symbols);
    plim_intern_deinit(&stacks->text_ids);
    PLIM_VEC_FREE(mem, &stacks->texts);
    PLIM_VEC_FREE(mem, &stacks->ids);
    plim_arena_deinit(&stacks->arena);
    (void)pthread_mutex_destroy(&stacks->naming);
    (void)pthread_mutex_destroy(&stacks->lock);
    plim_mem_free(mem, stacks, 1, sizeof *stacks);
}

/* --- finding --- */

static uint64_t hash_of(const plim_stack_record *stack, uint64_t key)
{
    uint64_t hash =
        plim_hash_bytes(stack->addresses, stack->address_count * sizeof *stack->addresses, key);
    for (size_t i = 0; i < stack->foreign_count; i++) {
        const plim_foreign_frame *const frame = &stack->foreign[i];
        hash ^= plim_hash_bytes(frame->filename, strlen(frame->filename), hash);
        hash ^= plim_hash_bytes(frame->name, strlen(frame->name), hash);
        hash = plim_hash_u64(frame->line, hash);
    }
    return hash;
}

static bool are_equal(const plim_stack_record *a, const plim_stack_record *b)
{
    if (a->address_count != b->address_count || a->foreign_count != b->foreign_count ||
        (a->address_count > 0 && /* memcmp() wants no NULL */
         memcmp(a->addresses, b->addresses, a->address_count * sizeof *a->addresses) != 0)) {
        return false;
    }
    for (size_t i = 0; i < a->foreign_count; i++) {
        if (a->foreign[i].line != b->foreign[i].line ||
            strcmp(a->foreign[i].name, b->foreign[i].name) != 0 ||
            strcmp(a->foreign[i].filename, b->foreign[i].filename) != 0) {
            return false;
        }
    }
    return true;
}

static uint64_t hash_of_record(const void *kept)
{
    return ((const stack_record *)kept)->hash;
}

/* Of two records, one of which may be only what is wanted. */
static bool is_record(const void *kept, const void *wanted)
{
    const stack_record *const a = kept;
    const stack_record *const b = wanted;
    return a->hash == b->hash && are_equal(&a->stack, &b->stack);
}

/* --- adding: the lock is held --- */

static bool equals_text(const void *table, uint32_t id, const void *wanted)
{
    const text *const a = (const text *)table + id;
    const text *const b = wanted;
    return a->bytes == b->bytes && memcmp(a->chars, b->chars, a->bytes) == 0;
}

static const char *keep_text(plim_stacks *stacks, const char *chars)
{
    const text wanted = { .chars = chars, .bytes = strlen(chars) };
    const uint64_t hash = plim_hash_bytes(chars, wanted.bytes, stacks->text_ids.key);
    uint32_t id =
        plim_intern_find(&stacks->text_ids, hash, equals_text, stacks->texts.items, &wanted);
    if (id != PLIM_INTERN_ABSENT) {
        return stacks->texts.items[id].chars;
    }
    const text kept = { .chars = plim_arena_copy(&stacks->arena, chars, wanted.bytes),
                        .bytes = wanted.bytes };
    if (kept.chars == NULL || !PLIM_VEC_PUSH(stacks->mem, &stacks->texts, kept)) {
        return NULL;
    }
    if (!plim_intern_add(&stacks->text_ids, hash, &id)) {
        stacks->texts.count--;
        return NULL;
    }
    return kept.chars;
}

/* A copy that lives as long as the stacks; NULL without memory. */
static stack_record *keep_record(plim_stacks *stacks, uint64_t hash, const plim_stack_record *stack)
{
    stack_record *const kept = plim_arena_alloc(&stacks->arena, sizeof *kept);
    const size_t address_bytes = stack->address_count * sizeof *stack->addresses;
    uint64_t *const addresses = plim_arena_alloc(&stacks->arena, address_bytes);
    plim_foreign_frame *const foreign =
        plim_arena_alloc(&stacks->arena, stack->foreign_count * sizeof *foreign);
    if (kept == NULL || addresses == NULL || foreign == NULL) {
        return NULL;
    }
    memcpy(addresses, stack->addresses, address_bytes);
    for (size_t i = 0; i < stack->foreign_count; i++) {
        foreign[i] =
            (plim_foreign_frame){ .filename = keep_text(stacks, stack->foreign[i].filename),
                                  .name = keep_text(stacks, stack->foreign[i].name),
                                  .line = stack->foreign[i].line };
        if (foreign[i].filename == NULL || foreign[i].name == NULL) {
            return NULL;
        }
    }
    *kept = (stack_record){ .hash = hash,
                            .stack = { .id = (uint32_t)stacks->ids.count,
                                       .addresses = addresses,
                                       .address_count = stack->address_count,
                                       .foreign = foreign,
                                       .foreign_count = stack->foreign_count } };
    return kept;
}

static const stack_record *add(plim_stacks *stacks, uint64_t hash, const plim_stack_record *stack)
{
    stack_record *const kept =
        stacks->ids.count < PLIM_NONE ? keep_record(stacks, hash, stack) : NULL;
    if (kept == NULL || !PLIM_VEC_PUSH(stacks->mem, &stacks->ids, kept)) {
        return NULL;
    }
    if (!plim_shared_add(&stacks->index, stacks->mem, hash_of_record, kept)) {
        stacks->ids.count--;
        return NULL;
    }
    return kept;
}

static uint32_t intern(plim_stacks *stacks, const plim_stack_record *stack, bool *ret_is_new)
{
    const stack_record wanted = { .hash = hash_of(stack, stacks->hash_key), .stack = *stack };
    const stack_record *known = plim_shared_find(&stacks->index, wanted.hash, is_record, &wanted);
    if (known == NULL) {
        (void)pthread_mutex_lock(&stacks->lock);
        known = plim_shared_find(&stacks->index, wanted.hash, is_record, &wanted);
        if (known == NULL) { /* no other thread was faster */
            known = add(stacks, wanted.hash, stack);
            *ret_is_new = known != NULL;
        }
        (void)pthread_mutex_unlock(&stacks->lock);
    }
    return known == NULL ? PLIM_NONE : known->stack.id;
}

/* Strings that a hook leaves out are empty ones. */
static size_t take_foreign(plim_foreign_frames *foreign, void *ctx, plim_foreign_frame *frames)
{
    const size_t given = foreign(ctx, frames, FOREIGN_MAX);
    const size_t count = given < FOREIGN_MAX ? given : FOREIGN_MAX;
    for (size_t i = 0; i < count; i++) {
        frames[i].filename = frames[i].filename == NULL ? "" : frames[i].filename;
        frames[i].name = frames[i].name == NULL ? "" : frames[i].name;
    }
    return count;
}

__attribute__((noinline)) uint32_t plim_stacks_take(plim_stacks *stacks, bool has_c_frames,
                                                    plim_foreign_frames *foreign, void *foreign_ctx,
                                                    bool *ret_is_new)
{
    uint64_t addresses[ADDRESSES_MAX];
    plim_foreign_frame frames[FOREIGN_MAX];
    plim_stack_record stack = { .addresses = addresses, .foreign = frames };
    *ret_is_new = false;
    if (has_c_frames) {
        stack.address_count = plim_unwind(addresses, ADDRESSES_MAX, 1); /* without this function */
    }
    if (foreign != NULL) {
        stack.foreign_count = take_foreign(foreign, foreign_ctx, frames);
    }
    if (stack.address_count == 0 && stack.foreign_count == 0) {
        return PLIM_NONE;
    }
    return intern(stacks, &stack, ret_is_new);
}

/* --- looking --- */

plim_stack_record plim_stacks_get(plim_stacks *stacks, uint32_t id)
{
    plim_stack_record found = { .id = id };
    (void)pthread_mutex_lock(&stacks->lock);
    if (id < stacks->ids.count) {
        found = stacks->ids.items[id]->stack;
    }
    (void)pthread_mutex_unlock(&stacks->lock);
    return found;
}

uint64_t plim_stacks_bytes(plim_stacks *stacks)
{
    (void)pthread_mutex_lock(&stacks->lock);
    const plim_intern *const text_ids = &stacks->text_ids;
    const uint64_t bytes = sizeof *stacks + plim_shared_bytes(&stacks->index) +
                           stacks->arena.used_bytes +
                           stacks->ids.capacity * sizeof *stacks->ids.items +
                           stacks->texts.capacity * sizeof *stacks->texts.items +
                           (text_ids->slots == NULL ? 0 : text_ids->mask + 1) * sizeof(uint32_t) +
                           text_ids->hashes.capacity * sizeof *text_ids->hashes.items;
    (void)pthread_mutex_unlock(&stacks->lock);
    return bytes;
}

/* --- naming --- */

static plim_status add_frame(plim_history *history, const plim_foreign_frame *frame,
                             uint32_t *ret_frame, plim_error *err)
{
    plim_frame added = { .line = frame->line, .fx = PLIM_NONE };
    PLIM_TRY(plim_history_add_string(history, frame->filename, strlen(frame->filename),
                                     &added.filename, err));
    PLIM_TRY(plim_history_add_string(history, frame->name, strlen(frame->name), &added.name, err));
    return plim_history_add_frame(history, &added, ret_frame, err);
}

/* The C frames of a stack without those at its inner end that are ours. Naming is held. */
static plim_status add_c_frames(plim_stacks *stacks, const plim_stack_record *stack,
                                plim_history *history, uint32_t *frames, size_t *ret_count,
                                plim_error *err)
{
    size_t count = 0;
    if (stacks->symbols == NULL) {
        PLIM_TRY(plim_symbols_create(stacks->mem, &stacks->symbols, err));
    }
    for (size_t i = 0; i < stack->address_count; i++) {
        plim_symbol symbol;
        PLIM_TRY(plim_symbols_look_up(stacks->symbols, stack->addresses[i], &symbol, err));
        if (count > 0 || !plim_symbol_is_ours(&symbol)) {
            const plim_foreign_frame frame = { .filename = symbol.filename,
                                               .name = symbol.name,
                                               .line = symbol.line };
            PLIM_TRY(add_frame(history, &frame, &frames[count], err));
            count++;
        }
    }
    *ret_count = count;
    return PLIM_OK;
}

plim_status plim_stacks_to_history(plim_stacks *stacks, uint32_t id, plim_history *history,
                                   uint32_t *ret_stack, plim_error *err)
{
    const plim_stack_record stack = plim_stacks_get(stacks, id);
    uint32_t frames[FOREIGN_MAX + ADDRESSES_MAX];
    for (size_t i = 0; i < stack.foreign_count; i++) {
        PLIM_TRY(add_frame(history, &stack.foreign[i], &frames[i], err));
    }
    size_t c_count = 0;
    if (stack.address_count > 0) {
        (void)pthread_mutex_lock(&stacks->naming);
        const plim_status status =
            add_c_frames(stacks, &stack, history, frames + stack.foreign_count, &c_count, err);
        (void)pthread_mutex_unlock(&stacks->naming);
        PLIM_TRY(status);
    }
    return plim_history_add_stack(history, frames, stack.foreign_count + c_count, ret_stack, err);
}

/* --- forks --- */

void plim_stacks_hold(plim_stacks *stacks)
{
    (void)pthread_mutex_lock(&stacks->naming);
    (void)pthread_mutex_lock(&stacks->lock);
}

void plim_stacks_let_go(plim_stacks *stacks)
{
    (void)pthread_mutex_unlock(&stacks->lock);
    (void)pthread_mutex_unlock(&stacks->naming);
}
