#!/usr/bin/env python3
"""Writes the first inputs of the fuzzers: small files that reach every part of a format.

    make_seeds.py [FOLDER]    FOLDER is fuzz/corpus of this repository unless given

pickle         every opcode, every protocol, what must be refused, what is cut short
json_snapshot  snapshots in JSON, each with other fields or another fault
snapshot       snapshots in every container: pickle, JSON, gzip, zstd
The files are committed, since fuzzing adds to them; run this again only to add more.
"""

import gzip
import json
import os
import pickle
import random
import sys

import hand_made
import pickle_forms
import schemas
from good_cases import zstd

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.normpath(os.path.join(HERE, os.pardir, os.pardir, "fuzz", "corpus"))
MOST_BYTES, MOST_FILES = 4096, 60


def snapshots():
    """Small snapshots by name, one of each schema and some with faults."""
    made = {}
    for generation in schemas.GENERATIONS:
        _, (newest, _) = schemas.program(
            f"seed {generation}",
            steps=3,
            streams=(0, 7),
            wait=0.5,
            expandable=schemas.AGE[generation] >= schemas.AGE["2.1"],
            empties=False,
            notes=True,
        )
        made[generation] = schemas.project(newest, generation)
    held = [hand_made.block(0, 1024, requested=1000)]
    alloc = hand_made.event("alloc", 0, 1000)
    made.update(
        {
            "rich": hand_made.rich(),
            "empty": {"segments": [], "device_traces": []},
            "bare-list": hand_made.tiny([], held)["segments"],
            "double-free": hand_made.tiny(
                hand_made.life(0, 1000) + hand_made.life(0, 1000)[1:], []
            ),
            "over-live": hand_made.tiny([alloc, alloc], held),
            "overlap": hand_made.tiny([alloc], held + [hand_made.block(512, 1024)]),
            "two-devices": dict(
                hand_made.tiny([alloc], held), device_traces=[[alloc], [], [alloc]]
            ),
            "oom": hand_made.tiny(
                [{"action": "oom", "device_free": 5, "size": 512, "stream": 0}], []
            ),
        }
    )
    return made


def pickle_seeds():
    seeds = {name: data for name, data, _ in pickle_forms.plain_samples()}
    for hostile in pickle_forms.hostile_pickles({"segments": []}):
        seeds["hostile-" + hostile.name] = hostile.data
    for name, data, _ in pickle_forms.broken_pickles():
        if name in ("claims-BINUNICODE", "claims-LONG4", "claims-FRAME", "long-binget-unknown"):
            seeds[name] = data
    seeds["doubling"] = pickle_forms.doubled_list(20)
    del seeds["hostile-long-name"]
    return seeds


def json_seeds(values):
    seeds = {name: json.dumps(value, separators=(",", ":")) for name, value in values.items()}
    seeds["indented"] = json.dumps(values["double-free"], indent=1)
    seeds["floats"] = json.dumps(schemas.as_floats(values["over-live"]))
    seeds["escapes"] = json.dumps({"segments": [], 'é\ud800\u2028"\\\n': [1e300, -0.0, None, True]})
    seeds["numbers"] = (
        '{"segments":[],"a":[0,-0,1e5,1E-5,1.5e+300,18446744073709551616,-9223372036854775809,1e999]}'
    )
    seeds["deep"] = '{"segments":' + "[" * 200 + "]" * 200 + "}"
    seeds["wrong-types"] = (
        '{"segments":[5,null,[],{"blocks":7}],"device_traces":{"0":[1]},"allocator_settings":[]}'
    )
    seeds["duplicate-keys"] = '{"segments":[],"segments":[{}],"device_traces":[[]]}'
    return {name: text.encode() for name, text in seeds.items()}


def snapshot_seeds(values):
    rng = random.Random("seeds")
    seeds = {name: pickle.dumps(value, 4) for name, value in values.items()}
    for protocol in range(6):
        seeds[f"opcodes-{protocol}"] = pickle_forms.encode(values["rich"], rng, protocol)
        seeds[f"protocol-{protocol}"] = pickle.dumps(values["double-free"], protocol)
    text = json.dumps(values["rich"]).encode()
    seeds.update(
        {
            "json": text,
            "pickle-gzip": gzip.compress(seeds["rich"], mtime=0),
            "json-gzip": gzip.compress(text, mtime=0),
            "members-gzip": gzip.compress(text[:9], mtime=0) + gzip.compress(text[9:], mtime=0),
        }
    )
    if zstd(text):
        seeds.update({"pickle-zstd": zstd(seeds["rich"]), "json-zstd": zstd(text)})
    return seeds


def write(folder, seeds):
    """Write the seeds that are small enough; the rest would only slow the fuzzer down."""
    os.makedirs(folder, exist_ok=True)
    small = {name: data for name, data in seeds.items() if len(data) <= MOST_BYTES}
    assert len(small) <= MOST_FILES, f"{len(small)} seeds in {folder}"
    for name, data in small.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)
    print(f"{folder}: {len(small)} seeds, {len(seeds) - len(small)} too large")


def main(arguments):
    if len(arguments) > 1 or arguments[:1] and arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    corpus = arguments[0] if arguments else CORPUS
    values = snapshots()
    write(os.path.join(corpus, "pickle"), pickle_seeds())
    write(os.path.join(corpus, "json_snapshot"), json_seeds(values))
    write(os.path.join(corpus, "snapshot"), snapshot_seeds(values))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
