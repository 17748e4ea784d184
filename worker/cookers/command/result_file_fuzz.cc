// Any bytes as a {result} file: the context gets whole values, or the caller an error in words.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/cookers/command/command_cooker.h"
#include "worker/cookers/command/result_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::worker;
  static const std::unique_ptr<Cooker> cooker = CreateCommandCooker();
  static FakeCookContext home(cooker->description(), "/G/a", "source");
  static const Workspace workspace = [] {
    auto made = Workspace::Create(home);
    GALLEY_CHECK(made.ok() && made->MakeFolderOf("made/a.level").ok());
    GALLEY_CHECK(
        galley::WriteFileAtomic(galley::JoinPath(made->root(), "made/a.level"), "{}").ok());
    return *std::move(made);
  }();
  if (size == 0) return 0;
  FakeCookContext context(cooker->description(), "/G/a", "source");
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  const absl::Status status = ApplyResult(context, workspace, json, data[0] % 2 == 1);
  GALLEY_CHECK(status.ok() || absl::IsInvalidArgument(status));
  for (const auto& [name, package] : context.generated()) {
    GALLEY_CHECK(package.settings_json.empty() ||
                 nlohmann::json::parse(package.settings_json).is_object());
  }
  return 0;
}
