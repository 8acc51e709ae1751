"""One representative rank of a large program: it starts alone, and is one of N.

The launcher says so by PLIMSOLL_WORLD_SIZE and PLIMSOLL_RANK. The environment becomes what
torchrun would have given that rank, and groups are made over a store in which every other rank
has already said what it would say. The groups themselves are PyTorch's own over the NCCL that
stands in, whose collectives do not wait; so memory is that of a real group, on all its
streams, and NCCL's own is taken as a communicator is first used. Gloo would look for the others,
and becomes PyTorch's fake group.
"""

import os

from plimsoll_agent.rebinding import rebind

ID_BYTES = 128  # ncclUniqueId


def requested(environment=os.environ):
    """(rank, world size) if a representative rank is wanted, else None."""
    try:
        size = int(environment["PLIMSOLL_WORLD_SIZE"])
        rank = int(environment.get("PLIMSOLL_RANK") or 0)
    except (KeyError, ValueError):
        return None
    return (rank, size) if 0 <= rank < size else None


def enter(environment=os.environ):
    """Gives the program the environment of its rank, before it looks."""
    place = requested(environment)
    if place is None:
        return
    rank, size = (str(number) for number in place)
    environment.update(RANK=rank, WORLD_SIZE=size, LOCAL_RANK="0", LOCAL_WORLD_SIZE="1",
                       GROUP_RANK=rank, GROUP_WORLD_SIZE=size, NODE_RANK=rank, ROLE_RANK=rank,
                       ROLE_WORLD_SIZE=size)
    environment.setdefault("MASTER_ADDR", "127.0.0.1")
    environment.setdefault("MASTER_PORT", "29500")
    # With these, threads of the group ask the store again and again, and after Python's end.
    environment.update(TORCH_NCCL_ENABLE_MONITORING="0", TORCH_NCCL_DUMP_ON_TIMEOUT="0")


def _make_store(distributed, size):
    class WorldStore(distributed.Store):
        """What the other ranks would have written is there: any bytes, and they have all come."""

        def __init__(self):
            super().__init__()
            self._values = {}

        def set(self, key, value):
            self._values[key] = value if isinstance(value, bytes) else str(value).encode()

        def get(self, key):
            return self._values.get(key, bytes(ID_BYTES))

        def compare_set(self, key, expected, desired):
            self._values.setdefault(key, desired)
            return self._values[key]

        def add(self, key, amount):
            count = int(self._values.get(key, 0)) + amount
            self._values[key] = str(count).encode()
            return max(count, size) if amount > 0 else count

        def check(self, keys):
            return all(key in self._values for key in keys)

        def wait(self, keys, timeout=None):
            pass

        def delete_key(self, key):
            return self._values.pop(key, None) is not None

        def num_keys(self):
            return len(self._values)

        def set_timeout(self, timeout):
            pass

    return WorldStore()


def _over_stand_ins(backend):
    """A backend's name with what would look for other processes replaced: "cpu:gloo,cuda:nccl"."""
    if backend is None or str(backend) in ("", "undefined"):
        return "cpu:fake,cuda:nccl"
    parts = []
    for part in str(backend).lower().split(","):
        device, colon, name = part.rpartition(":")
        parts.append(f"{device}{colon}{name if name == 'nccl' else 'fake'}")
    return ",".join(parts)


class World:
    """Replaces how torch.distributed makes groups."""

    def __init__(self, torch, c10d, place):
        self._torch = torch
        self._c10d = c10d
        self.rank, self.size = place
        self._stores = []  # PyTorch keeps what is C++ of them, we keep what is Python

    def install(self):
        rebind(self._c10d, "init_process_group", self._init_process_group)
        rebind(self._c10d, "_new_process_group_helper", self._new_process_group_helper)
        rebind(self._c10d, "monitored_barrier", lambda original: lambda *args, **kwargs: None)

    def _init_process_group(self, original):
        def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1,
                               rank=-1, store=None, group_name="", *args, **kwargs):
            # The fake backend registers itself when it is imported.
            import torch.testing._internal.distributed.fake_pg  # noqa: F401

            if backend is None and kwargs.get("device_id") is not None:
                backend = "nccl"
            store = _make_store(self._torch.distributed, self.size)
            self._stores.append(store)
            return original(_over_stand_ins(backend), None, timeout, self.size, self.rank, store,
                            group_name, *args, **kwargs)

        return init_process_group

    def _new_process_group_helper(self, original):
        def new_process_group_helper(group_size, group_rank, ranks, backend, store, group_name,
                                     backend_options=None, *args, **kwargs):
            backend = self._c10d.Backend(_over_stand_ins(backend))
            if "nccl" not in str(backend):
                backend_options = None  # another backend's
            return original(group_size, group_rank, ranks, backend, store, group_name,
                            backend_options, *args, **kwargs)

        return new_process_group_helper


def install(torch, c10d):
    """Makes this process the rank that was requested. False: none was."""
    place = requested()
    if place is None:
        return False
    World(torch, c10d, place).install()
    return True


