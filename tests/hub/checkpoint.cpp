#include "blockzoo/hub/checkpoint.h"

#include <ATen/ATen.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "blockzoo/hub/safetensors.h"
#include "hub/files.h"
#include "support/catch.h"

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

namespace blockzoo::test {

namespace {

/// Every value depends on the step, so that parts of two checkpoints cannot pass for one.
Checkpoint make_checkpoint(int64_t step, int64_t values = 100) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.config_hash = "0123456789abcdef";
  checkpoint.config_yaml = "train:\n  steps: " + std::to_string(step) + "\n";
  checkpoint.state_json = R"({"tokens":)" + std::to_string(step) + R"(,"loss":0.1,"best":null,"rng":"00ff"})";
  checkpoint.weights = {{"a", at::full({values}, static_cast<double>(step))}, {"b", at::ones({2, 3}) * step}};
  checkpoint.optimizer = {{"a.mean", at::full({values}, -static_cast<double>(step))}, {"step", at::tensor(step)}};
  return checkpoint;
}

void require_equal(const Checkpoint& a, const Checkpoint& b) {
  REQUIRE(a.step == b.step);
  REQUIRE(a.config_hash == b.config_hash);
  REQUIRE(a.config_yaml == b.config_yaml);
  REQUIRE(nlohmann::json::parse(a.state_json) == nlohmann::json::parse(b.state_json));
  for (const auto& [left, right] : {std::pair(&a.weights, &b.weights), std::pair(&a.optimizer, &b.optimizer)}) {
    REQUIRE(left->size() == right->size());
    for (const auto& [name, tensor] : *left) REQUIRE(at::equal(tensor, right->at(name)));
  }
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& path : list_checkpoints(folder)) names.push_back(path.filename());
  return names;
}

}  // namespace

TEST_CASE("a checkpoint gives back what was saved", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto saved = make_checkpoint(200);
  const auto path = save_checkpoint(folder / "checkpoints", saved, 2);
  REQUIRE(path == folder / "checkpoints" / "step_00000200");
  require_equal(load_checkpoint(path), saved);
  const auto found = load_newest_checkpoint(folder / "checkpoints", saved.config_hash);
  REQUIRE(found.has_value());
  REQUIRE(found->path == path);
  REQUIRE(found->refused.empty());
  require_equal(found->checkpoint, saved);

  const auto state = nlohmann::json::parse(read_file(path / "state.json"));
  REQUIRE(state["step"] == 200);
  REQUIRE(state["schema"] == 1);
  REQUIRE(state["state"]["loss"] == 0.1);
  REQUIRE(state["files"]["config.yaml"]["bytes"] == saved.config_yaml.size());
  REQUIRE(load_safetensors(path / "weights.safetensors").size() == 2);
}

TEST_CASE("no checkpoints is not an error", "[hub][torch]") {
  const TemporaryFolder folder;
  REQUIRE(!load_newest_checkpoint(folder / "absent").has_value());
  fs::create_directory(folder / ".step_00000100.1.0.partial");
  fs::create_directory(folder / "step_100");
  fs::create_directory(folder / "step_0000010x");
  write_file(folder / "notes.txt", "");
  REQUIRE(!load_newest_checkpoint(folder.path()).has_value());
}

TEST_CASE("the newest by number is taken, the oldest are pruned", "[hub][torch]") {
  const TemporaryFolder folder;
  for (const int64_t step : {5, 90, 100, 99'999'999, 100'000'000})
    save_checkpoint(folder.path(), make_checkpoint(step), 0);
  REQUIRE(names_in(folder.path()) == std::vector<std::string>{"step_100000000", "step_99999999", "step_00000100",
                                                              "step_00000090", "step_00000005"});
  REQUIRE(load_newest_checkpoint(folder.path())->checkpoint.step == 100'000'000);
  save_checkpoint(folder.path(), make_checkpoint(100'000'001), 3);
  REQUIRE(names_in(folder.path()) == std::vector<std::string>{"step_100000001", "step_100000000", "step_99999999"});
  REQUIRE(folder.names().size() == 3);
}

TEST_CASE("a checkpoint of the same step is replaced", "[hub][torch]") {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), make_checkpoint(100), 2);
  auto again = make_checkpoint(100);
  again.config_yaml = "again: true\n";
  save_checkpoint(folder.path(), again, 2);
  require_equal(load_checkpoint(folder / "step_00000100"), again);
  REQUIRE(folder.names().size() == 1);
}

