#include "director/host/open_metrics.h"

#include <unistd.h>

#include <utility>

#include "common/base/file.h"
#include "director/host/outcome_status.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kAddressBytesMax = 256;

std::string AddressFileOf(const project::Project& project) {
  return JoinPath(project.state_directory(), kMetricsAddressFile);
}

}  // namespace

absl::StatusOr<std::unique_ptr<metrics::MetricsDoor>> OpenMetrics(
    const project::Project& project, std::function<metrics::Figures()> read) {
  if (project.director.metrics.empty()) {
    ::unlink(AddressFileOf(project).c_str());  // left by a director that was killed
    return nullptr;
  }
  auto door = metrics::MetricsDoor::Open({.address = project.director.metrics,
                                          .address_file = AddressFileOf(project),
                                          .library = "",
                                          .read = std::move(read)});
  if (absl::IsInvalidArgument(door.status())) return WrongUse(door.status());
  if (!door.ok()) return Infrastructure(door.status());
  return door;
}

std::string MetricsUrl(const project::Project& project) {
  const auto address = ReadFile(AddressFileOf(project), kAddressBytesMax);
  if (!address.ok() || address->empty()) return "";
  return fmt::format("http://{}/metrics", address->substr(0, address->find('\n')));
}

}  // namespace galley::director
