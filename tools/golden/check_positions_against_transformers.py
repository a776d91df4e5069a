"""Holds reference.py against the position encodings of transformers: python check_positions_against_transformers.py

Needs the transformers package; nothing else in this project does. Prints the largest difference of every comparison and
fails above 5e-6 (what transformers computes in float32 sets that limit)."""

import math

import reference
import torch
import transformers
from transformers import modeling_rope_utils
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention
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

finish()
