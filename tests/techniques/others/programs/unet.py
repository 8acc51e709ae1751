"""diffusers' UNet2DConditionModel in a loop of one's own, with its scheduler of noise."""

import torch
from diffusers import DDPMScheduler, UNet2DConditionModel

ROWS, SIZE, WORDS, WIDTH = 4, 32, 16, 64


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    unet = UNet2DConditionModel(
        sample_size=SIZE, block_out_channels=(64, 128), layers_per_block=1,
        cross_attention_dim=WIDTH, attention_head_dim=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D")).to(device)
    unet.train()
    noise_of = DDPMScheduler(num_train_timesteps=1000)
    optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-4)
    for _ in range(3):
        latents = torch.randn(ROWS, 4, SIZE, SIZE, device=device)
        words = torch.randn(ROWS, WORDS, WIDTH, device=device)
        noise = torch.randn_like(latents)
        moments = torch.randint(0, 1000, (ROWS,), device=device)
        noisy = noise_of.add_noise(latents, noise, moments)
        found = unet(noisy, moments, encoder_hidden_states=words).sample
        loss = torch.nn.functional.mse_loss(found.float(), noise.float())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(unet.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print("loss", loss.item())


if __name__ == "__main__":
    main()
