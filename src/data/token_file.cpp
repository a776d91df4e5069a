#include "blockzoo/data/token_file.h"

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <string_view>

#include "blockzoo/core/hash.h"
#include "data/mapped_file.h"

namespace blockzoo {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little endian and are read as they lie");

constexpr std::string_view kTokenFileMagic = "blockzoo tokens\n";
constexpr int64_t kTokenFileVersion = 1;

/// Behind the magic.
struct HeaderFields {
  int64_t version = kTokenFileVersion;
  int64_t width = 0;
  int64_t vocabulary = 0;
  uint64_t tokenizer = 0;
};

}  // namespace

TokenFileHeader token_file_header(int64_t vocabulary, uint64_t tokenizer) {
  return {.width = vocabulary <= 65536 ? 2 : 4, .vocabulary = vocabulary, .tokenizer = tokenizer};
}

std::string to_bytes(const TokenFileHeader& header) {
  const HeaderFields fields{.width = header.width, .vocabulary = header.vocabulary, .tokenizer = header.tokenizer};
  std::string bytes(kTokenFileMagic);
  bytes.append(reinterpret_cast<const char*>(&fields), sizeof(fields));
  bytes.resize(TokenFileHeader::bytes);
  return bytes;
}

std::optional<TokenFileHeader> read_token_file_header(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail_to_read(file.string());
  std::array<char, TokenFileHeader::bytes> bytes{};
  stream.read(bytes.data(), bytes.size());
  const auto count = static_cast<size_t>(stream.gcount());
  const std::string_view begin(bytes.data(), count);
  if (!begin.starts_with(kTokenFileMagic)) return std::nullopt;
  if (count < bytes.size()) fail_file(file.string(), "is cut short: a token file has at least 64 bytes");
  HeaderFields fields;
  std::memcpy(&fields, bytes.data() + kTokenFileMagic.size(), sizeof(fields));
  if (fields.version != kTokenFileVersion)
    fail_file(file.string(), "is a token file of version " + std::to_string(fields.version) + "; this program reads " +
                                 std::to_string(kTokenFileVersion));
  if ((fields.width != 2 && fields.width != 4) || fields.vocabulary < 1 || fields.vocabulary > int64_t{1} << 24)
    fail_file(file.string(), "is a damaged token file: ids of " + std::to_string(fields.width) +
                                 " bytes, a vocabulary of " + std::to_string(fields.vocabulary));
  return TokenFileHeader{fields.width, fields.vocabulary, fields.tokenizer};
}

void require_tokenizer(const TokenFileHeader& header, const std::filesystem::path& file, const Tokenizer& tokenizer) {
  if (header.tokenizer != tokenizer.hash() || header.vocabulary != tokenizer.vocabulary())
    fail_file(file.string(), "holds the ids of a tokenizer with hash " + hex(header.tokenizer) + " and " +
                                 std::to_string(header.vocabulary) + " ids; the one that is named has hash " +
                                 hex(tokenizer.hash()) + " and " + std::to_string(tokenizer.vocabulary()));
}

}  // namespace blockzoo
