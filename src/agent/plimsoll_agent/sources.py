"""The source of code: functions found by their code objects, files parsed where something is wanted."""

import ast
import inspect
import linecache

from plimsoll_agent import flow

LINES_MAX = 4000  # of a function; longer ones are left alone


class File:
    """A source file, parsed when something of it is wanted."""

    def __init__(self, name, variables):
        self._lines = linecache.getlines(name, variables)
        self._tree = None
        self._functions = None
        self._attributes = {}

    def lines(self):
        return self._lines

    def tree(self):
        if self._tree is None:
            self._tree = ast.parse("".join(self._lines))
        return self._tree

    def function(self, name):
        """A function of that name, wherever in the file it is defined; else None."""
        if self._functions is None:
            self._functions = {}
            for node in ast.walk(self.tree()):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self._functions[node.name] = node
        found = self._functions.get(name)
        if isinstance(found, ast.AST):
            found = self._functions[name] = flow.Function(found, name, self)
        return found

    def attribute_loads(self, attribute):
        """(function, expression) for each place that reads an attribute of that name."""
        if attribute not in self._attributes:
            found = []
            if sum(f".{attribute}" in line for line in self._lines) > 1:
                self.function("")
                for name in list(self._functions):
                    function = self.function(name)
                    found += function.attribute_loads(attribute)
            self._attributes[attribute] = found
        return self._attributes[attribute]


class Sources:
    """Functions by their code."""

    def __init__(self):
        self._files = {}
        self._functions = {}

    def of(self, code, variables=None):
        """The Function of a code object, or None where its source is not to be had."""
        if code not in self._functions:
            self._functions[code] = self._read(code, variables)
        return self._functions[code]

    def _read(self, code, variables):
        name = code.co_filename
        if name not in self._files:
            self._files[name] = File(name, variables)
        file = self._files[name]
        if not file.lines():
            return None
        try:
            tree = file.tree() if code.co_name.startswith("<") else _parse(file.lines(), code)
        except (SyntaxError, ValueError, RecursionError):
            return None
        return flow.Function(tree, code.co_name, file) if tree is not None else None


def _parse(lines, code):
    """The tree of one function: a large file need not be parsed for it."""
    first = code.co_firstlineno
    block = inspect.getblock(lines[first - 1:]) if lines[first - 1:] else []
    if len(block) > LINES_MAX:
        return None
    text = "".join(block)
    if text[:1] in (" ", "\t"):
        text = "if True:\n" + text
        first -= 1
    tree = ast.parse(text)
    ast.increment_lineno(tree, first - 1)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            return node
    return tree
