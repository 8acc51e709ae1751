"""Facts as text: a line on the screen, and the page beside the recordings."""

from recorder import check, files

HEAD = """# Recordings

Real snapshots, written by PyTorch's own allocator in programs that ran without a GPU: see
[tools/record](../../../tools/record/README.md). PyTorch {version}, CUDA 13.0 build, Python
{python}. This page is written by `tools/record/record all`, which makes all of them again;
times, and so the bytes of the files, then differ, events and addresses do not.

Only file names of frames were renamed, so that no machine's folders are in them. All were
recorded with `context="all"` (the default) and `stacks="python"`, except where it says so.

Events are counted per device. *Peak* is the largest sum of requested bytes in use, found by
replaying `alloc` and `free_completed`; *reserved* the largest sum of segments; *at the end* the
requested bytes of blocks that are not inactive in the snapshot. For a history whose beginning is
lost only the last can be known.

"""

COLUMNS = ["file", "events", "peak", "reserved", "at the end", "segments", "file bytes"]


def amounts(values):
    return " + ".join("unknown" if value is None else f"{value:,}" for value in values)


def line(facts):
    return (f"{amounts(facts['events'])} events, peak {amounts(facts['live_bytes_peak'])} bytes, "
            f"reserved {amounts(facts['reserved_bytes_peak'])}, "
            f"at the end {facts['live_bytes']:,} in {facts['segments']} segments")


def capacity_of(scenario):
    from recorder.catalogue import GIB

    return f"{scenario.devices} x {scenario.gpu}, {scenario.capacity // GIB} GiB"


def section(scenario, path):
    actions = check.facts(files.load(path))["actions"]
    lines = [f"## {path.name}", "", f"{scenario.about[0].upper()}{scenario.about[1:]}.", "",
             f"- command: `tools/record/record scenario {scenario.name}`",
             f"- GPU: {capacity_of(scenario)}"]
    if scenario.settings:
        lines.append(f"- `PYTORCH_CUDA_ALLOC_CONF={scenario.settings}`")
    lines.append("- events: " + ", ".join(f"{count} {action}" for action, count in actions.items()))
    return "\n".join(lines) + "\n"


def page(recorded):
    """`recorded`: pairs of a scenario and the path of its recording."""
    import platform
    from importlib.metadata import version

    rows = []
    for _, path in recorded:
        facts = check.facts(files.load(path))
        rows.append([f"[{path.name}](#{path.name.replace('.', '')})", amounts(facts["events"]),
                     amounts(facts["live_bytes_peak"]), amounts(facts["reserved_bytes_peak"]),
                     f"{facts['live_bytes']:,}", str(facts["segments"]),
                     f"{path.stat().st_size:,}"])
    table = [COLUMNS, ["---"] + ["---:"] * (len(COLUMNS) - 1), *rows]
    text = HEAD.format(version=version("torch"), python=platform.python_version())
    text += "\n".join("| " + " | ".join(row) + " |" for row in table) + "\n\n"
    return text + "\n".join(section(scenario, path) for scenario, path in recorded)
