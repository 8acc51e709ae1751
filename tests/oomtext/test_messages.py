"""test_messages.py TOOL ROWS [--texts N] - messages of every form, as they are and as they arrive.

ROWS is a file of JSON lines: id, form, text, truth (only figures that the text gives), verdict,
alt (verdicts that are as good). TOOL is explain_tool.c. Checked are

    rows       each yields one message (or as many as `messages` says), exactly right;
               every form of the table in src/oomtext/forms.tsv has a row
    mutations  what logs and pastes do to a text (mutations.py) changes nothing that is read
    pieces     nor does where the input is cut, nor where the buffer ends
    cuts       of a part of a text, a figure is one that the whole text gives, or it is missing
    neighbours messages one after the other are all found, with their own figures
    absurd     numbers as no device has them
    prose      sentences and programs that speak of memory are no messages

What is tried is drawn from a seed, N texts in all; PLIM_SEED=<n> draws others. If the environment
variable PLIM_OOM_MESSAGES names a file of messages that somebody collected (the same lines, with
null for figures that are missing), all of it is checked too.
"""

import argparse
import collections
import json
import os
import random
import re
import struct
import subprocess
import sys
from fractions import Fraction

import mutations

FORMS = os.path.join(os.path.dirname(__file__), "../../src/oomtext/forms.tsv")
BUFFER_BYTES = 512 << 10  # of explain.c
SHOWN_MAX = 12
FIGURES_SHARE = 0.95  # of messages that somebody collected,
VERDICTS_SHARE = 0.98  # so much has to be right
NEAR_MISSES_MAX = 0.04  # of messages on lines that follow: words of two may make up a third

FIGURES = {
    "requested": "requested_bytes",
    "total": "total_bytes",
    "free": "free_bytes",
    "allocated": "allocated_bytes",
    "reserved": "reserved_bytes",
    "reserved_unallocated": "reserved_unallocated_bytes",
    "process_in_use": "process_bytes",
    "limit": "limit_bytes",
    "private_pools": "private_pools_bytes",
    "other_allocations": "other_allocations_bytes",
    "requested_from_shape": "requested_from_shape_bytes",
    "shared_required": "shared_required_bytes",
    "shared_limit": "shared_limit_bytes",
    "active": "active_bytes",
    "allocated_peak": "allocated_peak_bytes",
    "reserved_peak": "reserved_peak_bytes",
    "inactive_split": "inactive_split_bytes",
    "host_process": "host_process_bytes",
    "host_virtual": "host_virtual_bytes",
    "host_used": "host_used_bytes",
    "host_limit": "host_limit_bytes",
    "host_available": "host_available_bytes",
    "host_total": "host_total_bytes",
}
UNKNOWN = (1 << 64) - 1
SUM_OF_PROCESSES = "other_processes_bytes"


class Tool:
    """Explains texts in batches."""

    def __init__(self, path):
        self.path = path
        self.count = 0

    def explain(self, texts, seeds=None):
        """A list of str or bytes becomes a list of answers. A seed cuts the text in pieces."""
        data = [t.encode("utf-8", "surrogatepass") if isinstance(t, str) else t for t in texts]
        seeds = seeds or [0] * len(data)
        self.count += len(data)
        run = subprocess.run(
            [self.path],
            input=b"".join(struct.pack("<II", len(t), s) + t for t, s in zip(data, seeds)),
            capture_output=True,
            check=False,
        )
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        if run.returncode != 0 or len(answers) != len(data):
            at = min(len(answers), len(data) - 1)
            sys.exit(f"the tool died at {data[at][:2000]!r}\n{run.stderr.decode()[-4000:]}")
        for text, answer in zip(data, answers):
            check_places(text, answer)
        return answers


