#include "common/store/owner/shared_store.h"

#include <utility>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/interface/stored_files.h"
#include "common/store/layers/empty_store.h"
#include "common/store/local/open.h"
#include "common/store/owner/connect.h"
#include "common/store/owner/store_server.h"

namespace galley::store {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(20);

// The wall clock may jump while somebody waits for an owner.
absl::Time Monotonic() { return SystemClock().Monotonic(); }

// A store and its server: the server goes first.
struct Served {
  std::unique_ptr<StoreDirectory> store;
  std::unique_ptr<StoreServer> server;
};

const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& answer) {
  return answer.status();
}

// Whether a call ended because the owner went away during it. CANCELLED: an owner that closes cuts
// off calls that take long.
bool IsGone(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kCancelled;
}

bool IsSameRoot(const PublishedRoot& a, const PublishedRoot& b) {
  // The record keeps microseconds.
  return a.root == b.root && a.by_the_book == b.by_the_book &&
         absl::ToUnixMicros(a.time) == absl::ToUnixMicros(b.time) && a.snapshot == b.snapshot;
}

// FAILED_PRECONDITION: the folder that this process owns is gone, so nothing can be made durable.
absl::Status CheckFolderOf(const std::optional<FolderWatch>& watch) {
  return watch.has_value() ? watch->CheckFolder() : absl::OkStatus();
}

// `status`, or the reason for it if the owner's folder is gone.
absl::Status Explained(const std::optional<FolderWatch>& watch, const absl::Status& status) {
  if (status.ok()) return status;
  const absl::Status folder = CheckFolderOf(watch);
  return folder.ok() ? status : folder;
}

// KeptReader keeps the access that its reader was made by.
class KeptReader final : public BlobReader {
 public:
  KeptReader(std::shared_ptr<StoreDirectory> store, std::unique_ptr<BlobReader> reader)
      : store_(std::move(store)), reader_(std::move(reader)) {}
  absl::StatusOr<std::string_view> Next(size_t bytes_max) override {
    return reader_->Next(bytes_max);
  }

 private:
  const std::shared_ptr<StoreDirectory> store_;
  const std::unique_ptr<BlobReader> reader_;
};

class KeptWriter final : public BlobWriter {
 public:
  KeptWriter(std::shared_ptr<StoreDirectory> store, std::unique_ptr<BlobWriter> writer)
      : store_(std::move(store)), writer_(std::move(writer)) {}
  absl::Status Append(std::string_view bytes) override { return writer_->Append(bytes); }
  absl::Status Finish() override {
    RETURN_IF_ERROR(writer_->Finish());
    return store_->Commit({});
  }

