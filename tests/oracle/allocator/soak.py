#!/usr/bin/env python3
"""soak.py RUN SEEDS [FIRST] - plays fresh seeded scripts on both sides at once, without records.

Every kind of generate.py with each seed, under a setting that the seed draws. Needs the recorder:
run `make oracle` once. Prints differences as test_allocator.py does and keeps the scripts.

About one case in 3,000 meets PyTorch's count of a private pool's mappings, which is wrong for
expandable segments: it deletes the pool while it has memory, and crashes, or forgets the memory.
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

import generate
import record
import records
import test_allocator

OPERATIONS = 2000


def draw_setting(dice):
    """A PYTORCH_CUDA_ALLOC_CONF."""
    parts = []
    segment = dice.pick([20, 20, 20, 11, 12, 16, 32, 64])
    if segment != 20:
        parts.append(f"large_segment_size_mb:{segment}")
    if dice.chance(50):
        parts.append("expandable_segments:True")
    if dice.chance(35):
        parts.append(f"max_split_size_mb:{segment + dice.pick([0, 1, 4, 12, 28, 44, 100])}")
    if dice.chance(20):
        parts.append(f"max_non_split_rounding_mb:{segment + dice.pick([0, 5, 30])}")
    if dice.chance(35):
        parts.append(f"garbage_collection_threshold:{dice.pick(['0.1', '0.4', '0.6', '0.95'])}")
    if dice.chance(35):
        parts.append(f"per_process_memory_fraction:{dice.pick(['0.3', '0.5', '0.77', '0.99'])}")
    if dice.chance(30):
        parts.append("roundup_power2_divisions:" + dice.pick(
            ["2", "4", "8", "[16:2,>:8]", "[1:4,2:0,8:16,>:1]", "[64:4]"]))
    return ",".join(parts)


def with_stacks(text, dice):
    """The same with a history whose events, blocks and segments have stacks, and looks at them."""
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if not line.startswith(("%", "#")))
    lines.insert(first, f"history 100000 {dice.pick(generate.LEVELS)}")
    for at in range(len(lines), first, -dice.between(40, 400)):
        lines.insert(at, "snapshot")
    return "\n".join([*lines, "trace"]) + "\n"


def run(program, path, setting):
    done = subprocess.run([program, path], capture_output=True, text=True,
                          env={"PYTORCH_CUDA_ALLOC_CONF": setting})
    if done.returncode != 0:
        return None, f"{program} ended with {done.returncode}: {done.stderr[-500:]}"
    return done.stdout, None


def survived(record):
    """How many operations PyTorch came through before it lost count of a pool's mappings."""
    groups = records.by_operation(record.splitlines())
    lost = (i for i, lines in enumerate(groups)
            if any("cudaMalloc_count > 0 INTERNAL ASSERT" in line for line in lines))
    return next(lost, len(groups))


def up_to(record, count):
    """The lines that are compared of the first operations."""
    groups = records.by_operation(record.splitlines())[:count]
    return [line for lines in groups for line in records.compared("\n".join(lines))]


def try_one(runner, recorder, folder, kind, seed):
    """What differs, as text, or None."""
    dice = generate.Dice(seed * 1000003 + len(kind))
    text = generate.KINDS[kind][0](seed, OPERATIONS).text()
    setting = draw_setting(dice)
    if dice.chance(50):
        text = with_stacks(text, dice)
    path = pathlib.Path(folder) / f"{kind}_{seed}.txt"
    path.write_text(text)
    want, why = run(recorder, path, setting)
    if want is not None:
        have, why = run(runner, path, setting)
    if why is None:
        count = survived(want)
        why = test_allocator.first_difference(text, up_to(want, count), up_to(have, count))
    if why is None:
        path.unlink()
        return None
    return f"--- {path} under '{setting}': {why}\n"


def main(runner, seeds, first):
    recorder = record.cache() / "build" / "record"
    if not recorder.exists():
        print("soak: there is no recorder; run `make oracle`", file=sys.stderr)
        return 2
    folder = tempfile.mkdtemp(prefix="soak-")
    pairs = [(kind, seed) for seed in range(first, first + seeds) for kind in generate.KINDS]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [text for text in pool.map(
            lambda pair: try_one(runner, recorder, folder, *pair), pairs) if text is not None]
    print("\n".join(found[:test_allocator.SHOWN]))
    print(f"{len(pairs) - len(found)} of {len(pairs)} fresh cases equal PyTorch {records.TORCH} "
          f"({OPERATIONS} operations each)")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.splitlines()[0])
    program, seeds, first = (sys.argv[1:] + ["1000"])[:3]
    sys.exit(main(pathlib.Path(program).resolve(), int(seeds), int(first)))
