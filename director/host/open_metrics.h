// OpenMetrics: opens the address at which a director answers Prometheus, as [director] metrics
// says.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "director/metrics/metrics_door.h"

namespace galley::director {

// Under the state folder, while the door is open: the address with its port.
inline constexpr const char* kMetricsAddressFile = "metrics-address";

// Null: no metrics are asked for. REQUIRES: the project's lock. Errors: outcome_status.h. `read`
// outlives the door.
absl::StatusOr<std::unique_ptr<metrics::MetricsDoor>> OpenMetrics(
    const project::Project& project, std::function<metrics::Figures()> read);

// Returns "http://127.0.0.1:9464/metrics" for the director that has the project; empty: it answers
// nowhere.
std::string MetricsUrl(const project::Project& project);

}  // namespace galley::director
