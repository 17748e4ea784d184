// PathCommand: path: which paths of the cooked trees a source has, and which source a cooked path
// has. As the files are on the disk now; what only a cook tells is as the last cook found it.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/result.h"
#include "director/cli/commands.h"
#include "director/core/packages/package_data.h"
#include "director/host/near_names.h"
#include "director/host/sandboxes.h"
#include "director/host/scanned_project.h"
#include "director/host/virtual_path.h"
#include "director/journal/journal.h"
#include "director/shell/path_index.h"
#include "director/shell/stage_path.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

using director::PathIndex;
using director::PathOwner;

// PathPair: one path of one package on one platform.
struct PathPair {
  std::string platform, package;
  std::string path;              // in the tree
  std::optional<uint64_t> size;  // nullopt: not cooked yet
  bool is_certain = true;        // false: only a cook tells whether the path is there
  std::string error;             // why no cook makes it
};

// PathPairs: finds pairs, in one state of the project. Threads: none.
class PathPairs {
 public:
  PathPairs(const director::ScannedProject& scanned, director::Journal* journal)
      : scanned_(scanned), journal_(journal) {
    const auto& platforms = scanned.project->platforms;
    for (uint32_t p = 0; p < platforms.size(); ++p) indexes_.emplace_back(scanned.table, p);
  }

  // Errors, for both: the journal's.
  absl::StatusOr<std::vector<PathPair>> OfPackage(const std::string& package,
                                                  const std::string& platform) {
    std::vector<PathPair> pairs;
    for (size_t p = 0; p < indexes_.size(); ++p) {
      const std::string& name = scanned_.project->platforms[p].name;
      if (!platform.empty() && platform != name) continue;
      ASSIGN_OR_RETURN(const auto result, ResultOf(package, name));
      const std::string stem = director::StagePath(*scanned_.project, package);
      if (result) {
        for (const record::Output& output : result->outputs)
          pairs.push_back({.platform = name,
                           .package = package,
                           .path = stem + output.suffix,
                           .size = output.digest.size_bytes(),
                           .error = ""});
        continue;
      }
      const std::optional<director::PackagePaths> paths = indexes_[p].PathsOf(package);
      if (!paths) continue;
      for (const std::string& path : paths->always)
        pairs.push_back({.platform = name,
                         .package = package,
                         .path = path,
                         .size = std::nullopt,
                         .error = paths->error});
    }
    return pairs;
  }

  absl::StatusOr<std::vector<PathPair>> OfCooked(const std::string& path,
                                                 const std::string& platform) {
    std::vector<PathPair> pairs;
    for (size_t p = 0; p < indexes_.size(); ++p) {
      const std::string& name = scanned_.project->platforms[p].name;
      if (!platform.empty() && platform != name) continue;
      std::vector<PathPair> here;
      for (const PathOwner& owner : indexes_[p].OwnersOf(path).owners) {
        ASSIGN_OR_RETURN(std::optional<PathPair> pair, PairOf(owner, name));
        if (pair) here.push_back(*std::move(pair));
      }
      // Others might make it, too; but one does.
      const auto is_cooked = [](const PathPair& pair) { return pair.size.has_value(); };
      if (std::ranges::any_of(here, is_cooked)) std::erase_if(here, std::not_fn(is_cooked));
      std::ranges::move(here, std::back_inserter(pairs));
    }
    return pairs;
  }

  // The package's file, or that of the package which generates it.
  std::string SourceOf(std::string_view package) const {
    const std::string_view generator = director::GeneratorName(package);
    if (!generator.empty()) return SourceOf(generator);
    const content::FileEntry* const file = scanned_.snapshot->Find(package);
    return file == nullptr ? "" : file->host_path;
  }

 private:
  // nullopt: there is no done result.
  absl::StatusOr<std::optional<record::Result>> ResultOf(const std::string& package,
                                                         const std::string& platform) {
    using Found = std::optional<record::Result>;
    if (journal_ == nullptr) return Found();
    ASSIGN_OR_RETURN(const auto record, journal_->Find(package));
    if (!record) return Found();
    const auto found = record->platforms.find(platform);
    if (found == record->platforms.end()) return Found();
    auto result = record::DecodeResult(found->second.result);
    return result.ok() && !result->is_verdict ? Found(*std::move(result)) : Found();
  }

  // nullopt: a cook has told that the package does not have the path.
  absl::StatusOr<std::optional<PathPair>> PairOf(const PathOwner& owner,
                                                 const std::string& platform) {
    PathPair pair{.platform = platform,
                  .package = owner.package,
                  .path = owner.path,
                  .size = std::nullopt,
                  .is_certain = owner.is_certain,
                  .error = owner.error};
    ASSIGN_OR_RETURN(const auto result, ResultOf(owner.package, platform));
    if (result) {
      const auto output = std::ranges::find(result->outputs, owner.suffix, &record::Output::suffix);
      if (output == result->outputs.end()) return std::optional<PathPair>();
      pair.size = output->digest.size_bytes();
      pair.is_certain = true;
    }
    return std::optional(std::move(pair));
  }

