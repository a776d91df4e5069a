"""Speed of `blockzoo tokenizer` beside Hugging Face's `tokenizers`, in turn, on the cores that this process may use:

    python tokenizers_speed.py PROGRAM TEXTS [ROUNDS]

TEXTS is a folder of UTF-8 text. blockzoo is timed as a whole process: its start, reading, writing. `tokenizers` is timed for the
call alone, on text that is in memory: train_from_iterator, and encode_batch_fast, which computes no offsets. Both learn the same
vocabulary and give the same ids, which is checked. Medians of ROUNDS (5) are printed."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

SIZES = (4096, 32000)
END = "<|endoftext|>"


def timed(action):
    began = time.perf_counter()
    result = action()
    return time.perf_counter() - began, result


def theirs_trained(texts, size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=[END], show_progress=False,
                                                             initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def main():
    program, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    texts = [file.read_bytes().decode() for file in files]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{len(files)} files, {megabytes:.1f} MB, {len(os.sched_getaffinity(0))} cores, medians of {rounds} rounds in turn")

    def run(*arguments):
        subprocess.run([program, "tokenizer", *map(str, arguments), "--quiet"], check=True, stdout=subprocess.DEVNULL)

    def report(what, ours, theirs):
        ours, theirs = statistics.median(ours), statistics.median(theirs)
        print(f"{what:22} blockzoo {ours:6.2f} s, {megabytes / ours:5.1f} MB/s   tokenizers {theirs:6.2f} s, "
              f"{megabytes / theirs:5.1f} MB/s   {theirs / ours:5.1f} times as fast")

    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        for size in SIZES:
            ours, theirs = [], []
            for i in range(rounds):
                ours.append(timed(lambda: run("train", "--vocab", size, "--special", END, "--to", work / f"{size}.{i}", folder))[0])
                seconds, tokenizer = timed(lambda: theirs_trained(texts, size))
                theirs.append(seconds)
            learnt = json.loads((work / f"{size}.0" / "tokenizer.json").read_text())["model"]
            model = json.loads(tokenizer.to_str())["model"]
            assert learnt["vocab"] == model["vocab"] and learnt["merges"] == model["merges"], "not the same merges"
            report(f"training, {size}", ours, theirs)
            ours, theirs = [], []
            for i in range(rounds):
                out = work / f"ids{size}.{i}"
                ours.append(timed(lambda: run("encode", "--tokenizer", work / f"{size}.0", "--to", out, folder))[0])
                fresh = Tokenizer.from_str(tokenizer.to_str())  # with an empty cache, as a new process has
                seconds, encoded = timed(lambda: fresh.encode_batch_fast(texts, add_special_tokens=False))
                theirs.append(seconds)
            expected = numpy.concatenate([numpy.array([*one.ids, 0], dtype=numpy.uint16) for one in encoded])
            assert (numpy.fromfile(out, dtype=numpy.uint16, offset=64) == expected).all(), "not the same ids"
            report(f"encoding, {size}", ours, theirs)


main()
