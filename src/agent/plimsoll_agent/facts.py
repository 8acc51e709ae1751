"""What decides how much memory the program needs, and which techniques it switched on."""


class Facts:
    """Of one process, each by kind and name; the last word on one counts."""

    def __init__(self):
        self._facts = {}

    def add(self, kind, name, value, effect=None, evidence=None):
        """Notes a fact, in the place of an earlier one of that kind and name.

        kind      "decides" or "technique"
        effect    of a technique: "yes", "no" or "unknown"
        evidence  a sentence
        """
        self._facts[kind, name] = {
            "kind": kind,
            "name": name,
            "value": value,
            "effect": effect,
            "evidence": evidence,
        }

    def as_result(self):
        return list(self._facts.values())