  const director::ScannedProject& scanned_;
  director::Journal* const journal_;
  std::vector<PathIndex> indexes_;  // by platform
};

// InSandbox: a path below a sandbox: the platform, and the path in its tree.
struct InSandbox {
  std::string platform, path;
};
std::optional<InSandbox> SandboxPath(const project::Project& project, const std::string& asked) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(AbsolutePath(asked), error);
  const director::Sandboxes sandboxes(project, {});
  for (const project::Platform& platform : project.platforms) {
    const std::filesystem::path folder =
        std::filesystem::weakly_canonical(sandboxes.PathOf(platform.name), error);
    const std::string below = folder.string() + "/";
    if (!error && real.string().starts_with(below))
      return InSandbox{platform.name, real.string().substr(below.size())};
  }
  return std::nullopt;
}

void Print(const GlobalOptions& options, const project::Project& project, const PathPairs& pairs,
           const std::vector<PathPair>& found, bool is_source) {
  const director::Sandboxes sandboxes(project, {});
  size_t width = 0;
  for (const PathPair& pair : found) width = std::max(width, pair.platform.size());
  for (const PathPair& pair : found) {
    const std::string source = pairs.SourceOf(pair.package);
    if (options.json) {
      PrintJson({{"platform", pair.platform},
                 {"path", pair.path},
                 {"file", JoinPath(sandboxes.PathOf(pair.platform), pair.path)},
                 {"package", pair.package},
                 {"source", source},
                 {"cooked", pair.size.has_value()},
                 {"certain", pair.is_certain},
                 {"size", pair.size ? nlohmann::json(*pair.size) : nlohmann::json()},
                 {"error", pair.error.empty() ? nlohmann::json() : nlohmann::json(pair.error)}});
      continue;
    }
    const std::string known = !pair.error.empty() ? "  (error: " + pair.error + ")"
                              : pair.size         ? ""
                              : pair.is_certain   ? "  (not cooked yet)"
                                                  : "  (only a cook tells)";
    const std::string what = is_source ? pair.path : fmt::format("{}  {}", pair.package, source);
    std::puts(
        EscapeControl(fmt::format("{:<{}}  {}{}", pair.platform, width, what, known)).c_str());
  }
}

}  // namespace

int RunPath(const GlobalOptions& options, const std::string& asked, const std::string& platform) {
  auto project = OpenProject(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  std::vector<std::string> names;
  for (const project::Platform& one : project->platforms) names.push_back(one.name);
  if (!platform.empty() && std::ranges::find(names, platform) == names.end()) {
    return Fail(options, kUsage,
                fmt::format("--platform: there is no platform {}{}", platform,
                            director::NearText(director::NearNames(platform, names))));
  }
  const auto scanned = director::ScanProject(*std::move(project));
  if (!scanned.ok()) {
    return Fail(options, absl::IsUnavailable(scanned.status()) ? kInfrastructure : kUsage,
                MessageOf(scanned.status()));
  }
  // Without a journal nothing was cooked yet, or not here.
  const auto journal = director::Journal::Open(scanned->project->state_directory(), true);
  if (!journal.ok() && !absl::IsNotFound(journal.status()))
    return Fail(options, kInfrastructure, fmt::format("journal: {}", MessageOf(journal.status())));
  PathPairs pairs(*scanned, journal.ok() ? journal->get() : nullptr);
  const auto sandbox = SandboxPath(*scanned->project, asked);
  const auto source = director::ToVirtual(*scanned->project, asked);
  bool is_source = false;
  absl::StatusOr<std::vector<PathPair>> found = std::vector<PathPair>();
  if (sandbox) {
    found = pairs.OfCooked(sandbox->path, sandbox->platform);
  } else if (source.ok()) {
    found = pairs.OfPackage(*source, platform);
    is_source = found.ok() && !found->empty();
  }
  if (!sandbox && found.ok() && found->empty())
    found = pairs.OfCooked(asked.substr(asked.starts_with('/') ? 1 : 0), platform);
  if (!found.ok())
    return Fail(options, kInfrastructure, fmt::format("journal: {}", MessageOf(found.status())));
  if (found->empty() && source.ok() && scanned->table->Find(*source)) {
    if (!options.json && !options.quiet)
      LogInfo("{} is a package; only a cook tells which paths it has", *source);
    return kDone;
  }
  if (found->empty()) {
    return Fail(options, kUsage,
                fmt::format("{} is neither a package's source nor a path of a cooked tree{}", asked,
                            director::NearText(director::NearNames(source.ok() ? *source : asked,
                                                                   scanned->table->names()))));
  }
  Print(options, *scanned->project, pairs, *found, is_source);
  return kDone;
}

}  // namespace galley::cli
