#!/usr/bin/env python3
"""Where values go: snippets of real life, and whether a size or the program's way hangs on them.

The expression that reads stands in « »; it gives a scalar of the kind said, or a whole tensor.
"""

import ast
import os
import sys
import textwrap
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "src", "agent"))
from plimsoll_agent import flow, operations, sources  # noqa: E402
from plimsoll_agent.consequences import Consequences  # noqa: E402
from plimsoll_agent.places import Places  # noqa: E402

FLOAT = flow.Value(flow.FLOAT, 0)
WHOLE = flow.Value(flow.WHOLE, 0)
TRUTH = flow.Value(flow.TRUTH, False)
HOST = flow.Value(flow.UNKNOWN, None, True)  # a tensor, an array, a list
LABELS = flow.Value(flow.WHOLE, None, True)
SOFT = flow.Value(flow.UNKNOWN, 0)  # an item of a type that was not seen

# Prints, logs, averages and warnings.
HARMLESS = [
    (FLOAT, "print(step, «loss.item()»)"),
    (FLOAT, "print(f'loss {«loss.item()»:.3f}')"),
    (FLOAT, "print('loss %.3f' % «loss.item()»)"),
    (FLOAT, "print('loss {}'.format(«loss.item()»))"),
    (FLOAT, "total += «loss.item()» * len(batch)\nprint(total / seen)"),
    (FLOAT, "losses.append(«loss.item()»)\nprint(sum(losses) / len(losses))"),
    (FLOAT, "writer.add_scalar('loss', «loss.item()», step)"),
    (FLOAT, "wandb.log({'loss': «loss.item()»})"),
    (FLOAT, "pbar.set_postfix(loss=«loss.item()»)"),
    (FLOAT, "meter.update(«loss.item()», x.size(0))"),
    (FLOAT, "tracker(«loss.item()»)"),
    (FLOAT, "self.history['loss'].append(«loss.item()»)"),
    (FLOAT, "stats = {'loss': «loss.item()»}\nlog(stats)"),
    (FLOAT, "perplexity = math.exp(«loss.item()»)\nprint(perplexity)"),
    (FLOAT, "scheduler.step(«loss.item()»)"),
    (FLOAT, "norm = «norm.item()»\nfor p in params:\n    p.grad.mul_(1 / norm)"),
    (FLOAT, "coefficient = 1.0 / («norm.item()» + 1e-6)\nx = x * coefficient"),
    (FLOAT, "if «loss.item()» < best:\n    best = loss\n    torch.save(model.state_dict(), path)"),
    (FLOAT, "if math.isnan(«loss.item()»):\n    raise ValueError('nan')"),
    (FLOAT, "if not math.isfinite(«loss.item()»):\n    print('stopping')\n    sys.exit(1)"),
    (FLOAT, "assert «x.max().item()» <= 1"),
    (FLOAT, "lr = base * «scale.item()»\nfor group in optimizer.param_groups:\n"
            "    group['lr'] = lr"),
    (FLOAT, "if resume:\n    best = checkpoint['best']\n    model = make(checkpoint)\n"
            "while True:\n    loss = «loss.item()»\n    if loss < best:\n        best = loss\n"
            "        checkpoint = {'best': best}\n        torch.save(checkpoint, path)"),
    (FLOAT, "for i, x in enumerate(meter.log_every(data)):\n    if i % 8 == 0:\n"
            "        y = model(x)\n    meter.update(«acc.item()»)"),
    (WHOLE, "x = torch.zeros(n)\nn = «count.item()»\nprint(n)"),
    (WHOLE, "correct += «(pred == y).sum().item()»\nprint(correct / total)"),
    (WHOLE, "correct += «(pred == y).sum().item()»\naccuracy = 100.0 * correct / len(data)\n"
            "print(f'{accuracy:.2f}')"),
    (WHOLE, "acc = «(pred == y).sum().item()» / y.numel()\nreport(acc)"),
    (WHOLE, "print(classes[«pred.item()»])"),
    (WHOLE, "label = id2label[«pred.argmax().item()»]\nprint(label)"),
    (WHOLE, "confusion[«t.item()», «p.item()»] += 1".replace("«p.item()»", "p")),
    (WHOLE, "if «step_t.item()» % 10 == 0:\n    print('ten')"),
    (WHOLE, "tokens_seen += «mask.sum().item()»\nlogger.info('%d', tokens_seen)"),
    (WHOLE, "x = torch.full((2, 3), «pad.item()»)"),
    (WHOLE, "x = F.pad(x, (0, 1), value=«pad.item()»)"),
    (WHOLE, "x = torch.randint(0, «high.item()», (4,), device='cuda')"),
    (WHOLE, "x = torch.clamp(x, max=«high.item()»)"),
    (WHOLE, "t = torch.tensor(«n.item()», device='cuda')"),
    (WHOLE, "x.mul_(«n.item()»)\nprint(x)"),
    (WHOLE, "for i in range(«n.item()»):\n    print(i)"),
    (WHOLE, "x[«i.item()»] = 0"),
    (TRUTH, "if «torch.isnan(loss)»:\n    print('nan')\n    continue_ = 1"),
    (TRUTH, "for x in data:\n    if «torch.isnan(loss)»:\n        continue\n    loss.backward()"),
    (TRUTH, "for x in data:\n    if «torch.isnan(loss).any()»:\n        break\n    loss.backward()"),
    (TRUTH, "if «torch.isnan(x).any()»:\n    raise RuntimeError('nan')"),
    (TRUTH, "tr_loss = tr_loss + (tr_loss / (1 + n) if «isnan» else tr_step)"),
    (TRUTH, "if «(labels < 0).any()»:\n    warnings.warn('negative')"),
    (TRUTH, "assert «torch.equal(a, b)», 'differ'"),
    (TRUTH, "if mask is not None and «mask.all()»:\n    mask = None"),
    (TRUTH, "if not «mask.all()»:\n    x = attend(x, mask)\nelse:\n    mask = None"),
    (TRUTH, "def f(mask):\n    if «mask.all()»:\n        return None\n    return expand(mask)"),
    (TRUTH, "ok = «torch.allclose(a, b)»\nprint(ok)"),
    (HOST, "preds.append(«logits.argmax(-1).cpu()»)\nall_preds = torch.cat(preds)\n"
           "print(score(all_preds))"),
    (HOST, "np.save('out.npy', «x.cpu()».numpy())"),
    (HOST, "plt.imshow(«image.cpu()».permute(1, 2, 0).numpy())"),
    (HOST, "text = tokenizer.batch_decode(«ids.tolist()»)\nprint(text)"),
    (HOST, "state = {k: «v.cpu()» for k, v in model.state_dict().items()}\ntorch.save(state, p)"),
    (HOST, "for score in «scores.tolist()»:\n    print(score)"),
    (HOST, "metric.update(«preds.cpu()», y.cpu())"),
    (HOST, "weights = «x.cpu()»\nx2 = weights.cuda()"),
    (HOST, "x = «x.cpu()».to('cuda')"),
    (LABELS, "auc = roc_auc_score(«y.cpu()».numpy(), p)"),
    (TRUTH, "def f(x):\n    return False, «x.all()»\nleave, flag = f(x)\nif leave:\n    y = m(x)"),
    (HOST, "m = «x.cpu()»\nh = block(h, m)\nh = h.view((-1, h.size(-1)))"),
    (SOFT, "log_metric('x', «out['loss'].item()»)"),
    (SOFT, "callback(«out['loss'].item()»)"),
]

