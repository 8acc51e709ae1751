"""accumulate=K: a batch goes through the model in K pieces, the loop and its steps as they are.

    loss = model(batch)       K times forward and backward, one piece after another (gathered.py)
    loss.backward()           hands the gradients over

    out = model(batch)        K times forward; outputs are kept, nothing else (recomputed.py)
    loss = criterion(out, …)
    loss.backward()           K times forward again, and backward

The first where the model itself returns the loss; docs/design/techniques.md argues for both.
"""

from plimsoll_agent.switches import pieces, randomness, rows, state, trainers
from plimsoll_agent.switches.asked import Asked
from plimsoll_agent.switches.compiling import compiled_within
from plimsoll_agent.switches.functional import is_lent, transforming_test
from plimsoll_agent.switches.gathered import Gathering
from plimsoll_agent.switches.recomputed import Recomputation
from plimsoll_agent.switches.switch import CHANGED, SAME, Refusal, Switch
from plimsoll_agent.switches.weighing import Weighing, addresses_of, counts_of

_WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "FSDPModule",
             "DeepSpeedEngine", "PipelineStage")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_HOOKS_OF_WEIGHTS = ("_backward_hooks", "_post_accumulate_grad_hooks")


class Accumulate(Switch):
    """Divides calls of outermost modules that are being trained."""

    name = "accumulate"

    def install(self):
        self._count = int(self.value)
        if self._count < 2:
            raise Refusal("one piece is the batch itself")
        self._asked = Asked(self.torch)
        self._gathering = Gathering(self.torch, self.program, self._asked)
        self._recomputation = Recomputation(self.torch, self._asked)
        self._is_transforming = transforming_test(self.torch)
        self._looked_at = {}  # id of a module: True if it may be divided
        self._calls = {"gathered": 0, "recomputed": 0}
        self._is_off = False
        self._changing = {}  # {id of a module: [(module, name)] of buffers that its calls change}
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
        before = None if id(module) in self._changing else state.State(self.torch, module)
        try:
            return self._divided(call, module, args, kwargs, before)
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
            before.put_back()
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
        if self._is_transforming() or is_lent(self.torch, module):
            self.entry.waits("torch.func calls the models: within its transforms, and with weights "
                             "that are not theirs, batches are left whole")
            return False
        return True

    def _divided(self, call, module, args, kwargs, before):
        size = pieces.rows_of(args, kwargs)
        if size is None:
            self.entry.waits(f"no argument of {type(module).__name__} is a tensor with rows")
            return call(module, args, kwargs)
        self._look_at(module, args, kwargs)
        if size < self._count and not self._any_calls():
            raise Refusal(f"{self._count} pieces are more than the batch of {size} has rows")
        count = min(self._count, size)
        if count < 2:
            return call(module, args, kwargs)
        bounds = pieces.bounds_of(size, count)
        if size % count and compiled_within(module) is not None and not self._any_calls():
            raise Refusal(f"{size} rows in {count} pieces have two shapes, and torch.compile "
                          "would compile each")
        return self._in_pieces(_Batch(module, call, (args, kwargs), size, bounds), before)

    def _in_pieces(self, batch, before):
        """Whether the model returns its loss shows in the first piece.

        before  the State of the module before its first call; None in a later one
        """
        module, torch = batch.module, self.torch
        batch.changing = self._changing.get(id(module), ())
        found = randomness.states(torch), state.copies(batch.changing)
        kept = self._gathering.prepare(module)
        try:
            first, leaves = batch.run(0)
            loss = pieces.loss_of(first)
            if before is not None:
                self._check(batch, first, loss, before)
                changed = before.changed()
                batch.changing = [(owner, name) for owner, name, _, _ in changed]
                found = before.random, changed
        except BaseException:
            kept.put_back()
            raise
        is_drawn = before is not None and not randomness.is_same(
            before.random, randomness.states(torch))
        way = "recomputed" if loss is None else "gathered"
        if loss is None:
            kept.put_back()
            result = self._recomputation.finish(batch, found, first,
                                                compiled_within(module) is not None)
        else:
            shares, by_shares = batch.shares(torch)
            weighing = Weighing(torch, shares, by_shares, len(batch.bounds))
            result = self._gathering.finish(batch, found[0], kept, first, leaves, weighing)
            self.entry.facts["weighed_by"] = weighing.found
            self._doubt = self._doubt or weighing.doubt
        self._calls[way] += 1
        if before is not None:
            self._took_hold(batch, way, is_drawn)
        return result

    # ---- what cannot be divided ----------------------------------------------------------------

    def _check(self, batch, output, loss, before):
        """After a module's first piece: a call with another number of rows shows what pieces spoil.

        Of compiled models, which would get one more graph, only if the rows are compared.
        """
        size = batch.size(0)
        left = before.kept()
        is_compiled = compiled_within(batch.module) is not None
        if not (rows.has_pairs(output, size) if is_compiled else
                left or rows.is_doubtful(output, size, loss)):
            return
        sizes = size, size - 1 if size > 2 else size + 1  # one alone has no variance
        now = state.State(self.torch, batch.module)
        try:
            with self.torch.no_grad():
                other, _ = batch.run(0, sizes[1])
            left_again = now.kept()
        finally:
            now.put_back()
            self.torch.clear_autocast_cache()
        rows.check_output(type(batch.module).__name__, output, other, sizes, loss)
        rows.check_kept(left, left_again, loss)

    def _look_at(self, module, args, kwargs):
        if self._looked_at.get(id(module)) is module:
            return
        if self.torch.cuda.is_available() and self.torch.cuda.is_current_stream_capturing():
            raise Refusal("the step is captured as a CUDA graph")
        for inner in module.modules():
            kinds = {kind.__name__ for kind in type(inner).__mro__}
            for name in _WRAPPERS:
                if name in kinds:
                    raise Refusal(f"{name} gathers gradients between ranks in each backward pass")
            if "DataParallel" in kinds and inner.device_ids:
                raise Refusal("DataParallel divides each batch among devices itself")
            _check_layout(inner)
            self._check_hooks(inner)
            is_norm = "_BatchNorm" in kinds and inner.training
            if is_norm and not self._normed:
                self._normed = True
                self.entry.relabel(CHANGED, "BatchNorm takes its mean and variance from the rows "
                                   "of a piece")
        if "edge_index" in pieces.named(module, args, kwargs):
            raise Refusal("the rows of a graph refer to each other (edge_index)")
        self._looked_at[id(module)] = module

    def _check_hooks(self, module):
        """Those of the program: they would see pieces, and each gradient K times."""
        hooks = [hook for name in _HOOKS for hook in getattr(module, name, {}).values()]
        codes = [getattr(getattr(hook, "func", hook), "__code__", None) for hook in hooks]
        if any(code is not None and self.program.places.is_users(code) for code in codes):
            raise Refusal(f"a hook of the program on {type(module).__name__} would see pieces")
        if any(getattr(weight, name, None) for weight in module._parameters.values()
               if weight is not None for name in _HOOKS_OF_WEIGHTS):
            raise Refusal(f"a hook on the gradient of a weight of {type(module).__name__} would "
                          "see those of pieces")

    # ---- the report ----------------------------------------------------------------------------

    def _took_hold(self, batch, way, is_drawn):
        """After the first call of each module."""
        self._changing[id(batch.module)] = batch.changing
        self._drawn = self._drawn or is_drawn
        if batch.changing and not self._normed:
            self._normed = True
            owner, name = batch.changing[0]
            self.entry.relabel(CHANGED, f"{type(owner).__name__}.{name} changes with each piece, "
                               "where it changed with each batch")
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
        part, count = batch.size(0), len(batch.bounds)
        self.entry.facts.update({"batch": batch.rows, "part": part, "way": way})
        most = "at most " if batch.rows % count else ""
        self._text = (f"{type(batch.module).__name__} gets {batch.rows} rows in {count} pieces of "
                      f"{most}{part}")

    def settle(self):
        if self._text is None:
            return
        if self._gathering.is_late:
            self.entry.relabel(CHANGED, "outputs beside the loss that the program reads after a "
                                        "step are of the weights after it")
        calls = self._calls["recomputed"]
        again = f"; {calls} forward passes ran twice, as their loss is computed outside of the " \
            "model" if calls else ""
        self.entry.applied(self._text + again)

    def _backward(self, call, args, kwargs):
        """create_graph: a gradient of gradients would need the pieces' graphs."""
        if args[3] and self._any_calls() and not self._is_off:
            self._give_up("the program takes gradients of gradients")
        return self._asked.engine(call, args, kwargs)


