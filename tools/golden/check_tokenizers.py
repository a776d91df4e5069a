"""Holds `blockzoo tokenizer` against Hugging Face's `tokenizers`:

    python check_tokenizers.py PROGRAM [TEXTS...]

TEXTS are files and folders of UTF-8 text; without them the sources of Python's library are read. For a tokenizer of every family in
tokenizer_families.py: ids of the real texts and of generated hard ones equal, and decode to the same text. Bytes that are no UTF-8
come back. Learnt merges equal, and transformers.AutoTokenizer loads what was learnt. SentencePiece models give the library's ids.
transformers loads an export and its tokenizer, and continues a text as blockzoo does. Exit code 77: no `tokenizers` here.

The two programs know different versions of Unicode. Where the classes of code points that patterns use, or the normal forms,
differ, it must be for code points that are unassigned in the older version of the two, or else Python's own tables must side with
blockzoo; generated texts leave these code points out. Nothing else may differ. Punctuation, Whitespace, Lowercase, StripAccents and
Precompiled of `tokenizers` have tables of their own, of further versions: texts for them hold code points of Unicode 3.2 alone."""

import json
import pathlib
import random
import struct
import subprocess
import sys
import sysconfig
import tempfile
import unicodedata

try:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
except ImportError:
    print("skipped: this Python has no tokenizers")
    sys.exit(77)

import tokenizer_families as families
from exported_text import check_exports
from tokenizers_golden import known

CLASSES = ("L", "N", "M", "P", "S", "Z", "Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Han")
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
# Planes 4 to 13 have no character in any version, 15 and 16 private ones alone: some points of each will do.
POINTS = [point for point in (*range(0x40000), *range(0x40000, 0xE0000, 997), *range(0xE0000, 0xE1000), *range(0xF0000, 0x110000, 997))
          if not 0xD800 <= point <= 0xDFFF]
REAL_BYTES = 3_000_000
TABLES_OF_THEIR_OWN = (families.falcon, families.normalized, families.t5, families.albert)
failures = []


def check(what, holds, detail=""):
    print(f"{'ok    ' if holds else 'FAILED'} {what}{'' if holds else ': ' + detail}", flush=True)
    if not holds:
        failures.append(what)


