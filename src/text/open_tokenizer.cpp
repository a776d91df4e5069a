#include <stdexcept>

#include "blockzoo/text/tokenizer.h"

namespace blockzoo {

std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& path) {
  throw std::runtime_error(path.string() + ": reading tokenizers is not supported yet");
}

}  // namespace blockzoo
