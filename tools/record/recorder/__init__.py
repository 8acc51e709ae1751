"""Recording PyTorch's allocator without a GPU; the parts of the `record` command.

    environment   the cache outside the repository: PyTorch, and the stand-ins built for it
    catalogue     the scenarios, and what each must show
    neutral       renaming the paths of this machine in a snapshot
    check         what a snapshot says, and whether it agrees with itself
    files         snapshots on disk, plain or compressed
    report        the facts as text, and the page beside the recordings
"""
