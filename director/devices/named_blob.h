// NamedBlob: bytes that the store must have before anything names them. Folders come after their
// children, so that blobs can be stored in the order of a list.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/digest.h"

namespace galley::devices {

struct NamedBlob {
  Digest digest;
  std::string bytes;
  bool operator==(const NamedBlob&) const = default;
};

// Appends `bytes`, and returns their digest.
inline Digest AppendBlob(std::string bytes, std::vector<NamedBlob>& blobs) {
  const Digest digest = Digest::Of(bytes);
  blobs.push_back({digest, std::move(bytes)});
  return digest;
}

}  // namespace galley::devices
