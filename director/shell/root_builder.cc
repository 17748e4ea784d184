#include "director/shell/root_builder.h"

#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/tree/path_limits.h"
#include "common/tree/tree.h"
#include "common/tree/windows_names.h"
#include "director/shell/lost_files.h"
#include "fmt/format.h"

namespace galley::director {

namespace {

// Adds the first file of a package that no file system of the platform takes, if there is such a
// file.
void AddUntakeable(std::span<const tree::TreeFile> files, PackageId package, bool is_for_windows,
                   RootBuilt& built) {
  for (const tree::TreeFile& file : files) {
    std::string fault = NameFault(file.path, is_for_windows);
    if (fault.empty()) continue;
    built.conflicts.push_back({package, package, file.path, std::move(fault)});
    return;
  }
}

// After a loss: makes the store forget folders that are gone or whose bytes are wrong (which Get
// drops), because a blob that the store claims to have is not put again.
absl::Status DropLostFolders(store::Store& store, const tree::BuiltTree& made) {
  std::vector<Digest> folders;
  for (const auto& [digest, bytes] : made.directories) folders.push_back(digest);
  RETURN_IF_ERROR(store.FindLost(folders).status());
  for (const Digest& folder : folders) {
    const absl::Status read = store.Get(folder).status();
    if (!absl::IsNotFound(read) && !absl::IsDataLoss(read)) RETURN_IF_ERROR(read);
  }
  return absl::OkStatus();
}

}  // namespace

bool IsForWindows(const project::Platform& platform) {
  const auto os = platform.parameters.find("os");
  return os != platform.parameters.end() && absl::EqualsIgnoreCase(os->second, "windows");
}

bool IsForWindows(const Sources& sources, PlatformIndex platform) {
  const PlatformsPtr platforms = sources.platforms();
  return platforms != nullptr && platform < platforms->size() &&
         IsForWindows((*platforms)[platform]);
}

std::string NameFault(std::string_view path, bool is_for_windows) {
  std::string fault = tree::PathFault(path);
  return fault.empty() && is_for_windows ? tree::WindowsNameFault(path) : fault;
}

absl::StatusOr<RootBuilt> BuildRootTree(const Sources& sources, const ResultTable& results,
                                        store::Store& store, const BuildRoot& request,
                                        const Digest* whole) {
  RootBuilt built{.platform = request.platform};
  built.platform_set = request.platform_set;
  built.round = request.round;
  built.request = request.request;
  std::vector<tree::TreeFile> files;
  std::vector<PackageId> owners;
  const bool is_for_windows = IsForWindows(sources, request.platform);
  // Somebody may have revoked a worker's results while the cook ran.
  ASSIGN_OR_RETURN(const std::vector<record::Revocation> revocations, store.Revocations());
  for (const auto& [package, result_id] : request.packages) {
    const StoredResultPtr stored = results.Get(result_id);
    if (stored == nullptr) return absl::InternalError("a root names a result that is not known");
    const std::string stem = sources.StagePath(stored->package);
    if (results.IsDisputed(result_id) ||
        record::IsRevoked(stored->result.provenance, revocations)) {
      built.lost.push_back(
          {.package = package, .path = stem, .digest = stored->action_key, .is_disputed = true});
    }
    for (const record::Output& output : stored->result.outputs) {
      files.push_back({stem + output.suffix, output.digest, output.is_executable});
      owners.push_back(package);
    }
    AddUntakeable(std::span(files).last(stored->result.outputs.size()), package, is_for_windows,
                  built);
  }
  if (!built.lost.empty() || !built.conflicts.empty()) return built;
  tree::BuiltTree made =
      tree::BuildTree(files, [](std::string_view name) { return content::FoldName(name); });
  for (const tree::Conflict& conflict : made.conflicts) {
    built.conflicts.push_back(
        {owners[conflict.first], owners[conflict.second], conflict.path, conflict.reason});
  }
  if (!built.conflicts.empty()) return built;
  built.root = made.root;
  if (request.round > 0) RETURN_IF_ERROR(DropLostFolders(store, made));
  // Folders are Put even if the store has them: a folder that another process Put may go with that
  // process before anything names the folder.
  for (const auto& [digest, bytes] : made.directories) RETURN_IF_ERROR(store.Put(digest, bytes));
  if (whole != nullptr && *whole == built.root) return built;
  ASSIGN_OR_RETURN(built.lost, LostFiles(store, files, owners));
  return built;
}

}  // namespace galley::director
