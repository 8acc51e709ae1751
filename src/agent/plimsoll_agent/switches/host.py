"""Makes the switches of one process, in their order, and lets them report."""

import atexit
import importlib
import os

from plimsoll_agent.journal import Journal
from plimsoll_agent.switches.anatomy import Anatomy
from plimsoll_agent.switches.program import Program
from plimsoll_agent.switches.report import Report
from plimsoll_agent.switches.switch import Refusal
from plimsoll_agent.switches.table import row_of

_current = []


def write():
    """Writes the report of this process, if it has one: for the parts that end processes."""
    for report, journal in _current:
        journal.attempt("write what became of techniques", report.write)


def _begin(entry, program, report):
    """The switch of one technique, installed; a Refusal becomes its reason."""
    row = row_of(entry.name, entry.value)
    if row is None:
        entry.refuse("the agent does not know it")
        return
    _, module, kind = row
    try:
        kinds = importlib.import_module("plimsoll_agent.switches." + module)
        switch = getattr(kinds, kind)(entry.value, program, entry)
        switch.install()
        report.settle.append(switch.settle)
    except Refusal as refusal:
        entry.refuse(refusal)
    except Exception as error:  # of this torch, or ours
        entry.refuse(f"it could not be installed: {type(error).__name__}: {error}")


def start(torch, wanted, folder):
    """torch has just been imported.

    wanted  "checkpoint=every:2", …
    """
    journal = Journal()
    report = Report(folder, journal)
    program = Program(torch, journal, report)
    anatomy = Anatomy(program)
    journal.attempt("look for the places of the program", anatomy.watch)
    report.anatomy = anatomy
    pairs = [text.partition("=")[::2] for text in wanted]
    entries = [report.add(name, value) for name, value in pairs]
    last = len(entries) + 1000
    for entry in sorted(entries, key=lambda one: (row_of(one.name, one.value) or (last,))[0]):
        journal.attempt(f"switch {entry.name} on", _begin, entry, program, report)
    _current.append((report, journal))
    atexit.register(write)
    os.register_at_fork(after_in_child=_current.clear)  # workers of loaders have no techniques
    journal.attempt("write what became of techniques", report.write)
