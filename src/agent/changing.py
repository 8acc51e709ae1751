"""Writes the changes of techniques down for one program: a request on stdin, an answer on stdout.

Both are JSON: docs/formats/changes.md. The launcher runs this with the program's own Python, whose
parser reads the program's files; nothing of the program is imported or run.
"""

import json
import os
import sys

REQUEST_BYTES_MAX = 64 << 20


def main():
    # A script's folder is first in sys.path: the agent is found there, and the program's own
    # modules are not looked for.
    import discover
    from plimsoll_agent.changes.answer import answer
    from plimsoll_agent.places import Places

    request = json.loads(sys.stdin.buffer.read(REQUEST_BYTES_MAX).decode("utf-8", "replace"))
    torch = discover.torch_folder() or os.path.dirname(os.path.abspath(__file__))
    owner = Places(os.path.join(torch, "__init__.py"))
    sys.stdout.write(json.dumps(answer(request, owner)) + "\n")


if __name__ == "__main__":
    main()
