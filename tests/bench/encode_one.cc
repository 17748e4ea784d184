// encode_one: runs sources through cookers in this process, without store and keys: the reference
// that benchmarks give to ninja.
//
//   encode_one COOKER SETTINGS_JSON PARAMETER=VALUE[,...] INPUT VIRTUAL_NAME OUTPUT_STEM
//              [VIRTUAL_INCLUDE=PATH...]
//   encode_one --list FILE      the same for each line, a JSON list of these arguments
//
// Writes OUTPUT_STEM<suffix> for each output. Cooker code and settings are those of a worker.
// --list prints {"jobs": N, "cpu_s": S}: the processor time of this process.

#include <sys/resource.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "nlohmann/json.hpp"
#include "tests/testing/fake_cook_context.h"
#include "worker/executor/all_cookers.h"

namespace galley::worker {
namespace {

using Arguments = std::vector<std::string>;

constexpr size_t kArgumentsMin = 6;

absl::Status Encode(const Cookers& cookers, const Arguments& arguments) {
  if (arguments.size() < kArgumentsMin)
    return absl::InvalidArgumentError(
        "usage: encode_one COOKER SETTINGS PARAMETERS INPUT NAME OUTPUT [INCLUDE=PATH...]");
  Cooker* const cooker = FindCooker(cookers, arguments[0]);
  if (cooker == nullptr) return absl::NotFoundError("no such cooker");
  ASSIGN_OR_RETURN(std::string source, ReadFile(arguments[3]));
  FakeCookContext context(cooker->description(), arguments[4], std::move(source),
                          nlohmann::json::parse(arguments[1]));
  for (const auto pair : absl::StrSplit(arguments[2], ',', absl::SkipEmpty())) {
    const std::string text(pair);
    context.SetPlatform(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
  }
  for (size_t i = kArgumentsMin; i < arguments.size(); ++i) {
    const std::string& text = arguments[i];
    ASSIGN_OR_RETURN(std::string bytes, ReadFile(text.substr(text.find('=') + 1)));
    context.AddFile(text.substr(0, text.find('=')), std::move(bytes));
  }
  ASSIGN_OR_RETURN(const auto loaded, cooker->Load(context));
  RETURN_IF_ERROR(cooker->Cook(context, *loaded));
  for (const auto& [suffix, output] : context.outputs()) {
    const std::string path = arguments[5] + suffix;
    RETURN_IF_ERROR(CreateDirectories(path.substr(0, path.rfind('/'))));
    RETURN_IF_ERROR(WriteFileAtomic(path, output.bytes));
  }
  return absl::OkStatus();
}

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

absl::Status EncodeList(const Cookers& cookers, const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::istringstream lines(text);
  size_t jobs = 0;
  for (std::string line; std::getline(lines, line); ++jobs) {
    const auto arguments = nlohmann::json::parse(line).get<Arguments>();
    RETURN_IF_ERROR(Annotate(Encode(cookers, arguments), line));
  }
  std::printf("{\"jobs\": %zu, \"cpu_s\": %.3f}\n", jobs, CpuSeconds());
  return absl::OkStatus();
}

}  // namespace
}  // namespace galley::worker

int main(int argc, char** argv) {
  using namespace galley::worker;
  const Arguments arguments(argv + 1, argv + argc);
  const Cookers cookers = AllCookers();
  const absl::Status status = arguments.size() == 2 && arguments[0] == "--list"
                                  ? EncodeList(cookers, arguments[1])
                                  : Encode(cookers, arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "encode_one: %s\n", galley::MessageOf(status).c_str());
  return 1;
}
