"""TRL's supervised fine-tuning: `trl sft` on a Llama of random weights."""

import json

from program import Program
from programs.hugging_face import PACKAGES

WIDTH, LAYERS, VOCABULARY, INNER = 512, 4, 1024, 2048  # as scripts/make_llama.py has them
PARAMETERS = (2 * VOCABULARY * WIDTH
              + LAYERS * (4 * WIDTH * WIDTH + 3 * WIDTH * INNER + 2 * WIDTH) + WIDTH)


def feed(folder):
    place = folder / "data"
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "train.jsonl", "w", encoding="utf-8") as file:
        for n in range(64):
            file.write(json.dumps({"text": f"What is {n} times {n}? It is {n * n}. " * 8}) + "\n")


PROGRAM = Program(
    name="trl",
    what="TRL 1.16, trl sft, Llama of 18 million parameters",
    feed=feed,
    makers=(["python", "SCRIPTS/make_tokenizer.py", "WORK/model"],
            ["python", "SCRIPTS/make_llama.py", "WORK/model"]),
    packages=[*PACKAGES, "trl==1.16.0", "Jinja2==3.1.6", "MarkupSafe==3.0.4"],
    command=["trl", "sft", "--model_name_or_path=WORK/model", "--dataset_name=DATA",
             "--max_steps=2", "--per_device_train_batch_size=2", "--max_length=128",
             "--report_to=none", "--save_strategy=no", "--output_dir=WORK/out"],
    # Its loss takes only the positions that a mask on the device leaves: how many these are is
    # not known here, so no rehearsal can say that it fits.
    verdicts=("at_least",),
    low=16 * PARAMETERS,
    high=16 * PARAMETERS + (512 << 20),
)
