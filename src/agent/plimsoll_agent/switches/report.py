"""What became of the techniques in one process, written as JSON: docs/formats/with.md."""

import json
import os
import threading

WAITING, APPLIED, REFUSED, NO_EFFECT = "waiting", "applied", "refused", "no_effect"
PLACES_MAX = 20


class Entry:
    """One technique.

    state     "waiting" until what it needs comes (an optimizer, a loader); then "applied",
              "refused" or "no_effect"
    text      the evidence, or the reason: sentences without the last stop
    label     where it differs from that of the table, else None; with why
    places    of the program's code that the technique would change: see place()
    facts     {name: string or number} for those who write the change down
    """

    def __init__(self, name, value):
        self.name = name
        self.value = value
        self.state = WAITING
        self.text = None
        self.label = None
        self.label_text = None
        self.places = []
        self.facts = {}

    def applied(self, text=None):
        """It took hold. What was refused stays so."""
        if self.state != REFUSED:
            self.state, self.text = APPLIED, text or self.text

    def refuse(self, text):
        self.state, self.text = REFUSED, str(text)

    def no_effect(self, text):
        """It took hold, or could have, and nothing came of it."""
        if self.state != REFUSED:
            self.state, self.text = NO_EFFECT, text

    def waits(self, text):
        """What it still waits for: the reason, should that never come."""
        if self.state == WAITING:
            self.text = text

    def relabel(self, label, text):
        """In this program it is not what it usually is."""
        self.label, self.label_text = label, text

    def place(self, what, file, line):
        """A place of the user's code: "optimizer", "backward", "loader", "model", …"""
        found = {"what": what, "file": file, "line": line}
        if found not in self.places and len(self.places) < PLACES_MAX:
            self.places.append(found)

    def as_result(self):
        return dict(self.__dict__)


class Report:
    """Of one process. write() may be called from anywhere; a file is always whole."""

    def __init__(self, folder, journal):
        self._folder = folder
        self._journal = journal
        self._lock = threading.Lock()
        self._written = None
        self.entries = []
        self.anatomy = None  # of the program: an Anatomy
        self.settle = []  # called before each writing

    def add(self, name, value):
        entry = Entry(name, value)
        self.entries.append(entry)
        return entry

    def write(self):
        for settle in self.settle:
            self._journal.attempt("settle a technique", settle)
        document = {"version": 1, "pid": os.getpid(),
                    "techniques": [entry.as_result() for entry in self.entries],
                    "program": self.anatomy.as_result() if self.anatomy else None,
                    "warnings": self._journal.lines}
        text = json.dumps(document)
        with self._lock:
            if text == self._written:
                return
            os.makedirs(self._folder, exist_ok=True)
            path = os.path.join(self._folder, f"{os.getpid()}.json")
            with open(path + ".part", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(path + ".part", path)
            self._written = text
