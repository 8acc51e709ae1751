#!/usr/bin/env python3
"""test_save.py TOOL - what we write as PyTorch snapshots, seen with Python's eyes.

The tool (save_tool.c) reads a snapshot and writes it back. Then

    what Python loads        is what PyTorch had written: values, types, the order of keys
    what records share       is one object: a stack, a frame, however many events have it
    the pickle               is of opcodes that PyTorch's viewer knows, in batches it can take
    older releases           get their own keys
    PyTorch's _memory_viz.py says the same of our file as of the original: where it is at hand,
                             as PLIM_MEMORY_VIZ or where tools/torch-python puts it

$PLIM_SNAPSHOT_DIR may name a folder with more snapshots.
"""

import contextlib
import functools
import gzip
import importlib.util
import io
import json
import os
import pathlib
import pickle
import pickletools
import subprocess
import sys
import tempfile
import unittest

from memory_viz import find_memory_viz

TOOL = sys.argv.pop(1)
RECORDINGS = pathlib.Path("tests/data/recordings")
NEWEST = 214

# What PyTorch's MemoryViz.js reads (docs/reference/snapshots.md, 5) and we have a use for.
# BINPUT and its kind are left out: the viewer counts MEMOIZE without looking at them.
OPCODES = set(
    """PROTO FRAME STOP MARK EMPTY_DICT EMPTY_LIST TUPLE2 APPEND APPENDS SETITEM SETITEMS BININT
    BININT1 BININT2 LONG1 BINFLOAT NEWTRUE NEWFALSE NONE BINUNICODE SHORT_BINUNICODE BINGET
    LONG_BINGET MEMOIZE""".split()
)
BATCH_MAX = 1000

SEGMENT = """device address total_size allocated_size active_size requested_size stream segment_type
    segment_pool_id is_expandable frames blocks""".split()
SEGMENT_WITH_FRAMES = [key for key in SEGMENT if key != "frames"] + ["frames"]
BLOCK = "address size requested_size state frames".split()


def read(path):
    data = pathlib.Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout
    return data


@functools.cache
def saved(path, release=None):
    """The bytes that the tool makes of a snapshot."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.pickle"
        release = [] if release is None else [str(release)]
        subprocess.run([TOOL, path, out, *release], check=True, timeout=120)
        return out.read_bytes()


def saved_value(value, release=None):
    """The same of a value, which is written as JSON."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(value, file)
        file.flush()
        return saved.__wrapped__(file.name, release)


def recordings():
    return sorted(path for path in RECORDINGS.iterdir() if ".pickle" in path.name)


def readable(path):
    """False where a program is missing that unpacks it."""
    try:
        return bool(read(path))
    except FileNotFoundError:
        return False


def events_of(snapshot):
    return [event for trace in snapshot["device_traces"] for event in trace]


def blocks_of(snapshot):
    return [block for segment in snapshot["segments"] for block in segment["blocks"]]


def stacks_of(snapshot):
    """Each place that has frames."""
    records = [*events_of(snapshot), *snapshot["segments"], *blocks_of(snapshot)]
    return [record["frames"] for record in records if "frames" in record]


def as_written(snapshot):
    """As PyTorch wrote it, but for what a history does not tell apart: a context without frames
    is as none, and the order of an annotation's keys changed with releases."""
    for event in events_of(snapshot):
        if event.get("frames") == []:
            del event["frames"]
    for segment in snapshot["segments"]:
        if segment["frames"] == []:
            blocks = segment.pop("blocks")
            segment["blocks"] = blocks
    return snapshot


def differences(a, b, where="", seen=None):
    """Where two snapshots differ, in values, types or the order of keys."""
    seen = set() if seen is None else seen
    if (id(a), id(b)) in seen:
        return
    if type(a) is not type(b):
        yield f"{where}: {a!r} is no {b!r}"
    elif isinstance(a, dict):
        seen.add((id(a), id(b)))
        if list(a) != list(b):
            yield f"{where}: keys {list(a)} are not {list(b)}"
        for key in a.keys() & b.keys():
            yield from differences(a[key], b[key], f"{where}/{key}", seen)
    elif isinstance(a, (list, tuple)):
        seen.add((id(a), id(b)))
        if len(a) != len(b):
            yield f"{where}: {len(a)} items are not {len(b)}"
        for index, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{where}[{index}]", seen)
    elif a != b:
        yield f"{where}: {a!r} is not {b!r}"


