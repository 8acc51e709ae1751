# Cells as a notebook runs them: a namespace, exec, and file names that are not files.
# keeper: predictions
# blame: <cell 2>:3
import torch

CELLS = """
import torch
model = torch.nn.Linear(1024, 1024, device="cuda")
predictions = []
""", """for step in range(3000):
    with torch.no_grad():
        predictions.append(model(torch.randn(1024, 1024, device="cuda")))
"""

namespace = {"__name__": "__main__"}
for number, cell in enumerate(CELLS, 1):
    exec(compile(cell, f"<cell {number}>", "exec"), namespace)
