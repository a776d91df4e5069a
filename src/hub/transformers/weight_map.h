#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "hub/transformers/stack.h"

namespace blockzoo {

/// How a tensor of theirs is made of parameters of ours.
enum class Layout {
  kSame,            // one of each
  kTransposed,      // [in, out], as GPT-2's Conv1D has it
  kRows,            // ours one after the other along the rows
  kRowsTransposed,  // the same, transposed
  kByKeyHead,       // rows by key head: its queries, its key, its value (GPT-NeoX, BLOOM, Falcon)
  kHeadByHead,      // theirs one for each head, ours [H, K] (StableLM)
};

/// One row of the table of names. "#" is a layer's number; a name of ours that the model lacks leaves the row out, so a
/// bias has its row whether it is there or not.
struct WeightName {
  std::string theirs;
  std::vector<std::string> ours;
  Layout layout = Layout::kSame;
};
using WeightNames = std::vector<WeightName>;

/// A row for one model: names spelled out.
struct WeightRow {
  std::vector<std::string> theirs;
  std::vector<std::string> ours;
  Layout layout = Layout::kSame;
  int64_t key_heads = 1;  // kByKeyHead
};

using Tensors = std::map<std::string, at::Tensor>;

/// The rows that a model with these parameters needs.
/// Errors: CannotHold when a parameter has no row, or a row has some of its parameters and not all.
std::vector<WeightRow> rows_for(const WeightNames& names, const Stack& stack, const Tensors& parameters);

/// Tensors of theirs from parameters of ours; works on tensors without memory too.
std::vector<at::Tensor> to_theirs(const WeightRow& row, const Tensors& ours);

/// Parameters of ours, in the row's order, from tensors of theirs; `like` has their shapes.
std::vector<at::Tensor> to_ours(const WeightRow& row, const std::vector<at::Tensor>& theirs, const Tensors& like);

}  // namespace blockzoo
