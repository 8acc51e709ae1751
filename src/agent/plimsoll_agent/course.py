"""A program's course, for the parts that count its steps or note its failures."""


class Course:
    """Knows nothing and wants nothing: what knows more derives from it.

    phase            "forward", or None where that is not known
    progress         differs from what it was, once the program has got on
    on_backward_end  called after the outermost backward pass
    on_again         called where a forward or backward pass follows a backward pass: see Steps
    """

    phase = None
    progress = 0
    on_backward_end = None
    on_again = None

    def step_now(self):
        """The step that is under way; 0 before the first, None where that is not known."""
        return None

    def backward_thread(self):
        """The thread that called PyTorch's engine, while it is in there."""
        return None

    def is_in_backward(self):
        return False

    def is_after_backward(self):
        """True if nothing has followed the last backward pass."""
        return False

    def oom(self):
        """The program ran out of memory."""

    def optimizer_began(self, optimizer, has_closure, is_same_step):
        """An optimizer is about to step.

        is_same_step  others have stepped in this iteration already
        """

    def optimizer_ended(self, optimizer, steps):
        """An optimizer has stepped.

        steps  finished now
        """

    def stepped_by_hand(self, steps):
        """The program has changed its weights since the last backward, without an optimizer."""
