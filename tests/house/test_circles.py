#!/usr/bin/env python3
"""test_circles.py - circles.py finds a circle, names its calls, and lets those pass that have a reason."""
import circles

FILES = [("a/one.c", {"one"}, {"two", "printf"}), ("a/two.c", {"two"}, {"three"}),
         ("a/three.c", {"three"}, {"one"}), ("b/four.c", {"four"}, {"one"})]


def main():
    graph = circles.calls(FILES)
    assert circles.circles(graph) == [("a/one.c", "a/three.c", "a/two.c")]
    found = list(circles.complaints(graph, "# A\n"))
    assert found[0] == "a circle of calls: a/one.c a/three.c a/two.c", found
    assert "    a/three.c uses one of a/one.c" in found
    reason = "## Circles of calls\n\n- `a`: `one.c` `two.c`\n  `three.c`: they are one.\n\n## Next\n"
    assert not list(circles.complaints(graph, reason))
    assert list(circles.complaints(graph, reason.replace(" `two.c`", "")))
    assert list(circles.complaints(graph, reason.replace("Circles of calls", "Other")))


if __name__ == "__main__":
    main()
    print("circles.py finds circles")
