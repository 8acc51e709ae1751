"""Programs of keepers/, what is true of them, and what `plimsoll run` says."""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples" / "rehearse"))
from check_runs import EXPECTED, Failure, NAMED_SHARE  # noqa: E402

NAMES = sorted(path.stem for path in (HERE / "keepers").glob("*.py"))
LIMIT_SECONDS = 300
MODEL = ("model", "memory_bank")  # kept as parameters or buffers


class Truth:
    """What a program says of itself."""

    def __init__(self, name):
        path = HERE / "keepers" / f"{name}.py"
        text = path.read_text(encoding="utf-8")
        self.path = path
        self.keeper = re.search(r"^# keeper: ([\w|]+)$", text, re.M).group(1)
        said = re.search(r"^# blame: (.+)$", text, re.M)
        self.line = said.group(1) if said else next(
            f"{path.name}:{number}" for number, line in enumerate(text.splitlines(), 1)
            if line.endswith("# blame"))


def names(page, word):
    """Whether a page has the word, or one of several; not as the name of a file."""
    return re.search(rf"(?<!\w)(?:{word})(?![\w.])", page) is not None


def wrong_holders(truth, failure):
    """Sentences; the share of live bytes that has a known holder."""
    if failure.holders is None:
        why = failure.dump.get("why_no_holders") if failure.dump else "no dump of an OOM"
        return [f"no holders: {why}"], 0
    wrong = []
    named, _ = failure.named_share()
    if named < NAMED_SHARE:
        wrong.append(f"{named:.1%} of the live bytes have a known holder")
    share = failure.share_of(truth.keeper, () if truth.keeper in MODEL else EXPECTED)
    if share < 0.5:
        largest = [(one["kind"], one["text"], one["bytes"] >> 20)
                   for one in failure.holders["holders"][:3]]
        wrong.append(f"`{truth.keeper}` holds {share:.1%}; largest: {largest}")
    return wrong, named


def examine(plimsoll, python, name, options):
    """Runs a program until memory is full: sentences on what is wrong, the share, and the page."""
    truth = Truth(name)
    with tempfile.TemporaryDirectory(prefix="keepers.") as folder:
        run = pathlib.Path(folder) / "run"
        done = subprocess.run([plimsoll, "run", *options, "--output", run, "--", python, truth.path],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=LIMIT_SECONDS)
        wrong = [] if done.returncode == 1 else [f"exit status {done.returncode}"]
        page = done.stdout.split("Error: ")[-1]
        wrong += [f"the page does not name {word}" for word in (re.escape(truth.line), truth.keeper)
                  if not names(page, word)]
        found, named = wrong_holders(truth, Failure(run))
    return wrong + found, named, done.stdout
