/*
 * fastpath.cpp - PyTorch's own allocator as one side of alloc_fastpath: the real libc10_cuda.so
 * over a runtime whose functions return at once (cudart.c).
 *
 * Built by run.py where the wheel of PyTorch 2.11 is present; no part of the build.
 */
#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace torch_allocator = c10::cuda::CUDACachingAllocator;

static torch_allocator::CUDAAllocator *side;
static std::uint64_t heard; /* events, by the listener */

extern "C" std::uint64_t plim_bench_driver_calls(void);

static inline std::uint64_t side_malloc(std::uint64_t bytes, std::uint64_t stream)
{
    return reinterpret_cast<std::uint64_t>(
        side->raw_alloc_with_stream(bytes, reinterpret_cast<cudaStream_t>(stream)));
}

static inline void side_free(std::uint64_t addr)
{
    side->raw_delete(reinterpret_cast<void *>(addr));
}

static void side_open(void)
{
    torch_allocator::init(1);
    side = torch_allocator::get();
}

[[noreturn]] static void missing(const char *what)
{
    std::fprintf(stderr, "fastpath: PyTorch's library alone has no %s\n", what);
    std::exit(1);
}

static void side_history(std::uint64_t events, bool has_stacks)
{
    if (has_stacks) {
        missing("stacks");
    }
    side->recordHistory(true, nullptr, events, c10::CachingDeviceAllocator::RecordContext::NEVER,
                        true, {});
}

static void side_listen(void)
{
    side->attachAllocatorTraceTracker([](const torch_allocator::TraceEntry &) { heard++; });
}

static void side_record(const char *)
{
    missing("recording to a file");
}

static void side_settle(void) {}

static std::uint64_t side_driver_calls(void)
{
    return plim_bench_driver_calls();
}

static void side_report(void)
{
    std::printf(",\"heard\":%llu", static_cast<unsigned long long>(heard));
}

static void side_close(void)
{
    std::fflush(stdout);
    std::_Exit(0); /* as Python does: the allocator is never taken down */
}

#include "../measures.h"

int main(int argc, char **argv)
{
    return measures_main(argc, argv);
}
