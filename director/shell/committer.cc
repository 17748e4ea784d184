#include "director/shell/committer.h"

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {

TaskThread::TaskThread() : thread_([this] { Run(); }) {}

TaskThread::~TaskThread() {
  {
    base::MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void TaskThread::Post(std::function<void()> task) {
  {
    base::MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyAll();
}

void TaskThread::Drain() {
  base::MutexLock lock(mutex_);
  while (busy_ || !tasks_.empty()) changed_.Wait(mutex_);
}

void TaskThread::Run() {
  while (true) {
    std::function<void()> task;
    {
      base::MutexLock lock(mutex_);
      busy_ = false;
      if (tasks_.empty()) changed_.NotifyAll();
      while (tasks_.empty() && !ending_) changed_.Wait(mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      busy_ = true;
    }
    task();
  }
}

namespace {

JournalUpdate UpdateOf(const StoredResult& stored) {
  JournalUpdate update{.package = stored.package, .platform = stored.platform_name};
  PlatformRecord& record = update.record;
  record.recipe = stored.recipe;
  record.source = stored.source;
  record.weak_key = stored.weak_key;
  record.action_key = stored.action_key;
  record.recipe_bytes = stored.recipe_bytes;
  record.result = stored.encoded;
  record.observed = stored.observed;
  record.last_cook = stored.last_cook;
  IndexOf(stored.package, stored.observed, update.paths, update.folders);
  return update;
}

// Why this result is not that of the record before: source, recipe, or the observations whose
// values differ.
void ExplainChange(const std::optional<PackageRecord>& before, JournalUpdate& update) {
  LastCook& last = update.record.last_cook;
  const PlatformRecord* old = nullptr;
  if (before) {
    const auto found = before->platforms.find(update.platform);
    if (found != before->platforms.end()) old = &found->second;
  }
  if (old == nullptr) {
    last.is_first = true;
    return;
  }
  update.record.published_key = old->published_key;
  if (old->source != update.record.source) {
    last.changed.push_back({"source", old->source.ToString(), update.record.source.ToString()});
  }
  if (old->recipe != update.record.recipe) {
    last.changed.push_back({"recipe", old->recipe.ToString(), update.record.recipe.ToString()});
  }
  // Both lists are sorted by what was looked at.
  auto seen = update.record.observed.begin();
  for (const record::Observed& was : old->observed) {
    while (seen != update.record.observed.end() && seen->what < was.what) ++seen;
    if (seen != update.record.observed.end() && seen->what == was.what &&
        seen->value != was.value) {
      last.changed.push_back({was.what.ToString(), was.value, seen->value});
    }
  }
}

}  // namespace

CommitOutcome CommitGroup(store::Store& store, Journal& journal, const ResultTable& results,
                          const Persist& persist,
                          const std::function<bool(const StoredResult&)>& holds) {
  CommitOutcome outcome;
  store::CommitBatch batch;
  std::vector<JournalUpdate> updates;
  for (const Persist::Item& item : persist.items) {
    outcome.event.items.push_back({item.package, item.platform, item.result});
    const StoredResultPtr stored = results.Get(item.result);
    if (stored == nullptr || (stored->is_in_journal && !item.was_cooked)) continue;
    if (holds(*stored)) {
      JournalUpdate update = UpdateOf(*stored);
      if (auto before = journal.Find(stored->package); before.ok()) ExplainChange(*before, update);
      update.record.last_cook.time = absl::Now();
      updates.push_back(std::move(update));
    }
    if (!item.was_cooked) continue;
    for (const auto& blob : stored->blobs) {
      batch.blobs.push_back(blob);
      outcome.bytes_stored += blob.first.size_bytes();
    }
    // A result names its details (out/details) like any output: other servers and readers find them
    // as a blob.
    if (!stored->result.is_verdict) {
      const std::string details = record::EncodeDetails(stored->result.details);
      if (const absl::Status put = store.Put(Digest::Of(details), details); !put.ok()) {
        outcome.event.error = fmt::format("committing results to the store: {}", MessageOf(put));
        return outcome;
      }
    }
    batch.results.push_back({.weak_key = stored->weak_key,
                             .observation_set = record::EncodeSet(record::SetOf(stored->observed)),
                             .action_key = stored->action_key,
                             .result = stored->encoded});
  }
  if (!batch.results.empty()) {
    const absl::Status committed = store.Commit(batch);
    if (absl::IsAlreadyExists(committed)) {
      outcome.alarms.push_back(MessageOf(committed));
    } else if (!committed.ok()) {
      outcome.event.error =
          fmt::format("committing results to the store: {}", MessageOf(committed));
      return outcome;
    }
  }
  if (!updates.empty()) {
    const absl::Status recorded = journal.Record(updates, !batch.results.empty());
    if (!recorded.ok())
      outcome.event.error = fmt::format("writing the journal: {}", MessageOf(recorded));
  }
  return outcome;
}

}  // namespace galley::director
