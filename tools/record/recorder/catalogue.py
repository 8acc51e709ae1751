"""The scenarios: what runs, on which GPU, and what the recording must show.

A new one is a program in scenarios/ and an entry here. The program is ordinary PyTorch
code that leaves its snapshot in "snapshot.pickle"; it must not know where it runs.
"""

import dataclasses
from collections.abc import Callable

from recorder import check

GIB = 1 << 30


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str  # scenarios/<name>.py, and the name of the recording
    about: str  # one sentence
    expect: Callable  # (facts, snapshot) -> bool: does it show what it is for?
    suffix: str = ""  # "", ".gz" or ".zst"
    gpu: str = "h100"
    capacity: int | None = None  # bytes of each GPU; None: what it has
    devices: int = 1
    settings: str = ""  # PYTORCH_CUDA_ALLOC_CONF


def counts(action, at_least=1):
    return lambda facts, snapshot: facts["actions"].get(action, 0) >= at_least


def ends_in_oom(facts, snapshot):
    return snapshot["device_traces"][0][-1]["action"] == "oom"


def leaks(facts, snapshot):
    """One line of the program holds most of what is left, and it is not the parameters."""
    by_line = check.live_bytes_by_line(snapshot, "leak.py")
    return max(by_line.values()) > sum(by_line.values()) / 2


def has_pending_free(facts, snapshot):
    """Several streams, and a block that is freed but still waits for one of them."""
    states = {block["state"] for segment in snapshot["segments"] for block in segment["blocks"]}
    streams = {entry["stream"] for entry in snapshot["device_traces"][0]}
    return len(streams) > 1 and "active_pending_free" in states


SCENARIOS = [
    Scenario("train_gpt", "a small GPT, four training steps: AdamW, bf16 autocast, clipping",
             expect=lambda facts, snapshot: facts["is_complete"]),
    Scenario("variable_lengths", "every training step another sequence length",
             expect=counts("segment_alloc", 10), suffix=".gz"),
    Scenario("out_of_memory", "the batch grows until 2 GiB are full; an observer records it, so "
             "that the trace ends with the request that failed",
             expect=ends_in_oom, capacity=2 * GIB),
    Scenario("out_of_memory_handled", "out of memory caught, batch halved, training goes on",
             expect=counts("oom"), capacity=2 * GIB, suffix=".gz"),
    Scenario("expandable_segments", "growing sequences in expandable segments, then empty_cache()",
             expect=counts("segment_unmap"), settings="expandable_segments:True", suffix=".zst"),
    Scenario("leak", "losses are kept together with their graphs", expect=leaks, suffix=".gz"),
    Scenario("evaluate_with_grad", "evaluation without torch.no_grad(), then with it",
             expect=lambda facts, snapshot: facts["is_complete"], suffix=".gz"),
    Scenario("streams", "copies on a second stream, record_stream() between the two; one block "
             "still waits when the snapshot is taken",
             expect=has_pending_free),
    Scenario("two_devices", "a model cut in two, half of it on each GPU",
             expect=lambda facts, snapshot: all(facts["events"]), devices=2, gpu="a100",
             suffix=".gz"),
    Scenario("wrapped_history", "max_entries=1000: the beginning of the history is lost",
             expect=lambda facts, snapshot: not facts["is_complete"]),
    Scenario("accumulate", "gradient accumulation with activation checkpointing",
             expect=lambda facts, snapshot: facts["is_complete"], suffix=".zst"),
    Scenario("cpp_stacks", 'one training step with stacks="all": C++ frames too',
             expect=lambda facts, snapshot: facts["is_complete"], suffix=".zst"),
]


def find(name):
    for scenario in SCENARIOS:
        if scenario.name == name:
            return scenario
    raise KeyError(name)
