#include "director/journal/index.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

void SortUnique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// A path that leaves "/" names nothing that can ever be there.
void AddResolved(std::string_view package, std::string_view asked,
                 std::vector<std::string>& names) {
  absl::StatusOr<std::string> path = content::ResolveAsked(package, asked);
  if (path.ok()) names.push_back(std::move(path).value());
}

}  // namespace

absl::Status CheckKeyPart(std::string_view what, std::string_view text) {
  if (text.empty())
    return absl::InvalidArgumentError(fmt::format("an empty {} cannot be recorded", what));
  if (text.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(fmt::format("a {} with a NUL cannot be recorded: {}", what,
                                                  text.substr(0, text.find('\0'))));
  }
  return absl::OkStatus();
}

absl::StatusOr<IndexEntries> EntriesOf(const JournalUpdate& update) {
  IndexEntries entries{.paths = update.paths, .folders = update.folders};
  for (const record::Observed& observed : update.record.observed) {
    if (observed.what.kind == record::ObservationKind::kCooked) {
      AddResolved(update.package, observed.what.subject, entries.cooked_inputs);
    }
  }
  for (std::vector<std::string>* names :
       {&entries.paths, &entries.folders, &entries.cooked_inputs}) {
    SortUnique(*names);
    for (const std::string& name : *names) RETURN_IF_ERROR(CheckKeyPart("path", name));
  }
  return entries;
}

std::string IndexPrefix(char kind, std::string_view subject) {
  std::string prefix(1, kind);
  prefix.append(subject);
  prefix.push_back('\0');
  return prefix;
}

std::vector<std::string> IndexPrefixes(const IndexEntries& entries) {
  std::vector<std::string> prefixes;
  for (const std::string& path : entries.paths) prefixes.push_back(IndexPrefix(kPathKind, path));
  for (const std::string& folder : entries.folders)
    prefixes.push_back(IndexPrefix(kFolderKind, folder));
  for (const std::string& input : entries.cooked_inputs)
    prefixes.push_back(IndexPrefix(kCookedKind, input));
  SortUnique(prefixes);
  return prefixes;
}

std::vector<std::string> AskedPrefixes(std::span<const content::Change> changes) {
  std::vector<std::string> prefixes;
  std::vector<std::string> folders;
  std::string_view parent_before;
  for (const content::Change& change : changes) {
    prefixes.push_back(IndexPrefix(kPathKind, change.path));
    if (change.was_there == change.is_there) continue;
    const std::string_view parent = content::FolderOf(change.path);
    if (parent == parent_before)
      continue;  // changes are sorted by path: neighbours share their folders
    parent_before = parent;
    for (std::string_view folder = parent;; folder = content::FolderOf(folder)) {
      folders.emplace_back(folder);
      if (folder.size() <= 1) break;
    }
  }
  SortUnique(folders);
  for (const std::string& folder : folders) {
    prefixes.push_back(IndexPrefix(kPathKind, folder));
    prefixes.push_back(IndexPrefix(kFolderKind, folder));
  }
  SortUnique(prefixes);
  return prefixes;
}

void IndexOf(std::string_view package, std::span<const record::Observed> observed,
             std::vector<std::string>& paths, std::vector<std::string>& folders) {
  paths.assign(1, std::string(package));
  folders.clear();
  for (const record::Observed& one : observed) {
    switch (one.what.kind) {
      case record::ObservationKind::kFile:
      case record::ObservationKind::kExists:
        AddResolved(package, one.what.subject, paths);
        break;
      case record::ObservationKind::kList:
      case record::ObservationKind::kGlob:
        AddResolved(package, one.what.subject, folders);
        break;
      case record::ObservationKind::kCooked:  // Record indexes these itself
      case record::ObservationKind::kPlatform:
      case record::ObservationKind::kTool:
      case record::ObservationKind::kEnv:
      case record::ObservationKind::kName:
        break;
    }
  }
  SortUnique(paths);
  SortUnique(folders);
}

}  // namespace galley::director
