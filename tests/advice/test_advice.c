/*
 * What is advised: something for every case, nothing that is in force, values from the figures.
 */
#include "advice/advice.h"

#include "advice/table.h"
#include "base/units.h"
#include "harness.h"

#define ROWS_MAX 1000

#define IN(what) PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_##what)

/* --- cases --- */

static plim_failed_request bare_case(plim_oom_family family, plim_oom_topic topic)
{
    return plim_failed_request_of(topic, family);
}

static plim_judgement bare_judgement(plim_verdict verdict, plim_reason reason)
{
    return (plim_judgement){
        .verdict = verdict,
        .reason = reason,
        .held_bytes = PLIM_BYTES_UNKNOWN,
        .gap_bytes = PLIM_BYTES_UNKNOWN,
        .elsewhere_bytes = PLIM_BYTES_UNKNOWN,
        .outside_bytes = PLIM_BYTES_UNKNOWN,
        .short_bytes = PLIM_BYTES_UNKNOWN,
        .this_process = SIZE_MAX,
    };
}

/* 20 MiB asked of a card of 24 GiB of which 22 GiB are held. */
static plim_failed_request usual_case(plim_oom_family family)
{
    plim_failed_request oom = bare_case(family, PLIM_TOPIC_ALLOCATION);
    oom.subject.device = 0;
    oom.figures[PLIM_FIGURE_REQUESTED].bytes = 20 * MIB;
    oom.figures[PLIM_FIGURE_TOTAL].bytes = 24 * GIB;
    oom.figures[PLIM_FIGURE_FREE].bytes = 12 * MIB;
    oom.figures[PLIM_FIGURE_ALLOCATED].bytes = 20 * GIB;
    oom.figures[PLIM_FIGURE_RESERVED].bytes = 22 * GIB;
    return oom;
}

static plim_judgement usual_judgement(plim_verdict verdict, plim_reason reason)
{
    plim_judgement judgement = bare_judgement(verdict, reason);
    judgement.held_bytes = 22 * GIB;
    judgement.gap_bytes = 2 * GIB;
    judgement.elsewhere_bytes = 2 * GIB - 12 * MIB;
    return judgement;
}

/* Figures whatever their sense; two never add up to 16 EiB, which an unknown would print as. */
static uint64_t any_bytes(void)
{
    return t_random_between(0, 2) == 0 ? PLIM_BYTES_UNKNOWN : t_random_bytes(0, UINT64_C(7) << 60);
}

static void scramble(plim_failed_request *oom, plim_judgement *judgement,
                     plim_process_figure *processes, size_t process_count)
{
    for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
        oom->figures[i].bytes = any_bytes();
    }
    for (size_t i = 0; i < process_count; i++) {
        processes[i] = (plim_process_figure){ .pid = t_random() >> 40, .bytes = any_bytes() };
    }
    oom->processes = processes;
    oom->process_count = t_random_between(0, process_count);
    oom->subject.device = (int32_t)t_random_between(0, 9) - 1;
    oom->leaks = t_random_between(0, 3) == 0;
    judgement->reason = (plim_reason)t_random_between(0, PLIM_REASON_DRIVER_POOL);
    judgement->held_bytes = any_bytes();
    judgement->gap_bytes = any_bytes();
    judgement->elsewhere_bytes = any_bytes();
    judgement->outside_bytes = any_bytes();
    judgement->short_bytes = any_bytes();
    judgement->this_process = t_random_between(0, 1) == 0 ? SIZE_MAX : 0;
}

/* --- what was advised --- */

typedef struct advised {
    plim_arena arena;
    const plim_advice *items;
    size_t count;
} advised;

static const plim_mem *heap_of(t_mem *heap)
{
    t_mem_init(heap);
    return &heap->mem;
}

static advised advise(t_mem *heap, const plim_failed_request *oom, const plim_judgement *judgement)
{
    advised all = { .count = 0 };
    plim_arena_init(&all.arena, heap_of(heap));
    plim_error err;
    T_EQ_U64(plim_advise(oom, judgement, &all.arena, &all.items, &all.count, &err), PLIM_OK);
    return all;
}

static void done(advised *all, const t_mem *heap)
{
    plim_arena_deinit(&all->arena);
    T_EQ_U64(heap->live_bytes, 0);
}

static const plim_advice *find(const advised *all, const char *id)
{
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->items[i].id, id) == 0) {
            return &all->items[i];
        }
    }
    return NULL;
}

/* The ids in their order, "a b c". */
static const char *ids(const advised *all, char *buffer, size_t size)
{
    size_t length = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < all->count; i++) {
        length += (size_t)snprintf(buffer + length, size - length, "%s%s", i == 0 ? "" : " ",
                                   all->items[i].id);
    }
    return buffer;
}

/* --- rows --- */

static bool is_kebab(const char *id)
{
    return id[0] >= '0' && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(id) &&
           strstr(id, "--") == NULL;
}

static bool is_kind_to_shells(const char *command)
{
    return strpbrk(command, "`$;|&<>*\n\t\\'") == NULL && command[0] != '\0';
}

static void check_row(const plim_fix *fix)
{
    T_CASE("%s", fix->id);
    T_TRUE(is_kebab(fix->id));
    T_TRUE(fix->source[0] != '\0');
    for (size_t i = 0; i < fix->commands.count; i++) {
        T_TRUE(is_kind_to_shells(
            plim_fix_line(&plim_fixes, &plim_fixes.wordings[fix->commands.first + i], 0)));
    }
}

