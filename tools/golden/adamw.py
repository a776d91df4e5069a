"""Ten steps of torch.optim.AdamW on a small model, with clipping by the global norm: python adamw.py"""

import reference
import torch
from golden_file import Weights, numbers, ramp, write
from tiny_model import BASE, MODELS

SETTINGS = {"lr": 0.003, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "clip": 1.0}
STEPS = 10

cases = []
for name in ("llama", "gpt2"):
    config = MODELS[name]
    tokens = ((ramp("tokens", [STEPS, 2, 8]) + 1) / 2 * BASE["vocabulary"]).floor().long()
    w = Weights()
    reference.model(config, w, tokens[0, :, :-1])
    decayed = [
        key for key, leaf in w.leaves.items() if leaf.dim() == 2 and not key.startswith(("embedding", "position"))
    ]
    groups = [
        {"params": [w.leaves[key] for key in decayed], "weight_decay": SETTINGS["weight_decay"]},
        {"params": [leaf for key, leaf in w.leaves.items() if key not in decayed], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(
        groups, lr=SETTINGS["lr"], betas=(SETTINGS["beta1"], SETTINGS["beta2"]), eps=SETTINGS["eps"]
    )
    losses, norms = [], []
    for batch in tokens:
        optimizer.zero_grad()
        logits = reference.model(config, w, batch[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(w.leaves.values(), SETTINGS["clip"]))
        optimizer.step()
        losses.append(loss)
    cases.append(
        {
            "name": name,
            "config": config,
            "tokens": tokens.tolist(),
            "decayed": decayed,
            "losses": numbers(torch.stack(losses)),
            "gradient_norms": numbers(torch.stack(norms)),
            "parameters": {key: numbers(leaf) for key, leaf in w.leaves.items()},
        }
    )
write("adamw", cases, settings=SETTINGS)
