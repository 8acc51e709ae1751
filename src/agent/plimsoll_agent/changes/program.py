"""The user's program as reports of a rehearsal have it: its files, its places, and its step."""

import ast
import json
import os
import tokenize

from plimsoll_agent.changes.source import Source, Unknown, keyword, name_of

FILE_BYTES_MAX = 1 << 20
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
OWNERS = ("Trainer", "Lightning", "DeepSpeed")  # of the step: frameworks that call the model


class Program:
    """Of one request: docs/formats/changes.md.

    folder  that it began in
    owner   Places, which distinguishes the user's files
    """

    def __init__(self, request, owner):
        self.folder = request.get("folder") or os.getcwd()
        self.argv = [str(word) for word in request.get("argv") or []]
        self.since = request.get("since")
        self._owner = owner
        self._sources = {}
        self.places, self.facts, self.entries = [], {}, {}
        for report in request.get("reports") or []:
            self._take(json.loads(report) if isinstance(report, str) else report)
        self.framework = str(self.facts.get("framework") or "")

    def _take(self, report):
        program = report.get("program") or {}
        self.places += [place for place in program.get("places") or []
                        if place not in self.places and isinstance(place.get("line"), int)
                        and isinstance(place.get("file"), str)]
        for name, value in (program.get("facts") or {}).items():
            self.facts.setdefault(name, value)
        for entry in report.get("techniques") or []:
            text = entry["name"] + ("=" + entry["value"] if entry.get("value") else "")
            known = self.entries.get(text)
            if known is None or known.get("state") != "applied":
                self.entries[text] = entry

    # ---- files ---------------------------------------------------------------------------------

    def source(self, file):
        """The Source of a file of the user's; Unknown: it is not, or cannot be edited."""
        if file not in self._sources:
            try:
                self._sources[file] = self._read(file)
            except Unknown as error:
                self._sources[file] = error
        found = self._sources[file]
        if isinstance(found, Unknown):
            raise found
        return found

    def sources(self):
        return [one for one in self._sources.values() if isinstance(one, Source)]

    def _read(self, file):
        path = os.path.join(self.folder, file)
        if not self._owner.is_users_file(os.path.realpath(path)):
            raise Unknown(f"{file} is not the program's own")
        try:
            status = os.stat(path)
            if status.st_size > FILE_BYTES_MAX:
                raise Unknown(f"{file} is larger than 1 MiB")
            if self.since and status.st_mtime > self.since:
                raise Unknown(f"{file} has changed since it was rehearsed")
            with open(path, "rb") as opened:
                encoding = tokenize.detect_encoding(opened.readline)[0]
            with open(path, encoding=encoding, newline="") as opened:
                text = opened.read()
        except (OSError, SyntaxError, UnicodeError, LookupError) as error:
            raise Unknown(f"{file} cannot be read") from error
        if encoding not in ("utf-8", "ascii"):
            raise Unknown(f"{file} is in {encoding}")
        relative = os.path.relpath(path, self.folder)
        name = relative if not relative.startswith("..") else path.lstrip(os.sep)
        source = Source(name.replace(os.sep, "/"), text)
        for place in self.places:
            if place["file"] == file:
                source.mark(place["line"])
        for entry in self.entries.values():
            for place in entry.get("places") or []:
                source.mark(place.get("line"))
        return source

    def script(self):
        """The program's own first file, which the command names."""
        for word in self.argv:
            if word.endswith(".py"):
                return self.source(os.path.relpath(os.path.join(self.folder, word), self.folder))
        raise Unknown("the command names no file of Python")

    # ---- places --------------------------------------------------------------------------------

    def entry(self, technique):
        return self.entries.get(technique) or {}

    def of_kind(self, what, places=None):
        return [place for place in (self.places if places is None else places)
                if place.get("what") == what]

    def the_place(self, what, places=None):
        """The one place of a kind, which must be in a file of the user's."""
        found = self.of_kind(what, places)
        if not found:
            raise Unknown(f"the place of the {what} is not known")
        lines = {(place["file"], place["line"]) for place in found}
        if len(lines) > 1:
            raise Unknown(f"there are {len(lines)} places of the {what}")
        return found[0], self.source(found[0]["file"])

    def call(self, what, name=None):
        """(source, the call at the one place of a kind)."""
        place, source = self.the_place(what)
        calls = source.calls_at(source.line_of(place["line"]), name or place.get("class"))
        if len(calls) != 1:
            raise Unknown(f"the line of the {what} has no call that is understood")
        return source, calls[0]

    def call_named(self, *names):
        """(source, call) of the only call with one of these names in the files known so far."""
        found = []
        for file in dict.fromkeys(place["file"] for place in self.places):
            try:
                source = self.source(file)
            except Unknown:
                continue
            found += [(source, node) for node in ast.walk(source.tree)
                      if isinstance(node, ast.Call) and name_of(node) in names]
        if len(found) != 1:
            raise Unknown(f"{len(found) or 'no'} calls of {names[0]} in the program's files")
        return found[0]


