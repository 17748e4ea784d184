#include "director/host/changed_files.h"

#include <algorithm>
#include <utility>

#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

absl::Status LookAtAll(std::string_view why) {
  return absl::FailedPreconditionError({why.data(), why.size()});
}

}  // namespace

std::vector<std::string> PathsOf(const content::Snapshot& files, const std::string& host_path) {
  std::vector<std::string> paths;
  for (const content::Mount& mount : files.mounts()) {
    if (!content::IsUnder(host_path, mount.directory)) continue;
    std::string path = mount.path == "/" ? "" : mount.path;
    path += host_path.substr(mount.directory.size());
    const content::FileEntry* const file = files.Find(path);
    if (file != nullptr && file->host_path == host_path) paths.push_back(std::move(path));
  }
  return paths;
}

absl::StatusOr<ChangedFiles> ChangedFiles::Find(const StandingAsk& ask, const JournalMeta& meta,
                                                std::optional<CheckedSources> checked,
                                                Cancellation& stop) {
  ChangedFiles found;
  ASSIGN_OR_RETURN(found.standing_, FindButFiles(ask, stop));
  const Standing& standing = found.standing_;
  if (standing.base_table.empty() || standing.base_table != meta.table_id)
    return LookAtAll("the files that it stands for are not known");
  if (standing.has_more_touched) return LookAtAll("many files have other stamps");
  content::StampCheck check;
  if (checked && checked->stamps == standing.source_stamps) {
    check = std::move(checked->check);
  } else {
    ASSIGN_OR_RETURN(check, CheckSources(ask, standing, stop, /*is_kept=*/false));
  }
  if (!check.holds && check.patches.empty()) return LookAtAll(check.difference);
  found.patches_ = std::move(check.patches);
  // The stamps hold: files that were touched meanwhile are in no patch.
  for (std::string& file : check.touched) found.standing_.touched.push_back(std::move(file));
  return found;
}

std::vector<std::string> ChangedFiles::PathsIn(const content::Snapshot& base) const {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& host_path) {
    for (std::string& path : PathsOf(base, host_path)) paths.push_back(std::move(path));
  };
  for (const content::StampPatch& patch : patches_) {
    if (!patch.name.empty()) add(patch.host_path());
  }
  for (const std::string& file : standing_.touched) add(file);
  SortUnique(paths);
  return paths;
}

absl::Status ChangedFiles::Hold(const content::Snapshot& now) const {
  for (const content::StampPatch& patch : patches_) {
    if (patch.name.empty()) continue;
    for (const std::string& path : PathsOf(now, patch.host_path())) {
      const content::FileEntry& file = *now.Find(path);
      if (!file.error.empty() || file.stat != patch.stat)
        return LookAtAll(fmt::format("{} changes now", patch.host_path()));
    }
  }
  return absl::OkStatus();
}

}  // namespace galley::director