def batches(data):
    """How many items each APPENDS and SETITEMS takes, counting a nested container as one."""
    marks, depth = [], 0
    for opcode, argument, _ in pickletools.genops(data):
        name = opcode.name
        if name == "MARK":
            marks.append(depth)
            continue
        if name in ("APPENDS", "SETITEMS"):
            mark = marks.pop()
            yield name, (depth - mark) // (2 if name == "SETITEMS" else 1)
            depth = mark
        elif name == "APPEND":
            depth -= 1
        elif name == "SETITEM":
            depth -= 2
        elif name == "TUPLE2":
            depth -= 1
        elif name not in ("PROTO", "FRAME", "MEMOIZE", "STOP"):
            depth += 1


def event(index, **more):
    return {"action": "alloc", "addr": index, "size": 512, "stream": 0, "time_us": index, **more}


class Recordings(unittest.TestCase):
    """Our own, which PyTorch 2.11 wrote."""

    def each(self):
        for path in recordings():
            with self.subTest(path.name):
                if not readable(path):
                    self.skipTest("zstd is not installed")
                yield path

    def test_what_pytorch_wrote_comes_back(self):
        for path in self.each():
            before = as_written(pickle.loads(read(path)))
            after = pickle.loads(saved(path))
            self.assertEqual(list(differences(before, after))[:5], [])

    def test_the_same_bytes_come_each_time(self):
        for path in self.each():
            self.assertEqual(saved(path), saved.__wrapped__(path))

    def test_files_get_no_larger(self):
        for path in self.each():
            self.assertLess(len(saved(path)), len(read(path)))

    def test_stacks_and_frames_are_shared(self):
        for path in self.each():
            snapshot = pickle.loads(saved(path))
            stacks = [stack for stack in stacks_of(snapshot) if stack]
            frames = [frame for stack in stacks for frame in stack]
            for objects, text in ((stacks, "stacks"), (frames, "frames")):
                self.assertGreater(len(objects), 0)
                different = {json.dumps(item) for item in objects}
                self.assertEqual(len({id(item) for item in objects}), len(different), text)
            texts = [frame["filename"] for frame in frames]
            self.assertEqual(len({id(text) for text in texts}), len(set(texts)))

    def test_only_what_is_shared_is_in_the_memo(self):
        for path in self.each():
            data = saved(path)
            snapshot = pickle.loads(data)
            memoized = sum(opcode.name == "MEMOIZE" for opcode, _, _ in pickletools.genops(data))
            stacks = {id(stack) for stack in stacks_of(snapshot) if stack}
            self.assertLess(memoized, len(events_of(snapshot)) + len(blocks_of(snapshot)) + 3000)
            self.assertGreaterEqual(memoized, len(stacks))

    def test_the_viewer_knows_the_opcodes(self):
        for path in self.each():
            data = saved(path)
            self.assertEqual(data[:2], b"\x80\x04")
            self.assertLessEqual({op.name for op, _, _ in pickletools.genops(data)}, OPCODES)
            self.assertLessEqual(max(count for _, count in batches(data)), BATCH_MAX)


class StandardOutput(unittest.TestCase):
    """The file named "-"."""

    def test_it_gets_the_same_bytes(self):
        path = RECORDINGS / "streams.pickle"
        done = subprocess.run([TOOL, path, "-"], check=True, capture_output=True, timeout=120)
        self.assertEqual(done.stdout, saved(path))
        self.assertFalse(pathlib.Path("-").exists())

    def test_a_reader_that_takes_its_time_gets_all(self):
        receiving, sending = os.pipe()
        os.set_blocking(sending, False)
        path = RECORDINGS / "train_gpt.pickle"
        with subprocess.Popen([TOOL, path, "-"], stdout=sending) as tool:
            os.close(sending)
            with open(receiving, "rb") as pipe:
                self.assertEqual(pipe.read(), saved(path))
        self.assertEqual(tool.returncode, 0)

    def test_it_may_be_full(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOOL, RECORDINGS / "streams.pickle", "-"], stdout=full,
                                  stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode(),
                         'cannot write to "standard output": No space left on device\n')


