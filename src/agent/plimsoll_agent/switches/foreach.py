"""foreach=off: the optimizer takes one tensor after another, and needs temporaries of one only."""

from plimsoll_agent.switches.switch import Refusal
from plimsoll_agent.switches.stepping import Stepping, devices_of, name_of


class Foreach(Stepping):
    """"foreach" of every group of every optimizer is False."""

    name = "foreach"

    def check(self, optimizer):
        if "foreach" not in optimizer.defaults:
            raise Refusal(f"{name_of(optimizer)} does not take foreach")

    def wanted(self, group):
        return {} if group.get("fused") else {"foreach": False}

    def verdict(self, optimizer):
        groups = optimizer.param_groups
        if all(group.get("fused") for group in groups):
            return "the program's optimizer is fused: it has no lists of temporaries"
        if all(was.get("foreach") is False for was in self.before[optimizer]):
            return "the program's optimizer has foreach=False already"
        if devices_of(groups) == {"cpu"} and not any(
                was.get("foreach") for was in self.before[optimizer]):
            return "on the CPU one tensor after another is PyTorch's default"
        return None

    def evidence(self, optimizer):
        return f"{name_of(optimizer)} steps with foreach=False"
