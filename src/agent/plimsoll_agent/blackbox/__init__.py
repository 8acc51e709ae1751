"""The black box: records what PyTorch does with memory, and leaves an account when it runs out.

    sitecustomize, or plimsoll.auto ── start() ──► importing    waits until torch is imported
                                                      │
                                                  recorder      from the first use of CUDA

It works on a real GPU and over the stand-ins of a rehearsal alike. docs/formats/run-folder.md
describes what it writes. Rules: see plimsoll_agent.
"""

_armed = {}  # of this process: "folder", and "recorder" once torch is there


def start(folder):
    """Waits for torch in this process, or begins at once where torch is there.

    A second call does nothing: a process has one recorder.

    folder  of the run
    """
    if _armed:
        return
    _armed["folder"] = folder
    from plimsoll_agent import importing
    from plimsoll_agent.blackbox import choice

    wanted = choice.from_environment(folder)

    def torch_is_there(torch, _seconds):
        from plimsoll_agent.blackbox import recorder

        _armed["recorder"] = recorder.start(torch, wanted)

    importing.when_imported("torch", torch_is_there)


def run_folder():
    """The folder of the run, once start() was called; else None."""
    return _armed.get("folder")


def current():
    """The recorder of this process; None until torch is there."""
    return _armed.get("recorder")
