#!/usr/bin/env python3
"""check_deb.py DEB - the Debian package: lintian, names on other releases, and an installation.

Installs it with apt on a bare Debian 12, made by debootstrap in a folder of its own, uses what it brought
there and removes it again. Debian's own apt resolves its dependencies against the indices of Debian 13 and
Ubuntu 24.04, installing nothing. Needs root and mirrors of Debian and Ubuntu: what cannot be done is skipped
with its reason. Exit status 1: a check failed; 77: none could be made.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBIAN = "http://deb.debian.org/debian"
UBUNTU = "http://archive.ubuntu.com/ubuntu"

# release, mirror, components, and the package that libdw is in there
OTHERS = [
    ("Debian 13", "trixie", DEBIAN, "main", "libdw1t64"),
    ("Ubuntu 24.04", "noble", UBUNTU, "main universe", "libdw1t64"),
]
OURS = ["libyajl2", "libprotobuf-c1", "libsqlite3-0"]  # what no minimal system has

# Each is run by a shell in the new system, which has what `apt-get install` brought alone.
USES = [
    ("the command", "plimsoll --version"),
    ("explain", "plimsoll explain /root/oom.txt | grep -q 'GPU 0 is fragmented'"),
    ("explain as JSON", "plimsoll explain --json /root/oom.txt | python3 -m json.tool >/dev/null"),
    ("inspect", "plimsoll inspect /root/snapshot.pickle.zst | grep -q 'peak'"),
    ("diagnose", "plimsoll diagnose /root/failed.pickle | grep -q 'may be exhausted'"),
    ("query", "plimsoll query /root/snapshot.pickle.zst 'SELECT count(*) FROM events' >/dev/null"),
    ("the table of GPUs", "plimsoll rehearse --list-gpus | grep -q rtx4090"),
    ("a rehearsal says that PyTorch is missing",
     "plimsoll rehearse --gpu=h100 -- python3 -c 'import torch' 2>&1 | grep -qi torch"),
    ("the Python package", "cd / && python3 -c 'import plimsoll; assert plimsoll.__all__'"),
    ("the Python package finds command and agent",
     "cd / && python3 -c 'from plimsoll import _home, _agent; _agent.load(); "
     "assert _home.command() == \"/usr/bin/plimsoll\", _home.command()'"),
    ("the Python package calls the command",
     "cd / && python3 -c 'from plimsoll import _command; "
     "assert _command.call([\"explain\"], open(\"/root/oom.txt\").read()).document'"),
    ("the Python package is compiled once",
     "ls /usr/lib/plimsoll/rehearse/python/plimsoll/__pycache__/errors.*.pyc"),
    ("enable", "plimsoll enable --status --json --python=python3 | grep -q /usr/lib/plimsoll"),
    ("documents", "test -s /usr/share/doc/plimsoll/docs/commands/inspect.md"
     " && test -s /usr/share/doc/plimsoll/LICENSE && zcat /usr/share/doc/plimsoll/changelog.Debian.gz"),
    ("completion in bash",
     "bash -c '. /usr/share/bash-completion/completions/plimsoll; COMP_WORDS=(plimsoll insp) COMP_CWORD=1;"
     " _plimsoll; test \"$COMPREPLY\" = inspect'"),
]
# And these need packages more: man, and a compiler.
MORE = ["man-db", "gcc", "libc6-dev", "pkg-config"]
MORE_USES = [
    ("man pages", "man plimsoll | grep -q COMMANDS && man plimsoll-inspect | grep -q OPTIONS"),
    ("apropos", "mandb -q && man -k plimsoll | grep -q plimsoll-tune"),
    ("a C program of the library",
     "mkdir '/root/a b' && cd '/root/a b' && gcc -Wall -Werror /usr/share/doc/plimsoll/examples/inspect_file.c -o inspect"
     " $(pkg-config --cflags --libs plimsoll) && ./inspect /root/snapshot.pickle.zst >/dev/null"),
    ("a C program of the core, static",
     "cd '/root/a b' && gcc /usr/share/doc/plimsoll/examples/core_recording.c -o core"
     " -l:libplimsoll-core.a -lm -pthread && ./core run.plim && plimsoll inspect run.plim >/dev/null"),
]
GIVEN = {"oom.txt": "tests/data/messages/torch-fragmented.txt",
         "failed.pickle": "tests/data/recordings/out_of_memory.pickle",
         "snapshot.pickle.zst": "tests/data/recordings/accumulate.pickle.zst"}


class Skipped(Exception):
    """Why a check cannot be made here."""


class Counts:
    """What came of the checks, said as they end."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, what, function, *arguments):
        """Runs one check; True if it passed."""
        try:
            function(*arguments)
        except Skipped as reason:
            self.skipped += 1
            print(f"skipped  {what}: {reason}", flush=True)
            return False
        except subprocess.CalledProcessError as error:
            self.failed += 1
            said = ((error.stdout or "") + (error.stderr or "")).strip().splitlines()
            print("\n         ".join([f"FAILED   {what}", *said[-12:]]), flush=True)
            return False
        self.passed += 1
        print(f"ok       {what}", flush=True)
        return True


def run(words, **options):
    """Its output; CalledProcessError if it fails."""
    return subprocess.run(words, check=True, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options).stdout


def want(condition, words):
    """Fails a check with these words."""
    if not condition:
        raise subprocess.CalledProcessError(1, "", words)


