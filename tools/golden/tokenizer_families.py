"""Small tokenizers with the patterns, normalisers, added tokens and decoders of published families, trained by `tokenizers`,
and text that is hard to cut. The patterns are those of the families' tokenizer.json files."""

import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
            r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""")
BLOOM = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
MARK = "\u2581"
T5_MODEL = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "text" / "sentencepiece_t5.model"


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(**options):
    return pre_tokenizers.ByteLevel(**({"add_prefix_space": False, "use_regex": False} | options))


def special(*texts):
    return [AddedToken(text, special=True, normalized=False) for text in texts]


def template(tokenizer, first):
    return processors.TemplateProcessing(single=f"{first} $A", pair=f"{first} $A {first} $B",
                                         special_tokens=[(first, tokenizer.token_to_id(first))])


def train_bytes(texts, size, pre_tokenizer, specials, normalizer=None, added=(), **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizer, decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=size, special_tokens=specials, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_tokens(list(added))
    return tokenizer


def train_characters(texts, size, **model):
    """SentencePiece's way: a mark for a space, and bytes for characters that the vocabulary lacks."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True, **model))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    names = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=names, show_progress=False,
                                                             limit_alphabet=80))
    fresh = Tokenizer(tokenizer.model)
    fresh.add_special_tokens(special("<unk>", "<s>", "</s>"))
    return fresh


def gpt2(texts, size):
    tokenizer = train_bytes(texts, size, byte_level(use_regex=True), special("<|endoftext|>"))
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def gpt2_prefix(texts, size):
    """RoBERTa's and OPT's way: a space before each text."""
    return train_bytes(texts, size, byte_level(use_regex=True, add_prefix_space=True), special("<s>", "</s>"))


def llama3(texts, size):
    pre = pre_tokenizers.Sequence([split(LLAMA3), byte_level()])
    tokenizer = train_bytes(texts, size, pre, special("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"), ignore_merges=True)
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False),
                                                    template(tokenizer, "<|begin_of_text|>")])
    return tokenizer


def qwen2(texts, size):
    pre = pre_tokenizers.Sequence([split(QWEN2), byte_level()])
    return train_bytes(texts, size, pre, special("<|endoftext|>", "<|im_start|>", "<|im_end|>"), normalizers.NFC(),
                       [AddedToken("<tool_call>", normalized=False), AddedToken("</tool_call>", normalized=False)])


def smollm2(texts, size):
    pre = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(use_regex=True)])
    return train_bytes(texts, size, pre, special("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>", "<gh_stars>"))


def gpt_neox(texts, size):
    """OLMo 1's too: added tokens that are looked for in the normalised text, longest first."""
    spaces = [AddedToken(" " * count, normalized=True) for count in range(24, 1, -1)]
    return train_bytes(texts, size, byte_level(use_regex=True), special("<|endoftext|>", "<|padding|>"), normalizers.NFC(),
                       [*spaces, AddedToken("|||IP_ADDRESS|||", normalized=False)])


def gpt4o(texts, size):
    """Llama 4's pattern too."""
    return train_bytes(texts, size, pre_tokenizers.Sequence([split(GPT4O), byte_level()]), special("<|endoftext|>"))


def deepseek(texts, size):
    pre = pre_tokenizers.Sequence([split(r"\p{N}{1,3}"), split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"), split(DEEPSEEK),
                                   byte_level()])
    return train_bytes(texts, size, pre, special("<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>"))


def odd_added(texts, size):
    """Added tokens with every switch, some inside others."""
    added = [AddedToken("<mask>", lstrip=True, normalized=False), AddedToken("<end>", rstrip=True, normalized=False),
             AddedToken("<both>", lstrip=True, rstrip=True), AddedToken("word", single_word=True, normalized=False),
             AddedToken("<m", normalized=False), AddedToken("\u00e9t\u00e9", normalized=True)]
    return train_bytes(texts, size, byte_level(use_regex=True), special("<|endoftext|>", "<|end"), normalizers.NFKC(), added)


def splits(texts, size):
    """Every way in which Split treats what it finds."""
    pre = pre_tokenizers.Sequence([split(r"[.,;]", "merged_with_previous"), split(r"[-(]", "merged_with_next"),
                                   split(r"\p{L}", "contiguous"), split(r"[*]+", "removed"), split(r"\w+", "isolated", True),
                                   pre_tokenizers.Split("!?", "isolated"), pre_tokenizers.Digits(), byte_level()])
    return train_bytes(texts, size, pre, special("<|endoftext|>"), normalizers.NFD())


def llama2(texts, size):
    tokenizer = train_characters(texts, size)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    tokenizer.post_processor = template(tokenizer, "<s>")
    tokenizer.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    return tokenizer


