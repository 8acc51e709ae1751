# Keys and values of conversations that never end.
# keeper: sessions
import torch


class Server:
    def __init__(self):
        self.project = torch.nn.Linear(1024, 2048, device="cuda")
        self.sessions = {}

    @torch.inference_mode()
    def answer(self, user, prompt):
        keys, values = self.project(prompt).chunk(2, dim=-1)
        self.sessions[user] = {"keys": keys.contiguous(), "values": values.contiguous()}  # blame
        return values.mean()


def main():
    server = Server()
    for user in range(3000):
        server.answer(f"user-{user}", torch.randn(512, 1024, device="cuda"))


main()
