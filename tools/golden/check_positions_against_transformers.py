"""Holds reference.py against the position encodings of transformers: python check_positions_against_transformers.py

Needs the transformers package; nothing else in this project does. Prints the largest difference of every comparison and
fails above 5e-6 (what transformers computes in float32 sets that limit)."""

import math

import reference
import torch
import transformers
from transformers import modeling_rope_utils
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from golden_file import Weights, ramp
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention
from transformers_names import compare, finish

# Frequencies of every scaling.
for scaling, theirs in (
    ({"kind": "linear", "factor": 4.0}, {"rope_type": "linear", "factor": 4.0}),
    (
        {
            "kind": "llama3",
            "factor": 8.0,
            "low_frequency_factor": 1.0,
            "high_frequency_factor": 4.0,
            "original_context": 512,
        },
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 512,
        },
    ),
    (
        {"kind": "yarn", "factor": 8.0, "original_context": 256},
        {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 256},
    ),
):
    config = transformers.LlamaConfig(
        hidden_size=64,
        num_attention_heads=2,
        max_position_embeddings=4096,
        rope_parameters={"rope_theta": 10000.0, **theirs},
    )
    inverse, factor = modeling_rope_utils.ROPE_INIT_FUNCTIONS[theirs["rope_type"]](config, "cpu")
    radians, magnitude = reference.rope_frequencies({"scaling": scaling}, 32)
    compare(f"rope frequencies, {scaling['kind']}", radians, inverse.double())
    assert math.isclose(magnitude, factor), (magnitude, factor)

# ALiBi, whose bias transformers counts from key 0: equal up to a number for each row.
for heads in (1, 3, 8, 12):
    theirs = build_alibi_tensor(torch.ones(1, 9), heads, torch.float64).view(heads, 1, 9)
    ours = torch.tensor(reference.alibi_slopes(heads)).view(-1, 1, 1) * torch.arange(9)
    compare(f"alibi, {heads} heads", ours, theirs)

# T5's buckets.
for buckets, longest in ((32, 128), (8, 20), (16, 100)):
    distance = torch.arange(0, 300)
    theirs = T5Attention._relative_position_bucket(
        -distance, bidirectional=False, num_buckets=buckets, max_distance=longest
    )
    ours = torch.tensor([reference.t5_bucket(d, buckets, longest) for d in distance.tolist()])
    compare(f"T5 buckets {buckets}, {longest}", ours.double(), theirs.double(), 0)

# Relative positions of Transformer-XL, by XLNet, which has them: scores of the last queries and keys of one sequence.
length, heads, width, d = 6, 2, 4, 8
core = XLNetRelativeAttention(transformers.XLNetConfig(d_model=d, n_head=heads, d_inner=8)).double()
w, q = Weights(), ramp("q", [2, length, heads, width])
k = ramp("k", [2, length, heads, width])
position = reference.Position({"kind": "transformer_xl"}, w, 16, heads, d)
ours = torch.einsum("bihk,bjhk->bhij", position.shifted(q, "content_bias"), k) + position.relative(q, 0, length)
angles = torch.arange(length, -length, -1.0)[:, None] * 10000.0 ** (-torch.arange(0, d, 2.0) / d)  # distances
waves = torch.cat([angles.sin(), angles.cos()], -1).float().double()
r = (waves @ w.leaves["projection.weight"].T).view(2 * length, 1, heads, width).expand(-1, 2, -1, -1)
with torch.no_grad():
    core.r_w_bias.copy_(w.leaves["content_bias.weight"])
    core.r_r_bias.copy_(w.leaves["position_bias.weight"])
ac = torch.einsum("ibnd,jbnd->bnij", q.transpose(0, 1) + core.r_w_bias, k.transpose(0, 1))
bd = torch.einsum("ibnd,jbnd->bnij", q.transpose(0, 1) + core.r_r_bias, r)
theirs = ac + core.rel_shift_bnij(bd, klen=length)
compare("Transformer-XL", ours.tril(), theirs.tril())

finish()
