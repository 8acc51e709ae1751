/*
 * code.c - frames of two histories to functions in common.
 */
#include "diff/code.h"

#include "base/error.h"
#include "base/hash.h"
#include "diff/files.h"

#include <string.h>

/* Any number will do, as long as both sides have the same: samples of sizes are compared. */
#define SIZES_KEY UINT64_C(0x9e3779b97f4a7c15)

/* --- texts and functions --- */

static bool is_text(const void *table, uint32_t id, const void *wanted)
{
    const plim_diff_code *const code = table;
    const plim_diff_text *const one = &code->texts.items[id];
    const plim_diff_text *const other = wanted;
    return one->bytes == other->bytes && memcmp(one->data, other->data, one->bytes) == 0;
}

static bool find_text(plim_diff_code *code, plim_diff_text text, uint32_t *ret)
{
    const uint64_t hash = plim_hash_bytes(text.data, text.bytes, code->text_index.key);
    *ret = plim_intern_find(&code->text_index, hash, is_text, code, &text);
    return *ret != PLIM_INTERN_ABSENT || (PLIM_VEC_PUSH(code->mem, &code->texts, text) &&
                                          plim_intern_add(&code->text_index, hash, ret));
}

static bool is_function(const void *table, uint32_t id, const void *wanted)
{
    const plim_diff_code *const code = table;
    const plim_diff_function *const one = &code->functions.items[id];
    const plim_diff_function *const other = wanted;
    return one->file == other->file && one->name == other->name;
}

static bool find_function(plim_diff_code *code, const plim_diff_function *function, uint32_t *ret)
{
    const uint64_t both = ((uint64_t)function->file << 32) | function->name;
    const uint64_t hash = plim_hash_u64(both, code->function_index.key);
    *ret = plim_intern_find(&code->function_index, hash, is_function, code, function);
    return *ret != PLIM_INTERN_ABSENT || (PLIM_VEC_PUSH(code->mem, &code->functions, *function) &&
                                          plim_intern_add(&code->function_index, hash, ret));
}

/* A file as far as it says which code it is. */
static plim_diff_text file_text(const char *file, size_t bytes, plim_frame_owner owner)
{
    const char *const installed = owner == PLIM_FRAME_USER ? NULL : plim_frame_installed_path(file);
    if (installed != NULL) {
        return (plim_diff_text){ installed, bytes - (size_t)(installed - file) };
    }
    if (owner == PLIM_FRAME_NATIVE || owner == PLIM_FRAME_TORCH) {
        return (plim_diff_text){ "", 0 }; /* a library's own path, or what PyTorch generates */
    }
    return (plim_diff_text){ file, bytes };
}

/* The text of a frame's file. */
static bool number_file(plim_diff_code *code, plim_diff_side *side, uint32_t frame, uint32_t *ret)
{
    size_t bytes = 0;
    const char *const file = plim_history_string(
        side->history, plim_history_frame(side->history, frame)->filename, &bytes);
    return find_text(code, file_text(file, bytes, plim_group_owner(&side->grouper, frame)), ret);
}

static bool number_files(plim_diff_code *code, plim_diff_side *side)
{
    const uint32_t count = plim_history_frame_count(side->history);
    for (uint32_t i = 0; i < count; i++) {
        if (!number_file(code, side, i, &side->functions[i])) { /* the file, until it is known */
            return false;
        }
    }
    return true;
}

