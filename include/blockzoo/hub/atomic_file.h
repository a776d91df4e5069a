#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "blockzoo/hub/byte_hash.h"

namespace blockzoo {

/// What was written to a file, or read from one.
struct FileSum {
  uint64_t bytes = 0;
  uint64_t hash = 0;
  bool operator==(const FileSum&) const = default;
};

/// A file that appears whole or not at all: written under a temporary name in the same folder, synced, renamed over
/// `path`, and the folder synced. Whatever happens before commit() returns, an old file at `path` stays as it was, or
/// is replaced completely. Links are followed; a device or a pipe at `path` is written to directly. Errors: every
/// member throws std::system_error with the path and the system's reason; the temporary file is removed. A process that
/// is killed leaves it behind: see remove_unfinished(). A program must ignore SIGXFSZ to see the error of a file size
/// limit (ulimit -f) instead of being ended by it.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  FileSum commit();

 private:
  void open_temporary();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: written directly, or committed
  int descriptor_ = -1;
  ByteHash hash_;
};

/// AtomicFile in one call.
FileSum write_file(const std::filesystem::path& path, std::string_view bytes);

/// The whole file. Throws std::system_error with path and reason.
std::string read_file(const std::filesystem::path& path);

/// Reads the file once to sum it up. Throws std::system_error with path and reason.
FileSum sum_file(const std::filesystem::path& path);

/// Makes names in the folder durable (created, renamed and removed entries). Throws std::system_error.
void sync_folder(const std::filesystem::path& folder);

/// A name for something not yet complete, unused so far: ".name.<process>.<count>.partial" beside `path`.
std::filesystem::path unfinished_name(const std::filesystem::path& path);

/// Removes what killed processes left in the folder under unfinished_name(). Call it only when nobody else writes
/// there.
void remove_unfinished(const std::filesystem::path& folder);

/// Appends whole lines to a text file. A line that cannot be written completely is taken back.
/// Errors: std::system_error with path and reason.
class LineWriter {
 public:
  /// Appends to what is there.
  explicit LineWriter(const std::filesystem::path& path);
  /// Cuts the file to its first `keep_bytes` bytes, then appends: how a resumed run forgets what came after its
  /// checkpoint. A file that is shorter than that is refused.
  LineWriter(const std::filesystem::path& path, uint64_t keep_bytes);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// `line` without its line end. It has reached the system, not the disk, when this returns.
  void append(std::string_view line);
  /// Waits until all lines are on the disk.
  void sync();
  /// Bytes in the file: what to remember for the second constructor.
  uint64_t bytes() const { return bytes_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace blockzoo
