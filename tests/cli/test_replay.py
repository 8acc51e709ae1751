#!/usr/bin/env python3
"""test_replay.py PLIMSOLL - the commands replay and tune as their user meets them.

What pages say is tested by the report's golden files, what a replay computes by the room's own
tests; here it is arguments, files, streams, exit statuses, and that documents agree with pages.
"""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PLIMSOLL = sys.argv.pop(1)
RECORDINGS = pathlib.Path("tests/data/recordings")
TRAIN = str(RECORDINGS / "train_gpt.pickle")
OOM = str(RECORDINGS / "out_of_memory.pickle")
ONE_STEP = str(RECORDINGS / "wrapped_history.pickle")
HANDLED = str(RECORDINGS / "out_of_memory_handled.pickle.gz")
TWO_DEVICES = str(RECORDINGS / "two_devices.pickle.gz")
WRAPPED = str(RECORDINGS / "wrapped_history.pickle")
SAVES = "max_split_size_mb:51"  # of OOM and HANDLED
GPUS = pathlib.Path("src/gpus/gpus.tsv").read_text(encoding="utf-8")
GIB = 1 << 30
RESULT = {"conf", "survives", "failed_event", "min_capacity_bytes", "peak_reserved_bytes",
          "peak_allocated_bytes", "fragmentation", "driver_calls", "driver_time_us", "retries"}


def run(*arguments, stdin=b"", stdout=subprocess.PIPE):
    """The finished process; its streams as text."""
    clean = {key: value for key, value in os.environ.items()
             if key not in ("NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG", "PLIM_BLESS")}
    done = subprocess.run([PLIMSOLL, *map(str, arguments)], input=stdin, stdout=stdout,
                          stderr=subprocess.PIPE, env={**clean, "LC_ALL": "C.UTF-8"}, timeout=120,
                          check=False)
    done.stdout = (done.stdout or b"").decode()
    done.stderr = done.stderr.decode()
    return done


