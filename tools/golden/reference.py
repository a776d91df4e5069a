"""The blocks as their papers write them, in PyTorch and float64. Nothing here calls the C++ code."""

import math

import torch
import torch.nn.functional as F

RMS = {"kind": "rms_norm"}


def norm(config, w, x, shape):
    kind = config["kind"]
    if kind == "none":
        return x
    if kind in ("rms_norm", "layer_norm"):
        eps = config.get("eps", 1e-6 if kind == "rms_norm" else 1e-5)
        if kind == "rms_norm":
            y = x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
        else:
            centred = x - x.mean(-1, keepdim=True)
            y = centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + eps)
        if config.get("gain", True):
            y = y * (w("gain", *shape) + (1 if config.get("unit_offset") else 0))
        if kind == "layer_norm" and config.get("bias", True):
            y = y + w("bias", *shape)
        return y
    one_each = (*shape[:-1], 1)
    if kind == "scale_norm":
        return (
            w("gain", *one_each)
            * x
            / torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp(min=config.get("eps", 1e-5))
        )
    y = torch.tanh(w("alpha", *one_each) * x) * w("gain", *shape)
    return y + w("bias", *shape) if config.get("bias", True) else y


ACTIVATIONS = {
    "relu": torch.nn.ReLU(),
    "gelu": torch.nn.GELU(),
    "gelu_tanh": torch.nn.GELU("tanh"),
    "silu": torch.nn.SiLU(),
    "relu_squared": lambda x: torch.where(x > 0, x * x, 0 * x),
    "elu": torch.nn.ELU(),
    "selu": torch.nn.SELU(),
    "sigmoid": torch.nn.Sigmoid(),
    "identity": torch.nn.Identity(),
}


def linear(w, name, x, out, bias=False):
    return F.linear(x, w(name + ".weight", out, x.shape[-1]), w(name + ".bias", out) if bias else None)


def ffn(config, w, x):
    d, hidden, bias = x.shape[-1], config["hidden"], config.get("bias", False)
    f = ACTIVATIONS[config.get("activation", "gelu" if config["kind"] == "mlp" else "silu")]
    if config["kind"] == "mlp":
        return linear(w, "down", f(linear(w, "up", x, hidden, bias)), d, bias)
    return linear(w, "down", f(linear(w, "gate", x, hidden, bias)) * linear(w, "up", x, hidden, bias), d, bias)