class Made(unittest.TestCase):
    """Snapshots made up to have what recordings have not."""

    def test_batches_hold_a_thousand(self):
        for count in (0, 1, 2, 999, 1000, 1001, 2000, 5003):
            frames = [{"name": f"f{i}", "filename": "a.py", "line": i} for i in range(count)]
            segments = [
                {"device": 0, "address": 1024 * i, "total_size": 1024, "stream": 0,
                 "segment_type": "small", "blocks": [
                     {"address": 1024 * i, "size": 1024, "requested_size": 1000,
                      "state": "active_allocated", "frames": []}]}
                for i in range(count)]
            segments[1:2] = []
            segments.append({
                "device": 1, "address": 0, "total_size": count, "stream": 0,
                "segment_type": "small", "blocks": [
                    {"address": i, "size": 1, "requested_size": 1, "state": "inactive",
                     "frames": []} for i in range(count)]})
            snapshot = {
                "segments": segments,
                "device_traces": [[event(i) for i in range(count)]],
                "allocator_settings": {f"s{i}": i for i in range(count)},
                "external_annotations": [
                    {"stage": "START", "name": str(i), "device": 0, "time_us": i}
                    for i in range(count)]}
            for entry in snapshot["device_traces"][0][-1:]:
                entry["frames"] = frames
            data = saved_value(snapshot)
            after = pickle.loads(data)
            with self.subTest(count):
                self.assertLessEqual({op.name for op, _, _ in pickletools.genops(data)}, OPCODES)
                sizes = [size for _, size in batches(data)]
                self.assertLessEqual(max(sizes, default=0), BATCH_MAX)
                self.assertEqual([len(trace) for trace in after["device_traces"]],
                                 [count, 0])
                self.assertEqual(after["allocator_settings"], snapshot["allocator_settings"])
                self.assertEqual(after["external_annotations"], snapshot["external_annotations"])
                self.assertEqual([s["address"] for s in after["segments"]],
                                 [s["address"] for s in segments])
                self.assertEqual(len(after["segments"][-1]["blocks"]), count)
                if count > 0:
                    self.assertEqual(after["device_traces"][0][-1]["frames"], frames)

    def test_numbers_are_exact(self):
        numbers = [0, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**39, 2**47 - 1, 2**53 + 1,
                   2**63 - 1, 2**63, 2**64 - 1]
        events = [event(i, size=number) for number in numbers for i in (number,)
                  if number < 2**63]
        events += [{**event(0), "addr": number} for number in numbers]
        events += [{**event(0), "stream": number} for number in (-1, -(2**63), -128, 2**63 - 1)]
        data = saved_value({"segments": [], "device_traces": [events]})
        after = pickle.loads(data)["device_traces"][0]
        for before, written in zip(events, after):
            if before["time_us"] > (2**63 - 1) // 1000: # beyond 2262 no event has a time
                self.assertNotIn("time_us", written)
                del before["time_us"]
            for key, number in before.items():
                self.assertEqual(written[key], number)
                self.assertIs(type(written[key]), type(number))
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name == "LONG1": # nothing shorter would have done
                self.assertFalse(-(2**31) <= argument < 2**31)

    def test_texts_of_any_length_come_back(self):
        texts = ["x" * n for n in (1, 255, 256, 65535, 65536, 200000)] + ["ä€😀", "a\nb", "\0"]
        events = [event(i, user_metadata=text) for i, text in enumerate(texts * 2)]
        data = saved_value({"segments": [], "device_traces": [events]})
        after = pickle.loads(data)["device_traces"][0]
        self.assertEqual([entry["user_metadata"] for entry in after], texts * 2)
        self.assertLessEqual({op.name for op, _, _ in pickletools.genops(data)}, OPCODES)
        for first, second in zip(after, after[len(texts):]):
            self.assertIs(first["user_metadata"], second["user_metadata"])

    def test_fx_fields_come_back(self):
        fx = {"fx_node_op": "call_function", "fx_node_name": "linear",
              "fx_original_trace": 'File "m.py", line 3, in forward\n    x = y\n'}
        frames = [{"name": "f", "filename": "a.py", "line": 1, **fx},
                  {"name": "g", "filename": "a.py", "line": 2}]
        snapshot = {"segments": [], "device_traces": [[event(1, frames=frames)]]}
        after = pickle.loads(saved_value(snapshot))["device_traces"][0][0]["frames"]
        self.assertEqual(list(differences(frames, after)), [])
        after = pickle.loads(saved_value(snapshot, 209))["device_traces"][0][0]["frames"]
        self.assertEqual(after[0], {"name": "f", "filename": "a.py", "line": 1})

    def test_failed_requests_say_what_was_free(self):
        oom = {"action": "oom", "device_free": 77, "size": 512, "stream": 0, "time_us": 5}
        (after,) = pickle.loads(saved_value({"segments": [], "device_traces": [[oom]]},
                                            208))["device_traces"][0]
        self.assertEqual(list(differences({**oom, "compile_context": "N/A"}, after)), [])
        del oom["device_free"]
        (after,) = pickle.loads(saved_value({"segments": [], "device_traces": [[oom]]},
                                            202))["device_traces"][0]
        self.assertEqual(after["device_free"], 0)

    def test_sums_are_those_of_the_blocks(self):
        states = ["active_allocated", "active_pending_free", "inactive"]
        blocks = [{"address": 10**i, "size": 10**i, "requested_size": 10**i // 2,
                   "state": states[i % 3], "frames": []} for i in range(6)]
        segment = {"device": 0, "address": 1, "total_size": 111111, "stream": 0,
                   "segment_type": "large", "blocks": blocks}
        (after,) = pickle.loads(saved_value({"segments": [segment]}))["segments"]
        self.assertEqual(after["allocated_size"], 1001)
        self.assertEqual(after["active_size"], 11011)
        self.assertEqual(after["requested_size"], 5505)
        self.assertEqual(after["blocks"], blocks)

    def test_every_device_up_to_the_last_has_a_trace(self):
        segment = {"device": 2, "address": 1, "total_size": 0, "stream": 0,
                   "segment_type": "large", "blocks": []}
        after = pickle.loads(saved_value({"segments": [segment], "device_traces": [[event(1)]]}))
        self.assertEqual([len(trace) for trace in after["device_traces"]], [1, 0, 0])


