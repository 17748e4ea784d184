// PackageCommands: records, clean: what the journal holds of a package.

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>

#include "common/base/counted.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/named_file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/action.h"
#include "common/record/recipe.h"
#include "common/record/result.h"
#include "director/cli/commands.h"
#include "director/cli/director_of_project.h"
#include "director/cli/package_record.h"
#include "director/core/events.h"
#include "director/host/near_packages.h"
#include "director/host/virtual_path.h"
#include "director/journal/journal.h"
#include "director/journal/kept_limits.h"
#include "director/shell/forget_results.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

using director::Journal;
using director::PlatformRecord;

nlohmann::json RecordJson(const PlatformRecord& record) {
  nlohmann::json json = {{"action_key", record.action_key.ToString()},
                         {"weak_key", record.weak_key.ToString()},
                         {"source", record.source.ToString()},
                         {"recipe", record.recipe.ToString()}};
  if (const auto recipe = record::DecodeRecipe(record.recipe_bytes); recipe.ok()) {
    json["cooker"] = recipe->cooker;
    json["identity"] = recipe->identity;
    json["settings"] = nlohmann::json::parse(recipe->settings, nullptr, false);
  }
  auto& observations = json["observations"] = nlohmann::json::array();
  for (const record::Observed& seen : record.observed) {
    observations.push_back({{"observation", seen.what.ToString()}, {"value", seen.value}});
  }
  const auto result = record::DecodeResult(record.result);
  if (!result.ok()) return json;
  auto& outputs = json["outputs"] = nlohmann::json::array();
  for (const record::Output& output : result->outputs)
    outputs.push_back({{"suffix", output.suffix}, {"digest", output.digest.ToString()}});
  auto& references = json["references"] = nlohmann::json::array();
  for (const record::Reference& one : result->details.references) {
    references.push_back({{"path", one.path}, {"kind", record::ReferenceKindName(one.kind)}});
  }
  auto& tags = json["tags"] = nlohmann::json::object();
  for (const record::Tag& tag : result->details.tags) {
    std::visit([&](const auto& value) { tags[tag.name] = value; }, tag.value);
  }
  json["warnings"] = result->details.warnings;
  if (result->is_verdict) json["error"] = result->error;
  json["provenance"] = ProvenanceJson(result->provenance);
  return json;
}

// SourceReader: reads bytes of a source: from the tree if it is still what was cooked, otherwise
// from the store.
class SourceReader {
 public:
  SourceReader(const project::Project& project, store::Store& store)
      : project_(project), store_(store) {}

  absl::StatusOr<std::string> Read(const std::string& path, const Digest& digest) {
    if (!snapshot_) {
      ASSIGN_OR_RETURN(snapshot_, content::Snapshot::Scan(
                                      {.mounts = project_.mounts,
                                       .ignore = project_.scan_ignore,
                                       .excluded_directories = {JoinPath(project_.root, ".galley"),
                                                                project_.store.directory,
                                                                project_.output_directory}}));
    }
    if (auto content = snapshot_->Read(path); content.ok() && content->digest == digest)
      return *content->bytes;
    return FromStore(digest, path);
  }
  absl::StatusOr<std::string> FromStore(const Digest& digest, const std::string& what) {
    auto blob = store_.Get(digest);
    if (!blob.ok()) {
      return NotFoundError(
          "{} is no longer what was cooked, and {} is not in the store; cook it, and "
          "export it before its files change",
          what, digest.ToString());
    }
    return **blob;
  }
  const project::Project& project() const { return project_; }

 private:
  const project::Project& project_;
  store::Store& store_;
  std::unique_ptr<content::Snapshot> snapshot_;
};

