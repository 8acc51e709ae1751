"""The change of each technique, written down for the user's own program.

    request  techniques, reports of a rehearsal under them ──► program   files, places and facts
                                                                  │
    table    which class writes which technique                  │
      └─► an Edit of a Source, by positions of Python's own parser; none where the pattern is not
          one that it knows: then there are the lines to write, and the reason
                                                                  │
    answer   per technique: PyTorch, arguments, framework, diff; and one diff of all  ◄──┘

Run by src/agent/changing.py in the program's own Python; no PyTorch is imported.
docs/formats/changes.md
"""
