"""A model that blockzoo trained, in plain PyTorch: every kind of norm, position, attention, feed-forward layer and layout that
blockzoo builds, under blockzoo's own parameter names. `config.blockzoo` is the model's config, with every default written out.

    model = transformers.AutoModelForCausalLM.from_pretrained(FOLDER, trust_remote_code=True)

There is no key-value cache: generation computes the whole prefix for every token. Padding is not supported."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput


class BlockzooConfig(PretrainedConfig):
    model_type = "blockzoo"

    def __init__(self, blockzoo=None, **kwargs):
        self.blockzoo = blockzoo or {}
        super().__init__(**kwargs)


def wide(x):
    """x in float32 or wider."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


class Norm(nn.Module):
    """Over the last dimension; gains have the given shape, single numbers one for each leading index."""

    def __init__(self, config, shape):
        super().__init__()
        self.config, self.kind = config, config["kind"]
        ones = (*shape[:-1], 1)
        if self.kind == "scale_norm":
            self.gain = nn.Parameter(torch.full(ones, math.sqrt(shape[-1])))
        elif self.kind == "dynamic_tanh":
            self.alpha = nn.Parameter(torch.full(ones, float(config["alpha"])))
            self.gain = nn.Parameter(torch.ones(shape))
            if config["bias"]:
                self.bias = nn.Parameter(torch.zeros(shape))
        elif self.kind in ("rms_norm", "layer_norm"):
            if config["gain"]:
                self.gain = nn.Parameter(torch.full(shape, 0.0 if config["unit_offset"] else 1.0))
            if config.get("bias", False):
                self.bias = nn.Parameter(torch.zeros(shape))

    def forward(self, x):
        if self.kind == "none":
            return x
        y, eps = wide(x), self.config.get("eps")
        if self.kind == "dynamic_tanh":
            y = torch.tanh(y * self.alpha) * self.gain
        elif self.kind == "scale_norm":
            y = y * (self.gain / y.square().sum(-1, keepdim=True).clamp_min(eps * eps).sqrt())
        else:
            if self.kind == "layer_norm":
                y = F.layer_norm(y, y.shape[-1:], eps=eps)
            else:
                y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + eps)
            if hasattr(self, "gain"):
                y = y * (self.gain + 1 if self.config["unit_offset"] else self.gain)
        if hasattr(self, "bias"):
            y = y + self.bias
        return y.to(x.dtype)


ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "relu_squared": lambda x: F.relu(x).square(),
    "elu": F.elu,
    "selu": F.selu,
    "sigmoid": torch.sigmoid,
    "identity": lambda x: x,
}


class FeedForward(nn.Module):
    def __init__(self, config, width):
        super().__init__()
        self.activation = ACTIVATIONS[config["activation"]]
        if config["kind"] == "glu":
            self.gate = nn.Linear(width, config["hidden"], bias=config["bias"])
        self.up = nn.Linear(width, config["hidden"], bias=config["bias"])
        self.down = nn.Linear(config["hidden"], width, bias=config["bias"])

    def forward(self, x):
        if hasattr(self, "gate"):
            return self.down(self.activation(self.gate(x)) * self.up(x))
        return self.down(self.activation(self.up(x)))