class Step:
    """The user's own loop round one backward pass, as it stands in a Source now.

    source, backward (statement), loss (expression), block and index of the statement, function,
    loop (innermost; None), scaler (text; "")
    """

    def __init__(self, program):
        self.program = program
        if program.framework in OWNERS:
            raise Unknown(f"the step is {program.framework}'s, not the program's own")
        place, source = program.the_place("backward")
        self.source = source
        self.backward = source.statement_at(source.line_of(place["line"]))
        value = getattr(self.backward, "value", None)
        if not (isinstance(self.backward, ast.Expr) and isinstance(value, ast.Call)
                and name_of(value) == "backward" and isinstance(value.func, ast.Attribute)):
            raise Unknown("the line of the backward pass is not a call of backward() alone")
        self.scaler = ""
        self.is_accelerated = bool(value.args)  # accelerator.backward(loss)
        self.loss = value.args[0] if value.args else value.func.value
        if isinstance(self.loss, ast.Call) and name_of(self.loss) == "scale" and self.loss.args:
            self.scaler = source.of(self.loss.func.value)
            self.loss = self.loss.args[0]
        self.block, self.index = source.block_of(self.backward)
        self.function = source.enclosing(self.backward, FUNCTIONS)
        loop = source.enclosing(self.backward, LOOPS)
        inside = loop is not None and source.enclosing(loop, FUNCTIONS) is self.function
        self.loop = loop if inside else None

    def outermost_loop(self):
        loop = self.loop
        while loop is not None:
            outer = self.source.enclosing(loop, LOOPS)
            if outer is None or self.source.enclosing(outer, FUNCTIONS) is not self.function:
                break
            loop = outer
        return loop

    def loss_names(self):
        return {node.id for node in ast.walk(self.loss) if isinstance(node, ast.Name)}

    def model_statement(self):
        """The statement of the block that calls the model, or the one that gives the loss."""
        for place in self.program.of_kind("model"):
            if place["file"] == self.program.of_kind("backward")[0]["file"]:
                found = self.source.statement_at(self.source.line_of(place["line"]))
                found = self.source.up_to(found, self.block)
                if found is self.backward and isinstance(self.loss, ast.Name):
                    continue  # it was there before the loss got a line of its own
                if found is not None and self.block.index(found) <= self.index:
                    return found
        if self.is_loss_of_itself():
            return self.backward
        return self._last_giving(self.loss_names())

    def is_loss_of_itself(self):
        """The loss is worked out in the statement of backward() itself."""
        return not isinstance(self.loss, ast.Name) and any(
            isinstance(node, ast.Call) for node in ast.walk(self.loss)) \
            and self._last_giving(self.loss_names(), is_needed=False) is None

    def _last_giving(self, names, is_needed=True):
        for statement in reversed(self.block[:self.index]):
            if names & bound_names(statement):
                return statement
        if is_needed:
            raise Unknown("the loss is worked out elsewhere")
        return None

    def region(self):
        """(first, last) statements from the call of the model to the loss."""
        first = self.model_statement()
        if first is self.backward:
            return first, first
        last = self._last_giving(self.loss_names(), is_needed=False)
        if last is None or self.block.index(last) < self.block.index(first):
            last = first
        return first, last

    def split(self, name="loss"):
        """Where backward() has the model in its own statement: the loss gets a line of its own."""
        if self.model_statement() is not self.backward:
            return self
        source = self.source
        if not source.is_alone(self.backward):
            raise Unknown("other statements stand on the line of backward()")
        start = source.start(self.backward)
        indent = source.indent(self.backward)
        text = source.of(self.loss)
        if "\n" in text:
            text = f"({text})"
        source.apply([(start, start, f"{name} = {text}\n{indent}"),
                      source.replacing(self.loss, name)])
        return Step(self.program)

    # ---- the optimizer -------------------------------------------------------------------------

    def optimizer_step(self):
        """(statement, text of the optimizer) in the same function."""
        place, source = self.program.the_place("step")
        statement = source.statement_at(source.line_of(place["line"]))
        value = getattr(statement, "value", None)
        if source is not self.source or not isinstance(value, ast.Call) \
                or name_of(value) != "step" or not isinstance(value.func, ast.Attribute):
            raise Unknown("the line of the optimizer's step is not understood")
        if source.enclosing(statement, FUNCTIONS) is not self.function:
            raise Unknown("the optimizer steps in another function than the backward pass")
        owner = value.args[0] if value.args else value.func.value
        return statement, source.of(owner)

    def statements(self, names):
        """Calls alone in a statement, by the last name of what is called, in the function."""
        root = self.function or self.source.tree
        return [node for node in ast.walk(root) if isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Call) and name_of(node.value) in names
                and self.source.enclosing(node, FUNCTIONS) is self.function]