// Returns the bytes of the input file `path` of an Action (record/action.h), found by the
// observations.
absl::StatusOr<std::string> InputBytes(SourceReader& sources, const std::string& package,
                                       const PlatformRecord& record,
                                       const record::InputFile& file) {
  if (file.bytes) return *file.bytes;
  if (file.path == "source") {
    if (package.find("/_gen/") != std::string::npos) return sources.FromStore(file.digest, package);
    return sources.Read(package, file.digest);
  }
  for (size_t i = 0; i < record.observed.size(); ++i) {
    const record::Observation& what = record.observed[i].what;
    if (record::InputPath(what, i) != file.path) continue;
    if (what.kind == record::ObservationKind::kCooked)
      return sources.FromStore(file.digest, what.ToString());
    if (what.kind == record::ObservationKind::kTool) {
      absl::StatusOr<std::string> bytes =
          ReadFile(AbsolutePath(what.subject, sources.project().root));
      if (bytes.ok() && Digest::Of(*bytes) == file.digest) return bytes;
      return sources.FromStore(file.digest, what.ToString());
    }
    ASSIGN_OR_RETURN(const std::string path, content::ResolveAsked(package, what.subject));
    return sources.Read(path, file.digest);
  }
  return InternalError("the Action's input {} was observed by nothing", file.path);
}

absl::Status MakeExecutable(const std::string& path) {
  return ::chmod(path.c_str(), 0755) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "chmod", path);
}

absl::Status ExportAction(const OpenedPackage& opened, store::Store& store,
                          const PlatformRecord& record, const std::string& directory) {
  ASSIGN_OR_RETURN(const record::Recipe recipe, record::DecodeRecipe(record.recipe_bytes));
  ASSIGN_OR_RETURN(const record::Action action,
                   record::BuildAction({.recipe = recipe,
                                        .source = record.source,
                                        .observed = record.observed,
                                        .trust_domain = opened.project.store.trust}));
  if (FileExists(JoinPath(directory, "action"))) {
    return InvalidArgumentError("{} already holds an Action; give a new folder", directory);
  }
  RETURN_IF_ERROR(CreateDirectories(JoinPath(directory, "input")));
  SourceReader sources(opened.project, store);
  for (const record::InputFile& file : action.files) {
    ASSIGN_OR_RETURN(const std::string bytes, InputBytes(sources, opened.package, record, file));
    if (Digest::Of(bytes) != file.digest) {
      return FailedPreconditionError("{} is no longer what was cooked; cook again", file.path);
    }
    const std::string path = JoinPath(directory, "input/" + file.path);
    RETURN_IF_ERROR(CreateDirectories(path.substr(0, path.rfind('/'))));
    RETURN_IF_ERROR(WriteNamedFile(path, bytes));
    if (file.is_executable) RETURN_IF_ERROR(MakeExecutable(path));
  }
  RETURN_IF_ERROR(WriteNamedFile(JoinPath(directory, "action"), action.action));
  return WriteNamedFile(JoinPath(directory, "command"), action.command);
}

}  // namespace

int RunRecords(const GlobalOptions& options, const std::string& package,
               const std::string& platform, const std::string& export_directory) {
  auto opened = OpenPackage(options, package);
  if (!opened.ok()) return Fail(options, kUsage, MessageOf(opened.status()));
  std::map<std::string, PlatformRecord>& platforms = opened->record.platforms;
  if (const std::string unknown = UnknownPlatform(opened->project, platform);
      !unknown.empty() && !platforms.contains(platform))
    return Fail(options, kUsage, unknown);
  if (!platform.empty() && !platforms.contains(platform)) {
    return Fail(options, kUsage,
                fmt::format("{} has no record for platform \"{}\"", opened->package, platform));
  }
  if (!export_directory.empty()) {
    if (platforms.empty())
      return Fail(options, kUsage, fmt::format("{} has no record to export", opened->package));
    auto store = OpenStoreOf(options);
    if (!store.ok()) return Fail(options, kInfrastructure, MessageOf(store.status()));
    const PlatformRecord& record =
        platform.empty() ? platforms.begin()->second : platforms.at(platform);
    const absl::Status exported =
        ExportAction(*opened, **store, record, AbsolutePath(export_directory));
    if (!exported.ok())
      return Fail(options, absl::IsInvalidArgument(exported) ? kUsage : kFailed,
                  MessageOf(exported));
    if (!options.quiet) {
      std::fputs(fmt::format("{}: run it with `galley-worker exec-action {}`\n", export_directory,
                             export_directory)
                     .c_str(),
                 stderr);
    }
    return kDone;
  }
  nlohmann::json json = {{"package", opened->package}};
  for (const auto& [name, record] : platforms) {
    if (platform.empty() || name == platform) json["platforms"][name] = RecordJson(record);
  }
  std::puts(json.dump(options.json ? -1 : 2, ' ', false, nlohmann::json::error_handler_t::replace)
                .c_str());
  return kDone;
}

