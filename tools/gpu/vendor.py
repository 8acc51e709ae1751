"""The driver and its management library, as far as calibrate asks them."""

import ctypes
import os
import time

MIB = 1 << 20
SUCCESS = 0


class Failure(Exception):
    """What calibrate says in one line before it ends."""


def load(name):
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise Failure(f"{name} cannot be loaded: {error}") from None


class Memory1(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class Memory2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("total", ctypes.c_ulonglong),
                ("reserved", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong),
                ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


class Management:
    """NVML: what is used of one GPU, as it counts."""

    def __init__(self, uuid):
        self._library = load("libnvidia-ml.so.1")
        self._handle = ctypes.c_void_p()
        self._call("nvmlInit_v2")
        if uuid is None:
            self._call("nvmlDeviceGetHandleByIndex_v2", 0, ctypes.byref(self._handle))
        else:
            self._call("nvmlDeviceGetHandleByUUID", uuid.encode(), ctypes.byref(self._handle))

    def _call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code != SUCCESS:
            raise Failure(f"{name} failed with code {code}")

    def memory(self):
        """The second query's answer; None from a driver before 510."""
        answer = Memory2(version=ctypes.sizeof(Memory2) | 2 << 24)
        try:
            self._call("nvmlDeviceGetMemoryInfo_v2", self._handle, ctypes.byref(answer))
        except (AttributeError, Failure):
            return None
        return answer

    def device_used(self):
        second = self.memory()
        if second is not None:
            return second.used
        first = Memory1()
        self._call("nvmlDeviceGetMemoryInfo", self._handle, ctypes.byref(first))
        return first.used

    def process_used(self):
        """What NVML counts for this process; None where it does not see it, as in containers."""
        count = ctypes.c_uint(512)
        processes = (Process * count.value)()
        try:
            self._call("nvmlDeviceGetComputeRunningProcesses_v3", self._handle,
                       ctypes.byref(count), processes)
        except (AttributeError, Failure):
            return None
        return next((processes[i].used for i in range(count.value)
                     if processes[i].pid == os.getpid()), None)


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class AllocationProperties(ctypes.Structure):  # CUmemAllocationProp
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location),
                ("security", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]


class Access(ctypes.Structure):  # CUmemAccessDesc
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


ATTRIBUTES = {"clock_khz": 13, "multiprocessors": 16, "memory_clock_khz": 36, "bus_bits": 37,
              "l2_bytes": 38}


class Driver:
    """The driver, on the current context's device."""

    def __init__(self, device):
        self._library = load("libcuda.so.1")
        self.device = device
        self._properties = AllocationProperties(type=1, location=Location(1, device))  # pinned

    def call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code != SUCCESS:
            raise Failure(f"{name} failed with code {code}")

    def attribute(self, name):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), ATTRIBUTES[name], self.device)
        return value.value

    def version(self):
        value = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(value))
        return f"{value.value // 1000}.{value.value % 1000 // 10}"

    def granularity(self):
        value = ctypes.c_size_t()
        self.call("cuMemGetAllocationGranularity", ctypes.byref(value),
                  ctypes.byref(self._properties), 0)
        return value.value

    def timed(self, name, *arguments):
        start = time.perf_counter()
        self.call(name, *arguments)
        return 1e6 * (time.perf_counter() - start)

    def allocation_us(self, size):
        """cuMemAlloc and cuMemFree, which cudaMalloc and cudaFree call."""
        address = ctypes.c_uint64()
        taken = self.timed("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return taken, self.timed("cuMemFree_v2", address)

    def mapping_us(self, size):
        """A handle made and mapped, and unmapped and released, as expandable segments do."""
        address, handle = ctypes.c_uint64(), ctypes.c_uint64()
        bytes_ = ctypes.c_size_t(size)
        access = Access(Location(1, self.device), 3)  # read and write
        self.call("cuMemAddressReserve", ctypes.byref(address), bytes_, ctypes.c_size_t(0),
                  ctypes.c_uint64(0), ctypes.c_ulonglong(0))
        mapped = (self.timed("cuMemCreate", ctypes.byref(handle), bytes_,
                             ctypes.byref(self._properties), ctypes.c_ulonglong(0)) +
                  self.timed("cuMemMap", address, bytes_, ctypes.c_size_t(0), handle,
                             ctypes.c_ulonglong(0)) +
                  self.timed("cuMemSetAccess", address, bytes_, ctypes.byref(access),
                             ctypes.c_size_t(1)))
        unmapped = (self.timed("cuMemUnmap", address, bytes_) + self.timed("cuMemRelease", handle))
        self.call("cuMemAddressFree", address, bytes_)
        return mapped, unmapped
