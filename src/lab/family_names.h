#pragma once

#include <string_view>

#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// How lists and documents call a family, in their order.
struct FamilyName {
  int order = 0;
  std::string_view name;
  std::string_view doc;
};

/// A family that a config struct uses must be named here, or the catalog does not compile.
template <class Choice>
inline constexpr FamilyName family_name{};

template <>
inline constexpr FamilyName family_name<LayoutConfig>{1, "layout",
                                                      "where the norms stand and how the sublayers are wired"};
template <>
inline constexpr FamilyName family_name<NormConfig>{2, "norm", "what is normalised, and how"};
template <>
inline constexpr FamilyName family_name<FfnConfig>{3, "ffn", "feed-forward sublayer"};
template <>
inline constexpr FamilyName family_name<Activation>{4, "activation",
                                                    "element-wise function of the feed-forward sublayer"};
template <>
inline constexpr FamilyName family_name<Rounding>{5, "rounding",
                                                  "how a hidden width from a ratio is brought to a multiple"};
template <>
inline constexpr FamilyName family_name<PositionConfig>{6, "position", "position encoding"};
template <>
inline constexpr FamilyName family_name<RopePairing>{7, "rope_pairing", "channels of RoPE that turn together"};
template <>
inline constexpr FamilyName family_name<RopeScaling>{8, "rope_scaling", "how RoPE is stretched to a longer context"};
template <>
inline constexpr FamilyName family_name<AttentionConfig>{9, "attention", "attention sublayer"};
template <>
inline constexpr FamilyName family_name<QkNormConfig>{10, "qk_norm", "norm of queries and keys"};
template <>
inline constexpr FamilyName family_name<MatrixInit>{11, "init", "start values of matrices"};
template <>
inline constexpr FamilyName family_name<TableInit>{12, "table_init", "start values of tables"};
template <>
inline constexpr FamilyName family_name<ScaleConfig>{13, "scale", "fixed factor of the embedding or of the logits"};
template <>
inline constexpr FamilyName family_name<OptimizerConfig>{14, "optimizer", "how weights are updated"};
template <>
inline constexpr FamilyName family_name<ScheduleConfig>{15, "schedule", "factor of the learning rate over the steps"};
template <>
inline constexpr FamilyName family_name<Precision>{16, "precision", "numbers that are computed with"};
template <>
inline constexpr FamilyName family_name<DeviceChoice>{17, "device", "where it is computed"};
template <>
inline constexpr FamilyName family_name<CorpusConfig>{18, "corpus", "the text"};
template <>
inline constexpr FamilyName family_name<ValidationConfig>{19, "validation", "where validation data comes from"};
template <>
inline constexpr FamilyName family_name<TokenType>{20, "token_type", "how a token id is stored"};
template <>
inline constexpr FamilyName family_name<StartConfig>{21, "start", "the values that training starts from"};
template <>
inline constexpr FamilyName family_name<Kernels>{22, "kernels", "how operators are computed on the CPU"};
template <>
inline constexpr FamilyName family_name<TokenizerConfig>{23, "tokenizer", "what turns text into tokens"};
template <>
inline constexpr FamilyName family_name<SampleConfig>{24, "sample", "what the trained model writes"};

}  // namespace blockzoo
