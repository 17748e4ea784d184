// encode_one: one source through one cooker in a process of its own: the reference that benchmarks
// give to ninja.
//
//   encode_one COOKER SETTINGS_JSON PARAMETER=VALUE[,...] INPUT VIRTUAL_NAME OUTPUT_STEM
//   [VIRTUAL_INCLUDE=PATH...]
//
// Writes OUTPUT_STEM<suffix> for each output. The same cooker code with the same settings as a
// worker's; no store, no keys.

#include <cstdio>
#include <string>

#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "tests/testing/fake_cook_context.h"
#include "worker/executor/all_cookers.h"

namespace galley::worker {
namespace {

absl::Status Encode(int argc, char** argv) {
  if (argc < 7)
    return absl::InvalidArgumentError(
        "usage: encode_one COOKER SETTINGS PARAMETERS INPUT NAME OUTPUT [INCLUDE=PATH...]");
  ASSIGN_OR_RETURN(std::string source, ReadFile(argv[4]));
  const Cookers cookers = AllCookers();
  for (const auto& cooker : cookers) {
    if (cooker->description().name != argv[1]) continue;
    FakeCookContext context(cooker->description(), argv[5], std::move(source),
                            nlohmann::json::parse(argv[2]));
    for (const auto pair : absl::StrSplit(argv[3], ',', absl::SkipEmpty())) {
      const std::string text(pair);
      context.SetPlatform(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
    }
    for (int i = 7; i < argc; ++i) {
      const std::string text(argv[i]);
      ASSIGN_OR_RETURN(std::string bytes, ReadFile(text.substr(text.find('=') + 1)));
      context.AddFile(text.substr(0, text.find('=')), std::move(bytes));
    }
    ASSIGN_OR_RETURN(const auto loaded, cooker->Load(context));
    RETURN_IF_ERROR(cooker->Cook(context, *loaded));
    for (const auto& [suffix, output] : context.outputs()) {
      RETURN_IF_ERROR(WriteFileAtomic(std::string(argv[6]) + suffix, output.bytes));
    }
    return absl::OkStatus();
  }
  return absl::NotFoundError("no such cooker");
}

}  // namespace
}  // namespace galley::worker

int main(int argc, char** argv) {
  const absl::Status status = galley::worker::Encode(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "encode_one: %s\n", galley::MessageOf(status).c_str());
  return 1;
}
