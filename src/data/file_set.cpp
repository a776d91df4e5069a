#include "data/file_set.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <utility>

namespace blockzoo {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> paths;
  try {
    for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator(); ++entry) {
      if (entry->path().filename().native().starts_with('.')) {
        if (entry->is_directory()) entry.disable_recursion_pending();
      } else if (entry->is_regular_file()) {
        paths.push_back(entry->path().native());
      }
    }
  } catch (const fs::filesystem_error& error) {
    fail_file(error.path1().empty() ? folder : error.path1().string(), "cannot be read: " + error.code().message());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool unchanged(const FileSet::File& file, const struct stat& now) {
  return now.st_size == file.size && now.st_dev == file.device && now.st_ino == file.inode &&
         now.st_mtim.tv_sec == file.modified.tv_sec && now.st_mtim.tv_nsec == file.modified.tv_nsec;
}

[[noreturn]] void fail_changed(const FileSet::File& file, int64_t size) {
  fail_file(file.path, "was changed while it was in use: it had " + std::to_string(file.size) + " bytes and now has " +
                           std::to_string(size) + "; a run needs the same data from start to end");
}

}  // namespace

FileSet::FileSet(const std::string& path) : path_(path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_to_read(path);
  if (S_ISDIR(status.st_mode)) {
    for (const auto& file : files_below(path)) add(file);
    if (files_.empty()) fail_file(path, "holds no file to read; names that begin with a dot are left out");
  } else if (S_ISREG(status.st_mode)) {
    add(path);
  } else {
    fail_file(path, "is neither a regular file nor a folder");
  }
}

void FileSet::add(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || ::access(path.c_str(), R_OK) != 0) fail_to_read(path);
  files_.push_back({path, size_, status.st_size, status.st_dev, status.st_ino, status.st_mtim});
  size_ += status.st_size;
}

const FileSet::File& FileSet::file_at(int64_t position) const {
  const auto after = std::upper_bound(files_.begin(), files_.end(), position,
                                      [](int64_t wanted, const File& file) { return wanted < file.first; });
  return *std::prev(after);
}

void FileSet::read(int64_t first, std::span<std::byte> out) const {
  if (first < 0 || first + static_cast<int64_t>(out.size()) > size_)
    throw std::out_of_range(path_ + ": bytes " + std::to_string(first) + " to " +
                            std::to_string(first + static_cast<int64_t>(out.size())) + " of " + std::to_string(size_));
  const std::lock_guard lock(mutex_);
  while (!out.empty()) {
    const File& file = file_at(first);
    const int64_t offset = first - file.first;
    const auto count = std::min(out.size(), static_cast<size_t>(file.size - offset));
    const auto bytes = mapped(file).subspan(static_cast<size_t>(offset), count);
    std::copy(bytes.begin(), bytes.end(), out.begin());
    first += static_cast<int64_t>(count);
    out = out.subspan(count);
  }
}

std::span<const std::byte> FileSet::mapped(const File& file) const {
  if (open_file_ != &file) {
    open_file_ = nullptr;
    open_.reset();
    open_.emplace(file.path, static_cast<size_t>(file.size));
    open_file_ = &file;
  }
  const auto status = open_->status();
  if (!unchanged(file, status)) fail_changed(file, status.st_size);
  return open_->bytes();
}

void refuse_shared_files(const FileSet& train, const FileSet& validation) {
  std::set<std::pair<dev_t, ino_t>> known;
  for (const auto& file : train.files()) known.emplace(file.device, file.inode);
  for (const auto& file : validation.files()) {
    if (known.count({file.device, file.inode}))
      fail_file(file.path, "is in the training data (" + train.path() +
                               ") and in the validation data; validation needs text that training never sees");
  }
}

}  // namespace blockzoo