TEST_CASE("a torn newest checkpoint is named and the one before is used", "[hub][torch]") {
  const auto* const file = GENERATE("weights.safetensors", "optimizer.safetensors", "config.yaml", "state.json");
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), make_checkpoint(100), 0);
  const auto newest = save_checkpoint(folder.path(), make_checkpoint(200), 0);
  const auto whole = read_file(newest / file);
  for (size_t part = 0; part < 10; ++part) {
    fs::resize_file(newest / file, whole.size() * part / 10);
    const auto found = load_newest_checkpoint(folder.path());
    INFO(file << " cut at " << part << " tenths");
    REQUIRE(found->checkpoint.step == 100);
    REQUIRE(found->refused.size() == 1);
    REQUIRE_THAT(found->refused[0], ContainsSubstring("step_00000200: " + std::string(file)));
    write_plainly(newest / file, whole);
  }
  REQUIRE(load_newest_checkpoint(folder.path())->checkpoint.step == 200);
  fs::remove(newest / file);
  REQUIRE(load_newest_checkpoint(folder.path())->checkpoint.step == 100);

  save_checkpoint(folder.path(), make_checkpoint(200), 2);
  REQUIRE(load_newest_checkpoint(folder.path())->refused.empty());
}

TEST_CASE("any flipped byte of a checkpoint is found", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = save_checkpoint(folder.path(), make_checkpoint(100), 0);
  std::mt19937 random(5);
  for (const auto* file : {"weights.safetensors", "optimizer.safetensors", "config.yaml", "state.json"}) {
    const auto whole = read_file(path / file);
    for (int trial = 0; trial < 150; ++trial) {
      auto flipped = whole;
      const auto at = random() % flipped.size();
      // Blanks between the JSON's parts carry nothing.
      if (file == std::string("state.json") && std::isspace(static_cast<unsigned char>(flipped[at]))) continue;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << random() % 8));
      write_plainly(path / file, flipped);
      INFO(file << " at " << at);
      REQUIRE_THROWS_AS(load_checkpoint(path), std::runtime_error);
    }
    write_plainly(path / file, whole);
  }
  REQUIRE_NOTHROW(load_checkpoint(path));
}

TEST_CASE("a foreign checkpoint is refused with the reason", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = save_checkpoint(folder.path(), make_checkpoint(100), 0);
  REQUIRE_THAT(error_of([&] { load_newest_checkpoint(folder.path(), "fedcba9876543210"); }),
               ContainsSubstring("no usable checkpoint in " + folder.path().string()) &&
                   ContainsSubstring("belongs to another run") && ContainsSubstring("fedcba9876543210"));

  fs::rename(path, folder / "step_00000300");
  REQUIRE_THAT(error_of([&] { load_checkpoint(folder / "step_00000300"); }), ContainsSubstring("is of step 100"));
  fs::rename(folder / "step_00000300", folder / "best");
  REQUIRE(load_checkpoint(folder / "best").step == 100);

  const auto refusal = [&](const std::string& state) {
    write_file(folder / "best/state.json", state);
    return error_of([&] { load_checkpoint(folder / "best"); });
  };
  REQUIRE_THAT(refusal(R"({"schema": 2})"), ContainsSubstring("its schema is 2, this program reads 1"));
  REQUIRE_THAT(refusal("{}"), ContainsSubstring("its schema is null"));
  REQUIRE_THAT(refusal("[]"), ContainsSubstring("not a JSON map"));
  REQUIRE_THAT(refusal("hello"), ContainsSubstring("not valid JSON"));
  REQUIRE_THAT(refusal(std::string(100'000, '[')), ContainsSubstring("nested too deep"));
  REQUIRE_THAT(refusal(R"({"schema": 1, "step": 1})"), ContainsSubstring("checksum differs"));
}

TEST_CASE("what cannot be saved is said and older checkpoints stay", "[hub][torch]") {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), make_checkpoint(100), 1);
  const auto refusal = [&](const Checkpoint& checkpoint) {
    const auto error = error_of([&] { save_checkpoint(folder.path(), checkpoint, 1); });
    REQUIRE_THAT(error, ContainsSubstring("step_00000200 was not saved: "));
    REQUIRE(folder.names() == std::vector<std::string>{"step_00000100"});
    return error;
  };
  auto bad = make_checkpoint(200);
  bad.state_json = R"({"loss": NaN})";
  REQUIRE_THAT(refusal(bad), ContainsSubstring("not valid JSON"));
  bad.state_json = "[1]";
  REQUIRE_THAT(refusal(bad), ContainsSubstring("not a JSON map"));
  bad = make_checkpoint(200);
  bad.weights["broken"] = at::Tensor();
  REQUIRE_THAT(refusal(bad), ContainsSubstring("'broken' is undefined"));
  write_file(folder / "file", "");
  REQUIRE_THAT(error_of([&] { save_checkpoint(folder / "file", bad, 1); }), ContainsSubstring("was not saved"));
}

TEST_CASE("a file size limit or a full disk costs the new checkpoint only", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto small = make_checkpoint(100), large = make_checkpoint(200, 1'000'000);
  const auto attempt = [&](const fs::path& folder, const std::string& reason) {
    save_checkpoint(folder, small, 1);
    const auto error = error_of([&] { save_checkpoint(folder, large, 1); });
    if (error.find("step_00000200 was not saved: ") == error.npos || error.find(reason) == error.npos) ::_exit(3);
    const auto found = load_newest_checkpoint(folder);
    if (!found || found->checkpoint.step != 100 || !found->refused.empty()) ::_exit(4);
    if (names_in(folder).size() != 1) ::_exit(5);
  };
  const auto limited = start_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1'000'000, 1'000'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    attempt(folder / "limited", "File too large");
  });
  REQUIRE(wait_for(limited) == 0);

  constexpr int not_allowed = 77;
  fs::create_directory(folder / "disk");
  const auto full = start_child([&] {
    const auto disk = (folder / "disk").string();
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(not_allowed);
    ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=5m") != 0) ::_exit(not_allowed);
    attempt(disk, "No space left on device");
  });
  const int status = wait_for(full);
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_allowed) {
    WARN("no right to mount a small disk here: the full disk was not tried");
  } else {
    REQUIRE(status == 0);
  }
}

