/* record.cc - plays a script on PyTorch's own allocator, over our stand-in of the CUDA runtime. */
#include "play.h"
#include "runtime/model.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// Exported, but in no header: libtorch tells libc10 by it which devices are in use.
namespace c10::cuda::_internal
{
void setHasPrimaryContext(bool (*call)(DeviceIndex));
} // namespace c10::cuda::_internal

namespace torch_cuda = c10::cuda::CUDACachingAllocator;

namespace
{

// In the place of a stack: the line of the script.
struct Context : c10::GatheredContext {
    explicit Context(uint32_t of) : line(of) {}
    uint32_t line;
};

uint32_t current_line;

std::shared_ptr<c10::GatheredContext> gather()
{
    return std::make_shared<Context>(current_line);
}

uint32_t line_of(const std::shared_ptr<c10::GatheredContext> &context)
{
    return context ? static_cast<const Context *>(context.get())->line : 0;
}

std::unordered_map<plim_addr, c10::DataPtr> held; // by address
std::vector<plim_addr> to_free;                   // by the next callback
int32_t device_count;

plim_addr addr_of(const void *pointer)
{
    return reinterpret_cast<uintptr_t>(pointer);
}

void *pointer_of(plim_addr addr)
{
    return reinterpret_cast<void *>(addr);
}

cudaStream_t native(plim_stream stream)
{
    return reinterpret_cast<cudaStream_t>(stream);
}

c10::MempoolId_t pool_of(const script_op *op)
{
    return { op->pool.a, op->pool.b };
}

c10::cuda::CUDAStream stream_of(const script_op *op)
{
    return c10::cuda::getStreamFromExternal(native(op->stream),
                                            static_cast<c10::DeviceIndex>(op->device));
}

// Goes the way of a tensor's storage: the deleter that came with the memory.
void give_back(plim_addr addr)
{
    const auto found = held.find(addr);
    if (found == held.end()) {
        torch_cuda::raw_delete(pointer_of(addr)); // freed before, or never ours
        return;
    }
    const c10::DeleterFnPtr deleter = found->second.get_deleter();
    void *const context = found->second.release_context();
    held.erase(found);
    if (context != nullptr) {
        deleter(context);
    }
}

class Callback : public c10::FreeMemoryCallback
{
  public:
    bool Execute() override
    {
        std::vector<plim_addr> addrs;
        std::swap(addrs, to_free);
        for (const plim_addr addr : addrs) {
            give_back(addr);
        }
        return !addrs.empty();
    }
};

void take(const script_op *op, play_answer *ret)
{
    c10::cuda::setCurrentCUDAStream(stream_of(op));
    c10::DataPtr pointer = torch_cuda::get()->allocate(op->number);
    ret->has_addr = true;
    ret->addr = addr_of(pointer.get());
    if (ret->addr != 0) {
        held.emplace(ret->addr, std::move(pointer));
    }
}

void record_stream(const script_op *op)
{
    static const c10::DataPtr none;
    const auto found = held.find(op->addr);
    torch_cuda::recordStream(found != held.end() ? found->second : none, stream_of(op));
}

void begin(const script_op *op)
{
    const cudaStream_t only = native(op->stream);
    const bool is_filtered = op->has_stream;
    torch_cuda::beginAllocateToPool(
        static_cast<c10::DeviceIndex>(op->device), pool_of(op),
        [only, is_filtered](cudaStream_t stream) { return !is_filtered || stream == only; });
}

void snapshot(const script_op *op)
{
    const torch_cuda::SnapshotInfo info = torch_cuda::snapshot(pool_of(op));
    for (const torch_cuda::SegmentInfo &segment : info.segments) {
        const play_segment told = { segment.device,
                                    segment.address,
                                    segment.total_size,
                                    addr_of(segment.stream),
                                    { segment.owner_private_pool_id.first,
                                      segment.owner_private_pool_id.second },
                                    segment.is_large,
                                    segment.is_expandable,
                                    line_of(segment.context_when_allocated) };
        play_snapshot_segment(&told);
        for (const torch_cuda::BlockInfo &block : segment.blocks) {
            const play_block shown = { block.size, block.requested_size,
                                       block.allocated ? PLIM_BLOCK_ACTIVE_ALLOCATED
                                       : block.active  ? PLIM_BLOCK_ACTIVE_PENDING_FREE
                                                       : PLIM_BLOCK_INACTIVE,
                                       line_of(block.context_when_allocated) };
            play_snapshot_block(&shown);
        }
    }
}

void dump_trace()
{
    const torch_cuda::SnapshotInfo info = torch_cuda::snapshot();
    for (size_t device = 0; device < info.device_traces.size(); device++) {
        for (const torch_cuda::TraceEntry &entry : info.device_traces[device]) {
            const play_entry shown = { static_cast<int32_t>(device),
                                       static_cast<plim_action>(entry.action_),
                                       entry.addr_,
                                       entry.size_,
                                       addr_of(entry.stream_),
                                       line_of(entry.context_) };
            play_event(&shown);
        }
    }
}

// A tracker stays for good; the script turns it off and on.
void listen(bool is_on)
{
    static bool is_attached;
    static bool is_listening;
    is_listening = is_on;
    if (is_attached) {
        return;
    }
    is_attached = true;
    torch_cuda::attachAllocatorTraceTracker([](const torch_cuda::TraceEntry &entry) {
        if (is_listening) {
            const play_entry shown = { entry.device_,
                                       static_cast<plim_action>(entry.action_),
                                       entry.addr_,
                                       entry.size_,
                                       addr_of(entry.stream_),
                                       0 };
            play_told(&shown);
        }
    });
}

bool holds_exactly(const script_op *op)
{
    std::unordered_set<void *> expected;
    for (size_t i = 0; i < op->block_count; i++) {
        expected.insert(pointer_of(op->addrs[i]));
    }
    return torch_cuda::checkPoolLiveAllocations(static_cast<c10::DeviceIndex>(op->device),
                                                pool_of(op), expected);
}

// PyTorch asserts that there is such a pool; here one that is gone has no users.
uint64_t use_count(const script_op *op)
{
    try {
        return static_cast<uint64_t>(
            torch_cuda::getPoolUseCount(static_cast<c10::DeviceIndex>(op->device), pool_of(op)));
    } catch (const c10::Error &) {
        return 0;
    }
}

void answer_number(play_answer *ret, uint64_t number)
{
    ret->has_number = true;
    ret->number = number;
}

// PyTorch asks for the free bytes of whichever device is current; ours knows no such thing.
void cache_info(const script_op *op, play_answer *ret)
{
    const int32_t current = model_current();
    size_t largest = op->number;
    model_set_current(op->device);
    try {
        torch_cuda::cacheInfo(static_cast<c10::DeviceIndex>(op->device), &largest);
    } catch (const c10::Error &) {
        model_set_current(current);
        throw;
    }
    model_set_current(current);
    answer_number(ret, largest);
}

void base(const script_op *op, play_answer *ret)
{
    size_t bytes = 0;
    try {
        ret->addr = addr_of(torch_cuda::getBaseAllocation(pointer_of(op->addr), &bytes));
        ret->has_addr = true;
        answer_number(ret, bytes);
    } catch (const c10::Error &error) {
        // PyTorch refuses where memory cannot be shared with a process; see FORMAT.md.
        if (std::strncmp(error.what_without_backtrace(), "Tensors allocated with", 22) != 0) {
            throw;
        }
    }
}

void limits(const script_op *op, play_answer *ret)
{
    const auto device = static_cast<c10::DeviceIndex>(op->device);
    switch (op->kind) {
    case OP_SET_FRACTION:
        torch_cuda::setMemoryFraction(op->fraction, device);
        break;
    case OP_GET_FRACTION:
        ret->has_fraction = true;
        ret->fraction = torch_cuda::getMemoryFraction(device);
        break;
    case OP_CONFIGURE:
        c10::CachingAllocator::setAllocatorSettings(op->text);
        break;
    case OP_CACHING:
        torch_cuda::enable(op->number != 0);
        break;
    case OP_PEER:
        torch_cuda::enablePeerAccess(device, static_cast<c10::DeviceIndex>(op->number));
        break;
    case OP_RESET_PEAK:
        torch_cuda::resetPeakStats(device);
        break;
    case OP_RESET_ACCUMULATED:
        torch_cuda::resetAccumulatedStats(device);
        break;
    case OP_CACHE_INFO:
        cache_info(op, ret);
        break;
    case OP_BASE:
        base(op, ret);
        break;
    default:
        std::abort();
    }
}

void pools(const script_op *op, play_answer *ret)
{
    const auto device = static_cast<c10::DeviceIndex>(op->device);
    switch (op->kind) {
    case OP_POOL_BEGIN:
        begin(op);
        break;
    case OP_POOL_END:
        torch_cuda::endAllocateToPool(device, pool_of(op));
        break;
    case OP_POOL_RETAIN:
        torch_cuda::createOrIncrefPool(device, pool_of(op));
        break;
    case OP_POOL_RELEASE:
        torch_cuda::releasePool(device, pool_of(op));
        break;
    case OP_POOL_USE_COUNT:
        answer_number(ret, use_count(op));
        break;
    case OP_POOL_USE_ON_OOM:
        torch_cuda::setUseOnOOM(device, pool_of(op), op->number != 0);
        break;
    case OP_POOL_NO_SPLIT:
        torch_cuda::setNoSplit(device, pool_of(op));
        break;
    case OP_POOL_HOLDS:
        answer_number(ret, holds_exactly(op) ? 1 : 0);
        break;
    default:
        limits(op, ret);
    }
}

// What the script does to the device, not to the allocator.
bool world(const script_op *op)
{
    switch (op->kind) {
    case OP_COMPLETE:
        model_complete(op->device, op->stream);
        return true;
    case OP_COMPLETE_ALL:
        for (int32_t i = 0; i < device_count; i++) {
            model_complete_all(i);
        }
        return true;
    case OP_DEVICE:
        model_set_current(op->device);
        return true;
    case OP_USED:
        model_set_used(op->device, op->number);
        return true;
    case OP_FAIL:
        model_fail(op->device, op->call, op->number, op->status);
        return true;
    case OP_CAPTURING:
        model_set_capturing(op->device, op->stream, op->number != 0);
        return true;
    default:
        return false;
    }
}

void dispatch(const script_op *op, play_answer *ret)
{
    if (world(op)) {
        return;
    }
    switch (op->kind) {
    case OP_MALLOC:
        take(op, ret);
        break;
    case OP_FREE:
        give_back(op->addr);
        break;
    case OP_FOREIGN:
        torch_cuda::raw_delete(pointer_of(op->number));
        break;
    case OP_RECORD_STREAM:
        record_stream(op);
        break;
    case OP_EMPTY_CACHE:
        torch_cuda::emptyCache(pool_of(op));
        break;
    case OP_SNAPSHOT:
        snapshot(op);
        break;
    case OP_HISTORY:
        torch_cuda::recordHistory(op->number != 0, gather, op->number,
                                  static_cast<torch_cuda::RecordContext>(op->stacks), false, {});
        break;
    case OP_TRACE:
        dump_trace();
        break;
    case OP_LISTEN:
        listen(op->number != 0);
        break;
    case OP_CALLBACK:
        to_free.assign(op->addrs, op->addrs + op->block_count);
        break;
    default:
        pools(op, ret);
    }
}

void fail(play_answer *ret, play_verdict verdict, const char *text)
{
    ret->verdict = verdict;
    (void)std::snprintf(ret->text, sizeof(ret->text), "%s", text);
    ret->text[std::strcspn(ret->text, "\n")] = '\0';
}

void perform(const script_op *op, play_answer *ret)
{
    current_line = static_cast<uint32_t>(op->line);
    try {
        dispatch(op, ret);
    } catch (const c10::OutOfMemoryError &error) {
        fail(ret, PLAY_OOM, error.what_without_backtrace());
    } catch (const c10::AcceleratorError &error) {
        fail(ret, PLAY_BROKEN, error.what_without_backtrace());
    } catch (const c10::Error &error) {
        const char *const text = error.what_without_backtrace();
        const bool is_driver = std::strncmp(text, "CUDA driver error", 17) == 0 ||
                               std::strncmp(text, "!handles_.at(i)", 15) == 0; // one came before
        fail(ret, is_driver ? PLAY_BROKEN : PLAY_REFUSED, text);
    } catch (const std::exception &error) {
        fail(ret, PLAY_REFUSED, error.what());
    }
}

void copy(const c10::CachingAllocator::StatArray &from, plim_device_stats *to,
          plim_stat_family family)
{
    static_assert(static_cast<int>(c10::CachingAllocator::StatType::AGGREGATE) == PLIM_SLOT_ALL);
    for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
        const c10::CachingAllocator::Stat &stat = from[static_cast<size_t>(slot)];
        to->families[family][slot] = { stat.current, stat.peak, stat.allocated, stat.freed };
    }
}

