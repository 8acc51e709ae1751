"""The reference programs' numbers by hand, and the list of their runs. Needs no PyTorch.

Sizes are compared with the parameter counts that the models' authors and their libraries publish.
"""

import pathlib
import shlex
import sys
import unittest

sys.dont_write_bytecode = True
PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "rehearse"
sys.path.insert(0, str(PROGRAMS))

import catalogue  # noqa: E402
import expectations  # noqa: E402
import sizes  # noqa: E402

LABELS = {"healthy", "leak", "cycles", "waste", "fragmented", "oom"}


def gpt(layers, width, heads):
    return {"layers": layers, "width": width, "heads": heads, "context": 1024,
            "vocabulary": 50257}


def llama(layers, width, hidden, heads):
    return {"layers": layers, "width": width, "hidden": hidden, "heads": heads, "groups": 8,
            "vocabulary": 128256}


class Sizes(unittest.TestCase):
    def test_gpt2(self):
        published = {(12, 768, 12): 124439808, (24, 1024, 16): 354823168,
                     (36, 1280, 20): 774030080, (48, 1600, 25): 1557611200}
        for shape, count in published.items():
            self.assertEqual(sizes.elements(sizes.gpt(gpt(*shape))), count)

    def test_llama3(self):
        published = {(32, 4096, 14336, 32): 8030261248, (80, 8192, 28672, 64): 70553706496}
        for shape, count in published.items():
            self.assertEqual(sizes.elements(sizes.llama(llama(*shape))), count)

    def test_images(self):
        self.assertEqual(sizes.elements(sizes.resnet(18)[0]), 11689512)
        self.assertEqual(sizes.elements(sizes.resnet(50)[0]), 25557032)
        self.assertEqual(sizes.elements(sizes.vit("B")), 86567656)
        self.assertEqual(sizes.elements(sizes.vit("L")), 304326632)

    def test_adapters(self):
        shape = gpt(12, 768, 12)
        shapes = sizes.adapters(sizes.gpt_linears(shape), 12, 8)
        self.assertEqual(sizes.elements(shapes), 12 * 8 * 768 * (4 + 2 + 5 + 5))


class Expectations(unittest.TestCase):
    def document(self, **arguments):
        return {"program": "bugs.py", "torch": "2.11.0", "arguments": arguments, "facts": {},
                "marks": []}

    def test_blocks_are_rounded_up(self):
        self.assertEqual([expectations.rounded(size) for size in (1, 512, 513)],
                         [512, 512, 1024])

    def test_a_wrong_figure_is_seen(self):
        document = self.document(fixed=False)
        document["program"] = "outputs_kept.py"
        document["marks"] = [{"name": f"step{step}.end", "requested": step * 4 * 256 * 4096}
                             for step in range(3, 8)]
        rows = expectations.compare(document, "h100")
        self.assertEqual(len(rows), 4)
        self.assertTrue(all(expected == found for _, _, expected, found in rows))
        document["marks"][2]["requested"] += 1
        wrong = [row for row in expectations.compare(document, "h100") if row[2] != row[3]]
        self.assertEqual(len(wrong), 2)


class Catalogue(unittest.TestCase):
    def test_names_are_unique(self):
        names = [one.name for one in catalogue.ALL]
        self.assertEqual(len(names), len(set(names)))

    def test_every_program_exists_and_every_program_is_run(self):
        listed = {one.program for one in catalogue.ALL}
        for program in listed:
            self.assertTrue((PROGRAMS / program).is_file(), program)
        written = {path.name for path in PROGRAMS.glob("train_*.py")} | {
            f"bugs/{path.name}" for path in (PROGRAMS / "bugs").glob("*.py")
            if path.name != "small.py"}
        self.assertEqual(written - listed, set())

    def test_labels_say_what_they_must(self):
        source = "\n".join(path.read_text(encoding="utf-8") for path in PROGRAMS.rglob("*.py")
                           if path.name != "catalogue.py")
        for one in catalogue.ALL:
            with self.subTest(one.name):
                self.assertIn(one.label, LABELS)
                self.assertEqual(one.label == "healthy", one.cause is None)
                self.assertEqual(shlex.split(one.command), one.command.split())
                if one.label == "oom":
                    self.assertEqual(one.ends, "OutOfMemoryError")
                if one.blame:
                    self.assertIn(one.blame, source)


if __name__ == "__main__":
    unittest.main()
