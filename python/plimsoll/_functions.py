"""The commands as functions: each runs its command, and returns its document as an object."""

from __future__ import annotations

import os
import re
import shlex
import traceback
from typing import (IO, TYPE_CHECKING, Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple,
                    Type, TypeVar, Union, overload)

from plimsoll import _child, _command, _options, documents
from plimsoll._options import Path, takes
from plimsoll.errors import InputError, UsageError

if TYPE_CHECKING:
    from typing_extensions import Literal, Unpack

D = TypeVar("D", bound=documents.Document)
Source = Union[Path, bytes, IO[str], IO[bytes]]  # a path, or what a file holds
Sources = Union[Source, Iterable[Source]]
Command = Union[str, Sequence[Path]]

STANDARD_INPUT = "-"
_AT_BYTE = re.compile(r" \(at byte (\d+)\)$")


class _Inputs(NamedTuple):
    """Files of a command line, and what its standard input is."""

    words: List[str]
    text: _child.Input

    @property
    def only(self) -> Optional[str]:
        """The file that any error is about; None: there are several."""
        return self.words[0] if len(self.words) == 1 else None


def _is_source(given: Any) -> bool:
    return isinstance(given, (str, bytes, os.PathLike)) or hasattr(given, "read")


def _content(given: Any) -> Union[str, bytes]:
    found = given if isinstance(given, (str, bytes)) else given.read()
    return found if isinstance(found, str) else bytes(found)


def _inputs(function: str, given: Any) -> _Inputs:
    sources = [given] if _is_source(given) else list(given)
    if not sources:
        raise UsageError(f"{function}() has no file")
    words: List[str] = []
    text: _child.Input = None
    for one in sources:
        if isinstance(one, (str, os.PathLike)):
            path = os.fsdecode(one)
            words.append(f"./{path}" if path.startswith("-") else path)
        elif text is None:
            words.append(STANDARD_INPUT)
            text = _content(one)
        else:
            raise UsageError(f"{function}() takes one file object or bytes; give paths for others")
    return _Inputs(words, text)


def _ask(kind: Type[D], words: Sequence[str], inputs: _Inputs) -> D:
    """Runs a command over files. Of one file that cannot be read, its error is raised."""
    try:
        answer = _command.call([*words, *inputs.words], inputs.text)
    except InputError as error:
        raise _placed(error.reason, inputs.only) from None
    found = kind(answer.document, answer.page, answer.status)
    errors: List[documents.FileError] = getattr(found, "errors", [])
    if errors and inputs.only is not None:
        why = errors[0].error
        raise InputError(why.message, inputs.only, why.offset)
    return found


def _placed(said: str, file: Optional[str]) -> InputError:
    """An error of a line that the command printed: "plimsoll tune: FILE: REASON (at byte N)"."""
    reason = said.partition(": ")[2] or said
    if file is not None and reason.startswith(file + ": "):
        reason = reason[len(file) + 2:]
    place = _AT_BYTE.search(reason)
    return InputError(reason[:place.start()] if place else reason, file,
                      int(place.group(1)) if place else None)


@takes(_options.ExplainOptions)
def explain(text: Union[str, bytes, IO[str], IO[bytes], BaseException, None] = None, *,
            path: Optional[Sources] = None,
            **options: Unpack[_options.ExplainOptions]) -> documents.Explanation:
    """Says why memory ran out, from what programs print: a message, a traceback, a whole log.

    text     the text itself, an open file, or an exception, with its traceback
    path     a file, or several, instead; plain or compressed
    options  those of `plimsoll explain` (docs/commands/explain.md)
    returns  `verdict`, `why` and `advice` of the message that answers; all of them in `messages`
    raises   InputError: the file cannot be read; of several, `errors` has those
    """
    if (text is None) == (path is None):
        raise UsageError("explain() takes a text, or path=")
    if isinstance(text, BaseException):
        text = "".join(traceback.format_exception(type(text), text, text.__traceback__))
    if isinstance(text, os.PathLike) or (isinstance(text, str) and _is_file(text)):
        raise UsageError(f"explain() takes a text; explain(path={os.fspath(text)!r}) reads a file")
    inputs = (_Inputs([STANDARD_INPUT], _content(text)) if text is not None
              else _inputs("explain", path))
    return _ask(documents.Explanation, ["explain", *_options.words(
        "explain", _options.ExplainOptions, options)], inputs)


def _is_file(text: str) -> bool:
    """A path given as a text: no message is the name of a file."""
    return 0 < len(text) < 4096 and "\n" not in text and "\0" not in text and os.path.isfile(text)


@takes(_options.InspectOptions)
def inspect(paths: Sources, **options: Unpack[_options.InspectOptions]) -> documents.Inspection:
    """Shows where GPU memory went: peak, stacks, pools, failures.

    paths    a recording, or those of the ranks of a job: paths, bytes or an open file
    options  those of `plimsoll inspect` (docs/commands/inspect.md)
    raises   InputError: the file cannot be read; of several, `errors` has those
    """
    return _ask(documents.Inspection, ["inspect", *_options.words(
        "inspect", _options.InspectOptions, options)], _inputs("inspect", paths))


@takes(_options.DiagnoseOptions)
def diagnose(paths: Sources, **options: Unpack[_options.DiagnoseOptions]) -> documents.Diagnosis:
    """Says what happened to GPU memory, from which evidence, and what helps how much.

    paths    a recording, or those of the ranks of a job: paths, bytes or an open file
    options  those of `plimsoll diagnose` (docs/commands/diagnose.md)
    raises   InputError: the file cannot be read; of several, `errors` has those
    """
    return _ask(documents.Diagnosis, ["diagnose", *_options.words(
        "diagnose", _options.DiagnoseOptions, options)], _inputs("diagnose", paths))


