"""Plimsoll's agent: sees what a rehearsed PyTorch program does with memory, unseen by it.

    sitecustomize ── start() ──► importing   waits until the program has imported torch
                                     │
                                   agent     puts the parts together
        ┌──────────┬─────────┬───────┴┬─────────┬──────────┐
     history     peaks     phases   reads     ooms      endings     hooks into torch and Python
                   └─ ledger ┘
                                  results    JSON in the run's folder

Rules for all of it: print nothing, change nothing that the program could notice, cost no time
that could be measured, and let no failure of ours reach the program (see journal).
"""


def start(run):
    """Waits for torch in this process.

    run  the rehearsal's folder
    """
    from plimsoll_agent import importing, settings, world

    world.enter()
    choice = settings.from_environment(run)

    def torch_is_there(torch, seconds):
        from plimsoll_agent import agent

        agent.start(torch, choice, seconds)

    importing.when_imported("torch", torch_is_there)
