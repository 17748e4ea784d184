#include "director/standing/sandbox_stamps.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/racy.h"
#include "common/base/status_macros.h"
#include "common/content/stamp_table.h"
#include "common/tree/tree.h"
#include "director/stage/apply_names.h"
#include "director/stage/ledger.h"
#include "director/stage/sandbox.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

absl::Status Changed(const std::string& path) {
  return FailedPreconditionError("{} changed since it was staged", path);
}

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

content::NamesHash HashOf(const std::vector<std::string>& names) {
  return content::HashOfNames({names.begin(), names.end()});
}

// Returns the patch for the sandbox's own folder, where only staging may have made or removed a
// file. nullopt: the folder has the same names as before.
absl::StatusOr<std::optional<content::StampPatch>> PatchOfTop(const content::StampTable& before,
                                                              const std::string& directory) {
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(directory));
  ASSIGN_OR_RETURN(std::vector<std::string> names, sandbox.Names(""));
  const content::NamesHash now = HashOf(names);
  const std::optional<content::NamesHash> old = before.NamesOf(sandbox.Full(""));
  if (old == now) return std::nullopt;
  if (std::erase(names, kFilesName) == 0) names.emplace_back(kFilesName);
  if (old != HashOf(names)) return Changed(directory);
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(directory));
  return content::StampPatch{.folder = sandbox.Full(""),
                             .name = "",
                             .stat = stat,
                             .names = now,
                             .digest = std::nullopt,
                             .is_racy = true};
}

class Builder {
 public:
  explicit Builder(Sandbox& sandbox) : sandbox_(sandbox) {}

  absl::Status AddFolder(std::string_view path) {
    if (folders_.contains(path)) return absl::OkStatus();
    if (!path.empty()) RETURN_IF_ERROR(AddFolder(FolderOf(path)));
    const std::string full = sandbox_.Full(path);
    const int64_t looked_ns = absl::ToUnixNanos(absl::Now());
    ASSIGN_OR_RETURN(const FileStat stat, StatFile(full));
    ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox_.Names(path));
    ASSIGN_OR_RETURN(const FileStat link, StatFile(full, /*follow_links=*/false));
    const uint32_t number = table_.Add({.host_path = full,
                                        .stat = stat,
                                        .names = HashOf(names),
                                        .is_link = S_ISLNK(link.mode),
                                        .is_racy = IsRacy(stat, looked_ns)});
    folders_.emplace(path, number);
    return absl::OkStatus();
  }

  absl::Status AddFile(std::string_view path, const Digest& digest, bool is_racy,
                       const FileStamp* stamp) {
    RETURN_IF_ERROR(AddFolder(FolderOf(path)));
    files_.emplace(path);
    const std::string full = sandbox_.Full(path);
    ASSIGN_OR_RETURN(const FileStat stat, StatFile(full, /*follow_links=*/false));
    const FileStamp now{stat.mtime_ns, stat.ctime_ns, stat.inode};
    if (!S_ISREG(stat.mode) || stat.size_bytes != digest.size_bytes() ||
        (stamp != nullptr && now != *stamp))
      return Changed(full);
    table_.Add(folders_.find(FolderOf(path))->second,
               {.name = NameOf(path), .stat = stat, .digest = digest, .is_racy = is_racy});
    return absl::OkStatus();
  }

  // Adds folders that are not in the tree: each of their files is warned of.
  absl::Status AddOtherFolders() {
    std::vector<std::string> to_do;
    for (const auto& [path, number] : folders_) to_do.push_back(path);
    while (!to_do.empty()) {
      const std::string folder = std::move(to_do.back());
      to_do.pop_back();
      ASSIGN_OR_RETURN(const std::vector<std::string> names, sandbox_.Names(folder));
      for (const std::string& name : names) {
        std::string path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
        if (folders_.contains(path) || files_.contains(path)) continue;
        ASSIGN_OR_RETURN(const Node node, sandbox_.Look(path));
        if (node.kind != NodeKind::kFolder) continue;
        RETURN_IF_ERROR(AddFolder(path));
        to_do.push_back(std::move(path));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Finish() { return table_.Finish(); }

 private:
  Sandbox& sandbox_;
  content::StampTableBuilder table_;
  std::map<std::string, uint32_t, std::less<>> folders_;
  absl::flat_hash_set<std::string> files_;
};

}  // namespace

absl::StatusOr<std::string> SandboxStamps(store::Store& store, const Digest& root,
                                          const std::string& directory) {
  ASSIGN_OR_RETURN(std::vector<tree::TreeFile> files,
                   tree::ListTree(root, [&](const Digest& digest) { return store.Get(digest); }));
  std::ranges::sort(files, [](const auto& a, const auto& b) { return a.path < b.path; });
  ASSIGN_OR_RETURN(Sandbox sandbox, Sandbox::Open(directory));
  ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(sandbox));
  if (!ledger.is_closed || ledger.exact != root || ledger.stamps.size() != files.size())
    return Changed(directory);
  Builder builder(sandbox);
  RETURN_IF_ERROR(builder.AddFolder(""));
  for (size_t i = 0; i < files.size(); ++i) {
    RETURN_IF_ERROR(builder.AddFile(files[i].path, files[i].digest,
                                    IsStampRacy(ledger, ledger.stamps[i]), &ledger.stamps[i]));
  }
  ASSIGN_OR_RETURN(const std::optional<std::string> owner,
                   sandbox.Read(kOwnerName, uint64_t{1} << 20));
  if (!owner.has_value()) return Changed(directory);
  RETURN_IF_ERROR(builder.AddFile(kOwnerName, Digest::Of(*owner), /*is_racy=*/true, nullptr));
  RETURN_IF_ERROR(builder.AddOtherFolders());
  return builder.Finish();
}

absl::StatusOr<std::string> SandboxStampsAfter(store::Store& store,
                                               const content::StampTable& before,
                                               const Digest& root_before, const Digest& root,
                                               const std::string& directory) {
  ASSIGN_OR_RETURN(
      const std::vector<tree::Difference> differences,
      tree::DiffTrees(root_before, root, [&](const Digest& digest) { return store.Get(digest); }));
  std::vector<content::StampPatch> patches;
  ASSIGN_OR_RETURN(const auto of_top, PatchOfTop(before, directory));
  if (of_top.has_value()) patches.push_back(*of_top);
  for (const tree::Difference& one : differences) {
    if (one.kind != tree::Difference::Kind::kChanged ||
        one.before.is_executable != one.after.is_executable)
      return Changed(directory);
    const std::string full = JoinPath(directory, one.after.path);
    ASSIGN_OR_RETURN(const FileStat stat, StatFile(full, /*follow_links=*/false));
    if (!S_ISREG(stat.mode) || stat.size_bytes != one.after.digest.size_bytes())
      return Changed(full);
    const size_t slash = full.rfind('/');
    // The file was written a moment ago.
    patches.push_back({.folder = full.substr(0, slash),
                       .name = full.substr(slash + 1),
                       .stat = stat,
                       .digest = one.after.digest,
                       .is_racy = true});
  }
  return before.With(patches);
}

}  // namespace galley::director