class _Batch:
    """The arguments of one call, and its pieces.

    changing  [(module, name)] of buffers that pieces change
    """

    def __init__(self, module, call, given, rows, bounds):
        self.module = module
        self.bounds = bounds
        self._call = call
        self._given = given
        self.rows = rows
        self.changing = ()
        self.addresses = addresses_of(given)
        self.inputs = [tensor for tensor in pieces.tensors_of(given) if tensor.requires_grad]

    def whole(self):
        """What the module returns for all of it."""
        return self._call(self.module, *self._given)

    def run(self, number, rows=None, is_connected=False):
        """(what the module returns, the leaves that stand for inputs that require gradients).

        rows          another number than the piece has
        is_connected  the inputs themselves, without leaves
        """
        leaves = []
        start, end = self.bounds[number]
        bounds = start, end if rows is None else start + rows

        def leaf(tensor):
            if is_connected or not tensor.requires_grad:
                return tensor
            leaves.append(tensor.detach().requires_grad_())
            return leaves[-1]

        args, kwargs = pieces.mapped(
            pieces.piece_of(self._given, self.rows, bounds), leaf)
        return self._call(self.module, args, kwargs), leaves

    def counts(self, number):
        return counts_of(self._given, self.rows, self.size(number))

    def shares(self, torch):
        return pieces.shares_of(torch, self.module, pieces.named(self.module, *self._given),
                                self.rows, self.bounds)

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
            elif len(tensor.shape) > 0 and tensor.shape[0] == self.rows:
                found.append(torch.cat(parts))
            else:
                found.append(sum(parts[1:], parts[0]))
        return found


def _check_layout(module):
    if getattr(module, "batch_first", True) is False:
        raise Refusal(f"{type(module).__name__} has the batch in its second dimension "
                      "(batch_first=False)")