void stats(int32_t device, plim_device_stats *ret)
{
    const auto from = torch_cuda::getDeviceStats(static_cast<c10::DeviceIndex>(device));
    *ret = {};
    copy(from.allocation, ret, PLIM_STAT_ALLOCATION);
    copy(from.allocated_bytes, ret, PLIM_STAT_ALLOCATED_BYTES);
    copy(from.active, ret, PLIM_STAT_ACTIVE);
    copy(from.active_bytes, ret, PLIM_STAT_ACTIVE_BYTES);
    copy(from.requested_bytes, ret, PLIM_STAT_REQUESTED_BYTES);
    copy(from.inactive_split, ret, PLIM_STAT_INACTIVE_SPLIT);
    copy(from.inactive_split_bytes, ret, PLIM_STAT_INACTIVE_SPLIT_BYTES);
    copy(from.segment, ret, PLIM_STAT_SEGMENT);
    copy(from.reserved_bytes, ret, PLIM_STAT_RESERVED_BYTES);
    const auto &allocations = from.oversize_allocations;
    const auto &segments = from.oversize_segments;
    ret->oversize_allocations = { allocations.current, allocations.peak, allocations.allocated,
                                  allocations.freed };
    ret->oversize_segments = { segments.current, segments.peak, segments.allocated,
                               segments.freed };
    ret->num_alloc_retries = from.num_alloc_retries;
    ret->num_ooms = from.num_ooms;
    ret->num_sync_all_streams = from.num_sync_all_streams;
    ret->num_device_alloc = from.num_device_alloc;
    ret->num_device_free = from.num_device_free;
    ret->max_split_size = from.max_split_size;
}

void report(void *, const plim_device_record *record)
{
    play_call(record);
}

void start(const script_setup *setup)
{
    device_count = setup->device_count;
    for (int32_t i = 0; i < device_count; i++) {
        model_device(i, setup->total_bytes[i], setup->used_bytes[i]);
    }
    model_set_manual(setup->is_manual);
    model_set_report(report, nullptr);
    c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
    torch_cuda::init(device_count);
    torch_cuda::attachOutOfMemoryObserver(
        [](int64_t device, size_t asked, size_t total, size_t free) {
            play_observed(static_cast<int32_t>(device), asked, total, free);
        });
}

// Nothing is given back: the process ends, and its destructors are not what is compared.
void finish()
{
    (void)std::fflush(nullptr);
    std::_Exit(0);
}

} // namespace

namespace c10
{
REGISTER_FREE_MEMORY_CALLBACK("oracle", Callback)
} // namespace c10

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)std::fprintf(stderr, "record SCRIPT: plays it, the record goes to standard output\n");
        return 2;
    }
    static const play_subject subject = { start, perform, stats, finish };
    play(argv[1], &subject);
    return 0;
}
