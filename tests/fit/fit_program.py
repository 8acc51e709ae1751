#!/usr/bin/env python3
"""fit_program.py CUDA_PROGRAM MIB [WORD...] - a program for `plimsoll fit` that needs no PyTorch.

It requests MIB of device memory, less under techniques, and reports of them as the agent does
(docs/formats/with.md). Started for real, without a rehearsal, it prints what it was started with.

    broken=TECHNIQUE refused=TECHNIQUE idle=TECHNIQUE slow=SECONDS (under techniques) exit=STATUS
"""
import json
import os
import sys
import time

SHARES = {"accumulate": 0.6, "checkpoint": 0.5, "autocast": 0.8, "fused": 0.99,
          "checkpoint=every:4": 0.9, "checkpoint=every:2": 0.8, "checkpoint=fraction:0.75": 0.7}


def main():
    cuda_program, mib, *words = sys.argv[1:]
    options = dict(word.split("=", 1) for word in words)
    techniques = os.environ.get("PLIMSOLL_WITH", "").split("\n")
    techniques = [text for text in techniques if text]
    if "PLIMSOLL_REHEARSAL" not in os.environ:
        print("started with", techniques, os.environ.get("PYTORCH_CUDA_ALLOC_CONF"), flush=True)
        sys.exit(int(options.get("exit", 0)))
    need = float(mib)
    reports = []
    for text in techniques:
        name, _, value = text.partition("=")
        state = ("refused" if options.get("refused") == name
                 else "no_effect" if options.get("idle") == name else "applied")
        reports.append({"name": name, "value": value, "state": state,
                        "text": "of the test" if state != "applied" else None})
        need *= SHARES.get(text, SHARES.get(name, 1)) if state == "applied" else 1
    if techniques:
        folder = os.environ["PLIMSOLL_WITH_FOLDER"]
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{os.getpid()}.json"), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "pid": os.getpid(), "techniques": reports}, file)
        time.sleep(float(options.get("slow", 0)))
    if any(text.partition("=")[0] == options.get("broken") for text in techniques):
        sys.exit("RuntimeError: expected Float but found BFloat16")
    os.execv(cuda_program, [cuda_program, "alloc", str(int(need))])


main()
