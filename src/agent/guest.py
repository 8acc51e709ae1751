"""A Python that uses a wheel of another environment writes no compiled files into it.

pip compiles a package for the Python that it installs into, and removes these files and no others.
Those of a guest would stay after `pip uninstall`. Executed by sitecustomize.py and by the package's
_startup.py, each of which may be the first of Plimsoll in its process.
"""

import os
import sys

from _frozen_importlib_external import FileFinder, SourceFileLoader


class Reading(SourceFileLoader):
    """Loads what is there, compiled or not, and keeps nothing."""

    def set_data(self, path, data, **_options):
        pass


def is_guest(package):
    """Whether the package's folder lies in a wheel that another environment has installed.

    package  the folder `plimsoll` that _native is in
    """
    return (os.path.isdir(os.path.join(package, "_native"))
            and not package.startswith(os.path.join(sys.prefix, "")))


def reader(folder):
    return FileFinder(folder, (Reading, [".py"]))


def enter(package):
    """Of the modules in all folders of the package: from now on."""
    for folder, inside, _files in os.walk(package):
        inside[:] = [name for name in inside if name != "__pycache__"]
        sys.path_importer_cache[folder] = reader(folder)


def forget(package, cached):
    """Removes the compiled file of a module that was imported before enter().

    cached  its path; it stays where it is pip's own: then the package has others of this Python
    """
    own = os.path.join(package, "__pycache__", "__init__.%s.pyc" % sys.implementation.cache_tag)
    try:
        if cached and not os.path.exists(own):
            os.unlink(cached)
            os.rmdir(os.path.dirname(cached))
    except OSError:  # it was not written, or the folder has other files
        pass
