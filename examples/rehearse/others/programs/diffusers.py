"""diffusers' example: text_to_image/train_text_to_image.py, a small Stable Diffusion."""

import json

from program import Program, write_images
from programs.hugging_face import PACKAGES

# As the files that scripts/make_diffusion.py writes have them.
UNET, FROZEN = 40_097_956, 5_252_487 + 1_986_624


def feed(folder):
    place = folder / "data"
    write_images(place, 1, 8, 64)
    with open(place / "metadata.jsonl", "w", encoding="utf-8") as file:
        for n in range(8):
            line = {"file_name": f"class0/{n}.ppm", "text": f"picture number {n}"}
            file.write(json.dumps(line) + "\n")


PROGRAM = Program(
    name="diffusers",
    what="diffusers 0.40, examples/text_to_image/train_text_to_image.py",
    source=("https://github.com/huggingface/diffusers", "v0.40.0"),
    in_source="examples/text_to_image",
    feed=feed,
    makers=(["python", "SCRIPTS/make_tokenizer.py", "--clip", "WORK/model/tokenizer"],
            ["python", "SCRIPTS/make_diffusion.py", "WORK/model"]),
    packages=[*PACKAGES, "diffusers==0.40.0", "torchvision==0.26.0", "pillow==13.0.0",
              "importlib_metadata==10.2.0", "zipp==4.1.2", "ftfy==6.3.1", "wcwidth==0.9.4",
              "httpx==0.28.1", "httpcore==1.0.9", "Jinja2==3.1.6", "MarkupSafe==3.0.4"],
    command=["accelerate", "launch", "--num_processes=1", "--num_machines=1",
             "--mixed_precision=bf16", "--dynamo_backend=no", "train_text_to_image.py",
             "--pretrained_model_name_or_path=WORK/model", "--train_data_dir=DATA",
             "--resolution=64", "--train_batch_size=2", "--max_train_steps=2",
             "--report_to=all", "--output_dir=WORK/out"],
    # Weights, gradients and two states of what is trained; the rest in 16 bits.
    low=16 * UNET + 2 * FROZEN,
    high=16 * UNET + 2 * FROZEN + (1 << 30),
)