def check_places(text, answer):
    """What holds for every answer: figures stand in the text, lines rise."""
    def demand(condition, what):
        if not condition:
            sys.exit(f"{what}: {text[:2000]!r}\n{answer}")

    demand(answer["bytes"] == len(text), "bytes are not counted")
    lines = text.count(b"\n") + (len(text) > 0 and not text.endswith(b"\n"))
    demand(answer["lines"] == lines, "lines are not counted")
    last = 0
    for message in answer["messages"]:
        begin, end = message["offset"], message["offset"] + message["length"]
        demand(end <= len(text) and message["length"] > 0, "a message is not in the text")
        demand(message["line"] == text.count(b"\n", 0, begin) + 1, "a line is wrong")
        demand(begin >= last, "messages are not in order")
        last = begin
        for name, (_, offset, length) in message["figures"].items():
            if name != SUM_OF_PROCESSES:
                place = text[offset : offset + length]
                demand(len(place) == length and re.search(rb"[0-9]", place), f"{name} stands nowhere")


class Failures:
    """Counts what went wrong, and shows some of each kind."""

    def __init__(self):
        self.count = collections.Counter()

    def add(self, kind, row_id, text, what):
        self.count[kind] += 1
        if self.count[kind] <= 3 and sum(self.count.values()) <= SHOWN_MAX:
            print(f"{kind}: {row_id}: {what}\n    {text[:900]!r}")


def expected(row):
    """What an answer should say of a row: figures, processes, device."""
    truth = row["truth"]
    figures = {FIGURES[k]: v for k, v in truth.items() if k in FIGURES and v is not None}
    processes = truth.get("other_processes") or []
    if processes:
        figures[SUM_OF_PROCESSES] = sum(p[1] for p in processes)
    processes = [list(p) for p in processes]
    if "victim" in truth or "name" in truth:  # the process that was killed
        processes = [[truth.get("victim", 0), truth.get("host_process", UNKNOWN)]]
        processes[0] += [truth["name"]] if "name" in truth else []
    return figures, processes, truth.get("device")


def said(message):
    return ({k: v[0] for k, v in message["figures"].items()}, message["processes"],
            message["device"])


def difference(want, got):
    """In words; None when there is none."""
    parts = []
    for name in sorted(set(want[0]) | set(got[0])):
        if want[0].get(name) != got[0].get(name):
            parts.append(f"{name} is {got[0].get(name)}, not {want[0].get(name)}")
    if want[1] != got[1]:
        parts.append(f"processes are {got[1]}, not {want[1]}")
    if want[2] != got[2]:
        parts.append(f"the device is {got[2]}, not {want[2]}")
    return "; ".join(parts) or None


def forms_of_table():
    """Name to flags, read from the table. SHARED: a form of plain words has a phrase of it too."""
    lists, forms, phrases = {}, {}, {}
    with open(FORMS, encoding="utf-8") as file:
        for line in file:
            row = line.rstrip("\n").split("\t")
            if len(row) == 2:
                lists["@" + row[0]] = row[1]
            elif len(row) == 15 and row[0] != "form":
                if row[0] in forms:
                    sys.exit(f"forms.tsv has {row[0]} twice")
                forms[row[0]] = set(row[14].upper().split(",")) - {""}
                phrases[row[0]] = set(lists.get(row[5], row[5]).split("|"))
    plain = set().union(*(phrases[name] for name in forms if "PLAIN" in forms[name]))
    for name, flags in forms.items():
        if phrases[name] & plain:
            flags.add("SHARED")
    return forms


class Row:
    def __init__(self, row, flags, answer):
        self.id = row["id"]
        self.form = row["form"]
        self.text = row["text"]
        self.flags = flags
        self.verdicts = [row["verdict"]] + row["alt"]
        self.messages = [said(m) + (m["verdict"],) for m in answer["messages"]]
        self.framework = answer["messages"][0]["framework"] if answer["messages"] else ""
        self.is_alone = bool(flags & {"ALONE", "LINE"})


# --- rows

