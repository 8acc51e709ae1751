#!/usr/bin/env python3
"""test_documents.py PLIMSOLL - the functions, and their types beside documents and descriptions."""

import concurrent.futures
import glob
import inspect
import io
import json
import os
import pathlib
import pickle
import re
import sys
import tempfile
import unittest

PLIMSOLL = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
sys.path[:0] = [os.path.join(ROOT, "python"), HERE]
os.environ["PLIMSOLL_COMMAND"] = PLIMSOLL

import declared  # noqa: E402
import plimsoll  # noqa: E402
from plimsoll import _command, _options, documents, errors  # noqa: E402

KINDS = {"explain": documents.Explanation, "inspect": documents.Inspection,
         "diagnose": documents.Diagnosis, "replay": documents.Replay, "tune": documents.Tuning, "fit": documents.Fit}
FUNCTIONS = [*KINDS, "rehearse"]
OOM = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
       "capacity of 23.64 GiB of which 1.17 GiB is free.")
FAILED = os.path.join(DATA, "recordings", "out_of_memory_handled.pickle.gz")
LEAK = os.path.join(DATA, "rehearsals", "bug-loss-kept.pickle.zst")


def kind_of(document):
    """The type of a document."""
    name = document["schema"].partition("/")[0]
    if name in KINDS:
        return KINDS[name]
    for member, kind in (("tries", documents.BatchSearch), ("releases", documents.ReleaseSearch),
                         ("comparison", documents.Comparison)):
        if member in document:
            return kind
    return documents.Rehearsal


def recordings(*folders):
    """Paths of the recordings of tests/data."""
    return sorted(path for folder in folders for path in glob.glob(os.path.join(DATA, folder, "*"))
                  if re.search(r"\.(pickle|json|csv)(\.gz|\.zst)?$", path)
                  and "labels" not in path)


class DescribedTest(unittest.TestCase):
    """Types and docs/formats have the same members."""

    def test_sections_have_the_members_of_their_types(self):
        seen = 0
        for kind in declared.classes():
            places = {base._page for base in kind.__mro__ if vars(base).get("_page")}
            if "_page" not in vars(kind) or not places:
                continue
            described = {name for place in places for name in declared.section(place)}
            with self.subTest(kind.__name__):
                self.assertEqual(described, declared.members(kind))
            seen += 1
        self.assertGreater(seen, 40)

    def test_members_of_objects_without_a_section_are_described(self):
        pages = [os.path.join("docs", "formats", f"{name}-json" + ".md")
                 for name in (*FUNCTIONS, "diff", "says")]
        text = "".join(declared.page(path) for path in pages)
        named = set(declared.NAME.findall(text))
        for kind in declared.classes():
            self.assertEqual(declared.members(kind) - named, set(), kind.__name__)

    def test_functions_take_the_options_of_their_commands(self):
        shown = {"apply", "json", "color", "document", "page", "help", "format", "list_gpus"}
        for name in FUNCTIONS:
            path = os.path.join(ROOT, "docs", "commands", f"{name}.md")
            with open(path, encoding="utf-8") as file:
                rows = re.findall(r"^\| (`--.*?) \|", file.read(), re.MULTILINE)
            options = {found.replace("-", "_") for row in rows
                       for found in re.findall(r"`--([a-z-]+)", row)}
            parameters = inspect.signature(getattr(plimsoll, name)).parameters.values()
            taken = {one.name.rstrip("_") for one in parameters if one.kind is one.KEYWORD_ONLY}
            self.assertEqual(taken - {"path"}, options - shown, name)


