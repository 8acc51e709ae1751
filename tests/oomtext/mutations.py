"""What logs, terminals and pastes do to a message, each as a function of a text.

A mutation takes the text and a random generator, and returns the text as it would arrive. What it
must not be given is said by rules, not by lists of texts:

    ALONE     forms that are a message only because nothing else stands on their line ("Killed")
    may_wrap  a line may not end within a number that no unit follows: "12\\n34" is two numbers
"""

import json
import re

NUMBER = re.compile(r"[0-9](?:[0-9.,]*[0-9])?")
UNIT = re.compile(r" ?(?:[KMGTPE]i?B|[KMG]|bytes|B)\b", re.IGNORECASE)


def unitless_spans(text):
    """Where numbers stand that no unit follows, and the words glued to them: GPU_0, 0x14, sm_90."""
    spans = []
    for match in NUMBER.finditer(text):
        if not UNIT.match(text, match.end()):
            begin = match.start()
            spans.append((begin, match.end()))
    return spans


def may_wrap(spans, at):
    """Whether a line may end before text[at]."""
    return not any(begin < at < end for begin, end in spans)


def wrap(text, width, prefix=""):
    """Ends a line after each `width` characters, inside words and numbers too."""
    parts = []
    at = 0
    for line in text.split("\n"):
        spans = unitless_spans(line)
        begin = 0
        while len(line) - begin > width:
            end = begin + width
            while not may_wrap(spans, end):
                end -= 1
            if end <= begin:
                end = begin + width
                break
            parts.append(prefix + line[begin:end])
            begin = end
        parts.append(prefix + line[begin:])
        at += len(line) + 1
    return "\n".join(parts)


# --- a prefix before each line

def _rank(rng, count):
    rank = rng.randrange(8)
    return [f"[rank{rank}]: "] * count


def _worker(rng, count):
    pid = rng.randrange(10, 99999)
    second = rng.randrange(60)
    return [f"(EngineCore_DP0 pid={pid}) ERROR 11-18 18:07:{second:02} [core.py:{7 + i}] "
            for i in range(count)]


def _iso(rng, count):
    return [f"2024-05-01T10:00:{i // 10:02}.{rng.randrange(1000):03}Z " for i in range(count)]


def _compose(rng, count):
    return [f"trainer-{rng.randrange(1, 9)}  | "] * count


def _quote(rng, count):
    return [rng.choice(["> ", ">> ", "> > "])] * count


def _comment(rng, count):
    return [rng.choice(["# ", "## ", "#   "])] * count


def _logging(rng, count):
    return [rng.choice(["WARNING:root:", "ERROR:root:"])] * count


def _glog(rng, count):
    thread = rng.randrange(1000, 99999)
    return [f"E0504 08:11:09.5{i:05} {thread} train.cc:{80 + i}] " for i in range(count)]


def _loguru(rng, count):
    return [f"2024-05-01 10:00:{rng.randrange(60):02}.101 | ERROR    | runner.loop:run:{44 + i} - "
            for i in range(count)]


PREFIXES = {
    "rank": _rank,
    "worker": _worker,
    "ISO time": _iso,
    "compose": _compose,
    "quotation": _quote,
    "comment": _comment,
    "logging": _logging,
    "glog": _glog,
    "loguru": _loguru,
}


def prefixed(kind):
    def mutate(text, rng):
        lines = text.split("\n")
        return "\n".join(p + line for p, line in zip(PREFIXES[kind](rng, len(lines)), lines))

    return mutate


# --- line ends

def wrapped(text, rng):
    return wrap(text, rng.randrange(20, 121))


def wrapped_narrow(text, rng):
    return wrap(text, rng.randrange(20, 32))


def wrapped_as_comment(text, rng):
    return wrap(text, rng.randrange(20, 121), rng.choice(["# ", "> "]))


def wrapped_by_rank(text, rng):
    """A prefix of letters within a phrase is one more word in it: lines end where clauses do."""
    prefix = f"[rank{rng.randrange(8)}]: "
    lines = re.sub(r"(?<=[.;]) (?=[A-Z])", lambda m: "\n" if rng.random() < 0.5 else " ", text)
    return "\n".join(prefix + line for line in lines.split("\n"))


def wrapped_at_blanks(text, rng):
    width = rng.randrange(48, 121)
    lines = []
    for line in text.split("\n"):
        room = ""
        for word in line.split(" "):
            if room and len(room) + 1 + len(word) > width:
                lines.append(room)
                room = word
            else:
                room = room + " " + word if room else word
        lines.append(room)
    return "\n".join(lines)


def crlf(text, rng):
    return text.replace("\n", "\r\n") + "\r\n"


def carriage_returns(text, rng):
    """A progress bar that was drawn over and over before the message."""
    bars = "".join(f"\r{i:3}%|{'#' * (i // 10):10}| {i}/100" for i in range(0, 100, 25))
    return bars + "\n" + text


# --- characters

COLOURS = ["\x1b[31m", "\x1b[1;31m", "\x1b[0m", "\x1b[38;5;196m", "\x1b[36m", "\x1b[K"]


