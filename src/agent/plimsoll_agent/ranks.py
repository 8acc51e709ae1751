"""Which of several processes this is."""

import os


def _number(name):
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return None


_last = [None]  # what torch.distributed said


def current(torch):
    """(rank, local rank, world size): as torch.distributed says or said, else the environment."""
    rank, world_size = _number("RANK"), _number("WORLD_SIZE")
    local_rank = _number("LOCAL_RANK")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        rank, world_size = distributed.get_rank(), distributed.get_world_size()
        if local_rank is None and torch.cuda.is_initialized():
            local_rank = torch.cuda.current_device()
        _last[0] = (rank, world_size)
    elif _last[0] is not None:
        rank, world_size = _last[0]
    return rank or 0, local_rank or 0, world_size or 1
