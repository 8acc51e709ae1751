#!/usr/bin/env python3
"""check_speedscope.py PLIMSOLL - exports hold to speedscope's published schema, and its own page, in
Chromium, shows them and exports them again with the sums of `inspect`.

Wants npm (speedscope, playwright-core), PyPI (jsonschema) and Chromium.
"""

import collections
import decimal
import json
import subprocess

import kit


def check_schema(release, path):
    schema = json.loads((release / "file-format-schema.json").read_text())
    kit.run_python(["jsonschema"], "import json, sys, jsonschema\n"
                   "jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))",
                   release / "file-format-schema.json", path)
    document = json.loads(path.read_text())
    assert set(document) <= set(schema["definitions"]["FileFormat.File"]["properties"]), set(document)
    return document


def shown_as(size):
    """A size as speedscope's page has it: JavaScript rounds halves up."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            break
        size /= decimal.Decimal(1024)
    rounded = decimal.Decimal(size).quantize(decimal.Decimal("0.01"), decimal.ROUND_HALF_UP)
    return f"{size} B" if unit == "B" else f"{rounded} {unit}"


def check_page(modules, path, document):
    """The sums of what the page exports again, after it has shown the first profile's name and the frame that
    weighs most by itself."""
    again = path.with_suffix(".again")
    done = subprocess.run(["node", str(kit.HERE / "speedscope_page.js"), str(modules), kit.chromium(), str(path),
                           str(again)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = json.loads(done.stdout)["text"]
    first = document["profiles"][0]
    assert first["name"] in shown, shown[:300]
    own = collections.Counter()
    for stack, weight in zip(first["samples"], first["weights"]):
        own[stack[-1]] += weight
    frame, weight = own.most_common(1)[0]
    for text in (document["shared"]["frames"][frame]["name"], f"{shown_as(weight)} ("):
        assert text in shown, (text, shown[:600])
    # The page exports frames that open and close on an axis of bytes.
    return [max(event["at"] for event in profile["events"]) - profile["startValue"]
            for profile in json.loads(again.read_text())["profiles"]]


def main():
    modules = kit.npm("speedscope", "playwright-core")
    release = modules / "speedscope" / "dist" / "release"
    kit.chromium()
    for source in kit.RECORDINGS:
        facts = kit.inspect(source)
        path, _ = kit.export(source, "run.speedscope.json")
        document = check_schema(release, path)
        peaks = [profile["endValue"] for profile in document["profiles"] if " peak " in profile["name"]]
        wanted = [fact["peak"]["requested_bytes"] for fact in facts.values()]
        assert peaks == wanted, (peaks, wanted)
        sums = check_page(modules, path, document)
        assert sums == [profile["endValue"] for profile in document["profiles"]], (sums, document["profiles"])
        print(f"{source.name}: schema holds; the page shows the profiles and exports {sums} bytes")


kit.main(main)
