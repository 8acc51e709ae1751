"""The repeated blocks of a model, found by its structure.

    model ── encoder ── layers: ModuleList ── Block × 12       one sequence of 12 blocks
                 └───── norm
    model ── layer1, layer2: Sequential ── Bottleneck × 3, 4   stages: two sequences, of 3 and of 4

A block has layers of its own, and others of its class stand beside it. The outermost level that
repeats is taken, except where its members are stages: lists, or modules of unequal sizes
that each have a list of blocks.
"""

UNEVEN = 1.5  # largest to smallest member, in parameters: stages of a pyramid, not equal blocks
WRAPPED = ("_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_orig_mod")


class Sequence:
    """Blocks that stand beside each other.

    path    of what has them in the model, "transformer.h"
    blocks  in their order
    """

    def __init__(self, path, blocks):
        self.path = path
        self.blocks = blocks


def unwrapped(module):
    """The module within wrappers of FSDP, of torch.compile and of checkpointing."""
    name = next((name for name in WRAPPED if name in module._modules), None)
    return module if name is None else unwrapped(module._modules[name])


def _layers(module):
    """How many of a module's modules have parameters of their own; 2 is enough to know."""
    count = 0
    for one in module.modules():
        count += any(value is not None for value in one._parameters.values())
        if count > 1:
            break
    return count


def _size(module):
    return sum(parameter.numel() for parameter in module.parameters())


class Finder:
    """Looks through one model."""

    def __init__(self, torch):
        nn = torch.nn
        self._plain = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
        self._uncalled = self._plain[1:]  # their owner calls what they have

    def sequences(self, model):
        """Of a model, outermost first; blocks of the same classes elsewhere are added, each alone.

        A U-Net's middle block is such: its like stand in lists.
        """
        found = self._within(unwrapped(model), "", set())
        taken = {id(inner) for sequence in found for block in sequence.blocks
                 for inner in block.modules()}
        kinds = {type(block) for sequence in found for block in sequence.blocks}
        kinds -= set(self._plain)
        for path, module in model.named_modules():
            if type(module) in kinds and id(module) not in taken:
                inner = {id(one) for one in module.modules()}
                found = [sequence for sequence in found
                         if not any(id(block) in inner for block in sequence.blocks)]
                found.append(Sequence(path, [module]))
                taken |= inner
        return found

    def _within(self, module, path, seen):
        """The sequences below a module."""
        if id(module) in seen:
            return []
        seen.add(id(module))
        children = [(f"{path}.{name}" if path else name, unwrapped(child))
                    for name, child in module._modules.items() if child is not None]
        of_class = {}
        for _, child in children:
            if not isinstance(child, self._uncalled) and _layers(child) > 1:
                of_class.setdefault(type(child), []).append(child)
        blocks = [child for kind in of_class.values() if len(kind) > 1
                  and not self._are_stages(module, kind) for child in kind]
        chosen = {id(block) for block in blocks}
        found = []
        if blocks:
            ordered = {id(child): child for _, child in children if id(child) in chosen}
            found.append(Sequence(path, list(ordered.values())))
        for name, child in children:
            if id(child) not in chosen:
                found += self._within(child, name, seen)
        return found

    def _are_stages(self, owner, members):
        """Members of one class that are to be looked into."""
        if not any(self._has_list(member) for member in members):
            return False
        if isinstance(members[0], self._plain) or not isinstance(owner, self._plain):
            return True
        sizes = [_size(member) for member in members]
        return max(sizes) > UNEVEN * min(sizes)

    def _has_list(self, member):
        """Blocks in a list of its own; the parts of a Sequential within a block do not count."""
        lists = [member] if isinstance(member, self._plain) else [
            one for one in member.modules() if type(one) is self._plain[1]]
        for one in lists:
            kinds = [type(unwrapped(child)) for child in one._modules.values()
                     if child is not None and _layers(child) > 1]
            if len(kinds) > len(set(kinds)):
                return True
        return False
