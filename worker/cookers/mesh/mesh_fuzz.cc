// The whole cooker on foreign bytes. The first byte picks the settings; the first bytes of the rest
// say whether it is .gltf or .glb. An output must cook again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/mesh/mesh_cooker.h"

namespace galley::worker {
namespace {

absl::Status CookBytes(const std::string& source, uint8_t choice, std::string& output) {
  static const std::unique_ptr<Cooker> cooker = CreateMeshCooker();
  nlohmann::json settings = {{"quantize", (choice & 1) == 0}};
  if ((choice & 2) != 0) settings["lods"] = {0.5};
  FakeCookContext context(cooker->description(), "/Game/a.glb", source, settings);
  context.AddFile("/Game/a.bin", std::string(1024, '\1'));
  context.set_memory_bytes_max(uint64_t{64} << 20);
  const absl::Status status = LoadAndCook(*cooker, context);
  if (status.ok()) output = context.output(".glb");
  return status;
}

}  // namespace
}  // namespace galley::worker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string source(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string cooked;
  if (!galley::worker::CookBytes(source, data[0], cooked).ok()) return 0;
  std::string again;
  const absl::Status status = galley::worker::CookBytes(cooked, data[0], again);
  GALLEY_CHECK(status.ok() || absl::IsOutOfRange(status));
  return 0;
}
