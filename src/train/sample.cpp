#include "blockzoo/train/sample.h"

#include <memory>

#include "blockzoo/infer/generate.h"
#include "blockzoo/text/byte_tokenizer.h"
#include "blockzoo/text/text_stream.h"
#include "blockzoo/text/tokenizer.h"

namespace blockzoo {
namespace {

std::unique_ptr<Tokenizer> tokenizer_of(const CorpusConfig& corpus) {
  if (const auto* file = tokenizer_file_of(corpus)) return open_tokenizer(file->path);
  return std::make_unique<ByteTokenizer>();
}

}  // namespace

Sample draw_sample(ModelImpl& model, const RunConfig& config, const TextSample& wanted) {
  const auto tokenizer = tokenizer_of(config.data.corpus);
  const auto prompt = tokenizer->encode(wanted.prompt);
  GenerateOptions options{.tokens = wanted.tokens, .seed = static_cast<uint64_t>(config.seed)};
  options.sampling.temperature = wanted.temperature;
  if (const auto end = tokenizer->end_of_text()) options.stop_ids.push_back(*end);
  const auto ids = generate(model, {prompt}, options).at(0).ids;
  // Some tokenizers write the first id of a text without its space, so the prompt's ids go before.
  TextStream stream(*tokenizer);
  for (const auto id : prompt) stream.push(id);
  Sample sample{.prompt = wanted.prompt, .text = {}, .tokens = static_cast<int64_t>(ids.size())};
  for (const auto id : ids) sample.text += stream.push(id);
  sample.text += stream.finish();
  return sample;
}

}  // namespace blockzoo
