#!/usr/bin/env python3
"""check_pprof.py PLIMSOLL - `go tool pprof` reads profiles: the sums of -raw are those of `inspect`, -top has
the same in all, and a profile compared with itself is nothing.

Wants Go.
"""

import re
import shutil
import subprocess

import kit


def pprof(*words):
    if shutil.which("go") is None:
        raise kit.Skip("there is no Go (apt-get install golang-go)")
    return kit.call(["go", "tool", "pprof", *words], "go tool pprof").stdout


def totals(raw):
    """[alloc_objects, alloc_space, inuse_objects, inuse_space] of a profile in text."""
    rows = re.findall(r"^ +(\d+) +(\d+) +(\d+) +(\d+): [\d ]+$", raw, re.M)
    assert rows, raw[:2000]
    return [sum(map(int, column)) for column in zip(*rows)]


def main():
    for source in kit.RECORDINGS:
        facts = list(kit.inspect(source).values())
        path, _ = kit.export(source, "run.pb.gz")
        found = totals(pprof("-raw", path))
        wanted = sum(fact["peak"]["requested_bytes"] for fact in facts)
        assert found[3] == wanted, (source.name, found, wanted)
        assert found[2] == sum(fact["peak"]["live_count"] for fact in facts)
        assert found[0] == sum(fact["events_by_action"].get("alloc", 0) + fact["start"]["live_count"]
                               for fact in facts)
        top = pprof("-top", "-unit=B", "-nodefraction=0", "-nodecount=100000", path)
        whole = re.search(r"% of (\d+)B total", top)
        assert whole and int(whole[1]) == wanted, top[:500]
        same = pprof("-top", "-unit=B", "-nodefraction=0", f"-diff_base={path}", path)
        assert not re.search(r"^ *-?[1-9]\d*B ", same, re.M), same[:500]
        print(f"{source.name}: pprof sums up {found[3]} bytes in use")


kit.main(main)
