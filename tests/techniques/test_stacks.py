#!/usr/bin/env python3
"""test_stacks.py PLIMSOLL - stacks of techniques, computed: losses of programs/trainings.py.

Each row runs trainings for real on the CPU under a stack and holds their losses, over 20 steps,
beside those of the plain program, or of one with an autocast of its own.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import rehearsals

PROGRAM = rehearsals.ROOT / "tests" / "techniques" / "programs" / "trainings.py"
EXACT = 0.0
SUMS = 2e-6  # sums in another order, in float32, which 20 steps have made larger
SEARCH = 1e-4  # the same where LBFGS searches along a line
DRAWN = 0.2  # dropout draws by pieces: other masks, and a training as good
FP16, BF16 = 1e-3, 6e-3  # a unit in the last place is 2^-11, and 2^-8 = 4e-3
HELD = "meta private penalized twice"  # which a graph without its weights would not do
WEIGHING = "tokens masked chosen total weighed sentence divided"

# (techniques, the program's own autocast, trainings, relative tolerance)
ROWS = [
    ("autocast=fp16 accumulate=4 checkpoint", "fp16", "tokens outside-plain tiny adversaries", FP16),
    ("checkpoint loss=chunked:4 optimizer=in_backward", None, "outside clipping closure", SUMS),
    ("accumulate=4", None, WEIGHING, SUMS),
    ("accumulate=4 loss=chunked:2 checkpoint", None, WEIGHING, SUMS),
    ("accumulate=4", None, "scaler", FP16),  # weights' gradients are sums of float16
    ("accumulate=5", None, "outside-plain clipping-plain group-norm adversaries", SUMS),
    ("accumulate=4", None, "dropout outside regression", DRAWN),
    ("autocast=bf16 checkpoint accumulate=2", "bf16", "tokens masked outside-plain", BF16),
    ("accumulate=2 offload=all_saved foreach=off", None, "tokens clipping-plain group-norm", SUMS),
    ("accumulate=2 offload=all_saved foreach=off", None, "closure", SEARCH),
    ("offload=layer_inputs loss=chunked:4 set_to_none", None, "outside dropout tokens", SUMS),
    ("offload=layer_inputs loss=chunked:4 set_to_none", None,
     "batch-norm regression adversaries", EXACT),
    ("offload=optimizer autocast=bf16 checkpoint=every:2", "bf16", "tokens outside adversaries",
     EXACT),
    ("checkpoint loss=chunked:4 set_to_none", None, "scaler", FP16),
    ("autocast=fp16 checkpoint offload=optimizer", "fp16", "outside clipping", EXACT),
    ("accumulate=4", None, f"{HELD} pairs routed carried hooked forbidden", SEARCH),
    ("checkpoint loss=chunked:3", None, f"{HELD} forbidden spectral", SEARCH),
    ("offload=all_saved inference_mode", None, HELD, EXACT),
    ("offload=layer_inputs offload=optimizer", None, f"{HELD} skipping logging routed", EXACT),
    ("optimizer=in_backward", None, "logging", EXACT),
]
SHORT = (0,)

# (technique, training, state, label, words of its text or of the label's)
ENTRIES = [
    ("accumulate=4", "tokens", "applied", "same", ""),
    ("accumulate=4", "weighed", "applied", "same", ""),
    ("accumulate=4", "dropout", "applied", None, ""),
    ("accumulate=4", "root", "applied", "changed", "SqrtBackward0"),
    ("accumulate=4", "penalty", "applied", "changed", "weighed in different ways"),
    ("accumulate=4", "batch-norm", "applied", "changed", "BatchNorm"),
    ("accumulate=4", "regression", "applied", None, "12 rows in 4 pieces"),
    ("accumulate=4", "pairs", "refused", None, "compares the rows"),
    ("accumulate=4", "routed", "refused", None, "Routed.balance keeps"),
    ("accumulate=4", "carried", "refused", None, "without the rows of its piece"),
    ("accumulate=4", "hooked", "refused", None, "a hook of the program on Block"),
    ("accumulate=4", "spectral", "applied", "changed", "_SpectralNorm._u"),
    ("accumulate=4", "private", "waiting", None, "torch.func"),
    ("accumulate=4", "measuring", "applied", "changed", "after a step"),
    ("loss=chunked:2", "measuring", "applied", "changed", "after a step"),
    ("checkpoint", "private", "no_effect", None, "transforms of torch.func"),
    ("weights=bf16", "spectral", "applied", None, "Sequential"),
    ("attention=flash", "attending", "applied", "in_expectation", "drops weights"),
    ("set_to_none", "skipping", "applied", "changed", "decay"),
    ("optimizer=in_backward", "skipping", "applied", "changed", "decay"),
    ("optimizer=in_backward", "logging", "refused", None, "after the step, too"),
    ("optimizer=in_backward", "adversaries", "refused", None, "2 optimizers"),
    ("optimizer=in_backward", "closure", "refused", None, "LBFGS"),
    ("optimizer=in_backward", "clipping", "refused", None, "clips their norm"),
    ("autocast=fp16", "closure", "refused", None, "LBFGS"),
    ("autocast=fp16", "scaler", "no_effect", None, "itself"),
    ("autocast=bf16", "scaler", "refused", None, "torch.autocast in float16 itself"),
]


class Training:
    """One, of a run: its losses, and what became of techniques."""

    def __init__(self):
        self.losses = []
        self.entries = {}
        self.failure = None


def run(plimsoll, techniques, names, own=None):
    """{name: Training}."""
    with tempfile.TemporaryDirectory() as scratch:
        result = subprocess.run(
            [plimsoll, "run", "--gpu=h100", "--quiet", f"--output={scratch}/run",
             *(f"--with={one}" for one in techniques), "--", rehearsals.PYTHON, str(PROGRAM),
             *(["--autocast", own] if own else []), *names],
            capture_output=True, text=True, check=False)
    found = {}
    for line in result.stdout.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "training":
            last = found[rest] = Training()
        elif kind == "loss":
            last.losses += map(float, rest.split())
        elif kind == "report":
            last.entries = {f"{one['name']}={one['value']}".rstrip("="): one
                            for one in json.loads(rest)["techniques"]}
        elif kind == "failed":
            last.failure = rest
    if set(found) != set(names):
        raise AssertionError(result.stderr)
    return found


def difference(losses, others):
    """The largest, relative."""
    if len(losses) != len(others):
        return float("inf")
    return max(0.0 if one == other else abs(one - other) / max(1e-3, abs(other))
               for one, other in zip(losses, others))


class Stacks(unittest.TestCase):
    plimsoll = None

    def test_losses(self):
        rows = [ROWS[at] for at in SHORT] if rehearsals.IS_SHORT else ROWS
        plain = {}
        for own in dict.fromkeys(row[1] for row in rows):
            names = dict.fromkeys(name for row in rows if row[1] == own for name in row[2].split())
            for name, training in run(self.plimsoll, [], names, own).items():
                plain[own, name] = training
        for techniques, own, names, tolerance in rows:
            found = run(self.plimsoll, techniques.split(), names.split())
            for name, training in found.items():
                other = plain[own, name]
                with self.subTest(techniques=techniques, training=name):
                    self.assertEqual((training.failure, other.failure), (None, None))
                    self.assertGreaterEqual(len(other.losses), 20)
                    self.assertLessEqual(difference(training.losses, other.losses), tolerance)

    @unittest.skipIf(rehearsals.IS_SHORT, "a short run")
    def test_entries(self):
        for technique in dict.fromkeys(row[0] for row in ENTRIES):
            rows = [row for row in ENTRIES if row[0] == technique]
            found = run(self.plimsoll, [technique], [row[1] for row in rows])
            for _, name, state, label, words in rows:
                with self.subTest(technique=technique, training=name):
                    entry = found[name].entries[technique]
                    self.assertEqual((entry["state"], entry["label"]), (state, label), entry)
                    self.assertIn(words, f"{entry['text']} {entry['label_text']}")


if __name__ == "__main__":
    rehearsals.skip_without_torch()
    Stacks.plimsoll = os.path.abspath(sys.argv.pop(1))
    unittest.main()
