// Families: converts Figures to metric families of prometheus-cpp: names, types, help, labels.
//
// Names follow https://prometheus.io/docs/practices/naming/: galley_, then what is measured, base
// units, _total for counters; metrics of the process have the names that all clients use. Labels
// are cooker, outcome, cause, launcher, class, state, exit_code, platform, status: each label has
// few values. A worker's name is a label only of metrics of single workers, for at most kWorkersMax
// workers.
#pragma once

#include <cstddef>
#include <vector>

#include "director/metrics/figures.h"
#include "prometheus/metric_family.h"

namespace galley::metrics {

inline constexpr size_t kWorkersMax = 500;

std::vector<prometheus::MetricFamily> FamiliesOf(const Figures& figures);

}  // namespace galley::metrics
