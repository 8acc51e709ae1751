"""Makes environments in which one package is another release, and says so as JSON on stdout.

The launcher runs this with the program's own Python:

    packages                             what this Python has
    python PATH                          how what another Python has differs from it
    make CACHE online REQUIREMENT        the same of an environment that is made for a requirement
    releases stable PACKAGE FROM TO      a package's releases between two, the older first

"offline" in the place of "online" makes no environment: it takes one that was made before. "all"
in the place of "stable" includes releases before the final ones.

An environment is a venv of the same interpreter with the packages that differ, before which
nothing stands in sys.path, and after which the packages of this Python's own environment follow.
Nothing is installed anywhere else. What NVIDIA's packages hold is what rehearsals stand in for:
none is ever downloaded. All that uses the network is pip, run as a child.
"""

import fcntl
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig

PART = ".part"
ROUNDS_MAX = 12  # of packages that ask for others
STOOD_IN_FOR = ("nvidia-", "nvidia_", "cuda-", "cuda_")
PYTHONS = ["3.%d" % minor for minor in range(8, 16)]  # asked about, where this one has no wheel
FEW_PYTHONS = PYTHONS[::2]  # most releases have wheels for more than one
UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeout|NameResolutionError|Max retries|name resolution"
    r"|Network is unreachable|ProxyError|connection broken|Connection refused",
    re.IGNORECASE,
)


