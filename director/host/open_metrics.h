// OpenMetrics: opens the MetricsDoor of a director at the address of [director] metrics.
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

// Null: metrics are not configured. Everything that `read` uses outlives the door. Errors:
// outcome_status.h. REQUIRES: the project's lock.
absl::StatusOr<std::unique_ptr<metrics::MetricsDoor>> OpenMetrics(
    const project::Project& project, std::function<metrics::Figures()> read);

// Returns the URL of the metrics of the project's director, "http://127.0.0.1:9464/metrics"; empty:
// it has no metrics.
std::string MetricsUrl(const project::Project& project);

}  // namespace galley::director
