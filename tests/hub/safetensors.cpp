#include "blockzoo/hub/safetensors.h"

#include <ATen/ATen.h>

#include <cstring>
#include <random>

#include "blockzoo/core/names.h"
#include "hub/files.h"
#include "support/catch.h"

using Catch::Matchers::ContainsSubstring;

namespace blockzoo::test {

namespace {

/// Values that every type holds exactly, from below zero where the type has a sign.
at::Tensor ramp(at::ScalarType type, at::IntArrayRef shape) {
  const auto count = c10::multiply_integers(shape);
  const auto whole = at::arange(count, at::kLong);
  if (type == at::kBool) return whole.remainder(3).eq(0).reshape(shape);
  if (type == at::kByte) return whole.to(type).reshape(shape);
  const auto centred = whole - count / 2;
  return at::isFloatingType(type) ? (centred * 0.5).to(type).reshape(shape) : centred.to(type).reshape(shape);
}

bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && at::equal(a, b);
}

/// One tensor of every type, an empty one and a scalar: the content of the golden files.
NamedTensors one_of_each() {
  NamedTensors tensors;
  for (const auto& [type, name] : names(StoredType{})) {
    auto lower = "a." + std::string(name);
    tensors.emplace_back(lower, ramp(scalar_type(type), {2, 3}));
  }
  tensors.emplace_back("empty", at::zeros({3, 0}));
  tensors.emplace_back("scalar", at::full({}, 1.5F));
  tensors.emplace_back("näme \"quoted\"", at::full({}, 2.5F));
  return tensors;
}

std::string file_of(const std::string& json, const std::string& data = "") {
  const uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + json + data;
}

}  // namespace

TEST_CASE("a safetensors file gives back every type, shape and text", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "all.safetensors";
  const auto tensors = one_of_each();
  const auto sum = save_safetensors(path, tensors, {{"format", "pt"}, {"note", "a\nb"}});
  REQUIRE(sum == sum_file(path));
  REQUIRE(folder.names() == std::vector<std::string>{"all.safetensors"});

  const SafetensorsFile file(path);
  REQUIRE(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"note", "a\nb"}});
  REQUIRE(file.tensors().size() == tensors.size());
  const auto loaded = load_safetensors(path);
  for (const auto& [name, tensor] : tensors) {
    INFO(name);
    REQUIRE(same(loaded.at(name), tensor));
    REQUIRE(same(file.read(name), tensor));
  }
  REQUIRE(file.find("absent") == nullptr);
  REQUIRE_THAT(error_of([&] { file.read("absent"); }), ContainsSubstring("'absent'"));
}

TEST_CASE("Python's safetensors and this one agree on a file", "[hub][torch][golden]") {
  const SafetensorsFile python(std::string(BLOCKZOO_SOURCE_DIR) + "/tests/golden/hub/python.safetensors");
  REQUIRE(python.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"note", "a\nb"}});
  const auto tensors = one_of_each();
  REQUIRE(python.tensors().size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    INFO(name);
    REQUIRE(same(python.read(name), tensor));
  }

  const TemporaryFolder folder;
  save_safetensors(folder / "blockzoo.safetensors", tensors, {{"format", "pt"}, {"note", "a\nb"}});
  REQUIRE(equals_golden(folder / "blockzoo.safetensors"));
}

TEST_CASE("views are stored as the values that they show", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "views.safetensors";
  const auto base = at::arange(120, at::kFloat).reshape({4, 5, 6});
  const auto trained = at::ones({2, 2}).requires_grad_();
  const NamedTensors tensors = {{"transposed", base.transpose(0, 2)},
                                {"offset", base.slice(1, 2, 5)},
                                {"stepped", base.slice(2, 0, 6, 4)},
                                {"expanded", base.select(0, 1).select(0, 1).expand({3, 6})},
                                {"one_value", base.flatten()[7]},
                                {"permuted_bf16", base.to(at::kBFloat16).permute({1, 2, 0})},
                                {"negated", at::imag(at::complex(base, base).conj())},
                                {"channels_last", base.unsqueeze(0).contiguous(at::MemoryFormat::ChannelsLast)},
                                {"overlapping", base.flatten().unfold(0, 4, 2)},
                                {"empty_slice", base.slice(0, 2, 2)},
                                {"trained", trained * 2}};
  save_safetensors(path, tensors);
  const auto loaded = load_safetensors(path);
  REQUIRE(loaded.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    INFO(name);
    REQUIRE(same(loaded.at(name), tensor.detach()));
    REQUIRE(loaded.at(name).is_contiguous());
    REQUIRE(!loaded.at(name).requires_grad());
  }
}

TEST_CASE("every bit pattern survives, not-a-number and negative zero included", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "bits.safetensors";
  const auto bits = at::arange(65536, at::kInt).sub(32768).to(at::kShort);
  save_safetensors(path, {{"half", bits.view(at::kHalf)}, {"brain", bits.view(at::kBFloat16)}});
  const auto loaded = load_safetensors(path);
  REQUIRE(at::equal(loaded.at("half").view(at::kShort), bits));
  REQUIRE(at::equal(loaded.at("brain").view(at::kShort), bits));
}