static void each_row_is_whole(void)
{
    for (size_t i = 0; i < plim_fixes.count; i++) {
        check_row(&plim_fixes.fixes[i]);
    }
    T_TRUE(plim_fixes.count > 190);
}

/* --- all cases --- */

#define OF(family) PLIM_FAMILY_BIT(PLIM_FAMILY_##family)
#define TRAINERS   (OF(TRAINER) | OF(UNSLOTH) | OF(DEEPSPEED) | OF(MEGATRON) | OF(VERL))
#define CUDA_TORCH (OF(PYTORCH) | OF(PYTORCH_ROCM) | OF(PYTORCH_ASYNC) | TRAINERS)
#define IMAGES     (OF(COMFYUI) | OF(WEBUI) | OF(DIFFUSERS))
#define TORCH      (CUDA_TORCH | OF(PYTORCH_MPS) | OF(PYTORCH_NPU) | OF(PYTORCH_XPU))

/* Words of one framework, and the families to which they may be said. */
static const struct {
    const char *words;
    uint64_t families;
} territories[] = {
    { "PYTORCH_CUDA_ALLOC_CONF", OF(PYTORCH) | OF(PYTORCH_ASYNC) | TRAINERS | OF(WEBUI) |
                                     OF(DIFFUSERS) | OF(WHISPER) | OF(EXLLAMA) | OF(VLLM) |
                                     OF(SGLANG) },
    { "PYTORCH_HIP_ALLOC_CONF", OF(PYTORCH_ROCM) },
    { "PYTORCH_NPU_ALLOC_CONF", OF(PYTORCH_NPU) },
    { "PYTORCH_MPS", OF(PYTORCH_MPS) },
    { "torch.cuda.", CUDA_TORCH | IMAGES | OF(WHISPER) | OF(VLLM) | OF(SGLANG) },
    { "torch.load", TORCH | OF(SPAWN) },
    { "TrainingArguments", OF(TRAINER) | OF(UNSLOTH) },
    { "tf.", OF(TENSORFLOW) },
    { "jax.", OF(JAX) | OF(TPU) },
    { "paddle.", OF(PADDLE) },
    { "FLAGS_", OF(PADDLE) },
    { "cupy.", OF(CUPY) },
    { "rmm.", OF(RMM) },
    { "OLLAMA_", OF(OLLAMA) },
    { "--gpu-memory-utilization", OF(VLLM) },
    { "--mem-fraction-static", OF(SGLANG) },
    { "-ngl", OF(LLAMA_CPP) },
    { "main.py --", OF(COMFYUI) },
    { "COMMANDLINE_ARGS", OF(WEBUI) },
    { "pipe.", OF(DIFFUSERS) },
    { "trtllm-serve", OF(TENSORRT_LLM) },
    { "lmdeploy", OF(LMDEPLOY) },
    { "actor_rollout_ref", OF(VERL) },
    { "sbatch", OF(SLURM) },
    { "sacct", OF(SLURM) },
    { "kubectl", OF(KUBERNETES) },
    { "docker run --memory", OF(DOCKER) },
    { "ray ", OF(RAY) },
    { "nvidia-smi", ~(OF(PYTORCH_ROCM) | OF(HIP) | OF(TPU) | OF(PYTORCH_MPS)) },
    { "rocm-smi", OF(PYTORCH_ROCM) | OF(HIP) },
};

static void check_territory(const plim_advice *advice, plim_oom_family family)
{
    for (size_t i = 0; advice->command != NULL && i < T_COUNT(territories); i++) {
        if (strstr(advice->command, territories[i].words) != NULL) {
            T_TRUE((territories[i].families & PLIM_FAMILY_BIT(family)) != 0);
        }
    }
}

static void check_advice(const advised *all, const plim_failed_request *oom)
{
    T_TRUE(all->count >= 1);
    T_TRUE(all->count <= PLIM_ADVICE_MAX);
    for (size_t i = 0; i < all->count; i++) {
        const plim_advice *const advice = &all->items[i];
        T_TRUE(find(all, advice->id) == advice); /* nothing twice */
        T_TRUE(strlen(advice->text) <= 330);
        T_EQ_U64(advice->text[strlen(advice->text) - 1], '.');
        T_NULL(strstr(advice->text, "18446744073709551615"));
        T_NULL(strstr(advice->text, "16.0 EiB"));
        T_TRUE(advice->command == NULL || is_kind_to_shells(advice->command));
        T_TRUE(advice->command == NULL || strstr(advice->command, "18446744073709551615") == NULL);
        T_NOT_NULL(advice->source);
        check_territory(advice, oom->family);
    }
}

/* Calls `check` for each verdict, topic and family. */
static void for_each_combination(uint32_t in_force, bool with_figures)
{
    plim_process_figure processes[5];
    for (int verdict = 0; verdict < PLIM_VERDICT_JUDGED_COUNT; verdict++) {
        for (int topic = 0; topic < PLIM_TOPIC_COUNT; topic++) {
            for (int family = 0; family < PLIM_FAMILY_COUNT; family++) {
                T_CASE("verdict %d topic %d family %d in force %x", verdict, topic, family,
                       in_force);
                plim_failed_request oom = bare_case((plim_oom_family)family, (plim_oom_topic)topic);
                plim_judgement judgement =
                    bare_judgement((plim_verdict)verdict, PLIM_REASON_NO_FIGURES);
                if (with_figures) {
                    scramble(&oom, &judgement, processes, T_COUNT(processes));
                }
                oom.in_force = in_force;
                t_mem heap;
                advised all = advise(&heap, &oom, &judgement);
                check_advice(&all, &oom);
                done(&all, &heap);
            }
        }
    }
}

