"""What a process says of itself while it runs: a page of figures, and growth that is sure.

    recorder ──► publisher   ten times a second: figures into the page, requests out of it
                    ├── page      a small file in memory, which others read (docs/formats/live-page.md)
                    ├── figures   of PyTorch's allocator
                    ├── watch     the steps of each device: says where memory surely grows
                    │     ├── growth  the judge
                    │     └── lines   of the program that made what grew
                    └── stopping  --stop-on

Rules: see plimsoll_agent. The thread is one of _thread: threading does not list it.
"""

from plimsoll_agent.live.publisher import Publisher

__all__ = ["Publisher"]