class Replay(unittest.TestCase):
    def expect(self, done, status, stderr_lines=0):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), stderr_lines, done.stderr)
        return done

    def document(self, *arguments):
        return json.loads(self.expect(run(*arguments, "--json"), 0).stdout)

    # --- arguments

    def test_wrong_usage(self):
        for words, said in (
                ((), "which file?"),
                ((TRAIN, OOM), "one file at a time"),
                (("--conf", "max_split_size_mb:x", TRAIN), "character 19"),
                (("--conf", "expandable_segments", TRAIN), "character 20"),
                (("--conf", "nonsense:1", TRAIN), "nonsense"),
                (("--capacity", "0", TRAIN), "--capacity takes a size"),
                (("--capacity", "240GiB", "--gpu", "h100", TRAIN), "is a part of"),
                (("--gpu", "voodoo2", TRAIN), "--gpu: "),
                (("--device", "x", TRAIN), "--device takes"),
                (("--from", "x", TRAIN), "--from takes"),
                (("--from", "-1", TRAIN), "--from takes"),
                (("--from", "step:0", TRAIN), "--from takes"),
                (("--to", "99999999999999999999", TRAIN), "--to takes"),
                (("--to", "0", TRAIN), "--to 0"),
                (("--scale", "activations", TRAIN), "--scale takes"),
                (("--scale", "activations=-1", TRAIN), "--scale takes"),
                (("--scale", "activations=nan", TRAIN), "--scale takes"),
                (("--scale", "=2", TRAIN), "--scale takes"),
                (("--costs", "malloc", TRAIN), "--costs takes"),
                (("--costs", "nothing=1", TRAIN), "--costs takes"),
                (("--costs", "malloc=1+", TRAIN), "--costs takes"),
                (("--fail-on", "never", TRAIN), "--fail-on takes"),
                (("--color", "blue", TRAIN), "--color takes")):
            for command in ("replay", "tune"):
                done = run(command, *words)
                self.assertEqual(done.returncode, 2, (words, done.stderr))
                self.assertEqual(done.stdout, "")
                self.assertTrue(done.stderr.startswith(f"plimsoll {command}: "), done.stderr)
                self.assertIn(said, done.stderr)
        for words, said in (
                (("-o", "out.json", TRAIN), "FILE.plim or FILE.pickle"),
                (("-o", "a.plim", "--conf", "", "--conf", "bfc", TRAIN), "only one")):
            done = run("replay", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
        for words, said in (
                (("--only", TRAIN), "--only needs a --conf"),
                (("--budget", "soon", TRAIN), "--budget takes"),
                (("--budget", "0s", TRAIN), "--budget takes"),
                (("--threads", "0", TRAIN), "--threads takes"),
                (("--top", "0", TRAIN), "--top takes")):
            done = run("tune", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)

    def test_what_the_file_has_not_is_one_line(self):
        for words, status, said in (
                (("--device", "7", TRAIN), 3, "device 7"),
                (("--from", "100000", TRAIN), 2, "100000"),
                (("--from", "20", "--to", "10", TRAIN), 2, "20"),
                (("--from", "step:1000", TRAIN), 2, "step"),
                (("--from", "step:2", ONE_STEP), 2, "step 2: the recording has one step, step:1"),
                (("--from", "99999", OOM), 2, "no event to replay from event 99999 on"),
                (("--from", "100", "--to", "100", OOM), 2,
                 "the range begins with event 100 and ends before event 100"),
                (("--from", "step:1", TWO_DEVICES), 2, "--device"),
                (("--scale", "nonsense=2", TRAIN), 2, "nonsense"),
                (("--capacity", "20MiB", "--from", "1500", TRAIN), 3, "before")):
            for command in ("replay", "tune"):
                done = self.expect(run(command, *words), status, 1)
                self.assertEqual(done.stdout, "")
                self.assertTrue(done.stderr.startswith(f"plimsoll {command}: tests/data/"),
                                done.stderr)
                self.assertIn(said, done.stderr)

    # --- input

    def test_files_that_cannot_be_read_are_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            empty = pathlib.Path(folder, "empty.pickle")
            empty.write_bytes(b"")
            other = pathlib.Path(folder, "other.pickle")
            other.write_bytes(b"no snapshot at all\n" * 100)
            for path in (empty, other, pathlib.Path(folder, "missing"), folder):
                for command in ("replay", "tune"):
                    self.expect(run(command, path), 3, 1)

    def test_standard_input(self):
        with gzip.open(HANDLED, "rb") as file:
            data = file.read()
        piped = self.expect(run("replay", "--quick", "-", stdin=data), 0).stdout
        named = self.expect(run("replay", "--quick", HANDLED), 0).stdout
        self.assertEqual(piped.splitlines()[0], "standard input")
        self.assertEqual(piped.splitlines()[1:], named.splitlines()[1:])

    def test_a_full_disk_is_told(self):
        for command in ("replay", "tune"):
            with open("/dev/full", "wb") as full:
                self.expect(run(command, OOM, stdout=full), 3, 1)
                self.expect(run(command, "--json", OOM, stdout=full), 3, 1)

    # --- replay

    def test_fidelity_is_told_first(self):
        for command in (("replay", "--quick"), ("replay", "--quick", "--verify"), ("tune",)):
            page = self.expect(run(*command, OOM), 0).stdout
            self.assertLess(page.index("Fidelity 100.0%"), page.index("Capacity 2.00 GiB"))

    def test_the_recorded_settings_die_as_recorded_and_others_do_not(self):
        document = self.document("replay", f"--conf={SAVES}", OOM)
        self.assertEqual(document["schema"], "replay/1")
        self.assertEqual(document["capacity_bytes"], 2 * GIB)
        self.assertEqual(document["capacity_source"], "oom")
        self.assertEqual(document["fidelity"]["share"], 1)
        recorded, other = document["results"]
        for result in (recorded, other, document):
            self.assertLessEqual(RESULT, set(result))
        self.assertTrue(recorded["is_recorded"])
        self.assertFalse(recorded["survives"])
        self.assertEqual(recorded["failed_event"], document["devices"][0]["oom_event"])
        self.assertTrue(recorded["was_oom"])
        self.assertEqual(other["conf"], SAVES)
        self.assertTrue(other["survives"])
        self.assertIsNone(other["failed_event"])
        self.assertLessEqual(other["min_capacity_bytes"], 2 * GIB)
        self.assertGreaterEqual(other["min_capacity_bytes"], document["floor_bytes"])
        self.assertGreater(recorded["min_capacity_bytes"], 2 * GIB)
        for key in RESULT:  # the document has the members of the conf that was asked for
            self.assertEqual(document[key], other[key])

    def test_the_smallest_capacity_is_exact(self):
        needs = self.document("replay", HANDLED)["min_capacity_bytes"]
        step = 2 << 20
        for bytes_, survives in ((needs, True), (needs - step, False)):
            result = self.document("replay", "--quick", f"--capacity={bytes_}B", HANDLED)
            self.assertEqual(result["survives"], survives)
            self.assertIsNone(result["min_capacity_bytes"])

    def test_a_conf_like_the_recorded_one_is_a_row_like_it(self):
        recorded, other = self.document("replay", "--conf=default", HANDLED)["results"]
        self.assertFalse(other["is_recorded"])
        self.assertEqual(other, {**recorded, "is_recorded": False})
        self.assertIsNotNone(other["min_capacity_bytes"])

    def test_without_a_capacity_nothing_is_said_to_survive(self):
        document = self.document("replay", "--quick", TRAIN)
        self.assertIsNone(document["capacity_bytes"])
        self.assertIsNone(document["survives"])
        self.assertIn("Capacity unknown", self.expect(run("replay", "--quick", TRAIN), 0).stdout)

    def test_a_gpu_has_what_context_and_libraries_leave(self):
        lines = GPUS.split("[speeds]")[0].splitlines()
        rows = {cells[0]: cells for cells in map(lambda line: line.split("\t"), lines)}
        gpu = rows["rtx4090"]
        libraries = rows[gpu[4]][5:7]  # kernels and cuBLAS, of its capability
        left_mib = int(gpu[2]) - int(gpu[10]) - sum(map(int, libraries))
        document = self.document("replay", "--quick", "--gpu=rtx4090", TRAIN)
        self.assertEqual(document["capacity_source"], "gpu")
        self.assertEqual(document["capacity_bytes"], left_mib << 20)

    def test_devices_one_at_a_time_or_together(self):
        both = self.document("replay", "--quick", TWO_DEVICES)
        self.assertEqual([one["device"] for one in both["devices"]], [0, 1])
        for index, device in enumerate((0, 1)):
            one = self.document("replay", "--quick", f"--device={device}", TWO_DEVICES)
            self.assertEqual([entry["device"] for entry in one["devices"]], [device])
            self.assertEqual(one["results"][0]["by_device"][0],
                             both["results"][0]["by_device"][index])

    def test_scales_and_costs_count(self):
        once = self.document("replay", "--quick", TRAIN)
        twice = self.document("replay", "--quick", "--scale=all=2", TRAIN)
        self.assertGreater(twice["peak_requested_bytes"], 1.9 * once["peak_requested_bytes"])
        self.assertEqual(twice["scales"], [{"what": "all", "factor": 2}])
        dear = self.document("replay", "--quick", "--costs=malloc=1000000", TRAIN)
        self.assertGreater(dear["driver_time_us"], 1000000 * dear["driver_calls"]["malloc"] - 1)

    def test_part_of_a_recording(self):
        part = self.document("replay", "--quick", "--from=1000", "--to=2000", TRAIN)
        self.assertEqual(part["devices"][0]["events"], 1000)
        self.assertGreater(part["devices"][0]["start_allocations"], 0)

    def test_the_predicted_history_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("out.plim", "out.pickle"):
                path = pathlib.Path(folder, name)
                page = self.expect(run("replay", "--quick", "--conf=expandable_segments:True", "-o",
                                       path, TRAIN), 0).stdout
                self.assertIn(str(path), page.replace("\n", ""))
                self.expect(run("inspect", path), 0)
                again = self.document("replay", "--quick", path)
                self.assertIn("expandable_segments:True", again["devices"][0]["recorded_conf"])
            self.expect(run("replay", "--quick", "-o", pathlib.Path(folder, "no", "such.plim"),
                            TRAIN), 3, 1)

    def test_fail_on(self):
        self.expect(run("replay", "--quick", "--fail-on=oom", OOM), 1)
        self.expect(run("replay", "--quick", "--fail-on=oom", f"--conf={SAVES}", OOM), 0)
        self.expect(run("replay", "--quick", "--fail-on=oom", TRAIN), 0)
        self.expect(run("replay", "--quick", "--fail-on=difference", OOM), 0)
        self.expect(run("replay", "--quick", OOM), 0)
        self.expect(run("tune", "--fail-on=unsaved", OOM), 0)
        self.expect(run("tune", "--fail-on=unsaved", "--capacity=1900MiB", OOM), 1)
        self.expect(run("tune", "--capacity=1900MiB", OOM), 0)

    # --- tune

    def test_the_winner_saves_the_run(self):
        document = self.document("tune", OOM)
        self.assertEqual(document["schema"], "tune/1")
        best = document["results"][document["best_index"]]
        self.assertEqual(document["best"], best["conf"])
        self.assertTrue(document["is_saved"])
        self.assertTrue(best["survives"])
        self.assertFalse(document["results"][document["baseline_index"]]["survives"])
        for result in document["results"]:
            self.assertLessEqual(RESULT, set(result))
            self.assertGreaterEqual(result["min_capacity_bytes"], document["floor_bytes"])
        again = self.document("replay", f"--conf={best['conf']}", OOM)
        if best["empty_cache"] is None:
            for key in RESULT - {"min_capacity_bytes"}:
                self.assertEqual(again[key], best[key], key)

    def test_the_line_to_paste_is_whole(self):
        page = self.expect(run("tune", "--width=60", OOM), 0).stdout
        best = self.document("tune", OOM)["best"]
        line = re.search(r"(?m)^ +export PYTORCH_CUDA_ALLOC_CONF='?([^'\n]*)'?$", page)
        self.assertEqual(line.group(1), best)

    def test_threads_do_not_change_the_answer(self):
        for path in (OOM, str(RECORDINGS / "variable_lengths.pickle.gz")):
            one, two = (self.expect(run("tune", "--json", f"--threads={n}", path), 0).stdout
                        for n in (1, 2))
            self.assertEqual(one, two)

    def test_no_setting_helps_what_is_live(self):
        page = self.expect(run("tune", "--capacity=1900MiB", OOM), 0).stdout
        self.assertIn("No allocator setting saves this run: it needs 1.97 GiB live, the device has "
                      "1.86 GiB, ", page.replace("\n", " "))
        self.assertNotIn("export", page)
        self.assertTrue(self.document("tune", "--capacity=1900MiB", OOM)["is_hopeless"])

    def test_only_what_is_given(self):
        document = self.document("tune", "--only", f"--conf={SAVES}", OOM)
        self.assertLessEqual({result["conf"] for result in document["results"]}, {"", SAVES})
        self.assertEqual(document["best"], SAVES)

    def test_other_allocators_are_compared(self):
        document = self.document("tune", "--policies", OOM)
        self.assertIn("naive", {result["policy"] for result in document["results"]})
        self.assertEqual(document["results"][document["best_index"]]["policy"], "torch")

    def test_a_budget_is_kept(self):
        self.document("tune", "--budget=1min", OOM)


if __name__ == "__main__":
    unittest.main()
