#include "text/sentencepiece_model.h"

#include <dlfcn.h>

#include <stdexcept>
#include <utility>

#include "text/utf8.h"

namespace blockzoo {
namespace {

#if defined(__SANITIZE_ADDRESS__)
#define BLOCKZOO_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BLOCKZOO_SANITIZED
#endif
#endif

/// The module is opened with symbols of its own. The address sanitizer refuses RTLD_DEEPBIND; beside it the module has
/// a namespace, with a C library of its own.
void* open_apart(const char* file) {
#ifdef BLOCKZOO_SANITIZED
  return dlmopen(LM_ID_NEWLM, file, RTLD_NOW | RTLD_LOCAL);
#else
  return dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#endif
}

const SentencePieceModule& sentencepiece_module() {
  static const auto& module = open_sentencepiece_module(kSentencePieceModuleFile);
  return module;
}

/// What a call of the module answers.
struct Answered {
  std::string text;
  std::vector<uint32_t>* ids = nullptr;
  std::string error;

  SentencePieceAnswer answer() {
    return {
        .to = this,
        .text = [](void* to, const char* text, size_t bytes) { static_cast<Answered*>(to)->text.assign(text, bytes); },
        .ids =
            [](void* to, const int* ids, size_t count) {
              auto& all = *static_cast<Answered*>(to)->ids;
              all.insert(all.end(), ids, ids + count);
            },
        .error = [](void* to, const char* why) { static_cast<Answered*>(to)->error = why; }};
  }
};

/// The library's reason without the place and condition in its own source, "FILE.cc(LINE) [CONDITION] ".
std::string reason(const std::string& error) {
  if (error.find(".cc(") == error.npos) return valid_utf8(error);
  const auto behind = error.find_first_not_of("] ", error.rfind(']'));
  return behind < error.size() ? valid_utf8(error.substr(behind)) : "it is not of its format";
}

void* opened(const SentencePieceModule& module, std::string_view bytes) {
  Answered answered;
  const auto answer = answered.answer();
  if (auto* model = module.open(bytes.data(), bytes.size(), &answer)) return model;
  throw std::runtime_error("SentencePiece refuses it: " + reason(answered.error));
}

}  // namespace

const SentencePieceModule& open_sentencepiece_module(const char* file) {
  void* const library = open_apart(file);
  void* const entry = library != nullptr ? dlsym(library, kSentencePieceEntry) : nullptr;
  if (entry == nullptr)
    throw std::runtime_error(std::string("the module that reads SentencePiece models cannot be opened: ") + dlerror());
  return *reinterpret_cast<const SentencePieceModule* (*)()>(entry)();
}

SentencePieceModel::SentencePieceModel(std::string_view bytes)
    : module_(sentencepiece_module()), model_(opened(module_, bytes)) {}

SentencePieceModel::~SentencePieceModel() { module_.close(model_); }

int64_t SentencePieceModel::pieces() const { return module_.pieces(model_); }

PieceKind SentencePieceModel::kind(int64_t id) const { return module_.kind(model_, static_cast<int>(id)); }

std::string SentencePieceModel::piece(int64_t id) const {
  Answered answered;
  const auto answer = answered.answer();
  if (!module_.piece(model_, static_cast<int>(id), &answer)) throw std::runtime_error(answered.error);
  return std::move(answered.text);
}

void SentencePieceModel::encode(std::string_view text, std::vector<uint32_t>& ids) const {
  Answered answered;
  answered.ids = &ids;
  const auto answer = answered.answer();
  if (!module_.encode(model_, text.data(), text.size(), &answer)) throw std::runtime_error(answered.error);
}

std::string SentencePieceModel::decode(std::span<const int> ids) const {
  Answered answered;
  const auto answer = answered.answer();
  if (!module_.decode(model_, ids.data(), ids.size(), &answer)) throw std::runtime_error(answered.error);
  return std::move(answered.text);
}

}  // namespace blockzoo
