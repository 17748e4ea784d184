// Blob: immutable bytes that many threads may read; copied by reference.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace galley {

using Blob = std::shared_ptr<const std::string>;

inline Blob MakeBlob(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

}  // namespace galley
