#include "common/store/local/maintenance/verify_pace.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/store/interface/blob_stream.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/segment_writer.h"

namespace galley::store {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr double kBurstSeconds = 0.25;
constexpr absl::Duration kTellInterval = absl::Seconds(1);
constexpr absl::Duration kSaveInterval = absl::Seconds(5);
constexpr uint64_t kSaveBytes = 256 << 20;

}  // namespace

VerifyPace::VerifyPace(StoreParts& store, const VerifyOptions& options, const VerifyCursor& cursor)
    : store_(store), options_(options), cursor_(cursor), clock_(store.folder.options.boot_time) {
  if (options.bytes_per_second == 0) return;
  const auto rate = static_cast<double>(options.bytes_per_second);
  bucket_.emplace(TokenBucket::Options{.per_second = rate, .burst = rate * kBurstSeconds}, clock_);
}

absl::Status VerifyPace::Used(uint64_t bytes) {
  unsaved_bytes_ += bytes;
  absl::Duration wait = bucket_.has_value() ? bucket_->Take(bytes) : absl::ZeroDuration();
  while (wait > absl::ZeroDuration()) {
    const absl::Duration pause = std::min(wait, kPauseMax);
    store_.folder.options.pause(pause);
    wait -= pause;
    RETURN_IF_ERROR(Tell());
  }
  return Tell();
}

absl::Status VerifyPace::Tell() {
  const absl::Time now = store_.folder.options.boot_time();
  if (!options_.on_progress || now - told_ < kTellInterval) return absl::OkStatus();
  told_ = now;
  const bool goes_on =
      options_.on_progress({.phase = std::string(NameOf(cursor_.phase)),
                            .blobs = cursor_.blobs,
                            .bytes = cursor_.bytes,
                            .bytes_total = store_.index.counters().blob_bytes,
                            .problems = cursor_.problems.size() + cursor_.problems_untold});
  return goes_on ? absl::OkStatus()
                 : absl::AbortedError("the verify was stopped; the next one goes on from there");
}

bool VerifyPace::IsTimeToSave() const {
  return unsaved_bytes_ >= kSaveBytes ||
         store_.folder.options.boot_time() - saved_ >= kSaveInterval;
}

void VerifyPace::Save() {
  if (const absl::Status saved = WriteVerifyCursor(store_.folder.directory, cursor_); !saved.ok())
    LogWarning("store={} how far a verify came is not kept: {}", store_.folder.directory,
               MessageOf(saved));
  saved_ = store_.folder.options.boot_time();
  unsaved_bytes_ = 0;
}

absl::Status VerifyPace::Read(const LocatedBlob& blob) {
  const auto& [digest, location] = blob;
  if (location.segment != 0) {
    RETURN_IF_ERROR(Used(RecordSpan(digest.size_bytes())));
    return ReadBlobAt(store_.folder.directory, digest, location).status();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<BlobReader> reader,
                   NewBlobFileReader(store_.folder.directory, digest, 0));
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view piece, reader->Next(kPieceBytes));
    if (piece.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(Used(piece.size()));
  }
}

}  // namespace galley::store
