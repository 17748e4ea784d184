// SimDirector's start: does what host/difference.cc and WorkerPresence::Adopt do.

#include "director/shell/changed_packages.h"
#include "director/shell/job_builder.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

// Packages that the difference of the files affects, and packages that lost their bytes, are no
// longer trusted; a single write says so, with the new term.
void SimDirector::ApplyTheDifference() {
  JournalMeta meta = journal_.meta();
  const store::StoreInfo info = *store_.Info();
  const std::string old_table = meta.table_file;
  const bool same_epoch = meta.loss_epoch == info.loss_epoch;
  ++meta.term;
  meta.project_id = "project";
  meta.store_id = info.store_id;
  meta.loss_epoch = info.loss_epoch;
  meta.table_file = "snapshot-" + std::to_string(meta.term) + ".table";
  snapshot_ = commit_snapshot_ = MakeSnapshot(1, meta.table_file, deps_.world.files(), kPlatforms);
  const std::vector<content::Change> changes =
      ChangesOf(deps_.tables[old_table].files, snapshot_->files());
  const auto affected =
      PackagesToDistrust(old_table.empty() ? nullptr : &changes, !same_epoch, store_, journal_);
  // If the store cannot be read, or the journal cannot be written, this start failed, and the next
  // may do better. The journal can always be read here.
  if (!affected.ok() && !journal_.Progress().ok())
    deps_.checks.Break("safety: the journal cannot be read: " + affected.status().ToString());
  if (!affected.ok() || !journal_.Invalidate(*affected, meta).ok()) throw Disk::Crash();
  changed_before_ = *affected;
  for (const content::Change& change : changes) changed_before_.push_back(change.path);
}

// Expects the survivors, with the jobs that the last director gave them.
void SimDirector::TakeOver(const std::set<std::string>& survivors) {
  const JournalProgress before = *journal_.Progress();
  own_faults_->BeginTerm(before.blamed, changed_before_);
  for (const BlameRecord& one : before.blamed)
    blamed_before_.push_back({one.package, one.own_faults, one.what, one.error, one.log});
  has_survivors_ = !survivors.empty();
  WorkersSurvived survived;
  for (const std::string& name : survivors) {
    survived.workers.push_back(WorkerOf(name));
    survived.first_free = std::max(survived.first_free, WorkerOf(name).value() + 1);
  }
  JournalProgress dead;
  for (const AttemptRecord& given : before.given) {
    if (!survivors.contains(given.worker)) {
      dead.over.push_back(given.attempt);
      continue;
    }
    const std::shared_ptr<const AttemptInfo> info = own_->streams.Builder().InfoOf(given);
    if (info == nullptr) continue;
    survived.given.push_back({given.attempt, WorkerOf(given.worker), given.package, info->platforms,
                              given.generated_source});
  }
  (void)journal_.RecordProgress(dead);
  Step(survived);
  for (const AttemptRecord& given : before.given) {
    if (!survivors.contains(given.worker)) continue;
    if (auto info = own_->streams.Builder().InfoOf(given)) {  // now the core knows its package
      reports_.Register(given.attempt, std::move(info));
      given_.insert(given.attempt);
    }
  }
}

}  // namespace galley::simulation
