#include <sentencepiece_processor.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece_module.h"

namespace blockzoo {
namespace {

using sentencepiece::SentencePieceProcessor;

const SentencePieceProcessor& processor(const void* model) {
  return *static_cast<const SentencePieceProcessor*>(model);
}

/// Calls `work`, which returns the library's status.
bool answered(const SentencePieceAnswer& answer, const auto& work) noexcept {
  try {
    const sentencepiece::util::Status status = work();
    if (!status.ok()) answer.error(answer.to, status.error_message());
    return status.ok();
  } catch (const std::exception& error) {
    answer.error(answer.to, error.what());
  } catch (...) {
    answer.error(answer.to, "the library failed without a reason");
  }
  return false;
}

void* open(const char* bytes, size_t count, const SentencePieceAnswer* answer) {
  std::unique_ptr<SentencePieceProcessor> model;
  const bool loaded = answered(*answer, [&] {
    model = std::make_unique<SentencePieceProcessor>();
    return model->LoadFromSerializedProto(std::string_view(bytes, count));
  });
  return loaded ? model.release() : nullptr;
}

void close(void* model) { delete static_cast<SentencePieceProcessor*>(model); }

int pieces(const void* model) { return processor(model).GetPieceSize(); }

PieceKind kind(const void* model, int id) {
  const auto& of = processor(model);
  if (of.IsUnknown(id)) return PieceKind::kUnknown;
  if (of.IsControl(id)) return PieceKind::kControl;
  if (of.IsByte(id)) return PieceKind::kByte;
  return of.IsUnused(id) ? PieceKind::kUnused : PieceKind::kNormal;
}

bool piece(const void* model, int id, const SentencePieceAnswer* answer) {
  return answered(*answer, [&] {
    const std::string& text = processor(model).IdToPiece(id);
    answer->text(answer->to, text.data(), text.size());
    return sentencepiece::util::Status();
  });
}

bool encode(const void* model, const char* text, size_t bytes, const SentencePieceAnswer* answer) {
  return answered(*answer, [&] {
    std::vector<int> ids;
    auto status = processor(model).Encode(std::string_view(text, bytes), &ids);
    if (status.ok()) answer->ids(answer->to, ids.data(), ids.size());
    return status;
  });
}

bool decode(const void* model, const int* ids, size_t count, const SentencePieceAnswer* answer) {
  return answered(*answer, [&] {
    std::string text;
    auto status = processor(model).Decode(std::vector<int>(ids, ids + count), &text);
    if (status.ok()) answer->text(answer->to, text.data(), text.size());
    return status;
  });
}

}  // namespace
}  // namespace blockzoo

extern "C" const blockzoo::SentencePieceModule* blockzoo_sentencepiece() {
  static constexpr blockzoo::SentencePieceModule module{
      .open = blockzoo::open,
      .close = blockzoo::close,
      .pieces = blockzoo::pieces,
      .kind = blockzoo::kind,
      .piece = blockzoo::piece,
      .encode = blockzoo::encode,
      .decode = blockzoo::decode,
  };
  return &module;
}
