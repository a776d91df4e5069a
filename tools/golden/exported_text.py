"""Holds the text of exported runs against transformers, for check_tokenizers.py."""

import os
import subprocess

os.environ.setdefault("HF_HUB_OFFLINE", "1")
TOKENS = 40
PROMPT = "the cat sat"
RUN = """
model: {vocabulary: 320, width: 32, layers: 2, context: 64, block: {attention: {heads: 2}, %s}}
data: {corpus: {kind: text, path: story, tokenizer: {kind: file, path: learnt}}, validation_windows: 4}
train: {steps: 60, batch: 8, optimizer: {lr: 1e-2}, schedule: {kind: constant, warmup: 0}}
"""
BLOCKS = {"LlamaForCausalLM": "norm: {kind: rms_norm}", "BlockzooForCausalLM": "layout: {kind: double_norm}"}


def story():
    """A text with characters of two to four bytes, which the tokens of a small vocabulary cut."""
    who, what = ("cat", "na\u00efve dog", "\u4f60\u597d", "\U0001f98a"), ("mat", "caf\u00e9", "\u6708\u5149", "hill")
    return "".join(f"the {who[i % 4]} sat on the {what[i // 4 % 4]}, {i} times.\n" for i in range(400))


def check_exports(program, work, check):
    """A run with a tokenizer of its own is exported; AutoModelForCausalLM and AutoTokenizer load that folder, and continue a text as
    `blockzoo generate --temperature 0` does with the run."""
    try:
        import torch
        import transformers
    except ImportError as error:
        print(f"passed over: exports, since this Python has no {error.name}")
        return
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    folder = work / "exports"
    (folder / "story").mkdir(parents=True)
    (folder / "story" / "a.txt").write_text(story())

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], cwd=folder, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    run("tokenizer", "train", "--vocab", 320, "--special", "<|endoftext|>", "--to", "learnt", "--quiet", "story")
    for name, block in BLOCKS.items():
        (folder / f"{name}.yaml").write_text(RUN % block)
        run("train", f"{name}.yaml", "--out", f"run_{name}")
        run("export", f"run_{name}", "--to", name)
        ours = run("generate", "--model", f"run_{name}", "--prompt", PROMPT, "--tokens", TOKENS, "--temperature", 0)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / name, trust_remote_code=True)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder / name, trust_remote_code=True, dtype=torch.float32).eval()
        ids = tokenizer(PROMPT, return_tensors="pt")
        with torch.no_grad():
            out = model.generate(**ids, max_new_tokens=TOKENS, do_sample=False, pad_token_id=0)[0]
        theirs = tokenizer.decode(out, skip_special_tokens=True)
        check(f"{type(model).__name__}: {len(out) - ids.input_ids.shape[1]} tokens behind a prompt, {len(theirs)} characters",
              type(model).__name__ == name and ours == theirs + "\n", f"{ours!r} and not {theirs!r}")
