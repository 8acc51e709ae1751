"""A GAN keeps the generator's samples of every step in its history, to draw a film later."""

import torch
from torch import nn

LATENT, BATCH, STEPS = 64, 32, 8


class Gan:
    def __init__(self):
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(LATENT, 128, 4), nn.BatchNorm2d(128), nn.ReLU(),
            nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh()).cuda()
        self.critic = nn.Sequential(
            nn.Conv2d(3, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(64, 128, 4, 2, 1),
            nn.LeakyReLU(0.2), nn.Conv2d(128, 1, 4)).cuda()
        self.for_generator = torch.optim.Adam(self.generator.parameters(), lr=2e-4, fused=True)
        self.for_critic = torch.optim.Adam(self.critic.parameters(), lr=2e-4, fused=True)
        self.history = {"samples": [], "losses": []}

    def sample(self):
        return self.generator(torch.randn(BATCH, LATENT, 1, 1, device="cuda"))

    def train_critic(self, real):
        self.for_critic.zero_grad()
        with torch.no_grad():
            fake = self.sample()
        loss = self.critic(fake).mean() - self.critic(real).mean()
        loss.backward()
        self.for_critic.step()
        return loss.item()

    def train_generator(self):
        self.for_generator.zero_grad()
        fake = self.sample()
        (-self.critic(fake).mean()).backward()
        self.for_generator.step()
        return fake

    def fit(self):
        for _ in range(STEPS):
            for _ in range(2):
                self.history["losses"].append(self.train_critic(
                    torch.randn(BATCH, 3, 16, 16).cuda()))
            self.history["samples"].append(self.train_generator())


gan = Gan()
gan.fit()
