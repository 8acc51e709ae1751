#!/usr/bin/env python3
"""check_folded.py PLIMSOLL - flamegraph.pl draws folded stacks and their differences, and its root has the
sum of `inspect`.

The script is the one in Debian's libdevel-nytprof-perl. Wants apt-get and perl.
"""

import re
import subprocess

import kit


def draw(script, path):
    """The total at the root of the picture, and the stacks that the script passed over."""
    done = subprocess.run(["perl", script, "--countname", "bytes", path], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert "Ignored" not in done.stderr, done.stderr
    total = re.search(r"all \(([\d,]+) bytes, 100%\)", done.stdout)
    return int(total[1].replace(",", ""))


def main():
    script = kit.debian("libdevel-nytprof-perl", "usr/share/perl5/Devel/NYTProf/flamegraph.pl")
    for source in kit.RECORDINGS:
        wanted = sum(fact["peak"]["requested_bytes"] for fact in kit.inspect(source).values())
        path, _ = kit.export(source, "run.folded")
        assert draw(script, path) == wanted, (draw(script, path), wanted)
        both, report = kit.export(source, "both.folded", "--what", "difference", "--until", "peak")
        before = sum(part["before_bytes"] for part in report["profiles"])
        after = draw(script, both)
        assert after == wanted, (before, after, wanted)
        print(f"{source.name}: flamegraph.pl draws {wanted} bytes")


kit.main(main)
