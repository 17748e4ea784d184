#include "director/cli/door_metrics.h"

#include <cstdint>
#include <string_view>

#include "fmt/format.h"

namespace galley::cli {

std::string DoorMetrics(const listen::DoorFigures& figures) {
  struct Metric {
    std::string_view name, type, help;
    uint64_t value;
  };
  const Metric metrics[] = {
      {"open", "gauge", "Connections that are open.", figures.open},
      {"unfinished", "gauge", "Open connections that have said nothing yet.", figures.unfinished},
      {"accepted_total", "counter", "Connections that were accepted.", figures.accepted},
      {"refused_total", "counter",
       "Connections that were refused, since there were as many as may be.", figures.refused},
      {"made_room_total", "counter", "Silent connections that were closed to make room for others.",
       figures.made_room},
      {"timed_out_total", "counter", "Silent connections that were closed after their time.",
       figures.timed_out},
      {"no_descriptor_total", "counter", "Connections that came while no descriptor was left.",
       figures.no_descriptor},
  };
  std::string text;
  for (const Metric& metric : metrics) {
    text += fmt::format(
        "# HELP galley_store_connections_{0} {2}\n# TYPE galley_store_connections_{0} {1}\n"
        "galley_store_connections_{0} {3}\n",
        metric.name, metric.type, metric.help, metric.value);
  }
  return text;
}

}  // namespace galley::cli
