"""Arms the recorder for a Python environment by a file in its site-packages, and says so as JSON.

The command runs this with the environment's own Python:

    enable [--user]     writes the file, unless it is there and the same
    disable [--user]    removes it: with --user that of the user, else all that are found
    status              changes nothing

Python reads files that end in .pth at each start (the documentation of its module site). Ours
executes a file of the package `plimsoll`, which makes the package found, alone of all in its folder,
and waits for torch. Where that file is gone nothing happens, and Python starts as without ours.
"""

import ast
import json
import os
import site
import sys
import sysconfig

NAME = "plimsoll-enabled.pth"
GLOBALS = '{"__name__": "plimsoll._startup"}'
CODE = """try:
 folder = %s
 exec(open(folder + "/plimsoll/_startup.py", encoding="utf-8").read())
except Exception:
 pass"""


def package_folder():
    """The folder that the package lies in: beside that of this script; of a wheel, around it."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    package = os.path.dirname(os.path.dirname(home))
    if os.path.isfile(os.path.join(package, "_startup.py")):
        return os.path.dirname(package)
    return os.path.join(home, "python")


def content(folder):
    """The file for a package's folder: one line, in ASCII, because the encoding that Python reads
    it by differs between releases."""
    return "import sys; exec(%s, %s)\n" % (ascii(CODE % ascii(folder)), GLOBALS)


class Place:
    """A site-packages folder of this Python, and our file in it."""

    def __init__(self, folder, is_user):
        self.path = os.path.join(folder, NAME)
        self.folder = folder
        self.is_user = is_user
        self.was = self.read()
        self.done = None

    def read(self):
        """Its content; None: it is not there."""
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return None

    def leads_to(self):
        """The package folder that the file names, if it is one of ours."""
        now = self.read() or ""
        try:
            code = ast.literal_eval(now[now.index("exec(") + 5:now.rindex(", " + GLOBALS)])
            folder = ast.parse(code).body[0].body[0].value.value
        except (ValueError, SyntaxError, AttributeError, IndexError):
            return None
        return folder if now == content(folder) else None

    def write(self):
        """Writes it whole, or raises OSError."""
        os.makedirs(self.folder, exist_ok=True)
        part = "%s.%d.part" % (self.path, os.getpid())
        try:
            with open(part, "w", encoding="utf-8") as file:
                file.write(content(package_folder()))
            os.replace(part, self.path)
        except OSError:
            if os.path.exists(part):
                os.unlink(part)
            raise

    def state(self):
        """ "enabled", "stale" (it leads to another or missing Plimsoll) or "absent"."""
        if self.read() is None:
            return "absent"
        start = os.path.join(package_folder(), "plimsoll", "_startup.py")
        return "enabled" if self.leads_to() == package_folder() and os.path.exists(start) else "stale"

    def as_json(self):
        return {"path": self.path, "is_user": self.is_user, "state": self.state(),
                "done": self.done, "leads_to": self.leads_to()}


def is_virtual():
    return sys.prefix != sys.base_prefix


def is_conda():
    return os.path.isdir(os.path.join(sys.prefix, "conda-meta"))


def kind():
    """ "venv", "conda" or "python": a Python that is neither."""
    return "venv" if is_virtual() else "conda" if is_conda() else "python"


def is_managed():
    """Whether the system's packages own this Python (PEP 668)."""
    folder = sysconfig.get_path("stdlib")
    return not is_virtual() and os.path.exists(os.path.join(folder, "EXTERNALLY-MANAGED"))


def places():
    """(the environment's own, the user's or None)"""
    own = Place(sysconfig.get_path("purelib"), False)
    user = Place(site.getusersitepackages(), True) if site.ENABLE_USER_SITE else None
    return own, user


def hint(user):
    return "; --user writes into %s" % user.folder if user is not None else ""


def refusal(own, user, wants_user):
    """Why the file may not be written, or None."""
    if wants_user:
        return None if user is not None else (
            "this Python reads no packages of the user's: leave out --user")
    if is_managed():
        return "the system's packages manage this Python%s" % hint(user)
    site_folders = [os.path.realpath(entry) for entry in sys.path if entry]
    if os.path.isdir(own.folder) and os.path.realpath(own.folder) not in site_folders:
        return "this Python does not read %s%s" % (own.folder, hint(user))
    return None


def enable(own, user, wants_user):
    """Returns why it could not be, or None."""
    reason = refusal(own, user, wants_user)
    if reason is not None:
        return reason
    place = user if wants_user else own
    if place.was == content(package_folder()):
        place.done = "unchanged"
        return None
    try:
        place.write()
    except OSError as error:
        return "%s cannot be written: %s%s" % (
            place.path, error.strerror, "" if wants_user else hint(user))
    place.done = "written" if place.was is None else "replaced"
    return None


def disable(own, user, wants_user):
    """Returns why it could not be, or None."""
    for place in [user] if wants_user else [own, user]:
        if place is None or place.was is None:
            continue
        try:
            os.unlink(place.path)
            place.done = "removed"
        except OSError as error:
            return "%s cannot be removed: %s" % (place.path, error.strerror)
    return None


def main(words):
    own, user = places()
    wants_user = "--user" in words
    reason = None
    if words[0] == "enable":
        reason = enable(own, user, wants_user)
    elif words[0] == "disable":
        reason = disable(own, user, wants_user)
    json.dump({
        "python": sys.executable,
        "version": "%d.%d.%d" % sys.version_info[:3],
        "prefix": sys.prefix,
        "kind": kind(),
        "is_managed": is_managed(),
        "package": package_folder(),
        "refused": reason,
        "places": [place.as_json() for place in (own, user) if place is not None],
    }, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
