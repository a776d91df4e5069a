"""Probabilities of the next token after transformers' own logits processors and warpers: python sampling.py

Needs the package transformers. What is set acts in the order in which `generate` builds its list: repetition penalty,
temperature, top_k, top_p, min_p."""

import torch
from golden_file import ramp, write
from transformers.generation import logits_process as warpers

CASES = [
    {},
    {"temperature": 0.7},
    {"temperature": 5.0},
    {"top_k": 1},
    {"top_k": 7},
    {"top_p": 0.9},
    {"top_p": 0.3},
    {"top_p": 0.01},
    {"min_p": 0.05},
    {"min_p": 0.5},
    {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.8},
    {"temperature": 0.8, "top_k": 12, "top_p": 0.95},
    {"temperature": 1.5, "top_k": 15, "min_p": 0.1},
    {"temperature": 2.0, "top_p": 0.8, "min_p": 0.3, "repetition_penalty": 1.2},
    {"temperature": 0.6, "top_k": 9, "top_p": 0.85, "min_p": 0.02, "repetition_penalty": 1.1},
]
READ = [3, 4, 11, 19]


def probabilities(logits, settings):
    chain = warpers.LogitsProcessorList()
    if "repetition_penalty" in settings:
        chain.append(warpers.RepetitionPenaltyLogitsProcessor(settings["repetition_penalty"]))
    if "temperature" in settings:
        chain.append(warpers.TemperatureLogitsWarper(settings["temperature"]))
    if "top_k" in settings:
        chain.append(warpers.TopKLogitsWarper(settings["top_k"]))
    if "top_p" in settings:
        chain.append(warpers.TopPLogitsWarper(settings["top_p"]))
    if "min_p" in settings:
        chain.append(warpers.MinPLogitsWarper(settings["min_p"]))
    return torch.softmax(chain(torch.tensor([READ]), logits[None].clone())[0], -1)


logits = (4 * ramp("logits", [24])).float().double()  # values that float32 holds
cases = [{"settings": settings, "probabilities": probabilities(logits, settings).tolist()} for settings in CASES]
write("sampling", cases, logits=logits.tolist(), read=READ)
