"""Does PyTorch see through the stand-ins what was asked for? Run by test_torch.py.

Each check asks PyTorch where it can, so that layouts and numbers we only know from manuals are
tested by a caller that was compiled against the vendor's headers.
"""

import ctypes
import gc

import torch

GIB = 1 << 30
CAPACITY = 2 * GIB  # of each of two h100: test_torch.py


def properties_are_those_of_the_gpu():
    seen = torch.cuda.get_device_properties(1)
    assert seen.name == "NVIDIA H100 80GB HBM3", seen
    assert (seen.major, seen.minor) == (9, 0), seen
    # Fields from the beginning, the middle and the end of the structure.
    assert seen.total_memory == CAPACITY, seen
    assert seen.multi_processor_count == 132, seen
    assert seen.pci_bus_id == 2, seen
    assert seen.L2_cache_size == 50 << 20, seen
    assert seen.max_threads_per_multi_processor == 2048, seen
    assert seen.regs_per_multiprocessor == 65536, seen
    assert seen.shared_memory_per_multiprocessor == 228 << 10, seen
    assert seen.shared_memory_per_block_optin == 227 << 10, seen
    assert seen.warp_size == 32, seen
    assert not seen.is_integrated and not seen.is_multi_gpu_board, seen


def there_are_two_devices():
    assert torch.cuda.device_count() == 2
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1
        assert torch.empty(1, device="cuda").device.index == 1


def memory_is_counted_per_device():
    before = torch.cuda.mem_get_info(0)
    held = torch.empty(256 << 20, dtype=torch.uint8, device="cuda:1")
    assert torch.cuda.mem_get_info(0) == before
    free, total = torch.cuda.mem_get_info(1)
    assert total == CAPACITY and free <= CAPACITY - held.numel()
    del held
    torch.cuda.empty_cache()


def too_much_is_refused_and_leaves_no_trace():
    free = torch.cuda.mem_get_info()[0]
    try:
        torch.empty(CAPACITY + 1, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError as error:
        assert "total capacity of 2.00 GiB" in str(error), error
    else:
        raise AssertionError("more than the capacity was allocated")
    assert torch.cuda.mem_get_info()[0] == free
    torch.empty(1024, device="cuda")  # no error is left behind


def addresses_are_aligned_and_used_again():
    torch.cuda.empty_cache()
    first = torch.empty(32 << 20, dtype=torch.uint8, device="cuda").data_ptr()
    torch.cuda.empty_cache()
    second = torch.empty(32 << 20, dtype=torch.uint8, device="cuda").data_ptr()
    assert first == second and first % (2 << 20) == 0, (hex(first), hex(second))


def device_memory_reads_as_zeros():
    assert torch.full((3, 5), 7.0, device="cuda").cpu().eq(0).all()
    assert torch.full((3, 5), 7.0, device="cuda").t().cpu().eq(0).all()
    assert torch.ones((), device="cuda").item() == 0


def host_memory_is_real():
    pinned = torch.arange(1000).pin_memory()
    assert pinned.is_pinned() and pinned[999].item() == 999
    assert not torch.arange(10).is_pinned()


def streams_and_events_are_done_at_once():
    stream = torch.cuda.Stream()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        start.record()
        end.record()
    assert end.query() and stream.query()
    assert start.elapsed_time(end) > 0
    assert not torch.cuda.is_current_stream_capturing()


def virtual_memory_keeps_its_books():
    cuda = ctypes.CDLL("libcuda.so.1")
    word, page = ctypes.c_uint64, 2 << 20
    free = torch.cuda.mem_get_info()[0]
    base, handle = word(), word()
    properties = (ctypes.c_int * 16)(1, 0, 1, 0)  # pinned, not shared, on a device, the first
    zero, reserved = word(0), word(4 * page)
    assert cuda.cuMemAddressReserve(ctypes.byref(base), reserved, zero, zero, zero) == 0
    assert cuda.cuMemCreate(ctypes.byref(handle), word(page), properties, zero) == 0
    assert torch.cuda.mem_get_info()[0] == free - page
    assert cuda.cuMemMap(base, word(page), zero, handle, zero) == 0
    assert cuda.cuMemMap(base, word(page), zero, handle, zero) != 0  # already mapped
    assert cuda.cuMemRelease(handle) == 0
    assert cuda.cuMemRelease(handle) != 0  # already released, though still mapped
    assert torch.cuda.mem_get_info()[0] == free - page
    assert cuda.cuMemUnmap(base, word(page // 2)) != 0  # only as a whole
    assert cuda.cuMemUnmap(base, word(page)) == 0
    assert torch.cuda.mem_get_info()[0] == free
    assert cuda.cuMemAddressFree(base, reserved) == 0
    assert cuda.cuMemCreate(ctypes.byref(handle), word(CAPACITY + page), properties, zero) == 2


def expandable_segments_grow_in_place():
    torch._C._accelerator_setAllocatorSettings("expandable_segments:True")
    first = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
    second = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
    assert second.data_ptr() == first.data_ptr() + first.numel()
    assert any(segment["is_expandable"] for segment in torch.cuda.memory_snapshot())
    del first, second
    torch._C._accelerator_setAllocatorSettings("expandable_segments:False")
    torch.cuda.empty_cache()


def a_graph_is_captured_and_replayed():
    graph = torch.cuda.CUDAGraph()
    held = torch.zeros(1024, device="cuda")
    with torch.cuda.graph(graph):
        held = held + 1
    for _ in range(3):
        graph.replay()
    pools = {tuple(segment["segment_pool_id"]) for segment in torch.cuda.memory_snapshot()}
    assert len(pools) == 2, pools  # the default one, and the graph's own
    del held
    graph.reset()


def everything_goes_back():
    gc.collect()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()
    for device in range(2):
        free, total = torch.cuda.mem_get_info(device)
        taken = total - free  # by context and libraries
        assert total == CAPACITY and 100 << 20 < taken < 1 << 30, (device, taken)
        assert torch.cuda.memory_reserved(device) == 0


CHECKS = [
    properties_are_those_of_the_gpu,
    there_are_two_devices,
    memory_is_counted_per_device,
    too_much_is_refused_and_leaves_no_trace,
    addresses_are_aligned_and_used_again,
    device_memory_reads_as_zeros,
    host_memory_is_real,
    streams_and_events_are_done_at_once,
    virtual_memory_keeps_its_books,
    expandable_segments_grow_in_place,
    a_graph_is_captured_and_replayed,
    everything_goes_back,
]

if __name__ == "__main__":
    for check in CHECKS:
        check()
        print("ok", check.__name__.replace("_", " "))
