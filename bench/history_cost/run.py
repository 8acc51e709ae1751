#!/usr/bin/env python3
"""What being watched costs: nanoseconds that listeners, history and recordings add to an event.

    run.py --plimsoll-side PROGRAM [--quick] [--rounds N] [--directory DIR]

The same pairs of malloc and free as in alloc_fastpath, whose programs are used: alone, with a
listener that only counts, with history in a ring but no stacks, with history and the stack of
every event (a few calls deep and 32 deeper), and with a recording to a file. Where PyTorch's
library is found, its listener and its history without stacks are measured in turns with ours; its
stacks are taken by libraries that are not there. While a file is written, a batch has fewer events
than the queue holds and nothing may be dropped.

A pair is three events. Prints one JSON document.
"""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                                "alloc_fastpath"))
import sides  # noqa: E402
from measuring import fail, machine  # noqa: E402

PAIRS = ("split_512", "mix_fifo")
EVENTS = 100000
EVENTS_PER_PAIR = 3


def cases_make(place, batch_ns):
    def case(name, *words, **more):
        return sides.Case(name, "--batch-ns", batch_ns, *words, **more)

    path = os.path.join(place, "recording.plim")
    return {name: {
        "off": case(name),
        "listener": case(name, "--listen"),
        "history": case(name, "--history", EVENTS),
        "stacks": case(name, "--history", EVENTS, "--stacks", only_ours=True),
        "stacks_32_deeper": case(name, "--history", EVENTS, "--stacks", "--depth", 32,
                                 only_ours=True),
        "recording": case(name, "--record", path, only_ours=True),
    } for name in PAIRS}


def result(cases):
    found = {way: case.result() for way, case in cases.items()}
    for way, figures in found.items():
        for side in ("plimsoll", "torch"):
            if side in figures and way != "off":
                figures[f"{side}_added_per_event"] = round(
                    (figures[side] - found["off"][side]) / EVENTS_PER_PAIR, 1)
    taken = [one["recorder"] for one in cases["recording"].ours]
    if any(one["dropped"] for one in taken):
        fail("the recording dropped events although its queue had room")
    found["recording"]["bytes_per_event"] = round(
        sum(one["written_bytes"] for one in taken) / max(sum(one["events"] for one in taken), 1),
        1)
    held = cases["history"].ours[0]["metadata"]["history_bytes"]
    found["history"]["bytes_per_event"] = round(held / EVENTS, 1)
    return found


def main():
    options = sides.options_parse(__doc__, sys.argv[1:], {"rounds": "1"})
    document = {"benchmark": "history_cost", "machine": machine(),
                "rounds": int(options["rounds"]), "torch": sides.TORCH}
    with tempfile.TemporaryDirectory(prefix="history_cost.", dir=options["directory"]) as place:
        torch, reason = None, "not with --quick"
        if not options["is_quick"]:
            torch, reason = sides.build_torch(place)
        document["against"] = "torch, measured here" if torch else f"nothing ({reason})"
        cases = cases_make(place, 20000 if options["is_quick"] else 8000000)
        sides.take_rounds([case for group in cases.values() for case in group.values()],
                          options["plimsoll_side"], torch, int(options["rounds"]))
        document["pairs"] = {name: result(group) for name, group in cases.items()}
    print(json.dumps(document), flush=True)


if __name__ == "__main__":
    main()
