"""A peer of `blockzoo bench`: the same model in PyTorch or transformers, the same start values, batches and optimizer.

It prints one line of JSON when it is ready, {"losses": [...]} of its first ten updates, and then, for every line `N` on
standard input, one with the seconds of N more updates. Settings are the best that were found on two cores: SDPA, fused
AdamW, flushed denormals, freed memory kept, huge pages, the same threads.
"""
import argparse
import ctypes
import json
import os
import sys
import time


def keep_memory():
    libc = ctypes.CDLL(None)
    # M_MMAP_MAX, M_TRIM_THRESHOLD, M_TOP_PAD, M_MXFAST
    for parameter, value in ((-4, 0), (-1, -1), (-2, 64 << 20), (1, 0)):
        libc.mallopt(parameter, value)
    page, reach = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES") // 2 * os.sysconf("SC_PAGE_SIZE")
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes, libc.madvise.argtypes = [ctypes.c_void_p], [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    memory = libc.malloc(reach)
    first = (memory + page - 1) // page * page
    if libc.madvise(first, (memory + reach - first) // page * page, 14) != 0:  # MADV_HUGEPAGE
        raise OSError("no huge pages")
    libc.free(memory)


keep_memory()
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402


def read_safetensors(path):
    kinds = {"F32": torch.float32, "I64": torch.int64}
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, info in header.items():
        first, last = info["data_offsets"]
        flat = torch.frombuffer(data[first:last], dtype=kinds[info["dtype"]])
        tensors[name] = flat.reshape(info["shape"]).clone()
    return tensors


class Attention(nn.Module):
    def __init__(self, width, heads, key_heads):
        super().__init__()
        self.heads, self.key_heads, self.head_width = heads, key_heads, width // heads
        self.query = nn.Linear(width, heads * self.head_width, bias=False)
        self.key = nn.Linear(width, key_heads * self.head_width, bias=False)
        self.value = nn.Linear(width, key_heads * self.head_width, bias=False)
        self.output = nn.Linear(heads * self.head_width, width, bias=False)

    def forward(self, x, cosine, sine):
        batch, length, _ = x.shape
        q = self.query(x).view(batch, length, self.heads, self.head_width).transpose(1, 2)
        k = self.key(x).view(batch, length, self.key_heads, self.head_width).transpose(1, 2)
        v = self.value(x).view(batch, length, self.key_heads, self.head_width).transpose(1, 2)
        q, k = turn(q, cosine, sine), turn(k, cosine, sine)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.key_heads)
        return self.output(y.transpose(1, 2).reshape(batch, length, -1))


def turn(x, cosine, sine):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1).to(x.dtype)


class Glu(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class RmsNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.gain, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], self.gain, self.eps)


class Block(nn.Module):
    def __init__(self, width, heads, key_heads, hidden, eps):
        super().__init__()
        self.attention_norm, self.ffn_norm = RmsNorm(width, eps), RmsNorm(width, eps)
        self.attention, self.ffn = Attention(width, heads, key_heads), Glu(width, hidden)

    def forward(self, x, cosine, sine):
        x = x + self.attention(self.attention_norm(x), cosine, sine)
        return x + self.ffn(self.ffn_norm(x))


class Model(nn.Module):
    """Its parameters have the names of blockzoo's."""

    def __init__(self, config):
        super().__init__()
        model, block = config["model"], config["model"]["block"]
        width, heads, eps = model["width"], block["attention"]["heads"], block["norm"]["eps"]
        self.embedding = nn.Embedding(model["vocabulary"], width)
        self.blocks = nn.ModuleList(
            Block(width, heads, block["attention"]["kv_heads"], block["ffn"]["hidden"], eps)
            for _ in range(model["layers"]))
        self.final_norm = RmsNorm(width, eps)
        self.head = nn.Linear(width, model["vocabulary"], bias=False)
        half = width // heads // 2
        frequencies = block["position"]["theta"] ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.arange(model["context"], dtype=torch.float64)[:, None] * frequencies
        self.register_buffer("cosine", angles.cos().float(), persistent=False)
        self.register_buffer("sine", angles.sin().float(), persistent=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.cosine, self.sine)
        return self.head(self.final_norm(x))


