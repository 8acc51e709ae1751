/*
 * oom_text.c - the error text of PyTorch for a request that found no memory, as each release
 * writes it (c10/cuda/CUDACachingAllocator.cpp of each; docs/oom-text.md lists them all).
 *
 * Three shapes: figures in brackets (1.0 - 2.0), sentences (from 2.1), and the two texts of a
 * request that was refused without asking the driver. A release is a row of what it writes; all
 * oddities, double blanks and one misspelling among them, are PyTorch's.
 */
#include "plimsoll/stats.h"

#include "base/assert.h"
#include "base/fixed_text.h"
#include "base/hash.h" /* plim_uint128 */
#include "base/units.h"
#include "plimsoll/allocator.h"

#include <inttypes.h>

/* --- sizes --- */

/*
 * bytes / unit to two decimals, as printf() does for a double, ties to even. In integers because
 * the decimal point is not the locale's business; by way of a double because above 2^53 it shows.
 */
static void put_hundredths(plim_fixed_text *out, uint64_t bytes, uint64_t unit, const char *name)
{
    const plim_uint128 scaled = (plim_uint128)(double)bytes * 100;
    const plim_uint128 rest = scaled % unit;
    uint64_t hundredths = (uint64_t)(scaled / unit);
    if (rest * 2 > unit || (rest * 2 == unit && hundredths % 2 == 1)) {
        hundredths++;
    }
    plim_fixed_text_put(out, "%" PRIu64 ".%02" PRIu64 " %s", hundredths / 100, hundredths % 100,
                        name);
}

/* Thresholds belong to the smaller unit: 1024 bytes, 1024.00 KiB. There is nothing above GiB. */
static void put_size(plim_fixed_text *out, const char *before, uint64_t bytes, const char *after)
{
    plim_fixed_text_put(out, "%s", before);
    if (bytes <= KIB) {
        plim_fixed_text_put(out, "%" PRIu64 " bytes", bytes);
    } else if (bytes <= MIB) {
        put_hundredths(out, bytes, KIB, "KiB");
    } else if (bytes <= GIB) {
        put_hundredths(out, bytes, MIB, "MiB");
    } else {
        put_hundredths(out, bytes, GIB, "GiB");
    }
    plim_fixed_text_put(out, "%s", after);
}

/* --- releases --- */

#define SEE_NO_URL "  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF"
#define SEE(url)   "  See documentation for Memory Management  (https://" url ")"
#define NOTES      "pytorch.org/docs/stable/notes/cuda.html"

#define SPLIT_HINT                                                                       \
    " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid " \
    "fragmentation."
#define UNUSED_HINT(setting)                                                         \
    " If reserved but unallocated memory is large try setting " setting " to avoid " \
    "fragmentation."

/* The text of a release; a row holds until the next. */
typedef struct text_release {
    uint32_t since;
    bool has_sentences;
    bool has_limit;    /* "… allowed; " */
    bool has_private;  /* what lies free in private pools is named, and counted as allocated */
    bool counts_cache; /* "… cached": reserved less allocated */
    const char *capacity;
    const char *hint;
} text_release;

static const text_release releases[] = {
    { .since = PLIM_TORCH(1, 0), .counts_cache = true, .hint = "" },
    { .since = PLIM_TORCH(1, 4), .hint = "" },
    { .since = PLIM_TORCH(1, 8), .has_limit = true, .hint = "" },
    { .since = PLIM_TORCH(1, 10), .has_limit = true, .hint = SPLIT_HINT SEE_NO_URL },
    { .since = PLIM_TORCH(2, 1),
      .has_sentences = true,
      .capacity = "capacty",
      .hint = UNUSED_HINT("max_split_size_mb") SEE_NO_URL },
    { .since = PLIM_TORCH(2, 2),
      .has_sentences = true,
      .capacity = "capacity",
      .hint = UNUSED_HINT("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")
          SEE(NOTES "#environment-variables") },
    { .since = PLIM_TORCH(2, 4),
      .has_sentences = true,
      .has_limit = true,
      .has_private = true,
      .capacity = "capacity",
      .hint = UNUSED_HINT("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")
          SEE(NOTES "#environment-variables") },
    { .since = PLIM_TORCH(2, 10),
      .has_sentences = true,
      .has_limit = true,
      .has_private = true,
      .capacity = "capacity",
      .hint = UNUSED_HINT("PYTORCH_ALLOC_CONF=expandable_segments:True")
          SEE(NOTES "#environment-variables") },
    { .since = PLIM_TORCH(2, 11),
      .has_sentences = true,
      .has_limit = true,
      .has_private = true,
      .capacity = "capacity",
      .hint = UNUSED_HINT("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")
          SEE("docs." NOTES "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf") },
};

