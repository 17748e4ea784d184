// StoreRevoke: `galley store revoke`: revokes the results of a worker.

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/clock.h"
#include "common/base/counted.h"
#include "common/base/file.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/record/portable_result.h"
#include "common/store/interface/pins.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/reapi/client/open_remote.h"
#include "common/tree/tree.h"
#include "director/cli/commands.h"
#include "director/cli/open_store.h"
#include "director/cli/parse_time.h"
#include "director/cli/print_line.h"
#include "director/cli/resolve_digest.h"
#include "director/host/near_names.h"
#include "director/host/project_stores.h"
#include "director/journal/journal.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::cli {
namespace {

constexpr size_t kNamedMax = 20;  // packages of each list, for people
constexpr absl::Duration kPatience = absl::Seconds(30);

// Packages of the project whose results are meant, with their platforms.
using Packages = std::map<std::string, std::set<std::string>>;

struct Found {
  store::RevokeReport report;
  Packages packages;
  std::set<std::string> makers;  // workers and machines that made the journal's results
  std::vector<Digest> keys;      // of all results, also of results that only the journal remembers
  std::vector<store::PublishedRoot> roots;
  std::string upstream;               // URL; empty: there is no upstream cache
  std::vector<Digest> upstream_keys;  // keys that the upstream cache answers with such a result
  std::string upstream_error;
};

// Adds the names by which `--worker` may mean the maker of a result.
void AddMakers(const record::Provenance& provenance, std::set<std::string>& makers) {
  if (provenance.worker.empty() || provenance.machine.empty()) return;
  makers.insert(provenance.worker);
  makers.insert(provenance.machine);
  makers.insert(provenance.worker + "@" + provenance.machine);
}

// If no result is revoked, the name may be a slip.
std::string NearMakers(const store::RevokeOptions& asked, const Found& found) {
  if (!found.report.results.empty() || !found.packages.empty()) return "";
  if (found.makers.contains(asked.what.worker)) return "";
  const std::vector<std::string> names(found.makers.begin(), found.makers.end());
  return director::NearText(director::NearNames(asked.what.worker, names));
}

// Only the journal says which packages have the results; the store does not know.
absl::Status FindPackages(const project::Project& project, const record::Revocation& what,
                          Found& found) {
  if (!FileExists(JoinPath(project.state_directory(), "journal"))) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto journal, director::Journal::Open(project.state_directory(), true));
  const absl::flat_hash_set<Digest> revoked(found.keys.begin(), found.keys.end());
  return journal->ForEach([&](std::string_view package, const director::PackageRecord& record) {
    for (const auto& [platform, one] : record.platforms) {
      const auto result = record::DecodeResult(one.result);
      if (result.ok()) AddMakers(result->provenance, found.makers);
      const bool is_meant = revoked.contains(one.action_key) ||
                            (result.ok() && record::IsRevoked(result->provenance, what));
      if (!is_meant) continue;
      found.packages[std::string(package)].insert(platform);
      if (!revoked.contains(one.action_key)) found.keys.push_back(one.action_key);
    }
  });
}

void FindUpstream(const project::RemoteSection& section, const record::Revocation& what,
                  Found& found) {
  if (section.url.empty()) return;
  found.upstream = section.url;
  auto remote = store::OpenRemote(director::RemoteConfigOf(section));
  if (!remote.ok()) {
    found.upstream_error = MessageOf(remote.status());
    return;
  }
  store::RemoteCache& cache = *remote->cache;
  const store::RemoteLimits limits{.patience = kPatience};
  const auto answers = cache.ActionResults(found.keys, limits);
  for (size_t i = 0; i < found.keys.size(); ++i) {
    if (!answers[i].has_value()) continue;
    const auto result = record::DecodePortable(
        *answers[i], [&](const Digest& digest) { return cache.Get(digest, limits); });
    if (result.ok() && record::IsRevoked(result->provenance, what))
      found.upstream_keys.push_back(found.keys[i]);
  }
  const store::RemoteState state = cache.State();
  if (state.is_down) found.upstream_error = state.reason;
}

// Finds roots with a file of such a result. The roots stay.
absl::Status FindRoots(store::Store& store, Found& found) {
  absl::flat_hash_set<Digest> outputs;
  for (const auto& result : found.report.results)
    outputs.insert(result.outputs.begin(), result.outputs.end());
  if (outputs.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<store::PublishedRoot> roots, store.Roots(""));
  std::map<Digest, bool> known;
  for (const store::PublishedRoot& root : roots) {
    if (store::IsRemovedPin(root)) continue;
    const auto [at, is_new] = known.try_emplace(root.root, false);
    if (is_new) {
      const auto files =
          tree::ListTree(root.root, [&](const Digest& folder) { return store.Get(folder); });
      // Nobody can tell for a root that is no longer whole.
      at->second = files.ok() && std::ranges::any_of(*files, [&](const auto& file) {
                     return outputs.contains(file.digest);
                   });
    }
    if (at->second) found.roots.push_back(root);
  }
  return absl::OkStatus();
}

std::string SinceText(absl::Time time) {
  return absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone());
}

