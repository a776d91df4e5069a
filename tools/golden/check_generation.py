"""Holds `blockzoo generate` against transformers on a real pretrained model:

    python check_generation.py FOLDER PROGRAM

FOLDER is a Hugging Face folder with a tokenizer, such as pretrained_folder.py makes of SmolLM2-135M-Instruct; PROGRAM the
built blockzoo. Greedy continuations of 120 tokens must be transformers' own, token for token: of ids, of texts, of all
prompts in one batch, read in chunks of 1, 7 and 256; and the log-probabilities must be within 1e-3."""

import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers

TOKENS = 120
PROMPTS = [
    "The capital of France is",
    "Once upon a time, in a small village by the sea, there lived a girl who",
    "def fibonacci(n):\n",
    "Water boils at 100 degrees because",
    "1, 1, 2, 3, 5, 8,",
    "Liebe Freunde, heute möchte ich euch erzählen, wie",
    "The three laws of thermodynamics are:\n\n1.",
    "x",
]


def theirs(folder, prompts):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.generation_config.eos_token_id = None
    continuations = []
    for ids in prompts:
        with torch.no_grad():
            out = model.generate(
                torch.tensor([ids]),
                attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                max_new_tokens=TOKENS,
                do_sample=False,
                pad_token_id=0,
                return_dict_in_generate=True,
                output_logits=True,
            )
        new = out.sequences[0, len(ids) :].tolist()
        log_probabilities = [torch.log_softmax(step[0], -1)[token].item() for step, token in zip(out.logits, new)]
        continuations.append((new, log_probabilities))
    return continuations


def ours(program, folder, arguments):
    common = ["generate", "--model", folder, "--tokens", TOKENS, "--temperature", 0, "--ignore-eos", "--json"]
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name) / "logprobs.jsonl"
        command = [program, *common, "--logprobs", file, *arguments]
        run = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
        log_probabilities = [json.loads(line) for line in file.read_text().splitlines()]
    print("   ", run.stderr.strip())
    return [json.loads(line) for line in run.stdout.splitlines()], log_probabilities


def main(folder, program):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    prompts = [tokenizer(text).input_ids for text in PROMPTS]
    expected = theirs(folder, prompts)
    as_ids = [word for ids in prompts for word in ("--ids", " ".join(map(str, ids)))]
    as_texts = [word for text in PROMPTS for word in ("--prompt", text)]
    failed = False

    def report(what, texts):
        nonlocal failed
        for prompt, text, (new, _) in zip(PROMPTS, texts, expected):
            same = next((i for i, (a, b) in enumerate(zip(text["ids"], new)) if a != b), len(new))
            failed |= text["ids"] != new
            print(f"{same:4} of {len(new)} tokens equal, {what}: {prompt!r}")

    for chunk in (256, 7, 1):
        texts, log_probabilities = ours(program, folder, [*as_ids, "--chunk", chunk])
        report(f"ids in one batch, chunks of {chunk}", texts)
        error = max(
            abs(entry["log_probability"] - expected[entry["prompt"]][1][entry["token"]]) for entry in log_probabilities
        )
        failed |= not error <= 1e-3
        print(f"{error:.1e}  largest difference of log-probabilities")
    report("each alone", [ours(program, folder, ["--ids", " ".join(map(str, ids))])[0][0] for ids in prompts])
    texts, _ = ours(program, folder, as_texts)
    report("texts", texts)
    for text, ids, (new, _) in zip(texts, prompts, expected):
        whole, before = tokenizer.decode(ids + new), tokenizer.decode(ids)
        if text["prompt_ids"] != ids or before + text["text"] != whole:
            failed = True
            print(f"other ids or text: {text['prompt_text']!r}")
    sys.exit("not equal" if failed else 0)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve())
