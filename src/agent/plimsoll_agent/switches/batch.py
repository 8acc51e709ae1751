"""batch=N, batch=eval:N: loaders give batches of another size; the program goes on from there.

Learning rate, number of steps and all else that the program derives from its batch stay its own.
"""

from plimsoll_agent.switches import trainers
from plimsoll_agent.switches.loaders import Loaders
from plimsoll_agent.switches.switch import SAME, Refusal, Switch


class Batch(Switch):
    """Of training loaders, or of those for evaluation."""

    name = "batch"

    def install(self):
        kind, _, size = self.value.rpartition(":")
        self._is_eval = kind == "eval"
        self._rows = int(size)
        self._sizes = set()  # rows before
        self._argument = None  # rows before, by the arguments of a Trainer
        self._is_used = False  # a loader with that size came
        what = "evaluates with" if self._is_eval else "trains with"
        self.entry.waits(f"no torch.utils.data.DataLoader that the program {what} was found")
        if self._is_eval:
            self.entry.relabel(SAME, "the batch of an evaluation does not change what is learnt")
        self._loaders = Loaders(self.torch, self._size, not self._is_eval, self._changed,
                                self._alike, self.entry.refuse)
        name = "per_device_eval_batch_size" if self._is_eval else "per_device_train_batch_size"
        trainers.when_made(lambda arguments: self._set(arguments, name))

    def _size(self, was, rows):
        is_new = was != self._rows or self._argument is not None
        if rows is not None and self._rows > rows and is_new:
            self.entry.facts["batch"] = self._argument or was
            self.entry.facts["dataset_rows"] = rows
            raise Refusal(f"a batch of {self._rows} is more than the dataset's {rows} rows")
        return self._rows

    def _set(self, arguments, name):
        """transformers' own switch."""
        was = getattr(arguments, name, None)
        if isinstance(was, int) and was != self._rows:
            setattr(arguments, name, self._rows)
            self.entry.facts["argument"] = name
            self._argument = was

    def _changed(self, _loader, was, _size):
        place = self.program.place()
        if place is not None:
            self.entry.place("loader", *place)
        self._sizes.add(was)

    def _alike(self, _size):
        self._is_used = True

    def settle(self):
        sizes = set(self._sizes)
        if self._argument is not None and self._is_used:
            sizes.add(self._argument)
        if sizes:
            self.entry.facts.update({"batch": max(sizes), "rows": self._rows})
            was = " and ".join(str(rows) for rows in sorted(sizes))
            left = "; a loader that the program also trains with was left as it is" \
                if self._loaders.shared else ""
            self.entry.applied(f"batches of {self._rows} rows in the place of {was}{left}")
        elif self._is_used:
            self.entry.facts["batch"] = self._rows
            self.entry.no_effect(f"the program's batches have {self._rows} rows already")
        elif self._loaders.shared:
            self.entry.refuse("the program evaluates with the loader that it trains with")
