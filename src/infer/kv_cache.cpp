#include "blockzoo/infer/kv_cache.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "infer/kept_keys.h"

namespace blockzoo {

KvCache::KvCache(const ModelConfig& config, const Size& size, const std::vector<int64_t>& absent, at::Device device)
    : size_(size), device_(device) {
  for (const auto& block : expand_layers(config)) {
    const auto window = std::visit([](const auto& attention) { return attention.window; }, block.attention);
    const auto room = window == 0 ? size.columns : std::min(size.columns, window - 1 + size.chunk);
    layers_.push_back(std::make_unique<KeptKeys>(window, room));
  }
  set_absent(absent);
}

KvCache::~KvCache() = default;

Past KvCache::next(int64_t tokens) {
  TORCH_CHECK(tokens <= size_.chunk, "[kv_cache] ", tokens, " tokens at a time are more than a chunk, ", size_.chunk);
  Past past{.places = {columns_, absent_on_device_}, .layers = {}};
  for (const auto& layer : layers_) past.layers.push_back(layer.get());
  columns_ += tokens;
  return past;
}

void KvCache::keep_rows(const std::vector<int64_t>& rows) {
  std::vector<int64_t> absent;
  for (const auto row : rows) absent.push_back(absent_.at(static_cast<size_t>(row)));
  const auto columns = *std::min_element(absent.begin(), absent.end());
  for (auto& count : absent) count -= columns;
  const auto index = at::tensor(rows, at::kLong).to(device_);
  for (const auto& layer : layers_) layer->keep_rows(index, columns);
  columns_ -= columns;
  set_absent(absent);
}

void KvCache::set_absent(const std::vector<int64_t>& absent) {
  absent_ = absent;
  const auto most = *std::max_element(absent.begin(), absent.end());
  absent_on_device_ = most > 0 ? at::tensor(absent, at::kLong).to(device_) : Tensor();
  for (const auto& layer : layers_) layer->set_absent(most, absent_on_device_);
}

int64_t KvCache::bytes() const {
  int64_t sum = 0;
  for (const auto& layer : layers_) sum += layer->bytes();
  return sum;
}

}  // namespace blockzoo
