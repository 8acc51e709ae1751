"""Techniques that are switched on from outside, in a program that is left as it is.

    plimsoll rehearse --with=checkpoint --with=autocast=bf16 -- python train.py
        │ PLIMSOLL_WITH, PLIMSOLL_WITH_FOLDER
    sitecustomize ── start() ──► importing    waits until the program has imported torch
                                    │
                                 switches     one Switch for each technique, in the order of TABLE
                                    │ wraps
                                 program      the seams: forward, backward, optimizers, loaders
                                    │
                                 report       what took hold, and why not: <pid>.json

They work on any device, in a rehearsal and for real. Rules: a switch that cannot take hold says why
and leaves the program as it is; one that took hold and changed nothing says that too. Unlike the
rest of the agent they are there to change the program, but only as their technique does:
docs/design/techniques.md.
"""


def start(text, folder):
    """Waits for torch in this process.

    text    one technique a line, as on the command line: "checkpoint=every:2"
    folder  where each process leaves its report
    """
    from plimsoll_agent import importing

    wanted = [line for line in text.split("\n") if line]

    def torch_is_there(torch, _seconds):
        from plimsoll_agent.switches import host

        host.start(torch, wanted, folder)

    importing.when_imported("torch", torch_is_there)
