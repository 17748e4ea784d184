#include "director/shell/write_back.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/record/action.h"
#include "common/record/portable_result.h"
#include "common/record/recipe.h"
#include "common/record/set_list.h"
#include "common/store/interface/named_blobs.h"

namespace galley::director {
namespace {

// WithMade: our own store, with blobs that were made in memory to go with a result.
class WithMade final : public store::BlobStore {
 public:
  explicit WithMade(store::BlobStore& behind) : behind_(behind) {}
  Digest Add(std::string bytes) {
    const Digest digest = Digest::Of(bytes);
    made_.emplace(digest, std::move(bytes));
    return digest;
  }
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    std::vector<Digest> others;
    std::copy_if(digests.begin(), digests.end(), std::back_inserter(others),
                 [&](const Digest& digest) { return !made_.contains(digest); });
    return behind_.FindMissing(others);
  }
  absl::StatusOr<Blob> Get(const Digest& digest) override {
    const auto at = made_.find(digest);
    return at == made_.end() ? behind_.Get(digest) : MakeBlob(at->second);
  }
  absl::Status Put(const Digest&, std::string_view) override {
    return absl::PermissionDeniedError("it is only read");
  }
  absl::StatusOr<std::unique_ptr<store::BlobReader>> NewReader(const Digest& digest,
                                                               uint64_t offset) override {
    return made_.contains(digest) ? BlobStore::NewReader(digest, offset)
                                  : behind_.NewReader(digest, offset);
  }

 private:
  store::BlobStore& behind_;
  std::map<Digest, std::string> made_;
};

// Says whether the server would refuse the result to the next cook as well.
bool IsForGood(const absl::Status& refused) {
  return absl::IsFailedPrecondition(refused) || absl::IsInvalidArgument(refused) ||
         absl::IsPermissionDenied(refused) || absl::IsInternal(refused);
}

uint64_t BytesOf(const record::Result& result) {
  std::vector<Digest> named;
  store::AppendNamedBlobs(result, named);
  uint64_t bytes = 0;
  for (const Digest& digest : named) bytes += digest.size_bytes();
  return bytes;
}

}  // namespace

WriteBack::WriteBack(const Deps& deps, const WriteBackOptions& options)
    : deps_(deps), options_(options) {
  for (size_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { Run(); });
}

