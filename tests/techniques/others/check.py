#!/usr/bin/env python3
"""check.py PLIMSOLL [--table FILE] [--apart] [REGEX] - programs of others under each technique.

Each is rehearsed plain, once, and under every technique, one after another. It must end as it
ends plain, and the technique become what expected.py says. REGEX chooses of "PROGRAM TECHNIQUE",
as in "trl .*offload". --table writes what became of each as a table of Markdown. All techniques of
a program share one rehearsal, whose process forks for each (forked.py), as imports take most of the
time; --apart rehearses each with `plimsoll rehearse --with`.

Needs PyPI for tools/programs-python, which makes the environment once. nanoGPT, torchvision's
reference and diffusers' example are cloned, or copied from $PLIM_OTHERS_SOURCES/NAME, and left
out where neither can be. Exit status: 0 all is as expected, 1 something is not, 77 no environment.
"""

import argparse
import dataclasses
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from expected import APPLIED, EXPECTED, LOWER, TECHNIQUES

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
OTHERS = ROOT / "examples" / "rehearse" / "others"
REQUIREMENTS = (ROOT / "tools" / "techniques-requirements.txt", HERE / "requirements.txt")
LOWER_BY = 0.01
SECONDS_MAX = 1800
TRAIN_NANOGPT = ("--dataset=synthetic --compile=False --max_iters=1 --eval_iters=1 --batch_size=4 "
                 "--gradient_accumulation_steps=1 --n_layer=4 --n_embd=256 --n_head=4 "
                 "--block_size=256 --out_dir=WORK/out")
TRAIN_RESNET = ("--data-path=DATA --model=resnet18 --batch-size=16 --workers=0 --epochs=1 "
                "--output-dir=WORK --train-crop-size=64 --val-crop-size=64 --val-resize-size=64")
TRAIN_DIFFUSION = ("--pretrained_model_name_or_path=WORK/model --train_data_dir=DATA "
                   "--resolution=64 --train_batch_size=4 --max_train_steps=2 --report_to=all "
                   "--mixed_precision=bf16 --output_dir=WORK/out")


@dataclasses.dataclass
class Program:
    """One program.

    words    after `python`; a first word without a folder is one of programs/
    imports  what its forks share
    other    a file of examples/rehearse/others/programs that says where its source is, and its data
    """

    words: str
    imports: str = ""
    other: str = ""


COMMON = "torch._dynamo,torch.utils.checkpoint,torch.utils.data"
TRAINER = "transformers.trainer,accelerate"
GPT2, LIGHTNING = f"{TRAINER},transformers.models.gpt2.modeling_gpt2", "lightning"
PROGRAMS = {
    "trainer gpt2": Program("trainer.py gpt2 eval", GPT2),
    "trainer bert": Program("trainer.py bert", f"{TRAINER},transformers.models.bert.modeling_bert"),
    "trainer t5": Program("trainer.py t5", f"{TRAINER},transformers.models.t5.modeling_t5"),
    "trainer vit": Program("trainer.py vit", f"{TRAINER},transformers.models.vit.modeling_vit"),
    "trainer gpt2, its own": Program("trainer.py gpt2 bf16 checkpoint accumulate", GPT2),
    "lightning": Program("lightning_module.py", LIGHTNING),
    "lightning, its own": Program("lightning_module.py bf16 clip accumulate", LIGHTNING),
    "accelerate": Program("accelerate_loop.py", "accelerate"),
    "accelerate, its own": Program("accelerate_loop.py bf16 clip accumulate", "accelerate"),
    "diffusers": Program("unet.py", "transformers,accelerate"),
    "trl": Program("sft.py", f"{TRAINER},transformers.models.llama.modeling_llama,datasets"),
    "nanogpt": Program(f"./train.py {TRAIN_NANOGPT}", "", "nanogpt"),
    "torchvision": Program(f"./train.py {TRAIN_RESNET}", "torchvision", "torchvision"),
    "diffusers, its example": Program(f"./train_text_to_image.py {TRAIN_DIFFUSION}",
                                      "transformers,accelerate,datasets,torchvision", "diffusers"),
    "ddp": Program("EXAMPLES/train_ddp.py --fake 4 --batch 4 --sequence 256"),
    "fsdp": Program("EXAMPLES/train_fsdp.py --fake 4 --size tiny --sequence 256 --batch 4",
                    "torch.distributed.fsdp"),
}


class Place:
    """The folder that a program runs in, and its words; run.NotHad where its source is not had."""

    def __init__(self, program, scratch, rehearse):
        self.words = program.words.split()
        self.folder = scratch
        if self.words[0].startswith("EXAMPLES"):
            self.words[0] = self.words[0].replace("EXAMPLES", str(OTHERS.parent))
            return
        if not program.other:
            self.words[0] = str(HERE / "programs" / self.words[0])
            return
        sys.path.insert(0, str(OTHERS))
        run = importlib.import_module("run")
        known = importlib.import_module(f"programs.{program.other}").PROGRAM
        (scratch / "work").mkdir(exist_ok=True)
        run.get_source(known, scratch)
        known.feed(scratch)
        self.words = run.put_in(self.words, scratch)
        for maker in known.makers:
            rehearse(run.put_in(maker[1:], scratch), scratch)
        self.folder = scratch / "source" / known.in_source