/* The user's files of one side alone; `sides_of`, by text: bits of the sides that have it. */
static void list_files(const plim_diff_code *code, uint8_t *sides_of, plim_diff_file *files,
                       size_t *ret_count)
{
    for (uint8_t kind = 0; kind < PLIM_DIFF_SIDES; kind++) {
        const plim_diff_side *const side = &code->sides[kind];
        for (uint32_t i = 0; i < plim_history_frame_count(side->history); i++) {
            sides_of[side->functions[i]] |= (uint8_t)(1u << kind);
            if (side->grouper.owners[i] == PLIM_FRAME_USER + 1) {
                sides_of[side->functions[i]] |= 1u << PLIM_DIFF_SIDES;
            }
        }
    }
    for (size_t i = 0; i < code->texts.count; i++) {
        const uint8_t users = 1u << PLIM_DIFF_SIDES;
        for (uint8_t kind = 0; kind < PLIM_DIFF_SIDES; kind++) {
            if (sides_of[i] == (users | 1u << kind) && code->texts.items[i].bytes > 0) {
                files[(*ret_count)++] = (plim_diff_file){ .path = code->texts.items[i].data,
                                                          .bytes = code->texts.items[i].bytes,
                                                          .text = (uint32_t)i,
                                                          .kind = kind };
            }
        }
    }
}

/* Files that moved get one number. */
static bool pair_files(plim_diff_code *code)
{
    const size_t count = code->texts.count;
    if (count == 0) {
        return true;
    }
    uint8_t *const sides_of = plim_mem_alloc_zeroed(code->mem, count, sizeof *sides_of);
    plim_diff_file *const files = plim_mem_alloc(code->mem, count, sizeof *files);
    uint32_t *const same = plim_mem_alloc(code->mem, count, sizeof *same);
    const bool fits = sides_of != NULL && files != NULL && same != NULL;
    if (fits) {
        size_t file_count = 0;
        list_files(code, sides_of, files, &file_count);
        for (size_t i = 0; i < count; i++) {
            same[i] = (uint32_t)i;
        }
        plim_diff_pair_files(files, file_count, same);
        const plim_diff_side *const after = &code->sides[PLIM_DIFF_AFTER];
        for (uint32_t i = 0; i < plim_history_frame_count(after->history); i++) {
            after->functions[i] = same[after->functions[i]];
        }
    }
    plim_mem_free(code->mem, sides_of, count, sizeof *sides_of);
    plim_mem_free(code->mem, files, count, sizeof *files);
    plim_mem_free(code->mem, same, count, sizeof *same);
    return fits;
}

static bool number_functions(plim_diff_code *code, plim_diff_side *side)
{
    const uint32_t count = plim_history_frame_count(side->history);
    for (uint32_t i = 0; i < count; i++) {
        plim_diff_text name = { 0 };
        name.data = plim_history_string(side->history, plim_history_frame(side->history, i)->name,
                                        &name.bytes);
        plim_diff_function function = { .file = side->functions[i],
                                        .owner = (uint8_t)plim_group_owner(&side->grouper, i) };
        if (!find_text(code, name, &function.name) ||
            !find_function(code, &function, &side->functions[i])) {
            return false;
        }
    }
    return true;
}

/* --- what stacks request --- */

static void add_size(plim_diff_profile *profile, uint64_t bytes)
{
    uint64_t hash = plim_hash_u64(bytes, SIZES_KEY) >> 1; /* never UINT64_MAX */
    for (size_t i = 0; i < PLIM_DIFF_SAMPLE; i++) {
        if (profile->sizes[i] == hash) {
            return;
        }
        if (hash < profile->sizes[i]) {
            const uint64_t kept = profile->sizes[i];
            profile->sizes[i] = hash;
            hash = kept;
        }
    }
}

static void add_request(plim_diff_profile *profile, uint64_t bytes)
{
    if (profile->count == 0) {
        for (size_t i = 0; i < PLIM_DIFF_SAMPLE; i++) {
            profile->sizes[i] = UINT64_MAX;
        }
    }
    profile->count++;
    profile->bytes += bytes < UINT64_MAX - profile->bytes ? bytes : UINT64_MAX - profile->bytes;
    add_size(profile, bytes);
}

/* Allocs, and blocks of the end whose alloc was not recorded. */
static void add_requests(plim_diff_side *side, const plim_device_history *device)
{
    const plim_events *const events = &device->events;
    for (uint64_t i = 0; i < events->count; i++) {
        if (events->action[i] == PLIM_ALLOC && events->stack[i] != PLIM_NONE) {
            add_request(&side->profiles[events->stack[i]], events->bytes[i]);
        }
    }
    for (uint64_t i = 0; i < device->block_count; i++) {
        const plim_block *const block = &device->blocks[i];
        if (block->state == PLIM_BLOCK_ACTIVE_ALLOCATED && block->stack != PLIM_NONE &&
            side->profiles[block->stack].count == 0) {
            add_request(&side->profiles[block->stack], block->requested_bytes);
        }
    }
}