class Releases(unittest.TestCase):
    """Which keys there are, and in what order."""

    FRAME = {"name": "f", "filename": "a.py", "line": 1}
    SNAPSHOT = {
        "segments": [
            {"device": 0, "address": 4096 * i, "total_size": 4096, "stream": 0,
             "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": False,
             "frames": frames, "blocks": [
                 {"address": 4096 * i, "size": 4096, "requested_size": 4000,
                  "state": "active_allocated", "frames": frames}]}
            for i, frames in enumerate(([], [FRAME]))],
        "device_traces": [[event(1, pool_id=(0, 1), frames=[FRAME], compile_context="region",
                                 user_metadata="mine", forward_frames=["a.py:1", "b.py:2"])]],
        "host_segments": [
            {"device": -1, "address": 0, "total_size": 0, "stream": 0, "segment_type": "small",
             "blocks": []}],
        "host_traces": [event(1)],
    }
    EVENT = "action addr size stream".split()
    ROOT = "segments device_traces".split()

    def check(self, release, root, keys_of_event):
        after = pickle.loads(saved_value(self.SNAPSHOT, release))
        self.assertEqual(list(after), root)
        self.assertEqual([list(segment) for segment in after["segments"]],
                         [SEGMENT, SEGMENT_WITH_FRAMES])
        self.assertEqual([list(block) for block in blocks_of(after)], [BLOCK, BLOCK])
        self.assertEqual([list(entry) for entry in events_of(after)], [keys_of_event])
        self.assertIs(type(after["segments"][0]["segment_pool_id"]), tuple)
        return after

    def test_each_has_its_keys(self):
        event_keys, root = [*self.EVENT, "frames"], self.ROOT
        self.check(201, root, event_keys)
        event_keys = [*self.EVENT, "time_us", "frames"]
        self.check(202, root, event_keys)
        root = [*root, "allocator_settings"]
        self.check(203, root, event_keys)
        root = [*root, "external_annotations"]
        self.check(205, root, event_keys)
        self.check(207, root, event_keys)
        event_keys[-1:] = ["compile_context", "frames"]
        self.check(208, root, event_keys)
        event_keys[-1:] = ["user_metadata", "frames"]
        self.check(210, root, event_keys)
        event_keys.append("forward_frames")
        self.check(211, root, event_keys)
        self.check(None, root, event_keys)
        event_keys[-2:-2] = ["pool_id"]
        self.check(212, root, event_keys)
        root = [*root, "host_segments", "host_traces"]
        after = self.check(214, root, event_keys)
        (entry,) = events_of(after)
        self.assertEqual(entry["pool_id"], (0, 1))
        self.assertEqual(entry["forward_frames"], ["a.py:1", "b.py:2"])
        self.assertEqual(len(after["host_segments"]), 1)
        self.assertEqual([list(entry)[:4] for entry in after["host_traces"]], [self.EVENT])
        self.assertEqual(saved_value(self.SNAPSHOT, 299), saved_value(self.SNAPSHOT, 214))

    def test_2_0_says_what_was_requested_in_a_history(self):
        after = pickle.loads(saved_value(self.SNAPSHOT, 200))
        self.assertEqual(list(after), self.ROOT)
        segment = """device address total_size allocated_size active_size stream segment_type
            blocks""".split()
        self.assertEqual([list(entry) for entry in after["segments"]], [segment, segment])
        self.assertEqual(blocks_of(after), [
            {"size": 4096, "state": "active_allocated",
             "history": [{"addr": 0, "real_size": 4000}]},
            {"size": 4096, "state": "active_allocated",
             "history": [{"addr": 4096, "real_size": 4000, "frames": [self.FRAME]}]}])
        self.assertEqual([list(entry) for entry in events_of(after)], [[*self.EVENT, "frames"]])

    def test_1_x_is_a_list_of_segments(self):
        after = pickle.loads(saved_value(self.SNAPSHOT, 113))
        segment = """device address total_size allocated_size active_size segment_type
            blocks""".split()
        self.assertEqual([list(entry) for entry in after], [segment, segment])
        self.assertEqual(after[0]["blocks"], [{"size": 4096, "state": "active_allocated"}])

    def test_what_is_not_known_is_as_pytorch_has_it(self):
        (entry,) = events_of(pickle.loads(saved_value(
            {"segments": [], "device_traces": [[event(1)]]})))
        self.assertEqual(entry, {**event(1), "compile_context": "N/A", "user_metadata": ""})
        without = {key: value for key, value in event(1).items() if key != "time_us"}
        (entry,) = events_of(pickle.loads(saved_value(
            {"segments": [], "device_traces": [[without]]})))
        self.assertNotIn("time_us", entry)


