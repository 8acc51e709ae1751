#!/usr/bin/env python3
"""other_settings.py check PLIMSOLL                        predictions beside what PyTorch did
other_settings.py make PLIMSOLL PYTHON [--only NAME…]   what it does, into pytorch_did.json

A recording made under one setting is replayed under others, and beside each prediction stands what
PyTorch's own allocator did when the same program was rehearsed under that setting: its peak of
reserved memory, and whether a request failed, on the same device and on smaller ones.

A program may catch what failed and live on, as PyTorch's convolutions do, which then do with less
workspace. What it asks for from there on is not in the recording: figures of rows in which a
request failed go to that failure in the replay, and to the end in PyTorch, and are not compared.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORDINGS = ROOT / "tests" / "data" / "rehearsals"
LABELS = json.loads((RECORDINGS / "labels.json").read_text(encoding="utf-8"))
TRUTH = HERE / "pytorch_did.json"
MIB = 1 << 20
TOLERANCE = 0.01  # of peak reserved memory
EXACT = 0.99  # share of peaks that are to the byte

PROGRAMS = ["bug-fragmented", "gpt-graph", "llama-tiny", "generate-with-grad", "bug-growing-cache",
            "gpt-keep-gradients", "gpt-dropout", "gpt-accumulate", "gpt-lora", "resnet18-fp16",
            "resnet50", "vit-b", "unet", "transformers-t5", "gpt2-124m", "ddp-of-8",
            "generate-1b-dynamic", "llama-1b-checkpoint", "fsdp-70b-of-64", "fsdp-8b-of-8"]
CONFS = ["", "expandable_segments:True", "max_split_size_mb:64", "max_split_size_mb:200",
         "roundup_power2_divisions:4", "roundup_power2_divisions:[256:1,512:2,>:8]",
         "large_segment_size_mb:64",
         "garbage_collection_threshold:0.5,per_process_memory_fraction:{fraction}",
         "expandable_segments:True,roundup_power2_divisions:8"]
SMALLER = ["bug-fragmented", "unet", "gpt2-124m", "resnet50", "vit-b", "fsdp-70b-of-64"]
SMALLER_CONFS = ["", "expandable_segments:True", "max_split_size_mb:64"]
SHARES = [0.25, 0.5, 0.75]  # of the way from what lives to what was reserved


# --- what PyTorch does ---

def command_of(name, python, conf, capacity_bytes):
    """The command of a label, under another setting and on a device of another size."""
    words = shlex.split(LABELS[f"{name}.pickle.zst"]["command"])
    options, program = words[1:words.index("--")], words[words.index("--") + 1:]
    for option, values in (("--record", 1), ("--conf", 1), ("--capacity", 1)):
        if option in options and (option != "--capacity" or capacity_bytes):
            at = options.index(option)
            del options[at:at + 1 + values]
    if conf:
        options += ["--conf", conf]
    if capacity_bytes:
        options += ["--capacity", f"{capacity_bytes}B"]
    return options + ["--json", "--"] + [python if word == "python" else word for word in program]


def failed_requests(seen):
    """Also those whose failure the program caught."""
    return sum(device["ooms"] for process in seen["processes"] for device in process["devices"])


def rehearse(plimsoll, python, name, conf, capacity_bytes=None):
    words = [plimsoll] + command_of(name, python, conf, capacity_bytes)
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(words, cwd=ROOT, stdout=said, stderr=subprocess.PIPE, text=True,
                              timeout=1200, check=False)
        said.seek(0)
        text = said.read().decode()
    seen = json.JSONDecoder().raw_decode(text[text.index('{\n  "schema"'):])[0]
    if not seen["processes"] or not seen["processes"][0]["devices"]:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr[-400:]}")
    device = seen["devices"][0]
    row = {"name": name, "conf": conf, "peak_reserved_bytes": seen["peak_reserved_bytes"],
           "peak_allocated_bytes": seen["peak_allocated_bytes"],
           "others_bytes": device["context_bytes"] + device["libraries_bytes"],
           "total_bytes": capacity_bytes or seen["gpu"]["capacity_bytes"],
           "survives": seen["verdict"] == "fits" and not failed_requests(seen)}
    return row


def make(plimsoll, python, only):
    """Rows as they come, so that what is done is not lost."""
    rows = [row for row in (json.loads(TRUTH.read_text()) if TRUTH.exists() else [])
            if only and row["name"] not in only]
    names = [name for name in PROGRAMS if not only or name in only]

    def note(row):
        rows.append(row)
        TRUTH.write_text("[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]\n",
                         encoding="utf-8")
        print(row, flush=True)

    for name in names:
        recorded = rehearse(plimsoll, python, name, "")
        note(recorded)
        for conf in CONFS[1:]:
            fraction = round(0.9 * recorded["peak_reserved_bytes"] / recorded["total_bytes"], 4)
            note(rehearse(plimsoll, python, name, conf.format(fraction=fraction)))
        if name not in SMALLER:
            continue
        lives, reserved = recorded["peak_allocated_bytes"], recorded["peak_reserved_bytes"]
        for share in SHARES:
            own = int(lives + share * (reserved - lives)) // (2 * MIB) * 2 * MIB
            for conf in SMALLER_CONFS:
                note(rehearse(plimsoll, python, name, conf, own + recorded["others_bytes"]))


# --- what is predicted ---

def replay(plimsoll, row):
    recording = RECORDINGS / f"{row['name']}.pickle.zst"
    words = [plimsoll, "replay", "--json", "--quick", "--conf", row["conf"] or "default",
             "--capacity", f"{row['total_bytes'] - row['others_bytes']}B",
             "--total", f"{row['total_bytes']}B", str(recording)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        return row, None, done.stderr
    return row, json.loads(done.stdout)["results"][-1], ""


class Predictions(unittest.TestCase):
    plimsoll = None

    def test_as_pytorch_did(self):
        rows = json.loads(TRUTH.read_text(encoding="utf-8"))
        lived = exact = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for row, seen, said in pool.map(lambda row: replay(self.plimsoll, row), rows):
                with self.subTest(name=row["name"], conf=row["conf"], total=row["total_bytes"]):
                    self.assertIsNotNone(seen, said)
                    self.assertEqual(seen["survives"], row["survives"])
                    if row["survives"]:
                        lived += 1
                        exact += seen["peak_reserved_bytes"] == row["peak_reserved_bytes"]
                        share = seen["peak_reserved_bytes"] / row["peak_reserved_bytes"] - 1
                        self.assertLessEqual(abs(share), TOLERANCE)
        print(f"{len(rows)} predictions; {lived} runs live, {exact} peaks to the byte")
        self.assertGreaterEqual(exact, EXACT * lived)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["check", "make"])
    parser.add_argument("plimsoll")
    parser.add_argument("python", nargs="?")
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    if arguments.what == "make":
        make(arguments.plimsoll, arguments.python, arguments.only)
    else:
        Predictions.plimsoll = arguments.plimsoll
        unittest.main(argv=[sys.argv[0]])