def check_rows(tool, rows, forms, fail):
    result = []
    for row, answer in zip(rows, tool.explain([r["text"] for r in rows])):
        found = answer["messages"]
        count = row.get("messages", 1)
        what = None
        if len(found) != count:
            what = f"{len(found)} messages: {[m['form'] for m in found]}"
        elif found[0]["form"] != row["form"]:
            what = f"the form is {found[0]['form']}, not {row['form']}"
        elif row.get("program", found[0]["program"]) != found[0]["program"]:
            what = f"the program is {found[0]['program']}, not {row['program']}"
        elif found[0]["verdict"] not in [row["verdict"]] + row["alt"]:
            what = f"the verdict is {found[0]['verdict']}, not {row['verdict']}"
        else:
            what = difference(expected(row), said(found[0]))
        if what is not None:
            fail.add("rows", row["id"], row["text"], what)
        result.append(Row(row, forms.get(row["form"], set()), answer))
    for name in sorted(set(forms) - {row["form"] for row in rows}):
        fail.add("rows", name, "", "no row has this form")
    return result


def compare(kind, row, text, answer, fail):
    """Whether a text still says what its row says."""
    got = [said(m) + (m["verdict"],) for m in answer["messages"]]
    if kind in mutations.WRAPPING and got:
        main = got[answer["main"]]
        got = [m for m in got if m is main or m[0]]
    if len(got) != len(row.messages):
        names = [m["form"] for m in answer["messages"]]
        fail.add(kind, row.id, text, f"{len(got)} messages, not {len(row.messages)}: {names}")
        return
    for want, have in zip(row.messages, got):
        what = difference(want, have)
        if what is None and want[3] != have[3]:
            what = f"the verdict is {have[3]}, not {want[3]}"
        if what is not None:
            fail.add(kind, row.id, text, what)
            return


# --- mutations

def check_mutations(tool, rows, rng, count, fail):
    cases = []
    kinds = list(mutations.MUTATIONS)
    for i in range(count):
        kind = kinds[i % len(kinds)]
        row = rng.choice(rows)
        if (row.is_alone and kind not in mutations.FOR_ALONE) or (
            "REPORT" in row.flags and kind == "within a log"  # told only to who pastes it alone
        ):
            continue
        cases.append((kind, row, mutations.MUTATIONS[kind](row.text, rng)))
    seeds = [rng.randrange(1, 1 << 32) if rng.random() < 0.2 else 0 for _ in cases]
    for (kind, row, text), answer in zip(cases, tool.explain([c[2] for c in cases], seeds)):
        compare(kind, row, text, answer, fail)


def check_buffer_end(tool, rows, rng, count, fail):
    """The message around the place where the buffer ends, whole and in pieces."""
    log = mutations.ordinary_log(rng, BUFFER_BYTES + 8192).encode()
    cases = []
    for _ in range(count):
        row = rng.choice(rows)
        if "REPORT" in row.flags:
            continue
        data = row.text.encode()
        at = BUFFER_BYTES - rng.choice([rng.randrange(0, 2 * len(data)), rng.randrange(6000)])
        at = log.rindex(b"\n", 0, at) + 1 if rng.random() < 0.5 else at
        before = log[:at - 1] + b"\n"
        cases.append((row, before + data + b"\n" + log[: rng.randrange(5000)]))
    for (row, text), answer in zip(cases, tool.explain([c[1] for c in cases])):
        compare("buffer end", row, text[-6000:].decode("utf-8", "replace"), answer, fail)


# --- cuts

AMOUNT = re.compile(r"([0-9][0-9,]*(?:\.[0-9]+)?)\.? ?(?:([KMGTPE])i?B?\b|bytes|B\b)?", re.I)
ITEM_BYTES = (1, 2, 4, 8, 16)


