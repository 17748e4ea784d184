#include "director/resident/known_answers.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/sabotage.h"
#include "director/resident/store_answers.h"
#include "director/resident/waiting_reads.h"

namespace galley::director {
namespace {

std::optional<DeviceAnswer> AnswerOfOutcome(const PathOutcome& outcome, const FileRead& read) {
  if (const auto* found = std::get_if<FoundFile>(&outcome))
    return FileAnswerOf(*found, read.known_tags);
  if (const auto* absent = std::get_if<NoFile>(&outcome)) return Absent(absent->text);
  if (const auto* fault = std::get_if<PackageFault>(&outcome)) return RefusalOf(*fault);
  return std::nullopt;  // a conflict
}

DeviceFile FileForCaller(const FoundPath& found, const FileRead& read) {
  DeviceFile file = found.file;
  file.is_known = std::ranges::find(read.known_tags, file.tag) != read.known_tags.end();
  return file;
}

}  // namespace

std::optional<DeviceAnswer> KnownAnswers::Present(const ShownWorldPtr& present,
                                                  const FileRead& read) {
  const ShownPlatform* const platform = present->Find(read.platform);
  if (platform == nullptr) return std::nullopt;
  const FoundPaths::Ground ground{.shown = present,
                                  .table_version = cooked_.TableOf(read.platform)->version()};
  if (const FoundPathPtr found = found_.Find(ground, read.platform, read.path)) {
    note_asked_(read.platform, found->package);
    return FileForCaller(*found, read);
  }
  PathRead path(read.path, platform->paths->OwnersOf(read.path));
  FillKnown({.shown = *present, .platform = read.platform, .cooked = cooked_}, path);
  // A world that began meanwhile may have other results.
  if (!path.Wanted().empty() || shared_.present() != present) return std::nullopt;
  const PathOutcome outcome = path.Decide();
  const auto* const file = std::get_if<FoundFile>(&outcome);
  if (file != nullptr) note_asked_(read.platform, file->package);
  if (file != nullptr && !path.HasGenerators()) {
    found_.Note(
        ground, read.platform, read.path,
        {.file = FileAnswerOf(*file, {}), .package = file->package, .packages = path.Packages()});
  }
  // A conflict is told in a turn.
  return AnswerOfOutcome(outcome, read);
}

std::optional<DeviceAnswer> KnownAnswers::InSession(const SharedSessions::Seen& seen,
                                                    const FileRead& read,
                                                    const devices::DeviceViewPtr& view) {
  if (seen.shown == nullptr || view == nullptr) return std::nullopt;
  const ShownPlatform* const platform = seen.shown->Find(read.platform);
  if (platform == nullptr) return std::nullopt;
  // A session of an older world says nothing of the present one.
  const bool is_present = seen.session.standing == devices::SessionStanding::kPresent;
  const FoundPaths::Ground ground{.shown = seen.shown,
                                  .table_version = cooked_.TableOf(read.platform)->version(),
                                  .view_root = view->root};
  if (const FoundPathPtr found = found_.Find(ground, read.platform, read.path)) {
    shared_.NoteRead(read.session, found->packages);
    if (is_present) note_asked_(read.platform, found->package);
    DeviceFile file = FileForCaller(*found, read);
    file.root = seen.session.root;
    return file;
  }
  AskedOwners asked = OwnersInSession(*platform->paths, read.path);
  PathRead path(read.path, std::move(asked.owners));
  FillKnown({.shown = *seen.shown,
             .platform = read.platform,
             .cooked = cooked_,
             .view = view.get(),
             .has_static = true,
             .has_table = IsSabotaged(Sabotage::kServeLaterWorld)},
            path);
  if (!path.Wanted().empty()) return std::nullopt;
  const PathOutcome outcome = path.Decide();
  // The last good version is looked for in a turn.
  const bool may_be_good =
      seen.session.takes_last_good && is_present && std::holds_alternative<PackageFault>(outcome);
  if (may_be_good) return std::nullopt;
  const auto* const found = std::get_if<FoundFile>(&outcome);
  if (found == nullptr) {
    if (asked.is_folder && path.CookedFolderOwner()) {
      // The folder is in this view, which the session may not have.
      if (view->root != seen.session.root) return std::nullopt;
      shared_.NoteRead(read.session, path.Packages());
      return IsFolder(read.path, seen.session.root);
    }
    if (auto answer = AnswerOfOutcome(outcome, read)) return answer;
    return RefusalOf(std::get<devices::PathConflict>(outcome));
  }
  std::vector<std::string> packages = path.Packages();
  shared_.NoteRead(read.session, packages);
  if (is_present) note_asked_(read.platform, found->package);
  DeviceFile file = FileAnswerOf(*found, read.known_tags);
  file.root = seen.session.root;
  // The table may learn the key of a file later, which changes the file's tag.
  const bool has_final_tag =
      found->key.has_value() || SmallCopyOf(*seen.shown, *platform, found->package).has_value();
  if (has_final_tag && !path.HasGenerators()) {
    found_.Note(ground, read.platform, read.path,
                {.file = FileAnswerOf(*found, {}),
                 .package = found->package,
                 .packages = std::move(packages)});
  }
  return file;
}

}  // namespace galley::director
