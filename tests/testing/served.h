// Served: lines of text, one for each thing that a store was given, and what the store serves of
// it, for tests that let its bytes rot.
//
//   blob <digest>
//   result <action key> <digests of the encoded results that were ever stored under it>
//   set <weak key> <digests of the sets that were ever stored under it>
//   tree <platform> <root>   it is the platform's newest root, with everything that it names
#pragma once

#include <string>
#include <string_view>

#include "common/store/interface/store.h"

namespace galley::store {

// kRefused: the store says that the bytes are wrong. kFailed: the store could not tell.
enum class ServedKind { kRight, kAbsent, kRefused, kWrong, kFailed };

struct Served {
  ServedKind kind = ServedKind::kRight;
  std::string why;  // for every kind but kRight
};

std::string_view NameOf(ServedKind kind);

// Asks for the thing that `line` names in every possible way: a blob as a whole and in pieces.
Served ReadServed(Store& store, std::string_view line);

}  // namespace galley::store
