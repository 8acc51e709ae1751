"""A page of the command, which has the colours of a terminal, for other places.

The command uses six colours and attributes (src/report/term/style.c), as an escape sequence before
the words and "\\033[0m" after them.
"""

from __future__ import annotations

import html as _html
import re
import sys

_ESCAPE = re.compile(r"\033\[([0-9;]*)m")
_CLASSES = {"1": "b", "2": "f", "36": "u", "33": "w", "1;31": "e", "34": "i"}
# Colours that can be read on light and on dark: of the sixteen, each between the two.
_STYLE = """<style>
.plimsoll-page{color:inherit;background:none;border:0;margin:0;padding:0;overflow-x:auto;\
white-space:pre;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;\
font-size:13px;line-height:1.3}
.plimsoll-page .b{font-weight:bold}
.plimsoll-page .f{opacity:.65}
.plimsoll-page .u{color:#0e8a9b}
.plimsoll-page .w{color:#b07d00}
.plimsoll-page .e{color:#e0483e;font-weight:bold}
.plimsoll-page .i{color:#3b82d6}
</style>"""


def plain(page: str) -> str:
    """The page without colours."""
    return _ESCAPE.sub("", page)


def html(page: str) -> str:
    """The page for a notebook: all of it is text, none of it refers to another place."""
    parts = [_STYLE, '<pre class="plimsoll-page">']
    is_open = False
    for number, part in enumerate(_ESCAPE.split(page)):
        if number % 2 == 0:
            parts.append(_html.escape(part))
            continue
        if is_open:
            parts.append("</span>")
        kind = _CLASSES.get(part)
        is_open = kind is not None
        if is_open:
            parts.append(f'<span class="{kind}">')
    parts.append("</span></pre>" if is_open else "</pre>")
    return "".join(parts)


def shown(page: str) -> str:
    """The page for repr(): in colours where standard output is a terminal that has them."""
    import os

    try:
        is_terminal = sys.stdout is not None and sys.stdout.isatty()
    except ValueError:  # it is closed
        is_terminal = False
    looks = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return page if looks else plain(page)