WriteBack::~WriteBack() {
  Cancel();
  {
    base::MutexLock lock(mutex_);
    is_ending_ = true;
    waiting_.clear();
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void WriteBack::Cancel() {
  cancellation_.Cancel();
  changed_.NotifyAll();
}

void WriteBack::Add(StoredResultPtr stored) {
  {
    base::MutexLock lock(mutex_);
    // No other result of a disputed key is sent any more.
    if (stored->result.is_disputed) {
      disputed_.insert(stored->action_key);
      std::erase_if(waiting_, [&](const Waiting& one) GALLEY_REQUIRES(mutex_) {
        if (!IsOvertaken(*one.stored)) return false;
        bytes_ -= std::min(bytes_, one.bytes);
        return true;
      });
    }
    const uint64_t bytes = BytesOf(stored->result);
    waiting_.push_back({std::move(stored), bytes});
    bytes_ += bytes;
    while (waiting_.size() > options_.results_max ||
           (bytes_ > options_.bytes_max && waiting_.size() > 1)) {
      bytes_ -= waiting_.front().bytes;
      NoteUnsent(*waiting_.front().stored);
      waiting_.pop_front();
      ++report_.dropped;
    }
  }
  changed_.NotifyAll();
}

WriteBackReport WriteBack::Report() const {
  base::MutexLock lock(mutex_);
  return report_;
}

WriteBackReport WriteBack::Flush() {
  base::MutexLock lock(mutex_);
  is_flushing_ = true;
  changed_.NotifyAll();
  uint64_t done = report_.sent + report_.failed;
  absl::Time last_progress = clock_.Monotonic();
  while (!sending_.empty() || !waiting_.empty() || settling_ > 0) {
    const uint64_t now_done = report_.sent + report_.failed;
    if (now_done != done) last_progress = clock_.Monotonic();
    done = now_done;
    if (cancellation_.is_cancelled() || clock_.Monotonic() - last_progress > options_.no_progress) {
      report_.failed += waiting_.size() + sending_.size();
      for (const Waiting& one : waiting_) NoteUnsent(*one.stored);
      for (const StoredResultPtr& stored : sending_) NoteUnsent(*stored);
      if (report_.reason.empty()) report_.reason = "it took too long";
      waiting_.clear();
      bytes_ = 0;
      break;
    }
    changed_.WaitFor(mutex_, std::chrono::milliseconds(100));
  }
  is_flushing_ = false;
  return report_;
}

bool WriteBack::IsTimeToSend() {
  if (waiting_.empty()) return false;
  return is_flushing_ || clock_.Monotonic() >= paused_until_;
}

void WriteBack::Run() {
  while (true) {
    Waiting one;
    {
      base::MutexLock lock(mutex_);
      while (!is_ending_ && !IsTimeToSend()) {
        if (waiting_.empty()) {
          changed_.Wait(mutex_);
        } else {
          changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(paused_until_ - clock_.Monotonic()));
        }
      }
      if (is_ending_) return;
      one = std::move(waiting_.front());
      waiting_.pop_front();
      sending_.insert(one.stored);
    }
    const absl::Status sent = Send(*one.stored);
    if (!sent.ok()) {
      LogWarning("package={} platform={} not sent to the remote store: {}", one.stored->package,
                 one.stored->platform_name, MessageOf(sent));
    }
    const std::vector<StoredResultPtr> settled = TakeOutcome(one, sent);
    if (deps_.settled) {
      for (const StoredResultPtr& stored : settled) deps_.settled(*stored);
    }
    {
      base::MutexLock lock(mutex_);
      --settling_;
    }
    changed_.NotifyAll();
  }
}

std::vector<StoredResultPtr> WriteBack::TakeOutcome(Waiting one, const absl::Status& sent) {
  bool is_tried_again = !sent.ok() && deps_.remote->State().is_down;
  // The remote may have come back since this failure: the result is tried once more, but not for
  // ever.
  if (!is_tried_again && absl::IsUnavailable(sent)) {
    is_tried_again = !std::exchange(one.was_unavailable, true);
  }
  base::MutexLock lock(mutex_);
  ++settling_;
  sending_.erase(one.stored);
  if (IsOvertaken(*one.stored)) {
    bytes_ -= std::min(bytes_, one.bytes);
    // The result may have arrived after the dispute of its key: then the dispute is sent once more.
    std::vector<StoredResultPtr> disputes = disputes_sent_;
    disputes.insert(disputes.end(), sending_.begin(), sending_.end());
    for (const StoredResultPtr& dispute : disputes) {
      if (dispute->result.is_disputed && dispute->action_key == one.stored->action_key)
        waiting_.push_back({std::make_shared<StoredResult>(*dispute), 0});
    }
    return {one.stored};
  }
  if (sent.ok() && one.stored->result.is_disputed) disputes_sent_.push_back(one.stored);
  if (is_tried_again && !is_flushing_ && !is_ending_) {
    report_.reason = MessageOf(sent);
    paused_until_ = clock_.Monotonic() + options_.pause;
    waiting_.push_front(std::move(one));
    return {};
  }
  bytes_ -= std::min(bytes_, one.bytes);
  if (sent.ok()) {
    ++report_.sent;
    paused_until_ = absl::InfinitePast();  // the remote is back
  } else {
    ++report_.failed;
    report_.reason = MessageOf(sent);
    if (!IsForGood(sent)) {
      NoteUnsent(*one.stored);
      return {};
    }
  }
  return {one.stored};
}

absl::Status WriteBack::Send(const StoredResult& stored) {
  // A result that was revoked while it waited here is sent to nobody.
  ASSIGN_OR_RETURN(const std::vector<record::Revocation> revocations, deps_.store->Revocations());
  if (record::IsRevoked(stored.result.provenance, revocations)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const record::Recipe recipe, record::DecodeRecipe(stored.recipe_bytes));
  ASSIGN_OR_RETURN(record::Action action,
                   record::BuildAction({.recipe = recipe,
                                        .source = stored.source,
                                        .observed = stored.observed,
                                        .trust_domain = deps_.trust_domain}));
  // A result of another trust domain is not ours to write.
  if (action.key != stored.action_key) {
    return InternalError("its action key is {}, expected {}", stored.action_key.ToString(),
                         action.key.ToString());
  }
  WithMade from(*deps_.store);
  std::vector<Digest> closure;
  store::AppendNamedBlobs(stored.result, closure);
  closure.push_back(from.Add(std::move(action.action)));
  closure.push_back(from.Add(std::move(action.command)));
  closure.push_back(
      from.Add(record::EncodeWeakKey(stored.source, stored.recipe, deps_.trust_domain)));
  // A log stays in its store: the log may be gone, and servers check that they have every blob that
  // a result names.
  record::Result result = stored.result;
  result.log.reset();
  result.provenance.received_from.clear();
  record::PortableResult portable = record::EncodePortable(result);
  for (auto& [digest, bytes] : portable.blobs) closure.push_back(from.Add(std::move(bytes)));
  SortUnique(closure);

  ASSIGN_OR_RETURN(std::vector<Digest> missing, deps_.known->FindMissing(closure));
  // A blob with wrong bytes there is not missing, but nobody can use it.
  const std::vector<Digest> doubted = deps_.remote->Doubted(closure);
  missing.insert(missing.end(), doubted.begin(), doubted.end());
  RETURN_IF_ERROR(deps_.remote->Send(missing, from, limits()));
  // A blob that was there a minute ago may be gone, and a blob that was taken may have been
  // dropped.
  ASSIGN_OR_RETURN(missing, deps_.remote->FindMissing(closure, limits()));
  if (!missing.empty()) {
    RETURN_IF_ERROR(deps_.remote->Send(missing, from, limits()));
    ASSIGN_OR_RETURN(missing, deps_.remote->FindMissing(missing, limits()));
  }
  if (!missing.empty()) {
    return DataLossError("the server took blob {} and does not have it", missing[0].ToString());
  }
  RETURN_IF_ERROR(deps_.remote->UpdateActionResult(stored.action_key, portable.bytes, limits()));
  return SendSet(stored);
}

// Another cook may write the same list at the same time: the last writer wins, and a set that is
// lost so costs a load.
absl::Status WriteBack::SendSet(const StoredResult& stored) {
  base::MutexLock lock(sets_mutex_);
  const std::string set = record::EncodeSetOf(stored.observed);
  std::vector<std::string> sets;
  const auto known = deps_.remote->ActionResults(std::span(&stored.weak_key, 1), limits());
  if (known[0]) {
    auto list = record::DecodeSetList(
        *known[0], [this](const Digest& digest) { return deps_.remote->Get(digest, limits()); });
    if (list.ok()) sets = *std::move(list);
  }
  if (!sets.empty() && sets.front() == set) return absl::OkStatus();
  std::erase(sets, set);
  sets.insert(sets.begin(), set);
  record::SetListResult encoded = record::EncodeSetList(sets);
  WithMade from(*deps_.store);
  const Digest list = from.Add(std::move(encoded.list));
  RETURN_IF_ERROR(deps_.remote->Send(std::span(&list, 1), from, limits()));
  return deps_.remote->UpdateActionResult(stored.weak_key, encoded.bytes, limits());
}

}  // namespace galley::director
