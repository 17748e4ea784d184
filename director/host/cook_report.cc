#include "director/host/cook_report.h"

namespace galley::director {

int ExitCodeOf(const CookReport& report) {
  if (absl::IsInvalidArgument(report.end)) return 2;
  if (report.is_cut_short()) return 130;
  const bool is_unfit =
      report.outcome.has_value() && !report.outcome->ended.infrastructure_error.empty();
  if (!report.end.ok() || is_unfit || report.stage_failed) return 3;
  return report.has_failures ? 1 : 0;
}

}  // namespace galley::director