# A size, a branch with work in it, or a loop's end hangs on these; with a word of the reason.
MATTERS = [
    (WHOLE, "n = «lengths.max().item()»\nx = torch.zeros(4, n, device='cuda')", "zeros"),
    (WHOLE, "n = int(«mask.sum().item()»)\nbuffer = x.new_empty(n, 8)", "new_empty"),
    (WHOLE, "x = x[:, :«lengths.max().item()»]\ny = model(x)", "slice"),
    (WHOLE, "n = «lengths.max().item()»\nx = x[:n]\ny = model(x)", "slice"),
    (WHOLE, "for y in data:\n    x = torch.zeros(n)\n    n = «count.item()»", "zeros"),
    (WHOLE, "def make():\n    return torch.zeros(n)\nn = «count.item()»", "zeros"),
    (WHOLE, "x = x.view(«n.item()», -1)", "view"),
    (WHOLE, "mask = torch.arange(«lengths.max().item()»)[None] < lengths[:, None]", "arange"),
    (WHOLE, "for i in range(«n.item()»):\n    x = layer(x)", "loop"),
    (WHOLE, "x = F.one_hot(x, num_classes=«n.item()» + 1)", "one_hot"),
    (WHOLE, "x = x.expand(«n.item()», 4, 4)", "expand"),
    (WHOLE, "x = F.pad(x, (0, «n.item()»))", "pad"),
    (WHOLE, "values, places = x.topk(«k.item()»)", "topk"),
    (WHOLE, "n = «counts.max().item()»\nsize = min(n, capacity)\nx = torch.empty(size)", "empty"),
    (WHOLE, "self.n = «counts.max().item()»\nx = torch.empty(self.n)", "empty"),
    (WHOLE, "x = allocate(«n.item()»)", "allocate"),
    (WHOLE, "def make(n):\n    return torch.zeros(n)\nx = make(«n.item()»)", "zeros"),
    (WHOLE, "if «count.item()» > 0:\n    y = model(x)", "model"),
    (WHOLE, "if «count.item()» == 0:\n    y = x\nelse:\n    y = expert(x)", "expert"),
    (WHOLE, "while True:\n    x = model(x)\n    if «next.item()» == eos:\n        break", "loop"),
    (WHOLE, "for i in range(100):\n    x = model(x)\n    if «next.item()» == eos:\n        break",
     "loop"),
    (WHOLE, "for i in range(100):\n    if «next.item()» == 0:\n        break\n    x = model(x)",
     "loop"),
    (FLOAT, "while «error.item()» > 1e-3:\n    x = step(x)", "loop"),
    (FLOAT, "while True:\n    x = step(x)\n    if «error.item()» < 1e-3:\n        break", "loop"),
    (FLOAT, "for x in data:\n    y = model(x)\n    if «loss.item()» < target:\n        break", "loop"),
    (FLOAT, "if «loss.item()» < best:\n    best_model = copy.deepcopy(model)", "deepcopy"),
    (FLOAT, "if «prob.item()» > 0.5:\n    x = branch(x)", "branch"),
    (FLOAT, "x = deep(x) if «prob.item()» > 0.5 else x", "deep"),
    (FLOAT, "best = float('inf')\nfor epoch in range(9):\n    train_epoch(model)\n"
            "    if «loss.item()» < best:\n        best = 1\n        bad = 0\n"
            "    else:\n        bad += 1\n    if bad > 3:\n        break", "loop"),
    (TRUTH, "if «mask.any()»:\n    x = fix(x)", "fix"),
    (TRUTH, "while «unfinished.any()»:\n    x = model(x)", "loop"),
    (TRUTH, "while not «done.all()»:\n    x = model(x)", "loop"),
    (TRUTH, "done = False\nwhile not done:\n    x = model(x)\n    done = «finished.all()»", "loop"),
    (TRUTH, "for i in range(9):\n    if not «moving.any()»:\n        break\n    x = model(x)", "loop"),
    (TRUTH, "def f(x):\n    if not «x.any()»:\n        return x\n    return model(x)", "returns"),
    (TRUTH, "for e in experts:\n    if not «hit.any()»:\n        continue\n    x = e(x)", "pass"),
    (TRUTH, "y = «flag.any()» and model(x)", "model"),
    (HOST, "splits = «counts.tolist()»\nparts = x.split(splits)", "split"),
    (HOST, "splits = «counts.cpu()».tolist()\nparts = torch.split(x, splits)", "split"),
    (HOST, "dist.all_to_all_single(out, x, output_split_sizes=«counts.tolist()»)", "all_to_all"),
    (LABELS, "packed = pack_padded_sequence(x, «lengths.cpu()», batch_first=True)", "pack_padded"),
    (HOST, "for n in «counts.tolist()»:\n    x = torch.zeros(n, device='cuda')", "zeros"),
    (HOST, "kept = [i for i, s in enumerate(«scores.tolist()») if s > 0.5]\n"
           "x = torch.tensor(kept, device='cuda')", "device"),
    (HOST, "kept = np.nonzero(«scores.cpu()».numpy())\nx = torch.as_tensor(kept).cuda()", "device"),
    (HOST, "ends = np.cumsum(«counts.tolist()»)\nfor e in ends:\n    y = torch.empty(e)", "empty"),
]


