"""The black box: records what PyTorch does with memory, and leaves an account when it runs out.

    sitecustomize, or plimsoll.auto ── start() ──► importing    waits until torch is imported
                                                      │
                                                  recorder      from the first use of CUDA

It works on a real GPU and over the stand-ins of a rehearsal alike. docs/formats/run-folder.md
describes what it writes. Rules: see plimsoll_agent.
"""


def start(folder):
    """Waits for torch in this process.

    folder  of the run
    """
    from plimsoll_agent import importing
    from plimsoll_agent.blackbox import choice

    wanted = choice.from_environment(folder)

    def torch_is_there(torch, _seconds):
        from plimsoll_agent.blackbox import recorder

        recorder.start(torch, wanted)

    importing.when_imported("torch", torch_is_there)
