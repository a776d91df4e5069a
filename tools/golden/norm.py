"""Norms: python norm.py"""

import reference
from golden_file import Weights, case, ramp, write

CONFIGS = {
    "rms_norm": {"kind": "rms_norm"},
    "rms_norm without gain": {"kind": "rms_norm", "gain": False},
    "rms_norm with unit offset": {"kind": "rms_norm", "unit_offset": True},
    "rms_norm with large eps": {"kind": "rms_norm", "eps": 0.5},
    "layer_norm": {"kind": "layer_norm"},
    "layer_norm without bias": {"kind": "layer_norm", "bias": False},
    "layer_norm without gain": {"kind": "layer_norm", "gain": False},
    "layer_norm without gain and bias": {"kind": "layer_norm", "gain": False, "bias": False},
    "layer_norm with unit offset": {"kind": "layer_norm", "unit_offset": True},
    "layer_norm with large eps": {"kind": "layer_norm", "eps": 0.5},
    "scale_norm": {"kind": "scale_norm"},
    "scale_norm with eps above the length": {"kind": "scale_norm", "eps": 10},
    "dynamic_tanh": {"kind": "dynamic_tanh"},
    "dynamic_tanh without bias": {"kind": "dynamic_tanh", "bias": False},
    "none": {"kind": "none"},
}

cases = []
for name, config in CONFIGS.items():
    for shape in ([6], [3, 4]):
        w, x = Weights(), (3 * ramp("x", [2, 3, *shape])).requires_grad_()
        y = reference.norm(config, w, x, shape)
        own = ", a gain for each head" if len(shape) == 2 else ""
        cases.append(case(name + own, y, {"x": x, **w.leaves}, config=config, shape=shape, input=list(x.shape)))
write("norm", cases)
