#include "director/serve/device_face/verified_blobs.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/store/local/layout.h"

namespace galley::director {
namespace {

// Reads the blob through the store, which thereby sees wrong bytes, and gets absent ones from an
// upstream cache.
absl::Status ReadThrough(store::Store& store, const Digest& digest) {
  ASSIGN_OR_RETURN(const std::unique_ptr<store::BlobReader> reader, store.NewReader(digest, 0));
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view piece, reader->Next(1 << 20));
    if (piece.empty()) return absl::OkStatus();
  }
}

}  // namespace

VerifiedBlobs::VerifiedBlobs(store::Store& store, Options options)
    : store_(store),
      options_(options),
      memory_(options.memory_bytes_max),
      files_(options.files_max) {
  pool_.emplace(options.threads);
}

void VerifiedBlobs::Stop() {
  std::map<Digest, std::vector<OnBody>> dropped;  // destroyed without the lock
  {
    const base::MutexLock lock(mutex_);
    has_stopped_ = true;
    dropped.swap(opening_);
  }
  pool_.reset();
}

void VerifiedBlobs::Open(const Digest& digest, OnBody on_body) {
  if (IsSmall(digest)) {
    if (Blob bytes = FindInMemory(digest); bytes != nullptr)
      return on_body(HttpBody(std::move(bytes)));
  }
  {
    const base::MutexLock lock(mutex_);
    if (!has_stopped_) {
      std::vector<OnBody>& waiting = opening_[digest];
      waiting.push_back(std::move(on_body));
      if (waiting.size() == 1) pool_->Post([this, digest] { Finish(digest); });
      return;
    }
  }
  on_body(absl::UnavailableError("the director ends"));
}

void VerifiedBlobs::Finish(const Digest& digest) {
  const absl::StatusOr<HttpBody> body = OpenNow(digest);
  std::vector<OnBody> waiting;
  {
    const base::MutexLock lock(mutex_);
    const auto found = opening_.find(digest);
    if (found == opening_.end()) return;  // stopped
    waiting = std::move(found->second);
    opening_.erase(found);
  }
  for (const OnBody& on_body : waiting) on_body(body);
}

absl::StatusOr<HttpBody> VerifiedBlobs::OpenNow(const Digest& digest) {
  return IsSmall(digest) ? ReadSmall(digest) : OpenLarge(digest);
}

Blob VerifiedBlobs::FindInMemory(const Digest& digest) {
  const base::MutexLock lock(mutex_);
  const Blob* const found = memory_.Find(digest);
  return found == nullptr ? nullptr : *found;
}

VerifiedBlobs::FilePtr VerifiedBlobs::FindFile(const Digest& digest) {
  const base::MutexLock lock(mutex_);
  const FilePtr* const found = files_.Find(digest);
  return found == nullptr ? nullptr : *found;
}

absl::StatusOr<HttpBody> VerifiedBlobs::ReadSmall(const Digest& digest) {
  if (Blob bytes = FindInMemory(digest); bytes != nullptr) return HttpBody(std::move(bytes));
  ASSIGN_OR_RETURN(Blob bytes, store_.Get(digest));
  {
    const base::MutexLock lock(mutex_);
    memory_.Put(digest, bytes, bytes->size() + sizeof(*bytes));
  }
  return HttpBody(std::move(bytes));
}

absl::StatusOr<HttpBody> VerifiedBlobs::OpenLarge(const Digest& digest) {
  const FilePtr file = FindFile(digest);
  if (file != nullptr) {
    ASSIGN_OR_RETURN(const store::StoreInfo info, store_.Info());
    if (file->Stands(info.loss_epoch)) return HttpBody(std::shared_ptr<HttpBlobSource>(file));
  }
  absl::StatusOr<HttpBody> body = VerifyLarge(digest);
  if (!absl::IsDataLoss(body.status()) && !absl::IsNotFound(body.status())) return body;
  absl::Status read = ReadThrough(store_, digest);
  // The store has taken the wrong bytes out, and may get others.
  if (absl::IsDataLoss(read)) read = ReadThrough(store_, digest);
  RETURN_IF_ERROR(read);
  return VerifyLarge(digest);
}

absl::StatusOr<HttpBody> VerifiedBlobs::VerifyLarge(const Digest& digest) {
  // The epoch is read first: a loss that comes in between must not look older than it.
  ASSIGN_OR_RETURN(const store::StoreInfo info, store_.Info());
  ASSIGN_OR_RETURN(const auto found, store_.Locate(std::span(&digest, 1)));
  const std::optional<store::BlobLocation>& location = found[0];
  if (!location) return NotFoundError("blob {} is not in the store", digest.ToString());
  if (location->segment != 0) {  // of a store with another limit for small blobs
    ASSIGN_OR_RETURN(Blob bytes, store_.Get(digest));
    return HttpBody(std::move(bytes));
  }
  ASSIGN_OR_RETURN(FilePtr file, VerifiedFile::Open(store::BlobFilePath(info.directory, digest),
                                                    digest, info.loss_epoch));
  {
    const base::MutexLock lock(mutex_);
    files_.Put(digest, file, 1);
  }
  return HttpBody(std::shared_ptr<HttpBlobSource>(std::move(file)));
}

void VerifiedBlobs::LetGoOfDropped() {
  std::vector<FilePtr> files;
  {
    const base::MutexLock lock(mutex_);
    files = files_.Values();
  }
  for (const FilePtr& file : files) {
    if (file->IsTheSame()) continue;
    const base::MutexLock lock(mutex_);
    files_.Erase(file->digest());
  }
}

}  // namespace galley::director
