#include "director/host/near_packages.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "common/base/status_macros.h"
#include "director/host/near_names.h"

namespace galley::director {

absl::Status WithNearPackages(Journal& journal, std::span<const std::string> packages,
                              const absl::Status& status) {
  if (!absl::IsNotFound(status)) return status;
  std::vector<std::string> known;  // sorted
  const absl::Status read = journal.ForEach(
      [&](std::string_view name, const PackageRecord&) { known.emplace_back(name); });
  if (!read.ok()) return status;  // near names are only a help
  const auto unknown = std::ranges::find_if(packages, [&](const auto& name) {
    return !std::binary_search(known.begin(), known.end(), name);
  });
  if (unknown == packages.end()) return status;
  return absl::NotFoundError(MessageOf(status) + NearText(NearNames(*unknown, known)));
}

}  // namespace galley::director