static void every_case_has_its_advice(void)
{
    for_each_combination(0, false);
}

static void every_case_with_figures_has_its_advice(void)
{
    for_each_combination(0, true);
    for_each_combination(UINT32_MAX, true);
}

static void every_case_has_its_advice_whatever_is_in_force(void)
{
    for_each_combination(UINT32_MAX, false);
    for (int what = 0; what < PLIM_IN_FORCE_COUNT; what++) {
        for_each_combination(PLIM_IN_FORCE_BIT(what), false);
    }
}

/* --- no row is dead --- */

typedef struct row_set {
    const char *ids[ROWS_MAX];
    size_t count;
} row_set;

static void cross_off(row_set *rows, const advised *all)
{
    for (size_t i = 0; i < all->count; i++) {
        size_t at = 0;
        while (at < rows->count && strcmp(rows->ids[at], all->items[i].id) != 0) {
            at++;
        }
        if (at < rows->count) {
            rows->ids[at] = rows->ids[--rows->count];
        }
    }
}

static void advise_at_random(row_set *rows)
{
    plim_process_figure processes[5];
    plim_failed_request oom = bare_case((plim_oom_family)t_random_between(0, PLIM_FAMILY_COUNT - 1),
                                        (plim_oom_topic)t_random_between(0, PLIM_TOPIC_COUNT - 1));
    plim_judgement judgement = bare_judgement(
        (plim_verdict)t_random_between(0, PLIM_VERDICT_JUDGED_COUNT - 1), PLIM_REASON_NO_FIGURES);
    scramble(&oom, &judgement, processes, T_COUNT(processes));
    oom.in_force = (uint32_t)t_random();
    oom.in_force &= (uint32_t)t_random(); /* a quarter of all */
    t_mem heap;
    advised all = advise(&heap, &oom, &judgement);
    check_advice(&all, &oom);
    cross_off(rows, &all);
    done(&all, &heap);
    const plim_finding leak = { .id = PLIM_FINDING_LEAK };
    plim_arena_init(&all.arena, heap_of(&heap));
    T_EQ_U64(plim_advise_finding(&leak, &oom, &all.arena, &all.items, &all.count, NULL), PLIM_OK);
    cross_off(rows, &all);
    done(&all, &heap);
}

static void each_row_is_advised_some_day(void)
{
    row_set rows = { .count = 0 };
    for (size_t i = 0; i < plim_fixes.count; i++) {
        T_TRUE(rows.count < ROWS_MAX);
        rows.ids[rows.count++] = plim_fixes.fixes[i].id;
    }
    for (int i = 0; i < 1000000 && rows.count > 0; i++) {
        advise_at_random(&rows);
    }
    for (size_t i = 0; i < rows.count; i++) {
        print_error("never advised: %s\n", rows.ids[i]);
    }
    T_EQ_U64(rows.count, 0);
}

static void a_leak_has_its_advice_in_every_family(void)
{
    for (int family = 0; family < PLIM_FAMILY_COUNT; family++) {
        for (uint32_t snapshot = 0; snapshot < 2; snapshot++) {
            T_CASE("family %d", family);
            const plim_finding leak = { .id = PLIM_FINDING_LEAK };
            t_mem heap;
            advised all = { .count = 0 };
            plim_arena_init(&all.arena, heap_of(&heap));
            plim_failed_request program =
                plim_failed_request_of(PLIM_TOPIC_ALLOCATION, (plim_oom_family)family);
            program.in_force = snapshot * IN(SNAPSHOT);
            program.leaks = true;
            T_EQ_U64(plim_advise_finding(&leak, &program, &all.arena, &all.items, &all.count, NULL),
                     PLIM_OK);
            T_TRUE(all.count >= 1 && all.count <= PLIM_ADVICE_MAX);
            for (size_t i = 0; i < all.count; i++) {
                T_TRUE(find(&all, all.items[i].id) == &all.items[i]);
                T_TRUE(all.items[i].command == NULL || is_kind_to_shells(all.items[i].command));
            }
            done(&all, &heap);
        }
    }
}

/* --- nothing that is in force --- */