/* The first for what is older, the last for what is newer. */
static const text_release *release_of(uint32_t torch)
{
    size_t i = sizeof releases / sizeof releases[0] - 1;
    while (i > 0 && releases[i].since > torch) {
        i--;
    }
    return &releases[i];
}

/* --- the texts --- */

static void put_limit(plim_fixed_text *out, const text_release *as, const plim_oom_facts *facts)
{
    if (as->has_limit && facts->allowed_bytes != PLIM_UNLIMITED) {
        put_size(out, "", facts->allowed_bytes, " allowed; ");
    }
}

static void put_brackets(plim_fixed_text *out, const text_release *as, const plim_oom_facts *facts)
{
    plim_fixed_text_put(out, " (GPU %" PRId32 "; ", facts->device);
    put_size(out, "", facts->device_total_bytes, " total capacity; ");
    put_size(out, "", facts->allocated_bytes, " already allocated; ");
    put_size(out, "", facts->device_free_bytes, " free; ");
    put_limit(out, as, facts);
    if (as->counts_cache) {
        put_size(out, "", facts->reserved_bytes - facts->allocated_bytes, " cached)");
    } else {
        put_size(out, "", facts->reserved_bytes, " reserved in total by PyTorch)");
    }
}

/* A figure that the driver does not report prints as 17179869184.00 GiB, all bits set. */
static void put_processes(plim_fixed_text *out, const plim_oom_facts *facts)
{
    PLIM_ASSERT(facts->process_count <= PLIM_OOM_PROCESSES_MAX);
    for (size_t i = 0; i < facts->process_count; i++) {
        const plim_device_process *const process = &facts->processes[i];
        if (process->pid == facts->pid) {
            plim_fixed_text_put(out, "Including non-PyTorch memory, this process");
        } else {
            plim_fixed_text_put(out, "Process %" PRId64, process->pid);
        }
        put_size(out, " has ", process->used_bytes, " memory in use. ");
    }
}

static void put_sentences(plim_fixed_text *out, const text_release *as, const plim_oom_facts *facts)
{
    const uint64_t private_bytes = as->has_private ? facts->private_pools_free_bytes : 0;
    /* Wraps where PyTorch's does: below zero it is a huge number. */
    const uint64_t allocated_bytes = facts->allocated_bytes + private_bytes;
    plim_fixed_text_put(out, ". GPU %" PRId32 " has a total %s of ", facts->device, as->capacity);
    put_size(out, "", facts->device_total_bytes, " of which ");
    put_size(out, "", facts->device_free_bytes, " is free. ");
    put_processes(out, facts);
    put_limit(out, as, facts);
    put_size(out, "Of the allocated memory ", allocated_bytes, " is allocated by PyTorch, ");
    if (private_bytes > 0) {
        put_size(out, "with ", private_bytes, " allocated in private pools (e.g., CUDA Graphs), ");
    }
    put_size(out, "and ", facts->reserved_bytes - allocated_bytes,
             " is reserved by PyTorch but unallocated.");
}

size_t plim_oom_text(const plim_oom_facts *facts, uint32_t torch, char *text, size_t bytes)
{
    const text_release *const as = release_of(torch);
    plim_fixed_text out = plim_fixed_text_begin(text, bytes);
    plim_fixed_text_put(&out, "CUDA out of memory. ");
    if (facts->requested_bytes >= PLIM_REQUEST_BYTES_MAX) {
        plim_fixed_text_put(&out, "Tried to allocate more than 1EB memory.");
        return out.length;
    }
    if (facts->is_rejection) {
        put_size(&out,
                 "Allocation was preemptively rejected because it would exceed "
                 "per_process_memory_fraction limit. Requested size: ",
                 facts->requested_bytes, "");
        return out.length;
    }
    put_size(&out, "Tried to allocate ", facts->segment_bytes, "");
    if (as->has_sentences) {
        put_sentences(&out, as, facts);
    } else {
        put_brackets(&out, as, facts);
    }
    plim_fixed_text_put(&out, "%s", as->hint);
    return out.length;
}
