#include "blockzoo/hub/atomic_file.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <random>
#include <system_error>

#include "hub/files.h"
#include "support/catch.h"

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

namespace blockzoo::test {

namespace {

/// Runs `body` where no file may grow beyond `bytes`; the body's own checks decide the exit code.
template <class Body>
int run_with_file_limit(rlim_t bytes, const Body& body) {
  return wait_for(start_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    body();
  }));
}

}  // namespace

TEST_CASE("a checksum does not depend on how the bytes were cut", "[hub]") {
  std::mt19937 random(1);
  std::string bytes(1000, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random());
  ByteHash whole;
  whole.update(bytes);
  for (int trial = 0; trial < 200; ++trial) {
    ByteHash pieces;
    for (std::string_view rest = bytes; !rest.empty();) {
      const auto take = std::min<size_t>(random() % 20, rest.size());
      pieces.update(rest.substr(0, take));
      rest.remove_prefix(take);
    }
    REQUIRE(pieces.value() == whole.value());
    REQUIRE(pieces.count() == 1000);
  }
}

TEST_CASE("a checksum sees every flipped bit, swapped words and cut zeros", "[hub]") {
  const auto sum = [](std::string_view bytes) {
    ByteHash hash;
    hash.update(bytes);
    return hash.value();
  };
  const std::string bytes(300, '\0');
  std::vector<uint64_t> seen{sum(bytes), sum(""), sum(bytes.substr(1)), sum(bytes.substr(0, 256))};
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto changed = bytes;
    changed[bit / 8] = static_cast<char>(1 << (bit % 8));
    seen.push_back(sum(changed));
  }
  std::sort(seen.begin(), seen.end());
  REQUIRE(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

TEST_CASE("a written file replaces the old one and leaves nothing else", "[hub]") {
  const TemporaryFolder folder;
  const auto path = folder / "file.txt";
  const auto first = write_file(path, "first");
  REQUIRE(first == sum_file(path));
  REQUIRE(first.bytes == 5);
  write_file(path, std::string("sec\0nd", 6));
  REQUIRE(read_file(path) == std::string("sec\0nd", 6));
  write_file(path, "");
  REQUIRE(read_file(path).empty());
  REQUIRE(folder.names() == std::vector<std::string>{"file.txt"});
}

TEST_CASE("a file that is not committed does not appear", "[hub]") {
  const TemporaryFolder folder;
  const auto path = folder / "file.txt";
  write_file(path, "old");
  {
    AtomicFile file(path);
    file.write("new");
    REQUIRE(folder.names().size() == 2);
  }
  REQUIRE(read_file(path) == "old");
  REQUIRE(folder.names() == std::vector<std::string>{"file.txt"});
}

TEST_CASE("two writers of one file do not share a temporary file", "[hub]") {
  const TemporaryFolder folder;
  const auto path = folder / "file.txt";
  AtomicFile first(path), second(path);
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  REQUIRE(read_file(path) == "first");
}

TEST_CASE("a relative path without a folder is written in the working folder", "[hub]") {
  const TemporaryFolder folder;
  const int status = wait_for(start_child([&] {
    fs::current_path(folder.path());
    write_file("plain", "text");
  }));
  REQUIRE(status == 0);
  REQUIRE(read_file(folder / "plain") == "text");
}

TEST_CASE("links are followed and devices are written to directly", "[hub]") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "there");
  write_file(folder / "there/file", "old");
  fs::create_symlink("there/file", folder / "link");
  write_file(folder / "link", "new");
  REQUIRE(fs::is_symlink(folder / "link"));
  REQUIRE(read_file(folder / "there/file") == "new");

  write_file("/dev/null", "gone");
  REQUIRE(fs::is_character_file("/dev/null"));
}

