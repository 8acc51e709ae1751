"""torch.distributed in a rehearsal: many ranks on one machine, or one rank of many.

Over the NCCL that stands in, collectives carry no values and do not wait. That is right for
memory; what programs rely on besides is mended here:

    objects   all_gather_object() and the like, and barriers: through the group's store
    numbers   small broadcasts of whole numbers: through the store too
    world     with --world-size: this process is one rank of N, and the others do not exist
    models    DistributedDataParallel compares them across ranks, and may find nothing to compare
    pauses    after the first steps, for the thread of PyTorch that drops finished work

Groups are not split: ncclCommSplit() gives a rank no number of the others. A group
made anew takes the same memory, because PyTorch's splits share none.
"""

import functools
import importlib
import time

from plimsoll_agent import broadcasts, ranks, world
from plimsoll_agent.objects import Objects
from plimsoll_agent.reads import unwatched
from plimsoll_agent.rebinding import rebind

# PyTorch's thread looks ten times a second for collectives that are done, and only then frees
# what they hold. A GPU's steps take longer than that, ours do not.
PAUSE_SECONDS = 0.25
PAUSED_STEPS = 4


def install(torch, journal):
    """Hooks into torch.distributed, once torch is there.

    journal  takes lines for the user, and failures
    """
    if not torch.distributed.is_available():
        return
    from torch.distributed import distributed_c10d as c10d

    is_alone = world.install(torch, c10d)
    objects = Objects(c10d, journal.note, is_alone)
    objects.install()
    if is_alone:
        broadcasts.agree_alone()
    else:
        broadcasts.Broadcasts(torch, c10d, objects, journal).install()
    rebind(c10d, "destroy_process_group", lambda original: _make_destroy(torch, original))
    rebind(c10d, "_get_split_source", lambda original: lambda *args, **kwargs: None)
    rebind(torch.distributed, "_verify_params_across_processes",
           lambda original: _make_verify(torch, original))
    rebind(c10d, "barrier", lambda original: _make_unwatched(torch, original))
    reducer = getattr(torch.distributed, "Reducer", None)
    if hasattr(reducer, "_rebuild_buckets"):  # which agrees on them across ranks
        rebuild = reducer._rebuild_buckets
        reducer._rebuild_buckets = functools.wraps(rebuild)(_make_unwatched(torch, rebuild))
    optimizer = importlib.import_module("torch.optim.optimizer")  # no attribute of its package
    optimizer.register_optimizer_step_post_hook(_make_pauses(c10d))
    rebind(c10d, "split_group", lambda original: _make_split_group(c10d, original))


def _make_destroy(torch, original):
    """Notes which rank this is before the group, which alone may know it, is gone."""

    def destroy_process_group(*args, **kwargs):
        ranks.current(torch)
        return original(*args, **kwargs)

    return destroy_process_group


def _make_split_group(c10d, original):
    def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None,
                    group_desc=None, *args, **kwargs):
        parent = parent_pg or c10d._get_default_group()
        own = [ranks for ranks in split_ranks or [] if parent.rank() in ranks]
        if not own:
            return original(parent_pg, split_ranks, timeout, pg_options, group_desc, *args,
                            **kwargs) if not split_ranks else None
        ranks = [c10d.get_global_rank(parent, rank) for rank in own[0]]
        return c10d.new_group(ranks, timeout=timeout, pg_options=pg_options,
                              use_local_synchronization=True, group_desc=group_desc)

    return split_group


def _make_unwatched(torch, original):
    def call(*args, **kwargs):
        with unwatched(torch):
            return original(*args, **kwargs)

    return call


def _make_verify(torch, original):
    """The ranks' numbers of parameters come through the device. Up to PyTorch 2.11 they arrive,
    as all ranks say the same; later ones move them by a kernel, after which they are not known."""

    def verify_params_across_processes(*args, **kwargs):
        try:
            with unwatched(torch):
                return original(*args, **kwargs)
        except RuntimeError as error:
            if "same model across all ranks" not in str(error):
                raise
            return None

    return verify_params_across_processes


def _make_pauses(c10d):
    steps = [0]

    def pause(*_):
        if steps[0] < PAUSED_STEPS and c10d.is_initialized() and "nccl" in c10d.get_backend():
            steps[0] += 1
            time.sleep(PAUSE_SECONDS)

    return pause
