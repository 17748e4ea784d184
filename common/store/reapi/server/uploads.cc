#include "common/store/reapi/server/uploads.h"

#include <optional>

#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/base/zstd_stream.h"
#include "common/store/reapi/server/error_details.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr absl::Duration kUploadRetryDelay = absl::Seconds(1);

absl::Status InvalidUpload(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

std::string WriteResponse(int64_t committed_size) {
  WireWriter response;
  response.Varint(1, static_cast<uint64_t>(committed_size));
  return response.Take();
}

}  // namespace

struct Uploads::Upload {
  Upload(absl::Time now) : begun(now), active(now) {}

  const absl::Time begun;
  // Guarded by the table's mutex.
  absl::Time active;
  uint64_t writer = 0;  // 0: parked

  base::Mutex mutex;
  std::unique_ptr<BlobWriter> blob GALLEY_GUARDED_BY(mutex);  // null: nothing came yet
  uint64_t held GALLEY_GUARDED_BY(mutex) = 0;                 // uncompressed bytes in it
};

// A call of ByteStream.Write. Its upload is its own until another call takes it over.
class Uploads::Write final : public CallHandler {
 public:
  Write(Uploads& uploads, const Caller& caller)
      : uploads_(uploads), caller_(caller), key_{caller.name, std::string()} {}
  ~Write() override {
    if (upload_ != nullptr) uploads_.Park(key_, writer_);
  }

  Step OnMessage(std::string_view message) override {
    absl::StatusOr<Step> step = Take(message);
    if (step.ok()) return *std::move(step);
    return Step{.status = step.status()};
  }

  // The bytes that came are kept for another call; the answer says how many they are.
  Step OnHalfClose() override {
    if (upload_ == nullptr) return CallHandler::OnHalfClose();
    const base::MutexLock lock(upload_->mutex);
    return Step{.reply = WriteResponse(static_cast<int64_t>(upload_->held))};
  }

 private:
  absl::StatusOr<Step> Take(std::string_view message) {
    ASSIGN_OR_RETURN(const WriteRequest write, DecodeWrite(message));
    if (write.offset < 0) return InvalidUpload("write_offset: expected 0 or more");
    if (upload_ == nullptr) {
      ASSIGN_OR_RETURN(const bool is_here, Begin(write));
      // The bytes may be another call's, whose commit is under way: this one waits for its own.
      if (is_here) return Step{.commit = CommitBatch{}, .reply = WriteResponse(SizeIfHere())};
    } else if (!write.name.empty() && write.name != key_.second) {
      return InvalidUpload("resource_name: expected the one that the stream began with");
    }
    const base::MutexLock lock(upload_->mutex);
    if (!uploads_.Hold(key_, writer_)) {
      return absl::AbortedError(
          "the upload was dropped, or another call goes on with it: ask QueryWriteStatus");
    }
    RETURN_IF_ERROR(CheckOffset(write));
    const absl::Status appended = Append(write);
    if (!appended.ok() || write.finish) uploads_.Drop(key_, writer_);
    RETURN_IF_ERROR(appended);
    if (!write.finish) return Step{.next = Step::Next::kRead};
    const uint64_t committed = is_packed() ? first_offset_ + received_ : upload_->held;
    return Step{.commit = CommitBatch{}, .reply = WriteResponse(static_cast<int64_t>(committed))};
  }

  // True: the blob is here already.
  absl::StatusOr<bool> Begin(const WriteRequest& write) {
    ASSIGN_OR_RETURN(name_, ParseWriteName(write.name));
    key_.second = std::string(write.name);
    RETURN_IF_ERROR(CheckInstance(uploads_.reapi_, caller_, name_.instance));
    if (name_.digest.size_bytes() > uploads_.reapi_.blob_bytes_max) {
      return InvalidUpload(fmt::format("a blob of {} bytes: at most {} are taken",
                                       name_.digest.size_bytes(), uploads_.reapi_.blob_bytes_max));
    }
    ASSIGN_OR_RETURN(const auto missing, uploads_.store_.FindMissing(std::span(&name_.digest, 1)));
    if (missing.empty()) return true;
    ASSIGN_OR_RETURN(upload_, uploads_.Attach(key_, writer_));
    return false;
  }

  bool is_packed() const { return name_.compressor == Compressor::kZstd; }
  int64_t SizeIfHere() const {
    return is_packed() ? -1 : static_cast<int64_t>(name_.digest.size_bytes());
  }

  absl::Status CheckOffset(const WriteRequest& write) GALLEY_REQUIRES(upload_->mutex) {
    const auto offset = static_cast<uint64_t>(write.offset);
    if (!has_begun_ && offset == 0) {
      upload_->blob.reset();
      upload_->held = 0;
    }
    const uint64_t expected = has_begun_ ? first_offset_ + received_ : upload_->held;
    if (offset != expected) {
      return InvalidUpload(
          fmt::format("write_offset {}: expected {}, where the upload is", offset, expected));
    }
    if (has_begun_) return absl::OkStatus();
    has_begun_ = true;
    first_offset_ = offset;
    if (is_packed())
      unpacked_.emplace(
          ZstdDecompressor::Options{.output_bytes_max = name_.digest.size_bytes() - offset});
    return absl::OkStatus();
  }

  absl::Status Append(const WriteRequest& write) GALLEY_REQUIRES(upload_->mutex) {
    if (upload_->blob == nullptr) {
      ASSIGN_OR_RETURN(upload_->blob, uploads_.store_.NewWriter(name_.digest));
    }
    const auto append = [&](std::string_view bytes) GALLEY_REQUIRES(upload_->mutex) {
      upload_->held += bytes.size();
      return upload_->blob->Append(bytes);
    };
    received_ += write.data.size();
    RETURN_IF_ERROR(is_packed() ? unpacked_->Append(write.data, append) : append(write.data));
    if (!write.finish) return absl::OkStatus();
    if (is_packed()) RETURN_IF_ERROR(unpacked_->Finish());
    return upload_->blob->Finish();
  }