static void what_is_in_force_is_not_advised(void)
{
    static const struct {
        plim_in_force what;
        plim_oom_family family;
        plim_verdict verdict;
        const char *id;
    } cases[] = {
        { PLIM_IN_FORCE_EXPANDABLE_SEGMENTS, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_FRAGMENTED,
          "expandable-segments" },
        { PLIM_IN_FORCE_EXPANDABLE_SEGMENTS, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_FRAGMENTED,
          "max-split-size" },
        { PLIM_IN_FORCE_MAX_SPLIT_SIZE, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_FRAGMENTED,
          "max-split-size" },
        { PLIM_IN_FORCE_GC_THRESHOLD, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_FRAGMENTED,
          "gc-threshold" },
        { PLIM_IN_FORCE_BATCH_OF_ONE, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED,
          "smaller-batch" },
        { PLIM_IN_FORCE_ACCUMULATION, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED,
          "smaller-batch" },
        { PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED,
          "mixed-precision" },
        { PLIM_IN_FORCE_CHECKPOINTING, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED,
          "gradient-checkpointing" },
        { PLIM_IN_FORCE_8BIT_OPTIMIZER, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED,
          "8bit-optimizer" },
        { PLIM_IN_FORCE_LORA, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED, "lora" },
        { PLIM_IN_FORCE_LORA, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED, "8bit-optimizer" },
        { PLIM_IN_FORCE_SNAPSHOT, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED, "record-snapshot" },
        { PLIM_IN_FORCE_FLASH_ATTENTION, PLIM_FAMILY_PYTORCH, PLIM_VERDICT_OVERSIZED,
          "fused-attention" },
        { PLIM_IN_FORCE_NO_PREALLOCATION, PLIM_FAMILY_JAX, PLIM_VERDICT_OTHER_PROCESS,
          "jax-no-preallocation" },
        { PLIM_IN_FORCE_PLATFORM_ALLOCATOR, PLIM_FAMILY_JAX, PLIM_VERDICT_OTHER_PROCESS,
          "jax-no-preallocation" },
        { PLIM_IN_FORCE_NO_PREALLOCATION, PLIM_FAMILY_TENSORFLOW, PLIM_VERDICT_UNKNOWN,
          "tf-allow-growth" },
        { PLIM_IN_FORCE_CUDA_MALLOC_ASYNC, PLIM_FAMILY_TENSORFLOW, PLIM_VERDICT_FRAGMENTED,
          "tf-async-allocator" },
        { PLIM_IN_FORCE_ENFORCE_EAGER, PLIM_FAMILY_VLLM, PLIM_VERDICT_EXHAUSTED,
          "vllm-enforce-eager" },
        { PLIM_IN_FORCE_QUANTIZED, PLIM_FAMILY_TGI, PLIM_VERDICT_EXHAUSTED, "tgi-quantize" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].id);
        plim_failed_request oom = usual_case(cases[i].family);
        const plim_judgement judgement = usual_judgement(cases[i].verdict, PLIM_REASON_FULL);
        t_mem heap;
        advised all = advise(&heap, &oom, &judgement);
        T_NOT_NULL(find(&all, cases[i].id));
        done(&all, &heap);
        oom.in_force = PLIM_IN_FORCE_BIT(cases[i].what);
        all = advise(&heap, &oom, &judgement);
        T_NULL(find(&all, cases[i].id));
        done(&all, &heap);
    }
}

/* --- the order --- */