class RealTest(unittest.TestCase):
    """Documents have the members of their types, and values of these types."""

    maxDiff = None

    def hold(self, document, where):
        kind = kind_of(document)
        self.assertEqual(sorted(set(declared.faults(kind, document))), [], where)
        self.walk(kind(document))

    def walk(self, top):
        """Every attribute of every object can be read."""
        left = [top]
        while left:
            one = left.pop()
            for name in declared._part.hints(type(one)):
                if "error" in one._members and name not in one._members:
                    continue
                value = getattr(one, name)
                several = (value if isinstance(value, list)
                           else list(value.values()) if isinstance(value, dict) else [value])
                left += [found for found in several if isinstance(found, documents.Part)]

    def test_of_expected_outputs(self):
        found = [path for name in FUNCTIONS
                 for path in glob.glob(os.path.join(ROOT, "tests", "golden", f"{name}-*.json"))]
        self.assertGreater(len(found), 15)
        for path in found:
            with open(path, encoding="utf-8") as file:
                self.hold(json.load(file), path)

    def test_of_recordings_and_messages(self):
        asked = [[name, path] for path in recordings("recordings", "profiles")
                 for name in ("inspect", "diagnose --budget=0", "replay --quick")]
        asked += [["diagnose --budget=0", path]
                  for path in recordings("diagnoses", "rehearsals")]
        asked += [["explain", path] for path in glob.glob(os.path.join(DATA, "messages", "*.*"))]
        asked.append(["inspect", LEAK, FAILED])
        asked.append(["diagnose --budget=0", LEAK, FAILED, os.path.join(DATA, "none")])
        self.assertGreater(len(asked), 200)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for words, answer in zip(asked, pool.map(self.ask, asked)):
                if answer is not None:
                    self.hold(answer, words)

    def test_of_two_recordings(self):
        """Parts of diff/1, which a comparison of two environments has."""
        asked = [["diff", before, after] for before, after in (
            (LEAK, LEAK.replace("bug-", "fixed-")), (LEAK, FAILED),
            (os.path.join(DATA, "recordings", "two_devices.pickle.gz"), FAILED),
            (os.path.join(DATA, "profiles", "rmm.csv"), FAILED))]
        for words in asked:
            for pair in self.ask(words)["pairs"]:
                found = [declared.faults(documents.DiffFile, pair[side])
                         for side in ("before", "after")]
                found += [declared.faults(documents.DiffDevice, one) for one in pair["devices"]]
                self.assertEqual([fault for one in found for fault in one], [], words)

    @staticmethod
    def ask(words):
        try:
            return _command.call([*words[0].split(), *words[1:]]).document
        except errors.InputError:  # replay wants what not every file has
            if words[0].startswith("replay"):
                return None
            raise


