#include "common/store/layers/limited.h"

#include <chrono>
#include <thread>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

void Sleep(absl::Duration time) { std::this_thread::sleep_for(absl::ToChronoNanoseconds(time)); }

}  // namespace

LimitedBlobStore::LimitedBlobStore(std::shared_ptr<BlobStore> behind, std::shared_ptr<Clock> clock,
                                   LimitedOptions options)
    : behind_(std::move(behind)), clock_(std::move(clock)), options_([&options] {
        if (!options.pause) options.pause = Sleep;
        return std::move(options);
      }()) {
  const auto rate = static_cast<double>(options_.bytes_per_second);
  if (options_.bytes_per_second != 0)
    bytes_.emplace(TokenBucket::Options{.per_second = rate, .burst = rate}, *clock_);
}

absl::Status LimitedBlobStore::Enter(uint64_t bytes) {
  {
    const base::MutexLock lock(mutex_);
    if (calls_ >= options_.calls_max) {
      if (waiting_ >= options_.waiting_max) {
        return absl::ResourceExhaustedError(
            fmt::format("{} calls to a store wait already", waiting_));
      }
      ++waiting_;
      while (calls_ >= options_.calls_max) ended_.Wait(mutex_);
      --waiting_;
    }
    ++calls_;
  }
  const absl::Duration wait = bytes_ ? bytes_->Take(bytes) : absl::ZeroDuration();
  if (wait > absl::ZeroDuration()) options_.pause(wait);
  return absl::OkStatus();
}

void LimitedBlobStore::Leave() {
  {
    const base::MutexLock lock(mutex_);
    --calls_;
  }
  ended_.NotifyOne();
}

absl::StatusOr<std::vector<Digest>> LimitedBlobStore::FindMissing(std::span<const Digest> digests) {
  RETURN_IF_ERROR(Enter(0));
  auto missing = behind_->FindMissing(digests);
  Leave();
  return missing;
}

absl::StatusOr<Blob> LimitedBlobStore::Get(const Digest& digest) {
  RETURN_IF_ERROR(Enter(digest.size_bytes()));
  absl::StatusOr<Blob> blob = behind_->Get(digest);
  Leave();
  return blob;
}

absl::Status LimitedBlobStore::Put(const Digest& digest, std::string_view bytes) {
  RETURN_IF_ERROR(Enter(bytes.size()));
  const absl::Status put = behind_->Put(digest, bytes);
  Leave();
  return put;
}

}  // namespace galley::store
