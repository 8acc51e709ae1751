"""A translation model keeps the attention of every step it decodes, in a list on the module."""

import torch
from torch import nn

SOURCE, TARGET, WIDTH, BATCH, SENTENCES = 40, 5, 128, 8, 16


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.maps = []

    def forward(self, state, memory):
        chances = torch.bmm(memory, self.query(state)[:, :, None]).softmax(dim=1)
        self.maps.append(chances)
        return (chances * memory).sum(dim=1)


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, WIDTH)
        self.read = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.attend = Attention()
        self.write = nn.GRUCell(2 * WIDTH, WIDTH)
        self.words = nn.Linear(WIDTH, 500)

    def translate(self, source):
        memory = self.read(self.embed(source).transpose(1, 2)).transpose(1, 2).contiguous()
        state, word = memory.mean(dim=1), source[:, 0]
        for _ in range(TARGET):
            found = self.attend(state, memory)
            state = self.write(torch.cat((self.embed(word), found), dim=1), state)
            word = self.words(state).argmax(dim=1)
            yield word


with torch.no_grad():
    model = Translator().cuda().eval()
    for _ in range(SENTENCES):
        source = torch.randint(500, (BATCH, SOURCE)).cuda()
        answer = torch.stack(list(model.translate(source)), dim=1).tolist()
