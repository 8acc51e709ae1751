#!/usr/bin/env python3
"""test_traces.py PLIMSOLL - exports over time and profiles, read back: Perfetto, Chrome, pprof. Their sums
are those of `inspect`, to the byte.

Runs from the top of the tree.
"""

import json
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

from trace_files import Chrome, Perfetto, Pprof

PLIMSOLL = sys.argv.pop(1)
RECORDINGS = sorted(str(path) for path in pathlib.Path("tests/data/recordings").glob("*.pickle*"))
TRAIN = "tests/data/recordings/train_gpt.pickle"
FAILS = "tests/data/recordings/out_of_memory.pickle"
FIGURES = ("requested", "allocated", "active", "reserved")
US = 1000  # nanoseconds of a microsecond


def run(*arguments):
    return subprocess.run([PLIMSOLL, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, check=False)


def inspect(path):
    """[the inspection of each device]"""
    done = run("inspect", "--json", path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["files"][0]["devices"]


def name_of(device):
    return "pinned host memory" if device == -1 else f"GPU {device}"


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, source, ending, *options):
        """The bytes that were written, and `export/1`."""
        path = self.folder / ("out" + ending)
        done = run("export", source, "-o", path, "--force", "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path.read_bytes(), json.loads(done.stdout)

    def save(self, snapshot):
        path = self.folder / "made.pickle"
        path.write_bytes(pickle.dumps(snapshot, protocol=4))
        return path

    def traces(self, source, *options):
        """(devices, time unit in microseconds) of both formats."""
        yield list(Perfetto(self.export(source, ".pftrace", *options)[0]).sequences.values()), US
        yield list(Chrome(self.export(source, ".trace.json", *options)[0]).devices.values()), 1

    # --- sums

    def check_counters(self, device, fact, end_bytes):
        """The course of a device against its inspection."""
        self.assertEqual(device.name, name_of(fact["device"]))
        peaks = [mark for mark in device.marks if mark[1] == "peak"]
        self.assertEqual(len(peaks), 1)
        _, _, facts, counters = peaks[0]
        for figure in FIGURES:
            self.assertEqual(facts[figure + "_bytes"], fact["peak"][figure + "_bytes"])
            self.assertEqual(counters[figure], fact["peak"][figure + "_bytes"])
        highest = max(value for _, value in device.counters["requested"])
        self.assertEqual(highest, fact["peak"]["requested_bytes"])
        now = device.now()
        self.assertEqual(now["requested"], end_bytes)
        for state in (counters, now):
            self.assertEqual(sum(value for name, value in state.items() if name.startswith("live: ")),
                             state["requested"])
        self.assertEqual(len(device.counters), 4 + 7)
        failures = [mark for mark in device.marks if mark[1] == "out of memory"]
        self.assertEqual([mark[2]["event"] for mark in failures], [one["event"] for one in fact["ooms"]])
        for mark, oom in zip(failures, fact["ooms"]):
            self.assertEqual(mark[3]["reserved"], oom["reserved_bytes"])

    def test_counters_end_and_peak_where_inspect_does(self):
        for source in RECORDINGS:
            ends = {part["device"]: part["bytes"]
                    for part in self.export(source, ".folded", "--at=end")[1]["profiles"]}
            for devices, _ in self.traces(source):
                with self.subTest(source):
                    facts = inspect(source)
                    self.assertEqual(len(devices), len(facts))
                    for device, fact in zip(devices, facts):
                        self.check_counters(device, fact, ends[fact["device"]])

    def test_profiles_weigh_what_inspect_reports(self):
        for source in RECORDINGS:
            with self.subTest(source):
                profile = Pprof(self.export(source, ".pb.gz")[0])
                self.assertEqual(profile.default, "inuse_space")
                self.assertEqual(profile.types, [("alloc_objects", "count"), ("alloc_space", "bytes"),
                                                 ("inuse_objects", "count"), ("inuse_space", "bytes")])
                for fact in inspect(source):
                    device = name_of(fact["device"])
                    allocs = fact["events_by_action"].get("alloc", 0)
                    self.assertEqual(profile.total("inuse_space", device=device),
                                     fact["peak"]["requested_bytes"])
                    self.assertEqual(profile.total("inuse_objects", device=device),
                                     fact["peak"]["live_count"])
                    self.assertEqual(profile.total("alloc_objects", device=device),
                                     allocs + fact["start"]["live_count"])
                self.assertTrue(all(frames and labels["category"] and labels["device"]
                                    for frames, _, labels in profile.samples))

    def test_a_profile_has_another_moment_or_weight(self):
        end, document = self.export(TRAIN, ".pb.gz", "--at=end")
        self.assertEqual(Pprof(end).total("inuse_space"), document["profiles"][0]["bytes"])
        grown, document = self.export(TRAIN, ".pprof", "--what=churn", "--until=event:99")
        self.assertEqual(Pprof(grown).types, [("churn_objects", "count"), ("churn_space", "bytes")])
        self.assertEqual(Pprof(grown).total("churn_space"), document["profiles"][0]["bytes"])

    def test_frames_are_innermost_first_with_file_and_line(self):
        profile = Pprof(self.export(TRAIN, ".pb.gz")[0])
        with open(TRAIN, "rb") as file:
            events = pickle.load(file)["device_traces"][0]
        recorded = {tuple((frame["name"], frame["filename"], frame["line"]) for frame in event["frames"])
                    for event in events if event["action"] == "alloc" and event["frames"]}
        written = {tuple(frames) for frames, _, _ in profile.samples}
        self.assertEqual(written - recorded, {(("[no stack was recorded]", "", 0),)})
        self.assertEqual(recorded - written, set())

    # --- spans

    def test_each_life_is_a_span_and_as_long_as_recorded(self):
        with open(TRAIN, "rb") as file:
            events = pickle.load(file)["device_traces"][0]
        allocs = [event["size"] for event in events if event["action"] == "alloc" and event["size"] >= 1 << 20]
        for devices, _ in self.traces(TRAIN, "--lives=1MiB"):
            lives = devices[0].spans["allocations"]
            self.assertEqual(sorted(facts["bytes"] for _, _, _, facts in lives), sorted(allocs))
            self.assertTrue(any("gpt.py:30 in forward" in name for _, _, name, _ in lives))
            self.assertTrue(any("ends" in facts for _, _, _, facts in lives))
        for devices, _ in self.traces(TRAIN):
            self.assertNotIn("allocations", devices[0].spans)

    def test_steps_and_annotations_are_spans(self):
        for devices, unit in self.traces(TRAIN):
            steps = devices[0].spans["steps"]
            self.assertEqual([name for _, _, name, _ in steps], [f"step {i}" for i in range(len(steps))])
            peak = max(facts["peak_requested_bytes"] for _, _, _, facts in steps)
            self.assertEqual(peak, inspect(TRAIN)[0]["peak"]["requested_bytes"])
            with open(TRAIN, "rb") as file:
                annotations = pickle.load(file)["external_annotations"]
            starts = sorted((one["time_us"] * unit, one["name"]) for one in annotations
                            if one["stage"] == "START")
            self.assertEqual(sorted((begin, name) for begin, _, name, _ in devices[0].spans["annotations"]),
                             starts)

    def test_segments_are_spans(self):
        for devices, _ in self.traces(TRAIN):
            segments = devices[0].spans["segments"]
            with open(TRAIN, "rb") as file:
                snapshot = pickle.load(file)
            allocs = [event for event in snapshot["device_traces"][0] if event["action"] == "segment_alloc"]
            self.assertEqual(sorted(facts["bytes"] for _, _, _, facts in segments),
                             sorted(event["size"] for event in allocs))
            self.assertEqual(sum(facts["bytes"] for _, _, _, facts in segments if "ends" in facts),
                             sum(one["total_size"] for one in snapshot["segments"]))

    # --- what recordings lack

    def test_without_times_an_event_takes_a_microsecond(self):
        events = [{"action": "alloc", "addr": 512 * i, "size": 100 + i, "stream": 0, "frames": []}
                  for i in range(5)]
        events.append({"action": "free_requested", "addr": 512, "size": 101, "stream": 0, "frames": []})
        path = self.save({"segments": [], "device_traces": [events]})
        for devices, unit in self.traces(path, "--lives=1B"):
            device = devices[0]
            self.assertEqual(device.name, "GPU 0 (no times: each event takes 1 µs)")
            self.assertEqual(device.counters["requested"],
                             [(0, 0), (0, 100), (1 * unit, 201), (2 * unit, 303), (3 * unit, 406),
                              (4 * unit, 510), (5 * unit, 409)][:])
            self.assertEqual(sorted(span[:2] for span in device.spans["allocations"])[1],
                             (1 * unit, 5 * unit))
        self.assertEqual(Pprof(self.export(path, ".pb.gz")[0]).total("inuse_space"), 510)

    def test_a_trace_says_where_it_is_from(self):
        device = next(self.traces(TRAIN))[0][0]
        _, name, facts, _ = device.marks[0]
        self.assertEqual((name, facts["source"], facts["times"]), ("recording", "train_gpt.pickle", "as recorded"))
        self.assertRegex(facts["exporter"], r"^plimsoll \d")
        document = json.loads(self.export(TRAIN, ".trace.json")[0])
        self.assertEqual(document["otherData"], {"exporter": facts["exporter"], "source": "train_gpt.pickle"})

    def test_times_that_step_back_stand_still(self):
        events = [{"action": "alloc", "addr": 512 * i, "size": 100, "stream": 0, "frames": [], "time_us": time}
                  for i, time in enumerate((50, 70, 60, 80))]
        for devices, unit in self.traces(self.save({"segments": [], "device_traces": [events]})):
            self.assertEqual(devices[0].counters["requested"],
                             [(50 * unit, 0), (50 * unit, 100), (70 * unit, 200), (70 * unit, 300),
                              (80 * unit, 400)])

    def test_names_of_any_bytes(self):
        frames = [{"filename": "/a/" + "x" * (1 << 20), "name": "f" * (1 << 20), "line": 7},
                  {"filename": "ABCDEFGH", "name": 'say "hi"\n\x1b[2J', "line": 0}]
        events = [{"action": "alloc", "addr": 0, "size": 100, "stream": 0, "frames": frames, "time_us": 1}]
        annotations = [{"stage": stage, "name": "IJKLMNOP", "device": 0, "time_us": 2}
                       for stage in ("START", "END")]
        path = self.save({"segments": [], "device_traces": [events], "external_annotations": annotations})
        data = path.read_bytes()
        path.write_bytes(data.replace(b"ABCDEFGH", b"\xff\xc3\xed\xa0\x80\xf5AB").replace(
            b"IJKLMNOP", b"a\x00b\x80\xe2\x82cd"))
        profile = Pprof(self.export(path, ".pb.gz")[0])
        (inner, outer), values, _ = profile.samples[0]
        self.assertEqual(inner, ("f" * (1 << 20), "/a/" + "x" * (1 << 20), 7))
        self.assertTrue(outer[1].endswith("\ufffdAB"))
        self.assertEqual(values["inuse_space"], 100)
        for devices, _ in self.traces(path, "--lives=1B"):
            self.assertEqual(len(devices[0].spans["allocations"]), 1)
            self.assertEqual(devices[0].spans["annotations"][0][2], "a b\ufffd\ufffdcd")

    def test_an_end_closes_what_began_last_under_its_name(self):
        events = [{"action": "alloc", "addr": 0, "size": 1, "stream": 0, "frames": [], "time_us": 10}]
        stages = [("END", "z", 5), ("START", "a", 10), ("START", "a", 11), ("START", "b", 12), ("END", "a", 13),
                  ("END", "a", 14), ("START", "c", 15), ("END", "b", 16)]
        annotations = [{"stage": stage, "name": name, "device": 0, "time_us": time}
                       for stage, name, time in stages]
        path = self.save({"segments": [], "device_traces": [events], "external_annotations": annotations})
        for devices, unit in self.traces(path):
            found = sorted((begin // unit, end // unit, name, *facts)
                           for begin, end, name, facts in devices[0].spans["annotations"])
            self.assertEqual(found, [(5, 5, "z", "begins"), (10, 14, "a"), (11, 13, "a"), (12, 16, "b"),
                                     (15, 16, "c", "ends")])

    # --- files

    def test_the_same_recording_gives_the_same_bytes(self):
        for ending in (".pftrace", ".trace.json", ".trace.json.gz", ".pb.gz"):
            options = [] if ending == ".pb.gz" else ["--lives=1KiB"]
            self.assertEqual(self.export(TRAIN, ending, *options)[0], self.export(TRAIN, ending, *options)[0])

    def test_a_failed_write_leaves_nothing(self):
        for ending in (".pftrace", ".trace.json", ".pb.gz"):
            full = self.folder / ("full" + ending)
            full.symlink_to("/dev/full")
            done = run("export", FAILS, "-o", full)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"No space left on device", done.stderr)

    def test_wrong_usage_is_one_clear_line(self):
        for message, arguments in (
                ("holds the whole history", ("a.pftrace", "--at=end")),
                ("does not draw lives of allocations", ("a.pb.gz", "--lives=1MiB")),
                ("pprof holds one moment, not 2", ("a.pb.gz", "--at=peak", "--at=end"))):
            done = run("export", TRAIN, "-o", self.folder / arguments[0], *arguments[1:])
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