def amounts_in(text):
    """Every value that a text gives, whatever it is of."""
    values = set()
    for number, unit in AMOUNT.findall(text):
        scale = 1 << (10 * (" KMGTPE".index(unit.upper()) if unit else 0))
        values.add(int(Fraction(number.replace(",", "")) * scale + Fraction(1, 2)))
        values.add(int(Fraction(number.replace(",", "")) + Fraction(1, 2)))
    for number, unit in re.findall(r"([0-9.]+) ?(?:/|of) ?[0-9.]+ ([GM])i?B", text):  # of both
        values.add(int(Fraction(number) * (1 << {"G": 30, "M": 20}[unit]) + Fraction(1, 2)))
    for mark, scale in (("(GiB)", 30), ("exceeded memory limit", 10)):  # the unit stands elsewhere
        for number in re.findall(r"[0-9]+(?:\.[0-9]+)?", text if mark in text else ""):
            values.add(int(Fraction(number) * (1 << scale) + Fraction(1, 2)))
    for shape in re.findall(r"\[([0-9,]+)\]", text):
        items = 1
        for dimension in shape.split(","):
            items *= int(dimension or 1)
        values.update(items * size for size in ITEM_BYTES)
    return values


def check_cuts(tool, rows, rng, count, fail):
    """Prefixes and suffixes. Digits at the very cut cannot be told from all of a number."""
    cases = []
    for i in range(count):
        row = rows[i % len(rows)]
        at = rng.randrange(len(row.text))
        cases.append((row, row.text[:at] if rng.random() < 0.5 else row.text[at:], at))
    for (row, part, at), answer in zip(cases, tool.explain([c[1] for c in cases])):
        check_cut(row, part, part == row.text[:at], answer, fail)


def check_cut(row, part, is_prefix, answer, fail):
    values = amounts_in(row.text)
    data = part.encode()
    for message in answer["messages"]:
        found = [(k, v) for k, v in message["figures"].items() if k != SUM_OF_PROCESSES]
        found += [("a process", (p[1], 1, 0)) for p in message["processes"]
                  if "host_process_bytes" not in message["figures"] and p[1] != UNKNOWN]
        for name, (value, offset, length) in found:
            # A bare number that ends the text, and one that begins it, may be all of it.
            rest = data[offset + length :] if is_prefix else data[:offset]
            at_cut = not rest.strip(b".,")
            is_bare = not re.search(rb"[A-Za-z]", data[offset : offset + length])
            if value not in values and not (at_cut and (is_bare or not is_prefix)):
                fail.add("prefixes" if is_prefix else "suffixes", row.id, part,
                         f"{name} is {value}")


# --- neighbours

def check_neighbours(tool, rows, rng, count, fail):
    """Two or three messages. Plain words yield to others near them, so they stand far apart."""
    plain = {"PLAIN", "PROSE", "REPORT", "DUMP", "HEAD", "ALONE", "LINE", "SHARED"}
    telling = [r for r in rows if not r.flags & plain and len(r.messages) == 1]
    families = {"jax": "tensorflow", "pytorch-rocm": "pytorch", "pytorch-xpu": "pytorch",
                "pytorch-npu": "pytorch", "pytorch-mps": "pytorch"}
    others = [r for r in rows if not r.flags & {"REPORT", "DUMP"} and len(r.messages) == 1]
    cases = []
    for _ in range(count):
        near = rng.random() < 0.5
        some = rng.sample(telling if near else others, rng.choice([2, 2, 3]))
        programs = [families.get(r.framework, r.framework) for r in some]
        if near and len(set(programs)) < len(programs):
            continue  # what one program says on lines that follow is one message
        if any("memory-summary" in r.form for r in some) and programs.count("pytorch") > 1:
            continue  # PyTorch's table yields to the failure that it counts
        gap = rng.choice(["\n", "\n\n"]) if near else "\n" + mutations.ordinary_log(rng, 3000)
        texts = [r.text for r in some]
        if near and rng.random() < 0.3 and not any(r.is_alone for r in some):
            texts = ["\n".join(f"[rank{i}]: {line}" for line in t.split("\n"))
                     for i, t in enumerate(texts)]
        cases.append((near, some, gap.join(texts)))
    missed = []
    for (near, some, text), answer in zip(cases, tool.explain([c[2] for c in cases])):
        names = "+".join(r.id for r in some)
        want = [r.messages[0] for r in some]
        got = [said(m) + (m["verdict"],) for m in answer["messages"]]
        for message in want:
            if message not in got:
                missed.append((near, names, text, f"{message} is not among {got}"))
                break
    near_missed = [m for m in missed if m[0]]
    allowed = NEAR_MISSES_MAX * sum(near for near, _, _ in cases)
    for near, names, text, what in missed:
        if not near or len(near_missed) > max(allowed, 2):
            fail.add("near neighbours" if near else "neighbours", names, text, what)
    return f"{len(near_missed)} misses among near neighbours"


