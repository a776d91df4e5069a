#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/text/text_start.h"

namespace blockzoo {

/// Files, a block at a time. A block ends with its file, or where `last_cut` of what was read says that the text may be
/// cut; it is longer than asked for where there is no such place, up to a bound.
class TextBlocks {
 public:
  using LastCut = std::function<size_t(std::string_view)>;

  TextBlocks(std::vector<std::filesystem::path> files, LastCut last_cut)
      : files_(std::move(files)), last_cut_(std::move(last_cut)) {}

  struct Block {
    std::string text;
    TextStart start = TextStart::kBegins;
    bool ends_file = false;
  };

  /// False after the last block. Errors: std::system_error with the path and the system's reason; std::runtime_error
  /// for a text that may be cut nowhere for too long.
  bool next(Block& block);

  int64_t bytes_read() const { return bytes_read_; }

 private:
  static constexpr size_t kBlock = size_t{1} << 20;
  static constexpr size_t kLongestBlock = size_t{64} << 20;

  void open();
  size_t read_more(std::string& text, size_t bytes);

  std::vector<std::filesystem::path> files_;
  LastCut last_cut_;
  size_t file_ = 0;       // the next to open
  std::ifstream stream_;  // open: a file is being read
  std::string rest_;      // of it, read and not handed out
  TextStart start_ = TextStart::kBegins;
  int64_t bytes_read_ = 0;
};

}  // namespace blockzoo