  Uploads& uploads_;
  const Caller caller_;
  Key key_;
  ResourceName name_;
  std::shared_ptr<Upload> upload_;
  uint64_t writer_ = 0;
  bool has_begun_ = false;
  uint64_t first_offset_ = 0;
  uint64_t received_ = 0;  // bytes of messages of this call
  std::optional<ZstdDecompressor> unpacked_;
};

Uploads::Uploads(BlobStore& store, const ReapiOptions& reapi, Clock& clock, const Options& options)
    : store_(store), reapi_(reapi), clock_(clock), options_(options) {}
Uploads::~Uploads() = default;

std::unique_ptr<CallHandler> Uploads::NewWrite(const Caller& caller) {
  return std::make_unique<Write>(*this, caller);
}

ReapiCore::Reply Uploads::QueryWriteStatus(std::string_view request, const Caller& caller) {
  ASSIGN_OR_RETURN(const std::string_view text, DecodeQueryWriteStatus(request));
  ASSIGN_OR_RETURN(const ResourceName name, ParseWriteName(text));
  RETURN_IF_ERROR(CheckInstance(reapi_, caller, name.instance));
  ASSIGN_OR_RETURN(const auto missing, store_.FindMissing(std::span(&name.digest, 1)));
  WireWriter status;
  if (missing.empty()) {
    status.Varint(1, name.digest.size_bytes());
    status.Bool(2, true);
    return UnaryHandler::Answer{.reply = status.Take()};
  }
  std::shared_ptr<Upload> upload;
  {
    const base::MutexLock lock(mutex_);
    const auto at = uploads_.find({caller.name, std::string(text)});
    if (at == uploads_.end()) return absl::NotFoundError("there is no such upload: it begins at 0");
    upload = at->second;
  }
  const base::MutexLock lock(upload->mutex);
  status.Varint(1, upload->held);
  return UnaryHandler::Answer{.reply = status.Take()};
}

void Uploads::EraseLocked(const Key& key, Dropped& dropped) {
  const auto at = uploads_.find(key);
  dropped.push_back(std::move(at->second));
  uploads_.erase(at);
  if (--of_caller_[key.first] == 0) of_caller_.erase(key.first);
}

bool Uploads::DropParkedLocked(const std::string* caller, Dropped& dropped) {
  const Key* longest = nullptr;
  absl::Time since = absl::InfiniteFuture();
  for (const auto& [key, upload] : uploads_) {
    if (upload->writer != 0 || upload->active >= since) continue;
    if (caller != nullptr && key.first != *caller) continue;
    longest = &key;
    since = upload->active;
  }
  if (longest == nullptr) return false;
  EraseLocked(Key(*longest), dropped);
  return true;
}

absl::Status Uploads::MakeRoomLocked(const std::string& caller, Dropped& dropped) {
  const auto of_caller = of_caller_.find(caller);
  if (of_caller != of_caller_.end() && of_caller->second >= options_.of_one_max &&
      !DropParkedLocked(&caller, dropped)) {
    return BusyError(fmt::format("{} uploads of one caller are open", options_.of_one_max),
                     kUploadRetryDelay);
  }
  if (uploads_.size() >= options_.open_max && !DropParkedLocked(nullptr, dropped))
    return BusyError(fmt::format("{} uploads are open", options_.open_max), kUploadRetryDelay);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Uploads::Upload>> Uploads::Attach(const Key& key, uint64_t& writer) {
  Dropped dropped;  // destroyed after the lock is let go: files may go with it
  const base::MutexLock lock(mutex_);
  auto at = uploads_.find(key);
  if (at == uploads_.end()) {
    RETURN_IF_ERROR(MakeRoomLocked(key.first, dropped));
    at = uploads_.emplace(key, std::make_shared<Upload>(clock_.Monotonic())).first;
    ++of_caller_[key.first];
  }
  at->second->writer = writer = ++writers_;
  at->second->active = clock_.Monotonic();
  return at->second;
}

bool Uploads::Hold(const Key& key, uint64_t writer) {
  const base::MutexLock lock(mutex_);
  const auto at = uploads_.find(key);
  if (at == uploads_.end() || at->second->writer != writer) return false;
  at->second->active = clock_.Monotonic();
  return true;
}

void Uploads::Park(const Key& key, uint64_t writer) {
  const base::MutexLock lock(mutex_);
  const auto at = uploads_.find(key);
  if (at != uploads_.end() && at->second->writer == writer) at->second->writer = 0;
}

void Uploads::Drop(const Key& key, uint64_t writer) {
  Dropped dropped;
  const base::MutexLock lock(mutex_);
  const auto at = uploads_.find(key);
  if (at != uploads_.end() && at->second->writer == writer) EraseLocked(key, dropped);
}

void Uploads::Sweep() {
  Dropped dropped;
  const base::MutexLock lock(mutex_);
  const absl::Time now = clock_.Monotonic();
  std::vector<Key> late;
  for (const auto& [key, upload] : uploads_) {
    if (now - upload->active > options_.idle_max || now - upload->begun > options_.whole_max)
      late.push_back(key);
  }
  for (const Key& key : late) EraseLocked(key, dropped);
}

size_t Uploads::open() const {
  const base::MutexLock lock(mutex_);
  return uploads_.size();
}

}  // namespace galley::store
