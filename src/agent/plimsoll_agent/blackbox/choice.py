"""What the launcher asks of the recorder, from the environment (docs/formats/run-folder.md)."""

import os
import sys

EVENTS_DEFAULT = 100_000
DUMPS_DEFAULT = 5


class Choice:
    """What is to be recorded.

    folder    of the run
    record    "off", "ring" or "all"
    events    entries of PyTorch's history for each device; 0: none is recorded
    dumps     that are kept
    limit     bytes of each device that the process may take, or None
    stop_on   conditions: "leak", "reserved>95%"
    is_quiet  no line is printed while the program runs
    """

    def __init__(self, folder, record="ring", events=EVENTS_DEFAULT, dumps=DUMPS_DEFAULT,
                 limit=None, stop_on=(), is_quiet=False):
        self.folder = folder
        self.record = record
        self.events = {"off": 0, "all": sys.maxsize}.get(record, events)
        self.dumps = dumps
        self.limit = limit
        self.stop_on = tuple(stop_on)
        self.is_quiet = is_quiet


def _number(text, otherwise):
    try:
        return max(int(text), 0) or otherwise
    except (TypeError, ValueError):
        return otherwise


def from_environment(folder, environment=os.environ):
    """The choice that the launcher left there. What cannot be read is as if it was not given."""
    record = environment.get("PLIMSOLL_RECORD")
    return Choice(
        folder,
        record=record if record in ("off", "ring", "all") else "ring",
        events=_number(environment.get("PLIMSOLL_EVENTS"), EVENTS_DEFAULT),
        dumps=_number(environment.get("PLIMSOLL_DUMPS"), DUMPS_DEFAULT),
        limit=_number(environment.get("PLIMSOLL_LIMIT"), None),
        stop_on=[word.strip() for word in environment.get("PLIMSOLL_STOP_ON", "").split(",")
                 if word.strip()],
        is_quiet=environment.get("PLIMSOLL_QUIET") == "1",
    )
