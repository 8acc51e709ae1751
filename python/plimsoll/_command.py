"""Runs the command and takes its document and page: each function that judges goes through here."""

from __future__ import annotations

import json
import signal
from typing import Any, Dict, List, NamedTuple, Sequence

from plimsoll import _child, _home, _progress
from plimsoll._child import Input
from plimsoll.errors import CommandError, InputError, UsageError

USAGE = 2  # exit statuses of every command (docs/commands/README.md)
FAILED = 3
WIDTH = 96  # columns of a page


class Answer(NamedTuple):
    """What a command answered, all of one run.

    document  as --json has it (docs/formats)
    page      the same for people, with the colours of a terminal; "" where the command writes no page
    status    the exit status
    said      what stood on standard error: words to the user, and in a rehearsal the program's
              output; its last 256 KiB
    """

    document: Dict[str, Any]
    page: str
    status: int
    said: str = ""


def call(words: Sequence[str], text: Input = None) -> Answer:
    """Runs `plimsoll WORDS`.

    An exception in this thread, KeyboardInterrupt among them, ends the command and what it runs.
    Any number of threads may call at once.

    text    standard input of the command; None: empty
    errors  CommandError, InputError, UsageError
    """
    path = _home.command()
    if path is None:
        raise CommandError("the command `plimsoll` is missing: install Plimsoll again", words)

    def full(page: str) -> List[str]:
        looks = ["--json", f"--page={page}", "--color=always", f"--width={WIDTH}"]
        return [path, *words[:1], *looks, *words[1:]]  # a later --width is the caller's

    with _progress.shown() as progress:
        child = _child.Child(full, progress.take)
        try:
            child.run(text)
        except OSError as error:
            raise CommandError(f"the command cannot be run: {error}", words) from None
    if child.status == -signal.SIGINT:  # ended by the interrupt that this process is sent too
        raise KeyboardInterrupt
    said = child.errors.text()
    document = _document(child.output.getvalue(), child.status, said, words)
    return Answer(document, child.page.getvalue().decode("utf-8", "replace"), child.status, said)


def _document(written: bytes, status: int, said: str, words: Sequence[str]) -> Dict[str, Any]:
    """The document, or the error that the command said: wrong usage first, others at the end."""
    lines: List[str] = said.strip().splitlines() or [""]
    if status == USAGE:
        raise UsageError(lines[0] or "wrong usage")
    reason = lines[-1]
    try:
        document = json.loads(written)
    except ValueError:
        if status == FAILED and reason:
            raise InputError(reason) from None
        raise CommandError(reason or "the command wrote no document", words, status) from None
    return dict(document)
