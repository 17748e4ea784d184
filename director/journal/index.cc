#include "director/journal/index.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/sort_unique.h"
#include "common/content/name.h"

namespace galley::director {
namespace {

// A path that leaves "/" names nothing that can ever exist.
void AddResolved(std::string_view package, std::string_view asked,
                 std::vector<std::string>& names) {
  absl::StatusOr<std::string> path = content::ResolveAsked(package, asked);
  if (path.ok()) names.push_back(std::move(path).value());
}

// Returns the path without its folder.
std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

absl::Status CheckKeyPart(std::string_view what, std::string_view text) {
  if (text.empty()) return InvalidArgumentError("an empty {} cannot be recorded", what);
  if (text.find('\0') != std::string_view::npos) {
    return InvalidArgumentError("a {} with a NUL cannot be recorded: {}", what,
                                text.substr(0, text.find('\0')));
  }
  return absl::OkStatus();
}

void AddEntriesOf(std::string_view package, std::span<const record::Observed> observed,
                  IndexEntries& entries) {
  for (const record::Observed& one : observed) {
    switch (one.what.kind) {
      case record::ObservationKind::kFile:
      case record::ObservationKind::kExists:
        AddResolved(package, one.what.subject, entries.paths);
        break;
      case record::ObservationKind::kList:
      case record::ObservationKind::kGlob:
        AddResolved(package, one.what.subject, entries.folders);
        break;
      case record::ObservationKind::kCooked:
        AddResolved(package, one.what.subject, entries.cooked_inputs);
        break;
      case record::ObservationKind::kPlatform:
      case record::ObservationKind::kTool:
      case record::ObservationKind::kEnv:
      case record::ObservationKind::kName:
        break;
    }
  }
  std::erase(entries.paths, package);
  SortUnique(entries.paths);
  SortUnique(entries.folders);
  SortUnique(entries.cooked_inputs);
}

std::string IndexPrefix(char kind, std::string_view subject) {
  std::string prefix(1, kind);
  prefix.append(subject);
  prefix.push_back('\0');
  return prefix;
}

std::map<std::string, std::string> IndexRecordsOf(std::string_view package,
                                                  const IndexEntries& entries) {
  std::map<std::string, std::string> records;
  const auto add = [&](char kind, std::string_view subject) -> std::string& {
    return records[IndexPrefix(kind, subject).append(package)];
  };
  const std::string_view home = content::FolderOf(package);
  std::string beside;
  for (const std::string& path : entries.paths) {
    if (content::FolderOf(path) == home && path.size() > 1) {
      beside.append(NameOf(path)).push_back('\0');
    } else {
      add(kPathKind, path);
    }
  }
  if (!beside.empty()) add(kBesideKind, home) = std::move(beside);
  for (const std::string& folder : entries.folders) add(kFolderKind, folder);
  for (const std::string& input : entries.cooked_inputs) add(kCookedKind, input);
  return records;
}

AskedOfIndex AskedBy(std::span<const content::Change> changes) {
  AskedOfIndex asked;
  std::vector<std::string> folders;
  std::string_view parent_before;
  for (const content::Change& change : changes) {
    asked.packages.push_back(change.path);
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
  for (const std::string& folder : folders)
    asked.prefixes.push_back(IndexPrefix(kFolderKind, folder));
  asked.packages.insert(asked.packages.end(), folders.begin(), folders.end());
  SortUnique(asked.packages);
  for (const std::string& path : asked.packages) {
    asked.prefixes.push_back(IndexPrefix(kPathKind, path));
    if (path.size() > 1)
      asked.beside[IndexPrefix(kBesideKind, content::FolderOf(path))].emplace_back(NameOf(path));
  }
  SortUnique(asked.prefixes);
  for (auto& [prefix, names] : asked.beside) SortUnique(names);
  return asked;
}

bool MayMeet(std::string_view value, std::span<const std::string> names) {
  while (!value.empty()) {
    const std::string_view name = value.substr(0, value.find('\0'));
    if (std::binary_search(names.begin(), names.end(), name, std::less<>())) return true;
    value.remove_prefix(std::min(value.size(), name.size() + 1));
  }
  return false;
}

}  // namespace galley::director
