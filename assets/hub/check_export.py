"""Loads an exported folder as a user would and compares its logits: check_export.py FOLDER IDS LOGITS

Exits with 77 when transformers cannot be imported."""

import sys

try:
    import numpy
    import torch
    import transformers
except ImportError as error:
    print(f"python3 has no {error.name}")
    sys.exit(77)

folder, ids, expected = sys.argv[1:]
transformers.logging.set_verbosity_error()
model, info = transformers.AutoModelForCausalLM.from_pretrained(
    folder, dtype=torch.float32, trust_remote_code=True, output_loading_info=True
)
problems = [f"{kind}: {', '.join(map(str, names))}" for kind, names in info.items() if names]
ids = torch.tensor([[int(word) for word in open(ids).read().split()]])
expected = torch.from_numpy(numpy.load(expected))
with torch.no_grad():
    logits = model.eval()(ids).logits[0].float()
error = ((logits - expected).abs().max() / expected.abs().max()).item()
if not error <= 1e-4:
    problems.append(f"logits differ by {error:.1e} of their largest magnitude")
print(f"transformers {transformers.__version__}, {type(model).__name__}: relative error {error:.1e}")
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