static void note_functions(plim_diff_code *code, plim_diff_side_kind kind)
{
    const plim_diff_side *const side = &code->sides[kind];
    const uint32_t count = plim_history_stack_count(side->history);
    for (uint32_t i = 0; i < count; i++) {
        const plim_stack stack = plim_history_stack(side->history, i);
        for (uint32_t k = 0; side->profiles[i].count > 0 && k < stack.frame_count; k++) {
            code->functions.items[side->functions[stack.frames[k]]].stacks[kind]++;
        }
    }
}

/* --- both sides --- */

static plim_status side_init(plim_diff_code *code, plim_diff_side_kind kind, plim_error *err)
{
    plim_diff_side *const side = &code->sides[kind];
    PLIM_TRY(plim_grouper_init(&side->grouper, side->history, code->mem, err));
    PLIM_TRY(plim_stack_kinds_init(&side->kinds, side->history, code->mem, err));
    const uint32_t frames = plim_history_frame_count(side->history);
    const uint32_t stacks = plim_history_stack_count(side->history);
    if (frames > 0) {
        side->functions = plim_mem_alloc(code->mem, frames, sizeof *side->functions);
    }
    if (stacks > 0) {
        side->profiles = plim_mem_alloc_zeroed(code->mem, stacks, sizeof *side->profiles);
    }
    if ((frames > 0 && side->functions == NULL) || (stacks > 0 && side->profiles == NULL) ||
        !number_files(code, side)) {
        return plim_fail_memory(err, "comparing histories");
    }
    for (size_t i = 0; i < plim_history_device_count(side->history); i++) {
        add_requests(side, plim_history_device(side->history, i));
    }
    return PLIM_OK;
}

plim_status plim_diff_code_init(plim_diff_code *code, const plim_history *before,
                                const plim_history *after, const plim_mem *mem, plim_error *err)
{
    *code = (plim_diff_code){ .mem = mem };
    code->sides[PLIM_DIFF_BEFORE].history = before;
    code->sides[PLIM_DIFF_AFTER].history = after;
    plim_intern_init(&code->text_index, mem);
    plim_intern_init(&code->function_index, mem);
    PLIM_TRY(side_init(code, PLIM_DIFF_BEFORE, err));
    PLIM_TRY(side_init(code, PLIM_DIFF_AFTER, err));
    if (!pair_files(code) || !number_functions(code, &code->sides[PLIM_DIFF_BEFORE]) ||
        !number_functions(code, &code->sides[PLIM_DIFF_AFTER])) {
        return plim_fail_memory(err, "comparing histories");
    }
    note_functions(code, PLIM_DIFF_BEFORE);
    note_functions(code, PLIM_DIFF_AFTER);
    return PLIM_OK;
}

void plim_diff_code_deinit(plim_diff_code *code)
{
    if (code->mem == NULL) {
        return;
    }
    for (size_t i = 0; i < PLIM_DIFF_SIDES; i++) {
        plim_diff_side *const side = &code->sides[i];
        plim_mem_free(code->mem, side->functions, plim_history_frame_count(side->history),
                      sizeof *side->functions);
        plim_mem_free(code->mem, side->profiles, plim_history_stack_count(side->history),
                      sizeof *side->profiles);
        plim_stack_kinds_deinit(&side->kinds);
        plim_grouper_deinit(&side->grouper);
    }
    PLIM_VEC_FREE(code->mem, &code->texts);
    PLIM_VEC_FREE(code->mem, &code->functions);
    plim_intern_deinit(&code->text_index);
    plim_intern_deinit(&code->function_index);
    *code = (plim_diff_code){ 0 };
}