class Apart:
    """Rehearsals of one program, each by a command of its own; the plain one is kept."""

    def __init__(self, plimsoll, python, program, techniques):
        self._plimsoll, self._python = plimsoll, python
        self._scratch = tempfile.TemporaryDirectory(prefix="plimsoll others ")
        self._folder = pathlib.Path(self._scratch.name)
        self._place = Place(program, self._folder, self.rehearse)
        self.plain = self.begin(program, techniques)

    def begin(self, _program, _techniques):
        return self.rehearse(self._place.words, self._place.folder)

    def end(self):
        self._scratch.cleanup()

    def run(self, technique):
        """Its document."""
        return self.rehearse(self._place.words, self._place.folder, [f"--with={technique}"])

    def rehearse(self, words, folder, options=()):
        done = subprocess.run(
            [self._plimsoll, "rehearse", "--gpu=h100", "--json", "--no-retry", *options, "--",
             self._python, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", timeout=SECONDS_MAX, check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
                 "PYTORCH_NVML_BASED_CUDA_CHECK": "1", "TOKENIZERS_PARALLELISM": "false",
                 "WANDB_MODE": "disabled"})
        document = json.loads(done.stdout)
        document["stderr"] = done.stderr
        return document


class Forked(Apart):
    """The same in forks of one process; a document has the members that are asked for here."""

    def begin(self, program, techniques):
        self._techniques = ["", *techniques]
        imports = ",".join(filter(None, (COMMON, program.imports)))
        done = self.rehearse([str(HERE / "forked.py"), str(self._folder), imports,
                              ",".join(self._techniques), *self._place.words], self._place.folder)
        if not (self._folder / "0.json").exists():
            return {"exit_status": done["exit_status"] or 1, "stderr": done["stderr"]}
        return self.run("")

    def run(self, technique):
        number = self._techniques.index(technique)
        with open(self._folder / f"{number}.json", encoding="utf-8") as file:
            document = json.load(file)
        with open(self._folder / f"{number}.log", encoding="utf-8", errors="replace") as file:
            document["stderr"] = file.read()
        return document


def complaints(document, plain, entry, expected):
    """What is not as it must be."""
    found = []
    if document["exit_status"] != plain["exit_status"]:
        found.append(f"it ended with {document['exit_status']} and not {plain['exit_status']}: "
                     f"{document['stderr'].strip().splitlines()[-1:]}")
    state, detail = expected
    if entry["state"] != state:
        found.append(f"{entry['state']} and not {state}: {entry['text']}")
    elif isinstance(detail, str) and detail not in (entry["text"] or ""):
        found.append(f"another reason than “{detail}”: {entry['text']}")
    share = document["peak_allocated_bytes"] / plain["peak_allocated_bytes"] - 1
    if expected is LOWER and share > -LOWER_BY:
        found.append(f"applied, and the peak is {share:+.1%}")
    elif expected is APPLIED and share > LOWER_BY:
        found.append(f"applied, and the peak is {share:+.1%}")
    elif state not in ("applied",) and abs(share) > LOWER_BY:
        found.append(f"{state}, and the peak is {share:+.1%}")
    found += [line for process in document["processes"] for line in process["warnings"]
              if "the agent could not" in line]
    return found


def in_a_cell(entry, document, plain):
    """ "applied −36 %": the change of the allocated peak, where it is one."""
    share = document["peak_allocated_bytes"] / plain["peak_allocated_bytes"] - 1
    words = {"no_effect": "no effect", "waiting": "not reached"}.get(entry["state"], entry["state"])
    if entry["state"] != "applied":
        return words
    return f"{share:+.0%}".replace("-", "−").replace("%", " %") if abs(share) > 0.005 else "applied"


def check(rehearsals, name, wanted, cells):
    """The number of techniques that are not as expected."""
    failed = 0
    if rehearsals.plain["exit_status"] != 0:
        print(f"{name}: it ends with {rehearsals.plain['exit_status']} without a technique: "
              f"{rehearsals.plain['stderr'].strip().splitlines()[-1:]}")
        return 1
    for technique in wanted:
        document = rehearsals.run(technique)
        entry = document["with"][0]
        found = complaints(document, rehearsals.plain, entry, EXPECTED[name][technique])
        cells[name, technique] = in_a_cell(entry, document, rehearsals.plain)
        print(f"{name:23} {technique:22} {cells[name, technique]:12} "
              f"{'NOT as expected' if found else ''}", flush=True)
        for line in found:
            print(f"  {line[:400]}", flush=True)
        failed += bool(found)
    return failed


def write_table(file, cells):
    names = [name for name in PROGRAMS if any(key[0] == name for key in cells)]
    with open(file, "w", encoding="utf-8") as out:
        out.write("| | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|\n")
        for technique in TECHNIQUES:
            row = [cells.get((name, technique), "") for name in names]
            out.write(f"| `{technique}` | " + " | ".join(row) + " |\n")


def main():
    parser = argparse.ArgumentParser(description="programs of others under each technique")
    parser.add_argument("plimsoll")
    parser.add_argument("regex", nargs="?", default="")
    parser.add_argument("--table")
    parser.add_argument("--apart", action="store_true")
    arguments = parser.parse_intermixed_args()
    had = subprocess.run([ROOT / "tools" / "programs-python", *REQUIREMENTS],
                         stdout=subprocess.PIPE, text=True, check=False)
    if had.returncode != 0:
        return had.returncode
    failed, cells = 0, {}
    for name, program in PROGRAMS.items():
        wanted = [technique for technique in TECHNIQUES
                  if re.search(arguments.regex, f"{name} {technique}")]
        if not wanted:
            continue
        try:
            rehearsals = (Apart if arguments.apart else Forked)(
                os.path.abspath(arguments.plimsoll), had.stdout.strip(), program, wanted)
        except Exception as error:  # others/run.py's NotHad, which is imported where it is needed
            if type(error).__name__ != "NotHad":
                raise
            print(f"{name:23} not had: {error}")
            continue
        failed += check(rehearsals, name, wanted, cells)
        rehearsals.end()
    if arguments.table:
        write_table(arguments.table, cells)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
