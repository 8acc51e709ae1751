"""Says where PyTorch is and what it wants of CUDA, as JSON on stdout, without importing it.

The launcher runs this with the program's own Python before the program: it needs to know which
vendor libraries to stand in for, and an import of PyTorch would take seconds and fail without
them. Everything is read from files: the module's place, torch/version.py, the metadata of
NVIDIA's packages, and the dynamic sections of shared objects.
"""

import importlib.machinery
import importlib.metadata
import json
import os
import re
import struct
import sys

# A GPU vendor's libraries in a shared object's list of needed libraries.
VENDOR = re.compile(
    r"lib(cudart|cuda|cublas|cublasLt|cudnn\w*|cufft\w*|cufile|cupti|curand|cusolver\w*"
    r"|cusparse\w*|nccl|nvidia-ml|nvrtc|nvshmem_host|nvJitLink|nvToolsExt)\.so[.\d]*$"
)
# NVIDIA's own libraries, and what else wants CUDA but is PyTorch's business already.
SKIPPED = {"nvidia", "torch", "torchgen", "functorch", "triton", "__pycache__"}
FILES_MAX = 20000  # looked at in other packages, so that a huge environment stays quick

# Of the ELF format (System V ABI, "Program Loading and Dynamic Linking").
PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_STRSZ = 1, 5, 10


def torch_folder():
    """The folder of the torch package that `import torch` would find, or None."""
    spec = importlib.machinery.PathFinder.find_spec("torch", sys.path)
    places = list(spec.submodule_search_locations or []) if spec else []
    for place in places:
        if os.path.exists(os.path.join(place, "version.py")):
            return os.path.abspath(place)
    return None


def torch_versions(folder):
    """(version, cuda) as torch/version.py says them; read as text, never run."""
    with open(os.path.join(folder, "version.py"), encoding="utf-8", errors="replace") as file:
        text = file.read()

    def value(name):
        found = re.search(rf"^{name}\b[^=\n]*=\s*['\"]([^'\"]*)['\"]", text, re.MULTILINE)
        return found.group(1) if found else None

    return value("__version__"), value("cuda")


def package_version(name, cuda, folder):
    """The version of NVIDIA's package for this CUDA ("nvidia-cudnn-cu13"), or None.

    That of the one installed beside torch, where torch looks for it; else that which torch was
    built for; else that of one installed anywhere.
    """
    names = [f"nvidia-{name}-cu{cuda.split('.')[0]}"] if cuda else []
    names.append(f"nvidia-{name}")
    beside_torch = [os.path.dirname(folder)]

    def installed(path):
        for candidate in names:
            for found in importlib.metadata.distributions(name=candidate, path=path):
                return found.version
        return None

    def required_by_torch():
        for torch in importlib.metadata.distributions(name="torch", path=beside_torch):
            for line in torch.requires or []:
                required = re.match(r"([\w.-]+)\s*==\s*([\w.]+)", line)
                if required and required.group(1) in names:
                    return required.group(2)
        return None

    return installed(beside_torch) or required_by_torch() or installed(sys.path)


def is_object(name):
    return name.endswith(".so") or ".so." in name


def objects_in(folder):
    """Shared objects directly in a folder, in order."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    return [entry.path for entry in entries if is_object(entry.name) and entry.is_file()]


def dynamic_section(file):
    """[(tag, value), ...] of an ELF file, and a function from addresses to offsets in it."""
    header = file.read(64)
    if header[:6] != b"\x7fELF\x02\x01":  # 64 bits, little endian: where CUDA runs
        return [], None
    (table,) = struct.unpack_from("<Q", header, 32)
    size, count = struct.unpack_from("<HH", header, 54)
    file.seek(table)
    segments = [struct.unpack("<IIQQQQQQ", file.read(size)[:56]) for _ in range(count)]

    def offset_of(address):
        for kind, _, offset, start, _, length, _, _ in segments:
            if kind == PT_LOAD and start <= address < start + length:
                return offset + address - start
        raise ValueError("an address outside of the file")

    for kind, _, offset, _, _, length, _, _ in segments:
        if kind == PT_DYNAMIC:
            file.seek(offset)
            return list(struct.iter_unpack("<QQ", file.read(length // 16 * 16))), offset_of
    return [], None


def needed(path):
    """The libraries that a shared object needs, as its dynamic section names them."""
    with open(path, "rb") as file:
        entries, offset_of = dynamic_section(file)
        values = dict(entries)
        if DT_NEEDED not in values or DT_STRTAB not in values:
            return []
        file.seek(offset_of(values[DT_STRTAB]))
        strings = file.read(values.get(DT_STRSZ, 0))
    places = [value for tag, value in entries if tag == DT_NEEDED]
    return [strings[place:strings.index(b"\0", place)].decode() for place in places]


def wants_vendor(path):
    """Whether a shared object needs a library of the vendor's. A damaged one does not."""
    try:
        return any(VENDOR.match(name) for name in needed(path))
    except (OSError, ValueError, struct.error, MemoryError):
        return False


def extensions(site_folder):
    """Shared objects of other packages in a site folder that want a library of the vendor's."""
    found = []
    left = FILES_MAX
    try:
        packages = sorted(os.scandir(site_folder), key=lambda entry: entry.name)
    except OSError:
        return found
    for package in packages:
        if package.name in SKIPPED or package.name.endswith((".dist-info", ".egg-info")):
            continue
        if package.is_file():
            if is_object(package.name) and wants_vendor(package.path):
                found.append(package.path)
            continue
        for folder, folders, files in os.walk(package.path):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            left -= len(files)
            if left < 0:
                return found
            paths = (os.path.join(folder, name) for name in sorted(files) if is_object(name))
            found += [path for path in paths if wants_vendor(path)]
    return found


def site_folders(torch_site):
    """Where packages lie: beside torch, and the site folders of sys.path."""
    folders = [torch_site]
    for entry in sys.path:
        entry = os.path.abspath(entry or ".")
        if os.path.basename(entry) in ("site-packages", "dist-packages"):
            if entry not in folders:
                folders.append(entry)
    return folders


def discover():
    """The answer, as a value that JSON can say."""
    answer = {"python": sys.version, "torch": None, "cuda": None, "cudnn": None, "nccl": None}
    answer["objects"] = []
    folder = torch_folder()
    if folder is None:
        return answer
    answer["torch"], answer["cuda"] = torch_versions(folder)
    answer["cudnn"] = package_version("cudnn", answer["cuda"], folder)
    answer["nccl"] = package_version("nccl", answer["cuda"], folder)
    objects = objects_in(os.path.join(folder, "lib")) + objects_in(folder)
    for site_folder in site_folders(os.path.dirname(folder)):
        objects += extensions(site_folder)
    answer["objects"] = objects
    return answer


def main():
    # A script's folder is first in sys.path, and ours is no place to find torch in.
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != own]
    json.dump(discover(), sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
