"""What a probe sees in small models, layer by layer: python probe.py"""

import reference
import torch
from golden_file import Weights, ramp, write

SETTINGS = {"lr": 0.003, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "clip": 1.0}
CONTEXT, VOCABULARY = 4, 11
BASE = {"vocabulary": VOCABULARY, "width": 8, "layers": 3, "context": CONTEXT}
RELU = {"kind": "mlp", "hidden": 24, "activation": "relu", "bias": True}
REGLU = {"kind": "glu", "hidden": 24, "activation": "relu"}
SILU = {"kind": "glu", "hidden": 24, "activation": "silu"}
GROUPED = {"kind": "softmax", "heads": 2, "kv_heads": 1, "softcap": 2.0}


def block(layout, norm, attention, ffn, position):
    return {
        "layout": {"kind": layout},
        "norm": {"kind": norm},
        "position": {"kind": position},
        "attention": attention,
        "ffn": ffn,
    }


PLAIN = {"kind": "softmax", "heads": 2}
MODELS = {
    "pre_norm": {**BASE, "block": block("pre_norm", "rms_norm", PLAIN, RELU, "rope")},
    "post_norm": {**BASE, "block": block("post_norm", "layer_norm", GROUPED, REGLU, "alibi")},
    "double_norm": {**BASE, "block": block("double_norm", "rms_norm", PLAIN, SILU, "rope")},
}


class Seen:
    """Notes what passes through the reference while it computes, one entry a layer."""

    def __init__(self):
        self.inputs, self.outputs, self.hidden, self.scores, self.weights = [], [], [], [], []

    def __enter__(self):
        self.kept = reference.block, reference.linear, torch.softmax
        block_of, linear_of, softmax_of = self.kept

        def block_seen(config, w, x, *more):
            self.scores.append([])
            self.weights.append([])
            y = block_of(config, w, x, *more)
            self.inputs.append(x)
            self.outputs.append(y)
            return y

        def linear_seen(w, name, x, *more):
            if name == "down":
                self.hidden.append(x)
            return linear_of(w, name, x, *more)

        def softmax_seen(scores, dim):
            self.scores[-1].append(scores)
            self.weights[-1].append(softmax_of(scores, dim))
            return self.weights[-1][-1]

        reference.block, reference.linear, torch.softmax = block_seen, linear_seen, softmax_seen
        return self

    def __exit__(self, *_):
        reference.block, reference.linear, torch.softmax = self.kept


def rms(x):
    return x.square().mean().sqrt().item()


def dead(hidden, activation):
    largest = hidden.abs().flatten(0, -2).amax(0)
    limit = 0 if activation == "relu" else 1e-3 * rms(hidden)
    return (largest <= limit).double().mean().item()


def layer_of(name):
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "blocks" else parts[0]


def joint(w, tensor_of):
    """Euclidean norms over all parameters of a layer."""
    squares = {}
    for name, leaf in w.leaves.items():
        squares[layer_of(name)] = squares.get(layer_of(name), 0) + tensor_of(name, leaf).square().sum().item()
    return {layer: square**0.5 for layer, square in squares.items()}


def probe(name, config):
    ids = ((ramp("tokens", [1, CONTEXT + 1]) + 1) / 2 * VOCABULARY).floor().long()
    w = Weights()
    with Seen() as seen:
        logits = reference.model(config, w, ids[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    gradients = joint(w, lambda _, leaf: leaf.grad)
    torch.nn.utils.clip_grad_norm_(w.leaves.values(), SETTINGS["clip"])
    before = {key: leaf.detach().clone() for key, leaf in w.leaves.items()}
    sizes = joint(w, lambda key, _: before[key])
    groups = {True: [], False: []}
    for key, leaf in w.leaves.items():
        groups[leaf.dim() == 2 and not key.startswith("embedding")].append(leaf)
    optimizer = torch.optim.AdamW(
        [{"params": leaves, "weight_decay": SETTINGS["weight_decay"] if decays else 0.0} for decays, leaves in groups.items()],
        lr=SETTINGS["lr"], betas=(SETTINGS["beta1"], SETTINGS["beta2"]), eps=SETTINGS["eps"],
    )  # fmt: skip
    optimizer.step()
    changes = joint(w, lambda key, leaf: leaf.detach() - before[key])
    layers = {layer: {"gradient_norm": gradients[layer], "update_ratio": changes[layer] / sizes[layer]} for layer in sizes}
    layers["embedding"]["activation_rms"] = rms(seen.inputs[0])
    for number, y in enumerate(seen.outputs):
        weights = seen.weights[number]
        layers[f"blocks.{number}"] |= {
            "activation_rms": rms(y),
            "attention_logit_max": max(scores.max().item() for scores in seen.scores[number]),
            "attention_entropy": sum(-torch.xlogy(p, p).sum().item() for p in weights) / len(weights),
            "dead_units": dead(seen.hidden[number], config["block"]["ffn"]["activation"]),
        }
    return {
        "name": name,
        "config": config,
        "tokens": ids[0].tolist(),
        "loss": loss.item(),
        "mean_log_z": torch.logsumexp(logits, -1).mean().item(),
        "layers": layers,
    }


if __name__ == "__main__":
    write("probe", [probe(name, config) for name, config in MODELS.items()], settings=SETTINGS)