def frequencies(config, channels):
    """Radians a position for each pair of channels, and the factor of cos and sin."""
    theta, scaling = config["theta"], config["scaling"]
    radians = [theta ** (-2 * i / channels) for i in range(channels // 2)]
    magnitude, factor = 1.0, scaling.get("factor", 1.0)
    if scaling["kind"] == "linear":
        radians = [r / factor for r in radians]
    elif scaling["kind"] == "llama3":
        low, high = scaling["low_frequency_factor"], scaling["high_frequency_factor"]
        kept = [min(max((scaling["original_context"] * r / (2 * math.pi) - low) / (high - low), 0.0), 1.0) for r in radians]
        radians = [k * r + (1 - k) * r / factor for k, r in zip(kept, radians)]
    elif scaling["kind"] == "yarn":

        def pair_of(turns):
            return channels * math.log(scaling["original_context"] / (turns * 2 * math.pi)) / (2 * math.log(theta))

        low = max(math.floor(pair_of(scaling["beta_fast"])), 0)
        high = min(math.ceil(pair_of(scaling["beta_slow"])), channels - 1)
        high = high + 0.001 if high == low else high
        divided = [min(max((i - low) / (high - low), 0.0), 1.0) for i in range(channels // 2)]
        radians = [r * ((1 - d) + d / factor) for d, r in zip(divided, radians)]
        given = scaling["attention_factor"]
        magnitude = (0.1 * math.log(factor) + 1 if factor > 1 else 1.0) if given == "auto" else given
    turning = round((1 - config["still_fraction"]) * (channels // 2))
    return radians[:turning] + [0.0] * (channels // 2 - turning), magnitude


class Position(nn.Module):
    """Acts on the embedding, on queries and keys, or on the scores, as its kind says."""

    def __init__(self, config, heads, head_width, width, context):
        super().__init__()
        self.config, self.kind, self.heads = config, config["kind"], heads
        if self.kind == "learned":
            self.table = nn.Embedding(config["unused_rows"] + context, width)
        elif self.kind == "relative_bias":
            self.table = nn.Embedding(config["buckets"], heads)
        elif self.kind == "transformer_xl":
            self.projection = nn.Linear(width, heads * head_width, bias=False)
            if config["biases"]:
                self.content_bias = nn.Embedding(heads, head_width)
                self.position_bias = nn.Embedding(heads, head_width)

    def embed(self, x):
        length, width = x.shape[1], x.shape[2]
        if self.kind == "learned":
            return x + self.table.weight[self.config["unused_rows"] :][:length]
        if self.kind == "sinusoidal":
            even = torch.arange(0, width, 2, dtype=torch.float64, device=x.device)
            at = torch.arange(length, dtype=torch.float64, device=x.device).unsqueeze(1)
            angles = at * self.config["theta"] ** (-even / width)
            waves = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :width]
            return x + waves.to(torch.float32).to(x.dtype)
        return x

    def rotate(self, x):
        """x [B, T, heads, channels]"""
        if self.kind != "rope":
            return x
        channels = round(self.config["rotary_fraction"] * x.shape[-1])
        radians, magnitude = frequencies(self.config, channels)
        at = torch.arange(x.shape[1], dtype=torch.float64, device=x.device).view(-1, 1, 1)
        angles = at * torch.tensor(radians, dtype=torch.float64, device=x.device)
        cosine, sine = (angles.cos() * magnitude).float(), (angles.sin() * magnitude).float()
        half = self.config["pairing"] == "half"
        pairs = x[..., :channels].unflatten(-1, (2, -1) if half else (-1, 2))
        dim = -2 if half else -1
        a, b = pairs.select(dim, 0), pairs.select(dim, 1)
        turned = torch.stack([a * cosine - b * sine, a * sine + b * cosine], dim).flatten(-2).to(x.dtype)
        return torch.cat([turned, x[..., channels:]], -1)

    def with_bias(self, q, name):
        return (q + getattr(self, name).weight).to(q.dtype) if hasattr(self, name) else q

    def relative_scores(self, q):
        """q [B, T, H, K] -> [B, H, T, T], before the factor of the scores."""
        weight, length = self.projection.weight, q.shape[1]
        even = torch.arange(0, weight.shape[1], 2, dtype=torch.float64, device=q.device)
        at = torch.arange(length, device=q.device)
        angles = at.double().unsqueeze(1) * self.config["theta"] ** (-even / weight.shape[1])
        waves = torch.cat([angles.sin(), angles.cos()], 1)[:, : weight.shape[1]].float().to(weight.dtype)
        r = F.linear(waves, weight).unflatten(-1, (self.heads, -1))
        by_distance = self.with_bias(q, "position_bias").transpose(1, 2) @ r.permute(1, 2, 0)
        return by_distance.gather(-1, (at.unsqueeze(1) - at).clamp_min(0).expand(by_distance.shape))

    def added_scores(self, q, scale):
        """All that is added to the scores, or None."""
        return self.relative_scores(q) * scale if self.kind == "transformer_xl" else self.bias(q.shape[1], q.device)

    def bias(self, length, device):
        """[H, T, T], or None"""
        at = torch.arange(length, device=device)
        distance = at.unsqueeze(1) - at
        if self.kind == "alibi":
            power = 2 ** math.floor(math.log2(self.heads))
            slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
            slopes += [2 ** (-8 * (2 * h + 1) / (2 * power)) for h in range(self.heads - power)]
            return -torch.tensor(slopes, device=device).view(-1, 1, 1) * distance
        if self.kind == "relative_bias":
            exact, buckets = self.config["buckets"] // 2, self.config["buckets"]
            share = torch.log(distance.double().clamp_min(exact) / exact) / math.log(self.config["max_distance"] / exact)
            shared = (exact + torch.floor(share * (buckets - exact) + 1e-9)).clamp_max(buckets - 1).long()
            bucket = torch.where(distance < exact, distance.clamp_min(0), shared)
            return self.table.weight[bucket].permute(2, 0, 1)
        return None


class HeadNorm(Norm):
    """Norm of queries or keys, [B, T, heads, K]."""

    def __init__(self, config, heads, width):
        shape = {"head": (width,), "head_own": (heads, width), "full": (heads * width,), "none": (width,)}[config["kind"]]
        super().__init__(config.get("norm", {"kind": "none"}), shape)
        self.over_all_heads = config["kind"] == "full"

    def forward(self, x):
        return super().forward(x.flatten(-2)).view(x.shape) if self.over_all_heads else super().forward(x)


class Attention(nn.Module):
    def __init__(self, config, width):
        super().__init__()
        self.config, self.heads, self.latent = config, config["heads"], config["kind"] == "latent"
        self.own = not config["reuse_keys_values"]
        if self.latent:
            still, rotary, value = (config[key] for key in ("nope_width", "rope_width", "value_width"))
            self.parts, latent = (still, rotary, value), config["key_value_rank"]
            if config["query_rank"]:
                self.query_down = nn.Linear(width, config["query_rank"], bias=False)
                self.query_norm = Norm(config["latent_norm"], (config["query_rank"],))
                self.query_up = nn.Linear(config["query_rank"], self.heads * (still + rotary), bias=False)
            else:
                self.query = nn.Linear(width, self.heads * (still + rotary), bias=False)
            if self.own:
                self.key_value_down = nn.Linear(width, latent + rotary, bias=False)
                self.key_value_norm = Norm(config["latent_norm"], (latent,))
                self.key_value_up = nn.Linear(latent, self.heads * (still + value), bias=False)
                self.value_norm = Norm(config["value_norm"], (value,))
            self.output = nn.Linear(self.heads * value, width, bias=config["output_bias"])
        else:
            groups, head = config["kv_heads"], config["head_width"]
            self.query = nn.Linear(width, self.heads * head, bias=config["query_bias"])
            self.output = nn.Linear(self.heads * head, width, bias=config["output_bias"])
            self.query_norm = HeadNorm(config["qk_norm"], self.heads, head)
            if self.own:
                self.key = nn.Linear(width, groups * head, bias=config["key_bias"])
                self.key_norm = HeadNorm(config["qk_norm"], groups, head)
                self.value_norm = Norm(config["value_norm"], (head,))
            if self.own and not config["keys_as_values"]:
                self.value = nn.Linear(width, groups * head, bias=config["value_bias"])

    def queries(self, x, position):
        """Queries, and those of their channels that the position encoding acts on."""
        if not self.latent:
            q = position.rotate(self.query_norm(self.query(x).unflatten(-1, (self.heads, -1))))
            return position.with_bias(q, "content_bias"), q
        still = self.parts[0]
        q = self.query(x) if hasattr(self, "query") else self.query_up(self.query_norm(self.query_down(x)))
        q = q.unflatten(-1, (self.heads, -1))
        turned = position.rotate(q[..., still:])
        return torch.cat([q[..., :still], position.with_bias(turned, "content_bias")], -1), turned

    def keys_values(self, x, position):
        if not self.latent:
            k = self.key(x).unflatten(-1, (-1, self.config["head_width"]))
            v = self.value(x).unflatten(-1, k.shape[-2:]) if hasattr(self, "value") else k
            return position.rotate(self.key_norm(k)), self.value_norm(v)
        still, rotary, value = self.parts
        down = self.key_value_down(x)
        up = self.key_value_up(self.key_value_norm(down[..., :-rotary])).unflatten(-1, (self.heads, still + value))
        shared = position.rotate(down[..., -rotary:].unsqueeze(2)).to(up.dtype)
        k = torch.cat([up[..., :still], shared.expand(-1, -1, self.heads, -1)], -1)
        return k, self.value_norm(up[..., still:])

    def forward(self, x, position, reused):
        """The output, and the keys and values that it comes from: its own, or `reused`, an earlier layer's."""
        q, turned = self.queries(x, position)
        kept = self.keys_values(x, position) if self.own else reused
        q, k, v = (part.transpose(1, 2) for part in (q, *kept))  # [B, heads, T, width]
        shared, length = q.shape[1] // k.shape[1], q.shape[2]
        k, v = k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1)
        scores = wide((q * self.config["scale"]) @ k.transpose(-2, -1))
        if self.config["softcap"] > 0:
            scores = torch.tanh(scores / self.config["softcap"]) * self.config["softcap"]
        bias = position.added_scores(turned, self.config["scale"])
        if bias is not None:
            scores = scores + bias
        seen = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        if self.config["window"] > 0:
            seen = seen.triu(1 - self.config["window"])
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), -1)
        weights = F.dropout(weights, self.config["dropout"], self.training).to(v.dtype)
        return self.output((weights @ v).transpose(1, 2).flatten(-2)), kept


NORMS = {
    "pre_norm": ("attention_norm", "ffn_norm"),
    "post_norm": ("attention_norm", "ffn_norm"),
    "double_norm": ("attention_norm", "attention_output_norm", "ffn_norm", "ffn_output_norm"),
    "output_norm": ("attention_output_norm", "ffn_output_norm"),
    "parallel": ("norm",),
    "parallel_two_norms": ("attention_norm", "ffn_norm"),
}


class LayerEmbedding(nn.Module):
    """What every layer has of its own of each token: [B, T, L, P]."""

    def __init__(self, model):
        super().__init__()
        self.sizes = model["layers"], model["layer_embedding_width"]
        self.table = nn.Embedding(model["vocabulary"], self.sizes[0] * self.sizes[1])
        self.projection = nn.Linear(model["width"], self.sizes[0] * self.sizes[1], bias=False)
        self.norm = Norm(model["block"]["norm"], self.sizes[1:])

    def forward(self, ids, x):
        stream = (self.projection(x) / math.sqrt(x.shape[-1])).unflatten(-1, self.sizes)
        token = (self.table(ids) * math.sqrt(self.sizes[1])).unflatten(-1, self.sizes)
        return (self.norm(stream) + token) / math.sqrt(2)


class LayerInput(nn.Module):
    """What a layer adds to its output from its own embedding of the tokens."""

    def __init__(self, config, width, own_width):
        super().__init__()
        self.activation = ACTIVATIONS[config["ffn"]["activation"]]
        self.gate = nn.Linear(width, own_width, bias=False)
        self.output = nn.Linear(own_width, width, bias=False)
        self.norm = Norm(config["norm"], (width,))

    def forward(self, y, p):
        return self.norm(self.output(self.activation(self.gate(y)) * p))


class Block(nn.Module):
    def __init__(self, config, width, layer_embedding_width):
        super().__init__()
        self.config, self.layout = config, config["layout"]["kind"]
        for name in NORMS[self.layout]:
            setattr(self, name, Norm(config["norm"], (width,)))
        self.attention = Attention(config["attention"], width)
        self.ffn = FeedForward(config["ffn"], width)
        if layer_embedding_width:
            self.layer_input = LayerInput(config, width, layer_embedding_width)
        if config["output_factor"]:
            self.output_factor = nn.Parameter(torch.ones(1))

    def branch(self, y):
        return F.dropout(y, self.config["dropout"], self.training) * self.config["residual_scale"]

    def forward(self, x, position, reused, own):
        """The layer's output, and its keys and values. `own` is the layer's own embedding of the tokens, or None."""
        kept = None

        def attention(x):
            nonlocal kept
            y, kept = self.attention(x, position, reused)
            return y

        y = self.sublayers(x, attention)
        if own is not None:
            y = y + self.branch(self.layer_input(y, own))
        return (y * self.output_factor).to(y.dtype) if self.config["output_factor"] else y, kept

    def sublayers(self, x, attention):
        if self.layout == "parallel":
            n = self.norm(x)
            return x + self.branch(attention(n)) + self.branch(self.ffn(n))
        if self.layout == "parallel_two_norms":
            return x + self.branch(attention(self.attention_norm(x))) + self.branch(self.ffn(self.ffn_norm(x)))
        if self.layout == "pre_norm":
            h = x + self.branch(attention(self.attention_norm(x)))
            return h + self.branch(self.ffn(self.ffn_norm(h)))
        if self.layout == "post_norm":
            h = self.attention_norm(x + self.branch(attention(x)))
            return self.ffn_norm(h + self.branch(self.ffn(h)))
        if self.layout == "double_norm":
            h = x + self.branch(self.attention_output_norm(attention(self.attention_norm(x))))
            return h + self.branch(self.ffn_output_norm(self.ffn(self.ffn_norm(h))))
        h = x + self.branch(self.attention_output_norm(attention(x)))  # output_norm
        return h + self.branch(self.ffn_output_norm(self.ffn(h)))


def layers_of(model):
    """One block config for each layer."""
    layers = [dict(model["block"]) for _ in range(model["layers"])]
    for override in model["overrides"]:
        for layer in override["layers"]:
            layers[layer] = {**layers[layer], **override["block"]}
    return layers


def sources_of(layers):
    """For each layer the one whose keys and values it reuses: the last before it that has its own, of equal attention and position."""
    last, sources = [], []
    for number, layer in enumerate(layers):
        needs = {**layer["attention"], "reuse_keys_values": False}, layer["position"]
        known = next((entry for entry in last if entry[0] == needs), None)
        reuses = layer["attention"]["reuse_keys_values"]
        sources.append(known[1] if reuses else None)
        if not reuses:
            last = [entry for entry in last if entry is not known] + [(needs, number)]
    return sources


def position_needs(block):
    attention = block["attention"]
    width = attention["rope_width" if attention["kind"] == "latent" else "head_width"]
    return block["position"], attention["heads"], width


def factor(scale, width):
    return {"none": 1.0, "constant": scale.get("value"), "sqrt_width": width**0.5, "inverse_sqrt_width": width**-0.5}[scale["kind"]]


class BlockzooForCausalLM(PreTrainedModel, GenerationMixin):
    config_class = BlockzooConfig
    base_model_prefix = ""
    _no_split_modules = ["Block"]

    def __init__(self, config):
        super().__init__(config)
        model = self.model_config = config.blockzoo
        width, table = model["width"], model["embedding_width"]
        self.embedding = nn.Embedding(model["vocabulary"], table)
        if table != width:
            self.embedding_projection = nn.Linear(table, width, bias=False)
        self.embedding_norm = Norm(model["embedding_norm"], (width,))
        layers = layers_of(model)
        base = position_needs(model["block"])
        on_embedding = base[0]["kind"] in ("learned", "sinusoidal")
        pool = []  # needs, and the name of the module; layers of equal needs share one, but for weights of each layer
        of_each_layer = base[0]["kind"] == "transformer_xl"
        if on_embedding or not of_each_layer and any(position_needs(layer) == base for layer in layers):
            pool.append((base, "position"))
        self.position_names = []
        for number, layer in enumerate(layers):
            needs = position_needs(layer)
            if needs[0]["kind"] == "transformer_xl" or all(needs != known for known, _ in pool):
                pool.append((needs, f"position_{number}"))
            self.position_names.append(next(name for known, name in reversed(pool) if known == needs))
        for needs, name in pool:
            setattr(self, name, Position(*needs, width, model["context"]))
        self.embedding_position = "position" if on_embedding else None
        own_width = model["layer_embedding_width"]
        if own_width:
            self.layer_embedding = LayerEmbedding(model)
        self.sources = sources_of(layers)
        self.blocks = nn.ModuleList(Block(layer, width, own_width) for layer in layers)
        self.final_norm = Norm(model["final_norm"], (width,))
        if table != width:
            self.head_projection = nn.Linear(width, table, bias=False)
        if not model["tied"]:
            self.head = nn.Linear(table, model["vocabulary"], bias=False)
        if model["head_bias"]:
            self.head_bias = nn.Parameter(torch.zeros(model["vocabulary"]))
        self.post_init()

    def get_input_embeddings(self):
        return self.embedding

    def get_output_embeddings(self):
        return None  # a tied head is the token table itself

    def _init_weights(self, module):
        pass  # weights are read, not drawn

    def prepare_inputs_for_generation(self, input_ids, attention_mask=None, **kwargs):
        return {"input_ids": input_ids[:, -self.model_config["context"] :], "attention_mask": None}

    def forward(self, input_ids, attention_mask=None, labels=None, **kwargs):
        model = self.model_config
        if attention_mask is not None and not bool(attention_mask.all()):
            raise ValueError("this model does not support padding; give sequences of one length")
        if input_ids.shape[1] > model["context"]:
            raise ValueError(f"{input_ids.shape[1]} tokens are more than the context, {model['context']}")
        x = self.embedding(input_ids) * factor(model["embedding_scale"], model["width"])
        if hasattr(self, "embedding_projection"):
            x = self.embedding_projection(x)
        if self.embedding_position:
            x = getattr(self, self.embedding_position).embed(x)
        x = F.dropout(self.embedding_norm(x), model["embedding_dropout"], self.training)
        own = self.layer_embedding(input_ids, x) if model["layer_embedding_width"] else None
        kept = []  # keys and values of each layer
        for number, block in enumerate(self.blocks):
            source = self.sources[number]
            x, keys_values = block(
                x,
                getattr(self, self.position_names[number]),
                None if source is None else kept[source],
                None if own is None else own[:, :, number],
            )
            kept.append(keys_values)
        x = self.final_norm(x)
        if hasattr(self, "head_projection"):
            x = self.head_projection(x)
        head = self.embedding if model["tied"] else self.head
        logits = F.linear(x, head.weight, self.head_bias if model["head_bias"] else None)
        logits = logits * factor(model["logit_scale"], model["width"])
        if model["final_softcap"] > 0:
            logits = torch.tanh(logits / model["final_softcap"]) * model["final_softcap"]
        loss = None
        if labels is not None:
            loss = F.cross_entropy(wide(logits[:, :-1]).flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
        return CausalLMOutput(loss=loss, logits=logits)
