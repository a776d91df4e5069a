"""A peer of `blockzoo bench --generate`: the same model, prompts and greedy choice in PyTorch or transformers.

It prints one line of JSON when it is ready, {"ids": [...]} of one generation, and then, for every line on standard input,
the seconds of each step of another. Settings are the best that were found on two cores: SDPA over keys and values kept
in memory taken once (eager) or transformers' own cache, flushed denormals, freed memory kept, huge pages, the same
threads.
"""
import argparse
import json
import os
import sys
import time

from peer import Model, read_safetensors, transformers_model, turn  # noqa: E402  keeps memory before torch is there
import torch
import torch.nn.functional as F


class Generator:
    """Model with keys and values kept."""

    def __init__(self, network, room):
        self.network, self.room = network, room

    def __call__(self, prompts, new_tokens, tick):
        network, batch = self.network, prompts.shape[0]
        attention = network.blocks[0].attention
        kind = next(network.parameters()).dtype
        kept = [[torch.empty(batch, attention.key_heads, self.room, attention.head_width, dtype=kind) for _ in "kv"]
                for _ in network.blocks]
        ids, tokens, first = [], prompts, 0
        for _ in range(new_tokens):
            length = tokens.shape[1]
            x = network.embedding(tokens)
            cosine, sine = (t[first:first + length].to(kind) for t in (network.cosine, network.sine))
            for block, (keys, values) in zip(network.blocks, kept):
                own, h = block.attention, block.attention_norm(x)
                q = own.query(h).view(batch, length, own.heads, own.head_width).transpose(1, 2)
                k = own.key(h).view(batch, length, own.key_heads, own.head_width).transpose(1, 2)
                keys[:, :, first:first + length] = turn(k, cosine, sine)
                values[:, :, first:first + length] = own.value(h).view(k.transpose(1, 2).shape).transpose(1, 2)
                y = F.scaled_dot_product_attention(
                    turn(q, cosine, sine), keys[:, :, :first + length], values[:, :, :first + length],
                    is_causal=length > 1, enable_gqa=own.heads != own.key_heads)
                x = x + own.output(y.transpose(1, 2).reshape(batch, length, -1))
                x = x + block.ffn(block.ffn_norm(x))
            tokens = network.head(network.final_norm(x[:, -1:])).argmax(-1)
            ids.append(tokens)
            tick()
            first += length
        return torch.cat(ids, 1)


def transformers_generator(network):
    from transformers import LogitsProcessor

    class Tick(LogitsProcessor):
        def __init__(self, tick):
            self.tick = tick

        def __call__(self, input_ids, scores):
            self.tick()
            return scores

    def generate(prompts, new_tokens, tick):
        out = network.generate(prompts, attention_mask=torch.ones_like(prompts), do_sample=False,
                               max_new_tokens=new_tokens, min_new_tokens=new_tokens, eos_token_id=None, pad_token_id=0,
                               use_cache=True, logits_processor=[Tick(tick)])
        return out[:, prompts.shape[1]:]

    return generate


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=["eager", "transformers"], required=True)
    parser.add_argument("--inputs", required=True, help="from blockzoo bench --inputs")
    parser.add_argument("--config", required=True, help="from blockzoo check --json")
    parser.add_argument("--prompts", required=True, help="from blockzoo bench --generate --json")
    parser.add_argument("--new-tokens", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    arguments = parser.parse_args()
    torch.set_flush_denormal(True)
    torch.set_num_threads(arguments.threads)
    with open(arguments.config) as file:
        config = json.load(file)
    with open(arguments.prompts) as file:
        prompts = torch.tensor(json.load(file)["prompts"])
    weights = {name: tensor for name, tensor in read_safetensors(arguments.inputs).items()
               if not name.startswith("batches.")}
    tied = config["model"]["tied"]
    if arguments.kind == "transformers":
        network = transformers_model(config, weights).eval()
        network.config.use_cache = True
    else:
        if tied:
            weights["head.weight"] = weights["embedding.weight"]
        network = Model(config).eval()
        network.load_state_dict(weights, strict=True)
        if tied:
            network.head.weight = network.embedding.weight
    if config["train"]["precision"] == "bfloat16":
        network.to(torch.bfloat16)
    room = prompts.shape[1] + arguments.new_tokens
    generate = transformers_generator(network) if arguments.kind == "transformers" else Generator(network, room)

    def timed():
        ticks = []
        with torch.inference_mode():
            ids = generate(prompts, arguments.new_tokens, lambda: ticks.append(time.perf_counter()))
        return ids, [b - a for a, b in zip(ticks, ticks[1:])]

    say = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    ids, _ = timed()
    print(json.dumps({"ids": ids.tolist(), "torch": torch.__version__}), file=say, flush=True)
    for _ in sys.stdin:
        print(json.dumps({"steps_s": timed()[1]}), file=say, flush=True)


if __name__ == "__main__":
    main()
