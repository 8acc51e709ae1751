"""Compare what `plimsoll diagnose` promises with the same program rehearsed with the technique on.

    python3 compare.py build/release/plimsoll PYTHON [--keep FOLDER] [--jobs N] [--only NAME…]
                       [--markdown FILE]

PYTHON is one that has PyTorch for CUDA. Each pair is two rehearsals of a program of
examples/rehearse that differ in one switch. The promise is `saves_bytes` of the advice for the one
without the technique; the measurement is the difference of the two peaks of requested bytes. The
error is |promised - measured| / measured. A promise whose basis is "bounded" says "at most", and is
wrong only if more was saved. Exit status: 0 if the median error of all computed promises is at most
5 % and the worst at most 15 %.
"""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import sys

PROGRAMS = pathlib.Path(__file__).resolve().parents[3] / "examples" / "rehearse"
MEDIAN_MAX = 0.05
WORST_MAX = 0.15
MIB = 1 << 20
# Less of the peak than this is not advised, and its relative error says nothing.
SHARE_MIN = 0.01

GPT = ["train_gpt.py", "--size"]
LLAMA = ["train_llama.py", "--size"]

# name: (command without its batch, batch, techniques)
ALL = ("smaller_batch", "micro_batches", "checkpointing", "checkpointing_half", "chunked_loss",
       "sgd", "momentum", "adafactor", "optimizer_offload", "set_to_none", "activation_offload")
STATES = ("fused_optimizer", "sgd", "momentum", "adafactor", "optimizer_offload", "bf16_weights")
BASES = {
    "gpt-124m": (GPT + ["124M", "--sequence", "512", "--autocast", "bf16"], 8,
                 ALL + ("fused_attention",)),
    "gpt-small": (GPT + ["small", "--sequence", "256"], 8,
                  ALL + ("autocast", "bf16_weights", "fused_attention", "lora")),
    "gpt-350m": (GPT + ["350M", "--sequence", "1024", "--autocast", "bf16"], 4,
                 ("smaller_batch", "micro_batches", "checkpointing", "checkpointing_half",
                  "chunked_loss", "sgd", "set_to_none", "fused_attention")),
    "llama-1b": (LLAMA + ["1B", "--sequence", "512", "--dtype", "bf16"], 4, ALL),
    "llama-tiny": (LLAMA + ["tiny", "--sequence", "512"], 16, ALL + ("autocast", "lora")),
    "gpt-124m-short": (GPT + ["124M", "--sequence", "128"], 2, STATES),
    "gpt-small-short": (GPT + ["small", "--sequence", "64", "--vocabulary", "8000"], 2, STATES),
    "llama-1b-short": (LLAMA + ["1B", "--sequence", "128", "--autocast", "bf16"], 1,
                       ("fused_optimizer", "sgd", "momentum", "adafactor", "bf16_weights")),
    "vit-b": (["train_vit.py", "--size", "B"], 32, ("smaller_batch", "autocast")),
    "vit-b-one": (["train_vit.py", "--size", "B"], 1, ("fused_optimizer",)),
    "resnet50": (["train_resnet.py", "--depth", "50"], 32, ("smaller_batch", "autocast")),
    "unet": (["train_unet.py"], 16, ("smaller_batch",)),
    "hf-gpt2-small": (["train_transformers.py", "--model", "gpt2", "--small"], 8,
                      ("smaller_batch", "checkpointing")),
    "hf-bert": (["train_transformers.py", "--model", "bert"], 8,
                ("smaller_batch", "checkpointing")),
    "hf-llama-small": (["train_transformers.py", "--model", "llama", "--small"], 8,
                       ("smaller_batch", "checkpointing")),
}
HALF_BATCH = ("smaller_batch", "micro_batches")
SWITCHES = {
    "micro_batches": ["--accumulate", "2"],
    "checkpointing": ["--checkpoint", "1"],
    "checkpointing_half": ["--checkpoint", "2"],
    "chunked_loss": ["--loss-chunks", "8"],
    "sgd": ["--optimizer", "sgd"],
    "momentum": ["--optimizer", "momentum"],
    "adafactor": ["--optimizer", "adafactor"],
    "fused_optimizer": ["--fused"],
    "optimizer_offload": ["--offload", "optimizer"],
    "activation_offload": ["--offload", "activations"],
    "autocast": ["--autocast", "bf16"],
    "bf16_weights": ["--dtype", "bf16"],
    "lora": ["--lora", "8"],
}
# Here the switch turns the technique off: the advice is that of the other run.
OPPOSITES = {"set_to_none": ["--no-set-to-none"], "fused_attention": ["--attention", "explicit"]}


