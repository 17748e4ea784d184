#include "common/store/local/local_store.h"

#include <unistd.h>

#include <functional>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/interface/complete_results.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/files_check.h"
#include "common/store/local/log_records.h"
#include "common/store/local/segment_writer.h"
#include "common/store/local/sessions.h"

namespace galley::store {
namespace {

// CheckedReader: asks what to answer when wrong bytes are found.
class CheckedReader final : public BlobReader {
 public:
  using OnLoss = std::function<absl::Status(const absl::Status& loss)>;
  CheckedReader(std::unique_ptr<BlobReader> reader, OnLoss on_loss)
      : reader_(std::move(reader)), on_loss_(std::move(on_loss)) {}

  absl::StatusOr<std::string_view> Next(size_t bytes_max) override {
    absl::StatusOr<std::string_view> piece = reader_->Next(bytes_max);
    if (absl::IsDataLoss(piece.status())) return on_loss_(piece.status());
    return piece;
  }

 private:
  const std::unique_ptr<BlobReader> reader_;
  const OnLoss on_loss_;
};

}  // namespace

LocalStore::LocalStore(std::string directory, OpenedLayout layout, Recovered recovered,
                       LocalStoreOptions options)
    : folder_lock_(std::move(layout.folder_lock)),
      lock_(std::move(layout.lock)),
      parts_({.directory = std::move(directory),
              .options = std::move(options),
              .store_id = std::move(layout.store_id)},
             std::move(recovered)),
      maintenance_(parts_) {}

LocalStore::~LocalStore() { parts_.commits.Close(); }

absl::StatusOr<std::vector<Digest>> LocalStore::FindMissing(std::span<const Digest> digests) {
  return parts_.reader.FindMissing(digests);
}

absl::StatusOr<Blob> LocalStore::Get(const Digest& digest) {
  if (digest == Digest()) return MakeBlob("");
  ASSIGN_OR_RETURN(const auto found, Locate(std::span(&digest, 1)));
  if (!found[0].has_value())
    return NotFoundError("blob {} is not in store {}", digest.ToString(), parts_.folder.directory);
  absl::StatusOr<Blob> blob = ReadBlobAt(parts_.folder.directory, digest, *found[0]);
  if (!absl::IsDataLoss(blob.status())) return blob;
  RETURN_IF_ERROR(parts_.losses.GiveUp(digest, blob.status()));
  return Get(digest);  // somebody else quarantined or replaced it meanwhile
}

absl::StatusOr<std::unique_ptr<BlobReader>> LocalStore::NewReader(const Digest& digest,
                                                                  uint64_t offset) {
  RETURN_IF_ERROR(CheckOffset(digest, offset));
  ASSIGN_OR_RETURN(const auto found, Locate(std::span(&digest, 1)));
  const bool is_file = found[0].has_value() && found[0]->segment == 0 && digest != Digest();
  if (!is_file) return BlobStore::NewReader(digest, offset);
  absl::StatusOr<std::unique_ptr<BlobReader>> reader =
      NewBlobFileReader(parts_.folder.directory, digest, offset);
  if (reader.ok()) {
    return std::make_unique<CheckedReader>(
        *std::move(reader), [this, digest](const absl::Status& loss) {
          const absl::Status status = parts_.losses.GiveUp(digest, loss);
          return status.ok() ? loss : status;
        });
  }
  if (!absl::IsDataLoss(reader.status())) return reader;
  RETURN_IF_ERROR(parts_.losses.GiveUp(digest, reader.status()));
  return NewReader(digest, offset);
}

absl::StatusOr<std::unique_ptr<BlobWriter>> LocalStore::NewWriter(const Digest& digest) {
  if (digest.size_bytes() <= kSmallBlobBytesMax) return BlobStore::NewWriter(digest);
  return parts_.puts.NewFileWriter(digest);
}

absl::Status LocalStore::Put(const Digest& digest, std::string_view bytes) {
  return parts_.puts.Put(digest, bytes);
}

std::vector<absl::Status> LocalStore::PutMany(std::span<const BlobView> blobs) {
  return parts_.puts.PutMany(blobs);
}

absl::StatusOr<std::vector<std::vector<std::string>>> LocalStore::ObservationSets(
    std::span<const Digest> weak_keys) {
  return parts_.reader.ObservationSets(weak_keys);
}

absl::StatusOr<std::vector<std::optional<std::string>>> LocalStore::Results(
    std::span<const Digest> action_keys) {
  return parts_.reader.Results(action_keys);
}

absl::StatusOr<std::vector<std::optional<std::string>>> LocalStore::RecordedResults(
    std::span<const Digest> action_keys) {
  return parts_.reader.RecordedResults(action_keys);
}

absl::StatusOr<std::vector<std::optional<std::string>>> LocalStore::ActionResults(
    std::string_view instance, std::span<const Digest> actions) {
  std::vector<Digest> keys;
  for (const Digest& action : actions) keys.push_back(ActionResultKey(instance, action));
  ASSIGN_OR_RETURN(std::vector<std::optional<std::string>> answer,
                   parts_.reader.ActionResultRecords(keys));
  for (std::optional<std::string>& payload : answer) {
    if (!payload.has_value()) continue;
    absl::StatusOr<PutActionResult> put = DecodeActionResult(*payload);
    payload = put.ok() ? std::optional(std::move(put->result)) : std::nullopt;
  }
  return CompleteActionResults(*this, std::move(answer));
}

absl::StatusOr<StoreInfo> LocalStore::Info() {
  const StoreFolder& folder = parts_.folder;
  // Not an error: a full disk keeps nobody from reading.
  if (const absl::Status logged = parts_.writer.LogEpoch(); !logged.ok())
    LogWarning("store={} the loss epoch is in no segment yet: {}", folder.directory,
               MessageOf(logged));
  // The loss epoch is read first: a dispute that comes in between must not look older than it.
  return StoreInfo{.directory = folder.directory,
                   .store_id = folder.store_id,
                   .loss_epoch = parts_.index.epoch(),
                   .disputed_epoch = parts_.index.disputed_epoch(),
                   .commits = parts_.log.commits()};
}

absl::StatusOr<uint64_t> LocalStore::AllocateSegment() {
  RETURN_IF_ERROR(parts_.folder.CheckSpace(kSegmentHeaderBytes));
  return parts_.log.AllocateSegment();
}

absl::StatusOr<std::vector<std::optional<BlobLocation>>> LocalStore::Locate(
    std::span<const Digest> digests) {
  return parts_.reader.Locate(digests);
}

absl::StatusOr<std::vector<Digest>> LocalStore::FindLost(std::span<const Digest> digests) {
  return parts_.losses.FindLost(digests);
}

absl::Status LocalStore::Commit(const CommitBatch& batch) { return parts_.commits.Commit(batch); }

absl::StatusOr<uint64_t> LocalStore::Publish(const PublishedRoot& root) {
  return parts_.commits.Publish(root);
}

absl::StatusOr<std::vector<PublishedRoot>> LocalStore::Roots(std::string_view project_id) {
  return parts_.reader.Roots(project_id);
}

absl::Status LocalStore::Forget(std::span<const Digest> action_keys) {
  return parts_.commits.Forget(action_keys);
}

absl::StatusOr<RevokeReport> LocalStore::Revoke(const RevokeOptions& options) {
  return maintenance_.Revoke(options);
}

absl::StatusOr<std::vector<record::Revocation>> LocalStore::Revocations() {
  return parts_.revoked.All();
}

absl::Status LocalStore::ChangeLeases(const LeaseChanges& changes) {
  RETURN_IF_ERROR(ValidateLeaseNames(changes.taken));
  const absl::Time now = parts_.folder.options.now();
  const std::vector<RootLease> added = LeasesOfNewRoots(changes.taken, parts_.leases.All(now));
  std::vector<Digest> roots;
  for (const RootLease& lease : added) roots.push_back(lease.root);
  ASSIGN_OR_RETURN(const auto found, Locate(roots));
  for (size_t i = 0; i < roots.size(); ++i) {
    if (!found[i].has_value()) return AbsentRootOfLease(added[i]);
  }
  if (!changes.taken.empty()) RETURN_IF_ERROR(Commit({}));
  return parts_.leases.Change(changes, now);
}

absl::StatusOr<std::vector<RootLease>> LocalStore::Leases() {
  return parts_.leases.All(parts_.folder.options.now());
}

absl::StatusOr<StoreStats> LocalStore::Stats(const StatsOptions& options) {
  return maintenance_.Stats(options);
}

absl::StatusOr<VerifyReport> LocalStore::Verify(const VerifyOptions& options) {
  return maintenance_.Verify(options);
}

absl::StatusOr<GcReport> LocalStore::Collect(const GcOptions& options) {
  return maintenance_.Collect(options);
}

absl::StatusOr<GcReport> LocalStore::GiveBackDeadBytes(Cancellation* cancellation) {
  return maintenance_.GiveBackDeadBytes(cancellation);
}

absl::Status LocalStore::CheckFiles() { return store::CheckFiles(parts_.folder, parts_.index); }

absl::StatusOr<WhyReport> LocalStore::Why(const Digest& digest, size_t limit) {
  return maintenance_.Why(digest, limit);
}

absl::StatusOr<std::unique_ptr<StoreDirectory>> OpenLocalStore(const std::string& directory) {
  return OpenLocalStore(directory, LocalStoreOptions());
}

absl::StatusOr<std::unique_ptr<StoreDirectory>> OpenLocalStore(const std::string& directory,
                                                               const LocalStoreOptions& options) {
  const std::string absolute = AbsolutePath(directory);
  ASSIGN_OR_RETURN(OpenedLayout layout, OpenLayout(absolute));
  if (const absl::Status room = CheckFreeSpace(absolute, 0, options.free_bytes_least);
      absl::IsResourceExhausted(room)) {
    return ResourceExhaustedError(
        "{}. It is opened, and `galley store gc` makes more room, with {} bytes free",
        MessageOf(room), options.free_bytes_least);
  } else {
    RETURN_IF_ERROR(room);
  }
  LocalStoreOptions complete = options;
  if (!complete.sync) complete.sync = [](int fd) { return ::fdatasync(fd); };
  if (!complete.boot_time) complete.boot_time = BootTime;
  if (!complete.now) complete.now = absl::Now;
  if (!complete.pause) complete.pause = absl::SleepFor;
  absl::StatusOr<Recovered> recovered = Recover(absolute, layout, complete);
  RETURN_IF_ERROR(Annotate(recovered.status(), "opening store " + absolute));
  auto store = std::make_unique<LocalStore>(absolute, std::move(layout), *std::move(recovered),
                                            std::move(complete));
  return std::unique_ptr<StoreDirectory>(std::move(store));
}

}  // namespace galley::store