@takes(_options.ReplayOptions)
def replay(path: Source, **options: Unpack[_options.ReplayOptions]) -> documents.Replay:
    """Runs a recording's requests again, under other settings of the allocator.

    path     a recording: its path, bytes or an open file
    options  those of `plimsoll replay` (docs/commands/replay.md): `conf` is one setting or several
    raises   InputError: the file cannot be read or replayed
    """
    return _ask(documents.Replay, ["replay", *_options.words(
        "replay", _options.ReplayOptions, options)], _inputs("replay", [path]))


@takes(_options.TuneOptions)
def tune(path: Source, **options: Unpack[_options.TuneOptions]) -> documents.Tuning:
    """Searches the allocator's settings for those under which a recorded run needs least memory.

    path     a recording: its path, bytes or an open file
    options  those of `plimsoll tune` (docs/commands/tune.md)
    returns  `best` is a value for PYTORCH_CUDA_ALLOC_CONF, `winner` what becomes of the run with it
    raises   InputError: the file cannot be read or replayed
    """
    return _ask(documents.Tuning, ["tune", *_options.words(
        "tune", _options.TuneOptions, options)], _inputs("tune", [path]))


@takes(_options.FitOptions)
def fit(command: Command, **options: Unpack[_options.FitOptions]) -> documents.Fit:
    """Finds the cheapest stack of techniques under which a PyTorch program fits, without a GPU.

    command  the program and its arguments; a string is split as a shell does
    options  those of `plimsoll fit` (docs/commands/fit.md)
    returns  `winner` is the cheapest stack that fits, None where nothing does
    raises   InputError: the program could not be rehearsed
    """
    program = (shlex.split(command) if isinstance(command, str)
               else [os.fsdecode(word) for word in command])
    if not program:
        raise UsageError("fit() has no command")
    try:
        answer = _command.call(["fit", *_options.words("fit", _options.FitOptions, options),
                                "--", *program])
    except InputError as error:
        raise _placed(error.reason, None) from None
    return documents.Fit(answer.document, answer.page, answer.status)


@overload
def rehearse(command: Command, *, find_batch: Literal[True],
             **options: Unpack[_options.RehearseOptions]) -> documents.BatchSearch: ...


@overload
def rehearse(command: Command, *, sweep: Union[str, Sequence[int]],
             **options: Unpack[_options.RehearseOptions]) -> documents.BatchSearch: ...


@overload
def rehearse(command: Command, *, against: Path,
             **options: Unpack[_options.RehearseOptions]) -> documents.Comparison: ...


@overload
def rehearse(command: Command, *, bisect: Tuple[str, str],
             **options: Unpack[_options.RehearseOptions]) -> documents.ReleaseSearch: ...


@overload
def rehearse(command: Command,
             **options: Unpack[_options.RehearseOptions]) -> documents.Rehearsal: ...


@takes(_options.SearchOptions)
def rehearse(command: Command, **options: Any) -> Any:
    """Runs a PyTorch program without a GPU, and measures what it needs on the one you name.

    command     the program and its arguments; a string is split as a shell does
    gpu         as people call it: "rtx4090", "a100-80gb"; "h100" if not said
    find_batch  True: the largest number in the place of {} in the command with which it fits
    sweep       each of these in the place of {}: [1, 2, 4], or "8..64+8"
    against     another environment to compare with: its Python, or "torch==2.9.1"
    bisect      ("torch", "2.6..2.15"): the release with which the peak grew
    options     those of `plimsoll rehearse` (docs/commands/rehearse.md)
    returns     a Rehearsal, whose `verdict` may be that the program failed; a BatchSearch of
                find_batch and sweep, a Comparison of against, a ReleaseSearch of bisect
    raises      InputError: the program could not be started; or it was rehearsed, and a file of
                `lock`, `check` or `record` failed: the answer is in its `found`
    """
    asked = [name for name in ("find_batch", "sweep", "against", "bisect") if options.get(name)]
    if len(asked) > 1:
        raise UsageError(f"rehearse() takes one of {' and '.join(asked)}")
    program = (shlex.split(command) if isinstance(command, str)
               else [os.fsdecode(word) for word in command])
    if not program:
        raise UsageError("rehearse() has no command")
    words, kind = _search(options, program)
    try:
        answer = _command.call(["rehearse", *words])
    except InputError as error:
        raise _placed(error.reason, None) from None
    found = kind(answer.document, answer.page, answer.status)
    if answer.status == _command.FAILED and not _has_no_answer(answer.document):
        failure = _placed(answer.said.rstrip().rpartition("\n")[2], None)
        failure.found = found
        raise failure
    return found


def _has_no_answer(document: Dict[str, Any]) -> bool:
    """The rehearsal failed, and its document says how: that is a verdict."""
    return (document.get("verdict") in ("failed", "unanswered")
            or document.get("comparison") == "failed" or document.get("complete") is False
            or any(one["state"] == "refused" for one in document.get("with", [])))


def _search(options: Any, program: List[str]) -> Tuple[List[str], Type[documents.Document]]:
    """The words that say what is rehearsed, and the shape of the answer."""
    plain = dict(options)
    is_batch, pair = plain.pop("find_batch", None), plain.pop("bisect", None)
    words = _options.words("rehearse", _options.SearchOptions, plain)
    if is_batch:
        return [*words, "--find-batch=" + shlex.join(program)], documents.BatchSearch
    if pair:
        return [*words, "--bisect", *pair, "--", *program], documents.ReleaseSearch
    kind: Type[documents.Document] = documents.Rehearsal
    if plain.get("sweep"):
        kind = documents.BatchSearch
    elif plain.get("against"):
        kind = documents.Comparison
    return [*words, "--", *program], kind
