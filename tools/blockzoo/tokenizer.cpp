#include "blockzoo/text/tokenizer.h"

#include <spdlog/fmt/fmt.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>

#include "blockzoo/core/hash.h"
#include "blockzoo/core/names.h"
#include "blockzoo/data/text_files.h"
#include "blockzoo/data/token_file.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/text/encode_files.h"
#include "blockzoo/text/train_tokenizer.h"
#include "commands.h"
#include "part_bar.h"

namespace blockzoo {
namespace {

namespace fs = std::filesystem;

struct TokenizerArguments {
  TokenizerTraining training{.vocabulary = 10000};
  std::string pattern = "gpt2";
  std::vector<std::string> corpus;
  std::string tokenizer;
  std::string to;
  std::string text;
  std::string file;
  bool quiet = false;
};

WordPattern pattern_named(const std::string& name) {
  for (const auto& [pattern, spelling] : names(WordPattern{}))
    if (spelling == name) return pattern;
  throw std::runtime_error("--pattern is '" + name + "'; one of: " + all_names<WordPattern>());
}

void train_command(TokenizerArguments arguments) {
  arguments.training.pattern = pattern_named(arguments.pattern);
  const fs::path folder = arguments.to;
  if (fs::exists(folder)) throw std::runtime_error(folder.string() + " is there already; name another folder");
  const auto files = text_files(arguments.corpus);
  PartBar bar(arguments.quiet);
  const auto written =
      train_tokenizer(arguments.training, files, [&](std::string_view stage, double done) { bar.show(stage, done); });
  bar.clear();
  fs::create_directories(folder);
  for (const auto& [name, contents] : written) write_file(folder / name, contents);
  const auto tokenizer = open_tokenizer(folder);
  std::cout << fmt::format("{}: {} ids, hash {}\n", folder.string(), tokenizer->vocabulary(), hex(tokenizer->hash()));
  if (tokenizer->vocabulary() < arguments.training.vocabulary)
    std::cout << fmt::format("fewer than {}: no word has two tokens that could be merged\n",
                             arguments.training.vocabulary);
}

template <class Id>
std::string as_bytes_of(std::span<const int64_t> ids) {
  std::string bytes(ids.size() * sizeof(Id), '\0');
  auto* out = bytes.data();
  for (const auto id : ids) {
    const auto narrow = static_cast<Id>(id);
    std::memcpy(out, &narrow, sizeof(Id));
    out += sizeof(Id);
  }
  return bytes;
}

void encode_command(const TokenizerArguments& arguments) {
  const auto tokenizer = open_tokenizer(arguments.tokenizer);
  const auto files = text_files(arguments.corpus);
  const auto header = token_file_header(tokenizer->vocabulary(), tokenizer->hash());
  if (fs::exists(arguments.to)) throw std::runtime_error(arguments.to + " is there already; name another file");
  AtomicFile out(arguments.to);
  out.write(to_bytes(header));
  int64_t tokens = 0;
  int64_t bytes = 0;
  PartBar bar(arguments.quiet);
  encode_files(
      *tokenizer, files,
      [&](std::span<const int64_t> ids) {
        out.write(header.width == 2 ? as_bytes_of<uint16_t>(ids) : as_bytes_of<uint32_t>(ids));
        tokens += static_cast<int64_t>(ids.size());
        for (const auto id : ids) bytes += tokenizer->text_bytes(id);
      },
      [&](double done) { bar.show("encoding", done); });
  out.commit();
  bar.clear();
  std::cout << fmt::format("{}: {} tokens of {} files, {} bits each, {:.3f} bytes a token\n", arguments.to, tokens,
                           files.size(), 8 * header.width, static_cast<double>(bytes) / static_cast<double>(tokens));
}

std::vector<int64_t> ids_of_file(const fs::path& file, const Tokenizer& tokenizer) {
  const auto header = read_token_file_header(file);
  if (!header) throw std::runtime_error(file.string() + " is no token file of blockzoo tokenizer encode");
  require_tokenizer(*header, file, tokenizer);
  const auto bytes = read_file(file).substr(TokenFileHeader::bytes);
  const auto width = static_cast<size_t>(header->width);
  std::vector<int64_t> ids(bytes.size() / width);
  for (size_t i = 0; i < ids.size(); ++i) std::memcpy(&ids[i], bytes.data() + i * width, width);
  return ids;
}

void decode_command(const TokenizerArguments& arguments) {
  const auto tokenizer = open_tokenizer(arguments.tokenizer);
  const auto text = tokenizer->decode(ids_of_file(arguments.file, *tokenizer));
  std::cout.write(text.data(), static_cast<std::streamsize>(text.size()));
}

/// Characters that would break a line are written as escapes.
std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return out;
}

void show_command(const TokenizerArguments& arguments) {
  const auto tokenizer = open_tokenizer(arguments.tokenizer);
  const auto text = arguments.text == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : arguments.text;
  const auto ids = tokenizer->encode(text);
  for (const auto id : ids) std::cout << fmt::format("{:>8}  {}\n", id, on_one_line(tokenizer->piece(id)));
  std::cout << fmt::format("{} tokens of {} bytes\n", ids.size(), text.size());
}

}  // namespace

void add_tokenizer_command(CLI::App& app) {
  auto arguments = std::make_shared<TokenizerArguments>();
  auto* command = app.add_subcommand("tokenizer", "Learn a tokenizer, encode text with it, see what it does");
  command->require_subcommand(1);
  const auto corpus = [&](CLI::App* sub) {
    sub->add_option("corpus", arguments->corpus, "files of text, or folders of them")->required();
    sub->add_flag("--quiet", arguments->quiet, "no progress");
  };
  const auto tokenizer = [&](CLI::App* sub) {
    sub->add_option("--tokenizer", arguments->tokenizer, "folder with tokenizer.json or tokenizer.model, or that file")
        ->required();
  };

  auto* train = command->add_subcommand("train", "Learn a byte-level BPE from text");
  train->add_option("--vocab", arguments->training.vocabulary, "ids: special tokens, 256 bytes, merges")
      ->capture_default_str();
  train->add_option("--special", arguments->training.special, "special tokens; the first ends a document")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  train->add_option("--pattern", arguments->pattern, "how text is cut into words: gpt2, llama3 or qwen2")
      ->capture_default_str();
  train->add_option("--min-frequency", arguments->training.min_frequency, "of a pair that is merged")
      ->capture_default_str();
  train->add_option("--to", arguments->to, "new folder for tokenizer.json and tokenizer_config.json")->required();
  corpus(train);
  train->footer("Example: blockzoo tokenizer train --vocab 10000 --special '<|endoftext|>' --to my_tokenizer texts/");
  train->callback([arguments] { train_command(*arguments); });

  auto* encode = command->add_subcommand("encode", "Turn text into a token file, which training maps into memory");
  tokenizer(encode);
  encode->add_option("--to", arguments->to, "new token file")->required();
  corpus(encode);
  encode->callback([arguments] { encode_command(*arguments); });

  auto* decode = command->add_subcommand("decode", "Write the text of a token file to standard output");
  tokenizer(decode);
  decode->add_option("file", arguments->file, "token file")->required();
  decode->callback([arguments] { decode_command(*arguments); });

  auto* show = command->add_subcommand("show", "Print the pieces and ids of a text");
  tokenizer(show);
  show->add_option("text", arguments->text, "the text; - reads standard input")->required();
  show->callback([arguments] { show_command(*arguments); });
}

}  // namespace blockzoo
