#include "director/shell/quick_sources.h"

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {

// OK: the digest is known, or the file is soon hashed.
absl::Status QuickSources::CheckQuick(std::string_view path) const {
  const auto failed = options_.failed.find(path);
  if (failed != options_.failed.end()) return failed->second;
  const uint64_t size_bytes = options_.sources->SizeOf(path);
  if (size_bytes <= options_.hashed_max || options_.sources->KnownDigest(path))
    return options_.stop.is_cancelled() ? absl::CancelledError("nobody waits for the answer")
                                        : absl::OkStatus();
  wanted_.emplace_back(path);
  return absl::UnavailableError(fmt::format("{} is not hashed yet", path));
}

absl::StatusOr<Digest> QuickSources::DigestOf(std::string_view path, const Cancellation*) const {
  RETURN_IF_ERROR(CheckQuick(path));
  return options_.sources->DigestOf(path, &options_.stop);
}

absl::StatusOr<std::string> QuickSources::Look(const record::Observation& what,
                                               std::string_view package) const {
  if (what.kind == record::ObservationKind::kFile) {
    const absl::StatusOr<std::string> path = AskedName(package, what.subject);
    if (path.ok()) RETURN_IF_ERROR(CheckQuick(*path));
  }
  return options_.sources->Look(what, package);
}

}  // namespace galley::director