def bound_names(statement):
    """Names that a statement gives values to."""
    return {node.id for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def model_name(program):
    """The text of what is called where the model is; "model" where a framework calls it."""
    for place in program.of_kind("model") if program.framework not in OWNERS else ():
        try:
            source = program.source(place["file"])
        except Unknown:
            continue
        for call in source.calls_at(source.line_of(place["line"])):
            if isinstance(call.func, ast.Name) and not isinstance(call.parent, ast.Attribute) \
                    and call.func.id not in ("float", "int", "print", "len", "criterion"):
                return call.func.id
    return "model"


def with_keyword(source, call, name, text):
    """An edit of one call: name=text in the place of what it has, or at its end."""
    there = keyword(call, name)
    if there is not None:
        return source.replacing(there.value, text)
    return _appended(source, call, f"{name}={text}")


def _appended(source, call, text):
    given = sorted([*call.args, *(one.value for one in call.keywords)],
                   key=lambda node: (node.end_lineno, node.end_col_offset))
    end_line, end_column = source.end(call)
    if not given:
        at = (end_line, end_column - 1)
        return at, at, text
    at = source.end(given[-1])
    tail = source.text[source.index(at):source.index((end_line, end_column))]
    depth = tail.rstrip()[:-1]
    closing = 0
    while depth.lstrip().startswith(")"):  # of a value in parentheses
        closing += depth.index(")") + 1
        depth = depth[depth.index(")") + 1:]
    if closing:
        at = source.position(source.index(at) + closing)
    return at, at, f", {text}"


def without_keyword(source, call, name):
    """Edits that take name=… out of a call; none where it is not there."""
    there = keyword(call, name)
    if there is None:
        return []
    nodes = sorted([*call.args, *call.keywords], key=lambda node: (node.lineno, node.col_offset))
    place = nodes.index(there)
    if place > 0:
        return [(source.end(nodes[place - 1]), source.end(there), "")]
    if len(nodes) > 1:
        return [(source.start(there), source.start(nodes[1]), "")]
    return [(source.start(there), source.end(there), "")]


def with_import(source, line, name):
    """Edits that add "from a import name" after the imports of a file, if it has no such name."""
    bound = set()
    last = None
    for node in source.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            last = node
            bound |= {(one.asname or one.name) for one in node.names}
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            raise Unknown(f"the file has a {name} of its own")
        if isinstance(node, ast.ImportFrom) and node not in source.tree.body \
                and name in {one.asname or one.name for one in node.names}:
            raise Unknown(f"{name} is imported within a function")
    if name in bound:
        return []
    if last is None:
        raise Unknown("the file imports nothing at its top")
    return [source.after(last, [line])]
