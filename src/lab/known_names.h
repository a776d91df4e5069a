#pragma once

#include <vector>

#include "blockzoo/lab/catalog.h"

namespace blockzoo {

/// Names from papers and model cards that are no kinds of their own, since they are values of one.
inline const std::vector<CatalogName> kKnownNames{
    {"SwiGLU", "{ffn: {kind: glu, activation: silu}}", "Shazeer 2020, arXiv:2002.05202"},
    {"GeGLU", "{ffn: {kind: glu, activation: gelu}}", "Shazeer 2020, arXiv:2002.05202"},
    {"ReGLU", "{ffn: {kind: glu, activation: relu}}", "Shazeer 2020, arXiv:2002.05202"},
    {"GLU", "{ffn: {kind: glu, activation: sigmoid}}", "Dauphin et al. 2016, arXiv:1612.08083"},
    {"bilinear", "{ffn: {kind: glu, activation: identity}}", "Shazeer 2020, arXiv:2002.05202"},
    {"squared ReLU", "{ffn: {kind: mlp, activation: relu_squared}}", "So et al. 2021, arXiv:2109.08668"},
    {"MHA", "{attention: {kind: softmax, heads: 8, kv_heads: 8}}", "Vaswani et al. 2017, arXiv:1706.03762"},
    {"GQA", "{attention: {kind: softmax, heads: 8, kv_heads: 2}}", "Ainslie et al. 2023, arXiv:2305.13245"},
    {"MQA", "{attention: {kind: softmax, heads: 8, kv_heads: 1}}", "Shazeer 2019, arXiv:1911.02150"},
    {"MLA", "{attention: {kind: latent, heads: 8}}", "DeepSeek-AI 2024, arXiv:2405.04434"},
    {"sliding window", "{attention: {kind: softmax, window: 64}}", "Beltagy et al. 2020, arXiv:2004.05150"},
    {"QK norm", "{attention: {kind: softmax, qk_norm: {kind: head}}}", "Dehghani et al. 2023, arXiv:2302.05442"},
    {"NoPE", "{position: {kind: none}}", "Kazemnejad et al. 2023, arXiv:2305.19466"},
    {"p-RoPE", "{position: {kind: rope, still_fraction: 0.25}}", "Barbero et al. 2024, arXiv:2410.06205"},
    {"partial RoPE", "{position: {kind: rope, rotary_fraction: 0.25}}",
     "Black et al. 2022, arXiv:2204.06745 (GPT-NeoX)"},
    {"sandwich norm", "{layout: {kind: double_norm}}", "Ding et al. 2021, arXiv:2105.13290; Gemma 2, arXiv:2408.00118"},
    {"DyT", "{norm: {kind: dynamic_tanh}}", "Zhu et al. 2025, arXiv:2503.10622"},
    {"non-parametric LayerNorm", "{norm: {kind: layer_norm, gain: false, bias: false}}",
     "Groeneveld et al. 2024, arXiv:2402.00838 (OLMo)"}};

}  // namespace blockzoo
