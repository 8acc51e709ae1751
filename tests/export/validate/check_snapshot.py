#!/usr/bin/env python3
"""check_snapshot.py PLIMSOLL - PyTorch's own torch/cuda/_memory_viz.py reads exported snapshots, and what it
makes of them has the sums of `inspect`.

Wants a Python with PyTorch: PLIM_TORCH_PYTHON.
"""

import json
import os
import subprocess

import kit

PROGRAM = """
import json, pickle, runpy, sys
viz = runpy.run_path(sys.argv[1])
with open(sys.argv[2], "rb") as file:
    data = pickle.load(file)
live = {}
for number, events in enumerate(data["device_traces"]):
    blocks = {}
    for segment in data["segments"]:
        if segment["device"] == number:
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    blocks[block["address"]] = block["requested_size"]
    live[number] = sum(blocks.values())
folded = viz["memory"](data, format_flamegraph=lambda lines: lines) # which it would draw
print(json.dumps({
    "live": live,
    "segments": len(viz["segments"](data, format_flamegraph=lambda lines: lines)),
    "memory": sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()),
    "reserved": sum(segment["total_size"] for segment in data["segments"]),
    "trace": len(viz["trace"](data)),
    "plot": len(viz["trace_plot"](data)),
}))
"""


def main():
    python = os.environ.get("PLIM_TORCH_PYTHON")
    if not python:
        raise kit.Skip("PLIM_TORCH_PYTHON names no Python with PyTorch")
    place = kit.call([python, "-c", "import importlib.util as u; print(u.find_spec('torch').origin)"],
                     "there is no PyTorch").stdout.strip()
    script = os.path.join(os.path.dirname(place), "cuda", "_memory_viz.py")
    for source in kit.RECORDINGS:
        facts = kit.inspect(source)
        path, _ = kit.export(source, "run.pickle")
        done = subprocess.run([python, "-c", PROGRAM, script, path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
        for device, fact in facts.items():
            assert seen["live"][str(device)] == fact["end"]["requested_bytes"], (seen, fact["end"])
        reserved = sum(fact["end"]["reserved_bytes"] for fact in facts.values())
        assert seen["reserved"] == seen["memory"] == reserved, (seen, reserved)
        print(f"{source.name}: _memory_viz.py reads {seen['memory']} bytes of segments, "
              f"{sum(seen['live'].values())} requested, {seen['trace']} characters of trace")


kit.main(main)
