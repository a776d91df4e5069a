#include "data/file_set.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

std::string text_of(const FileSet& files, int64_t first, size_t size) {
  std::string text(size, '?');
  files.read(first, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

TEST_CASE("a folder is its files in path order, without hidden ones", "[data]") {
  const TemporaryFolder folder;
  folder.write("b.txt", "3333");
  folder.write("a/z.txt", "22");
  folder.write("a/deep/y.txt", "1");
  folder.write("a/empty", "");
  folder.write(".hidden", "no");
  folder.write(".git/objects", "no");
  const FileSet files(folder.path());
  REQUIRE(files.size() == 7);
  CHECK(text_of(files, 0, 7) == "1223333");
  for (int64_t first = 0; first <= 7; ++first) {
    for (size_t size = 0; size + static_cast<size_t>(first) <= 7; ++size)
      CHECK(text_of(files, first, size) == std::string("1223333").substr(static_cast<size_t>(first), size));
  }
  CHECK(files.file_at(0).path == folder / "a/deep/y.txt");
  CHECK(files.file_at(2).path == folder / "a/z.txt");
  CHECK(files.file_at(3).path == folder / "b.txt");
  CHECK_THROWS_AS(text_of(files, 1, 7), std::out_of_range);
  CHECK_THROWS_AS(text_of(files, -1, 1), std::out_of_range);
}

TEST_CASE("what cannot be read is refused with its path and the reason", "[data][error]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(FileSet(folder / "none"), ContainsSubstring("none: cannot be read: No such file or directory"));
  CHECK_THROWS_WITH(FileSet(folder.path()), ContainsSubstring(folder.path().string() + ": holds no file to read"));
  CHECK_THROWS_WITH(FileSet("/dev/null"), ContainsSubstring("/dev/null: is neither a regular file nor a folder"));
  const auto locked = folder.write("locked", "abc");
  fs::permissions(locked, fs::perms::none);
  if (::access(locked.c_str(), R_OK) != 0) {  // root reads everything
    CHECK_THROWS_WITH(FileSet(locked), ContainsSubstring("locked: cannot be read: Permission denied"));
  }
}

TEST_CASE("a file that is truncated, changed or replaced while in use is an error", "[data][error]") {
  const TemporaryFolder folder;
  const auto path = folder.write("train", std::string(100, 'a'));
  const FileSet files(path);
  CHECK(text_of(files, 0, 100) == std::string(100, 'a'));
  SECTION("truncated") {
    fs::resize_file(path, 60);
    CHECK_THROWS_WITH(text_of(files, 50, 50),
                      ContainsSubstring("train: was changed while it was in use: it had 100 bytes "
                                        "and now has 60"));
  }
  SECTION("truncated, and a part read that is still there") {
    fs::resize_file(path, 60);
    CHECK_THROWS_WITH(text_of(files, 0, 10), ContainsSubstring("was changed while it was in use"));
  }
  SECTION("grown") {
    fs::resize_file(path, 160);
    CHECK_THROWS_WITH(text_of(files, 0, 10), ContainsSubstring("now has 160"));
  }
  SECTION("rewritten to the same size") {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the clock of time stamps is coarse
    folder.write("train", std::string(100, 'b'));
    CHECK_THROWS_WITH(text_of(files, 0, 10), ContainsSubstring("was changed while it was in use"));
  }
  SECTION("a new file under the old name leaves the open one as it was") {
    folder.write("new", std::string(100, 'c'));
    fs::rename(folder / "new", path);
    CHECK(text_of(files, 0, 10) == std::string(10, 'a'));
  }
}

TEST_CASE("a file of a folder that is replaced while another is open is an error", "[data][error]") {
  const TemporaryFolder folder;
  folder.write("data/a", "aaaa");
  folder.write("data/b", "bbbb");
  const FileSet files(folder / "data");
  CHECK(text_of(files, 0, 4) == "aaaa");
  folder.write("new", "cccc");
  fs::rename(folder / "new", folder / "data/b");
  CHECK_THROWS_WITH(text_of(files, 4, 4), ContainsSubstring("b: was changed while it was in use"));
}

TEST_CASE("threads may read one file set at a time each", "[data]") {
  const TemporaryFolder folder;
  for (const std::string name : {"a", "b", "c", "d"}) folder.write("data/" + name, std::string(1000, name[0]));
  const FileSet files(folder / "data");
  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i)
        wrong[t] += text_of(files, static_cast<int64_t>(t) * 1000, 1000) != std::string(1000, "abcd"[t]);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::array<int, 4>{});
}

TEST_CASE("a file that is in both parts is found through links too", "[data][error]") {
  const TemporaryFolder folder;
  folder.write("train/a", "aaaa");
  const auto b = folder.write("train/b", "bbbb");
  folder.write("other/c", "cccc");
  CHECK_NOTHROW(refuse_shared_files(FileSet(folder / "train"), FileSet(folder / "other")));
  CHECK_THROWS_WITH(
      refuse_shared_files(FileSet(folder / "train"), FileSet(b)),
      ContainsSubstring("b: is in the training data (" + (folder / "train").string() + ") and in the validation data"));
  fs::create_symlink(b, folder / "link");
  CHECK_THROWS_WITH(refuse_shared_files(FileSet(folder / "train"), FileSet(folder / "link")),
                    ContainsSubstring("link: is in"));
  fs::create_hard_link(b, folder / "other/hard");
  CHECK_THROWS_WITH(refuse_shared_files(FileSet(folder / "train"), FileSet(folder / "other")),
                    ContainsSubstring("hard: is in"));
}

}  // namespace blockzoo