TEST_CASE("kill -9 at any moment leaves the last complete checkpoint", "[hub][torch]") {
  const TemporaryFolder folder;
  std::mt19937 random(11);
  int64_t newest = 0;
  int unfinished = 0;
  for (int round = 0; round < 40; ++round) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const auto child = start_child([&] {
      for (auto step = newest + 1;; ++step) {
        save_checkpoint(folder.path(), make_checkpoint(step, 20'000), 2);
        if (::write(ends[1], &step, sizeof(step)) != sizeof(step)) ::_exit(2);
      }
    });
    ::close(ends[1]);
    int64_t told = newest;
    if (round % 2 == 0) REQUIRE(::read(ends[0], &told, sizeof(told)) == sizeof(told));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    ::kill(child, SIGKILL);
    REQUIRE(WIFSIGNALED(wait_for(child)));
    while (::read(ends[0], &told, sizeof(told)) == sizeof(told)) {
    }
    ::close(ends[0]);

    const auto found = load_newest_checkpoint(folder.path());
    REQUIRE(found.has_value());
    REQUIRE(found->refused.empty());
    REQUIRE(found->checkpoint.step >= told);
    require_equal(found->checkpoint, make_checkpoint(found->checkpoint.step, 20'000));
    newest = found->checkpoint.step;
    const auto before = folder.names().size();
    remove_unfinished(folder.path());
    unfinished += folder.names().size() < before;
    REQUIRE(folder.names().size() == names_in(folder.path()).size());
  }
  INFO("kills in the middle of a save: " << unfinished << ", steps: " << newest);
  REQUIRE(unfinished > 0);
}

TEST_CASE("a reader beside a run that prunes always gets a complete checkpoint", "[hub][torch]") {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), make_checkpoint(1), 1);
  const auto writer = start_child([&] {
    for (int64_t step = 2;; ++step) save_checkpoint(folder.path(), make_checkpoint(step), 1);
  });
  int64_t last = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
  std::string problem;
  while (std::chrono::steady_clock::now() < end && problem.empty()) {
    problem = error_of([&] {
      const auto found = load_newest_checkpoint(folder.path());
      if (!found) throw std::runtime_error("nothing found");
      if (!found->refused.empty()) throw std::runtime_error(found->refused[0]);
      if (found->checkpoint.step < last) throw std::runtime_error("went back");
      last = found->checkpoint.step;
    });
  }
  ::kill(writer, SIGKILL);
  wait_for(writer);
  REQUIRE(problem.empty());
  REQUIRE(last > 1);
}

}  // namespace blockzoo::test
