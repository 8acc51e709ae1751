/*
 * collect.c - keeping, counting and judging what was found.
 */
#include "oomtext/collect.h"

#include "advice/advice.h"
#include "base/error.h"
#include "base/hash.h"
#include "verdict/request.h"

#include <string.h>

/* A pool's dump lists every chunk, so it may end this far after the failure it belongs to. */
#define DUMP_BYTES_MAX ((uint64_t)4 << 20)

void plim_collection_init(plim_collection *collection, const plim_mem *mem, plim_arena *arena)
{
    *collection = (plim_collection){ .mem = mem, .arena = arena, .hash_key = plim_hash_key() };
    plim_map_init(&collection->by_content, mem);
}

void plim_collection_deinit(plim_collection *collection)
{
    PLIM_VEC_FREE(collection->mem, &collection->items);
    plim_map_deinit(&collection->by_content);
}

static uint64_t hash_of(const plim_found *found, uint64_t key)
{
    uint64_t hash = plim_hash_u64((uint64_t)(uintptr_t)found->form, key);
    hash = plim_hash_u64(hash ^ (uint64_t)found->said.device, key);
    hash = plim_hash_u64(hash ^ found->said.victim, key);
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        hash = plim_hash_u64(hash ^ found->said.figures[i].bytes, key);
    }
    for (size_t i = 0; i < found->said.process_count; i++) {
        hash = plim_hash_u64(hash ^ found->said.processes[i].pid, key);
    }
    return hash == PLIM_MAP_ABSENT ? 0 : hash;
}

static bool is_same(const plim_gathered *a, const plim_found *b)
{
    const bool has_victim = b->said.victim != 0 || b->victim[0] != '\0';
    if (a->is_victim != has_victim ||
        (has_victim &&
         (a->processes[0].pid != b->said.victim ||
          strcmp(a->processes[0].name != NULL ? a->processes[0].name : "", b->victim) != 0))) {
        return false;
    }
    bool same = a->form == b->form && a->device == b->said.device &&
                (has_victim || a->process_count == b->said.process_count);
    for (size_t i = 0; same && i < PLIM_FIGURE_COUNT; i++) {
        same = a->figures[i].bytes == b->said.figures[i].bytes;
    }
    for (size_t i = 0; same && !has_victim && i < a->process_count; i++) {
        same = a->processes[i].pid == b->said.processes[i].pid &&
               a->processes[i].bytes == b->said.processes[i].bytes;
    }
    return same;
}

/* The process that was killed, where the text names it, is the item's only one. */
static bool keep_victim(plim_collection *collection, const plim_found *found, plim_gathered *item)
{
    const size_t name_bytes = strlen(found->victim);
    if (found->said.victim == 0 && name_bytes == 0) {
        return true;
    }
    plim_process_figure *const process = plim_arena_alloc(collection->arena, sizeof *process);
    if (process == NULL) {
        return false;
    }
    *process = (plim_process_figure){
        .pid = found->said.victim,
        .bytes = item->figures[PLIM_FIGURE_HOST_PROCESS].bytes,
        .is_this = true,
    };
    if (name_bytes > 0 &&
        (process->name = plim_arena_copy(collection->arena, found->victim, name_bytes)) == NULL) {
        return false;
    }
    item->processes = process;
    item->process_count = 1;
    item->is_victim = true;
    return true;
}

/* Copy what `found` has into the arena and the list. */
static bool keep(plim_collection *collection, const plim_found *found, uint64_t base, uint64_t line)
{
    plim_gathered item = {
        .form = found->form,
        .line = line,
        .offset = base + found->begin,
        .length = found->end - found->begin,
        .count = 1,
        .device = found->said.device,
        .process_count = found->said.process_count,
        .excerpt = plim_arena_copy(collection->arena, found->excerpt, strlen(found->excerpt)),
    };
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        item.figures[i] = found->said.figures[i];
        item.figures[i].offset += base;
    }
    const size_t bytes = item.process_count * sizeof *item.processes;
    item.processes = plim_arena_alloc(collection->arena, bytes);
    if (item.excerpt == NULL || item.processes == NULL) {
        return false;
    }
    if (bytes > 0) {
        memcpy(item.processes, found->said.processes, bytes);
    }
    if (!keep_victim(collection, found, &item)) {
        return false;
    }
    return PLIM_VEC_PUSH(collection->mem, &collection->items, item);
}

