#!/usr/bin/env python3
"""Write the default stand-ins a PyTorch wheel needs.

Reads the dynamic symbol tables of the wheel's own shared objects and collects what
they leave undefined and the vendor's libraries would provide. For each such library,
named by its soname, three files appear in the output folder:

    <soname>.c       one PLIM_STANDIN_STUB(name), or REFUSAL, per function
    <soname>.map     the linker version script with the version node callers ask for
    sonames          the list of them, one "<soname> <family>" per line

where the family ("cudart" for libcudart.so.13) names the folder of hand-written
stand-ins that are linked over the defaults.

Most symbols carry a version whose record names the library (the GNU symbol version
extension, Linux Standard Base, chapter "Symbol Versioning"). The rest have only their
prefix to go by, see PREFIXES. Functions of the driver and of the management library are
mostly not linked at all but asked for by name at run time, so names that look like theirs
are also taken from the constant strings of objects that do so.
"""

import argparse
import pathlib
import re
import sys

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection, GNUVerSymSection

# The vendor's libraries; all others come with the system or with the wheel itself.
VENDOR = re.compile(r"lib(cu|nv|nccl)")

# Unversioned symbols: prefix -> family. First match wins.
PREFIXES = [
    (r"nccl[A-Z]", "nccl"),
    (r"cusparseLt[A-Z]", "cusparseLt"),
    (r"cuFile[A-Z]", "cufile"),
    (r"curand[A-Z]", "curand"),
    (r"nvshmem", "nvshmem_host"),
    (r"nvml[A-Z]", "nvidia-ml"),
    (r"cu[A-Z]", "cuda"),
]

# Opened at run time, so that no object says it needs them.
OPENED = ["libcuda.so.1", "libnvidia-ml.so.1"]


# Functions whose only purpose is to write a size that callers do not set before. Success
# without an answer would make them use what happens to be there, so these fail.
REFUSALS = [
    (r"cusolver\w*[bB]ufferSize$", 9),  # CUSOLVER_STATUS_NOT_SUPPORTED
    (r"cudnnGetRNN\w*Sizes?$", 3000),  # CUDNN_STATUS_NOT_SUPPORTED
]

# How an object asks for functions by name, and what their names look like.
ASKS_BY_NAME = "cudaGetDriverEntryPointByVersion"
NAME = re.compile(rb"\0(?=((?:cu[A-Z][a-z]|nvml[A-Z])\w+)\0)")


def family_of(soname):
    return re.match(r"lib(.+?)\.so", soname).group(1)


def read_object(path):
    """What `path` leaves undefined, as (symbol, soname or None, version or None), and the
    sonames it needs."""
    with open(path, "rb") as file:
        elf = ELFFile(file)
        dynamic = elf.get_section_by_name(".dynamic")
        symbols = elf.get_section_by_name(".dynsym")
        if dynamic is None or symbols is None:
            return [], []
        needed = [tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]
        versions = {}
        indices = None
        for section in elf.iter_sections():
            if isinstance(section, GNUVerNeedSection):
                for library, records in section.iter_versions():
                    for record in records:
                        versions[record["vna_other"]] = (library.name, record.name)
            elif isinstance(section, GNUVerSymSection):
                indices = section
        found = []
        for index, symbol in enumerate(symbols.iter_symbols()):
            if symbol["st_shndx"] != "SHN_UNDEF" or not symbol.name:
                continue
            version = indices.get_symbol(index)["ndx"] if indices is not None else None
            found.append((symbol.name, *versions.get(version, (None, None))))
        if any(name == ASKS_BY_NAME for name, _, _ in found):
            constants = elf.get_section_by_name(".rodata").data()
            found.extend((name.decode(), None, None) for name in NAME.findall(constants))
        return found, needed


def collect(folder):
    """{soname: {"version": str or None, "symbols": set}} over all objects in `folder`."""
    objects = [read_object(path) for path in sorted(folder.glob("*.so*"))]
    sonames = OPENED + [soname for _, needed in objects for soname in needed]
    libraries = {soname: {"version": None, "symbols": set()}
                 for soname in sonames if VENDOR.match(soname)}
    by_family = {family_of(soname): soname for soname in libraries}
    for symbols, _ in objects:
        for name, soname, version in symbols:
            if soname in libraries:
                libraries[soname]["version"] = version
                libraries[soname]["symbols"].add(name)
            elif soname is None:
                for prefix, family in PREFIXES:
                    if re.match(prefix, name) and family in by_family:
                        libraries[by_family[family]]["symbols"].add(name)
                        break
    return libraries


def stub(name):
    for pattern, status in REFUSALS:
        if re.match(pattern, name):
            return f"PLIM_STANDIN_REFUSAL({name}, {status})"
    return f"PLIM_STANDIN_STUB({name})"


def write_library(out, soname, library):
    lines = [
        f"/* {soname}.c - generated by generate_stubs.py; see core/stub.h. */",
        f'#define PLIM_STANDIN_LIBRARY "{soname}"',
        '#include "core/stub.h"',
        "",
        *(stub(name) for name in sorted(library["symbols"])),
    ]
    (out / f"{soname}.c").write_text("\n".join(lines) + "\n")
    # Without versions the node has no name, and neither have the symbols.
    node = f"{library['version']} " if library["version"] else ""
    (out / f"{soname}.map").write_text(f"{node}{{ global: *; }};\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("torch_lib", type=pathlib.Path, help="the wheel's torch/lib folder")
    parser.add_argument("out", type=pathlib.Path, help="folder to write to")
    arguments = parser.parse_args()

    libraries = collect(arguments.torch_lib)
    if not libraries:
        sys.exit(f"{arguments.torch_lib}: no object here needs a CUDA library")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for soname, library in libraries.items():
        write_library(arguments.out, soname, library)
    lines = [f"{soname} {family_of(soname)}" for soname in sorted(libraries)]
    (arguments.out / "sonames").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