# --- numbers and sentences

def check_absurd(tool, fail):
    torch = ("CUDA out of memory. Tried to allocate %s (GPU 0; %s total capacity; "
             "1.00 GiB already allocated; 0 bytes free; 2.00 GiB reserved in total by PyTorch)")
    most = (1 << 64) - 2
    gib, mib = 1 << 30, 1 << 20
    cases = [  # request, total, what they are
        ("17179869184.00 GiB", "8.00 GiB", None, 8 * gib),
        ("17179869183.99 GiB", "8.00 GiB", round(Fraction("17179869183.99") * gib), 8 * gib),
        ("1.00 GiB", "17179869184.00 GiB", gib, None),
        ("-2.00 GiB", "8.00 GiB", None, 8 * gib),
        ("1e30 bytes", "8.00 GiB", None, 8 * gib),
        ("nan GiB", "8.00 GiB", None, 8 * gib),
        ("8589934592.00 GiB", "8.00 GiB", 1 << 63, 8 * gib),
        ("999999999999999999999 bytes", "8.00 GiB", None, 8 * gib),
        ("99999999999999999999999999999999999 GiB", "8.00 GiB", None, 8 * gib),
        ("1,048,576 bytes", "8.00 GiB", mib, 8 * gib),
        ("1,536.00 MiB", "8.00 GiB", 1536 * mib, 8 * gib),
        ("12,50 MiB", "8,00 GiB", 12 * mib + mib // 2, 8 * gib),
        ("926. GiB", "8.00 GiB", 926 * gib, 8 * gib),
        ("1024.00 KiB", "1024.00 MiB", mib, gib),
        ("145.468994MB", "4096.00 GiB", round(145.468994 * mib), 4096 * gib),
        ("20.00 MiB\\", "8.00 GiB'", 20 * mib, 8 * gib),
        ("0 bytes", "0 bytes", 0, 0),
    ]
    texts = [torch % case[:2] for case in cases]
    for case, text, answer in zip(cases, texts, tool.explain(texts)):
        figures = answer["messages"][0]["figures"] if answer["messages"] else {}
        for name, want in (("requested_bytes", case[2]), ("total_bytes", case[3])):
            got = figures.get(name, [None])[0]
            if not (got == want or (want is not None and got == min(want, most))):
                fail.add("absurd", case[0], text, f"{name} is {got}, not {want}")


PROSE = """to avoid running out of memory, reduce the batch size
If you see CUDA out of memory errors, lower max_batch_size.
# this may cause an out of memory error on small cards
    except torch.cuda.OutOfMemoryError:
    except RuntimeError as e:
        if "out of memory" in str(e):
def handle_out_of_memory(self):
class OutOfMemoryHandler:
import torch.cuda.OutOfMemoryError as oom
we never ran out of memory in this run
the shop ran out of memory cards
note: enabling this option prevents out of memory failures
--oom-score-adj 500
raise MemoryErrorIfNeeded
memory killed the joke
He was killed in the first act
the process killed 3 workers and went on
torch.cuda.empty_cache() helps when memory is fragmented
Tips for GPU memory: use gradient checkpointing
GPU 0 memory: 10.50 GiB of 24.00 GiB
4.00 GiB free of 8.00 GiB total
allocated 3.2 GiB, reserved 4.0 GiB
max_memory_allocated: 10312 MB
cudaMalloc took 12 us
using cudaMallocAsync allocator
PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
return code 0
exit code 13
exitcode: 9 files written
loaded 137 exit codes
device cpu, allocator cpu
Allocator (GPU_0_bfc) ready
listening on port 12, errno table loaded
memory usage threshold set to 0.95""".split("\n")


def check_prose(tool, rng, fail):
    log = [mutations.ordinary_log(rng, 200 << 10)]
    texts = PROSE + ["\n".join(PROSE)] + log
    for text, answer in zip(texts, tool.explain(texts)):
        if answer["messages"]:
            first = answer["messages"][0]
            at = first["offset"]
            fail.add("prose", first["form"], text[max(0, at - 200) : at + 300], "is no message")


# --- messages that somebody collected

def check_collected(tool, path):
    """Prints what is wrong and how much is right; false when that is too little."""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    right = collections.Counter()
    names = dict(FIGURES, other_processes_in_use=SUM_OF_PROCESSES)
    for row, answer in zip(rows, tool.explain([r["text"] for r in rows])):
        first = answer["messages"][0] if answer["messages"] else None
        figures = {k: v[0] for k, v in first["figures"].items()} if first else {}
        truth = row["truth"]
        verdict = first["verdict"] if first else "not_oom"
        wrong = []
        for key, name in names.items():
            if key not in truth:
                continue  # the collection does not keep it
            want, got = truth[key], figures.get(name)
            if want is None and got is None:
                continue
            ok = want is not None and got is not None and abs(want - got) <= 1
            right["figures"] += 1
            right["figures right"] += ok
            if not ok:
                wrong.append(f"{name} is {got}, not {want}")
        right["verdicts right"] += verdict in [truth["verdict"]] + (truth.get("alt") or [])
        if verdict not in [truth["verdict"]] + (truth.get("alt") or []):
            wrong.append(f"the verdict is {verdict}, not {truth['verdict']}")
        if wrong:
            print(f"    {row['id']} ({row['form']}): " + "; ".join(wrong))
    print(f"collected: {len(rows)} messages, {right['figures right']} of {right['figures']} figures, "
          f"{right['verdicts right']} of {len(rows)} verdicts")
    return (right["figures right"] >= FIGURES_SHARE * right["figures"]
            and right["verdicts right"] >= VERDICTS_SHARE * len(rows))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tool")
    parser.add_argument("rows")
    parser.add_argument("--texts", type=int, default=16000)
    arguments = parser.parse_args()
    seed = int(os.environ.get("PLIM_SEED") or 1)  # a build that fails today fails tomorrow
    rng = random.Random(seed)
    tool = Tool(arguments.tool)
    fail = Failures()
    with open(arguments.rows, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    n = arguments.texts
    rows = check_rows(tool, rows, forms_of_table(), fail)
    check_absurd(tool, fail)
    check_prose(tool, rng, fail)
    check_mutations(tool, rows, rng, n * 45 // 100, fail)
    check_cuts(tool, rows, rng, n * 40 // 100, fail)
    near = check_neighbours(tool, rows, rng, n * 12 // 100, fail)
    check_buffer_end(tool, rows, rng, n // 100, fail)
    print(f"{len(rows)} rows, {tool.count} texts, {near}")
    collected = os.environ.get("PLIM_OOM_MESSAGES")
    ok = True
    if collected:
        ok = check_collected(tool, collected)
    else:
        print("collected: skipped, PLIM_OOM_MESSAGES names no file")
    if fail.count or not ok:
        print(", ".join(f"{kind}: {count}" for kind, count in fail.count.items()))
        sys.exit(f"PLIM_SEED={seed} repeats this run")


if __name__ == "__main__":
    main()