nlohmann::json JsonOf(const store::RevokeOptions& asked, const Found& found) {
  nlohmann::json json = {{"dry_run", asked.is_dry},
                         {"worker", asked.what.worker},
                         {"since", asked.what.since == absl::InfinitePast()
                                       ? nlohmann::json()
                                       : nlohmann::json(SinceText(asked.what.since))},
                         {"results", nlohmann::json::array()},
                         {"packages", nlohmann::json::array()},
                         {"roots", nlohmann::json::array()}};
  for (const auto& result : found.report.results) {
    json["results"].push_back({{"key", result.key.ToString()},
                               {"worker", result.worker},
                               {"machine", result.machine},
                               {"taken", SinceText(result.taken)},
                               {"received_from", result.received_from},
                               {"ours", result.is_ours}});
  }
  for (const auto& [package, platforms] : found.packages)
    json["packages"].push_back({{"package", package}, {"platforms", platforms}});
  for (const store::PublishedRoot& root : found.roots)
    json["roots"].push_back({{"project", root.project_id},
                             {"platform", root.platform},
                             {"sequence", root.sequence},
                             {"root", root.root.ToString()}});
  if (!found.upstream.empty()) {
    json["upstream"] = {{"url", found.upstream}, {"results", nlohmann::json::array()}};
    for (const Digest& key : found.upstream_keys)
      json["upstream"]["results"].push_back(key.ToString());
    if (!found.upstream_error.empty()) json["upstream"]["error"] = found.upstream_error;
  }
  return json;
}

void Print(const store::RevokeOptions& asked, const Found& found) {
  std::set<std::string> platforms;
  for (const auto& [package, of_it] : found.packages) platforms.insert(of_it.begin(), of_it.end());
  PrintLine("{} {}{}: {}{}{}", asked.is_dry ? "would take back what" : "took back what",
            asked.what.worker + " made",
            asked.what.since == absl::InfinitePast() ? "" : " since " + SinceText(asked.what.since),
            Counted(found.report.results.size(), "result"),
            found.packages.empty()
                ? ""
                : fmt::format("; in this project {} on {}, which the next cook makes "
                              "again",
                              Counted(found.packages.size(), "package"),
                              Counted(platforms.size(), "platform")),
            NearMakers(asked, found));
  size_t named = 0;
  for (const auto& [package, of_it] : found.packages) {
    if (named++ == kNamedMax) {
      std::puts(
          fmt::format("  and {} more (--json has all)", found.packages.size() - kNamedMax).c_str());
      break;
    }
    PrintLine("  {} ({})", package, fmt::join(of_it, ", "));
  }
  for (const store::PublishedRoot& root : found.roots)
    PrintLine("{} holds some of it, and stays", NameOfRoot(root));
  if (found.upstream.empty()) return;
  if (!found.upstream_error.empty()) {
    PrintLine(
        "{} could not be asked ({}); whatever lies there of it is not read any "
        "more{}",
        found.upstream, found.upstream_error, asked.is_dry ? ", once it is revoked" : "");
    return;
  }
  PrintLine("{} answers with {} of it{}", found.upstream,
            Counted(found.upstream_keys.size(), "result"),
            asked.is_dry ? "" : "; nothing of it is read from there any more");
  for (size_t i = 0; i < std::min(kNamedMax, found.upstream_keys.size()); ++i)
    PrintLine("  key {}", found.upstream_keys[i].ToString());
}

}  // namespace

int RunStoreRevoke(const GlobalOptions& options, const StoreRevokeOptions& revoke) {
  store::RevokeOptions asked{.what = {.worker = revoke.worker}, .is_dry = revoke.is_dry};
  if (revoke.worker.empty())
    return Fail(options, kUsage,
                "--worker: expected the name of a worker, of a machine, or worker@machine, as "
                "`galley records` prints them");
  if (!revoke.since.empty()) {
    const auto since = ParseTime(revoke.since, absl::Now());
    if (!since.ok()) return Fail(options, kUsage, "--since: " + MessageOf(since.status()));
    asked.what.since = *since;
  }
  std::optional<project::Project> project;
  if (options.store.empty() || !options.project.empty()) {
    auto opened = OpenProject(options);
    if (!opened.ok()) return Fail(options, kUsage, MessageOf(opened.status()));
    project = *std::move(opened);
  }
  auto store = OpenStoreOf(options);
  if (!store.ok()) return Fail(options, CodeOf(store.status()), MessageOf(store.status()));
  Found found;
  auto report = (*store)->Revoke(asked);
  if (!report.ok()) return Fail(options, kInfrastructure, MessageOf(report.status()));
  found.report = *std::move(report);
  for (const auto& result : found.report.results) found.keys.push_back(result.key);
  SortUnique(found.keys);
  record::Revocation what = asked.what;
  what.until = absl::Now();
  absl::Status looked = FindRoots(**store, found);
  if (project.has_value()) {
    looked.Update(FindPackages(*project, what, found));
    FindUpstream(project->store.remote, what, found);
  }
  if (options.json) {
    PrintJson(JsonOf(asked, found));
  } else if (!options.quiet) {
    Print(asked, found);
  }
  // The revocation itself is done.
  if (!looked.ok())
    return Fail(options, kInfrastructure,
                fmt::format("what is concerned could not be found out: {}", MessageOf(looked)));
  return kDone;
}

}  // namespace galley::cli
