"""Cases that must end well all the same: hostile, broken, unfolding, wrong in every field."""

import copy
import gzip
import json
import pickle
import random

import pickle_forms
from allocator_sim import MIB
from good_cases import zstd
from hand_made import rich
from schemas import program, project


def paths_of(value, path=()):
    """Every place of a value, each dict of a list's kind once."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths_of(value[key], path + (key,))
    elif isinstance(value, (list, tuple)):
        for index in range(min(len(value), 2)):
            yield from paths_of(value[index], path + (index,))


def replaced(value, path, new):
    if not path:
        return new
    head, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {
            key: replaced(item, rest, new) if key == head else item for key, item in value.items()
        }
    return type(value)(
        replaced(item, rest, new) if i == head else item for i, item in enumerate(value)
    )


WRONG = [
    None,
    -1,
    1.5,
    float("nan"),
    1e300,
    "x",
    "",
    True,
    [],
    {},
    [[]],
    [{}],
    {"a": {}},
    (),
    1 << 63,
    -(1 << 63),
    1 << 70,
]


def add_wrong_types(folder):
    snapshot = rich()
    for number, path in enumerate(paths_of(snapshot)):
        for index, wrong in enumerate(WRONG):
            if (number + index) % 3 and len(path) > 2:
                continue
            bad, place = replaced(snapshot, path, wrong), ".".join(map(str, path)) or "top"
            why = f"{place} is {wrong!r}"
            if index % 2:
                folder.add(f"wrong-{number}-{index}.json", json.dumps(bad).encode(), "robust", why)
            else:
                folder.add(f"wrong-{number}-{index}.pickle", pickle.dumps(bad, 4), "robust", why)
        missing = path and isinstance(path[-1], str)
        if missing:
            cut = copy.deepcopy(snapshot)
            holder = cut
            for step in path[:-1]:
                holder = holder[step]
            if isinstance(holder, dict) and path[-1] in holder:
                del holder[path[-1]]
                folder.add(
                    f"missing-{number}.pickle",
                    pickle.dumps(cut, 4),
                    "robust",
                    f"{'.'.join(map(str, path))} is missing",
                )
    for index, key in enumerate([1, None, (1, 2), 1.5, True, b"segments"]):
        folder.add(
            f"wrong-key-{index}.pickle",
            pickle.dumps({**snapshot, key: 1}, 4),
            "robust",
            f"{key!r} as a key",
        )
        swapped = dict(snapshot, device_traces=[[{key: 1, "action": "alloc"}]])
        folder.add(
            f"wrong-event-key-{index}.pickle",
            pickle.dumps(swapped, 4),
            "robust",
            f"{key!r} as a key of an event",
        )


def add_hostile(folder):
    _, (newest, _) = program("hostile", steps=10)
    for hostile in pickle_forms.hostile_pickles(project(newest, "2.9")):
        folder.add(
            f"hostile-{hostile.name}.pickle",
            hostile.data,
            "refused",
            hostile.why,
            names=hostile.names,
            offset=hostile.offset,
        )
    folder.add(
        "hostile-in-gzip.pickle.gz",
        gzip.compress(b"cos\nsystem\n(S'true'\ntR.", mtime=0),
        "refused",
        "GLOBAL under gzip",
        names=["os", "system"],
        offset=0,
    )


def add_broken(folder):
    for name, data, why in pickle_forms.broken_pickles():
        kind = (
            "robust" if name in ("deep-list", "deep-tuple") else "corrupt"
        )  # a list, if an odd one
        folder.add(f"broken-{name}.pickle", data, kind, why)
    smallest = {
        "segments": [],
        "device_traces": [[{"action": "alloc", "addr": 512, "size": 5, "stream": 0}]],
    }
    for protocol in (0, 2, 4):
        data = pickle.dumps(smallest, protocol)
        for length in range(1, len(data)):
            folder.add(
                f"cut-{protocol}-{length}.pickle",
                data[:length],
                "corrupt",
                f"cut after {length} bytes",
            )
    text = json.dumps(smallest).encode()
    for length in range(1, len(text)):
        folder.add(f"cut-{length}.json", text[:length], "corrupt", f"cut after {length} bytes")
    for name, packed in (("gz", gzip.compress(text * 20, mtime=0)), ("zst", zstd(text * 20))):
        for length in range(1, len(packed or b""), 5):
            folder.add(
                f"cut-{length}.json.{name}", packed[:length], "corrupt", f"cut after {length} bytes"
            )
    flipped = bytearray(gzip.compress(text, mtime=0))
    flipped[-6] ^= 1
    folder.add("checksum.json.gz", bytes(flipped), "corrupt", "gzip with a wrong checksum")
    for name, bad in {
        "comma": b'{"segments":[],}',
        "quotes": b"{'segments':[]}",
        "number": b"17",
        "string": b'"x"',
        "nothing": b"null",
        "unclosed": b'{"segments":[',
        "control": b'{"segments":["\n"]}',
        "escape": b'{"segments":["\\x"]}',
        "deep-open": b"[" * 2000000,
        "deep-object": b'{"a":' * 1000000,
        "two": b"{}{}",
        "number-form": b'{"segments":[],"device_traces":[],"a":01}',
        "bare-word": b'{"segments":[],"device_traces":[],"a":undefined}',
    }.items():
        folder.add(f"broken-{name}.json", bad, "corrupt", f"JSON: {name}")


def add_bombs(folder):
    """Files that claim or unfold to far more than they hold: they must end soon, in little memory."""
    empty = b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces]X\x01\0\0\0a"
    bombs = {
        "doubling": empty + pickle_forms.doubled_list(60)[2:-1] + b"u.",
        "put-4e9": empty + b"Nr\xff\xff\xff\xffu.",
        "put-4e9-text": empty + b"Np4294967295\nu.",
        "put-sparse": empty
        + b"N"
        + b"".join(b"r" + pickle_forms.uint(4, i << 16) for i in range(8000))
        + b"u.",
        "put-1e30": empty + b"Np1" + b"0" * 30 + b"\nu.",
        "deep-unknown": empty + b"]" * 1000000 + b"a" * 999999 + b"u.",
        "deep-tuple": empty + b")" + b"\x85" * 1000000 + b"u.",
        "deep-dict": empty + b"}" + b"X\x01\0\0\0k}" * 200000 + b"s" * 200000 + b"u.",
        "self-containing": empty + b"]q\x05h\x05au.",
        "self-containing-trace": b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces]q\x05h\x05au.",
        "self-containing-frames": b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces](](}q\x05(X\x06\0\0\0action"
        b"X\x05\0\0\0allocX\x06\0\0\0frames]q\x06h\x06aueeu.",
        "million-digits": empty + b"L" + b"9" * 1000000 + b"L\nu.",
        "million-byte-int": empty + b"\x8b\x40\x42\x0f\0" + b"\x7f" * 1000000 + b"u.",
        "many-marks": empty + b"(" * 300000 + b"1" * 300000 + b"Nu.",
        "trailing-zeros": pickle.dumps(rich(), 4) + b"\0\0",
        "trailing-garbage": pickle.dumps(rich(), 4) + b"cos\nsystem\n",
    }
    for name, data in bombs.items():
        folder.add(f"bomb-{name}.pickle", data, "robust", f"a bomb: {name}")
    one = {"action": "alloc", "addr": 512, "size": 5, "stream": 0}
    trace = [one] * 10000
    shared = {"segments": [], "device_traces": [trace] * 10000}
    folder.add(
        "bomb-shared-traces.pickle",
        pickle.dumps(shared, 4),
        "robust",
        "40 KB that name 10**8 events",
    )
    frames = [{"filename": "a.py", "line": 1, "name": "f"}] * 10000
    wide = {"segments": [], "device_traces": [[dict(one, frames=frames)] * 10000]}
    folder.add(
        "bomb-shared-frames.pickle", pickle.dumps(wide, 4), "robust", "40 KB that name 10**8 frames"
    )
    lists = {
        "segments": [],
        "device_traces": [
            [dict(one, frames=list(frames[:100] + [dict(frames[0], line=i)])) for i in range(1000)]
        ],
    }
    folder.add(
        "bomb-many-stacks.pickle",
        pickle.dumps(lists, 4),
        "robust",
        "10**5 frame references over 1000 stacks",
    )
    blank = gzip.compress(b" " * MIB, mtime=0) * 400
    folder.add(
        "bomb-blank.json.gz",
        blank + gzip.compress(b'{"segments":[],"device_traces":[]}', mtime=0),
        "robust",
        "400 MiB of blanks in 400 KB",
    )
    folder.add(
        "bomb-zeros.gz",
        gzip.compress(b"\0" * MIB, mtime=0) * 400,
        "corrupt",
        "400 MiB of zeros in 400 KB",
    )
    text = b'{"segments":[],"device_traces":[],"a":'
    long_string = gzip.compress(b"x" * MIB, mtime=0) * 64
    folder.add(
        "bomb-long-string.json.gz",
        gzip.compress(text + b'"', mtime=0) + long_string + gzip.compress(b'"}', mtime=0),
        "robust",
        "a string of 64 MiB in 66 KB",
    )
    folder.add(
        "bomb-deep.json",
        text + b"[" * 500000 + b"]" * 500000 + b"}",
        "robust",
        "JSON half a million deep",
    )
    folder.add(
        "bomb-digits.json", text + b"9" * 1000000 + b"}", "robust", "a number of a million digits"
    )
    folder.add("bomb-exponent.json", text + b"1e999999999}", "robust", "a number beyond doubles")
    folder.add(
        "bomb-duplicate-keys.json",
        b"{" + b'"segments":[],' * 20000 + b'"device_traces":[]}',
        "robust",
        "20,000 times the same key",
    )


def add_mutations(folder):
    _, (newest, _) = program("mutations", steps=12, wait=0.3)
    rng = random.Random("mutations")
    snapshot = project(newest, "2.12")
    for name, data in (
        ("pickle", pickle.dumps(snapshot, 4)),
        ("pickle", pickle.dumps(snapshot, 0)),
        ("json", json.dumps(snapshot).encode()),
    ):
        for _ in range(60):
            mutant = bytearray(data)
            for _ in range(rng.randint(1, 6)):
                mutant[rng.randrange(len(mutant))] = rng.randrange(256)
            folder.add(
                f"mutant-{len(folder.cases)}.{name}", bytes(mutant), "robust", "some bytes changed"
            )


def add_all(folder):
    for add in (add_hostile, add_broken, add_bombs, add_wrong_types, add_mutations):
        add(folder)