static bool has(const plim_figure *figures, plim_figure_id id)
{
    return figures[id].bytes != PLIM_BYTES_UNKNOWN;
}

/* True if `found` goes on with what the item before it began: a pool's dump after the line that
 * says what was requested, a line of the kernel's report after the one that opens it. */
static bool is_second_part(const plim_gathered *last, const plim_found *found)
{
    const plim_oom_family family = last->form->family;
    if (family == PLIM_FAMILY_LINUX) {
        return found->form->family == family && (last->form->flags & PLIM_FORM_DUMP) != 0 &&
               (!last->is_victim || found->said.victim == 0 ||
                found->said.victim == last->processes[0].pid);
    }
    return (family == PLIM_FAMILY_TENSORFLOW || family == PLIM_FAMILY_JAX) &&
           last->form->topic == PLIM_TOPIC_BARE && !has(found->said.figures, PLIM_FIGURE_REQUESTED);
}

/* One failure in two parts: the second one adds its figures. False: it is no second part. */
static bool fold_dump(plim_collection *collection, const plim_found *found, uint64_t base,
                      bool *ret_kept)
{
    if ((found->form->flags & PLIM_FORM_DUMP) == 0 || collection->items.count == 0) {
        return false;
    }
    plim_gathered *last = &collection->items.items[collection->items.count - 1];
    if (base + found->begin > last->offset + DUMP_BYTES_MAX || last->count > 1 ||
        !is_second_part(last, found)) {
        return false;
    }
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        if (!has(last->figures, (plim_figure_id)i)) {
            last->figures[i] = found->said.figures[i];
            last->figures[i].offset += base;
        }
    }
    *ret_kept = last->is_victim || keep_victim(collection, found, last);
    if (last->is_victim) {
        last->processes[0].bytes = last->figures[PLIM_FIGURE_HOST_PROCESS].bytes;
    }
    if (last->form->topic == PLIM_TOPIC_BARE || found->form < last->form) {
        last->form = found->form;
    }
    last->length = base + found->end - last->offset;
    return true;
}

bool plim_collection_add(plim_collection *collection, const plim_found *found, uint64_t base,
                         uint64_t line)
{
    bool is_kept = true;
    if (fold_dump(collection, found, base, &is_kept)) {
        return is_kept;
    }
    const uint64_t hash = hash_of(found, collection->hash_key);
    const uint64_t index = plim_map_get(&collection->by_content, hash);
    if (index != PLIM_MAP_ABSENT && is_same(&collection->items.items[index], found)) {
        collection->items.items[index].count++;
        return true;
    }
    if (collection->items.count >= PLIM_EXPLAIN_MESSAGES_MAX) {
        collection->unkept_count++;
        return true;
    }
    return keep(collection, found, base, line) &&
           plim_map_put(&collection->by_content, hash, collection->items.count - 1);
}

/* --- judging --- */

static bool is_torch(plim_oom_family family)
{
    return family >= PLIM_FAMILY_PYTORCH && family <= PLIM_FAMILY_PYTORCH_ASYNC;
}

/*
 * Reports are dropped from logs, and wherever another message was found; PyTorch's table
 * that counts a failure is dropped where the failure itself is in the text.
 */