def rope_frequencies(config, width):
    """Radians a position for each pair, and the factor of cos and sin."""
    theta, scaling = config.get("theta", 10000.0), config.get("scaling", {"kind": "none"})
    base = torch.tensor([theta ** (-2 * i / width) for i in range(width // 2)])
    kind = scaling["kind"]
    if kind == "linear":
        return base / scaling["factor"], 1.0
    if kind == "llama3":
        low, high, old = scaling["low_frequency_factor"], scaling["high_frequency_factor"], scaling["original_context"]
        out = []
        for f in base.tolist():
            wavelength = 2 * math.pi / f
            if wavelength < old / high:
                out.append(f)
            elif wavelength > old / low:
                out.append(f / scaling["factor"])
            else:
                smooth = (old / wavelength - low) / (high - low)
                out.append((1 - smooth) * f / scaling["factor"] + smooth * f)
        return torch.tensor(out), 1.0
    if kind == "yarn":
        old, factor = scaling["original_context"], scaling["factor"]

        def dimension(turns):
            return width * math.log(old / (turns * 2 * math.pi)) / (2 * math.log(theta))

        low = max(math.floor(dimension(scaling.get("beta_fast", 32))), 0)
        high = min(math.ceil(dimension(scaling.get("beta_slow", 1))), width - 1)
        ramp = ((torch.arange(width // 2) - low) / (high - low or 0.001)).clamp(0, 1)
        auto = 0.1 * math.log(factor) + 1 if factor > 1 else 1.0
        return base / factor * ramp + base * (1 - ramp), scaling.get("attention_factor", auto)
    return base, 1.0


def t5_bucket(distance, buckets, longest):
    exact = buckets // 2
    if distance < exact:
        return distance
    return min(buckets - 1, exact + int(math.log(distance / exact) / math.log(longest / exact) * (buckets - exact)))


def alibi_slopes(heads):
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    return slopes + [2 ** (-8 * (2 * h + 1) / (2 * power)) for h in range(heads - power)]


class Position:
    """config's places of action; w makes its parameters. `width` is the model's, for Transformer-XL."""

    def __init__(self, config, w, context, heads, width=None):
        self.config, self.w, self.context, self.heads, self.width = config, w, context, heads, width

    def embed(self, x, first=0):
        t, d = x.shape[1], x.shape[2]
        if self.config["kind"] == "learned":
            unused = self.config.get("unused_rows", 0)
            return x + self.w("table.weight", unused + self.context, d)[unused + first : unused + first + t]
        if self.config["kind"] == "sinusoidal":
            theta = self.config.get("theta", 10000.0)
            table = torch.zeros(t, d)
            for row in range(t):
                for channel in range(d):
                    angle = (first + row) / theta ** ((channel - channel % 2) / d)
                    table[row, channel] = math.cos(angle) if channel % 2 else math.sin(angle)
            return x + table.float().double()  # tables are kept in float32
        return x

    def rotate(self, x, first=0):
        if self.config["kind"] != "rope":
            return x
        rotary = round(x.shape[-1] * self.config.get("rotary_fraction", 1))
        radians, magnitude = rope_frequencies(self.config, rotary)
        still = round(rotary // 2 * self.config.get("still_fraction", 0))
        out = x.clone()
        for i in range(rotary // 2):
            a, b = (2 * i, 2 * i + 1) if self.config.get("pairing") == "interleaved" else (i, i + rotary // 2)
            angle = torch.arange(first, first + x.shape[1]) * (0 if i >= rotary // 2 - still else radians[i])
            cos, sin = ((f(angle) * magnitude).float().double().view(1, -1, 1) for f in (torch.cos, torch.sin))
            out[..., a] = x[..., a] * cos - x[..., b] * sin
            out[..., b] = x[..., b] * cos + x[..., a] * sin
        return out

    def bias(self, first, queries, keys):
        """[H, T, S]"""
        distance = [[first + i - j for j in range(keys)] for i in range(queries)]
        if self.config["kind"] == "alibi":
            slopes = torch.tensor(alibi_slopes(self.heads)).float()
            return torch.stack([-slope * torch.tensor(distance).float() for slope in slopes]).double()
        if self.config["kind"] == "relative_bias":
            buckets, longest = self.config.get("buckets", 32), self.config.get("max_distance", 128)
            rows = torch.tensor([[t5_bucket(max(d, 0), buckets, longest) for d in row] for row in distance])
            return self.w("table.weight", buckets, self.heads)[rows].permute(2, 0, 1)
        return torch.zeros(self.heads, queries, keys)

    def shifted(self, q, name):
        """Queries [B, T, H, K] and the bias of Transformer-XL that has this name."""
        if self.config["kind"] != "transformer_xl" or not self.config.get("biases", True):
            return q
        return q + self.w(name + ".weight", *q.shape[2:])

    def relative(self, q, first, keys):
        """[B, H, T, S], one query and one key at a time: (q + v) times the projected sinusoids of their distance."""
        (b, t, heads, width), d, theta = q.shape, self.width, self.config.get("theta", 10000.0)
        projection, q = self.w("projection.weight", heads * width, d), self.shifted(q, "position_bias")
        rates = torch.tensor([theta ** (-2 * n / d) for n in range((d + 1) // 2)])
        rows = []
        for i in range(t):
            for j in range(keys):
                angles = (first + i - j) * rates
                wave = torch.cat([torch.sin(angles), torch.cos(angles)])[:d].float().double()
                r = (projection @ wave).view(heads, width)
                rows.append((q[:, i] * r).sum(-1) if j <= first + i else torch.zeros(b, heads))
        return torch.stack(rows, -1).view(b, heads, t, keys)

    def added(self, q, scale):
        """All that is added to the scores: [B, H, T, T]."""
        b, t = q.shape[:2]
        if self.config["kind"] == "transformer_xl":
            return scale * self.relative(q, 0, t)
        return self.bias(0, t, t).expand(b, -1, -1, -1)


def attend(q, k, v, config, bias, scale):
    """One head and one query at a time. q [B, T, H, K], k [B, T, G, K], v [B, T, G, W] -> [B, T, H, W]."""
    (b, t, heads, _), groups = q.shape, k.shape[2]
    window, cap = config.get("window", 0) or t, config.get("softcap", 0)
    rows = []
    for n in range(b):
        for h in range(heads):
            g = h * groups // heads
            for i in range(t):
                start = max(0, i - window + 1)
                scores = scale * (k[n, start : i + 1, g] @ q[n, i, h])
                if cap:
                    scores = cap * torch.tanh(scores / cap)
                scores = scores + bias[n, h, i, start : i + 1]
                rows.append(torch.softmax(scores, 0) @ v[n, start : i + 1, g])
    return torch.stack(rows).view(b, heads, t, v.shape[-1]).transpose(1, 2)


def qk_norm(config, w, x):
    """x [B, T, heads, K]"""
    kind, (b, t, heads, width) = config["kind"], x.shape
    if kind == "none":
        return x
    inner = config.get("norm", RMS)
    if kind == "full":
        return norm(inner, w, x.reshape(b, t, heads * width), (heads * width,)).view(x.shape)
    return norm(inner, w, x, (width,) if kind == "head" else (heads, width))


def below(w, prefix):
    return lambda name, *shape: w(prefix + "." + name, *shape)


def attention(config, w, x, position, kept=None):
    """`kept` holds keys and values of earlier layers by attention and position; this one's are left there."""
    (b, t, d), heads = x.shape, config["heads"]
    reuse = config.get("reuse_keys_values", False)
    if config["kind"] == "softmax":
        groups = config.get("kv_heads", heads)
        width = config.get("head_width", d // heads)
        q = linear(w, "query", x, heads * width, config.get("query_bias")).view(b, t, heads, width)
        if not reuse:
            k = v = linear(w, "key", x, groups * width, config.get("key_bias")).view(b, t, groups, width)
            if not config.get("keys_as_values"):
                v = linear(w, "value", x, groups * width, config.get("value_bias")).view(b, t, groups, width)
        inner = config.get("qk_norm", {"kind": "none"})
        turned = position.rotate(qk_norm(inner, below(w, "query_norm"), q))
        content = position.shifted(turned, "content_bias")
        if not reuse:
            k = position.rotate(qk_norm(inner, below(w, "key_norm"), k))
        scale = config.get("scale", width**-0.5)
    else:
        latent, still, rotary, wide = (
            config[key] for key in ("key_value_rank", "nope_width", "rope_width", "value_width")
        )
        inner = config.get("latent_norm", RMS)
        source, name = x, "query"
        if config.get("query_rank"):
            source = norm(
                inner, below(w, "query_norm"), linear(w, "query_down", x, config["query_rank"]), (config["query_rank"],)
            )
            name = "query_up"
        q = linear(w, name, source, heads * (still + rotary)).view(b, t, heads, still + rotary)
        turned = position.rotate(q[..., still:])
        content = torch.cat([q[..., :still], position.shifted(turned, "content_bias")], -1)
        if not reuse:
            down = linear(w, "key_value_down", x, latent + rotary)
            c = norm(inner, below(w, "key_value_norm"), down[..., :latent], (latent,))
            shared = position.rotate(down[..., latent:].view(b, t, 1, rotary))
            kv = linear(w, "key_value_up", c, heads * (still + wide)).view(b, t, heads, still + wide)
            k = torch.cat([kv[..., :still], shared.repeat(1, 1, heads, 1)], -1)
            v = kv[..., still:]
        scale = config.get("scale", (still + rotary) ** -0.5)
    key = str({**config, "reuse_keys_values": False}) + str(position.config)
    if reuse:
        k, v = kept[key]
    else:
        v = norm(config.get("value_norm", {"kind": "none"}), below(w, "value_norm"), v, (v.shape[-1],))
        if kept is not None:
            kept[key] = k, v
    y = attend(content, k, v, config, position.added(turned, scale), scale)
    return linear(w, "output", y.reshape(b, t, -1), d, config.get("output_bias"))


def layer_inputs(config, w, tokens, x, layers):
    """What each layer has of its own of each token: [B, T, L, P]."""
    (b, t, d), p = x.shape, config["layer_embedding_width"]
    stream = (linear(w, "projection", x, layers * p) * d**-0.5).view(b, t, layers, p)
    stream = norm(config["block"]["norm"], below(w, "norm"), stream, (p,))
    token = w("table.weight", config["vocabulary"], layers * p)[tokens].view(b, t, layers, p) * p**0.5
    return (stream + token) * 2**-0.5


def block(config, w, x, position, kept=None, layer_input=None):
    """The sublayers, then what the layer reads of its own, then its factor."""
    d, r = x.shape[-1], config.get("residual_scale", 1)
    y = sublayers(config, w, x, position, kept)
    if layer_input is not None:
        own = below(w, "layer_input")
        f = ACTIVATIONS[config["ffn"].get("activation", "gelu" if config["ffn"]["kind"] == "mlp" else "silu")]
        z = linear(own, "output", f(linear(own, "gate", y, layer_input.shape[-1])) * layer_input, d)
        y = y + r * norm(config["norm"], below(own, "norm"), z, (d,))
    return y * w("output_factor", 1) if config.get("output_factor") else y


def sublayers(config, w, x, position, kept):
    d, kind, r = x.shape[-1], config["layout"]["kind"], config.get("residual_scale", 1)

    def n(name, x):
        return norm(config["norm"], below(w, name), x, (d,))

    def a(x):
        return attention(config["attention"], below(w, "attention"), x, position, kept)

    def f(x):
        return ffn(config["ffn"], below(w, "ffn"), x)

    if kind == "parallel":
        shared = n("norm", x)
        return x + r * a(shared) + r * f(shared)
    if kind == "parallel_two_norms":
        return x + r * a(n("attention_norm", x)) + r * f(n("ffn_norm", x))
    if kind == "pre_norm":
        h = x + r * a(n("attention_norm", x))
        return h + r * f(n("ffn_norm", h))
    if kind == "post_norm":
        h = n("attention_norm", x + r * a(x))
        return n("ffn_norm", h + r * f(h))
    if kind == "double_norm":
        h = x + r * n("attention_output_norm", a(n("attention_norm", x)))
        return h + r * n("ffn_output_norm", f(n("ffn_norm", h)))
    h = x + r * n("attention_output_norm", a(x))  # output_norm
    return h + r * n("ffn_output_norm", f(h))


def factor(config, width):
    kind = (config or {"kind": "none"})["kind"]
    return {
        "none": 1,
        "constant": (config or {}).get("value"),
        "sqrt_width": width**0.5,
        "inverse_sqrt_width": width**-0.5,
    }[kind]


def model(config, w, tokens, layers=None):
    """`layers`: one block config a layer when they differ from config["block"]."""
    d, v, context = config["width"], config["vocabulary"], config["context"]
    table = w("embedding.weight", v, config.get("embedding_width", d))
    layers = layers or [config["block"]] * config["layers"]
    position = []
    for number, one in enumerate(layers):
        own = one["position"]["kind"] == "transformer_xl"  # its weights are the layer's own
        name = f"position_{number}" if own else "position"
        position.append(Position(one["position"], below(w, name), context, one["attention"]["heads"], d))
    x = table[tokens] * factor(config.get("embedding_scale"), d)
    if x.shape[-1] != d:
        x = linear(w, "embedding_projection", x, d)
    x = Position(config["block"]["position"], below(w, "position"), context, 0).embed(x)
    x = norm(config.get("embedding_norm", {"kind": "none"}), below(w, "embedding_norm"), x, (d,))
    kept, inputs = {}, None
    if config.get("layer_embedding_width"):
        inputs = layer_inputs(config, below(w, "layer_embedding"), tokens, x, len(layers))
    for number, one in enumerate(layers):
        own = None if inputs is None else inputs[:, :, number]
        x = block(one, below(w, f"blocks.{number}"), x, position[number], kept, own)
    x = norm(config.get("final_norm", config["block"]["norm"]), below(w, "final_norm"), x, (d,))
    if table.shape[1] != d:
        x = linear(w, "head_projection", x, table.shape[1])
    logits = x @ (table if config.get("tied") else w("head.weight", v, table.shape[1])).T
    if config.get("head_bias"):
        logits = logits + w("head_bias", v)
    logits = logits * factor(config.get("logit_scale"), d)
    cap = config.get("final_softcap", 0)
    return cap * torch.tanh(logits / cap) if cap else logits