def transformers_model(config, weights):
    from transformers import LlamaConfig, LlamaForCausalLM

    model, block = config["model"], config["model"]["block"]
    llama = LlamaForCausalLM(LlamaConfig(
        vocab_size=model["vocabulary"], hidden_size=model["width"], intermediate_size=block["ffn"]["hidden"],
        num_hidden_layers=model["layers"], num_attention_heads=block["attention"]["heads"],
        num_key_value_heads=block["attention"]["kv_heads"], max_position_embeddings=model["context"],
        rms_norm_eps=block["norm"]["eps"], rope_theta=block["position"]["theta"], tie_word_embeddings=model["tied"],
        use_cache=False, attn_implementation="sdpa"))
    parts = {"attention_norm.gain": "input_layernorm.weight", "ffn_norm.gain": "post_attention_layernorm.weight",
             "attention.query.weight": "self_attn.q_proj.weight", "attention.key.weight": "self_attn.k_proj.weight",
             "attention.value.weight": "self_attn.v_proj.weight", "attention.output.weight": "self_attn.o_proj.weight",
             "ffn.gate.weight": "mlp.gate_proj.weight", "ffn.up.weight": "mlp.up_proj.weight",
             "ffn.down.weight": "mlp.down_proj.weight"}
    named = {"model.embed_tokens.weight": weights["embedding.weight"], "model.norm.weight": weights["final_norm.gain"],
             "lm_head.weight": weights["embedding.weight" if model["tied"] else "head.weight"]}
    for layer in range(model["layers"]):
        for ours, theirs in parts.items():
            named[f"model.layers.{layer}.{theirs}"] = weights[f"blocks.{layer}.{ours}"]
    llama.load_state_dict(named, strict=True)
    return llama


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["eager", "compiled", "transformers"], required=True)
    parser.add_argument("--inputs", required=True, help="from blockzoo bench --inputs")
    parser.add_argument("--config", required=True, help="from blockzoo check --json")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--first", action="store_true", help="end after the first update")
    arguments = parser.parse_args()

    torch.set_flush_denormal(True)
    torch.set_num_threads(arguments.threads)
    with open(arguments.config) as file:
        config = json.load(file)
    tensors = read_safetensors(arguments.inputs)
    inputs, targets = tensors.pop("batches.inputs"), tensors.pop("batches.targets")
    if arguments.kind == "transformers":
        network = transformers_model(config, tensors)
        forward = lambda tokens: network(tokens).logits  # noqa: E731
    else:
        network = forward = Model(config)
        network.load_state_dict(tensors, strict=True)

    train = config["train"]
    adamw = train["optimizer"]
    kept = {id(p) for name, p in network.named_parameters() if p.dim() == 1 or "embed" in name}
    groups = [{"params": [p for p in network.parameters() if id(p) not in kept], "weight_decay": adamw["weight_decay"]},
              {"params": [p for p in network.parameters() if id(p) in kept], "weight_decay": 0}]
    optimizer = torch.optim.AdamW(groups, lr=adamw["lr"], betas=(adamw["beta1"], adamw["beta2"]), eps=adamw["eps"],
                                  fused=True)
    half = train["precision"] == "bfloat16"

    def loss_of(tokens, wanted):
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            logits = forward(tokens)
        return F.cross_entropy(logits.flatten(0, 1).float(), wanted.flatten())

    if arguments.kind == "compiled":
        loss_of = torch.compile(loss_of)

    def update(step):
        index = step % len(inputs)
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(inputs[index], targets[index])
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), train["clip"], foreach=True)
        optimizer.step()
        return loss.item()

    if arguments.first:
        update(0)
        return
    say = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps({"losses": [update(step) for step in range(10)], "torch": torch.__version__}), file=say, flush=True)
    done = 10
    for line in sys.stdin:
        seconds = []
        for _ in range(int(line)):
            start = time.perf_counter()
            update(done)
            seconds.append(time.perf_counter() - start)
            done += 1
        print(json.dumps({"steps_s": seconds}), file=say, flush=True)


if __name__ == "__main__":
    main()
