#!/usr/bin/env python3
"""A small Stable Diffusion of random weights on disk: make_diffusion.py FOLDER.

The architecture is that of the first versions, with less than half the channels and one block less.
"""

import os
import sys

from diffusers import AutoencoderKL, DDPMScheduler, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel

folder = sys.argv[1]
UNet2DConditionModel(
    sample_size=8, block_out_channels=(96, 192, 384), layers_per_block=2, cross_attention_dim=192,
    attention_head_dim=8,
    down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
).save_pretrained(os.path.join(folder, "unet"))
AutoencoderKL(
    block_out_channels=(32, 64, 128, 128), layers_per_block=2, latent_channels=4,
    down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
).save_pretrained(os.path.join(folder, "vae"))
CLIPTextModel(CLIPTextConfig(
    hidden_size=192, intermediate_size=768, num_attention_heads=4, num_hidden_layers=4,
    vocab_size=1000, bos_token_id=512, eos_token_id=513,
)).save_pretrained(os.path.join(folder, "text_encoder"))
DDPMScheduler(beta_schedule="scaled_linear", beta_start=0.00085, beta_end=0.012,
              num_train_timesteps=1000).save_pretrained(os.path.join(folder, "scheduler"))
with open(os.path.join(folder, "model_index.json"), "w", encoding="utf-8") as file:
    file.write('''{"_class_name": "StableDiffusionPipeline",
 "feature_extractor": [null, null], "safety_checker": [null, null],
 "scheduler": ["diffusers", "DDPMScheduler"], "text_encoder": ["transformers", "CLIPTextModel"],
 "tokenizer": ["transformers", "CLIPTokenizer"], "unet": ["diffusers", "UNet2DConditionModel"],
 "vae": ["diffusers", "AutoencoderKL"]}
''')
