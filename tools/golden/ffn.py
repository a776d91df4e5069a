"""Feed-forward sublayers with every activation: python ffn.py"""

import reference
from golden_file import Weights, case, ramp, write

cases = []
for kind in ("mlp", "glu"):
    for activation in reference.ACTIVATIONS:
        for bias in (False, True) if activation in ("gelu", "silu") else (False,):
            config = {"kind": kind, "activation": activation, "hidden": 9, "bias": bias}
            w, x = Weights(), (3 * ramp("x", [2, 3, 5])).requires_grad_()
            y = reference.ffn(config, w, x)
            name = f"{kind} with {activation}" + (" and biases" if bias else "")
            cases.append(case(name, y, {"x": x, **w.leaves}, config=config, input=list(x.shape)))
write("ffn", cases)
