"""One program under many techniques, each in a fork of this process: imports are made once.

    plimsoll rehearse -- python forked.py FOLDER IMPORTS TECHNIQUES PROGRAM [ARGUMENT...]

IMPORTS and TECHNIQUES are parted by commas; the first technique, "", is the program as it is.
FOLDER/<number>.json has what came of each. No import here may begin CUDA: a fork could not use it.
"""

import importlib
import json
import os
import runpy
import sys
import traceback

import torch


def run(program, arguments):
    """The exit status of the program."""
    sys.argv = [program, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def techniques_of(folder):
    """What the switches of this process reported."""
    from plimsoll_agent.switches import host

    host.write()
    path = os.path.join(folder, f"{os.getpid()}.json")
    if not os.path.exists(path):
        return [], []
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    return report["techniques"], report["warnings"]


def be(folder, number, technique, program, arguments):
    """A fork."""
    log = os.open(os.path.join(folder, f"{number}.log"), os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    if technique:
        from plimsoll_agent.switches import host

        host.start(torch, [technique], folder)
    status = run(program, arguments)
    entries, warnings = techniques_of(folder) if technique else ([], [])
    peak = torch.cuda.max_memory_allocated() if torch.cuda.is_initialized() else 0
    with open(os.path.join(folder, f"{number}.json"), "w", encoding="utf-8") as file:
        json.dump({"exit_status": status, "peak_allocated_bytes": peak, "with": entries,
                   "processes": [{"warnings": warnings}]}, file)
    sys.stdout.flush()
    sys.stderr.flush()


def main():
    folder, imports, techniques, program, *arguments = sys.argv[1:]
    for name in filter(None, imports.split(",")):
        importlib.import_module(name)
    if torch.cuda.is_initialized():
        sys.exit("forked.py: one of the imports began CUDA")
    for number, technique in enumerate(techniques.split(",")):
        child = os.fork()
        if child == 0:
            try:
                be(folder, number, technique, program, arguments)
            finally:
                os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
