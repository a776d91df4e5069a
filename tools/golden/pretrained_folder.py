"""Makes a Hugging Face folder of a real pretrained model, and holds import and export against it:

    python pretrained_folder.py GGUF FOLDER [PROGRAM]

GGUF is the weight file of SmolLM2-135M-Instruct, as for check_pretrained.py; FOLDER gets config.json, model.safetensors and
the tokenizer, as transformers writes them. With PROGRAM, the built blockzoo: `blockzoo logits` of the folder must equal
transformers' to 1e-4 of their largest magnitude at every position of several texts, up to 2,000 tokens, and `blockzoo export`
must give back every tensor, bit for bit, in float32 and in several files."""

import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
import transformers
from check_pretrained import TEXT, THEIR_CONFIG, read_weights, renamed
from safetensors import safe_open

TOKENS = 2000


def make_folder(path, folder):
    module = transformers.LlamaForCausalLM(THEIR_CONFIG).eval()
    weights = renamed(read_weights(path), 2, "model.embed_tokens.weight", "model.norm.weight")
    missing = module.load_state_dict(weights, strict=False)
    assert missing.missing_keys == ["lm_head.weight"] and not missing.unexpected_keys, missing
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    module.config.eos_token_id, module.config.bos_token_id = tokenizer.eos_token_id, tokenizer.bos_token_id
    module.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def tensors_of(folder):
    found = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as opened:
            found |= {name: opened.get_tensor(name) for name in opened.keys()}
    return found


def texts():
    """A story's beginning, prose, code and a table, the longer ones cut at TOKENS."""
    root = pathlib.Path(__file__).resolve().parents[2]
    longer = ("README.md", "src/core/reader.h", "docs/zoo.md")
    return {"a story": TEXT} | {name: (root / name).read_text() for name in longer}


def check(folder, program):
    module = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)

        def run(*arguments):
            subprocess.run([program, *map(str, arguments)], cwd=work, check=True)

        failed = False
        for title, text in texts().items():
            ids = tokenizer(text).input_ids[:TOKENS]
            with torch.no_grad():
                theirs = module(torch.tensor([ids])).logits[0]
            (work / "ids.txt").write_text(" ".join(map(str, ids)))
            run("logits", "--model", folder, "--tokens", "ids.txt", "--out", "logits.npy")
            ours = torch.from_numpy(numpy.load(work / "logits.npy"))[0]
            errors = (ours - theirs).abs().amax(-1) / theirs.abs().amax(-1)  # at every position
            print(f"{errors.max():.1e}  largest relative error of the imported model's logits over {len(ids)} positions of {title}")
            failed = failed or not errors.max() <= 1e-4
        original = tensors_of(folder)
        for to, shard in ((work / "whole", 5), (work / "parts", 0.2)):
            run("export", folder, "--to", to, "--stock-only", "--shard-gb", shard)
            exported = tensors_of(to)
            equal = exported.keys() == original.keys() and all(torch.equal(exported[name], original[name]) for name in original)
            print(f"{to.name}: {len(exported)} tensors in {len(list(to.glob('*.safetensors')))} files, {'equal' if equal else 'NOT EQUAL'}")
            failed = failed or not equal
    if failed:
        sys.exit("the imported or the exported model is another one")


def main(path, folder, program=None):
    make_folder(pathlib.Path(path).resolve(), pathlib.Path(folder))
    if program:
        check(pathlib.Path(folder).resolve(), str(pathlib.Path(program).resolve()))


main(*sys.argv[1:])
