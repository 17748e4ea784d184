// Any bytes as a shader: the first byte picks the stage, the second the target, the rest is GLSL.
#include <array>
#include <cstdint>
#include <string>

#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/shader/shader_cooker.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using galley::worker::Cooker;
  constexpr std::array kStages = {"vert", "frag", "comp", "geom", "tesc", "tese"};
  constexpr std::array kTargets = {"spirv-1.0", "spirv-1.6", "essl-300", "essl-310",
                                   "essl-320",  "msl-2.0",   "msl-2.4"};
  static const std::unique_ptr<Cooker> cooker = galley::worker::CreateShaderCooker();
  if (size < 2) return 0;
  galley::worker::FakeCookContext context(
      cooker->description(), std::string("/Game/a.") + kStages[data[0] % kStages.size()],
      std::string(reinterpret_cast<const char*>(data) + 2, size - 2));
  context.SetPlatform("shader", kTargets[data[1] % kTargets.size()]);
  context.AddFile("/Game/a.glsl", "#include \"a.glsl\"\n");
  const absl::Status status = LoadAndCook(*cooker, context);
  GALLEY_CHECK(status.ok() || absl::IsInvalidArgument(status) || absl::IsInternal(status));
  return 0;
}
