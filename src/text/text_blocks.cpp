#include "text/text_blocks.h"

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace blockzoo {

void TextBlocks::open() {
  stream_ = std::ifstream(files_[file_], std::ios::binary);
  if (!stream_.is_open())
    throw std::system_error(errno, std::generic_category(), "cannot read " + files_[file_].string());
  ++file_;
  start_ = TextStart::kBegins;
}

size_t TextBlocks::read_more(std::string& text, size_t bytes) {
  const auto before = text.size();
  text.resize(before + bytes);
  stream_.read(text.data() + before, static_cast<std::streamsize>(bytes));
  const auto count = static_cast<size_t>(stream_.gcount());
  if (stream_.bad())
    throw std::system_error(errno, std::generic_category(), "cannot read " + files_[file_ - 1].string());
  text.resize(before + count);
  bytes_read_ += static_cast<int64_t>(count);
  return count;
}

bool TextBlocks::next(Block& block) {
  if (!stream_.is_open()) {
    if (file_ == files_.size()) return false;
    open();
  }
  block.start = std::exchange(start_, TextStart::kGoesOn);
  block.text = std::move(rest_);
  rest_.clear();
  for (auto wanted = kBlock;; wanted = block.text.size()) {
    const auto count = read_more(block.text, wanted);
    if (count < wanted) {
      stream_ = {};
      block.ends_file = true;
      return true;
    }
    if (const auto cut = last_cut_(block.text); cut > 0 && cut < block.text.size()) {
      rest_ = block.text.substr(cut);
      block.text.resize(cut);
      block.ends_file = false;
      return true;
    }
    if (block.text.size() >= kLongestBlock)
      throw std::runtime_error(files_[file_ - 1].string() + ": " + std::to_string(block.text.size() >> 20) +
                               " MiB of text without a place where this tokenizer is known to end a token; make it "
                               "several files");
  }
}

}  // namespace blockzoo
