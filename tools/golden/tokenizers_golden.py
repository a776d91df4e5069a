"""Writes tests/golden/text: small tokenizers of every family and what `tokenizers` makes of hard texts with them.

    python tokenizers_golden.py TEXTS...

TEXTS are files of English to train on; those in the repository come from three plays of Shakespeare. FAMILY.json is the
tokenizer, FAMILY.cases.json a list of [text, ids, text of the ids]; train.json holds texts, and the vocabulary and merges that
are learnt from them. Texts hold only code points that every library knows: those of Unicode 3.2, and emoji."""

import json
import pathlib
import sys
import unicodedata

from tokenizer_families import FAMILIES, byte_level, hard_texts, special, train_bytes

FOLDER = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "text"
REAL = ["", " ", "\n", "'Tis the  season;\tisn't IT?\r\n\r\nWe'LL see 12345 things, 3.14!", "a" * 300, " " * 70, "ab" * 90,
        "caf\u00e9 cafe\u0301 \ufb01ne \u212b", "\u4f60\u597d\uff0c\u4e16\u754c\u3002 \u3053\u3093\u306b\u3061\u306f",
        "\u0417\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439, \u043c\u0438\u0440", "def f(x):\n    return x**2  # \u03c0\n"]


def known(point):
    return unicodedata.ucd_3_2_0.category(chr(point)) != "Cn"


def write(name, value):
    (FOLDER / name).write_text(json.dumps(value, separators=(",", ":")) + "\n")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = [pathlib.Path(name).read_text() for name in sys.argv[1:]]
    for make in FAMILIES:
        tokenizer = make(texts, 600)
        name = make.__name__
        (FOLDER / f"{name}.json").write_text(tokenizer.to_str() + "\n")
        words = [token.content for token in tokenizer.get_added_tokens_decoder().values()] or ["<x>"]
        cases = []
        for text in [*REAL, *hard_texts(7, 20, words, known)]:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            cases.append([text, ids, tokenizer.decode(ids, skip_special_tokens=False)])
        write(f"{name}.cases.json", cases)
    learnt_from = ["low low low lower lower newest newest newest widest the then there ", "a" * 40 + "\n" + "abab" * 9 + "\n",
                   "\u00e9t\u00e9 \u00e9t\u00e9 na\u00efve\r\n\r\n  x  y  12 1234 12", texts[0][:3000]]
    learnt = train_bytes(learnt_from, 420, byte_level(use_regex=True), special("<|endoftext|>", "<|pad|>"))
    model = json.loads(learnt.to_str())["model"]
    write("train.json", {"texts": learnt_from, "vocab": model["vocab"], "merges": model["merges"]})


if __name__ == "__main__":
    main()
