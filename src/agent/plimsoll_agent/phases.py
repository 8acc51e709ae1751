"""In which phase the program is, and in which step; keeps the ledgers by it.

    setup ──► forward ──► backward ──► forward (accumulation) …
                 ▲            └──► optimizer ──┐
                 └─────────────────────────────┘

What marks the changes, each the least intrusive thing that does:
 - the first call of a module ends the setup: a descriptor in the place of Module.__call__ reports
   of a look-up and is gone again, so that no frame of ours is ever on a stack and no call is
   slower (module hooks would put frames on the stacks of a whole forward);
 - backward is the time in torch.autograd's one way into the engine, outermost calls only:
   checkpointing calls it again from within, on other threads too;
 - PyTorch's hooks for all optimizers report an optimizer's steps.

Between a backward and an optimizer lies gradient clipping, unscaling, waiting for all-reduce: that
counts as optimizer; between two backwards lies a forward. Which of them it is shows when it ends,
so an interval is named when it ends. An optimizer that steps within backward is part of backward.
"""

import copy
import threading

from plimsoll_agent import module_tap
from plimsoll_agent.course import Course
from plimsoll_agent.frameless import Watched
from plimsoll_agent.ledger import Ledger

SETUP, FORWARD, BACKWARD, OPTIMIZER = "setup", "forward", "backward", "optimizer"


def way_into_engine(torch):
    """(what has it, its name) of the function by which all of torch.autograd enters the engine.

    PyTorch has one since 2.3. Before that it is a method of an object, which gets a class of its
    own here, so that the method can be replaced; the engine itself is one for all such objects.
    """
    if hasattr(torch.autograd, "_engine_run_backward"):
        return torch.autograd, "_engine_run_backward"
    variable = torch.autograd.Variable
    engine = type(variable._execution_engine)
    variable._execution_engine = type(engine.__name__, (engine,), {})()
    return variable._execution_engine, "run_backward"