static void drop_reports(plim_collection *collection, uint64_t input_bytes)
{
    size_t kept = 0;
    bool has_other = input_bytes > PLIM_PASTE_BYTES_MAX;
    bool has_failure = false;
    for (size_t i = 0; i < collection->items.count; i++) {
        const plim_form *const form = collection->items.items[i].form;
        has_other |= (form->flags & PLIM_FORM_REPORT) == 0;
        has_failure |= form->topic == PLIM_TOPIC_ALLOCATION && is_torch(form->family);
    }
    for (size_t i = 0; i < collection->items.count; i++) {
        const plim_gathered item = collection->items.items[i];
        const bool is_report = (item.form->flags & PLIM_FORM_REPORT) != 0;
        const bool is_summary = item.form->topic == PLIM_TOPIC_SUMMARY;
        if (!(is_report && has_other) && !(is_summary && has_failure)) {
            collection->items.items[kept++] = item;
        }
    }
    collection->items.count = kept;
}

static bool is_failure(const plim_oom_message *message)
{
    return message->judgement.verdict != PLIM_VERDICT_NOT_OOM;
}

static bool has_figures(const plim_oom_message *message)
{
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        if (has(message->request.figures, (plim_figure_id)i)) {
            return true;
        }
    }
    return false;
}

/* XLA's allocator is TensorFlow's, and both print its source's name: whose it is, marks say. */
static const char *framework_of(const plim_form *form, plim_oom_family family)
{
    return form->family == PLIM_FAMILY_TENSORFLOW && family == PLIM_FAMILY_JAX ? "jax"
                                                                               : form->framework;
}

static plim_status judge_one(plim_collection *collection, const plim_gathered *item,
                             const plim_failed_request *request, plim_oom_message *ret,
                             plim_error *err)
{
    char why[PLIM_WHY_BYTES];
    *ret = (plim_oom_message){
        .line = item->line,
        .offset = item->offset,
        .length = item->length,
        .count = item->count,
        .framework = framework_of(item->form, request->family),
        .form = item->form->name,
        .versions = item->form->versions,
        .excerpt = item->excerpt,
        .request = *request,
        .judgement = plim_judge(request),
    };
    plim_judgement *const judgement = &ret->judgement;
    if (judgement->this_process < item->process_count) {
        item->processes[judgement->this_process].is_this = true;
    }
    plim_evidence *const place = plim_arena_alloc(collection->arena, sizeof *place);
    const size_t length = plim_judgement_why(request, judgement, why, sizeof why);
    ret->why = plim_arena_copy(collection->arena, why, length);
    if (place == NULL || ret->why == NULL) {
        return plim_fail_memory(err, "putting a verdict into words");
    }
    *place = (plim_evidence){ PLIM_EVIDENCE_TEXT, item->offset, item->length };
    judgement->finding.evidence = place;
    judgement->finding.evidence_count = 1;
    return plim_advise(request, judgement, collection->arena, &ret->advice, &ret->advice_count,
                       err);
}

/* The first failure with figures answers for all; without one, the first failure; else the first.
 */
