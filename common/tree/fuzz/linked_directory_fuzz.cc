// A Directory that DecodeLinkedDirectory takes is given back by EncodeLinkedDirectory byte for
// byte, its links have targets that ResolveLink can judge, and DecodeDirectory takes it exactly if
// it has no links.
#include <cstdint>
#include <string_view>

#include "common/base/status_macros.h"
#include "common/tree/find_path.h"
#include "common/tree/linked_directory.h"
#include "common/tree/plain_name.h"

namespace tree = galley::tree;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto directory = tree::DecodeLinkedDirectory(bytes);
  const bool is_cooked = directory.ok() && directory->links.empty();
  GALLEY_CHECK(tree::DecodeDirectory(bytes).ok() == is_cooked);
  if (!directory.ok()) return 0;
  GALLEY_CHECK(tree::EncodeLinkedDirectory(*directory) == bytes);
  for (const tree::LinkNode& link : directory->links) {
    const auto path = tree::ResolveLink("a/b/" + link.name, link.target);
    GALLEY_CHECK(!path.ok() || path->empty() || tree::IsPlainPath(*path));
  }
  return 0;
}