TEST_CASE("a failed write names the path and the system's reason", "[hub]") {
  const TemporaryFolder folder;
  const auto missing = folder / "no/such/file";
  REQUIRE_THAT(error_of([&] { write_file(missing, "x"); }),
               ContainsSubstring(missing.string()) && ContainsSubstring("No such file or directory"));
  REQUIRE_THAT(error_of([&] { read_file(missing); }), ContainsSubstring(missing.string()));
  REQUIRE_THAT(error_of([&] { sum_file(missing); }), ContainsSubstring(missing.string()));
  REQUIRE_THAT(error_of([&] { write_file(folder.path(), "x"); }), ContainsSubstring("Is a directory"));
  REQUIRE_THAT(error_of([&] { read_file(folder.path()); }), ContainsSubstring("Is a directory"));
  REQUIRE_THAT(error_of([&] { write_file("/dev/full", "x"); }),
               ContainsSubstring("/dev/full") && ContainsSubstring("No space left on device"));
  REQUIRE_THROWS_AS(write_file(missing, "x"), std::system_error);
}

TEST_CASE("a write beyond the file size limit keeps the old file and removes its own", "[hub]") {
  const TemporaryFolder folder;
  const auto path = folder / "file.txt";
  write_file(path, "old");
  const int status = run_with_file_limit(10'000, [&] {
    const auto error = error_of([&] { write_file(path, std::string(50'000, 'x')); });
    if (error != "cannot write " + path.string() + ": File too large") ::_exit(3);
  });
  REQUIRE(status == 0);
  REQUIRE(read_file(path) == "old");
  REQUIRE(folder.names() == std::vector<std::string>{"file.txt"});
}

TEST_CASE("a killed writer leaves the old file and something that is cleaned up", "[hub]") {
  const TemporaryFolder folder;
  const auto path = folder / "file.txt";
  write_file(path, "old");
  fs::create_directory(folder / ".keep");
  write_file(folder / "not.partial", "");
  const int status = wait_for(start_child([&] {
    AtomicFile file(path);
    file.write("half");
    ::kill(::getpid(), SIGKILL);
  }));
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(folder.names().size() == 4);
  REQUIRE(read_file(path) == "old");
  fs::create_directory(unfinished_name(folder / "folder"));
  remove_unfinished(folder.path());
  REQUIRE(folder.names() == std::vector<std::string>{".keep", "file.txt", "not.partial"});
  REQUIRE_NOTHROW(remove_unfinished(folder / "absent"));
}

TEST_CASE("lines are appended, counted and cut back on resume", "[hub]") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  uint64_t kept = 0;
  {
    LineWriter lines(path);
    lines.append("{\"step\": 1}");
    kept = lines.bytes();
    lines.append("{\"step\": 2}");
    lines.sync();
    REQUIRE(lines.bytes() == fs::file_size(path));
  }
  REQUIRE(read_file(path) == "{\"step\": 1}\n{\"step\": 2}\n");
  {
    LineWriter lines(path, kept);
    lines.append("{\"step\": 2, \"again\": true}");
  }
  REQUIRE(read_file(path) == "{\"step\": 1}\n{\"step\": 2, \"again\": true}\n");
  {
    LineWriter lines(path);
    lines.append("");
  }
  REQUIRE(read_file(path) == "{\"step\": 1}\n{\"step\": 2, \"again\": true}\n\n");
  REQUIRE_THAT(error_of([&] { LineWriter(path, 1000); }),
               ContainsSubstring(path.string()) && ContainsSubstring("1000"));
  REQUIRE_THAT(error_of([&] { LineWriter(folder / "no/file"); }), ContainsSubstring("No such file or directory"));
}

TEST_CASE("a line that does not fit is taken back whole", "[hub]") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  const int status = run_with_file_limit(1000, [&] {
    LineWriter lines(path);
    lines.append(std::string(800, 'a'));
    const auto error = error_of([&] { lines.append(std::string(800, 'b')); });
    if (error != "cannot append to " + path.string() + ": File too large") ::_exit(3);
    lines.append("c");
  });
  REQUIRE(status == 0);
  REQUIRE(read_file(path) == std::string(800, 'a') + "\nc\n");
}

}  // namespace blockzoo::test
