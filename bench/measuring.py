"""What benchmarks in Python share: running a program and seeing what it took.

Imports little: a child cannot show less memory than the script that started it takes.
"""
import os
import platform
import sys
import time


def fail(message):
    print(f"{os.path.basename(sys.argv[0])}: {message}", file=sys.stderr)
    sys.exit(1)


def run(words, statuses=(0,), keep_output=True, environment=None):
    """Runs a program to its end: what it printed, and what it took."""
    reader, writer = os.pipe() if keep_output else (None, os.open(os.devnull, os.O_WRONLY))
    start = time.perf_counter()
    child = os.posix_spawnp(words[0], words, {**os.environ, **(environment or {})},
                            file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
    os.close(writer)
    output = b""
    if keep_output:
        with open(reader, "rb") as pipe:
            output = pipe.read()
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    status = os.waitstatus_to_exitcode(status)
    if status not in statuses:
        fail(f"{' '.join(words[:2])} … failed with status {status}")
    return output, {"seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime,
                    "rss_bytes": usage.ru_maxrss * 1024}


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def spread(values):
    """Seconds to 4 places, bytes whole."""
    def tidy(value):
        return round(value, 4) if value < 1e4 else round(value)
    return {"median": tidy(median(values)), "min": tidy(min(values)), "max": tidy(max(values))}


def column(rounds):
    """Of what each round took: the median, the least and the most."""
    return {name: spread([taken[name] for taken in rounds]) for name in rounds[0]}


def machine():
    model = "unknown"
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "architecture": platform.machine(), "python": platform.python_version(),
            "load_average": round(os.getloadavg()[0], 2)}


def options_parse(words, *own):
    """({option: its value or None}, whether --quick, rounds) of a benchmark of `plimsoll`.

    own  options that take a value, besides --plimsoll and --rounds
    """
    options = dict.fromkeys(("--plimsoll", "--rounds", *own))
    is_quick = False
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--quick":
            is_quick = True
        elif word in options and words:
            options[word] = words.pop(0)
        else:
            fail(f"what is {word}?")
    if options["--plimsoll"] is None:
        fail("--plimsoll PROGRAM is wanted")
    return options, is_quick, int(options["--rounds"] or (1 if is_quick else 5))
