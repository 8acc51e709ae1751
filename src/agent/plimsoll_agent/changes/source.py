"""A file of the user's that is edited: by positions of Python's parser, text kept as it is."""

import ast
import difflib
import io
import re
import tokenize


LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # as Python's parser has lines


class Unknown(Exception):
    """Why a place cannot be edited: half a sentence without its stop."""


class Source:
    """One file. Lines count from 1, columns are characters.

    name   as the diff says it
    text   what it is now; original: what it was
    """

    def __init__(self, name, text):
        self.name = name
        self.original = text
        self.newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") > 0 else "\n"
        self._marks = {}
        self._set(text)

    def _set(self, text):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Unknown(f"{self.name} cannot be parsed by this Python") from error
        self.text, self.tree = text, tree
        self.lines = LINE.findall(text)
        self._bytes = [line.encode("utf-8") for line in self.lines]
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                child.parent = node

    def restore(self, text, marks):
        """As it was before edits that were not finished; marks None: at the beginning."""
        self._set(text)
        self._marks = {line: line for line in self._marks} if marks is None else marks

    def marks(self):
        return dict(self._marks)

    # ---- positions -----------------------------------------------------------------------------

    def mark(self, line):
        """Follows a line of the original through edits: line_of() has it then."""
        self._marks.setdefault(line, line)

    def line_of(self, line):
        return self._marks.get(line, line)

    def column(self, line, offset):
        """The parser's columns are bytes of UTF-8."""
        return len(self._bytes[line - 1][:offset].decode("utf-8"))

    def start(self, node):
        line = node.lineno
        offset = node.col_offset
        for decorator in getattr(node, "decorator_list", ()):
            if decorator.lineno <= line:
                line, offset = decorator.lineno, node.col_offset
        return line, self.column(line, offset)

    def end(self, node):
        return node.end_lineno, self.column(node.end_lineno, node.end_col_offset)

    def index(self, position):
        line, column = position
        return sum(len(text) for text in self.lines[:line - 1]) + column

    def position(self, index):
        """(line, column) of an index of the text."""
        for line, text in enumerate(self.lines, 1):
            if index < len(text):
                return line, index
            index -= len(text)
        return len(self.lines), len(self.lines[-1]) if self.lines else 0

    def of(self, node):
        """The text of a node."""
        return self.text[self.index(self.start(node)):self.index(self.end(node))]

    def indent(self, node):
        """The blanks before a statement's line."""
        return re.match(r"[ \t]*", self.lines[node.lineno - 1]).group()

    def unit(self):
        """One step of indentation, as the file has it."""
        for node in ast.walk(self.tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body:
                if body[0].lineno > node.lineno:
                    outer, inner = self.indent(node), self.indent(body[0])
                    if inner.startswith(outer) and len(inner) > len(outer):
                        return inner[len(outer):]
        return "    "

    def is_alone(self, first, last=None):
        """Nothing else stands on the lines of these statements but comments."""
        last = last or first
        line, column = self.start(first)
        if self.lines[line - 1][:column].strip():
            return False
        line, column = self.end(last)
        rest = self.lines[line - 1][column:].strip()
        return not rest or rest.startswith("#")

    # ---- edits ---------------------------------------------------------------------------------

    def apply(self, edits):
        """[(start, end, text)] of positions, none over another; the result parses, or Unknown."""
        edits = sorted(edits, key=lambda edit: (edit[0], edit[1]))
        text, marks = self.text, {}
        for known, line in self._marks.items():
            at = line, self._first_column(line)
            marks[known] = line + sum(new.count("\n") - (end[0] - start[0])
                                      for start, end, new in edits if end <= at)
        for start, end, new in reversed(edits):
            new = new.replace("\n", self.newline)
            text = text[:self.index(start)] + new + text[self.index(end):]
        try:
            self._set(text)
        except Unknown as error:
            raise Unknown("the edit would not parse") from error
        self._marks = marks

    def _first_column(self, line):
        if not 0 < line <= len(self.lines):
            return 0
        text = self.lines[line - 1]
        return len(text) - len(text.lstrip())

    def replacing(self, node, text):
        return self.start(node), self.end(node), text

    def before(self, statement, lines):
        """Lines of code at a statement's own indentation, before it."""
        indent = self.indent(statement)
        at = (self.start(statement)[0], 0)
        return at, at, "".join(f"{indent}{line}\n" if line else "\n" for line in lines)

    def after(self, statement, lines):
        indent = self.indent(statement)
        line = statement.end_lineno
        text = "".join(f"{indent}{one}\n" if one else "\n" for one in lines)
        if not self.lines[line - 1].endswith("\n"):
            at = (line, len(self.lines[line - 1]))
            return at, at, "\n" + text[:-1]
        at = (line + 1, 0)
        return at, at, text

    def removing(self, statement):
        """All the lines of a statement that stands alone."""
        return (self.start(statement)[0], 0), (statement.end_lineno + 1, 0), ""

    def wrapping(self, first, last, header):
        """Statements of one block moved into a block of their own: "with …:"."""
        if not self.is_alone(first, last):
            raise Unknown("other statements stand on the same line")
        indent, unit = self.indent(first), self.unit()
        begin, end = self.start(first)[0], last.end_lineno
        kept = self._inside_strings(begin, end)
        edits = [((begin, 0), (begin, 0), f"{indent}{header}\n")]
        for line in range(begin, end + 1):
            if line not in kept and self.lines[line - 1].strip():
                edits.append(((line, 0), (line, 0), unit))
        # The header and the first unit are at one position: one edit of both.
        edits[0:2] = [((begin, 0), (begin, 0), f"{indent}{header}\n{unit}")]
        return edits

    def _inside_strings(self, begin, end):
        """Lines that begin within a string, whose blanks are its text."""
        inside = set()
        depth = []
        reader = io.StringIO(self.text).readline
        for token in tokenize.generate_tokens(reader):
            name = tokenize.tok_name[token.type]
            if name in ("FSTRING_START", "TSTRING_START"):
                depth.append(token.start[0])
            elif name in ("FSTRING_END", "TSTRING_END") and depth:
                inside.update(range(depth.pop() + 1, token.end[0] + 1))
            elif token.type == tokenize.STRING:
                inside.update(range(token.start[0] + 1, token.end[0] + 1))
        return {line for line in inside if begin <= line <= end}

    # ---- finding -------------------------------------------------------------------------------

    def statement_at(self, line):
        """The innermost statement that covers a line; its header, where it has a body."""
        found = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
                body = getattr(node, "body", None)
                is_header = not isinstance(body, list) or line < body[0].lineno
                if is_header and (found is None or node.lineno >= found.lineno):
                    found = node
        return found

    def calls_at(self, line, name=None):
        """Calls that cover a line, innermost last; of a function or method of that name."""
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)
                 and node.lineno <= line <= node.end_lineno
                 and (name is None or name_of(node) == name)]
        return sorted(calls, key=lambda node: (node.lineno, node.col_offset))

    def enclosing(self, node, kinds):
        """The innermost of those kinds around a node; None without one."""
        node = getattr(node, "parent", None)
        while node is not None and not isinstance(node, kinds):
            node = getattr(node, "parent", None)
        return node

    def block_of(self, statement):
        """(the list of statements it is in, its place)."""
        for field in ("body", "orelse", "finalbody"):
            block = getattr(statement.parent, field, None)
            if isinstance(block, list) and statement in block:
                return block, block.index(statement)
        raise Unknown("the statement is in no block")

    def up_to(self, node, block):
        """The statement of a block that contains a node; None where none does."""
        while node is not None and node not in block:
            node = getattr(node, "parent", None)
        return node


def name_of(call):
    """The last name of what is called: "AdamW" of torch.optim.AdamW(…)."""
    function = call.func if isinstance(call, ast.Call) else call
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def keyword(call, name):
    return next((one for one in call.keywords if one.arg == name), None)


def diff(name, before, after):
    """Unified, as patch -p1 and git apply take it."""
    pieces = []
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, "a/" + name, "b/" + name):
        pieces.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(pieces)
