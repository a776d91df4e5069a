#include "blockzoo/hub/atomic_file.h"

#include <atomic>
#include <utility>
#include <vector>

#include "hub/descriptor.h"

namespace blockzoo {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view unfinished_suffix = ".partial";

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

fs::path unfinished_name(const fs::path& path) {
  static std::atomic<int> count = 0;
  for (;;) {
    std::string name = ".";
    name.append(path.filename().string()).append(".").append(std::to_string(::getpid()));
    name.append(".").append(std::to_string(count++)).append(unfinished_suffix);
    auto candidate = folder_of(path) / name;
    std::error_code missing;
    if (!fs::exists(fs::symlink_status(candidate, missing))) return candidate;
  }
}

void remove_unfinished(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with('.') && name.ends_with(unfinished_suffix)) found.push_back(entry.path());
  }
  if (error && error != std::errc::no_such_file_or_directory) throw_system("list", folder, error.value());
  for (const auto& path : found) {
    fs::remove_all(path, error);
    if (error) throw_system("remove", path, error.value());
  }
}

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(folder, O_RDONLY | O_DIRECTORY);
  if (!descriptor) throw_system("open folder", folder);
  if (const int error = sync_descriptor(descriptor.get())) throw_system("sync folder", folder, error);
}

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::is_directory(status)) throw_system("write", path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    descriptor_ = Descriptor(path, O_WRONLY).release();
  } else {
    if (fs::is_symlink(fs::symlink_status(path, error))) path_ = fs::weakly_canonical(path);
    open_temporary();
  }
  if (descriptor_ < 0) throw_system("write", path);
}

void AtomicFile::open_temporary() {
  do {
    temporary_ = unfinished_name(path_);
    descriptor_ = Descriptor(temporary_, O_WRONLY | O_CREAT | O_EXCL).release();
  } while (descriptor_ < 0 && errno == EEXIST);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (const int error = write_all(descriptor_, bytes)) throw_system("write", path_, error);
  hash_.update(bytes);
}

FileSum AtomicFile::commit() {
  if (const int error = sync_descriptor(descriptor_)) throw_system("write", path_, error);
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) throw_system("write", path_);
  if (!temporary_.empty()) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_system("write", path_);
    temporary_.clear();
    sync_folder(folder_of(path_));
  }
  return {hash_.count(), hash_.value()};
}

FileSum write_file(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  return file.commit();
}

std::string read_file(const fs::path& path) {
  const Descriptor descriptor(path, O_RDONLY);
  if (!descriptor) throw_system("read", path);
  std::string text;
  std::vector<char> buffer(size_t{1} << 16);
  for (;;) {
    const auto got = ::read(descriptor.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system("read", path);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

FileSum sum_file(const fs::path& path) {
  const Descriptor descriptor(path, O_RDONLY);
  if (!descriptor) throw_system("read", path);
  ByteHash hash;
  std::vector<char> buffer(size_t{1} << 20);
  for (;;) {
    const auto got = read_at(descriptor.get(), buffer.data(), buffer.size(), hash.count());
    if (got < 0) throw_system("read", path);
    hash.update({buffer.data(), static_cast<size_t>(got)});
    if (static_cast<size_t>(got) < buffer.size()) return {hash.count(), hash.value()};
  }
}

LineWriter::LineWriter(const fs::path& path) : path_(path) {
  Descriptor descriptor(path, O_WRONLY | O_CREAT | O_APPEND);
  struct stat status = {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) throw_system("append to", path);
  bytes_ = static_cast<uint64_t>(status.st_size);
  descriptor_ = descriptor.release();
}

LineWriter::LineWriter(const fs::path& path, uint64_t keep_bytes) : LineWriter(path) {
  if (bytes_ < keep_bytes) {
    throw std::runtime_error("cannot continue " + path.string() + ": it has " + std::to_string(bytes_) +
                             " bytes, and had " + std::to_string(keep_bytes) + " when the checkpoint was saved");
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(keep_bytes)) != 0) throw_system("cut", path);
  bytes_ = keep_bytes;
}

LineWriter::~LineWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LineWriter::append(std::string_view line) {
  const auto text = std::string(line) + "\n";
  if (const int error = write_all(descriptor_, text)) {
    [[maybe_unused]] const int taken_back = ::ftruncate(descriptor_, static_cast<off_t>(bytes_));
    throw_system("append to", path_, error);
  }
  bytes_ += text.size();
}

void LineWriter::sync() {
  if (const int error = sync_descriptor(descriptor_)) throw_system("append to", path_, error);
}

}  // namespace blockzoo