class Phases(Course):
    """The program's phase, step and ledgers."""

    def __init__(self, torch, peaks, journal):
        self._peaks = peaks
        self._lock = threading.RLock()
        self._ready = False
        self.phase = SETUP
        self.steps = 0  # finished
        self.ledgers = []
        self.progress = 0  # grows with each thing that the program begins or finishes
        self.backwards_done = 0  # outermost ones
        self._backwards = 0  # nested calls into the engine
        self._backward_thread = None
        self._stepping = None  # the optimizer that is at work
        self._has_closure = False
        self._before_optimizer = False  # an optimizer may be next without a forward
        self._turns_due = False  # a step ended within backward
        self._tap = module_tap.of(torch.nn.Module)
        self._note_call = journal.guard("note a forward")(self._noted)
        self.on_first_forward = None  # called before it with its module
        self.on_turn = None  # called as the first step begins, and after each
        self.on_change = None  # called with the phase that has ended
        self._may_be_again = False

    # ---- the outside ---------------------------------------------------------------------------

    def watch_backward(self, torch, journal):
        """Stands before the engine."""
        owner, name = way_into_engine(torch)
        engine = getattr(owner, name)
        began = journal.guard("note a backward")(self._backward_began)
        ended = journal.guard("note the end of a backward")(self._backward_ended)
        setattr(owner, name, Watched(engine, began, ended))

    def begin(self, device_count):
        """CUDA is there."""
        with self._lock:
            self._ready = True
            self.ledgers = [Ledger() for _ in range(device_count)]
            self._tap.add(self._note_call)

    def forget(self):
        """In a forked child, without CUDA, where the lock may stay locked."""
        self._lock = threading.RLock()
        self._ready = False
        self._backwards = 0
        self._stepping = None
        self._may_be_again = False
        self._tap.remove(self._note_call)

    def current_ledgers(self):
        """Copies of the ledgers with what has happened since the last boundary, which stays."""
        with self._lock:
            copies = copy.deepcopy(self.ledgers)
            for ledger, reading in zip(copies, self._peaks.glance()):
                ledger.add(reading, self.phase)
        return copies

    def step_now(self):
        return self.ledgers[0].step_now() if self.ledgers else 0

    def backward_thread(self):
        return self._backward_thread

    def oom(self):
        """Whatever the program was at may have been left unfinished."""
        if self.phase == OPTIMIZER:
            self._tap.add(self._note_call)

    def close(self):
        """The end: what is under way is reckoned up."""
        with self._lock:
            if self._ready:
                self._reckon(self.phase)

    # ---- changes -------------------------------------------------------------------------------

    def _reckon(self, phase):
        """The interval that ends here lay in a phase."""
        for ledger, reading in zip(self.ledgers, self._peaks.take()):
            ledger.add(reading, phase)

    def _turn(self):
        for ledger in self.ledgers:
            ledger.turn()
        if self.on_turn is not None:
            self.on_turn()

    def _change(self, lay_in, phase):
        """The interval that ends lay in one phase, the next one is another's."""
        self._reckon(lay_in)
        if self.on_change is not None:
            self.on_change(lay_in)
        if self.phase == SETUP:
            self._turn()
        self.phase = phase

    def _noted(self, module, _bound):
        """A module is called. Waits no longer, if that was worth waiting for."""
        if self._called(module):
            self._tap.remove(self._note_call)

    def _called(self, module):
        """Returns whether that was worth waiting for."""
        with self._lock:
            if not self._ready or self._backwards > 0:
                return False
            self.progress += 1
            is_first = self.phase == SETUP
            if self.phase in (SETUP, OPTIMIZER):
                self._change(self.phase, FORWARD)
                self._before_optimizer = False
                if not self._has_closure:
                    self._stepping = None
        if is_first and self.on_first_forward is not None:
            self.on_first_forward(module)
        self._look_for_again()
        return True

    def _look_for_again(self):
        if self._may_be_again:
            self._may_be_again = False
            self.on_again()

    def stepped_by_hand(self, steps):
        with self._lock:
            self.steps = steps
            self._change(OPTIMIZER, FORWARD)
            self._before_optimizer = False
            self._turn()

    def is_after_backward(self):
        return self._may_be_again

    def _backward_began(self):
        if self._backwards == 0:
            self._look_for_again()
        with self._lock:
            self._backwards += 1
            if self._backwards > 1 or not self._ready:
                return
            self.progress += 1
            self._backward_thread = threading.get_ident()
            if not self._has_closure:
                self._stepping = None
            self._change(self.phase, BACKWARD)

    def _backward_ended(self):
        with self._lock:
            self._backwards -= 1
            if self._backwards > 0 or not self._ready:
                return
            self._backward_thread = None
            self.backwards_done += 1
            if self._stepping is not None:  # a closure's; it may be called again
                self._change(BACKWARD, OPTIMIZER)
                self._tap.add(self._note_call)
            else:
                self._change(BACKWARD, FORWARD)
                self._before_optimizer = True
                self._may_be_again = self.on_again is not None
                if self._may_be_again:
                    self._tap.add(self._note_call)
            if self._turns_due:
                self._turns_due = False
                self._turn()
        if self.on_backward_end is not None:
            self.on_backward_end()

    def optimizer_began(self, optimizer, has_closure, is_same_step):
        with self._lock:
            nested = self._stepping is not None and self._stepping is not optimizer
            if nested or self._backwards > 0 or not self._ready:
                return
            self.progress += 1
            self._may_be_again = False
            self._stepping = optimizer
            self._has_closure = has_closure
            lay_in = OPTIMIZER if self._before_optimizer else self.phase
            self._change(lay_in, OPTIMIZER)
            if is_same_step:
                for ledger in self.ledgers:
                    ledger.rejoin()
            if has_closure:
                self._tap.add(self._note_call)

    def optimizer_ended(self, optimizer, steps):
        with self._lock:
            self.progress += 1
            is_new = steps > self.steps
            self.steps = steps
            if self._backwards > 0:
                self._turns_due = self._turns_due or is_new
                return
            if optimizer is not self._stepping or not self._ready:
                return
            self._stepping = None
            self._has_closure = False
            self._tap.remove(self._note_call)
            self._change(self.phase, FORWARD)
            self._before_optimizer = True
            self._turn()

    def is_in_backward(self):
        return self._backwards > 0
