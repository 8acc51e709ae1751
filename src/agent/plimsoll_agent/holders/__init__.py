"""Who holds it: the Python objects that keep large live tensors alive.

    find() ──► roots      running functions, exceptions, modules, a notebook's names
                 │
               walk ◄──► graphs     down to the tensors; down autograd's graphs
                 │
              leftover   what the collector knows besides, and garbage
                 │
              claims ──► anchors    whose storage it is, and which object is named
                 │
              document ──► edges    words, labels: holders/1

Rules: no code of the program's runs (no method, property or hook of its objects), no saved tensor
is unpacked, no call goes to a device, nothing is printed, and nothing is kept when it is over.
docs/design/holders.md has the reasons.
"""

from plimsoll_agent.holders.search import find

__all__ = ["find"]