class MemoryViz(unittest.TestCase):
    """PyTorch's own tool, run on the original and on ours."""

    @classmethod
    def setUpClass(cls):
        path = find_memory_viz()
        if path is None:
            raise unittest.SkipTest("PyTorch's _memory_viz.py is not here: name it as "
                                    "PLIM_MEMORY_VIZ, or run tools/torch-python")
        spec = importlib.util.spec_from_file_location("_memory_viz", path)
        cls.viz = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.viz)

    def pages(self, snapshot):
        viz = self.viz
        yield "stats", viz.segsum(snapshot)
        yield "trace", viz.trace(snapshot)
        yield "segments", viz.segments(snapshot, format_flamegraph=str)
        yield "memory", viz.memory(snapshot, format_flamegraph=str)
        half = snapshot["segments"][::2]
        with contextlib.redirect_stdout(io.StringIO()) as out:
            page = viz.compare(half, snapshot["segments"], format_flamegraph=str)
        yield "compare", sorted(page.splitlines())
        yield "compare's words", sorted(out.getvalue())

    def test_it_says_the_same_of_our_recordings(self):
        for path in recordings():
            if not readable(path):
                continue
            before = pickle.loads(read(path))
            after = pickle.loads(saved(path))
            pages = zip(self.pages(before), self.pages(after))
            for (name, original), (_, ours) in pages:
                with self.subTest(f"{name} of {path.name}"):
                    if name == "trace":
                        original = original.replace(", 'frames': []}", "}")
                    self.assertEqual(original, ours)

    def test_it_plots_our_file(self):
        snapshot = pickle.loads(saved(RECORDINGS / "out_of_memory.pickle"))
        for plot, options in ((self.viz.trace_plot, {"plot_segments": True}),
                              (self.viz.trace_plot, {"filter_freed": True}),
                              (self.viz.segment_plot, {})):
            self.assertIn("snapshot.pickle", plot(snapshot, **options))

    def test_it_says_the_same_of_snapshots_of_others(self):
        folder = os.environ.get("PLIM_SNAPSHOT_DIR")
        if not folder:
            self.skipTest("PLIM_SNAPSHOT_DIR is not set")
        for path in sorted(pathlib.Path(folder).glob("*.pickle")):
            before = pickle.loads(read(path))
            after = pickle.loads(saved(path, NEWEST))
            self.assertEqual([len(trace) for trace in before["device_traces"]],
                             [len(trace) for trace in after["device_traces"]])
            if any("history" in block for block in blocks_of(before)):
                continue # 2.0's files say several uses of a block, of which we know the last
            if any(sum(block["size"] for block in segment["blocks"]) != segment["total_size"]
                   for segment in before["segments"]):
                continue # made by hand; it counts on whole segments
            with self.subTest(path.name):
                for (name, original), (_, ours) in zip(self.pages(before), self.pages(after)):
                    if name in ("stats", "memory"):
                        self.assertEqual(original, ours)


if __name__ == "__main__":
    unittest.main()
