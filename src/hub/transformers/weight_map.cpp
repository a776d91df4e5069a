#include "hub/transformers/weight_map.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "hub/transformers/config_map.h"

namespace blockzoo {
namespace {

/// `name` with each `mark` replaced.
std::string with(std::string name, char mark, int64_t number) {
  for (size_t at; (at = name.find(mark)) != std::string::npos;) name.replace(at, 1, std::to_string(number));
  return name;
}

int64_t key_heads_of(const BlockConfig& block) {
  const auto* softmax = std::get_if<SoftmaxAttentionConfig>(&block.attention);
  return softmax == nullptr ? 1 : softmax->key_heads();
}

std::vector<at::Tensor> parts(const WeightRow& row, const Tensors& tensors) {
  std::vector<at::Tensor> found;
  for (const auto& name : row.ours) found.push_back(tensors.at(name));
  return found;
}

/// [G rows, ...] to [G, rows, ...].
at::Tensor by_head(const at::Tensor& x, int64_t heads) { return x.unflatten(0, {heads, x.size(0) / heads}); }

}  // namespace

std::vector<WeightRow> rows_for(const WeightNames& names, const Stack& stack, const Tensors& parameters) {
  std::vector<WeightRow> rows;
  std::set<std::string> covered;
  const auto add = [&](const WeightName& name, int64_t layer, int64_t key_heads) {
    WeightRow row{.theirs = {with(name.theirs, '#', layer)}, .ours = {}, .layout = name.layout, .key_heads = key_heads};
    for (const auto& ours : name.ours) row.ours.push_back(with(ours, '#', layer));
    const auto there =
        std::count_if(row.ours.begin(), row.ours.end(), [&](const auto& n) { return parameters.contains(n); });
    if (there == 0) return;
    if (there != static_cast<std::ptrdiff_t>(row.ours.size()))
      throw CannotHold(row.theirs.front(), "needs all of its parts, and the model lacks some of them");
    covered.insert(row.ours.begin(), row.ours.end());
    if (name.layout == Layout::kHeadByHead) {
      const auto theirs = row.theirs.front();
      row.theirs.clear();
      for (int64_t head = 0; head < parameters.at(row.ours.front()).size(0); ++head)
        row.theirs.push_back(with(theirs, '@', head));
    }
    rows.push_back(std::move(row));
  };
  for (const auto& name : names) {
    if (name.theirs.find('#') == std::string::npos) {
      add(name, 0, 1);
      continue;
    }
    for (size_t layer = 0; layer < stack.layers.size(); ++layer)
      add(name, static_cast<int64_t>(layer), key_heads_of(stack.layers[layer]));
  }
  for (const auto& [name, tensor] : parameters) {
    if (!covered.contains(name)) throw CannotHold(name, "is a parameter that has no place there");
  }
  return rows;
}

std::vector<at::Tensor> to_theirs(const WeightRow& row, const Tensors& ours) {
  auto from = parts(row, ours);
  switch (row.layout) {
    case Layout::kSame:
      return from;
    case Layout::kTransposed:
      return {from.front().t()};
    case Layout::kRows:
      return {at::cat(from)};
    case Layout::kRowsTransposed:
      return {at::cat(from).t()};
    case Layout::kByKeyHead:
      for (auto& part : from) part = by_head(part, row.key_heads);
      return {at::cat(from, 1).flatten(0, 1)};
    case Layout::kHeadByHead:
      return from.front().unbind();
  }
  return {};
}

std::vector<at::Tensor> to_ours(const WeightRow& row, const std::vector<at::Tensor>& theirs, const Tensors& like) {
  std::vector<int64_t> rows;
  for (const auto& part : parts(row, like)) rows.push_back(part.size(0));
  switch (row.layout) {
    case Layout::kSame:
      return theirs;
    case Layout::kTransposed:
      return {theirs.front().t()};
    case Layout::kRows:
      return at::split_with_sizes(theirs.front(), rows);
    case Layout::kRowsTransposed:
      return at::split_with_sizes(theirs.front().t(), rows);
    case Layout::kByKeyHead: {
      auto each = rows;
      for (auto& count : each) count /= row.key_heads;
      auto split = at::split_with_sizes(by_head(theirs.front(), row.key_heads), each, 1);
      for (auto& part : split) part = part.flatten(0, 1);
      return split;
    }
    case Layout::kHeadByHead:
      return {at::stack(theirs)};
  }
  return {};
}

}  // namespace blockzoo
