"""Calls back when the program has imported a module.

A finder that is asked first for every module, but only ever answers for the one: it lets the
others find it, and puts a loader around theirs that calls back once the module has run. The
module keeps the loader it would have had. Nothing is imported that the program does not import.
"""

import sys
import time


class _Loader:
    """Loads as the given one does, then calls back. Attributes are those of the given one."""

    def __init__(self, loader, loaded):
        self._loader = loader
        self._loaded = loaded

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        began = time.monotonic()
        self._loader.exec_module(module)
        self._loaded(module, time.monotonic() - began)


# CPython takes frames of importlib out of a failed import's traceback, if they are called so.
_Loader.exec_module.__code__ = _Loader.exec_module.__code__.replace(
    co_filename="<frozen importlib._bootstrap>", co_name="_call_with_frames_removed")


class _Finder:
    """Finds one module, through the finders after this one."""

    def __init__(self, name):
        self.name = name
        self.loaded = []  # in the order in which they are called

    def _done(self, module, seconds):
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for loaded in self.loaded:
            try:
                loaded(module, seconds)
            except Exception:  # never the program's business; there will be no results
                pass

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is None:
                continue
            if hasattr(spec.loader, "exec_module"):
                spec.loader = _Loader(spec.loader, self._done)
            return spec
        return None


def when_imported(name, loaded):
    """Calls loaded(module, seconds that its import took) once a module has been imported.

    A module that is there already took 0 seconds. A second call for a module joins the first
    one's finder: two would ask each other for ever.
    """
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if module is not None and not getattr(spec, "_initializing", False):
        loaded(module, 0.0)
        return
    for finder in sys.meta_path:
        if isinstance(finder, _Finder) and finder.name == name:
            finder.loaded.append(loaded)
            return
    finder = _Finder(name)
    finder.loaded.append(loaded)
    sys.meta_path.insert(0, finder)