class FunctionsTest(unittest.TestCase):
    """What users write."""

    def test_explain_takes_texts_bytes_files_and_exceptions(self):
        def fail():
            raise RuntimeError(OOM)

        try:
            fail()
        except RuntimeError as caught:
            error = caught
        for text in (OOM, OOM.encode(), io.StringIO(OOM), io.BytesIO(OOM.encode()), error):
            found = plimsoll.explain(text)
            self.assertEqual(found.message.requested_bytes, 2 << 30)
            self.assertIn("2.00 GiB", found.why)
            self.assertEqual(found.verdict, found.messages[0].verdict)
            self.assertTrue(found.advice[0].text)
        nothing = plimsoll.explain("all is well")
        self.assertEqual((nothing.message, nothing.verdict, nothing.advice), (None, None, []))

    def test_explain_takes_a_path_by_name_alone(self):
        path = os.path.join(DATA, "messages", "torch-fragmented.txt")
        self.assertEqual(plimsoll.explain(path=path).verdict, "fragmented")
        self.assertEqual(plimsoll.explain(path=pathlib.Path(path), all=True).verdict, "fragmented")
        self.assertEqual(len(plimsoll.explain(path=[path, path]).files), 2)
        for wrong in (path, pathlib.Path(path)):
            with self.assertRaisesRegex(errors.UsageError, "explain\\(path="):
                plimsoll.explain(wrong)
        with self.assertRaises(errors.UsageError):
            plimsoll.explain()

    def test_a_series_is_an_object(self):
        found = plimsoll.explain(path=os.path.join(DATA, "messages", "leak.log"))
        self.assertEqual(found.series.class_, "leak")
        self.assertGreater(found.series.growth_bytes_per_step, 0)
        self.assertIsNone(plimsoll.explain(OOM).series)

    def test_diagnose_has_findings_with_their_advice(self):
        found = plimsoll.diagnose(LEAK, budget=0)
        self.assertEqual((found.verdict, found.status), ("leak", 0))
        finding = found.findings[0]
        self.assertEqual(finding.id, "leak.loss_kept")
        self.assertTrue(finding.advice and all(one.finding == finding.id for one in finding.advice))
        self.assertIn(":", str(finding.root.frame))
        self.assertEqual(pickle.loads(pickle.dumps(found)), found)
        self.assertEqual(pickle.loads(pickle.dumps(finding)).advice, finding.advice)

    def test_a_verdict_is_not_an_exception(self):
        found = plimsoll.diagnose(LEAK, budget=0, fail_on=["leak", "fragmented"])
        self.assertEqual((found.verdict, found.status), ("leak", 1))

    def test_sources_are_paths_bytes_and_open_files(self):
        data = pathlib.Path(FAILED).read_bytes()
        with open(FAILED, "rb") as file:
            for source in (FAILED, pathlib.Path(FAILED), data, file, [FAILED], iter([FAILED])):
                self.assertEqual(plimsoll.inspect(source).devices[0].ooms[0].event, 917)
        with self.assertRaises(errors.UsageError):
            plimsoll.inspect([data, data])
        with self.assertRaises(errors.UsageError):
            plimsoll.inspect([])

    def test_replay_and_tune(self):
        found = plimsoll.replay(FAILED, conf=["expandable_segments:True", "max_split_size_mb:51"],
                                scale={"activations": 0.5}, quick=True)
        self.assertEqual([one.conf for one in found.results[1:]],
                         ["expandable_segments:True", "max_split_size_mb:51"])
        self.assertEqual([(one.what, one.factor) for one in found.scales], [("activations", 0.5)])
        with open(FAILED, "rb") as file:
            tuned = plimsoll.tune(file, conf="max_split_size_mb:51", only=True)
        self.assertEqual((tuned.best, tuned.winner.conf, tuned.file),
                         ("max_split_size_mb:51", "max_split_size_mb:51", "-"))
        found = plimsoll.replay(FAILED, quick=True, capacity=4 << 30)
        self.assertEqual((found.capacity_bytes, found.survives), (4 << 30, True))

    def test_the_page_is_that_of_the_options(self):
        narrow, wide = (plimsoll.inspect(FAILED, width=width, top=2) for width in (70, 140))
        for found, width in ((narrow, 70), (wide, 140)):
            longest = max(len(line) for line in str(found).splitlines())
            self.assertTrue(width - 20 < longest <= width, longest)
        self.assertEqual(narrow.files, wide.files)

    def test_unknown_options_are_refused(self):
        with self.assertRaisesRegex(TypeError, "no option 'capacty'; did you mean 'capacity'"):
            plimsoll.diagnose(LEAK, capacty=1)
        with self.assertRaisesRegex(TypeError, "top=True"):
            plimsoll.diagnose(LEAK, top=True)
        with self.assertRaisesRegex(errors.UsageError, "much.*not a size"):
            plimsoll.diagnose(LEAK, capacity="much")

    def test_words_of_a_command_line(self):
        self.assertEqual(_options.words("f", _options.SearchOptions, {
            "gpu": None, "values": 0, "late": True, "pre": False,
            "record": pathlib.Path("a b.plim"), "margin": 5, "accept": ("tight", "at_least"), "sweep": [1, 2], "world_size": 8}),
            ["--values=0", "--late", "--record=a b.plim", "--margin=5B", "--accept=tight,at_least",
             "--sweep=1,2", "--world-size=8"])
        self.assertEqual(_options.words("f", _options.ReplayOptions, {
            "from_": "step:2", "costs": {"malloc": "300+1.5", "free": 2}}),
            ["--from=step:2", "--costs=malloc=300+1.5", "--costs=free=2"])
        self.assertEqual(_options.words("f", _options.SearchOptions, {"values": True}),
                         ["--values"])

    def test_rehearse_refuses_what_makes_no_sense(self):
        for command, options in ((["a"], {"sweep": [1], "find_batch": True}), ("", {})):
            with self.assertRaises(errors.UsageError):
                plimsoll.rehearse(command, **options)


