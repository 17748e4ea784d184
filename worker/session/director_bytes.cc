#include "worker/session/director_bytes.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/wire/channel.h"
#include "common/wire/convert.h"
#include "galley/v1/worker.grpc.pb.h"

namespace galley::worker {
namespace {

// The time limit of a call. A slow line is waited for; the channel's keepalive notices a machine
// that is gone.
constexpr std::chrono::seconds kCallMax(120);
constexpr uint64_t kTableBytes = 256 << 20;     // nobody knows before how large a table is
constexpr uint64_t kBytesOfASecond = 32 << 10;  // the limit rises by a second for so many bytes

std::chrono::system_clock::time_point DeadlineOf(uint64_t bytes) {
  return std::chrono::system_clock::now() + kCallMax +
         std::chrono::seconds(bytes / kBytesOfASecond);
}

// The bytes that the item brings. A file of unknown digest brings at most its bytes_max.
uint64_t BytesOf(const v1::FetchItem& item) {
  if (item.has_digest())
    return static_cast<uint64_t>(std::max<int64_t>(0, item.digest().size_bytes()));
  if (item.has_blob()) return static_cast<uint64_t>(std::max<int64_t>(0, item.blob().size_bytes()));
  return item.has_table() ? kTableBytes : item.bytes_max();
}

class GrpcBytes final : public DirectorBytes {
 public:
  GrpcBytes(const std::string& address, const wire::ClientTls& tls, const v1::Caller& caller)
      : caller_(caller), address_(address) {
    UseTls(tls);
  }

  void UseTls(const wire::ClientTls& tls) override {
    std::shared_ptr<v1::Director::Stub> next =
        v1::Director::NewStub(wire::OpenChannel(address_, tls, /*is_far=*/true));
    const base::MutexLock lock(mutex_);
    stub_.swap(next);
  }

  absl::Status Fetch(const std::vector<v1::FetchItem>& items,
                     const std::function<void(const v1::FetchPiece&)>& take) override {
    uint64_t bytes = 0;
    for (const v1::FetchItem& item : items) bytes += BytesOf(item);
    Call call(*this, bytes);
    v1::FetchRequest request;
    *request.mutable_caller() = caller_;
    *request.mutable_items() = {items.begin(), items.end()};
    const auto reader = call.stub->Fetch(&call.context, request);
    v1::FetchPiece piece;
    while (reader->Read(&piece)) {
      if (piece.item() >= items.size()) call.context.TryCancel();
      take(piece);
      piece.Clear();
    }
    return wire::FromGrpc(reader->Finish());
  }

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    Call call(*this, 0);
    v1::FindMissingRequest request;
    *request.mutable_caller() = caller_;
    for (const Digest& digest : digests) wire::ToProto(digest, request.add_digests());
    v1::FindMissingAnswer answer;
    RETURN_IF_ERROR(wire::FromGrpc(call.stub->FindMissing(&call.context, request, &answer)));
    std::vector<Digest> missing;
    for (const v1::Digest& wire : answer.missing()) {
      ASSIGN_OR_RETURN(missing.emplace_back(), wire::FromProto(wire));
    }
    return missing;
  }

  absl::Status Upload(const std::string& directory, std::span<const Digest> digests) override {
    uint64_t bytes = 0;
    for (const Digest& digest : digests) bytes += digest.size_bytes();
    Call call(*this, bytes);
    v1::UploadAnswer answer;
    const auto writer = call.stub->Upload(&call.context, &answer);
    v1::UploadPiece piece;
    *piece.mutable_caller() = caller_;
    absl::Status sent;
    for (const Digest& digest : digests) {
      wire::ToProto(digest, piece.mutable_digest());
      sent = Send(directory, digest, piece, *writer);
      if (!sent.ok()) break;
    }
    if (!sent.ok()) call.context.TryCancel();
    writer->WritesDone();
    const absl::Status ended = wire::FromGrpc(writer->Finish());
    return sent.ok() ? ended : sent;
  }

  void Cancel() override {
    const base::MutexLock lock(mutex_);
    is_cancelled_ = true;
    for (grpc::ClientContext* context : contexts_) context->TryCancel();
  }

 private:
  // A call that Cancel can end.
  struct Call {
    Call(GrpcBytes& from, uint64_t bytes) : of(from) {
      context.set_deadline(DeadlineOf(bytes));
      const base::MutexLock lock(of.mutex_);
      stub = of.stub_;
      of.contexts_.insert(&context);
      if (of.is_cancelled_) context.TryCancel();
    }
    ~Call() {
      const base::MutexLock lock(of.mutex_);
      of.contexts_.erase(&context);
    }
    GrpcBytes& of;
    std::shared_ptr<v1::Director::Stub> stub;
    grpc::ClientContext context;
  };

  // Sends a blob. A write that fails shows as the end of the call.
  static absl::Status Send(const std::string& directory, const Digest& digest,
                           v1::UploadPiece& piece, grpc::ClientWriter<v1::UploadPiece>& writer) {
    const auto reader = store::NewBlobFileReader(directory, digest, 0);
    if (!reader.ok()) return absl::InvalidArgumentError(MessageOf(reader.status()));
    while (true) {
      const absl::StatusOr<std::string_view> bytes = (*reader)->Next(kPieceBytesMax);
      if (!bytes.ok()) return absl::InvalidArgumentError(MessageOf(bytes.status()));
      if (bytes->empty()) break;
      piece.set_bytes(bytes->data(), bytes->size());
      const bool is_written = writer.Write(piece);
      piece.Clear();
      if (!is_written) break;
    }
    return absl::OkStatus();
  }

  const v1::Caller caller_;
  const std::string address_;
  base::Mutex mutex_;
  std::shared_ptr<v1::Director::Stub> stub_ GALLEY_GUARDED_BY(mutex_);
  bool is_cancelled_ GALLEY_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> contexts_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<DirectorBytes> ConnectDirectorBytes(const std::string& address,
                                                    const wire::ClientTls& tls,
                                                    const v1::Caller& caller) {
  return std::make_unique<GrpcBytes>(address, tls, caller);
}

}  // namespace galley::worker
