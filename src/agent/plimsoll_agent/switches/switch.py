"""What a technique's class is, and how it says that it cannot."""

SAME, IN_EXPECTATION, CHANGED = "same", "in_expectation", "changed"
# Why freeing a gradient is not filling it with zeros.
UNUSED_WEIGHT = ("a weight that a step does not use is left as it is, where a gradient of zeros would "
                 "let it decay and its momentum go on")


class Refusal(Exception):
    """Why a technique cannot be switched on in this program: a sentence without its stop."""


class Switch:
    """One technique, switched on in one process.

    value    of the command line, "every:2"; "" where none was given
    program  the Program, its seams
    entry    the Entry of the report: what took hold, or why nothing did

    A class raises Refusal from install() or from a seam that Program guards; the program then goes
    on without the technique.
    """

    name = ""

    def __init__(self, value, program, entry):
        self.value = value
        self.program = program
        self.torch = program.torch
        self.entry = entry

    def install(self):
        """torch has just been imported; of the program nothing has run."""

    def settle(self):
        """Before the report is written, more than once: counts and evidence into the entry."""
