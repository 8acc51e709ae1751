"""accumulate=K: a batch goes through the model in K pieces, the loop and its steps as they are.

    loss = model(batch)       K times forward and backward, one piece after another (gathered.py)
    loss.backward()           hands the gradients over

    out = model(batch)        K times forward; outputs are kept, nothing else (recomputed.py)
    loss = criterion(out, …)
    loss.backward()           K times forward again, and backward

The first where the model itself returns the loss; docs/design/techniques.md argues for both.
"""

from plimsoll_agent.switches import pieces, randomness, trainers
from plimsoll_agent.switches.compiling import compiled_within
from plimsoll_agent.switches.gathered import Gathering
from plimsoll_agent.switches.recomputed import Recomputation
from plimsoll_agent.switches.switch import CHANGED, SAME, Refusal, Switch
from plimsoll_agent.switches.weighing import Weighing, addresses_of, counts_of

_WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "FSDPModule",
             "DeepSpeedEngine", "DataParallel", "PipelineStage")


class Accumulate(Switch):
    """Divides calls of outermost modules that are being trained."""

    name = "accumulate"

    def install(self):
        self._count = int(self.value)
        if self._count < 2:
            raise Refusal("one piece is the batch itself")
        self._gathering = Gathering(self.torch, self.program)
        self._recomputation = Recomputation(self.torch, self.program)
        self._looked_at = {}  # id of a module: True if it may be divided
        self._calls = {"gathered": 0, "recomputed": 0}
        self._is_off = False
        self._measured = set()  # ids of modules whose first call was looked at
        self._drawn = self._normed = False
        self._doubt = None  # why the pieces' losses may not make that of the batch
        self._text = None
        self.entry.facts["pieces"] = self._count
        self.entry.waits("no module was called for training")
        self.program.around_forward(self._call)
        self.program.around_backward(self._backward)
        trainers.when_made(self._set)

    def _set(self, arguments):
        """transformers' Trainer has a switch of its own, which keeps its books right, too."""
        rows = getattr(arguments, "per_device_train_batch_size", None)
        steps = getattr(arguments, "gradient_accumulation_steps", None)
        if not isinstance(rows, int) or not isinstance(steps, int) or rows % self._count:
            return
        arguments.per_device_train_batch_size = rows // self._count
        arguments.gradient_accumulation_steps = steps * self._count
        self._is_off = True
        self.entry.facts.update({"batch": rows, "part": rows // self._count,
                                 "way": "TrainingArguments"})
        self.entry.applied(f"per_device_train_batch_size={rows // self._count} in the place of "
                           f"{rows}, gradient_accumulation_steps={steps * self._count} of {steps}")

    # ---- calls ---------------------------------------------------------------------------------

    def _call(self, call, module, args, kwargs):
        if not self._is_wanted(module, args, kwargs):
            return call(module, args, kwargs)
        before = randomness.states(self.torch) if not self._any_calls() else None
        try:
            return self._divided(call, module, args, kwargs)
        except Refusal as refusal:
            self._give_up(refusal)
        except self.torch.OutOfMemoryError:
            raise
        except Exception as error:
            if before is None:  # it has worked before: the program's own
                raise
            self._give_up(f"a piece of the batch failed in {type(module).__name__}: "
                          f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
                          if str(error) else f"a piece failed: {type(error).__name__}")
        if before is not None:
            randomness.restore(self.torch, before)
        return call(module, args, kwargs)

    def _any_calls(self):
        return any(self._calls.values())

    def _give_up(self, reason):
        self._is_off = True
        self.entry.refuse(reason)

    def _is_wanted(self, module, args, kwargs):
        if self._is_off or not self.torch.is_grad_enabled() or self.program.is_in_backward():
            return False
        if not any(parameter.requires_grad for parameter in module.parameters()) and not any(
                tensor.requires_grad for tensor in pieces.tensors_of((args, kwargs))):
            return False
        return True

    def _divided(self, call, module, args, kwargs):
        self._look_at(module)
        rows = pieces.rows_of(args, kwargs)
        if rows is None:
            raise Refusal(f"no argument of {type(module).__name__} is a tensor with rows")
        if rows < self._count and not self._any_calls():
            raise Refusal(f"{self._count} pieces are more than the batch of {rows} has rows")
        count = min(self._count, rows)
        if count < 2:
            return call(module, args, kwargs)
        bounds = pieces.bounds_of(rows, count)
        if rows % count and compiled_within(module) is not None and not self._any_calls():
            raise Refusal(f"{rows} rows in {count} pieces have two shapes, and torch.compile "
                          "would compile each")
        return self._in_pieces(call, module, (args, kwargs), rows, bounds)

    def _in_pieces(self, call, module, given, rows, bounds):
        """Whether the model returns its loss shows in the first piece."""
        whole = _Batch(module, call, given, rows, bounds)
        state = randomness.states(self.torch)
        kept = self._gathering.prepare(module)
        try:
            first, leaves = whole.run(0)
            loss = pieces.loss_of(first)
            if loss is not None:
                self._check_pairs(whole, first)
        except BaseException:
            kept.put_back()
            raise
        is_first = id(module) not in self._measured
        after = randomness.states(self.torch) if is_first else None
        way = "recomputed" if loss is None else "gathered"
        if loss is None:
            kept.put_back()
            result = self._recomputation.finish(whole, state, first,
                                                compiled_within(module) is not None)
        else:
            shares, found = pieces.shares_of(self.torch, module,
                                             pieces.named(module, *given), rows, bounds)
            weighing = Weighing(self.torch, shares, found, len(bounds))
            result = self._gathering.finish(whole, state, kept, first, leaves, weighing)
            self.entry.facts["weighed_by"] = weighing.found
            self._doubt = self._doubt or weighing.doubt
        self._calls[way] += 1
        if after is not None:
            self._took_hold(module, way, rows, bounds, not randomness.is_same(state, after))
        return result

    # ---- what cannot be divided ----------------------------------------------------------------

    def _check_pairs(self, batch, output):
        """A matrix of rows by rows is of pairs, if another piece has another such matrix."""
        rows = batch.size(0)
        if rows < 2 or not _squares(output, rows):
            return
        state = randomness.states(self.torch)
        with self.torch.no_grad():
            other, _ = batch.run(0, rows - 1)
        randomness.restore(self.torch, state)
        if _squares(other, rows - 1):
            raise Refusal("the loss compares the rows of a batch with each other")

    def _look_at(self, module):
        if self._looked_at.get(id(module)) is module:
            return
        if self.torch.cuda.is_available() and self.torch.cuda.is_current_stream_capturing():
            raise Refusal("the step is captured as a CUDA graph")
        for inner in module.modules():
            kinds = {kind.__name__ for kind in type(inner).__mro__}
            for name in _WRAPPERS:
                if name in kinds:
                    raise Refusal(f"{name} gathers gradients between ranks in each backward pass")
            _check_layout(inner)
            is_norm = "_BatchNorm" in kinds and inner.training
            if is_norm and not self._normed:
                self._normed = True
                self.entry.relabel(CHANGED, "BatchNorm takes its mean and variance from the rows "
                                   "of a piece")
        self._looked_at[id(module)] = module

    # ---- the report ----------------------------------------------------------------------------

    def _took_hold(self, module, way, rows, bounds, is_drawn):
        """After the first call of each module."""
        self._measured.add(id(module))
        self._drawn = self._drawn or is_drawn
        if self._doubt is not None and not self._normed:
            self.entry.relabel(CHANGED, f"{self._doubt}: its pieces were weighed by "
                               f"{self.entry.facts['weighed_by']}")
        elif not self._normed:
            self.entry.relabel(*(None, None) if self._drawn else
                               (SAME, "the model draws no random numbers; sums have another "
                                "order"))
        place = self.program.place()
        if place is not None:
            self.entry.place("model", *place)
        if self._text is not None:
            return
        part = bounds[0][1]
        self.entry.facts.update({"batch": rows, "part": part, "way": way})
        most = "at most " if rows % len(bounds) else ""
        self._text = (f"{type(module).__name__} gets {rows} rows in {len(bounds)} pieces of "
                      f"{most}{part}")

    def settle(self):
        if self._text is None:
            return
        calls = self._calls["recomputed"]
        again = f"; {calls} forward passes ran twice, as their loss is computed outside of the " \
            "model" if calls else ""
        self.entry.applied(self._text + again)

    def _backward(self, call, args, kwargs):
        """create_graph: a gradient of gradients would need the pieces' graphs."""
        self._recomputation.is_filling = kwargs.get("accumulate_grad", True)
        creates = args[3] if len(args) > 3 else kwargs.get("create_graph", False)
        if creates and self._any_calls() and not self._is_off:
            self._give_up("the program takes gradients of gradients")
        return call(args, kwargs)


