"""Questions to a syntax tree of Python: what is called, what is plain to see.

Each looks at one expression or block alone, and runs nothing.
"""

import ast

_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)


def name_of(call):
    """The last word of what is called: "zeros"."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def receiver(call):
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def called(node):
    return f"{name_of(node) or 'a function'}()" if isinstance(node, ast.Call) else "a product"


def leaves(statements):
    """Those of some statements by which they leave their block, not those of loops within."""
    found = []
    for statement in statements:
        if isinstance(statement, _LEAVES):
            found.append(statement)
        elif isinstance(statement, (ast.If, ast.With, ast.Try)):
            for _, block in ast.iter_fields(statement):
                if isinstance(block, list):
                    found += leaves([part for part in block if isinstance(part, ast.stmt)])
    return found


def constant_returned(statements):
    """The truth value that some statements end in returning, or None."""
    last = statements[-1] if statements else None
    if isinstance(last, ast.Return) and isinstance(last.value, ast.Constant):
        return bool(last.value.value)
    return None


def is_true(test):
    return isinstance(test, ast.Constant) and bool(test.value)


def is_text(node):
    return isinstance(node, (ast.JoinedStr, ast.Constant))


def names_host(call):
    """True if to(…) plainly names the host, or no device."""
    words = [argument for argument in call.args] + [word.value for word in call.keywords]
    texts = [ast.unparse(word) for word in words]
    return any("cpu" in text for text in texts) or all("dtype" in text or text.startswith(
        ("torch.float", "torch.int", "torch.long", "torch.bfloat", "torch.half", "torch.bool"))
        for text in texts)


def is_on_host(node):
    """True if an expression plainly is on the host: text, lists, arrays, copies."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(node, ast.Call):
            if name_of(node) in ("cpu", "numpy", "tolist", "decode", "batch_decode", "list",
                                 "sorted"):
                return True
            node = node.func
        else:
            node = node.value
    return isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Constant, ast.JoinedStr,
                             ast.ListComp))


def is_of_torch(call):
    """True for torch.f(), F.f(), math.f(): what is no size there is an element's value."""
    owner = receiver(call)
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return isinstance(owner, ast.Name) and owner.id in ("torch", "F", "math", "np", "numpy", "nn",
                                                        "random", "wandb", "logger", "logging")
