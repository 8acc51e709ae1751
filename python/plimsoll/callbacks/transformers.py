"""Memory in the log of transformers' Trainer.

    trainer = Trainer(..., callbacks=[plimsoll.callbacks.transformers.MemoryCallback()])

Trainer.log() puts an entry into the state's log_history and then hands it to the callbacks in their
order: those that report (TensorBoard, Weights & Biases) come before those of the caller, and print
and draw after them. So the callback moves before those that report, right after Trainer's own that
decides what comes after a step; there it adds its figures to the entry, and to log_history.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from plimsoll.callbacks import _bases
from plimsoll.callbacks._bases import quiet
from plimsoll.callbacks._follower import WARNING, Follower

if TYPE_CHECKING:
    from transformers import TrainerCallback as _Base  # pyright: ignore
else:
    _Base = object

FRAMES_MAX = 8  # between Trainer and an event of a callback
EVALUATE, CHECKPOINT, PREDICT = "evaluate", "checkpoint", "predict"


class MemoryCallback(_Base):  # type: ignore[misc,unused-ignore]
    """Logs the memory of each step and phase, warns of growth, and leaves a dump when it runs out.

    memory  figures of the last step; memory.phase(name) marks a phase of the program's own
    """

    def __new__(cls) -> MemoryCallback:
        made: MemoryCallback = _bases.made_of(cls, "transformers", base="TrainerCallback")
        return made

    def __init__(self) -> None:
        self.memory = Follower()
        self._is_training = False
        self._is_evaluating = False
        self._lent: List[Tuple[Dict[str, Any], List[str]]] = []  # entries that Trainer returns

    def __reduce__(self) -> Tuple[Any, ...]:
        return getattr(type(self), "_plain", type(self)), ()

    # ---- a training ------------------------------------------------------------------------------

    @quiet
    def on_init_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        _go_before_reporters(self)

    @quiet
    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        _go_before_reporters(self)
        self._is_training, self._is_evaluating = True, False
        self._lent = []
        self.memory.begin()
        if getattr(args, "eval_on_start", False):
            self.memory.begin_phase(EVALUATE)

    @quiet
    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.memory.end_phase()

    @quiet
    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.memory.step(state.global_step)
        self._begin_next(control)

    @quiet
    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._begin_next(control)

    @quiet
    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._is_training = False
        self._take_back()
        self.memory.close()

    # ---- what comes after a step -----------------------------------------------------------------

    def _begin_next(self, control: Any) -> None:
        """Trainer has decided by now what it does next."""
        if control.should_evaluate or control.should_save:
            self.memory.begin_phase(EVALUATE if control.should_evaluate else CHECKPOINT)

    @quiet
    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if not self._is_evaluating:
            self._is_evaluating = True
            if not self._is_training:
                self.memory.begin()
            if not self.memory.is_in_phase:
                self.memory.begin_phase(EVALUATE)

    @quiet
    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._end_evaluation(EVALUATE)
        if self._is_training and control.should_save:
            self.memory.begin_phase(CHECKPOINT)

    @quiet
    def on_predict(self, args: Any, state: Any, control: Any, *_: Any, **__: Any) -> None:
        self._end_evaluation(PREDICT)

    def _end_evaluation(self, name: str) -> None:
        self._is_evaluating = False
        self._take_back()
        self.memory.end_phase(name)
        if not self._is_training:
            self.memory.close()

    @quiet
    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.memory.end_phase(CHECKPOINT)

    # ---- the log ---------------------------------------------------------------------------------

    @quiet
    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Dict[str, Any]] = None,
               **_: Any) -> None:
        if logs is None:
            return
        is_last = "train_runtime" in logs
        is_returned = self._is_evaluating or is_last  # by evaluate(), by train()
        added: Dict[str, Any] = {}
        if self._is_evaluating:
            added.update(self.memory.take_phase(EVALUATE))
        else:
            added.update(self.memory.take_last() if is_last else self.memory.take())
        warning = self.memory.take_warnings()
        if warning:
            added[WARNING] = warning
        added = {name: value for name, value in added.items() if name not in logs}
        entry = state.log_history[-1] if state.log_history else None
        if entry is not None and entry.get("step") == state.global_step and set(logs) <= set(entry):
            entry.update(added)
        logs.update(added)
        if is_returned:
            self._lent.append((logs, list(added)))

    def _take_back(self) -> None:
        """What evaluate() and train() return is as it is without us; all callbacks have read it."""
        for logs, names in self._lent:
            for name in names:
                logs.pop(name, None)
        self._lent = []


def _go_before_reporters(callback: Any) -> None:
    """In the list from which the event comes; the loop over it goes on with the next one."""
    frame = sys._getframe(2)  # past quiet()
    for _ in range(FRAMES_MAX):
        callbacks = getattr(frame.f_locals.get("self"), "callbacks", None)
        if isinstance(callbacks, list):
            at = next((at for at, one in enumerate(callbacks) if one is callback), None)
            if at is not None:
                flow = next((at for at, one in enumerate(callbacks)
                             if type(one).__name__ == "DefaultFlowCallback"), -1)
                if at > flow + 1:
                    callbacks.insert(flow + 1, callbacks.pop(at))
                return
        if frame.f_back is None:
            return
        frame = frame.f_back
