"""Writes tests/golden/text/sentencepiece_*: small SentencePiece models and what the library makes of hard texts.

    python sentencepiece_golden.py TEXTS...

NAME.model is the model, NAME.cases.json a list of [text, ids, text of the ids, or null where the library's differs: characters are
lost, or normalised]. Texts hold no control symbol: the library takes these for plain text, and blockzoo, as transformers, for
themselves."""

import json
import sys

import sentencepiece
from tokenizer_families import hard_texts
from tokenizers_golden import FOLDER, REAL, known

KEPT = ["<start_of_turn>", "\n\n"]
# A table of its own, which is smaller than NFKC's: what is written for what, in hexadecimal. A ligature, a letter with its accent in
# either order, a letter before a space, capitals, a letter that vanishes, spaces of other kinds.
RULES = {"fb01": "66 69", "65 301": "e9", "65 301 302": "1ebf", "71 20 72": "51", "41": "61", "54": "74 74", "ad": "", "a": "20",
         "9": "20", "a0": "20", "3000": "20 20", "2026": "2e 2e 2e"}
IDENTITY = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
# Equally good ways to cut but for rounding, which versions 0.1.97 to 0.2.3 decide alike. Behind the row of unknown characters newer
# ones let sums of scores begin anew, at -100,000.
TIES = ["5oooo\n\n\n\ucc08\u9e26", "a\n\n\n\n\nb\n\n\n", "the the thing the ing th", "abababa" * 30]
UNKNOWN = "7" * 6000 + (" shall see an end of him: for my soul, yet I know not why, hates nothing more than he." * 3)
MODELS = {
    "llama": IDENTITY | {"model_type": "bpe", "byte_fallback": True},  # Llama 2, Mistral
    "gemma": IDENTITY | {"model_type": "bpe", "byte_fallback": True, "add_dummy_prefix": False, "user_defined_symbols": KEPT},
    "unknown": IDENTITY | {"model_type": "bpe", "character_coverage": 0.99},
    "bpe_rules": {"model_type": "bpe", "byte_fallback": True, "rules": RULES, "user_defined_symbols": KEPT},
    "t5": {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc"},  # T5, ALBERT, XLM-R
    "unigram_rules": {"model_type": "unigram", "rules": RULES, "character_coverage": 0.99, "user_defined_symbols": KEPT,
                      "remove_extra_whitespaces": False},
    "unigram_bytes": IDENTITY | {"model_type": "unigram", "byte_fallback": True, "user_defined_symbols": ["the", "ing th", *KEPT]},
}


def train(texts, path, vocabulary, rules=None, **options):
    if rules:
        table = path.with_suffix(".tsv")
        table.write_text("".join(f"{found.upper()}\t{written.upper()}\n" for found, written in rules.items()))
        options["normalization_rule_tsv"] = str(table)
    sentencepiece.SentencePieceTrainer.train(**({"input": texts, "model_prefix": str(path), "vocab_size": vocabulary,
                                                 "max_sentence_length": 100000, "minloglevel": 2, "num_threads": 2} | options))
    path.with_suffix(".vocab").unlink()
    path.with_suffix(".tsv").unlink(missing_ok=True)
    return sentencepiece.SentencePieceProcessor(model_file=str(path.with_suffix(".model")))


def nameless(path):
    """Takes the names of the texts out of the model, which are the machine's."""
    from sentencepiece import sentencepiece_model_pb2
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(path.read_bytes())
    model.trainer_spec.ClearField("input")
    model.trainer_spec.ClearField("model_prefix")
    path.write_bytes(model.SerializeToString())


def main():
    for name, options in MODELS.items():
        path = FOLDER / f"sentencepiece_{name}"
        model = train(sys.argv[1:], path, 600, **options)
        nameless(path.with_suffix(".model"))
        exact = options.get("byte_fallback") and options.get("normalization_rule_name") == "identity"
        texts = [*REAL, *hard_texts(7, 20, [*KEPT, "of the"], known)]
        if options["model_type"] == "unigram":
            texts += TIES if exact else [*TIES, UNKNOWN]
        cases = [[text, model.encode(text), text if exact else None] for text in texts]
        path.with_suffix(".cases.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
