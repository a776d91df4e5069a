"""Cross entropy with z-loss: mean over positions of logsumexp(z) - z_target + c * logsumexp(z)^2. python loss.py"""

import torch
from golden_file import numbers, ramp, write

cases = []
for name, spread, z_loss in (("plain", 3, 0.0), ("with z-loss", 3, 0.01), ("large logits", 100, 0.0001)):
    logits = (spread * ramp("logits", [2, 5, 7])).requires_grad_()
    targets = torch.tensor([[1, 0, 6, 3, 3], [2, 5, 4, 0, 1]])
    entropy = torch.nn.functional.cross_entropy(logits.view(-1, 7), targets.view(-1))
    penalty = z_loss * torch.logsumexp(logits, -1).square().mean()
    (entropy + penalty).backward()
    cases.append(
        {
            "name": name,
            "spread": spread,
            "z_loss": z_loss,
            "targets": targets.tolist(),
            "cross_entropy": numbers(entropy)[0],
            "penalty": numbers(penalty)[0],
            "gradient": numbers(logits.grad),
        }
    )
write("loss", cases)
