#include "director/shell/quick_sources.h"

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::director {

// OK: the digest is known, or the file is soon hashed.
absl::Status QuickSources::CheckQuick(std::string_view path) const {
  const auto failed = options_.failed.find(path);
  if (failed != options_.failed.end()) return failed->second;
  const uint64_t size_bytes = options_.sources->SizeOf(path);
  const bool is_quick = size_bytes <= options_.hashed_max;
  if (is_quick && !options_.stop.is_cancelled()) return absl::OkStatus();
  if (options_.sources->KnownDigest(path)) return absl::OkStatus();
  if (is_quick) return absl::CancelledError("nobody waits for the answer");
  wanted_.emplace_back(path);
  return UnavailableError("{} is not hashed yet", path);
}

absl::StatusOr<Digest> QuickSources::DigestOf(std::string_view path, const Cancellation*) const {
  RETURN_IF_ERROR(CheckQuick(path));
  return options_.sources->DigestOf(path, &options_.stop);
}

// Returns CANCELLED or OK; Look reports other errors. Look itself cannot be interrupted.
absl::Status QuickSources::HashIfLarge(std::string_view path) const {
  if (options_.sources->SizeOf(path) <= kHashedMax) return absl::OkStatus();
  const absl::Status hashed = options_.sources->DigestOf(path, &options_.stop).status();
  return absl::IsCancelled(hashed) ? hashed : absl::OkStatus();
}

absl::StatusOr<std::string> QuickSources::Look(const record::Observation& what,
                                               std::string_view package) const {
  if (what.kind == record::ObservationKind::kFile) {
    const absl::StatusOr<std::string> path = AskedName(package, what.subject);
    if (path.ok()) {
      RETURN_IF_ERROR(CheckQuick(*path));
      RETURN_IF_ERROR(HashIfLarge(*path));
    }
  }
  return options_.sources->Look(what, package);
}

bool FilesHoldQuickly(SourcesPtr sources, const StoredResult& stored, const Cancellation& stop) {
  return FilesStillHold(QuickSources({.sources = std::move(sources), .stop = stop}), stored);
}

}  // namespace galley::director