static size_t choose_main(plim_oom_message *messages, size_t count)
{
    size_t best = count > 0 ? 0 : SIZE_MAX;
    int best_rank = -1;
    for (size_t i = 0; i < count; i++) {
        const plim_oom_message *message = &messages[i];
        const int rank =
            !is_failure(message)                                 ? 0
            : message->judgement.verdict == PLIM_VERDICT_UNKNOWN ? 2 + 2 * has_figures(message)
            : message->judgement.verdict == PLIM_VERDICT_HOST    ? 4 + has_figures(message)
                                                                 : 6 + has_figures(message);
        if (rank > best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

/* Failures of a library or a bare error, after one that has figures, are its consequences. */
static void mark_followers(const plim_collection *collection, plim_oom_message *messages,
                           size_t count)
{
    bool has_cause = false;
    for (size_t i = 0; i < count; i++) {
        const plim_oom_topic topic = collection->items.items[i].form->topic;
        messages[i].is_follower =
            has_cause && (topic == PLIM_TOPIC_WORKSPACE || topic == PLIM_TOPIC_BARE ||
                          topic == PLIM_TOPIC_HANDLE || topic == PLIM_TOPIC_ERROR ||
                          topic == PLIM_TOPIC_HOST_KILLED || topic == PLIM_TOPIC_HOST_SIGNAL);
        has_cause |= is_failure(&messages[i]) && has_figures(&messages[i]);
    }
}

/*
 * Frameworks whose words other programs print, and the only program that may stand in its place;
 * ANY: any. What PyTorch says within a server is turned by the server's switches.
 */
static const struct {
    plim_oom_family framework, program;
} hosted[] = {
    { PLIM_FAMILY_ANY, PLIM_FAMILY_ANY },
    { PLIM_FAMILY_CUDA, PLIM_FAMILY_ANY },
    { PLIM_FAMILY_HIP, PLIM_FAMILY_ANY },
    { PLIM_FAMILY_SYCL, PLIM_FAMILY_ANY },
    { PLIM_FAMILY_PYTORCH, PLIM_FAMILY_ANY },
    { PLIM_FAMILY_PYTORCH_ROCM, PLIM_FAMILY_ANY },
    { PLIM_FAMILY_PYTORCH_ASYNC, PLIM_FAMILY_ANY },
    { PLIM_FAMILY_PYTORCH_XPU, PLIM_FAMILY_ANY },
    { PLIM_FAMILY_LLAMA_CPP, PLIM_FAMILY_OLLAMA },
    { PLIM_FAMILY_VULKAN, PLIM_FAMILY_OLLAMA },
    { PLIM_FAMILY_METAL, PLIM_FAMILY_OLLAMA },
    { PLIM_FAMILY_METAL, PLIM_FAMILY_MLX },
    { PLIM_FAMILY_TENSORFLOW, PLIM_FAMILY_JAX },
    { PLIM_FAMILY_TENSORRT, PLIM_FAMILY_TENSORRT_LLM },
};

/* PyTorch, llama.cpp and their like name the driver's words; another framework keeps its own. */
static bool is_framework(plim_oom_family family)
{
    return family == PLIM_FAMILY_PYTORCH || family == PLIM_FAMILY_TENSORFLOW ||
           family == PLIM_FAMILY_LLAMA_CPP || family == PLIM_FAMILY_CUPY ||
           family == PLIM_FAMILY_ONNXRUNTIME || family == PLIM_FAMILY_JAX ||
           family == PLIM_FAMILY_MLX;
}

/* Whose switches help. */
static plim_oom_family family_of(const plim_form *form, plim_oom_family program)
{
    if (program == PLIM_FAMILY_ANY || plim_topic_is_host(form->topic) ||
        (is_framework(program) && is_torch(form->family))) {
        return form->family;
    }
    for (size_t i = 0; i < sizeof hosted / sizeof hosted[0]; i++) {
        if (hosted[i].framework == form->family &&
            (hosted[i].program == PLIM_FAMILY_ANY || hosted[i].program == program)) {
            return program;
        }
    }
    return form->family;
}

plim_status plim_collection_judge(plim_collection *collection, const plim_circumstances *around,
                                  uint64_t input_bytes, plim_judged *ret, plim_error *err)
{
    drop_reports(collection, input_bytes);
    const size_t count = collection->items.count;
    plim_oom_message *messages = plim_arena_alloc(collection->arena, count * sizeof *messages);
    if (messages == NULL) {
        return plim_fail_memory(err, "keeping messages");
    }
    for (size_t i = 0; i < count; i++) {
        const plim_gathered *item = &collection->items.items[i];
        plim_failed_request request =
            plim_failed_request_of(item->form->topic, family_of(item->form, around->program));
        request.subject.device = item->device;
        request.processes = item->processes;
        request.process_count = item->process_count;
        request.in_force = around->in_force;
        request.leaks = around->leaks;
        memcpy(request.figures, item->figures, sizeof request.figures);
        PLIM_TRY(judge_one(collection, item, &request, &messages[i], err));
    }
    mark_followers(collection, messages, count);
    *ret = (plim_judged){ messages, count, choose_main(messages, count) };
    return PLIM_OK;
}
