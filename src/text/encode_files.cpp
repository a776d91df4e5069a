#include "blockzoo/text/encode_files.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "text/text_blocks.h"

namespace blockzoo {
namespace {

/// Blocks are read by whoever is free, and handed out in the order in which they were read.
class OrderedEncoding {
 public:
  OrderedEncoding(const Tokenizer& tokenizer, const std::vector<std::filesystem::path>& files,
                  const std::function<void(std::span<const int64_t>)>& take,
                  const std::function<void(double)>& progress)
      : tokenizer_(tokenizer),
        take_(take),
        progress_(progress),
        blocks_(files, [&](std::string_view text) { return tokenizer.last_cut(text); }) {
    for (const auto& file : files) total_ += static_cast<double>(std::filesystem::file_size(file));
  }

  void run() {
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back([this] { work(); });
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work() {
    try {
      TextBlocks::Block block;
      for (int64_t turn = 0; read(block, turn);) {
        auto ids = tokenizer_.encode(block.text, block.start);
        if (block.ends_file && tokenizer_.end_of_text()) ids.push_back(*tokenizer_.end_of_text());
        hand_out(turn, ids);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      moved_.notify_all();
    }
  }

  bool read(TextBlocks::Block& block, int64_t& turn) {
    const std::lock_guard lock(mutex_);
    if (failure_ || !blocks_.next(block)) return false;
    turn = blocks_read_++;
    return true;
  }

  void hand_out(int64_t turn, std::span<const int64_t> ids) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return failure_ || next_out_ == turn; });
    if (failure_) return;
    take_(ids);
    progress_(static_cast<double>(blocks_.bytes_read()) / std::max(1.0, total_));
    ++next_out_;
    moved_.notify_all();
  }

  const Tokenizer& tokenizer_;
  const std::function<void(std::span<const int64_t>)>& take_;
  const std::function<void(double)>& progress_;
  double total_ = 0;
  std::mutex mutex_;
  std::condition_variable moved_;
  TextBlocks blocks_;
  int64_t blocks_read_ = 0;
  int64_t next_out_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void encode_files(const Tokenizer& tokenizer, const std::vector<std::filesystem::path>& files,
                  const std::function<void(std::span<const int64_t>)>& take,
                  const std::function<void(double)>& progress) {
  OrderedEncoding(tokenizer, files, take, progress).run();
}

}  // namespace blockzoo
