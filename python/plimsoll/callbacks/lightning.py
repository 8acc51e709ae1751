"""Memory in the log of a Lightning Trainer, of `lightning` and of `pytorch_lightning`.

    trainer = Trainer(..., callbacks=[plimsoll.callbacks.lightning.MemoryCallback()])

Figures go to the Trainer's loggers as they are. pl_module.log() would make a 32-bit float on the
GPU of each: it is exact to 16 MiB, and memory itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Tuple

from plimsoll.callbacks import _bases
from plimsoll.callbacks._bases import quiet
from plimsoll.callbacks._follower import WARNING, Follower

if TYPE_CHECKING:
    from lightning.pytorch import Callback as _Base  # pyright: ignore
else:
    _Base = object


class MemoryCallback(_Base):  # type: ignore[misc,unused-ignore]
    """Logs the memory of each step and phase, warns of growth, and leaves a dump when it runs out.

    memory  figures of the last step; memory.phase(name) marks a phase of the program's own
    """

    def __new__(cls) -> MemoryCallback:
        made: MemoryCallback = _bases.made_of(cls, "lightning.pytorch", "pytorch_lightning",
                                              base="Callback")
        return made

    def __init__(self) -> None:
        self.memory = Follower()
        self._steps = 0  # of optimizers, by the Trainer's count

    def __reduce__(self) -> Tuple[Any, ...]:
        return getattr(type(self), "_plain", type(self)), ()

    # ---- a training, or an evaluation alone ------------------------------------------------------

    @quiet
    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self.memory.begin()
        self._steps = trainer.global_step

    @quiet
    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self.memory.close()

    @quiet
    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self.memory.close(exception)

    # ---- steps -----------------------------------------------------------------------------------

    @quiet
    def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        if trainer.global_step == self._steps:
            return  # gradients are being accumulated
        self._steps = trainer.global_step
        self.memory.step(self._steps)
        if _logs_now(trainer):
            _log(trainer, self.memory.take())
            self._log_warnings(trainer)

    def _log_warnings(self, trainer: Any) -> None:
        sentence = self.memory.take_warnings()
        for logger in trainer.loggers if sentence else ():
            add_text = getattr(logger.experiment, "add_text", None)  # TensorBoard's
            if add_text is not None:
                add_text(WARNING, sentence, _now(trainer))
            else:
                logger.log_metrics({WARNING: sentence}, step=_now(trainer))

    @quiet
    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        _log(trainer, self.memory.take_last())

    # ---- phases ----------------------------------------------------------------------------------

    @quiet
    def on_sanity_check_start(self, trainer: Any, pl_module: Any) -> None:
        self.memory.begin_phase("sanity_check")

    @quiet
    def on_sanity_check_end(self, trainer: Any, pl_module: Any) -> None:
        self.memory.end_phase()

    @quiet
    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking:
            self.memory.begin_phase("validate")

    @quiet
    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking:
            _log(trainer, self.memory.take_phase("validate"))

    @quiet
    def on_test_start(self, trainer: Any, pl_module: Any) -> None:
        self.memory.begin_phase("test")

    @quiet
    def on_test_end(self, trainer: Any, pl_module: Any) -> None:
        _log(trainer, self.memory.take_phase("test"))

    @quiet
    def on_predict_start(self, trainer: Any, pl_module: Any) -> None:
        self.memory.begin_phase("predict")

    @quiet
    def on_predict_end(self, trainer: Any, pl_module: Any) -> None:
        _log(trainer, self.memory.take_phase("predict"))


def _logs_now(trainer: Any) -> bool:
    """Whenever the Trainer's own entries are made."""
    connector = getattr(trainer, "_logger_connector", None)
    due = getattr(connector, "should_update_logs", None)
    if due is None:
        every = trainer.log_every_n_steps
        due = every > 0 and trainer.global_step % every == 0
    return bool(due or trainer.fast_dev_run)


def _now(trainer: Any) -> int:
    """The step of the Trainer's own entries: batches that ended in an optimizer's step."""
    loop = getattr(getattr(trainer, "fit_loop", None), "epoch_loop", None)
    step: int = getattr(loop, "_batches_that_stepped", trainer.global_step)
    return step


def _log(trainer: Any, figures: Mapping[str, Any]) -> None:
    for logger in trainer.loggers if figures else ():
        logger.log_metrics(dict(figures), step=_now(trainer))