def coloured(text, rng):
    """A colour before and behind some words and numbers."""
    def paint(match):
        if rng.random() < 0.5:
            return match.group()
        return rng.choice(COLOURS) + match.group() + "\x1b[0m"

    return re.sub(r"\S+", paint, text)


def coloured_numbers(text, rng):
    number = re.compile(NUMBER.pattern + r"(?:\.(?= [KMG]iB))?")
    return number.sub(lambda m: "\x1b[36m" + m.group() + "\x1b[39m", text)


def no_break_blanks(text, rng):
    return text.replace(" ", "\u00a0")


def wide_blanks(text, rng):
    return text.replace(" ", rng.choice(["  ", "\t", "\u3000", " \u200b"]))


def json_escaped(text, rng):
    return json.dumps({"error": {"message": text, "code": 500}}, ensure_ascii=rng.random() < 0.5)


def escaped_twice(text, rng):
    return json.dumps({"log": json.dumps({"message": text})})


def debug_printed(text, rng):
    return "Err(" + json.dumps(text, ensure_ascii=False).replace("'", "\\'") + ")"


def quoted(text, rng):
    mark = rng.choice(['"', "'", "`", "```\n"])
    return mark + text + mark[::-1]


def nul_between_lines(text, rng):
    return "\n".join(line + "\0" * rng.randrange(1, 4) for line in text.split("\n"))


# --- neighbours on the same line

BAR = " 41%|####      | 410/1000 [02:11<03:09,  3.11it/s] "
BEFORE = [BAR, "前向传播时出错：", "2024-05-01 10:00:00,000 - trainer - ERROR - ",
          "- **Exception Message:** ", "Server error: ", "RuntimeError:",
          "FAILED [ 87%] tests/test_big.py::test_step - ", "memory_allocated 9.7478528\n",
          "used 3.25 GB so far\n"]
AFTER = [" [repeated 7x across cluster]", "\n" + BAR, "\n训练已停止，请检查显存。",
         "\nTorch active/reserved: 3457/3576 MiB", "\n[ERROR] took 12.4 s",
         "\nexit status 1", "\n  File \"train.py\", line 88, in step"]


def after_text(text, rng):
    return rng.choice(BEFORE) + text


def before_text(text, rng):
    return text + rng.choice(AFTER)


def amid_text(text, rng):
    return rng.choice(BEFORE) + text + rng.choice(AFTER)


# --- a log around it

WORDS = ("loading checkpoint shard worker ready epoch batch loss accuracy saved model weights "
         "tokenizer shuffle dataset cleaning writing reading metrics throughput tokens images "
         "validation scheduler optimizer learning rate").split()


def ordinary_line(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return (f"2024-05-01 10:{rng.randrange(60):02}:{rng.randrange(60):02} INFO step "
                f"{rng.randrange(90000)} | loss {rng.random() * 5:.4f} | lr 1.0e-04")
    if kind == 1:
        return f"step {rng.randrange(90000)}: max memory: {rng.randrange(1000, 80000)} MB"
    if kind == 2:
        return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(2, 14)))
    if kind == 3:
        return f"[rank{rng.randrange(8)}]: {rng.choice(WORDS)} {rng.randrange(100)}%"
    if kind == 4:
        return f'{{"step": {rng.randrange(9000)}, "gpu_mem_gb": {rng.random() * 80:.2f}}}'
    return ""


def ordinary_log(rng, size):
    lines = []
    while size > 0:
        lines.append(ordinary_line(rng))
        size -= len(lines[-1]) + 1
    return "\n".join(lines) + "\n"


def in_a_log(text, rng):
    before = rng.randrange(40 << 10)
    return ordinary_log(rng, before) + text + "\n" + ordinary_log(rng, (64 << 10) - before)


MUTATIONS = {
    "as it is": lambda text, rng: text,
    "line end behind it": lambda text, rng: text + "\n",
    **{"prefix: " + kind: prefixed(kind) for kind in PREFIXES},
    "wrapped": wrapped,
    "wrapped narrow": wrapped_narrow,
    "wrapped as comment": wrapped_as_comment,
    "wrapped by rank": wrapped_by_rank,
    "wrapped at blanks": wrapped_at_blanks,
    "CRLF": crlf,
    "carriage returns before": carriage_returns,
    "colours": coloured,
    "coloured numbers": coloured_numbers,
    "no-break blanks": no_break_blanks,
    "other blanks": wide_blanks,
    "JSON": json_escaped,
    "JSON twice": escaped_twice,
    "debug print": debug_printed,
    "quotes": quoted,
    "NUL": nul_between_lines,
    "text before": after_text,
    "text behind": before_text,
    "text around": amid_text,
    "within a log": in_a_log,
}

# With lines that end anywhere, what follows on the next may pass for a message of its own, without
# figures: nobody can tell.
WRAPPING = {"wrapped", "wrapped narrow", "wrapped as comment", "wrapped by rank",
            "wrapped at blanks"}

# Of a form that has to be alone on its line, these leave it alone.
FOR_ALONE = {"as it is", "line end behind it", "CRLF", "carriage returns before", "other blanks",
             "NUL", "within a log"}
