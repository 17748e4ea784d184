#include "director/shell/likely_reads.h"

#include <algorithm>
#include <utility>

#include "common/content/name.h"
#include "director/core/events.h"

namespace galley::director {
namespace {

using record::ObservationKind;

// nullopt: the path is no file today, or is the source, which is read in any case.
std::optional<LikelyRead> FileOf(const Sources& sources, const std::string& package,
                                 const std::string& asked) {
  auto path = content::ResolveAsked(package, asked);
  if (!path.ok() || *path == package) return std::nullopt;
  const absl::StatusOr<std::string> kind =
      sources.Look({.kind = ObservationKind::kExists, .subject = *path, .detail = ""}, package);
  if (!kind.ok() || *kind != record::kIsFile) return std::nullopt;
  LikelyRead read{.path = *std::move(path), .digest = {}};
  read.digest = sources.KnownDigest(read.path);
  return read;
}

// nullopt: the job did not get the package, or the package has no such output today.
std::optional<LikelyRead> CookedOf(const CookedOutputs& cooked, const std::string& package,
                                   const record::Observation& what) {
  const auto name = AskedName(package, what.subject);
  const auto given = name.ok() ? cooked.find(*name) : cooked.end();
  if (given == cooked.end()) return std::nullopt;
  for (const record::Output& output : given->second) {
    if (output.suffix == what.detail) return LikelyRead{.path = "", .digest = output.digest};
  }
  return std::nullopt;
}

std::optional<LikelyRead> ReadOf(const Sources& sources, const AttemptInfo& attempt,
                                 PlatformIndex platform, const record::Observed& seen) {
  if (seen.value == record::kAbsent || seen.value == record::kFolder) return std::nullopt;
  if (seen.what.kind == ObservationKind::kFile)
    return FileOf(sources, attempt.name, seen.what.subject);
  if (seen.what.kind == ObservationKind::kCooked)
    return CookedOf(CookedFor(attempt.cooked, platform), attempt.name, seen.what);
  return std::nullopt;
}

}  // namespace

std::vector<LikelyRead> LikelyReadsOf(const Sources& sources, const AttemptInfo& attempt,
                                      const PackageRecord& record) {
  std::vector<LikelyRead> reads;
  for (PlatformIndex platform = 0; platform < attempt.numbering->size(); ++platform) {
    if ((attempt.platforms & MaskOf(platform)) == 0) continue;
    const auto known = record.platforms.find((*attempt.numbering)[platform].name);
    if (known == record.platforms.end()) continue;
    for (const record::Observed& seen : known->second.observed) {
      if (reads.size() == kLikelyReadsMax) return reads;
      std::optional<LikelyRead> read = ReadOf(sources, attempt, platform, seen);
      if (read.has_value() && std::ranges::find(reads, *read) == reads.end())
        reads.push_back(*std::move(read));
    }
  }
  return reads;
}

}  // namespace galley::director
