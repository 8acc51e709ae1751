"""The folder of this process in that of the run: its files are whole or absent, and its user's.

Each is written beside under another name and renamed. They are not synced to the disk: a process
that dies loses nothing that it has written, only a machine that does, and a sync may take seconds.
"""

import json
import os

PART = ".part"


class Folder:
    """A folder that may become full, read-only, or be removed while the program runs.

    path  of it
    """

    def __init__(self, path):
        self.path = path

    def make(self):
        """Makes it, for its user alone."""
        os.makedirs(self.path, mode=0o700, exist_ok=True)

    def names(self):
        """Of the files in it."""
        try:
            return sorted(os.listdir(self.path))
        except OSError:
            return []

    def write(self, name, write):
        """Writes a file by write(file). Raises, and leaves nothing, where that fails."""
        path = os.path.join(self.path, name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            descriptor = os.open(path + PART, flags, 0o600)
        except FileNotFoundError:
            self.make()  # it was removed
            descriptor = os.open(path + PART, flags, 0o600)
        try:
            with open(descriptor, "wb") as file:
                write(file)
            os.replace(path + PART, path)
        except BaseException:
            self.remove(name + PART)
            raise

    def write_json(self, name, document):
        text = json.dumps(document, default=str)
        self.write(name, lambda file: file.write(text.encode("utf-8", "replace")))

    def remove_parts(self):
        """Removes files that were never renamed; no thread of this process writes yet."""
        for name in self.names():
            if name.endswith(PART):
                self.remove(name)

    def remove(self, name):
        """Removes a file, if it is there and can be."""
        try:
            os.unlink(os.path.join(self.path, name))
        except OSError:
            pass
