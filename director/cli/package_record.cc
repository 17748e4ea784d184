#include "director/cli/package_record.h"

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "director/cli/package_place.h"
#include "director/host/cook_ask.h"
#include "director/host/virtual_path.h"
#include "fmt/format.h"

namespace galley::cli {

absl::StatusOr<OpenedPackage> OpenEvenIfUnknown(const GlobalOptions& options,
                                                const std::string& argument) {
  OpenedPackage opened;
  ASSIGN_OR_RETURN(opened.project, OpenProject(options));
  ASSIGN_OR_RETURN(opened.package, director::ToVirtual(opened.project, argument));
  if (!FileExists(JoinPath(opened.project.state_directory(), "journal"))) {
    return absl::InvalidArgumentError("nothing was cooked yet in this project: run `galley cook`");
  }
  ASSIGN_OR_RETURN(opened.journal, director::Journal::Open(opened.project.state_directory(), true));
  ASSIGN_OR_RETURN(auto record, opened.journal->Find(opened.package));
  opened.is_recorded = record.has_value();
  if (record) opened.record = std::move(*record);
  return opened;
}

absl::Status NotRecorded(const OpenedPackage& opened) {
  const std::string& package = opened.package;
  std::string why = WhyNotCooked(opened.project, package);
  if (why.empty()) {
    const std::optional<project::CookerChoice> choice = ChoiceOf(opened.project, package);
    why = fmt::format("{}no cook asked for it so far; `galley cook {}` cooks it",
                      choice ? fmt::format("it is a package ({}), and ", choice->place) : "",
                      package);
  }
  return InvalidArgumentError("{} was in no cook of this project yet: {}", package, why);
}

absl::StatusOr<OpenedPackage> OpenPackage(const GlobalOptions& options,
                                          const std::string& argument) {
  ASSIGN_OR_RETURN(OpenedPackage opened, OpenEvenIfUnknown(options, argument));
  if (!opened.is_recorded) return NotRecorded(opened);
  return opened;
}

nlohmann::json ProvenanceJson(const record::Provenance& provenance) {
  nlohmann::json json = {
      {"worker", provenance.worker},
      {"machine", provenance.machine},
      {"identity", provenance.identity},
      {"started", absl::FormatTime(absl::RFC3339_sec, provenance.started, absl::UTCTimeZone())},
      {"load_seconds", absl::ToDoubleSeconds(provenance.load_time)},
      {"save_seconds", absl::ToDoubleSeconds(provenance.save_time)}};
  if (provenance.taken != absl::InfinitePast())
    json["taken"] = absl::FormatTime(absl::RFC3339_sec, provenance.taken, absl::UTCTimeZone());
  if (!provenance.received_from.empty()) json["received_from"] = provenance.received_from;
  return json;
}

std::string UnknownPlatform(const project::Project& project, const std::string& platform) {
  if (platform.empty()) return {};
  const auto known = director::PlatformsIn(project, {platform});
  return known.ok() ? "" : MessageOf(known.status());
}

}  // namespace galley::cli
