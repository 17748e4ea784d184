// StoreWhy: `galley store why`: what keeps a blob.
#include <cstdio>

#include "absl/time/time.h"
#include "common/base/status_macros.h"
#include "common/store/interface/pins.h"
#include "director/cli/commands.h"
#include "director/cli/open_store.h"
#include "director/cli/print_line.h"
#include "director/cli/resolve_digest.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

constexpr size_t kLimit = 20;

std::string StampText(absl::Time time) {
  return time == absl::InfinitePast()
             ? "an unknown time"
             : absl::FormatTime(absl::RFC3339_sec, time, absl::UTCTimeZone());
}
nlohmann::json TimeJson(absl::Time time) {
  return time == absl::InfinitePast() ? nlohmann::json(nullptr) : nlohmann::json(StampText(time));
}

nlohmann::json ToJson(const Digest& digest, const store::WhyReport& report) {
  nlohmann::json json = {{"digest", digest.ToString()},
                         {"present", report.location.has_value()},
                         {"written", TimeJson(report.written)},
                         {"roots", nlohmann::json::array()},
                         {"roots_more", report.roots_more},
                         {"leases", nlohmann::json::array()},
                         {"leases_more", report.leases_more},
                         {"results", nlohmann::json::array()},
                         {"results_more", report.results_more},
                         {"sessions", report.sessions},
                         {"past", report.past}};
  if (report.location.has_value() && report.location->segment != 0) {
    json["segment"] = report.location->segment;
    json["offset"] = report.location->offset;
  }
  for (const auto& root : report.roots) {
    json["roots"].push_back({{"project", root.root.project_id},
                             {"platform", root.root.platform},
                             {"sequence", root.root.sequence},
                             {"root", root.root.root.ToString()},
                             {"kept", root.is_kept},
                             {"path", root.path}});
  }
  for (const auto& lease : report.leases) {
    json["leases"].push_back({{"name", lease.lease.name},
                              {"root", lease.lease.root.ToString()},
                              {"until", TimeJson(lease.lease.until)},
                              {"path", lease.path}});
  }
  for (const auto& result : report.results) {
    json["results"].push_back({{"key", result.key.ToString()},
                               {"ours", result.is_ours},
                               {"input", result.is_input},
                               {"provenance", result.provenance},
                               {"written", TimeJson(result.written)},
                               {"used", TimeJson(result.used)}});
  }
  return json;
}

std::string WhereText(const store::BlobLocation& location) {
  return location.segment == 0
             ? "a file of its own"
             : fmt::format("segment {:016x} at offset {}", location.segment, location.offset);
}

void Print(const Digest& digest, const store::WhyReport& report) {
  const bool is_present = report.location.has_value();
  PrintLine("{}: {}", digest.ToString(),
            is_present ? fmt::format("{}, written at {}", WhereText(*report.location),
                                     StampText(report.written))
                       : "not in the store");
  for (const std::string& line : report.past) PrintLine("  {}", line);
  if (!is_present && report.past.empty()) std::puts("  nothing says that it ever was");
  for (const auto& root : report.roots) {
    const char* how = !root.is_kept ? "in old" : is_present ? "kept by" : "missed by";
    PrintLine("  {} {}{}", how, NameOfRoot(root.root),
              root.path.empty() ? ": it is its root" : ": " + root.path);
  }
  if (report.roots_more != 0) PrintLine("  and {} more roots", report.roots_more);
  for (const auto& lease : report.leases) {
    PrintLine("  {} lease {} until {}{}", is_present ? "kept by" : "missed by", lease.lease.name,
              StampText(lease.lease.until),
              lease.path.empty() ? ": it is its root" : ": " + lease.path);
  }
  if (report.leases_more != 0) PrintLine("  and {} more leases", report.leases_more);
  for (const auto& result : report.results) {
    PrintLine("  {} {} {}: {}; {}", result.is_input ? "input of" : "named by",
              result.is_ours ? "result" : "another program's result", result.key.ToString(),
              result.provenance,
              result.used == absl::InfinitePast() ? "not asked for since"
                                                  : "last asked for at " + StampText(result.used));
  }
  if (report.results_more != 0) PrintLine("  and {} more results", report.results_more);
  for (const std::string& session : report.sessions) PrintLine("  held for {}", session);
  const bool is_needed = !report.roots.empty() || !report.leases.empty() ||
                         !report.results.empty() || !report.sessions.empty();
  if (is_present && !is_needed)
    std::puts("  nothing: a collection drops it a day after it was written");
}

}  // namespace

int RunStoreWhy(const GlobalOptions& options, const std::string& text) {
  auto opened = OpenStoreOf(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto digest = ResolveDigest(options, **opened, text);
  if (!digest.ok()) return Fail(options, CodeOf(digest.status()), MessageOf(digest.status()));
  const auto report = (*opened)->Why(*digest, kLimit);
  if (!report.ok()) return Fail(options, kInfrastructure, MessageOf(report.status()));
  if (options.json) {
    PrintJson(ToJson(*digest, *report));
  } else {
    Print(*digest, *report);
  }
  return report->location.has_value() ? kDone : kFailed;
}

}  // namespace galley::cli
