#include "blockzoo/text/text_stream.h"

#include <algorithm>

#include "text/utf8.h"

namespace blockzoo {

std::string TextStream::push(int64_t id) {
  ids_.push_back(id);
  const auto text = tokenizer_->decode(ids_);
  const auto fresh = std::string_view(text).substr(std::min(skip_, text.size()));
  const auto whole = fresh.size() - unfinished_tail(fresh);
  auto out = valid_utf8(fresh.substr(0, whole));
  if (whole == fresh.size()) {
    // The last id stays as context: some tokenizers write the first id of a text without its space.
    ids_.erase(ids_.begin(), ids_.end() - 1);
    skip_ = tokenizer_->decode(ids_).size();
  } else {
    skip_ += whole;
  }
  return out;
}

std::string TextStream::finish() {
  const auto text = tokenizer_->decode(ids_);
  auto out = valid_utf8(std::string_view(text).substr(std::min(skip_, text.size())));
  ids_.clear();
  skip_ = 0;
  return out;
}

}  // namespace blockzoo
