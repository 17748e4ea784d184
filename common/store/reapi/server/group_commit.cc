#include "common/store/reapi/server/group_commit.h"

#include <utility>

namespace galley::store {
namespace {

template <typename T>
void Append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

GroupCommit::GroupCommit(Store& store) : store_(store), thread_([this] { Run(); }) {}

GroupCommit::~GroupCommit() {
  {
    const base::MutexLock lock(mutex_);
    is_ending_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void GroupCommit::Commit(CommitBatch batch, Done done) {
  {
    const base::MutexLock lock(mutex_);
    waiting_.push_back({std::move(batch), std::move(done)});
  }
  changed_.NotifyAll();
}

absl::Status GroupCommit::CommitAll(const std::vector<Waiting>& group) {
  CommitBatch all;
  for (const Waiting& one : group) {
    Append(one.batch.blobs, all.blobs);
    Append(one.batch.results, all.results);
    Append(one.batch.sets, all.sets);
    Append(one.batch.action_results, all.action_results);
  }
  return store_.Commit(all);
}

void GroupCommit::Run() {
  while (true) {
    std::vector<Waiting> group;
    {
      const base::MutexLock lock(mutex_);
      while (waiting_.empty() && !is_ending_) changed_.Wait(mutex_);
      if (waiting_.empty()) return;
      group.swap(waiting_);
    }
    const absl::Status status = CommitAll(group);
    const bool is_alone = !absl::IsInvalidArgument(status) || group.size() == 1;
    for (const Waiting& one : group) one.done(is_alone ? status : store_.Commit(one.batch));
  }
}

}  // namespace galley::store
