#pragma once

#include <cstdint>

#include "blockzoo/core/tree.h"
#include "blockzoo/nn/model_config.h"

namespace blockzoo {

/// The sizes that a model is brought to.
struct SmallerSizes {
  double factor;       // of width and heads
  double layers;       // about so many
  int64_t vocabulary;  // at most
  int64_t context;     // at most
};

/// A smaller model that makes every choice of `model`: kinds, biases, norms, soft caps, factors and tying are kept, and
/// so are
///   H / G; where there are several key heads, but not one for each query head, two at least stay,
///   H K / D, F / D, the embedding's share of the width, layer embeddings / D, and latent ranks / D,
///   the pattern of layers that differ: at least one whole period, and a period's layers of those before it, or all of
///   them where keys and values that are reused would be missing,
///   window / context, though a window sees at least 1/8 of the context, and distances of position encodings / context.
/// Head widths are the least from the wanted one on that the position encodings can turn. Factors of scores keep their
/// ratio to 1 / sqrt(K), and a residual scale its ratio to 1 / sqrt(layers). Nothing becomes larger than it was.
/// Errors: ConfigError when `model` does not fit together.
ModelConfig smaller(const ModelConfig& model, const SmallerSizes& sizes);

/// Every size times the factor, 0 < factor < 1, but at least 256 token ids (bytes), 64 positions and 2 layers.
ModelConfig smaller(const ModelConfig& model, double factor);

/// The size called tiny: bytes, 128 positions, one period of layers, a width of about 96 or, while the model
/// has more than a million parameters, less.
ModelConfig tiny(const ModelConfig& model);

/// As `scale` says: a fraction such as 1/16, a number such as 0.25, or tiny. Errors: ConfigError, at its place.
ModelConfig smaller(const ModelConfig& model, const Tree& scale);

}  // namespace blockzoo
