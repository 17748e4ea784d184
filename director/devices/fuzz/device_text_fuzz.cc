// Texts from outside about devices: the file `world` and the list of generated packages of a root
// in the store, the id of an event in a request, the name of a lease, a link, and the file of a
// static tree. A text that a reader takes is given back by its writer byte for byte.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "common/tree/plain_name.h"
#include "director/devices/change_event.h"
#include "director/devices/device_world.h"
#include "director/devices/generated_list.h"
#include "director/devices/node_path.h"
#include "director/devices/static_tree_file.h"
#include "director/devices/wanted_leases.h"

namespace galley::devices {
namespace {

// A tree that is read from sealed lines is the same after it was written and read again.
void FuzzStaticTree(std::string_view bytes) {
  std::vector<SealedLine> lines;
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    lines.push_back({std::string(line.substr(0, space)), std::string(line.substr(space + 1))});
  }
  const auto tree = DecodeStaticTree(Seal("galley-static", kStaticTreeVersion, lines));
  if (!tree.ok()) return;
  const auto again = DecodeStaticTree(EncodeStaticTree(*tree));
  GALLEY_CHECK(again.ok() && *again == *tree);
}

}  // namespace
}  // namespace galley::devices

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::devices;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto world = DecodeDeviceWorld(bytes); world.ok())
    GALLEY_CHECK(EncodeDeviceWorld(*world) == bytes);
  if (const auto list = DecodeGeneratedList(bytes); list.ok())
    GALLEY_CHECK(EncodeGeneratedList(*list) == bytes);
  FuzzStaticTree(bytes);
  if (const auto id = ParseEventId(bytes)) GALLEY_CHECK(TextOf(*id) == bytes);
  if (const auto owner = ParseLeaseName("p", bytes)) GALLEY_CHECK(LeaseName("p", *owner) == bytes);
  // The link's path, a line, and its target.
  const size_t end = bytes.find('\n');
  const std::string_view path = bytes.substr(0, end);
  if (end == std::string_view::npos || !galley::tree::IsPlainPath(path)) return 0;
  if (const auto link = ParseLinkTarget(path, bytes.substr(end + 1)))
    GALLEY_CHECK(LinkTarget(path, *link) == bytes.substr(end + 1));
  return 0;
}
