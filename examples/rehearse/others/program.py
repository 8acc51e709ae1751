"""What run.py knows of a program of others.

One file in programs/ for each, with a PROGRAM or PROGRAMS.
"""

import dataclasses
import typing

MIB = 1 << 20
PIXEL = b"\x80\x40\x20"


@dataclasses.dataclass
class Program:
    """How it is had, fed, run, and what must hold of its rehearsal.

    name          as `make others` takes it
    what          which part of which project, in a line
    command       words; SOURCE, WORK, DATA and SCRIPTS stand for folders
    packages      pinned, all of them: they are installed without what they ask for
    source        (URL of a git repository, its tag), or None: all is in the packages
    in_source     the folder within the source to run in; None: a folder of its own
    feed          feed(folder) writes data; it runs before `makers`
    makers        commands that run rehearsed, once, to make a model of random weights
    low, high     bounds of peak_allocated_bytes of every process, by hand
    at_end        bounds of what is allocated when a process ends, or None
    steps         optimizer steps of every process that has any
    environment   name of the environment, where several programs share it
    refused       why it is not run, or None
    """

    name: str
    what: str
    command: list
    packages: list
    source: typing.Optional[tuple] = None
    in_source: typing.Optional[str] = None
    feed: typing.Optional[typing.Callable] = None
    makers: tuple = ()
    gpu: str = "h100"
    devices: int = 1
    low: int = 0
    high: int = 1 << 62
    at_end: typing.Optional[tuple] = None
    verdicts: tuple = ("fits",)
    steps: int = 2
    environment: typing.Optional[str] = None
    refused: typing.Optional[str] = None


def write_images(folder, classes, images, pixels=256):
    """Pictures of one colour, as folders of classes; .ppm, which needs no library to write."""
    for index in range(classes):
        place = folder / f"class{index}"
        place.mkdir(parents=True, exist_ok=True)
        for image in range(images):
            data = b"P6 %d %d 255\n" % (pixels, pixels) + PIXEL * (pixels * pixels)
            (place / f"{image}.ppm").write_bytes(data)


def write_text(file, lines):
    """Plain sentences, all different."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"Line {n} says that {n} times {n} is {n * n}, and nothing more.\n"
                            for n in range(lines)))
