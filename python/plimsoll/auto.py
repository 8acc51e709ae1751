"""`import plimsoll.auto` arms the recorder of `plimsoll run` for this process.

Before torch or after it: where CUDA is in use already, what is recorded begins now. Where it
cannot be armed, one line on stderr says so and the program runs on.
"""

from plimsoll import _arming

_arming.arm_or_say()
