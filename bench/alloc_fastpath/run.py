#!/usr/bin/env python3
"""What malloc and free cost when the cache has what is asked for, beside PyTorch's own allocator.

    run.py --plimsoll-side PROGRAM [--quick] [--rounds N] [--directory DIR]

Where libc10_cuda.so of PyTorch 2.11.0 is found (PLIM_TORCH_LIB and PLIM_TORCH_INCLUDE, or the
cache of tests/oracle or tools/record), its side is compiled and measured in turns with ours, over
a CUDA runtime whose functions return at once. Where it is not, our figures stand beside those in
recorded.json, which were taken elsewhere: then only the recorded ratios mean something.

Figures are nanoseconds per malloc and free, the best batch of the best round; with two threads the
median of the medians, per pair of one thread. A ratio is PyTorch's figure through ours, within a round; the
median of the rounds. Above 1 it is in our favour. Prints one JSON document.
"""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sides  # noqa: E402
from measuring import machine  # noqa: E402

RECORDED = os.path.join(sides.PLACE, "recorded.json")
PAIRS = ("exact_512", "split_512", "exact_2m", "split_2m", "mix_fifo", "mix_lifo", "mix_random")
LIVES = ("live_hot", "live_cold", "live_holes")
HISTORY_EVENTS = 100000
EVENTS_PER_PAIR = 3  # alloc, free_requested, free_completed
FULL = {"batch_ns": 8000000, "threads_batch_ns": 50000000, "few": 1000, "many": 1000000,
        "blocks": 10000000}
QUICK = {"batch_ns": 20000, "threads_batch_ns": 20000, "few": 100, "many": 1000, "blocks": 5000}


def cases_make(scale):
    def case(*words, **more):
        return sides.Case(*words, "--batch-ns", scale["batch_ns"], **more)

    cases = {"pair_1_thread": {name: case(name) for name in PAIRS}}
    cases["pair_1_thread_expandable"] = {
        name: case(name, settings="expandable_segments:True") for name in PAIRS}
    cases["pair_2_threads"] = {
        name: sides.Case(name, "--threads", 2, "--batch-ns", scale["threads_batch_ns"],
                         figure="ns_median") for name in PAIRS}
    cases["pair_beside_idle_thread"] = {name: case(name, "--bystander") for name in PAIRS}
    for count in ("few", "many"):
        cases[f"live_{count}"] = {name: case(name, "--live", scale[count]) for name in LIVES}
    cases["history"] = {name: case(name, "--history", HISTORY_EVENTS) for name in PAIRS}
    cases["listener"] = {name: case(name, "--listen") for name in PAIRS}
    return cases


def memory_cases(scale):
    return {"512": sides.Case("--memory", scale["blocks"], figure="resident_bytes"),
            "mixed": sides.Case("--memory", scale["blocks"], "--mixed", figure="resident_bytes")}


def growth(cases):
    """How much more a pair costs among many live blocks than among few."""
    found = {}
    for name in LIVES:
        few, many = cases["live_few"][name].result(), cases["live_many"][name].result()
        found[name] = {"few": few, "many": many}
        for side in ("plimsoll", "torch"):
            if side in few:
                found[name][f"{side}_many_over_few"] = round(many[side] / few[side], 2)
    return found


def added(base, watched):
    """Nanoseconds per event that being told or keeping history adds, and the pair as a whole."""
    found = {}
    for name, case in watched.items():
        with_it, without = case.result(), base[name].result()
        for side in ("plimsoll", "torch"):
            if side in with_it:
                with_it[f"{side}_added_per_event"] = round(
                    (with_it[side] - without[side]) / EVENTS_PER_PAIR, 1)
        found[name] = with_it
    return found


def memory(cases):
    found = {}
    for name, case in cases.items():
        blocks = case.ours[0]["blocks"]
        metadata = case.ours[0]["metadata"]
        found[name] = {
            "blocks": blocks,
            "plimsoll_resident_per_block": round(case.ours[0]["resident_bytes"] / blocks, 1),
            "plimsoll_metadata_per_block": {
                part: round(size / blocks, 2) for part, size in metadata.items()
                if part != "blocks"},
            "plimsoll_first_malloc_ns": case.ours[0]["ns_per_malloc"],
        }
        if case.theirs:
            theirs = case.theirs[0]
            found[name] |= {
                "torch_resident_per_block": round(theirs["resident_bytes"] / blocks, 1),
                "torch_first_malloc_ns": theirs["ns_per_malloc"],
                "ratio": round(theirs["resident_bytes"] / max(case.ours[0]["resident_bytes"], 1),
                               2),
            }
    return found


def document_make(options, torch):
    scale = QUICK if options["is_quick"] else FULL
    cases, held = cases_make(scale), memory_cases(scale)
    everything = [case for group in cases.values() for case in group.values()]
    sides.take_rounds(everything, options["plimsoll_side"], torch, int(options["rounds"]))
    sides.take_rounds(held.values(), options["plimsoll_side"], torch, 1)
    document = {"live": {"few": scale["few"], "many": scale["many"]}}
    for group in ("pair_1_thread", "pair_beside_idle_thread", "pair_1_thread_expandable",
                  "pair_2_threads"):
        results = {name: case.result() for name, case in cases[group].items()}
        document[group] = results | sides.summary(results.values())
    document["live_1M_over_1k"] = growth(cases)
    document["memory"] = memory(held)
    document["history"] = added(cases["pair_1_thread"], cases["history"])
    document["listener"] = added(cases["pair_1_thread"], cases["listener"])
    return document


def main():
    options = sides.options_parse(__doc__, sys.argv[1:], {"rounds": "1"})
    document = {"benchmark": "alloc_fastpath", "machine": machine(),
                "rounds": int(options["rounds"]), "torch": sides.TORCH}
    with tempfile.TemporaryDirectory(prefix="alloc_fastpath.", dir=options["directory"]) as place:
        torch, reason = None, "not with --quick"
        if not options["is_quick"]:
            torch, reason = sides.build_torch(place)
        document["against"] = "torch, measured here" if torch else f"recorded.json ({reason})"
        document |= document_make(options, torch)
    if torch is None and not options["is_quick"] and os.path.exists(RECORDED):
        with open(RECORDED, encoding="utf-8") as file:
            document["recorded"] = json.load(file)
    print(json.dumps(document), flush=True)


if __name__ == "__main__":
    main()
