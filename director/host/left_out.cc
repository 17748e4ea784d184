#include "director/host/left_out.h"

#include <sys/stat.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/content/name.h"
#include "common/record/cooker_description.h"
#include "director/core/packages/package_data.h"
#include "director/host/error_list.h"
#include "director/shell/sources.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kSandboxesToldMax = 3;

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

using Paths = absl::flat_hash_set<std::string>;

// Takes the files that the package asked for in its last cook out of `unread`.
void TakeOutRead(Journal& journal, const std::string& package, Paths& unread) {
  const auto record = journal.Find(package);
  if (!record.ok() || !record->has_value()) return;
  for (const auto& [platform, known] : (*record)->platforms) {
    for (const record::Observed& seen : known.observed) {
      if (seen.what.kind != record::ObservationKind::kFile) continue;
      if (const auto asked = AskedName(package, seen.what.subject); asked.ok())
        unread.erase(*asked);
    }
  }
}

// Returns the `files`, sorted, that no existing package has read in its last cook. The journal is
// asked for the readers of all files at once: its index has the readers of a folder in one place.
// Their records are looked at in an order that is spread over the project, until no file is left:
// usually the first few readers of a folder account for all its files.
Paths UnreadOf(const ProjectCatalog& table, Journal& journal,
               const std::vector<const content::FileEntry*>& files) {
  Paths unread;
  std::vector<content::Change> changes;
  changes.reserve(files.size());
  for (const content::FileEntry* const file : files) {
    unread.insert(file->path);
    changes.push_back({.path = file->path, .was_there = true, .is_there = true});
  }
  const auto readers = journal.Affected(changes);
  if (!readers.ok() || readers->empty()) return unread;
  const size_t count = readers->size();
  size_t stride = count - count * 3 / 8;
  while (std::gcd(stride, count) != 1) ++stride;
  for (size_t i = 0, at = 0; i < count && !unread.empty(); ++i, at = (at + stride) % count) {
    const std::string& package = (*readers)[at];
    const std::string generator(GeneratorName(package));
    if (table.Find(generator.empty() ? package : generator)) TakeOutRead(journal, package, unread);
  }
  return unread;
}

// Returns the likely new name of a file that no longer exists; empty: there is none.
std::string LikelyNewName(const content::Snapshot& snapshot, const std::string& old) {
  const std::string extension = content::ExtensionOf(old);
  const std::string_view folder = content::FolderOf(old);
  std::vector<std::string> beside;
  std::string elsewhere;
  for (const content::FileEntry& file : snapshot.files()) {
    const bool is_beside = content::FolderOf(file.path) == folder;
    const bool is_like = is_beside ? content::ExtensionOf(file.path) == extension
                                   : elsewhere.empty() && BaseName(file.path) == BaseName(old);
    if (!is_like || project::IsSidecar(file.path) ||
        snapshot.Find(file.path + std::string(project::kSidecarSuffix)) != nullptr)
      continue;
    if (is_beside) {
      beside.emplace_back(BaseName(file.path));
    } else {
      elsewhere = file.path;
    }
  }
  const std::string near = record::Nearest(BaseName(old), beside);
  return near.empty() ? elsewhere : fmt::format("{}/{}", folder, near);
}

}  // namespace

std::vector<const content::FileEntry*> UnmatchedFiles(const project::Project& project,
                                                      const ProjectCatalog& table,
                                                      Journal* journal) {
  std::vector<const content::FileEntry*> unmatched;
  const std::string project_file = JoinPath(project.root, project::kProjectFile);
  auto package = table.names().begin();  // both lists are sorted
  for (const content::FileEntry& file : table.snapshot().files()) {
    while (package != table.names().end() && *package < file.path) ++package;
    const bool is_package = package != table.names().end() && *package == file.path;
    if (is_package || project::IsSidecar(file.path) || !file.error.empty() ||
        S_ISDIR(file.stat.mode) || file.host_path == project_file ||
        table.resolver()->IsSetAside(file.path))
      continue;
    unmatched.push_back(&file);
  }
  if (journal == nullptr || unmatched.empty()) return unmatched;
  const Paths unread = UnreadOf(table, *journal, unmatched);
  std::erase_if(unmatched,
                [&](const content::FileEntry* const file) { return !unread.contains(file->path); });
  return unmatched;
}

std::vector<std::string> StraySidecars(const ProjectCatalog& table) {
  const content::Snapshot& snapshot = table.snapshot();
  std::vector<std::string> warnings;
  size_t untold = 0;
  for (const content::FileEntry& file : snapshot.files()) {
    if (!project::IsSidecar(file.path)) continue;
    const std::string old = file.path.substr(0, file.path.size() - project::kSidecarSuffix.size());
    if (snapshot.Find(old) != nullptr) continue;
    if (warnings.size() == kErrorsToldMax) {
      ++untold;
      continue;
    }
    const std::string likely = LikelyNewName(snapshot, old);
    warnings.push_back(
        fmt::format("the sidecar {} has no effect: there is no file {}{}", file.path, old,
                    likely.empty() ? "; remove the sidecar, or bring the file back"
                                   : fmt::format("; if that is {} now, rename the sidecar to {}{}",
                                                 likely, likely, project::kSidecarSuffix)));
  }
  if (untold > 0) warnings.push_back(fmt::format("and {} more sidecars without a file", untold));
  return warnings;
}

std::string SandboxesAmongContent(const content::Snapshot& snapshot) {
  const std::vector<std::string>& sandboxes = snapshot.sandboxes();
  if (sandboxes.empty()) return "";
  std::string names;
  for (size_t i = 0; i < std::min(sandboxes.size(), kSandboxesToldMax); ++i)
    names += (i == 0 ? "" : ", ") + EscapeControl(sandboxes[i]);
  if (sandboxes.size() > kSandboxesToldMax)
    names += fmt::format(" and {} more", sandboxes.size() - kSandboxesToldMax);
  const bool is_one = sandboxes.size() == 1;
  return fmt::format(
      "{} under the mounts {} and {} not cooked: {}; if {} content (a copy of cooked files), "
      "delete "
      "the file {} in {}; else leave {} there, or move {} out of the mounts ([output] dir, --out)",
      is_one ? "1 folder" : fmt::format("{} folders", sandboxes.size()),
      is_one ? "is a sandbox of cooked files" : "are sandboxes of cooked files",
      is_one ? "is" : "are", names, is_one ? "it is" : "one of them is", content::kSandboxFile,
      is_one ? "it" : "that one", is_one ? "it" : "them", is_one ? "it" : "them");
}

}  // namespace galley::director
