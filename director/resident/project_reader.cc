#include "director/resident/project_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

bool NeedsRestart(std::string_view key) {
  return key.starts_with("store.") || key.starts_with("director.") || key == "farm.listen";
}

bool DecidesBytes(std::string_view key) {
  constexpr std::array kKeys = {"project.fix_case", "store.trust", "store.read_trust"};
  return key.starts_with("cook.") || key.starts_with("scan.") ||
         std::ranges::find(kKeys, key) != kKeys.end();
}

// Says whether the value comes from outside the project file, which both sides read.
bool IsExpress(std::string_view source) {
  return source != "default" && !source.starts_with(project::kProjectFile);
}

std::string FileOf(const project::Project& project) {
  return JoinPath(project.root, project::kProjectFile);
}

std::string TextOf(const project::Project& project) {
  std::string text;
  const auto file = ReadFile(FileOf(project));
  if (file.ok()) text = *file;
  for (const project::Origin& one : project.origins)
    text += fmt::format("\n{}={} ({})", one.key, one.value, one.source);
  return text;
}

}  // namespace

ProjectReader::ProjectReader(Load load, std::shared_ptr<const project::Project> first)
    : load_(std::move(load)),
      first_(std::move(first)),
      present_(first_),
      present_text_(TextOf(*first_)),
      seen_(StatFile(FileOf(*first_))) {}

void ProjectReader::Renew() {
  const absl::StatusOr<FileStat> now = StatFile(FileOf(*first_));
  bool is_same = false;
  {
    base::MutexLock lock(reading_);
    is_same = now.ok() && seen_.ok() && *now == *seen_;
  }
  if (!is_same || !notes().empty()) (void)Read();
}

absl::StatusOr<std::shared_ptr<const project::Project>> ProjectReader::Read() {
  base::MutexLock one_by_one(reading_);
  seen_ = StatFile(FileOf(*first_));
  absl::StatusOr<project::Project> read = load_();
  std::vector<std::string> notes;
  if (!read.ok()) {
    notes.push_back(fmt::format("{}; cooks that run go on with the last good project file",
                                MessageOf(read.status())));
    base::MutexLock lock(mutex_);
    notes_ = std::move(notes);
    is_unreadable_ = true;
    return read.status();
  }
  std::string text = TextOf(*read);
  Keep(*read, notes);
  if (text != present_text_) {
    present_ = std::make_shared<const project::Project>(*std::move(read));
    present_text_ = std::move(text);
    base::MutexLock lock(mutex_);
    refusal_.clear();
  }
  base::MutexLock lock(mutex_);
  notes_ = std::move(notes);
  if (std::exchange(is_unreadable_, false)) refusal_.clear();  // the file was mended
  return present_;
}

void ProjectReader::Keep(project::Project& project, std::vector<std::string>& notes) const {
  std::map<std::string, std::string> before;
  for (const project::Origin& one : first_->origins) before[one.key] = one.value;
  for (project::Origin& one : project.origins) {
    const auto found = before.find(one.key);
    if (!NeedsRestart(one.key) || found == before.end() || found->second == one.value) continue;
    notes.push_back(
        fmt::format("{}: {} is {} now; the director goes on with {} until it is restarted",
                    one.source, one.key, one.value, found->second));
    one.value = found->second;
  }
  project.store = first_->store;
  project.director = first_->director;
  project.farm.listen = first_->farm.listen;
}

void ProjectReader::NoteEnd(const std::string& refusal) {
  base::MutexLock lock(mutex_);
  refusal_ = refusal;
}

std::vector<std::string> ProjectReader::notes() const {
  base::MutexLock lock(mutex_);
  std::vector<std::string> notes = notes_;
  const bool is_told = std::ranges::any_of(
      notes, [&](const std::string& note) { return note.starts_with(refusal_); });
  if (!refusal_.empty() && !is_told)
    notes.push_back(fmt::format("the last cook was refused: {}", refusal_));
  return notes;
}

std::string DifferenceThatMatters(const std::vector<project::Origin>& ours,
                                  const std::vector<project::Origin>& theirs) {
  std::map<std::string, const project::Origin*> known;
  for (const project::Origin& one : ours) known[one.key] = &one;
  for (const project::Origin& one : theirs) {
    const auto found = known.find(one.key);
    // Every cook has an output folder of its own.
    if (found == known.end() || found->second->value == one.value || one.key == "output.dir")
      continue;
    if (!DecidesBytes(one.key) && !IsExpress(one.source)) continue;
    return fmt::format("{} is {} for the director ({}) and {} here ({})", one.key,
                       found->second->value, found->second->source, one.value, one.source);
  }
  return "";
}

}  // namespace galley::director
