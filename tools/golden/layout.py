"""Block layouts: python layout.py"""

import reference
from golden_file import Weights, case, ramp, write

LAYOUTS = ("pre_norm", "post_norm", "double_norm", "output_norm", "parallel", "parallel_two_norms")

cases = []
for layout in LAYOUTS:
    for norm, scale in (({"kind": "rms_norm"}, 1), ({"kind": "layer_norm"}, 0.5), ({"kind": "none"}, 1)):
        config = {
            "layout": {"kind": layout},
            "norm": norm,
            "position": {"kind": "rope"},
            "attention": {"kind": "softmax", "heads": 2, "kv_heads": 1},
            "ffn": {"kind": "glu", "hidden": 7},
            "residual_scale": scale,
        }
        w, x = Weights(), (2 * ramp("x", [2, 4, 8])).requires_grad_()
        y = reference.block(config, w, x, reference.Position(config["position"], None, 16, 2))
        name = f"{layout} with {norm['kind']}" + (f", residual scale {scale}" if scale != 1 else "")
        cases.append(case(name, y, {"x": x, **w.leaves}, config=config, context=16, input=list(x.shape)))
write("layout", cases)
