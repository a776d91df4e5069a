#pragma once

#include <cstdint>
#include <string>

#include "blockzoo/data/held_out.h"
#include "blockzoo/data/token_source.h"

namespace blockzoo {

/// What the two file corpora share: ids of a fixed width in files, with a vocabulary to check them against.
template <class Id>
struct IdFiles {
  std::string path;
  ValidationConfig validation;
  int64_t vocabulary;
};

/// Opens both parts, checks every id, and refuses parts that share a file or are equal.
/// Id is uint8_t, uint16_t or uint32_t.
template <class Id>
Corpus open_id_files(const IdFiles<Id>& files);

}  // namespace blockzoo