class Ours:
    """The program, with one tokenizer."""

    def __init__(self, program, work, tokenizer=None):
        self.program, self.work = program, work
        self.folder = work / "tokenizer"
        self.folder.mkdir(exist_ok=True)
        if tokenizer:
            tokenizer.save(str(self.folder / "tokenizer.json"))

    def run(self, *arguments):
        done = subprocess.run([self.program, "tokenizer", *map(str, arguments)], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def encode(self, texts):
        """Ids of all texts, given as bytes, each with the end of text behind it; and the text of these ids."""
        files, out = self.work / "files", self.work / "out.tokens"
        files.mkdir()
        for i, text in enumerate(texts):
            (files / f"{i:06}").write_bytes(text)
        self.run("encode", "--tokenizer", self.folder, "--to", out, "--quiet", files)
        data = out.read_bytes()
        decoded = self.run("decode", "--tokenizer", self.folder, out)
        for file in files.iterdir():
            file.unlink()
        files.rmdir()
        out.unlink()
        width = struct.unpack_from("<q", data, 24)[0]
        return list(struct.unpack_from(f"<{(len(data) - 64) // width}{'H' if width == 2 else 'I'}", data, 64)), decoded


def letters(pre_tokenizer, normalizer=None):
    """A tokenizer whose ids are bytes."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizer, decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    return tokenizer


def both(program, work, tokenizer, lines):
    """What the program and `tokenizers` make of lines."""
    lines = [line + "|\n" for line in lines]
    _, ours = Ours(program, work, tokenizer).encode(["".join(lines).encode()])
    parts = ["".join(lines[first:first + 2000]) for first in range(0, len(lines), 2000)]
    theirs = tokenizer.decode_batch([one.ids for one in tokenizer.encode_batch_fast(parts)], skip_special_tokens=False)
    return ours.decode().split("|\n"), "".join(theirs).split("|\n")


def members(program, work, expression):
    """The code points that match, to both."""
    tokenizer = letters(pre_tokenizers.Sequence([families.split(expression, "removed"), families.byte_level()]))
    probed = [point for point in POINTS if point not in (0x0A, 0x7C)]
    lines = both(program, work, tokenizer, [f"<{chr(point)}>" for point in probed])
    return [{point for point, line in zip(probed, side) if chr(point) not in line} for side in lines]


def check_unicode(program, work):
    """The code points on which the two libraries differ."""
    spaces = members(program, work, r"(?![|\n])\s")
    check(f"\\s, {len(spaces[0])} code points", spaces[0] == spaces[1], str(spaces[0] ^ spaces[1]))
    unassigned = members(program, work, r"(?![<>|\n])\p{Cn}")
    unknown = unassigned[0] | unassigned[1]
    differing = unassigned[0] ^ unassigned[1]
    for name in CLASSES:
        ours, theirs = members(program, work, rf"(?![<>|\n])\p{{{name}}}")
        apart = ours ^ theirs
        differing |= apart
        check(f"\\p{{{name}}}, {len(ours)} code points, {len(apart)} apart", apart <= unknown, str(sorted(apart - unknown)[:20]))
    for form in FORMS:
        tokenizer = letters(families.byte_level(), getattr(normalizers, form)())
        lines = {point: f"a\u0301{chr(point)}\u0316b" for point in POINTS if point not in (0x0A, 0x7C)}
        ours, theirs = both(program, work, tokenizer, lines.values())
        apart = {point for point, mine, other in zip(lines, ours, theirs) if mine != other}
        wrong = [point for point, mine in zip(lines, ours) if point in apart and unicodedata.category(chr(point)) != "Cn"
                 and mine != unicodedata.normalize(form, lines[point])]
        differing |= apart
        check(f"{form}, {len(apart)} code points apart, where Python's tables agree with blockzoo", not wrong, str(wrong[:20]))
    return differing


def texts_in(names):
    texts = []
    for name in map(pathlib.Path, names):
        files = [file for file in sorted(name.rglob("*")) if file.is_file() and not file.is_symlink()] if name.is_dir() else [name]
        for file in files:
            try:
                texts.append(file.read_bytes().decode())
            except UnicodeDecodeError:
                print(f"passed over: {file}, which is no UTF-8")
    return texts


def real_texts(names):
    if names:
        return texts_in(names)
    texts, size = [], 0
    for file in sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        texts.append(file.read_bytes().decode("utf-8", "replace"))
        size += len(texts[-1])
        if size > REAL_BYTES:
            break
    return texts


def check_family(program, work, make, texts, differing):
    tokenizer = make(texts[:8], 2000)
    added = tokenizer.get_added_tokens_decoder()
    words = [token.content for token in added.values()] or ["<x>"]
    old = make in TABLES_OF_THEIR_OWN
    hard = families.hard_texts(1, 8000, words, known if old else lambda point: point not in differing)
    if old:
        texts = ["".join(letter for letter in text if letter.isascii() or known(ord(letter))) for text in texts]
    merged = ["".join(hard[i:i + 20]) for i in range(0, len(hard), 20)]
    long = ["", "a" * 200_000, " " * 50_000, "ab" * 50_000, "\u00e9" * 9999, "\r\n" * 9999, "".join(words) * 20]
    inputs = [*texts, *merged, *long]
    ours = Ours(program, work, tokenizer)
    ids, decoded = ours.encode([text.encode() for text in inputs])
    expected = []
    end = [tokenizer.token_to_id(name) for name in ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>")
           if tokenizer.token_to_id(name) is not None][:1]
    for one in tokenizer.encode_batch_fast(inputs, add_special_tokens=False):
        expected += [*one.ids, *end]
    size = sum(len(text.encode()) for text in inputs)
    where = next((i for i, pair in enumerate(zip(ids, expected)) if pair[0] != pair[1]), min(len(ids), len(expected)))
    check(f"{make.__name__}: {len(ids)} ids of {size} bytes", ids == expected,
          f"at {where} {ids[where:where + 5]} and not {expected[where:where + 5]}")
    # tokenizers takes the letters of an added token for bytes; blockzoo gives the token's own text.
    latin = [token.content for token in added.values() if not token.content.isascii() and token.content.isprintable()
             and all(ord(letter) < 0x144 for letter in token.content)]
    if not latin:
        theirs = tokenizer.decode(expected, skip_special_tokens=False)
        check(f"{make.__name__}: text of the ids", decoded.decode("utf-8", "replace") == theirs)


def check_sentencepiece(program, work, texts):
    """The models in tests/golden/text against the Python package: lines and whole texts, with ties. Those of unigram models are decided
    otherwise from version 0.2.2 on, and blockzoo uses Debian's, which are older."""
    try:
        import sentencepiece
    except ImportError:
        print("passed over: SentencePiece models, since this Python has no sentencepiece")
        return
    words = ["<start_of_turn>", "\n\n", "the", "ing th", families.MARK, "q r"]
    lines = [line for text in texts for line in text.splitlines()]
    hard = families.hard_texts(4, 1000, words)
    ties = [piece * count for piece in ("-", "ab", "e", "\n", "the ", "x\n\n\n") for count in (3, 50, 5000)]
    inputs = [*lines[::8], *(text for text in texts if len(text.encode()) < 1 << 20), *hard, "".join(hard), *ties, "", " " * 9999]
    newer = tuple(map(int, sentencepiece.__version__.split(".")[:3])) >= (0, 2, 2)
    for path in sorted((pathlib.Path(__file__).parents[2] / "tests" / "golden" / "text").glob("sentencepiece_*.model")):
        if newer and ("unigram" in path.stem or "t5" in path.stem):
            print(f"passed over: {path.stem}, since sentencepiece {sentencepiece.__version__} is newer than 0.2.1")
            continue
        model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        ours = Ours(program, work)
        for file in ours.folder.iterdir():
            file.unlink()
        (ours.folder / "tokenizer.model").write_bytes(path.read_bytes())
        (ours.folder / "tokenizer_config.json").write_text('{"eos_token": "no such token"}')
        ids, _ = ours.encode([text.encode() for text in inputs])
        expected = [one for text in model.encode(inputs) for one in text]
        where = next((i for i, pair in enumerate(zip(ids, expected)) if pair[0] != pair[1]), min(len(ids), len(expected)))
        check(f"{path.stem}: {len(ids)} ids of {sum(len(text.encode()) for text in inputs)} bytes", ids == expected,
              f"at {where} {ids[where:where + 5]} and not {expected[where:where + 5]}")
        (ours.folder / "tokenizer.model").unlink()
        (ours.folder / "tokenizer_config.json").unlink()


def check_bytes(program, work, texts):
    draw = random.Random(3)
    broken = [bytes(draw.randrange(256) for _ in range(50_000)), b"a\xed\xa0\x80b\xed\xbf\xbf", b"\xc0\xaf \xf5\x80", b"ok\xe2\x82",
              b"".join(bytes([draw.choice((0x20, 0x61, 0xC3, 0xA9, 0xFF, 0x0A))]) for _ in range(50_000))]
    for make in (families.gpt2, families.llama3, families.smollm2, families.deepseek, families.gemma):
        tokenizer = make(texts[:4], 1000)
        ours = Ours(program, work, tokenizer)
        for text in broken:
            if ours.encode([text])[1] not in (text, text + b"<|endoftext|>", text + b"<|end_of_text|>", text + b"</s>"):
                check(f"{make.__name__}: {len(text)} bytes that are no UTF-8 come back", False, repr(text[:40]))
                break
        else:
            check(f"{make.__name__}: bytes that are no UTF-8 come back", True)


def check_training(program, work, texts, differing):
    hard = "".join(families.hard_texts(2, 3000, ["<|endoftext|>", "<|pad|>"], lambda point: point not in differing))
    specials = ["<|endoftext|>", "<|pad|>"]
    corpus = work / "corpus"
    corpus.mkdir()
    for i, text in enumerate([*texts, hard]):
        (corpus / f"{i:06}").write_bytes(text.encode())
    parts = [part for text in [*texts, hard] for piece in text.split(specials[0]) for part in piece.split(specials[1])]
    for pattern, size, pre in (("gpt2", 10000, families.byte_level(use_regex=True)),
                               ("llama3", 3000, pre_tokenizers.Sequence([families.split(families.LLAMA3), families.byte_level()])),
                               ("qwen2", 1000, pre_tokenizers.Sequence([families.split(families.QWEN2), families.byte_level()]))):
        folder = work / f"learnt_{pattern}"
        done = subprocess.run([program, "tokenizer", "train", "--vocab", str(size), "--pattern", pattern, "--to", str(folder), "--quiet",
                               "--special", specials[0], "--special", specials[1], str(corpus)], capture_output=True)
        check(f"training, {pattern}", done.returncode == 0, done.stderr.decode())
        learnt = json.loads((folder / "tokenizer.json").read_text())["model"]
        tokenizer = families.train_bytes(parts, size, pre, families.special(*specials))
        model = json.loads(tokenizer.to_str())["model"]
        check(f"training, {pattern}: {len(model['merges'])} merges in order", learnt["merges"] == model["merges"])
        check(f"training, {pattern}: vocabulary", learnt["vocab"] == model["vocab"])
        try:
            from transformers import AutoTokenizer
        except ImportError:
            continue
        loaded = AutoTokenizer.from_pretrained(folder)
        text = texts[0][:20000] + specials[0] + hard[:20000]
        check(f"training, {pattern}: AutoTokenizer loads it", loaded.eos_token == specials[0] and
              loaded(text, add_special_tokens=False).input_ids == tokenizer.encode(text, add_special_tokens=False).ids)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    texts = real_texts(sys.argv[2:])
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        differing = check_unicode(program, work)
        texts = ["".join(letter for letter in text if letter.isascii() or ord(letter) not in differing) for text in texts]
        for make in families.FAMILIES:
            check_family(program, work, make, texts, differing)
        check_bytes(program, work, texts)
        check_sentencepiece(program, work, texts)
        check_training(program, work, texts, differing)
        check_exports(program, work, check)
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