def locate(source):
    """The source without its marks, and the expression that was marked."""
    source = textwrap.dedent(source)
    start = source.index("«")
    text = source.replace("«", "").replace("»", "")
    marked = source[start + 1:source.index("»")]
    line = source.count("\n", 0, start) + 1
    column = start - (source.rindex("\n", 0, start) + 1 if line > 1 else 0)
    return text, (line, line, column, column + len(marked))


class OneFile(sources.File):
    """A file that is a text."""

    def __init__(self, text):
        super().__init__("<none>", None)
        self._lines = text.splitlines(keepends=True)


def fate_of(value, source):
    text, place = locate(source)
    file = OneFile(text)
    function = flow.Function(file.tree(), "<module>", file)
    node = function.find(place)
    assert node is not None, source
    return function.follow(node, value)


class Fates(unittest.TestCase):
    def test_harmless(self):
        for value, source in HARMLESS:
            with self.subTest(source):
                self.assertIsNone(fate_of(value, source).why)

    def test_matters(self):
        for value, source, word in MATTERS:
            with self.subTest(source):
                self.assertIn(word, fate_of(value, source).why or "")

    def test_many_ways_end(self):
        """Recursive functions with several calls each, as those that gather nested tensors."""
        functions = "".join(
            f"def f{i}(x):\n    y = [f{j}(e) for j in x for e in (f{k}(x), x)]\n"
            f"    return f{j}(f{k}(y)), f{i}(y)\n"
            for i, j, k in ((i, (i + 1) % 12, (i + 5) % 12) for i in range(12)))
        self.assertIsNone(fate_of(HOST, functions + "z = f0(«x.cpu()»)\nprint(z)").why)

    def test_results_go_to_the_caller(self):
        for source in ("def f(x):\n    return «x.item()»", "f = lambda x: «x.item()»",
                       "def f(x):\n    n = «x.item()»\n    return n + 1"):
            with self.subTest(source):
                self.assertIsNotNone(fate_of(WHOLE, source).returned)

    def test_what_is_otherwise_counts(self):
        fate = fate_of(TRUTH, "def f(m):\n    if «m.all()»:\n        return True\n    return g(m)")
        self.assertIs(fate.returned.constant, False)

    def test_masks_that_might_be_left_out(self):
        """transformers looks for padding: false keeps the mask, which needs no less."""
        packages = "/nowhere/site-packages/"
        torch = types.SimpleNamespace(__file__=packages + "torch/__init__.py")
        judge = Consequences(torch, Places(torch.__file__))
        for file, is_harmless in (("transformers/masking_utils.py", True), ("other.py", False)):
            code = compile("frame = sys._getframe()", packages + file, "exec")
            names = {"sys": sys}
            exec(code, names)
            decision = judge.decide(names["frame"], operations.Operation(operations.TRUTH_VALUE))
            self.assertEqual(decision.why is None, is_harmless, file)


if __name__ == "__main__":
    unittest.main()