TEST_CASE("each tensor is aligned to its elements for readers that map the file", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "aligned.safetensors";
  save_safetensors(path, {{"u8", at::ones({3}, at::kByte)},
                          {"f64", at::ones({3}, at::kDouble)},
                          {"f16", at::ones({3}, at::kHalf)},
                          {"i64", at::ones({3}, at::kLong)},
                          {"f32", at::ones({3})}});
  const SafetensorsFile file(path);
  const auto data = std::filesystem::file_size(path) - file.tensors().back().end;
  std::string order;
  for (const auto& info : file.tensors()) {
    REQUIRE((data + info.begin) % size_of(info.type) == 0);
    order += info.name + " ";
  }
  REQUIRE(order == "f64 i64 f32 f16 u8 ");
}

TEST_CASE("a file without tensors is a file", "[hub][torch]") {
  const TemporaryFolder folder;
  save_safetensors(folder / "none.safetensors", {});
  REQUIRE(load_safetensors(folder / "none.safetensors").empty());
}

TEST_CASE("a tensor that cannot be stored is refused by name and no file appears", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "bad.safetensors";
  const auto refusal = [&](const at::Tensor& tensor) {
    return error_of([&] { save_safetensors(path, {{"fine", at::ones({2})}, {"bad one", tensor}}); });
  };
  REQUIRE_THAT(refusal(at::Tensor()), ContainsSubstring(path.string()) && ContainsSubstring("'bad one' is undefined"));
  REQUIRE_THAT(refusal(at::ones({2}, at::kComplexFloat)), ContainsSubstring("'bad one': ") && ContainsSubstring("F64"));
  REQUIRE_THAT(refusal(at::ones({2}).to_sparse()), ContainsSubstring("'bad one' is not a dense tensor"));
  REQUIRE_THAT(refusal(at::empty({2}, at::TensorOptions().device(at::kMeta))),
               ContainsSubstring("'bad one' has no values"));
  REQUIRE_THAT(error_of([&] {
                 save_safetensors(path, {{"w", at::ones({2})}, {"w", at::ones({2})}});
               }),
               ContainsSubstring(path.string()) && ContainsSubstring("'w' is taken"));
  REQUIRE_THAT(error_of([&] { save_safetensors(path, {}, {{"note", "\xff"}}); }), ContainsSubstring("UTF-8"));
  REQUIRE(folder.names().empty());
}

TEST_CASE("a bool that is neither 0 nor 1 in the file counts as true", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "bool.safetensors";
  write_file(path, file_of(R"({"b":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}})", std::string("\0\1\2\xff", 4)));
  REQUIRE(at::equal(load_safetensors(path).at("b"), at::tensor({0, 1, 1, 1}).to(at::kBool)));
}

TEST_CASE("a broken safetensors file is refused by its path and with the field", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "broken.safetensors";
  const auto refusal = [&](const std::string& bytes) {
    write_plainly(path, bytes);
    const auto error = error_of([&] { load_safetensors(path); });
    REQUIRE_THAT(error, ContainsSubstring(path.string() + ": "));
    return error;
  };
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const auto valid = file_of(header, "12345678");
  REQUIRE_THAT(refusal(""), ContainsSubstring("0 bytes"));
  REQUIRE_THAT(refusal("1234567"), ContainsSubstring("7 bytes"));
  REQUIRE_THAT(refusal(std::string(8, '\xff') + valid), ContainsSubstring("header length 18446744073709551615"));
  REQUIRE_THAT(refusal("hello world, I am a text"), ContainsSubstring("header length"));
  REQUIRE_THAT(refusal(file_of("hello")), ContainsSubstring("must start with '{'"));
  REQUIRE_THAT(refusal(valid + "9"), ContainsSubstring("cover 8 of 9 bytes"));
  for (size_t length = 0; length < valid.size(); ++length) refusal(valid.substr(0, length));
  write_file(path, valid);
  REQUIRE(load_safetensors(path).at("w").sizes() == at::IntArrayRef{2});

  REQUIRE_THAT(error_of([&] { load_safetensors(folder / "absent"); }), ContainsSubstring("absent: No such file"));
  REQUIRE_THAT(error_of([&] { load_safetensors(folder.path()); }), ContainsSubstring("Is a directory"));
  REQUIRE_THAT(error_of([&] { load_safetensors("/dev/zero"); }), ContainsSubstring("/dev/zero"));
}

TEST_CASE("a file that shrinks while it is open is refused, not read past its end", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "shrinks.safetensors";
  save_safetensors(path, {{"w", at::ones({100'000})}});
  const SafetensorsFile file(path);
  std::filesystem::resize_file(path, 1000);
  REQUIRE_THAT(error_of([&] { file.read("w"); }), ContainsSubstring("'w' is cut off"));
}

TEST_CASE("flipping random bytes of a file never does worse than a refusal", "[hub][torch]") {
  const TemporaryFolder folder;
  const auto path = folder / "flipped.safetensors";
  save_safetensors(path, one_of_each(), {{"format", "pt"}});
  const auto valid = read_file(path);
  uint64_t header_length = 0;
  std::memcpy(&header_length, valid.data(), sizeof(header_length));
  std::mt19937 random(3);
  int refused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    auto flipped = valid;
    for (auto flips = 1 + random() % 3; flips > 0; --flips) {
      // Mostly the header: all of the data's bit patterns are valid.
      const auto end = random() % 8 == 0 ? flipped.size() : 8 + header_length;
      flipped[random() % end] ^= static_cast<char>(1 + random() % 255);
    }
    write_plainly(path, flipped);
    const auto error = error_of([&] { load_safetensors(path); });
    refused += !error.empty();
    if (!error.empty() && !error.starts_with(path.string() + ": ")) FAIL(error);
  }
  REQUIRE(refused > 1000);
}

}  // namespace blockzoo::test
