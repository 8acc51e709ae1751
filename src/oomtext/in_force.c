/*
 * in_force.c - the table of marks: how arguments, configurations and programs name what they use.
 */
#include "oomtext/in_force.h"

#include "base/ascii.h"

#include <string.h>

#define HINT_BYTES 64u /* before a mark, where a hint would say "try setting" */

static const plim_in_force_mark marks[] = {
    { "expandablesegmentstrue", PLIM_IN_FORCE_EXPANDABLE_SEGMENTS, PLIM_FAMILY_ANY, NULL },
    { "maxsplitsizemb", PLIM_IN_FORCE_MAX_SPLIT_SIZE, PLIM_FAMILY_ANY, ":" },
    { "garbagecollectionthreshold", PLIM_IN_FORCE_GC_THRESHOLD, PLIM_FAMILY_ANY, ":" },
    { "backendcudamallocasync", PLIM_IN_FORCE_CUDA_MALLOC_ASYNC, PLIM_FAMILY_ANY, NULL },
    { "tfgpuallocatorcudamallocasync", PLIM_IN_FORCE_CUDA_MALLOC_ASYNC, PLIM_FAMILY_ANY, NULL },
    { "gradientcheckpointingtrue", PLIM_IN_FORCE_CHECKPOINTING, PLIM_FAMILY_ANY, NULL },
    { "activationcheckpointingtrue", PLIM_IN_FORCE_CHECKPOINTING, PLIM_FAMILY_ANY, NULL },
    { "gradientcheckpointingenable", PLIM_IN_FORCE_CHECKPOINTING, PLIM_FAMILY_ANY, NULL },
    { "recomputeactivationstrue", PLIM_IN_FORCE_CHECKPOINTING, PLIM_FAMILY_ANY, NULL },
    { "bf16true", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY, NULL },
    { "fp16true", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY, NULL },
    { "mixedprecisionbf16", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY, NULL },
    { "mixedprecisionfp16", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY, NULL },
    { "precisionbf16", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY, NULL },
    { "precision16mixed", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY, NULL },
    { "usingbfloat16automaticmixedprecision", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY,
      NULL },
    { "using16bitautomaticmixedprecision", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY, NULL },
    { "dtypetorchbfloat16", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY, NULL },
    { "dtypetorchfloat16", PLIM_IN_FORCE_MIXED_PRECISION, PLIM_FAMILY_ANY, NULL },
    { "batchsize1", PLIM_IN_FORCE_BATCH_OF_ONE, PLIM_FAMILY_ANY, "" },
    { "loadin4bittrue", PLIM_IN_FORCE_QUANTIZED, PLIM_FAMILY_ANY, NULL },
    { "loadin8bittrue", PLIM_IN_FORCE_QUANTIZED, PLIM_FAMILY_ANY, NULL },
    { "adamw8bit", PLIM_IN_FORCE_8BIT_OPTIMIZER, PLIM_FAMILY_ANY, NULL },
    { "adam8bit", PLIM_IN_FORCE_8BIT_OPTIMIZER, PLIM_FAMILY_ANY, NULL },
    { "pagedadamw", PLIM_IN_FORCE_8BIT_OPTIMIZER, PLIM_FAMILY_ANY, NULL },
    { "loraconfig", PLIM_IN_FORCE_LORA, PLIM_FAMILY_ANY, NULL },
    { "usepefttrue", PLIM_IN_FORCE_LORA, PLIM_FAMILY_ANY, NULL },
    { "offloadoptimizer", PLIM_IN_FORCE_OFFLOAD, PLIM_FAMILY_ANY, NULL },
    { "cpuoffloadtrue", PLIM_IN_FORCE_OFFLOAD, PLIM_FAMILY_ANY, NULL },
    { "fullyshardeddataparallel", PLIM_IN_FORCE_SHARDED, PLIM_FAMILY_ANY, NULL },
    { "zerostage3", PLIM_IN_FORCE_SHARDED, PLIM_FAMILY_ANY, NULL },
    { "zerooptimizationstage3", PLIM_IN_FORCE_SHARDED, PLIM_FAMILY_ANY, NULL },
    { "xlapythonclientpreallocatefalse", PLIM_IN_FORCE_NO_PREALLOCATION, PLIM_FAMILY_ANY, NULL },
    { "tfforcegpuallowgrowthtrue", PLIM_IN_FORCE_NO_PREALLOCATION, PLIM_FAMILY_ANY, NULL },
    { "setmemorygrowth", PLIM_IN_FORCE_NO_PREALLOCATION, PLIM_FAMILY_ANY, NULL },
    { "xlapythonclientallocatorplatform", PLIM_IN_FORCE_PLATFORM_ALLOCATOR, PLIM_FAMILY_ANY, NULL },
    { "recordmemoryhistory", PLIM_IN_FORCE_SNAPSHOT, PLIM_FAMILY_ANY, NULL },
    { "dumpsnapshot", PLIM_IN_FORCE_SNAPSHOT, PLIM_FAMILY_ANY, NULL },
    { "flashattention2", PLIM_IN_FORCE_FLASH_ATTENTION, PLIM_FAMILY_ANY, NULL },
    { "enforceeagertrue", PLIM_IN_FORCE_ENFORCE_EAGER, PLIM_FAMILY_ANY, NULL },
    /* servers */
    { "enginecore", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_VLLM, NULL },
    { "vllmworker", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_VLLM, NULL },
    { "vllmengine", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_VLLM, NULL },
    { "vllmentrypoints", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_VLLM, NULL },
    { "vllmv1worker", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_VLLM, NULL },
    { "sglangsrt", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_SGLANG, NULL },
    { "sglanglaunchserver", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_SGLANG, NULL },
    { "textgenerationserver", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_TGI, NULL },
    { "textgenerationlauncher", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_TGI, NULL },
    { "textgenerationclient", PLIM_IN_FORCE_COUNT, PLIM_FAMILY_TGI, NULL },
};

const plim_in_force_mark *plim_in_force_marks(size_t *ret_count)
{
    *ret_count = sizeof marks / sizeof marks[0];
    return marks;
}

/* Whether the text before a mark gives advice: "try setting …", "consider …". */
static bool is_hint(const char *text, size_t begin)
{
    static const char *const hints[] = { "trysetting", "consider", "tryusing", "bysetting",
                                         "pleaseset",  "youcan",   "insteadof" };
    char letters[HINT_BYTES];
    size_t count = 0;
    for (size_t i = begin > HINT_BYTES ? begin - HINT_BYTES : 0; i < begin; i++) {
        const char c = plim_lower(text[i]);
        if (plim_is_lower(c)) {
            letters[count++] = c;
        } else if (c == '\n') {
            count = 0;
        }
    }
    for (size_t h = 0; h < sizeof hints / sizeof hints[0]; h++) {
        const size_t length = strlen(hints[h]);
        for (size_t i = 0; i + length <= count; i++) {
            if (memcmp(letters + i, hints[h], length) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool plim_in_force_holds(const plim_in_force_mark *mark, const char *text, size_t bytes,
                         size_t begin, size_t end)
{
    if (is_hint(text, begin)) {
        return false;
    }
    const char next = end < bytes ? text[end] : '\n';
    if (mark->follows == NULL) {
        return true;
    }
    if (mark->follows[0] == '\0') { /* a number that ends here: "batch_size=1", not "16" */
        return !plim_is_digit(next) && next != '.';
    }
    const char digit = end + 1 < bytes ? text[end + 1] : '\n';
    return strchr(mark->follows, next) != NULL && plim_is_digit(digit);
}
