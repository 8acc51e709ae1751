"""What keeps PyTorch from the GPU: no kernels for it, or a program that never asks for it."""

import os
import re
import sys

# CUDA toolkits for which PyTorch's own packages have kernels for old GPUs, by capability: what
# torch/cuda/__init__.py of PyTorch 2.11 lists (PYTORCH_RELEASES_CODE_CC).
PACKAGES = (
    ("cu126", ("sm_50", "sm_60", "sm_70", "sm_80", "sm_86", "sm_90")),
    ("cu128", ("sm_70", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")),
    ("cu130", ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_110", "sm_120")),
)


def runs_on(arch, capability):
    """Whether code for an architecture runs on a device.

    arch        "sm_86", "sm_90a", "sm_100f", "compute_120"
    capability  (major, minor) of the device
    source      CUDA C++ Programming Guide, "Compute Capabilities": binaries run on the same major
                version with a minor one that is not lower, PTX on all later ones; "a" is for the
                very same alone, "f" for its family
    """
    found = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", arch)
    if found is None:
        return True  # of a kind that is not known here
    kind, suffix = found.group(1), found.group(4)
    of = (int(found.group(2)), int(found.group(3)))
    if suffix == "a":
        return of == capability
    if kind == "compute" and not suffix:
        return capability >= of
    return capability[0] == of[0] and capability[1] >= of[1]


def _packages_for(capability):
    return [name for name, archs in PACKAGES if any(runs_on(arch, capability) for arch in archs)]


def why_none(torch):
    """Why this PyTorch cannot run on the first device, as a sentence; None: it can."""
    if getattr(torch.version, "cuda", None) is None or torch.cuda.device_count() == 0:
        return None
    archs = (torch._C._cuda_getArchFlags() or "").split()
    about = torch.cuda.get_device_properties(0)
    capability = (about.major, about.minor)
    if not archs or any(runs_on(arch, capability) for arch in archs):
        return None
    packages = _packages_for(capability)
    where = "build it from source for this GPU"
    if packages:
        where = f"packages for {' or '.join(packages)} have them"
    return (f"PyTorch {torch.__version__} has no kernels for {about.name}, whose compute capability "
            f"is {capability[0]}.{capability[1]} (it has {' '.join(archs)}): {where}")


def why_unused(torch):
    """Why a process that imported PyTorch used no GPU, as far as can be seen."""
    if getattr(torch.version, "cuda", None) is None:
        return f"its PyTorch {torch.__version__} is built without CUDA"
    others = [name for name in ("jax", "tensorflow") if name in sys.modules]
    if others:
        return f"PyTorch never used CUDA; the program also imported {' and '.join(others)}"
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return "the program hid all GPUs itself (CUDA_VISIBLE_DEVICES)"
    return ("PyTorch was imported and CUDA never used. An option that chooses the device, such as "
            "--device cuda, may be missing")