def command_of(base, technique):
    """The program of a base with a technique (None: as it is)."""
    words, batch, _ = BASES[base]
    if technique in HALF_BATCH:
        batch //= 2
    extra = SWITCHES.get(technique, []) + OPPOSITES.get(technique, [])
    if words[0] == "train_transformers.py" and technique == "checkpointing":
        extra = ["--checkpoint"]
    if technique == "bf16_weights":
        words = [word for word in words if word not in ("--autocast", "bf16")]
    return words + ["--batch", str(batch)] + extra


def recording_of(folder, base, technique):
    return folder / (f"{base}.{technique}.pickle" if technique else f"{base}.pickle")


def rehearse(plimsoll, python, folder, base, technique):
    path = recording_of(folder, base, technique)
    if not path.exists():
        run = subprocess.run([plimsoll, "rehearse", "--gpu", "h100", "--devices", "1", "--record", path,
                              "--", python, *command_of(base, technique)],
                             cwd=PROGRAMS, capture_output=True, text=True, check=False)
        if run.returncode != 0 or not path.exists():
            raise RuntimeError(f"{path.name}: {run.stdout[-300:]}{run.stderr[-300:]}")


def document(plimsoll, command, path):
    run = subprocess.run([plimsoll, command, "--json", path], capture_output=True, text=True,
                         check=False)
    return json.loads(run.stdout)


def peak_of(plimsoll, path):
    return document(plimsoll, "inspect", path)["files"][0]["devices"][0]["peak"]["requested_bytes"]


def compare(plimsoll, folder, base, technique):
    """A row of the table."""
    plain = recording_of(folder, base, None)
    changed = recording_of(folder, base, technique)
    before, after = (changed, plain) if technique in OPPOSITES else (plain, changed)
    peak = peak_of(plimsoll, before)
    advice = document(plimsoll, "diagnose", before)["devices"][0]["advice"]
    found = [one for one in advice if one["technique"] == technique]
    row = {"program": base, "technique": technique, "peak_bytes": peak,
           "measured_bytes": peak - peak_of(plimsoll, after),
           "promised_bytes": found[0]["saves_bytes"] if found else 0,
           "basis": found[0]["basis"] if found else None}
    measured = row["measured_bytes"]
    if row["basis"] != "bounded" and (found or measured > SHARE_MIN * peak):
        row["error"] = abs(row["promised_bytes"] - measured) / max(abs(measured), 1)
    return row


def markdown(rows, median, worst):
    lines = ["# What advice promises, and what a rehearsal with it saves", "",
             "Written by `tests/diagnose/advice/compare.py`: each row is two rehearsals on PyTorch 2.11",
             "that differ in one switch. Saved is the difference of the peaks of requested bytes; the error",
             "is |promised - saved| / saved. A bounded promise says \"at most\" and has no error.", "",
             f"Computed promises: {len([r for r in rows if 'error' in r])} pairs, median error "
             f"{100 * median:.1f} %, worst {100 * worst:.1f} %.", "",
             "| program | technique | peak, MiB | promised, MiB | saved, MiB | error | basis |",
             "| --- | --- | ---: | ---: | ---: | ---: | --- |"]
    for row in rows:
        bound = "at most" if row["basis"] == "bounded" else ""
        error = f"{100 * row['error']:.1f} %" if "error" in row else bound
        lines.append(f"| {row['program']} | {row['technique']} | {row['peak_bytes'] / MIB:.1f} | "
                     f"{row['promised_bytes'] / MIB:.1f} | {row['measured_bytes'] / MIB:.1f} | {error} | "
                     f"{row['basis'] or 'not advised'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plimsoll")
    parser.add_argument("python")
    parser.add_argument("--keep", type=pathlib.Path, help="recordings lie here, and are used again")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=BASES, default=list(BASES))
    parser.add_argument("--markdown", type=pathlib.Path)
    arguments = parser.parse_args()
    plimsoll = str(pathlib.Path(arguments.plimsoll).resolve())
    folder = (arguments.keep or pathlib.Path("advice-recordings")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [(base, technique) for base in arguments.only for technique in BASES[base][2]]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [pool.submit(rehearse, plimsoll, arguments.python, folder, *one)
                for one in [(base, None) for base in arguments.only] + pairs]
        for run in runs:
            run.result()
    rows = [compare(plimsoll, folder, *pair) for pair in pairs]
    errors = [row["error"] for row in rows if "error" in row]
    broken = [row for row in rows if row["basis"] == "bounded"
              and row["promised_bytes"] < row["measured_bytes"] * (1 - MEDIAN_MAX)]
    median, worst = statistics.median(errors), max(errors)
    text = markdown(rows, median, worst)
    sys.stdout.write(text)
    if arguments.markdown:
        arguments.markdown.write_text(text)
    for row in broken:
        print(f"not a bound: {row['program']}, {row['technique']}", file=sys.stderr)
    return 0 if median <= MEDIAN_MAX and worst <= WORST_MAX and not broken else 1


if __name__ == "__main__":
    sys.exit(main())