class Failure(Exception):
    """One line for the user, and its kind: "unreachable", "no_release" or "failed"."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def say(text):
    sys.stderr.write("plimsoll rehearse: %s\n" % text)
    sys.stderr.flush()


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


# ---- what a Python has ---------------------------------------------------------------------------


def site_folders():
    """The folders of sys.path that packages lie in, without the standard library's."""
    standard = {os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    own = os.path.dirname(os.path.abspath(__file__))
    given = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    skipped = {os.path.realpath(entry) for entry in given + [own]}
    folders = []
    for entry in sys.path:
        place = os.path.realpath(entry or ".")
        if entry and os.path.isdir(place) and place not in skipped | standard:
            if os.path.basename(place) != "lib-dynload":
                folders.append(place)
    return folders


def distributions(folders):
    """{normal name: distribution} of folders, the first where there are several."""
    found = {}
    for one in importlib.metadata.distributions(path=folders):
        name = one.metadata["Name"] if one.metadata is not None else None
        if name:
            found.setdefault(normal(name), one)
    return found


# ---- pip -----------------------------------------------------------------------------------------


def packaging():
    """pip's own copy of the package that understands requirements."""
    try:
        from pip._vendor import packaging as found
        import pip._vendor.packaging.requirements
        import pip._vendor.packaging.version
    except ImportError:
        raise Failure("failed", "%s has no pip: install it (python3 -m ensurepip, or python3-pip)"
                      % sys.executable) from None
    return found


def run_pip(words):
    """(success, output) of pip with the user's own settings, indexes among them."""
    environment = dict(os.environ, PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0")
    environment.pop("PYTHONPATH", None)
    # With a retry or more pip says why an index does not answer; without, there are no releases.
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input",
               "--retries", "2", *words]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout.decode("utf-8", "replace")


def last_error(output):
    """What pip said last of an error, in one line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    line = errors[-1] if errors else lines[-1] if lines else "it said nothing"
    return line[len("ERROR:"):].strip() if line.startswith("ERROR:") else line


def index_versions(name, pre, python=None):
    """Releases that have a file for a Python, as pip lists them: the newest first."""
    words = ["index", "versions", name] + (["--pre"] if pre else [])
    if python is not None:
        words += ["--python-version", python, "--only-binary=:all:"]
    success, output = run_pip(words)
    found = re.search(r"^Available versions: (.*)$", output, re.MULTILINE)
    if found:
        return found.group(1).split(", ")
    if not success and UNREACHABLE.search(output):
        raise Failure("unreachable", "the package index cannot be reached: %s" % last_error(output))
    if "No matching distribution" in output:
        return []
    raise Failure("failed", "pip cannot list the releases of %s: %s" % (name, last_error(output)))


def why_none(requirement, output):
    """Of a requirement that pip found nothing for."""
    if UNREACHABLE.search(output):
        return Failure("unreachable", "%s: the package index cannot be reached" % requirement)
    wanted = packaging().requirements.Requirement(requirement)
    here = "%d.%d" % sys.version_info[:2]
    fitting = []
    for python in PYTHONS:
        if any(wanted.specifier.contains(version, prereleases=True)
               for version in index_versions(wanted.name, True, python)):
            fitting.append(python)
    if fitting and here not in fitting:
        return Failure("no_release", "%s has no wheel for Python %s: it has some for Python %s"
                       % (requirement, here, ", ".join(fitting)))
    known = index_versions(wanted.name, True)
    if not known:
        return Failure("no_release", "%s: there is no such package" % wanted.name)
    return Failure("no_release", "%s: there is no such release for Python %s; the newest is %s"
                   % (requirement, here, known[0]))


def install(site, requirements):
    """Packages as they are named, without what they ask for."""
    words = ["install", "--no-deps", "--upgrade", "--no-compile",
             "--no-warn-script-location", "--target", site, *requirements]
    success, output = run_pip(words)
    if success:
        return
    if "No matching distribution" in output or "Could not find a version" in output:
        failed = re.findall(r"No matching distribution found for ([^\n]+)", output)
        name = re.match(r"[\w.-]+", failed[-1].strip())[0] if failed else ""
        named = [one for one in requirements if re.match(r"[\w.-]+", one)[0] == name]
        raise why_none((named or requirements)[0], output)
    kind = "unreachable" if UNREACHABLE.search(output) else "failed"
    raise Failure(kind, "%s cannot be installed: %s" % (", ".join(requirements),
                                                        last_error(output)))


# ---- an environment ------------------------------------------------------------------------------


def unsatisfied(added, present):
    """Requirements of added packages that what is present does not satisfy, one for each name."""
    tools = packaging()
    wanted = {}
    for one in added.values():
        for line in one.requires or []:
            try:
                required = tools.requirements.Requirement(line)
            except tools.requirements.InvalidRequirement:
                continue
            name = normal(required.name)
            if name.startswith(STOOD_IN_FOR):
                continue
            if required.marker is None or required.marker.evaluate({"extra": ""}):
                wanted.setdefault(name, []).append(required.specifier)
    # PyTorch before 2.3 was built for NumPy 1, and does not say so.
    torch = added.get("torch")
    if torch is not None and tools.version.Version(torch.version) < tools.version.Version("2.3"):
        wanted.setdefault("numpy", []).append(tools.requirements.Requirement("n<2").specifier)
    missing = []
    for name, specifiers in sorted(wanted.items()):
        found = present.get(name)
        together = ",".join(sorted({str(one) for one in specifiers} - {""}))
        if found is None or not all(one.contains(found.version, prereleases=True)
                                    for one in specifiers):
            missing.append(name + together)
    return missing


def at_odds(added, present):
    """Packages of the user's own environment that ask for other releases of what was added."""
    tools = packaging()
    lines = []
    for name, one in sorted(present.items()):
        for line in (one.requires or []) if name not in added else []:
            try:
                required = tools.requirements.Requirement(line)
            except tools.requirements.InvalidRequirement:
                continue
            other = added.get(normal(required.name))
            if other is None or (required.marker and not required.marker.evaluate({"extra": ""})):
                continue
            if not required.specifier.contains(other.version, prereleases=True):
                lines.append("%s %s asks for %s%s, and stays as it is" % (
                    name, one.version, required.name, required.specifier))
    return lines


def site_of(folder):
    return os.path.join(folder, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")


def fill(folder, requirements, below):
    """Installs requirements and what they ask for, as far as what is below does not satisfy it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", folder],
                   check=True, stdout=subprocess.DEVNULL)
    site = site_of(folder)
    wanted = requirements
    for _ in range(ROUNDS_MAX):
        say("installing %s" % ", ".join(wanted))
        install(site, wanted)
        added = distributions([site])
        present = {**distributions(below), **added}
        wanted = unsatisfied(added, present)
        if not wanted:
            break
    else:
        raise Failure("failed", "%s: what it asks for does not fit together: %s"
                      % (", ".join(requirements), ", ".join(wanted)))
    move_programs(folder, site)
    with open(os.path.join(site, "zz_plimsoll_below.pth"), "w", encoding="utf-8") as file:
        for place in below:
            file.write("import site; site.addsitedir(%r)\n" % place)


def move_programs(folder, site):
    """pip puts programs such as torchrun beside the packages, with this Python in their first
    line."""
    programs = os.path.join(site, "bin")
    if not os.path.isdir(programs):
        return
    for name in sorted(os.listdir(programs)):
        place = os.path.join(programs, name)
        with open(place, "rb") as file:
            text = file.read()
        first, end, rest = text.partition(b"\n")
        if first.startswith(b"#!") and b"python" in first:
            python = os.path.join(folder_at_last(folder), "bin", "python")
            text = b"#!" + os.fsencode(python) + end + rest
        own = os.path.join(folder, "bin", name)
        if not os.path.lexists(own):
            with open(own, "wb") as file:
                file.write(text)
            os.chmod(own, 0o755)
    shutil.rmtree(programs)


def folder_at_last(folder):
    """It is built under another name."""
    return folder[:-len(PART)]


def is_whole(folder, below):
    """True if it was made to its end, and what it asks for is still there."""
    if not os.path.exists(os.path.join(folder, "installed")):
        return False
    added = distributions([site_of(folder)])
    return not unsatisfied(added, {**distributions(below), **added})


def parse(text):
    """Requirements, which stand in one text with blanks or commas between."""
    tools = packaging()
    requirements = re.split(r"\s+|,(?=\s*[A-Za-z])", text.strip())
    for one in requirements:
        try:
            tools.requirements.Requirement(one)
        except tools.requirements.InvalidRequirement:
            raise Failure("usage", "\"%s\" is neither a Python nor a requirement such as "
                          "torch==2.9.1" % text) from None
        if normal(one).startswith(STOOD_IN_FOR):
            raise Failure("usage", "%s: NVIDIA's packages are stood in for, and none is installed"
                          % one)
    return requirements


def build(folder, requirements, below):
    """Under another name, which an environment bears until it is whole."""
    part = folder + PART
    shutil.rmtree(part, ignore_errors=True)
    try:
        fill(part, requirements, below)
        with open(os.path.join(part, "installed"), "w", encoding="utf-8") as file:
            json.dump({"requirements": requirements, "below": below}, file)
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(part, folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def lock_alone(lock, text):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        say("another run is making the environment for %s; waiting for it" % text)
        fcntl.flock(lock, fcntl.LOCK_EX)


def make(cache, is_offline, text):
    requirements = parse(text)
    below = site_folders()
    known = "\n".join([sys.version, os.path.realpath(sys.executable), *below, *requirements])
    key = "%s-%s" % (re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(requirements))[:60],
                     hashlib.sha256(known.encode()).hexdigest()[:8])
    folder = os.path.join(cache, key)
    os.makedirs(cache, exist_ok=True)
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        lock_alone(lock, text)
        if not is_whole(folder, below):
            if is_offline:
                raise Failure("unreachable", "%s: no environment was made for it yet, and with "
                              "--offline none is" % text)
            build(folder, requirements, below)
    site = site_of(folder)
    added, present = distributions([site]), distributions(below)
    own = {name: one.version for name, one in present.items()}
    other = {**own, **{name: one.version for name, one in added.items()}}
    first = normal(re.match(r"[\w.-]+", requirements[0])[0])
    return differences(os.path.join(folder, "bin", "python"), own, other, first,
                       at_odds(added, present))


# ---- two environments ----------------------------------------------------------------------------


def order_of(text):
    """For comparing versions; a text that is not one is the oldest."""
    version = packaging().version
    try:
        return version.Version(text)
    except version.InvalidVersion:
        return version.Version("0")


def differences(python, own, other, first, warnings):
    """Of two {name: version}; `first` stands first. It says which of the two is older."""
    changed = [name for name in sorted({*own, *other}) if own.get(name) != other.get(name)]
    changed.sort(key=lambda name: (name != first, name not in own or name not in other))
    is_older = True  # "against" another is "since" another, unless that is newer
    if changed and own.get(changed[0]) and other.get(changed[0]):
        is_older = order_of(other[changed[0]]) < order_of(own[changed[0]])
    packages = [{"name": name, "own": own.get(name), "other": other.get(name)} for name in changed]
    return {"python": python, "changes": packages, "is_older": is_older, "warnings": warnings}


def compare(python):
    """With another Python, which says itself what it has."""
    done = subprocess.run([python, "-B", os.path.abspath(__file__), "packages"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        other = json.loads(done.stdout)["packages"]
    except (ValueError, KeyError, TypeError):
        raise Failure("failed", "%s cannot list its packages" % python) from None
    own = {name: one.version for name, one in distributions(site_folders()).items()}
    return differences(python, own, other, "torch", [])


# ---- releases ------------------------------------------------------------------------------------


def releases(name, first, last, pre):
    """Releases from the first that is `first` or later to the last of `last`."""
    version = packaging().version
    try:
        low, high = version.Version(first), version.Version(last)
    except version.InvalidVersion as failure:
        raise Failure("usage", "%s..%s: %s" % (first, last, failure)) from None
    if low >= high:
        raise Failure("usage", "%s..%s: the older release stands first" % (first, last))
    here = "%d.%d" % sys.version_info[:2]

    def is_between(text):
        one = version.Version(text)
        within = one.release[:len(high.release)] <= high.release
        return one >= low and within and (pre or not one.is_prerelease)

    usable = {one for one in index_versions(name, pre) if is_between(one)}
    elsewhere = set()
    for python in FEW_PYTHONS:
        if python != here:
            elsewhere |= {one for one in index_versions(name, pre, python) if is_between(one)}
    ordered = sorted(usable, key=version.Version)
    if not ordered and not elsewhere:
        known = index_versions(name, pre)
        raise Failure("no_release", "%s: there is no such package" % name if not known else
                      "%s has no release from %s to %s; the newest is %s"
                      % (name, first, last, known[0]))
    without = sorted(elsewhere - usable, key=version.Version)
    return {"releases": ordered, "without_wheel": without, "python": here}


# ---- the commands --------------------------------------------------------------------------------


def answer(command, words):
    if command == "packages":
        named = distributions(site_folders())
        return {"packages": {name: one.version for name, one in sorted(named.items())}}
    if command == "python":
        return compare(words[0])
    if command == "make":
        return make(words[0], words[1] == "offline", words[2])
    return releases(words[1], words[2], words[3], words[0] == "all")


def main():
    try:
        document = answer(sys.argv[1], sys.argv[2:])
    except Failure as failure:
        document = {"error": str(failure), "kind": failure.kind}
    except (OSError, subprocess.SubprocessError) as failure:
        document = {"error": "the environment cannot be made: %s" % failure, "kind": "failed"}
    except KeyboardInterrupt:
        sys.exit(130)
    json.dump(document, sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
