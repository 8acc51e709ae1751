"""NVIDIA's management library, if there is one: the driver, and who uses a device.

Found at run time; without it the figures are unknown. It reports on devices without a call of
CUDA's, so also after an error that has left CUDA unusable. Structures are those of nvml.h, NVML
API reference manual, CUDA 12.
"""

import ctypes
import os

_PROCESSES_MAX = 4096
_UNKNOWN = 2**64 - 1  # NVML_VALUE_NOT_AVAILABLE
_TOO_SMALL = 7  # NVML_ERROR_INSUFFICIENT_SIZE
_DRIVER = "/sys/module/nvidia/version"


class _Process(ctypes.Structure):
    """nvmlProcessInfo_v2_t, which nvmlDeviceGetComputeRunningProcesses_v2 and _v3 take."""

    _fields_ = [("pid", ctypes.c_uint), ("bytes", ctypes.c_ulonglong),
                ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


class _Memory(ctypes.Structure):
    """nvmlMemory_t."""

    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


def driver_release():
    """The release of the kernel's driver, without the library; None where it does not say."""
    try:
        with open(_DRIVER, encoding="ascii") as file:
            return file.read().strip() or None
    except OSError:
        return None


def _name_of(pid):
    """None for processes outside of this container, and those of others."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


class Nvml:
    """Opened at the first question; each answer is None where the library has none."""

    def __init__(self):
        self.forget()

    def forget(self):
        """In a forked child."""
        self._library = None
        self._is_open = False

    def _open(self):
        """The library, or None."""
        if not self._is_open:
            self._is_open = True
            try:
                library = ctypes.CDLL("libnvidia-ml.so.1", mode=os.RTLD_LOCAL | os.RTLD_NOW)
                self._library = library if library.nvmlInit_v2() == 0 else None
            except (OSError, AttributeError):
                self._library = None
        return self._library

    def _call(self, name, *args):
        """The code of a function; None where there is no such function."""
        function = getattr(self._open(), name, None)
        return function(*args) if function is not None else None

    def driver_if_open(self):
        """The driver's release: "580.65.06"."""
        if self._library is None:
            return None
        text = ctypes.create_string_buffer(80)
        if self._call("nvmlSystemGetDriverVersion", text, ctypes.c_uint(len(text))) != 0:
            return None
        return text.value.decode("ascii", "replace")

    def device(self, uuid):
        """A handle for a device by its "GPU-…", or None."""
        handle = ctypes.c_void_p()
        found = self._call("nvmlDeviceGetHandleByUUID", uuid.encode(), ctypes.byref(handle))
        return handle if found == 0 else None

    def free_bytes(self, device):
        memory = _Memory()
        found = self._call("nvmlDeviceGetMemoryInfo", device, ctypes.byref(memory))
        return memory.free if found == 0 else None

    def processes(self, device):
        """[{"pid", "name", "bytes"}] of those that compute on a device, largest first."""
        room = 64
        while room <= _PROCESSES_MAX:
            count, rows = ctypes.c_uint(room), (_Process * room)()
            code = None
            for form in ("_v3", "_v2"):
                name = "nvmlDeviceGetComputeRunningProcesses" + form
                code = self._call(name, device, ctypes.byref(count), rows)
                if code is not None:
                    break
            if code != _TOO_SMALL:
                break
            room *= 8
        if code != 0:
            return None
        found = [{"pid": row.pid, "name": _name_of(row.pid),
                  "bytes": row.bytes if row.bytes != _UNKNOWN else None}
                 for row in rows[:count.value]]
        return sorted(found, key=lambda process: -(process["bytes"] or 0))