 private:
  const std::shared_ptr<StoreDirectory> store_;
  const std::unique_ptr<BlobWriter> writer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SharedStore>> SharedStore::Open(const std::string& directory,
                                                               absl::Duration timeout) {
  std::unique_ptr<SharedStore> shared(new SharedStore(AbsolutePath(directory), timeout));
  ASSIGN_OR_RETURN(Access access, shared->OpenWithin(Monotonic() + timeout));
  const base::MutexLock lock(shared->mutex_);
  shared->access_ = std::move(access);
  return shared;
}

// UNAVAILABLE: there is an owner, or was a moment ago, that does not answer.
absl::StatusOr<SharedStore::Access> SharedStore::OpenOnce() const {
  absl::StatusOr<std::unique_ptr<StoreDirectory>> own = OpenLocalStore(directory_);
  if (own.ok()) {
    auto served = std::make_shared<Served>();
    served->store = *std::move(own);
    ASSIGN_OR_RETURN(served->server, StoreServer::Start(*served->store, directory_));
    ASSIGN_OR_RETURN(const FolderWatch watch, FolderWatch::Begin(directory_));
    StoreDirectory* const store = served->store.get();
    return Access{.store = std::shared_ptr<StoreDirectory>(std::move(served), store),
                  .is_owner = true,
                  .watch = watch};
  }
  if (own.status().code() != absl::StatusCode::kAlreadyExists) return own.status();
  ASSIGN_OR_RETURN(std::shared_ptr<StoreDirectory> theirs,
                   ConnectStore(directory_, {.reconnect_time = absl::ZeroDuration()}));
  return Access{.store = std::move(theirs)};
}

absl::StatusOr<SharedStore::Access> SharedStore::OpenWithin(absl::Time end) const {
  while (true) {
    absl::StatusOr<Access> access = OpenOnce();
    // The owner may be coming up, or going: then the next turn finds its socket, or the lock free.
    if (access.ok() || !IsGone(access.status()) || Monotonic() >= end) return access;
    absl::SleepFor(kPause);
  }
}

SharedStore::Access SharedStore::Current() const {
  const base::MutexLock lock(mutex_);
  return access_;
}

absl::Status SharedStore::CheckFolder() const {
  const Access access = Current();
  if (!access.watch.has_value()) return absl::OkStatus();
  RETURN_IF_ERROR(access.watch->CheckFolderAndLock());
  auto* const files = dynamic_cast<StoredFiles*>(access.store.get());
  return files == nullptr ? absl::OkStatus() : files->CheckFiles();
}

template <typename Call>
auto SharedStore::RetriedOn(const Call& call) -> decltype(call(std::shared_ptr<StoreDirectory>())) {
  absl::Time end = absl::InfiniteFuture();
  while (true) {
    const Access access = Current();
    auto answer = call(access.store);
    if (!IsGone(StatusOf(answer)) || access.is_owner) {
      if (StatusOf(answer).ok()) return answer;
      if (absl::Status why = Explained(access.watch, StatusOf(answer)); why != StatusOf(answer))
        return why;
      return answer;
    }
    if (end == absl::InfiniteFuture()) end = Monotonic() + timeout_;
    if (Monotonic() >= end) return answer;
    RETURN_IF_ERROR(Replace(access.generation, end));
  }
}

template <typename Call>
auto SharedStore::Retried(const Call& call) -> decltype(call(std::declval<StoreDirectory&>())) {
  return RetriedOn([&](const std::shared_ptr<StoreDirectory>& store) { return call(*store); });
}

absl::Status SharedStore::Replace(uint64_t generation, absl::Time end) {
  const base::MutexLock replacing(replace_mutex_);
  if (Current().generation != generation) return absl::OkStatus();
  while (true) {
    ASSIGN_OR_RETURN(Access next, OpenWithin(end));
    const absl::Status put = PutUnsavedTo(*next.store);
    if (!put.ok() && IsGone(put) && Monotonic() < end) continue;  // that one is gone too
    RETURN_IF_ERROR(Annotate(put, "what was put before the store's owner went away"));
    next.generation = generation + 1;
    LogInfo("store={} the owner is gone: {}", directory_,
            next.is_owner ? "owned by this process now" : "another process owns it now");
    const base::MutexLock lock(mutex_);
    access_ = std::move(next);
    return absl::OkStatus();
  }
}

absl::Status SharedStore::LetGo(absl::Time end) {
  std::weak_ptr<Store> last;
  {
    // The old access is destroyed outside of the lock.
    Access gone{.store = std::make_shared<EmptyStore>(
                    UnavailableError("the store in {} was deleted or replaced", directory_)),
                .is_owner = true};
    const base::MutexLock lock(mutex_);
    gone.generation = access_.generation + 1;
    gone.watch = access_.watch;  // until something is open again, the folder is another one
    last = access_.store;
    std::swap(access_, gone);
    unsaved_.clear();
    unsaved_bytes_ = 0;
  }
  while (!last.expired()) {
    if (Monotonic() >= end)
      return UnavailableError("the store in {} was replaced, and the one before is still in use",
                              directory_);
    absl::SleepFor(kPause);
  }
  return absl::OkStatus();
}

absl::Status SharedStore::OpenWhatIsThere() {
  const base::MutexLock replacing(replace_mutex_);
  if (CheckFolder().ok()) return absl::OkStatus();
  const absl::Time end = Monotonic() + timeout_;
  RETURN_IF_ERROR(LetGo(end));
  ASSIGN_OR_RETURN(Access next, OpenWithin(end));
  LogInfo("store={} was deleted or replaced: what is there now is open", directory_);
  const base::MutexLock lock(mutex_);
  next.generation = access_.generation + 1;
  access_ = std::move(next);
  return absl::OkStatus();
}

absl::Status SharedStore::PutUnsavedTo(Store& store) {
  std::vector<std::shared_ptr<Unsaved>> unsaved;
  {
    const base::MutexLock lock(mutex_);
    for (const auto& [number, blob] : unsaved_) unsaved.push_back(blob);
  }
  for (const std::shared_ptr<Unsaved>& blob : unsaved)
    RETURN_IF_ERROR(store.Put(Digest::Of(blob->bytes), blob->bytes));
  return absl::OkStatus();
}

std::set<uint64_t> SharedStore::PutSoFar() const {
  std::set<uint64_t> numbers;
  const base::MutexLock lock(mutex_);
  for (const auto& [number, blob] : unsaved_) {
    if (blob->is_put) numbers.insert(number);
  }
  return numbers;
}

void SharedStore::NoteSaved(const std::set<uint64_t>& numbers) {
  const base::MutexLock lock(mutex_);
  for (const uint64_t number : numbers) {
    const auto at = unsaved_.find(number);
    if (at == unsaved_.end()) continue;
    unsaved_bytes_ -= at->second->bytes.size();
    unsaved_.erase(at);
  }
}

absl::Status SharedStore::Put(const Digest& digest, std::string_view bytes) {
  if (const Access access = Current(); access.is_owner)
    return Explained(access.watch, access.store->Put(digest, bytes));  // it dies with us
  if (Digest::Of(bytes) != digest) {
    return InvalidArgumentError("blob {}: the {} bytes given are not those of this digest",
                                digest.ToString(), bytes.size());
  }
  uint64_t number = 0;
  {
    // Before it is sent: whoever replaces the access meanwhile puts it too.
    const base::MutexLock lock(mutex_);
    number = unsaved_next_++;
    unsaved_[number] = std::make_shared<Unsaved>(Unsaved{.bytes = std::string(bytes)});
    unsaved_bytes_ += bytes.size();
  }
  if (const absl::Status put = Retried([&](Store& store) { return store.Put(digest, bytes); });
      !put.ok()) {
    NoteSaved({number});
    return put;
  }
  {
    const base::MutexLock lock(mutex_);
    const auto at = unsaved_.find(number);
    if (at != unsaved_.end()) at->second->is_put = true;
    if (unsaved_bytes_ <= kUnsavedBytesMax) return absl::OkStatus();
  }
  return Commit({});
}

std::vector<absl::Status> SharedStore::PutMany(std::span<const BlobView> blobs) {
  const Access access = Current();
  if (!access.is_owner) return Store::PutMany(blobs);
  std::vector<absl::Status> put = access.store->PutMany(blobs);
  for (absl::Status& status : put) status = Explained(access.watch, status);
  return put;
}

absl::Status SharedStore::Commit(const CommitBatch& batch) {
  RETURN_IF_ERROR(CheckFolderOf(Current().watch));
  const std::set<uint64_t> saved = PutSoFar();
  const absl::Status status = Retried([&](Store& store) { return store.Commit(batch); });
  if (status.ok() || status.code() == absl::StatusCode::kAlreadyExists) NoteSaved(saved);
  return status;
}

absl::StatusOr<uint64_t> SharedStore::Publish(const PublishedRoot& root) {
  RETURN_IF_ERROR(CheckFolderOf(Current().watch));
  const std::set<uint64_t> saved = PutSoFar();
  bool is_again = false;
  const auto publish = [&](Store& store) -> absl::StatusOr<uint64_t> {
    if (std::exchange(is_again, true)) {
      ASSIGN_OR_RETURN(const std::vector<PublishedRoot> roots, store.Roots(root.project_id));
      for (const PublishedRoot& newest : roots) {
        if (newest.platform != root.platform) continue;
        if (IsSameRoot(newest, root)) return newest.sequence;
        break;
      }
    }
    return store.Publish(root);
  };
  absl::StatusOr<uint64_t> sequence = Retried(publish);
  if (sequence.ok()) NoteSaved(saved);
  return sequence;
}

absl::StatusOr<std::vector<Digest>> SharedStore::FindMissing(std::span<const Digest> digests) {
  return Retried([&](Store& store) { return store.FindMissing(digests); });
}

absl::StatusOr<Blob> SharedStore::Get(const Digest& digest) {
  return Retried([&](Store& store) { return store.Get(digest); });
}

absl::StatusOr<std::unique_ptr<BlobReader>> SharedStore::NewReader(const Digest& digest,
                                                                   uint64_t offset) {
  return RetriedOn([&](const std::shared_ptr<StoreDirectory>& store)
                       -> absl::StatusOr<std::unique_ptr<BlobReader>> {
    ASSIGN_OR_RETURN(std::unique_ptr<BlobReader> reader, store->NewReader(digest, offset));
    return std::make_unique<KeptReader>(store, std::move(reader));
  });
}

absl::StatusOr<std::unique_ptr<BlobWriter>> SharedStore::NewWriter(const Digest& digest) {
  return RetriedOn([&](const std::shared_ptr<StoreDirectory>& store)
                       -> absl::StatusOr<std::unique_ptr<BlobWriter>> {
    RETURN_IF_ERROR(store->Info().status());  // is the owner there?
    ASSIGN_OR_RETURN(std::unique_ptr<BlobWriter> writer, store->NewWriter(digest));
    return std::make_unique<KeptWriter>(store, std::move(writer));
  });
}

absl::StatusOr<std::vector<std::vector<std::string>>> SharedStore::ObservationSets(
    std::span<const Digest> weak_keys) {
  return Retried([&](Store& store) { return store.ObservationSets(weak_keys); });
}

absl::StatusOr<std::vector<std::optional<std::string>>> SharedStore::Results(
    std::span<const Digest> action_keys) {
  return Retried([&](Store& store) { return store.Results(action_keys); });
}

absl::StatusOr<std::vector<std::optional<std::string>>> SharedStore::RecordedResults(
    std::span<const Digest> action_keys) {
  return Retried([&](Store& store) { return store.RecordedResults(action_keys); });
}

absl::StatusOr<std::vector<std::optional<std::string>>> SharedStore::ActionResults(
    std::string_view instance, std::span<const Digest> actions) {
  return Retried([&](Store& store) { return store.ActionResults(instance, actions); });
}

absl::StatusOr<StoreInfo> SharedStore::Info() {
  return Retried([](Store& store) { return store.Info(); });
}

absl::StatusOr<uint64_t> SharedStore::AllocateSegment() {
  return Retried([](Store& store) { return store.AllocateSegment(); });
}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> SharedStore::Locate(
    std::span<const Digest> digests) {
  return Retried([&](Store& store) { return store.Locate(digests); });
}

absl::StatusOr<std::vector<Digest>> SharedStore::FindLost(std::span<const Digest> digests) {
  return Retried([&](Store& store) { return store.FindLost(digests); });
}

absl::StatusOr<std::vector<PublishedRoot>> SharedStore::Roots(std::string_view project_id) {
  return Retried([&](Store& store) { return store.Roots(project_id); });
}

absl::Status SharedStore::Forget(std::span<const Digest> action_keys) {
  return Retried([&](Store& store) { return store.Forget(action_keys); });
}

absl::StatusOr<RevokeReport> SharedStore::Revoke(const RevokeOptions& options) {
  return Retried([&](StoreDirectory& store) { return store.Revoke(options); });
}

absl::StatusOr<std::vector<record::Revocation>> SharedStore::Revocations() {
  return Retried([&](Store& store) { return store.Revocations(); });
}

absl::Status SharedStore::ChangeLeases(const LeaseChanges& changes) {
  RETURN_IF_ERROR(CheckFolderOf(Current().watch));
  const std::set<uint64_t> saved = PutSoFar();
  const absl::Status status = Retried([&](Store& store) { return store.ChangeLeases(changes); });
  if (status.ok() && !changes.taken.empty()) NoteSaved(saved);
  return status;
}

absl::StatusOr<std::vector<RootLease>> SharedStore::Leases() {
  return Retried([&](Store& store) { return store.Leases(); });
}

absl::StatusOr<StoreStats> SharedStore::Stats(const StatsOptions& options) {
  return Retried([&](StoreDirectory& store) { return store.Stats(options); });
}

absl::StatusOr<VerifyReport> SharedStore::Verify(const VerifyOptions& options) {
  VerifyOptions asked = options;
  return Retried([&](StoreDirectory& store) {
    auto report = store.Verify(asked);
    asked.restart = false;  // the next owner goes on
    return report;
  });
}

absl::StatusOr<WhyReport> SharedStore::Why(const Digest& digest, size_t limit) {
  return Retried([&](StoreDirectory& store) { return store.Why(digest, limit); });
}

absl::StatusOr<GcReport> SharedStore::Collect(const GcOptions& options) {
  return Retried([&](StoreDirectory& store) { return store.Collect(options); });
}

absl::StatusOr<GcReport> SharedStore::GiveBackDeadBytes(Cancellation* cancellation) {
  const Access access = Current();
  auto* const own = dynamic_cast<DeadBytes*>(access.store.get());
  if (!access.is_owner || own == nullptr) return GcReport{};
  return own->GiveBackDeadBytes(cancellation);
}

absl::StatusOr<std::unique_ptr<StoreDirectory>> OpenOrConnect(const std::string& directory,
                                                              OpenMode mode,
                                                              absl::Duration timeout) {
  if (mode == OpenMode::kMustExist && !FileExists(JoinPath(AbsolutePath(directory), "format"))) {
    return NotFoundError("there is no store in {}", AbsolutePath(directory));
  }
  return SharedStore::Open(directory, timeout);
}

}  // namespace galley::store
