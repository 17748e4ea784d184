#include "common/base/real_path.h"

#include <cstdlib>
#include <memory>

#include "common/base/file.h"

namespace galley {

std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real == nullptr ? AbsolutePath(path) : std::string(real.get());
}

}  // namespace galley
