"""Writes tests/golden/text/sentencepiece_*: small SentencePiece models of type BPE and what the library makes of hard texts.

    python sentencepiece_golden.py TEXTS...

NAME.model is the model, NAME.cases.json a list of [text, ids, text of the ids, or null where characters are lost]. Texts hold no
control symbol: the library takes these for plain text, and blockzoo, as transformers, for themselves."""

import json
import sys

import sentencepiece
from tokenizer_families import hard_texts
from tokenizers_golden import FOLDER, REAL, known

MODELS = {
    "llama": {"byte_fallback": True},  # Llama 2, Mistral
    "gemma": {"byte_fallback": True, "add_dummy_prefix": False, "user_defined_symbols": ["<start_of_turn>", "\n\n"]},
    "unknown": {"character_coverage": 0.99},
}


def main():
    for name, options in MODELS.items():
        path = FOLDER / f"sentencepiece_{name}"
        sentencepiece.SentencePieceTrainer.train(input=sys.argv[1:], model_prefix=str(path), vocab_size=600, model_type="bpe",
                                                 normalization_rule_name="identity", remove_extra_whitespaces=False,
                                                 max_sentence_length=100000, minloglevel=2, **options)
        path.with_suffix(".vocab").unlink()
        model = sentencepiece.SentencePieceProcessor(model_file=str(path.with_suffix(".model")))
        texts = [*REAL, *hard_texts(7, 20, ["<start_of_turn>", "\n\n", "of the"], known)]
        cases = [[text, model.encode(text), text if options.get("byte_fallback") else None] for text in texts]
        path.with_suffix(".cases.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n")


main()
