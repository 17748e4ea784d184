#include "director/shell/forget_results.h"

#include <vector>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "director/core/effects.h"

namespace galley::director {

absl::Status ForgetResults(std::span<const std::string> packages, store::Store& store,
                           Journal& journal, KeptLimits& limits) {
  std::vector<Digest> keys;
  bool outgrew_limit = false;
  for (const std::string& name : packages) {
    ASSIGN_OR_RETURN(const auto record, journal.Find(name));
    if (!record.has_value()) return NotFoundError("{} was in no cook of this project", name);
    for (const auto& [platform, one] : record->platforms) keys.push_back(one.action_key);
    for (const auto& [platform, one] : record->failures)
      outgrew_limit |= one.cause == FailureCauseName(FailureCause::kLimit);
  }
  RETURN_IF_ERROR(store.Forget(keys));
  RETURN_IF_ERROR(journal.Forget(packages));
  if (!outgrew_limit) return absl::OkStatus();
  // Clears all limits: the limit may have been learned at an equal package, and one needless trial
  // does no harm.
  limits.Clear();
  return limits.Save();
}

}  // namespace galley::director
