#include "director/host/environment_difference.h"

#include "common/base/log.h"
#include "common/record/observation.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kShownMax = 100;

}  // namespace

std::string ValueText(std::string_view value) {
  return fmt::format("\"{}\"{}", EscapeControl(value.substr(0, kShownMax)),
                     value.size() > kShownMax ? "..." : "");
}

std::string RefusalOf(const DifferingVariables& differing, const StoredResult& result) {
  if (differing.empty()) return "";
  for (const record::Observed& seen : result.observed) {
    if (seen.what.kind != record::ObservationKind::kEnv) continue;
    const auto found = differing.find(seen.what.subject);
    if (found == differing.end()) continue;
    return fmt::format(
        "the environment variable {} is {} for the director and {} here, and the cook of {} looked "
        "at it: give both the same value, or start the director again in this environment (`galley "
        "serve --stop`, then `galley serve --detach`). Nothing is published; what is finished is "
        "kept",
        EscapeControl(seen.what.subject),
        seen.value == record::kUnset ? std::string(kUnsetText) : ValueText(seen.value.substr(1)),
        found->second, EscapeControl(result.package));
  }
  return "";
}

}  // namespace galley::director