def is_reachable(url):
    """Whether a mirror answers."""
    try:
        with urllib.request.urlopen(url, timeout=20):
            return True
    except OSError:
        return False


def lint(deb):
    """lintian's errors; what it warns of is argued in docs/design/packages.md."""
    if shutil.which("lintian") is None:
        raise Skipped("lintian is not installed")
    run(["lintian", "--allow-root", "--fail-on", "error", deb])


def resolve(deb, name, suite, mirror, components, libdw):
    """apt finds all dependencies in another release's index. Nothing of it is installed or run, so that
    its signature, whose key this system may lack, is of no consequence."""
    if shutil.which("apt-get") is None:
        raise Skipped("there is no apt-get")
    if not is_reachable(f"{mirror}/dists/{suite}/Release"):
        raise Skipped(f"{mirror} cannot be reached")
    with tempfile.TemporaryDirectory(prefix="plimsoll apt ") as folder:
        base = pathlib.Path(folder)
        for place in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d",
                      "var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/lib/dpkg"):
            (base / place).mkdir(parents=True)
        status = base / "var/lib/dpkg/status"
        status.touch()
        (base / "etc/apt/sources.list").write_text(
            f"deb [arch=amd64 trusted=yes] {mirror} {suite} {components}\n")
        (base / "apt.conf").write_text(
            f'Dir "{base}/";\nDir::State::status "{status}";\nAPT::Architecture "amd64";\n'
            'APT::Architectures "amd64";\nAPT::Sandbox::User "root";\nAcquire::Languages "none";\n')
        shutil.copy(deb, base / "plimsoll.deb")
        environment = {**os.environ, "APT_CONFIG": str(base / "apt.conf"), "LC_ALL": "C"}
        run(["apt-get", "-qq", "update"], env=environment)
        plan = run(["apt-get", "--simulate", "install", "./plimsoll.deb"], env=environment, cwd=folder)
    installed = {line.split()[1] for line in plan.splitlines() if line.startswith("Inst ")}
    for wanted in [*OURS, libdw, "python3", "plimsoll"]:
        want(wanted in installed, f"{name} would install no {wanted}: {sorted(installed)}")


class System:
    """A bare Debian 12 in a folder of its own."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)

    def make(self):
        """debootstrap refuses folders with a blank in their names."""
        if os.geteuid() != 0:
            raise Skipped("it needs root")
        if shutil.which("debootstrap") is None:
            raise Skipped("debootstrap is not installed")
        if not is_reachable(f"{DEBIAN}/dists/bookworm/Release"):
            raise Skipped(f"{DEBIAN} cannot be reached")
        run(["debootstrap", "--variant=minbase", "bookworm", str(self.root), DEBIAN])
        want("plimsoll" not in self.run("ls /usr/bin /usr/lib"), "the new system has a plimsoll")

    def run(self, line):
        """A shell's line in the system. Mounts are those of a namespace that ends with it."""
        return run(["unshare", "--mount", "--pid", "--fork", "sh", "-c",
                    'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c "$1"', str(self.root), line],
                   env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
                        "DEBIAN_FRONTEND": "noninteractive"})

    def files(self):
        """All paths of the system that the package, or a use of it, could have made."""
        places = ("usr", "etc", "root", "opt", "var/lib")
        return {str(path) for place in places for path in (self.root / place).rglob("*")
                if "plimsoll" in str(path.relative_to(self.root))}

    def install(self, deb):
        """By apt, with what the package recommends."""
        for name, path in GIVEN.items():
            shutil.copy(ROOT / path, self.root / "root" / name)
        shutil.copy(deb, self.root / "root" / "the.deb")
        self.run("apt-get install -y /root/the.deb")

    def remove(self, how):
        """By apt; nothing of it stays, whatever Python compiled there."""
        self.run("mkdir -p /usr/lib/plimsoll/rehearse/agent/plimsoll_agent/__pycache__"
                 " && touch /usr/lib/plimsoll/rehearse/agent/plimsoll_agent/__pycache__/x.cpython-399.pyc")
        self.run(f"apt-get {how} -y plimsoll")
        info = str(self.root / "var/lib/dpkg/info")
        left = sorted(path for path in self.files() if not path.startswith(info))
        want(not left, f"{how} leaves {left}")


def on_bare_debian(counts, deb):
    """Everything that is done with an installed package."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-deb-") as folder:
        system = System(folder)
        if not counts.check("a bare Debian 12 by debootstrap", system.make):
            return
        if not counts.check("apt installs it there", system.install, deb):
            return
        for what, line in USES:
            counts.check(what, system.run, line)
        if counts.check(f"apt installs {', '.join(MORE)} beside it", system.run,
                        f"apt-get install -y --no-install-recommends {' '.join(MORE)}"):
            for what, line in MORE_USES:
                counts.check(what, system.run, line)
        counts.check("apt removes it", system.remove, "remove")
        counts.check("apt installs it again", system.install, deb)
        counts.check("apt purges it", system.remove, "purge")


def main():
    deb = os.path.abspath(sys.argv[1])
    counts = Counts()
    counts.check("lintian has no errors", lint, deb)
    for other in OTHERS:
        counts.check(f"its dependencies are in {other[0]}", resolve, deb, *other)
    on_bare_debian(counts, deb)
    print(f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped")
    return 1 if counts.failed else 0 if counts.passed else 77


sys.exit(main())