static void what_is_cheap_comes_first(void)
{
    static const struct {
        plim_oom_family family;
        plim_verdict verdict;
        plim_reason reason;
        uint32_t in_force;
        const char *ids;
    } cases[] = {
        { PLIM_FAMILY_PYTORCH, PLIM_VERDICT_FRAGMENTED, PLIM_REASON_GAP, 0,
          "expandable-segments max-split-size gc-threshold empty-cache steady-shapes "
          "record-snapshot" },
        { PLIM_FAMILY_PYTORCH, PLIM_VERDICT_FRAGMENTED, PLIM_REASON_GAP, IN(EXPANDABLE_SEGMENTS),
          "empty-cache steady-shapes cuda-malloc-async record-snapshot" },
        { PLIM_FAMILY_PYTORCH_ASYNC, PLIM_VERDICT_FRAGMENTED, PLIM_REASON_GAP, 0,
          "native-allocator empty-cache steady-shapes" },
        { PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED, PLIM_REASON_FULL, 0,
          "smaller-batch mixed-precision gradient-checkpointing 8bit-optimizer lora "
          "record-snapshot" },
        { PLIM_FAMILY_PYTORCH, PLIM_VERDICT_EXHAUSTED, PLIM_REASON_FULL,
          IN(BATCH_OF_ONE) | IN(CHECKPOINTING) | IN(MIXED_PRECISION) | IN(LORA) | IN(QUANTIZED) |
              IN(SNAPSHOT),
          "shorter-sequences shard offload larger-device inspect-snapshot" },
        { PLIM_FAMILY_PYTORCH, PLIM_VERDICT_OTHER_PROCESS, PLIM_REASON_ELSEWHERE, 0,
          "see-processes another-device start-order" },
        { PLIM_FAMILY_PYTORCH, PLIM_VERDICT_OVERSIZED, PLIM_REASON_OVER_DEVICE, 0,
          "check-shape fused-attention chunk-operation" },
        { PLIM_FAMILY_PYTORCH, PLIM_VERDICT_UNKNOWN, PLIM_REASON_FREE_ENOUGH, 0,
          "ask-the-driver see-processes memory-summary try-smaller record-snapshot" },
        { PLIM_FAMILY_PYTORCH_MPS, PLIM_VERDICT_CAPPED, PLIM_REASON_OVER_LIMIT, 0,
          "smaller-batch mixed-precision gradient-checkpointing lora inference-mode "
          "mps-watermark" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("case %zu", i);
        plim_failed_request oom = usual_case(cases[i].family);
        oom.figures[PLIM_FIGURE_REQUESTED].bytes = 3 * GIB;
        oom.in_force = cases[i].in_force;
        const plim_judgement judgement = usual_judgement(cases[i].verdict, cases[i].reason);
        t_mem heap;
        advised all = advise(&heap, &oom, &judgement);
        char buffer[1000];
        T_EQ_STR(ids(&all, buffer, sizeof buffer), cases[i].ids);
        done(&all, &heap);
    }
}

/* --- values from the figures --- */

static void a_setting_is_called_what_the_device_calls_it(void)
{
    static const struct {
        plim_oom_family family;
        const char *command;
    } cases[] = {
        { PLIM_FAMILY_PYTORCH, "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" },
        { PLIM_FAMILY_PYTORCH_ROCM, "export PYTORCH_HIP_ALLOC_CONF=expandable_segments:True" },
        { PLIM_FAMILY_PYTORCH_NPU, "export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        const plim_failed_request oom = usual_case(cases[i].family);
        const plim_judgement judgement = usual_judgement(PLIM_VERDICT_FRAGMENTED, PLIM_REASON_GAP);
        t_mem heap;
        advised all = advise(&heap, &oom, &judgement);
        T_EQ_STR(all.items[0].command, cases[i].command);
        done(&all, &heap);
    }
}

static void the_split_limit_is_at_most_the_request(void)
{
    static const struct {
        uint64_t requested_bytes;
        const char *command;
    } cases[] = {
        { PLIM_BYTES_UNKNOWN, "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128" },
        { 2 * MIB, "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:32" },
        { 64 * MIB - 1, "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:32" },
        { 64 * MIB, "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64" },
        { 300 * MIB, "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:256" },
        { 30 * GIB, "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512" },
        { UINT64_MAX - 1, "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
        oom.figures[PLIM_FIGURE_REQUESTED].bytes = cases[i].requested_bytes;
        const plim_judgement judgement = usual_judgement(PLIM_VERDICT_FRAGMENTED, PLIM_REASON_GAP);
        t_mem heap;
        advised all = advise(&heap, &oom, &judgement);
        T_NOT_NULL(find(&all, "max-split-size"));
        T_EQ_STR(find(&all, "max-split-size")->command, cases[i].command);
        done(&all, &heap);
    }
}

static void the_fraction_would_have_let_it_pass(void)
{
    static const struct {
        uint64_t held_bytes;
        const char *command; /* NULL: no fraction would have */
    } cases[] = {
        { 12 * GIB, "torch.cuda.set_per_process_memory_fraction(0.52)" },
        { 23 * GIB, "torch.cuda.set_per_process_memory_fraction(0.97)" },
        { 24 * GIB - 20 * MIB, "torch.cuda.set_per_process_memory_fraction(1.00)" },
        { 24 * GIB, NULL },
        { PLIM_BYTES_UNKNOWN, "torch.cuda.set_per_process_memory_fraction(1.00)" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("case %zu", i);
        plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
        oom.figures[PLIM_FIGURE_LIMIT].bytes = 12 * GIB;
        plim_judgement judgement = usual_judgement(PLIM_VERDICT_CAPPED, PLIM_REASON_OVER_LIMIT);
        judgement.held_bytes = cases[i].held_bytes;
        t_mem heap;
        advised all = advise(&heap, &oom, &judgement);
        const plim_advice *const advice = find(&all, "raise-memory-fraction");
        T_EQ_U64(advice != NULL, cases[i].command != NULL);
        if (advice != NULL) {
            T_EQ_STR(advice->command, cases[i].command);
        }
        done(&all, &heap);
    }
}

static void a_server_is_given_what_is_free(void)
{
    plim_failed_request oom = bare_case(PLIM_FAMILY_VLLM, PLIM_TOPIC_STARTUP);
    oom.figures[PLIM_FIGURE_TOTAL].bytes = 80 * GIB;
    oom.figures[PLIM_FIGURE_FREE].bytes = 67 * GIB; /* 83.75 % */
    const plim_judgement judgement = bare_judgement(PLIM_VERDICT_CAPPED, PLIM_REASON_NEAR_MISS);
    t_mem heap;
    advised all = advise(&heap, &oom, &judgement);
    T_EQ_STR(all.items[0].id, "vllm-fit-free-memory");
    T_EQ_STR(all.items[0].command, "--gpu-memory-utilization 0.83");
    T_EQ_STR(all.items[0].text,
             "Ask for no more than what is free, 67.0 GiB; the KV cache and with it the number "
             "of requests at a time shrink.");
    done(&all, &heap);

    oom.figures[PLIM_FIGURE_FREE].bytes = GIB; /* no model fits that */
    all = advise(&heap, &oom, &judgement);
    T_NULL(find(&all, "vllm-fit-free-memory"));
    done(&all, &heap);
}

static void a_context_is_cut_to_what_the_cache_holds(void)
{
    plim_failed_request oom = bare_case(PLIM_FAMILY_VLLM, PLIM_TOPIC_KV_CACHE);
    oom.figures[PLIM_FIGURE_REQUESTED].bytes = 16 * GIB;
    oom.figures[PLIM_FIGURE_LIMIT].bytes = 6 * GIB;
    const plim_judgement judgement = bare_judgement(PLIM_VERDICT_CAPPED, PLIM_REASON_TOPIC);
    t_mem heap;
    advised all = advise(&heap, &oom, &judgement);
    T_EQ_STR(all.items[0].id, "vllm-shorter-context");
    T_NOT_NULL(strstr(all.items[0].text, "37 % of the requested length"));
    done(&all, &heap);
}

static void pools_are_given_what_was_needed(void)
{
    static const struct {
        plim_oom_family family;
        const char *command;
    } cases[] = {
        { PLIM_FAMILY_CUPY,
          "cupy.get_default_memory_pool().set_limit(size=23643291648)" }, /* 22 GiB + 20 MiB */
        { PLIM_FAMILY_RMM, "rmm.reinitialize(pool_allocator=True, maximum_pool_size=23643291648)" },
        { PLIM_FAMILY_TENSORFLOW, "tf.config.set_logical_device_configuration(gpu, "
                                  "[tf.config.LogicalDeviceConfiguration(memory_limit=22548)])" },
        { PLIM_FAMILY_ONNXRUNTIME, "cuda_options[\"gpu_mem_limit\"] = 23643291648" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("case %zu", i);
        const plim_failed_request oom = usual_case(cases[i].family);
        const plim_judgement judgement =
            usual_judgement(PLIM_VERDICT_CAPPED, PLIM_REASON_OVER_LIMIT);
        t_mem heap;
        advised all = advise(&heap, &oom, &judgement);
        bool found = false;
        for (size_t k = 0; k < all.count; k++) {
            found = found || (all.items[k].command != NULL &&
                              strcmp(all.items[k].command, cases[i].command) == 0);
        }
        T_TRUE(found);
        done(&all, &heap);
    }
}

static void the_largest_other_process_is_named(void)
{
    const plim_process_figure processes[] = {
        { .pid = 1234, .bytes = 22 * GIB, .is_this = true },
        { .pid = 77, .bytes = 300 * MIB },
        { .pid = 4711, .bytes = 5 * GIB },
        { .pid = 9, .bytes = PLIM_BYTES_UNKNOWN },
    };
    plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
    oom.processes = processes;
    oom.process_count = 3;
    plim_judgement judgement = usual_judgement(PLIM_VERDICT_OTHER_PROCESS, PLIM_REASON_ELSEWHERE);
    t_mem heap;
    advised all = advise(&heap, &oom, &judgement);
    T_NOT_NULL(find(&all, "stop-process"));
    T_EQ_STR(find(&all, "stop-process")->command, "kill 4711");
    T_NOT_NULL(strstr(find(&all, "stop-process")->text, "process 4711, which holds 5.00 GiB"));
    done(&all, &heap);

    /* More than a fifth of the device: that comes first, whatever the verdict. */
    judgement.verdict = PLIM_VERDICT_EXHAUSTED;
    all = advise(&heap, &oom, &judgement);
    T_EQ_STR(all.items[0].id, "stop-process-that-suffices");
    T_EQ_STR(all.items[0].command, "kill 4711");
    T_EQ_U64(all.count, PLIM_ADVICE_MAX);
    T_EQ_STR(all.items[PLIM_ADVICE_MAX - 1].id, "record-snapshot");
    done(&all, &heap);

    /* Told by its place in the list. */
    judgement.verdict = PLIM_VERDICT_OTHER_PROCESS;
    judgement.this_process = 2;
    all = advise(&heap, &oom, &judgement);
    T_EQ_STR(find(&all, "stop-process")->command, "kill 77");
    done(&all, &heap);
}

static void ranks_on_one_device_are_told_apart(void)
{
    const plim_process_figure processes[] = {
        { .pid = 1, .bytes = 22 * GIB, .is_this = true },
        { .pid = 2, .bytes = 500 * MIB },
        { .pid = 3, .bytes = 500 * MIB },
    };
    plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
    oom.processes = processes;
    oom.process_count = T_COUNT(processes);
    const plim_judgement judgement = usual_judgement(PLIM_VERDICT_EXHAUSTED, PLIM_REASON_FULL);
    t_mem heap;
    advised all = advise(&heap, &oom, &judgement);
    T_EQ_STR(all.items[0].id, "pin-rank-to-device");
    done(&all, &heap);
}

static void another_library_in_the_process_comes_first(void)
{
    const plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
    plim_judgement judgement = usual_judgement(PLIM_VERDICT_OTHER_PROCESS, PLIM_REASON_ELSEWHERE);
    judgement.held_bytes = GIB;
    judgement.outside_bytes = 18 * GIB;
    t_mem heap;
    advised all = advise(&heap, &oom, &judgement);
    T_EQ_STR(all.items[0].id, "other-library-in-process");
    T_NOT_NULL(strstr(all.items[0].text, "18.0 GiB of this very process"));
    done(&all, &heap);
}

static void an_oversized_request_is_told_with_its_size(void)
{
    plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
    oom.figures[PLIM_FIGURE_REQUESTED].bytes = 96 * GIB;
    const plim_judgement judgement =
        usual_judgement(PLIM_VERDICT_OVERSIZED, PLIM_REASON_OVER_DEVICE);
    t_mem heap;
    advised all = advise(&heap, &oom, &judgement);
    T_NOT_NULL(find(&all, "check-shape"));
    T_NOT_NULL(strstr(find(&all, "check-shape")->text, "96.0 GiB against 24.0 GiB"));
    done(&all, &heap);
}

static void private_pools_that_would_do_come_first(void)
{
    plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
    oom.figures[PLIM_FIGURE_PRIVATE_POOLS].bytes = GIB;
    const plim_judgement judgement = usual_judgement(PLIM_VERDICT_EXHAUSTED, PLIM_REASON_FULL);
    t_mem heap;
    advised all = advise(&heap, &oom, &judgement);
    T_EQ_STR(all.items[0].id, "private-pools");
    T_NOT_NULL(strstr(all.items[0].text, "1.00 GiB lie in private pools"));
    done(&all, &heap);
}

static void growth_before_the_failure_comes_first(void)
{
    plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
    oom.leaks = true;
    const plim_judgement judgement = usual_judgement(PLIM_VERDICT_EXHAUSTED, PLIM_REASON_FULL);
    t_mem heap;
    advised all = advise(&heap, &oom, &judgement);
    T_EQ_STR(all.items[0].id, "keep-loss-value");
    T_EQ_STR(all.items[1].id, "detach-outputs");
    T_EQ_STR(all.items[2].id, "smaller-batch");
    T_EQ_STR(all.items[5].id, "record-snapshot");
    done(&all, &heap);

    /* Not where growth cannot be the answer. */
    const plim_judgement not_oom = bare_judgement(PLIM_VERDICT_NOT_OOM, PLIM_REASON_TOPIC);
    oom.topic = PLIM_TOPIC_DISK;
    all = advise(&heap, &oom, &not_oom);
    T_EQ_STR(all.items[0].id, "disk-full");
    T_EQ_U64(all.count, 1);
    done(&all, &heap);
}

static void topics_that_are_no_gpu_memory_get_their_own(void)
{
    static const struct {
        plim_verdict verdict;
        plim_oom_topic topic;
        plim_oom_family family;
        const char *id;
        const char *command;
    } cases[] = {
        { PLIM_VERDICT_HOST, PLIM_TOPIC_HOST_SHM, PLIM_FAMILY_PYTORCH, "larger-shm",
          "docker run --shm-size=8g" },
        { PLIM_VERDICT_HOST, PLIM_TOPIC_HOST_SIGNAL, PLIM_FAMILY_HOST, "confirm-killer",
          "journalctl -k --grep \"Out of memory\"" },
        { PLIM_VERDICT_HOST, PLIM_TOPIC_HOST_KILLED, PLIM_FAMILY_KUBERNETES,
          "kubernetes-raise-limit",
          "kubectl set resources deployment/my-app --limits=memory=64Gi "
          "--requests=memory=64Gi" },
        { PLIM_VERDICT_HOST, PLIM_TOPIC_HOST_EVICTED, PLIM_FAMILY_KUBERNETES,
          "kubernetes-raise-request",
          "kubectl set resources deployment/my-app --requests=memory=64Gi "
          "--limits=memory=64Gi" },
        { PLIM_VERDICT_HOST, PLIM_TOPIC_HOST_KILLED, PLIM_FAMILY_SLURM, "slurm-raise-memory",
          "sbatch --mem=64G job.sh" },
        { PLIM_VERDICT_HOST, PLIM_TOPIC_HOST_KILLED, PLIM_FAMILY_RAY, "ray-reserve-memory",
          "task.options(memory=17179869184).remote()" },
        { PLIM_VERDICT_HOST, PLIM_TOPIC_HOST_COMMIT, PLIM_FAMILY_WINDOWS, "windows-page-file",
          "SystemPropertiesPerformance.exe" },
        { PLIM_VERDICT_EXHAUSTED, PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_COMFYUI,
          "comfyui-reserve-vram", "python main.py --reserve-vram 2" },
        { PLIM_VERDICT_EXHAUSTED, PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_TENSORRT_LLM,
          "trtllm-smaller-cache", "trtllm-serve model --kv_cache_free_gpu_memory_fraction 0.7" },
        { PLIM_VERDICT_EXHAUSTED, PLIM_TOPIC_NO_ENGINE, PLIM_FAMILY_PYTORCH, "smaller-batch",
          "loader = DataLoader(dataset, batch_size=batch_size // 2)" },
        { PLIM_VERDICT_HOST, PLIM_TOPIC_HOST_MAPS, PLIM_FAMILY_HOST, "more-mappings",
          "sudo sysctl -w vm.max_map_count=1048576" },
        { PLIM_VERDICT_HOST, PLIM_TOPIC_HOST_HEAP, PLIM_FAMILY_HOST, "larger-node-heap",
          "export NODE_OPTIONS=--max-old-space-size=8192" },
        { PLIM_VERDICT_NOT_OOM, PLIM_TOPIC_DISK, PLIM_FAMILY_PYTORCH, "disk-full", "df -h" },
        { PLIM_VERDICT_NOT_OOM, PLIM_TOPIC_ERROR, PLIM_FAMILY_PYTORCH, "launch-blocking",
          "export CUDA_LAUNCH_BLOCKING=1" },
        { PLIM_VERDICT_NOT_OOM, PLIM_TOPIC_ERROR, PLIM_FAMILY_HIP, "serialize-kernels",
          "export AMD_SERIALIZE_KERNEL=3" },
        { PLIM_VERDICT_NOT_OOM, PLIM_TOPIC_KERNEL, PLIM_FAMILY_TRITON, "smaller-kernel-blocks",
          "triton.Config({\"BLOCK_M\": 64, \"BLOCK_N\": 64}, num_stages=1, num_warps=4)" },
        { PLIM_VERDICT_CAPPED, PLIM_TOPIC_KV_CACHE, PLIM_FAMILY_SGLANG,
          "sglang-raise-static-fraction", "--mem-fraction-static 0.90" },
        { PLIM_VERDICT_EXHAUSTED, PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_SGLANG,
          "sglang-lower-static-fraction", "--mem-fraction-static 0.70" },
        { PLIM_VERDICT_UNKNOWN, PLIM_TOPIC_WEIGHTS, PLIM_FAMILY_LLAMA_CPP, "llama-fewer-layers",
          "-ngl 20" },
        { PLIM_VERDICT_UNKNOWN, PLIM_TOPIC_COMPUTE, PLIM_FAMILY_LLAMA_CPP, "llama-shorter-context",
          "-c 4096" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].id);
        const plim_failed_request oom = bare_case(cases[i].family, cases[i].topic);
        const plim_judgement judgement = bare_judgement(cases[i].verdict, PLIM_REASON_TOPIC);
        t_mem heap;
        advised all = advise(&heap, &oom, &judgement);
        T_EQ_STR(all.items[0].id, cases[i].id);
        T_EQ_STR(all.items[0].command, cases[i].command);
        done(&all, &heap);
    }
}

static void a_leak_of_pytorch_starts_with_what_is_kept(void)
{
    t_mem heap;
    advised all = { .count = 0 };
    plim_arena_init(&all.arena, heap_of(&heap));
    const plim_finding leak = { .id = PLIM_FINDING_LEAK };
    plim_failed_request program =
        plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH);
    program.leaks = true;
    T_EQ_U64(plim_advise_finding(&leak, &program, &all.arena, &all.items, &all.count, NULL),
             PLIM_OK);
    char buffer[1000];
    T_EQ_STR(ids(&all, buffer, sizeof buffer),
             "keep-loss-value detach-outputs evaluate-without-graph drop-graph collect-cycles "
             "compare-snapshots");
    T_EQ_STR(all.items[0].command, "total += loss.item()");
    done(&all, &heap);
}

/* --- memory --- */

static bool advise_with(const plim_mem *mem, void *ctx)
{
    const plim_failed_request *const oom = ctx;
    const plim_judgement judgement = usual_judgement(PLIM_VERDICT_CAPPED, PLIM_REASON_OVER_LIMIT);
    plim_arena arena;
    plim_arena_init(&arena, mem);
    const plim_advice *items = NULL;
    size_t count = 99;
    plim_error err = { .status = PLIM_OK };
    const plim_status status = plim_advise(oom, &judgement, &arena, &items, &count, &err);
    if (status != PLIM_OK) {
        T_EQ_U64(status, PLIM_OUT_OF_HOST_MEMORY);
        T_EQ_U64(err.status, PLIM_OUT_OF_HOST_MEMORY);
        T_NULL(items);
        T_EQ_U64(count, 99);
    }
    plim_arena_deinit(&arena);
    return status == PLIM_OK;
}

static void no_memory_is_an_error(void)
{
    plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
    oom.figures[PLIM_FIGURE_LIMIT].bytes = 22 * GIB;
    t_fail_each_allocation(advise_with, &oom);
}

/* Of the program that failed more is known than its message says. */
static void what_does_not_fit_the_program_is_not_advised(void)
{
    t_mem heap;
    plim_failed_request oom = usual_case(PLIM_FAMILY_PYTORCH);
    plim_judgement judgement = usual_judgement(PLIM_VERDICT_FRAGMENTED, PLIM_REASON_GAP);
    oom.need_bytes = 20 * GIB;
    advised all = advise(&heap, &oom, &judgement);
    T_NOT_NULL(find(&all, "expandable-segments"));
    done(&all, &heap);
    oom.need_bytes = 36 * GIB; /* live data alone do not fit: no setting helps */
    all = advise(&heap, &oom, &judgement);
    T_NULL(find(&all, "expandable-segments"));
    T_NULL(find(&all, "max-split-size"));
    done(&all, &heap);
    judgement = usual_judgement(PLIM_VERDICT_EXHAUSTED, PLIM_REASON_FULL);
    oom.need_kept_bytes = 30 * GIB; /* nor does a smaller batch */
    all = advise(&heap, &oom, &judgement);
    T_NULL(find(&all, "smaller-batch"));
    T_NOT_NULL(find(&all, "8bit-optimizer"));
    done(&all, &heap);
    oom.in_force = IN(NO_BACKWARD) | IN(NO_OPTIMIZER);
    oom.need_kept_bytes = GIB;
    all = advise(&heap, &oom, &judgement);
    T_NULL(find(&all, "smaller-batch"));
    T_NULL(find(&all, "gradient-checkpointing"));
    T_NULL(find(&all, "8bit-optimizer"));
    T_NOT_NULL(find(&all, "results-to-host"));
    done(&all, &heap);
}

T_MAIN(T_TEST(what_does_not_fit_the_program_is_not_advised), T_TEST(each_row_is_whole),
       T_TEST(every_case_has_its_advice), T_TEST(every_case_with_figures_has_its_advice),
       T_TEST(every_case_has_its_advice_whatever_is_in_force), T_TEST(each_row_is_advised_some_day),
       T_TEST(a_leak_has_its_advice_in_every_family), T_TEST(what_is_in_force_is_not_advised),
       T_TEST(what_is_cheap_comes_first), T_TEST(a_setting_is_called_what_the_device_calls_it),
       T_TEST(the_split_limit_is_at_most_the_request), T_TEST(the_fraction_would_have_let_it_pass),
       T_TEST(a_server_is_given_what_is_free), T_TEST(a_context_is_cut_to_what_the_cache_holds),
       T_TEST(pools_are_given_what_was_needed), T_TEST(the_largest_other_process_is_named),
       T_TEST(ranks_on_one_device_are_told_apart),
       T_TEST(another_library_in_the_process_comes_first),
       T_TEST(an_oversized_request_is_told_with_its_size),
       T_TEST(private_pools_that_would_do_come_first),
       T_TEST(growth_before_the_failure_comes_first),
       T_TEST(topics_that_are_no_gpu_memory_get_their_own),
       T_TEST(a_leak_of_pytorch_starts_with_what_is_kept), T_TEST(no_memory_is_an_error))