namespace {

absl::Status ForgetAt(director::DirectorClient& client, const std::vector<std::string>& names) {
  v1::CleanAsk ask;
  ask.mutable_packages()->Assign(names.begin(), names.end());
  return client.Clean(ask).status();
}

int TellForgotten(const GlobalOptions& options, const std::vector<std::string>& names,
                  const absl::Status& forgotten) {
  if (absl::IsNotFound(forgotten) || absl::IsPermissionDenied(forgotten) ||
      absl::IsUnauthenticated(forgotten))
    return Fail(options, kUsage, MessageOf(forgotten));
  if (!forgotten.ok()) return Fail(options, kInfrastructure, MessageOf(forgotten));
  if (options.json) PrintJson({{"forgot", names}});
  if (!options.quiet && !options.json)
    std::fputs(fmt::format("forgot {}; the next cook cooks {} again\n",
                           Counted(names.size(), "package"), names.size() == 1 ? "it" : "them")
                   .c_str(),
               stderr);
  return kDone;
}

int CleanFromAfar(const GlobalOptions& options, const FarDirector& far,
                  const std::vector<std::string>& packages) {
  for (const std::string& package : packages) {
    if (!content::ValidateVirtualPath(package).ok())
      return Fail(
          options, kUsage,
          fmt::format("clean --director: {}: expected the virtual path of a package, such as "
                      "/Game/maps/town.level",
                      EscapeControl(package)));
  }
  const auto client = ConnectDirector(far);
  if (!client.ok())
    return Fail(options, absl::IsInvalidArgument(client.status()) ? kUsage : kInfrastructure,
                MessageOf(client.status()));
  return TellForgotten(options, packages, ForgetAt(**client, packages));
}

}  // namespace

int RunClean(const GlobalOptions& options, const FarDirector& far,
             const std::vector<std::string>& packages) {
  if (!far.address.empty()) return CleanFromAfar(options, far, packages);
  auto project = OpenProject(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  std::vector<std::string> names;
  for (const std::string& argument : packages) {
    const auto name = director::ToVirtual(*project, argument);
    if (!name.ok()) return Fail(options, kUsage, MessageOf(name.status()));
    names.push_back(*name);
  }
  const auto client = FindDirector(*project);
  if (!client.ok()) return Fail(options, kInfrastructure, MessageOf(client.status()));
  if (*client != nullptr) return TellForgotten(options, names, ForgetAt(**client, names));
  auto lock = director::ProjectLock::TryAcquire(project->state_directory());
  if (!lock.ok())
    return Fail(options, kUsage, fmt::format("a cook is running: {}", MessageOf(lock.status())));
  auto journal = Journal::Open(project->state_directory());
  if (!journal.ok()) return Fail(options, kInfrastructure, MessageOf(journal.status()));
  auto store = OpenStoreOf(options);
  if (!store.ok()) return Fail(options, kInfrastructure, MessageOf(store.status()));
  director::KeptLimits limits(project->state_directory());
  const absl::Status forgotten = director::WithNearPackages(
      **journal, names, director::ForgetResults(names, **store, **journal, limits));
  return TellForgotten(options, names, forgotten);
}

}  // namespace galley::cli