class ErrorsTest(unittest.TestCase):
    """Exceptions have file, position and reason."""

    CUT = b"\x80\x04}q\x00"

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll errors é ")
        self.addCleanup(folder.cleanup)
        self.cut = os.path.join(folder.name, "cut: byte 3.pickle")
        pathlib.Path(self.cut).write_bytes(self.CUT)

    def test_of_one_file_it_is_raised(self):
        for name in ("inspect", "diagnose", "replay", "tune"):
            with self.subTest(name), self.assertRaises(errors.InputError) as caught:
                getattr(plimsoll, name)(self.cut)
            error = caught.exception
            self.assertEqual((error.file, error.position), (self.cut, len(self.CUT)))
            self.assertRegex(error.reason, "^the pickle is cut off")
            self.assertEqual(str(error), f"{self.cut}: {error.reason} (at byte 5)")
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((again.file, again.position, again.reason),
                             (error.file, error.position, error.reason))

    def test_of_a_missing_file(self):
        for name in ("inspect", "diagnose", "replay", "tune"):
            with self.subTest(name), self.assertRaises(errors.InputError) as caught:
                getattr(plimsoll, name)("/nowhere/a.pickle")
            self.assertEqual((caught.exception.file, caught.exception.position),
                             ("/nowhere/a.pickle", None))
            self.assertRegex(caught.exception.reason, "^cannot open .*check the path")
        with self.assertRaises(errors.InputError):
            plimsoll.explain(path="/nowhere/a.log")

    def test_of_several_files_they_are_attributes(self):
        for name in ("inspect", "diagnose"):
            found = getattr(plimsoll, name)([self.cut, LEAK])
            self.assertEqual([(one.file, one.error.offset) for one in found.errors],
                             [(self.cut, 5)])
            self.assertEqual(len(found.devices), 1)
            self.assertEqual(found.status, 3)
        file = plimsoll.inspect([self.cut, LEAK]).files[0]
        with self.assertRaisesRegex(AttributeError, "cut off"):
            file.format
        self.assertFalse(hasattr(file, "generations"))

    def test_command_errors_cross_processes(self):
        error = errors.CommandError("killed", ["inspect"], -9)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((again.reason, again.words, again.status), ("killed", ["inspect"], -9))


class PartTest(unittest.TestCase):
    """What every object can do."""

    def test_to_dict_is_a_copy(self):
        found = plimsoll.explain(OOM)
        found.to_dict()["messages"].clear()
        self.assertEqual(len(found.messages), 1)

    def test_members_that_are_newer_than_the_types_can_be_read(self):
        part = documents.Error({"status": "PLIM_IO", "message": "m", "offset": None, "new": [1]})
        self.assertEqual(part.new, [1])
        self.assertIn("new", dir(part))
        with self.assertRaises(AttributeError):
            part.newer

    def test_rows_have_the_keys_of_those_above(self):
        rows = plimsoll.inspect(FAILED).to_rows()
        self.assertEqual({row["file"] for row in rows}, {FAILED})
        self.assertEqual({row["device"] for row in rows}, {0})
        self.assertIn("bytes", rows[0])
        tables = {name: plimsoll.inspect(FAILED).to_rows(name)
                  for name in documents.Inspection.tables()}
        self.assertEqual(len(tables["devices"]), 1)
        self.assertEqual(tables["chosen"], [])
        self.assertIn("peak.requested_bytes", tables["devices"][0])
        with self.assertRaisesRegex(ValueError, "it has peak, devices"):
            plimsoll.inspect(FAILED).to_rows("peaks")

    def test_every_table_is_a_path_of_its_type(self):
        for kind in declared.classes():
            for path in getattr(kind, "_tables", {}).values():
                at = kind
                for name in path.split("."):
                    at = declared.part_of(declared._part.hints(at)[name])
                self.assertTrue(issubclass(at, documents.Part), path)

    def test_frames_are_exact(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not there")
        big = (1 << 60) + 1
        found = documents.Diagnosis({"devices": [
            {"file": "a", "device": device, "findings": [{"id": "x", "bytes": count}]}
            for device, count in ((0, big), (1, None))]})
        frame = found.to_frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual((str(frame["bytes"].dtype), int(frame["bytes"][0])), ("Int64", big))
        self.assertEqual(int(frame["bytes"].isna().sum()), 1)
        every = plimsoll.inspect(FAILED)
        for name in every.tables():
            self.assertEqual(len(every.to_frame(name)), len(every.to_rows(name)))
        total = int(every.to_frame()["bytes"].sum())
        self.assertEqual(total, every.devices[0].peak.grouped_bytes)

    def test_without_pandas_to_frame_says_what_is_missing(self):
        found = sys.modules.get("pandas")
        sys.modules["pandas"] = None
        try:
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                plimsoll.explain(OOM).to_frame()
        finally:
            if found is None:
                del sys.modules["pandas"]
            else:
                sys.modules["pandas"] = found

    def test_repr_is_short_without_a_page(self):
        text = repr(documents.Error({"status": "s", "message": "m" * 200, "offset": None}))
        self.assertLess(len(text), 120)
        self.assertTrue(text.startswith("Error(status='s', message='mmm"))


if __name__ == "__main__":
    unittest.main()