def mistral(texts, size):
    tokenizer = train_characters(texts, size, ignore_merges=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    return tokenizer


def gemma(texts, size):
    tokenizer = train_characters(texts, size)
    tokenizer.normalizer = normalizers.Replace(" ", MARK)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def metaspace(texts, size):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>"], show_progress=False,
                                                             limit_alphabet=60))
    return tokenizer


def falcon(texts, size):
    """Steps after ByteLevel, which work on its letters."""
    pre = pre_tokenizers.Sequence([pre_tokenizers.Punctuation("contiguous"), byte_level(use_regex=True), pre_tokenizers.Digits(),
                                   split("[0-9][0-9][0-9]")])
    return train_bytes(texts, size, pre, special("<|endoftext|>", ">>TITLE<<"))


def bloom(texts, size):
    return train_bytes(texts, size, pre_tokenizers.Sequence([split(BLOOM), byte_level()]), special("<unk>", "<s>", "</s>"))


def normalized(texts, size):
    """Normalisers and pre-tokenizers that change or drop text."""
    normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.Lowercase(), normalizers.NFD(), normalizers.StripAccents(),
                                       normalizers.Replace(Regex(r"\s+"), " ")])
    pre = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation(), byte_level()])
    return train_bytes(texts, size, pre, special("<|endoftext|>"), normalizer)


def fields(message):
    """Numbers and contents of a protobuf message's fields."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = message[at], at + 1
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        size = {1: 8, 5: 4}.get(tag & 7) or varint()
        if tag & 7:
            yield tag >> 3, message[at:at + size]
            at += size


def nfkc_table():
    """SentencePiece's table of the rules nmt_nfkc."""
    spec = dict(fields(T5_MODEL.read_bytes()))[3]
    return dict(fields(spec))[2]


def train_unigram(texts, size, normalizer, pre_tokenizer):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = normalizer, pre_tokenizer, decoders.Metaspace()
    lines = [line for text in texts for line in text.splitlines()]
    tokenizer.train_from_iterator(lines, trainers.UnigramTrainer(
        vocab_size=size, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return tokenizer


def t5(texts, size):
    """XLM-R's too."""
    return train_unigram(texts, size, normalizers.Precompiled(nfkc_table()),
                         pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))


def albert(texts, size):
    normalizer = normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                                       normalizers.StripAccents(), normalizers.Lowercase(),
                                       normalizers.Replace(Regex(" {2,}"), " ")])
    return train_unigram(texts, size, normalizer, pre_tokenizers.Metaspace())


FAMILIES = (gpt2, gpt2_prefix, llama3, qwen2, smollm2, gpt_neox, gpt4o, deepseek, odd_added, splits, llama2, mistral, gemma,
            metaspace, falcon, bloom, normalized, t5, albert)


def hard_texts(seed, count, words, known=lambda point: True):
    """Texts of runs that meet in odd places. `words`: special and added tokens to put in, whole and in part; `known`: whether a
    code point may be drawn."""
    draw = random.Random(seed)
    emoji = ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f",
             "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"]
    spaces = [" ", "  ", "\t", "\n", "\r\n", "\r", "\u00a0", "\u3000", "\u2028", "\u0085", "\u180e", "\u200b", "\x1c", "\v\f"]

    def point(low, high):
        while True:
            found = draw.randint(low, high)
            if not 0xD800 <= found <= 0xDFFF and known(found):
                return chr(found)

    def token():
        text = draw.choice(words)
        cut = draw.randint(0, len(text))
        return draw.choice((text, text, text * 2, text[:cut], text[cut:], text[:cut] + text))

    def ascii_run():
        return "".join(point(0, 127) for _ in range(draw.randint(1, 12)))

    def marks():
        return point(0x41, 0x24F) + "".join(point(0x300, 0x36F) for _ in range(draw.randint(1, 6)))

    runs = (lambda: point(0, 0x10FFFF), lambda: point(0x80, 0x2FFF), ascii_run, lambda: draw.choice(emoji), marks, token,
            lambda: draw.choice(spaces) * draw.randint(1, 3), lambda: point(32, 126) * draw.randint(1, 40),
            lambda: str(draw.randint(0, 10**draw.randint(1, 9))), lambda: draw.choice(("'s", "'S", "'\u017f", "'LL", "'ve", "don't")),
            lambda: draw.choice(("the", " and", " of", "When ", "thee,", " lord.\n")), lambda: point(0xAC00, 0xD7A3) + point(0x4E00, 0x9FFF))
    return ["".join(draw.choice(runs)() for _ in range(draw.randint(0, 30))) for _ in range(count)]
