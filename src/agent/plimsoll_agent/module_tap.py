"""Reports calls of modules, from one place, to whichever parts of the agent wait for one."""


class ModuleTap:
    """Stands in Module's dictionary for the function __call__ while anything waits for a call.

    To a lookup without an instance it gives that function, so that no frame of ours is on a stack
    and no call is slower (module hooks would put frames on the stacks of a whole forward). Changing
    a class costs all its subclasses their caches, so it comes and goes few times.

    A watcher is called with the module and the bound function that the lookup would give, and
    returns what to give in its place, or None. The one that began to wait first is asked first.
    """

    def __init__(self, module_class):
        self._class = module_class
        self._function = None
        self._watchers = []

    def add(self, watcher):
        if watcher in self._watchers:
            return
        if not self._watchers:
            current = self._class.__dict__.get("__call__")
            if current is None:
                return
            self._function = current
            self._class.__call__ = self
        self._watchers.append(watcher)

    def remove(self, watcher):
        if watcher not in self._watchers:
            return
        self._watchers.remove(watcher)
        if not self._watchers and self._class.__dict__.get("__call__") is self:
            self._class.__call__ = self._function

    def __get__(self, instance, owner=None):
        function = self._function
        if instance is None:
            return function
        bound = function.__get__(instance, owner)
        for watcher in tuple(self._watchers):
            bound = watcher(instance, bound) or bound
        return bound


_taps = {}


def of(module_class):
    """The one tap of a class."""
    return _taps.setdefault(module_class, ModuleTap(module_class))
