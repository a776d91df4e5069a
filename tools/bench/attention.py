"""Seconds of attention alone in PyTorch, forward and backward: full causal SDPA, and SDPA with a window's mask.

For every line `N` on standard input it prints one line of JSON with N times of each.
"""
import argparse
import json
import sys
import time

from peer import torch

import torch.nn.functional as F


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", type=int, nargs=4, metavar=("B", "H", "T", "K"), required=True)
    parser.add_argument("--window", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    arguments = parser.parse_args()
    torch.set_flush_denormal(True)
    torch.set_num_threads(arguments.threads)
    q, k, v = (torch.randn(arguments.shape, requires_grad=True) for _ in range(3))
    length = arguments.shape[2]
    back = torch.arange(length)[:, None] - torch.arange(length)
    mask = (back >= 0) & (back < arguments.window)

    def seconds(**options):
        start = time.perf_counter()
        F.scaled_dot_product_attention(q, k, v, **options).sum().backward()
        return time.perf_counter() - start

    print(json.dumps({"warm": [seconds(is_causal=True), seconds(attn_mask=mask)]}), flush=True)
    for line in sys.stdin:
        rounds = range(int(line))
        print(json.dumps({"full_s": [seconds(is_causal=True) for _ in rounds],
                          "masked_s": [seconds(attn_mask=mask) for _ in rounds]}), flush=True)


if __name__ == "__main__":
    main()