class _Batch:
    """The arguments of one call, and its pieces."""

    def __init__(self, module, call, given, rows, bounds):
        self.module = module
        self.bounds = bounds
        self._call = call
        self._given = given
        self._rows = rows
        self.addresses = addresses_of(given)
        self.inputs = [tensor for tensor in pieces.tensors_of(given) if tensor.requires_grad]

    def run(self, number, rows=None):
        """(what the module returns, the leaves that stand for inputs that require gradients).

        rows  of the piece's, if not all
        """
        leaves = []
        start, end = self.bounds[number]
        bounds = start, end if rows is None else start + rows

        def leaf(tensor):
            if not tensor.requires_grad:
                return tensor
            leaves.append(tensor.detach().requires_grad_())
            return leaves[-1]

        args, kwargs = pieces.mapped(
            pieces.piece_of(self._given, self._rows, bounds), leaf)
        return self._call(self.module, args, kwargs), leaves

    def counts(self, number):
        return counts_of(self._given, self._rows, self.size(number))

    def size(self, number):
        start, end = self.bounds[number]
        return end - start

    def gradients_of_inputs(self, torch, gathered):
        """gathered: for each piece the gradients of its leaves, or None."""
        found = []
        for position, tensor in enumerate(self.inputs):
            parts = [part[position] for part in gathered]
            if any(part is None for part in parts):
                found.append(None)
            elif len(tensor.shape) > 0 and tensor.shape[0] == self._rows:
                found.append(torch.cat(parts))
            else:
                found.append(sum(parts[1:], parts[0]))
        return found


def _squares(output, rows):
    return any(tuple(tensor.shape) == (rows, rows) for tensor in pieces.tensors_of(output))


def _check_layout(module):
    if getattr(module, "batch_first", True) is False:
        raise Refusal(f"{type(module).__name__} has the batch in its second dimension "
                      "(batch_first=False)")
