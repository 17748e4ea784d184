#include "tests/testing/fake_reapi.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/base/mutex.h"
#include "common/base/zstd_stream.h"
#include "common/wire/channel.h"
#include "fmt/format.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

namespace galley::testing {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
namespace bytestream = google::bytestream;

constexpr size_t kPiece = 64 << 10;

std::string NameOf(const reapi::Digest& digest) {
  return fmt::format("{}/{}", digest.hash(), digest.size_bytes());
}

// The blob's digest decides, so that the same blobs are chosen each time.
bool IsOneIn(uint64_t count, const std::string& name) {
  return count <= 1 || std::stoull(name.substr(0, 8), nullptr, 16) % count == 0;
}

std::vector<std::string> Split(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Parsed from ".../blobs/<hash>/<size>" or ".../compressed-blobs/zstd/<hash>/<size>".
struct Resource {
  std::string blob;  // "<hash>/<size>"
  uint64_t size = 0;
  bool is_zstd = false;
};
Resource ParseName(const std::string& name) {
  const std::vector<std::string> parts = Split(name);
  if (parts.size() < 3) return {};
  return {.blob = parts[parts.size() - 2] + "/" + parts.back(),
          .size = std::stoull(parts.back()),
          .is_zstd = parts[parts.size() - 3] == "zstd"};
}

}  // namespace

struct FakeReapi::State {
  mutable base::Mutex mutex;
  base::CondVar changed;
  // When it rises, calls that hang go on; when the server ends, no call hangs any more.
  uint64_t told GALLEY_GUARDED_BY(mutex) = 0;
  bool is_ending GALLEY_GUARDED_BY(mutex) = false;
  FakeReapiManners manners GALLEY_GUARDED_BY(mutex);
  std::map<std::string, std::string> blobs GALLEY_GUARDED_BY(mutex);
  std::map<std::string, std::string> results GALLEY_GUARDED_BY(mutex);
  std::map<std::string, std::string> parts GALLEY_GUARDED_BY(mutex);  // uploads that broke off
  std::map<std::string, uint64_t, std::less<>> calls GALLEY_GUARDED_BY(mutex);

  int port = 0;
  std::unique_ptr<grpc::Service> cas, action_cache, capabilities, byte_stream;
  std::unique_ptr<grpc::Server> server;

  void LetGo(bool ends) {
    {
      base::MutexLock lock(mutex);
      ++told;
      is_ending = ends;
    }
    changed.NotifyAll();
  }
  FakeReapiManners Manners() const {
    base::MutexLock lock(mutex);
    return manners;
  }

  // Counts the call. An error: the call fails.
  grpc::Status Enter(const std::string& method, grpc::ServerContext* context) {
    FakeReapiManners now;
    bool fails = false;
    {
      base::MutexLock lock(mutex);
      ++calls[method];
      if (manners.fail_calls > 0) {
        --manners.fail_calls;
        fails = true;
      }
      now = manners;
    }
    if (now.hangs) {
      base::MutexLock lock(mutex);
      for (const uint64_t begun = told; told == begun && !is_ending;) changed.Wait(mutex);
      return grpc::Status(grpc::StatusCode::CANCELLED, "it hung");
    }
    if (!now.token.empty()) {
      const auto at = context->client_metadata().find("authorization");
      if (at == context->client_metadata().end() ||
          std::string_view(at->second.data(), at->second.size()) != now.token)
        return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "no token");
    }
    if (!fails) return grpc::Status::OK;
    const auto code = static_cast<grpc::StatusCode>(now.fail_code);
    std::string details;
    if (now.retry_info) {
      google::rpc::RetryInfo info;
      info.mutable_retry_delay()->set_nanos(
          static_cast<int32_t>(absl::ToInt64Nanoseconds(*now.retry_info)));
      google::rpc::Status status;
      status.set_code(code);
      status.add_details()->PackFrom(info);
      details = status.SerializeAsString();
    }
    return grpc::Status(code, "as told", details);
  }

  std::optional<std::string> Find(const std::string& name) const {
    if (name == fmt::format("{}/0", Digest().hex())) return std::string();
    base::MutexLock lock(mutex);
    const auto at = blobs.find(name);
    return at == blobs.end() ? std::nullopt : std::optional(at->second);
  }

  // The bytes as the server reads them, with its faults.
  std::string Spoilt(std::string bytes) const {
    const FakeReapiManners now = Manners();
    if (now.corrupts && !bytes.empty()) bytes[bytes.size() / 2] ^= 1;
    if (now.shortens && !bytes.empty()) bytes.pop_back();
    if (now.lengthens) bytes += std::string(1 << 20, 'x');
    return bytes;
  }

  bool Keep(const std::string& name, std::string bytes) {
    const Digest digest = Digest::Of(bytes);
    if (digest.ToString() != name) return false;
    base::MutexLock lock(mutex);
    if (manners.forgets_writes || (!manners.overwrites && blobs.contains(name))) return true;
    blobs[name] = std::move(bytes);
    return true;
  }

  // Waits as long as a slow disk takes for the blob, or until other manners are set.
  void WaitFor(const std::string& name) {
    base::MutexLock lock(mutex);
    if (manners.read_delay <= absl::ZeroDuration() || !IsOneIn(manners.slow_one_in, name)) return;
    const auto end =
        std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(manners.read_delay);
    for (const uint64_t begun = told; told == begun && !is_ending;) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero()) return;
      changed.WaitFor(mutex, left);
    }
  }
};

namespace {

class Cas final : public reapi::ContentAddressableStorage::Service {
 public:
  explicit Cas(FakeReapi::State& state) : state_(state) {}

  grpc::Status FindMissingBlobs(grpc::ServerContext* context,
                                const reapi::FindMissingBlobsRequest* request,
                                reapi::FindMissingBlobsResponse* reply) override {
    if (grpc::Status status = state_.Enter("FindMissingBlobs", context); !status.ok())
      return status;
    const FakeReapiManners now = state_.Manners();
    for (const reapi::Digest& digest : request->blob_digests()) {
      const bool is_there = state_.Find(NameOf(digest)).has_value();
      if (!is_there && !now.says_all_present) *reply->add_missing_blob_digests() = digest;
      if (is_there && now.evicts_after_find_missing) {
        base::MutexLock lock(state_.mutex);
        state_.blobs.erase(NameOf(digest));
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status BatchReadBlobs(grpc::ServerContext* context,
                              const reapi::BatchReadBlobsRequest* request,
                              reapi::BatchReadBlobsResponse* reply) override {
    if (grpc::Status status = state_.Enter("BatchReadBlobs", context); !status.ok()) return status;
    const FakeReapiManners now = state_.Manners();
    if (now.fails_batches) return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "too large");
    const bool takes_zstd =
        std::count(request->acceptable_compressors().begin(),
                   request->acceptable_compressors().end(), reapi::Compressor::ZSTD) != 0;
    // The blobs of a batch are read side by side.
    const auto slow = std::find_if(
        request->digests().begin(), request->digests().end(),
        [&](const reapi::Digest& digest) { return IsOneIn(now.slow_one_in, NameOf(digest)); });
    if (slow != request->digests().end()) state_.WaitFor(NameOf(*slow));
    uint64_t sum = 0;
    for (const reapi::Digest& digest : request->digests()) {
      sum += static_cast<uint64_t>(digest.size_bytes());
      auto& one = *reply->add_responses();
      *one.mutable_digest() = digest;
      const auto bytes = state_.Find(NameOf(digest));
      one.mutable_status()->set_code(bytes ? 0 : grpc::StatusCode::NOT_FOUND);
      if (!bytes) continue;
      if (takes_zstd && now.has_zstd) {
        one.set_data(ZstdCompress(state_.Spoilt(*bytes)));
        one.set_compressor(reapi::Compressor::ZSTD);
        if (now.omits_batch_status) one.clear_status();
      } else {
        one.set_data(state_.Spoilt(*bytes));
      }
    }
    if (now.batch_bytes_max != 0 && sum > now.batch_bytes_max)
      return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "over the limit");
    return grpc::Status::OK;
  }

  grpc::Status BatchUpdateBlobs(grpc::ServerContext* context,
                                const reapi::BatchUpdateBlobsRequest* request,
                                reapi::BatchUpdateBlobsResponse* reply) override {
    if (grpc::Status status = state_.Enter("BatchUpdateBlobs", context); !status.ok())
      return status;
    const FakeReapiManners now = state_.Manners();
    if (now.fails_batches) return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "too large");
    uint64_t sum = 0;
    for (const auto& one : request->requests()) {
      sum += static_cast<uint64_t>(one.digest().size_bytes());
      auto& answer = *reply->add_responses();
      *answer.mutable_digest() = one.digest();
      std::string bytes = one.data();
      if (one.compressor() == reapi::Compressor::ZSTD) {
        auto plain = ZstdDecompress(bytes, 64 << 20);
        bytes = plain.ok() ? *plain : "";
      }
      answer.mutable_status()->set_code(state_.Keep(NameOf(one.digest()), std::move(bytes))
                                            ? 0
                                            : grpc::StatusCode::INVALID_ARGUMENT);
    }
    if (now.batch_bytes_max != 0 && sum > now.batch_bytes_max)
      return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "over the limit");
    return grpc::Status::OK;
  }

 private:
  FakeReapi::State& state_;
};

class ActionCache final : public reapi::ActionCache::Service {
 public:
  explicit ActionCache(FakeReapi::State& state) : state_(state) {}

  grpc::Status GetActionResult(grpc::ServerContext* context,
                               const reapi::GetActionResultRequest* request,
                               reapi::ActionResult* reply) override {
    if (grpc::Status status = state_.Enter("GetActionResult", context); !status.ok()) return status;
    const FakeReapiManners now = state_.Manners();
    {
      base::MutexLock lock(state_.mutex);
      const auto at = state_.results.find(NameOf(request->action_digest()));
      if (at == state_.results.end()) return grpc::Status(grpc::StatusCode::NOT_FOUND, "no result");
      reply->ParseFromString(at->second);
    }
    for (auto& file : *reply->mutable_output_files()) {
      const bool is_wanted = std::count(request->inline_output_files().begin(),
                                        request->inline_output_files().end(), file.path()) != 0;
      if (now.ignores_inline || (now.strips_inline && !is_wanted)) file.clear_contents();
    }
    if (now.reorders_results) {
      std::reverse(reply->mutable_output_files()->begin(), reply->mutable_output_files()->end());
      reply->mutable_execution_metadata()->mutable_queued_timestamp()->set_seconds(1);
    }
    return grpc::Status::OK;
  }

  grpc::Status UpdateActionResult(grpc::ServerContext* context,
                                  const reapi::UpdateActionResultRequest* request,
                                  reapi::ActionResult* reply) override {
    if (grpc::Status status = state_.Enter("UpdateActionResult", context); !status.ok())
      return status;
    if (!state_.Manners().takes_results)
      return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "read only");
    base::MutexLock lock(state_.mutex);
    state_.results[NameOf(request->action_digest())] = request->action_result().SerializeAsString();
    *reply = request->action_result();
    return grpc::Status::OK;
  }

 private:
  FakeReapi::State& state_;
};

class Capabilities final : public reapi::Capabilities::Service {
 public:
  explicit Capabilities(FakeReapi::State& state) : state_(state) {}

  grpc::Status GetCapabilities(grpc::ServerContext* context, const reapi::GetCapabilitiesRequest*,
                               reapi::ServerCapabilities* reply) override {
    if (grpc::Status status = state_.Enter("GetCapabilities", context); !status.ok()) return status;
    const FakeReapiManners now = state_.Manners();
    auto& cache = *reply->mutable_cache_capabilities();
    cache.add_digest_functions(now.has_sha256 ? reapi::DigestFunction::SHA256
                                              : reapi::DigestFunction::BLAKE3);
    cache.mutable_action_cache_update_capabilities()->set_update_enabled(now.takes_results);
    cache.set_max_batch_total_size_bytes(static_cast<int64_t>(now.batch_bytes_max));
    if (now.has_zstd) {
      cache.add_supported_compressors(reapi::Compressor::ZSTD);
      cache.add_supported_batch_update_compressors(reapi::Compressor::ZSTD);
    }
    reply->mutable_low_api_version()->set_major(2);
    reply->mutable_high_api_version()->set_major(2);
    return grpc::Status::OK;
  }

 private:
  FakeReapi::State& state_;
};

class ByteStream final : public bytestream::ByteStream::Service {
 public:
  explicit ByteStream(FakeReapi::State& state) : state_(state) {}

  grpc::Status Read(grpc::ServerContext* context, const bytestream::ReadRequest* request,
                    grpc::ServerWriter<bytestream::ReadResponse>* writer) override {
    if (grpc::Status status = state_.Enter("Read", context); !status.ok()) return status;
    const FakeReapiManners now = state_.Manners();
    const Resource resource = ParseName(request->resource_name());
    if (resource.is_zstd && (now.has_no_zstd_streams || !now.has_zstd))
      return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no zstd");
    state_.WaitFor(resource.blob);
    const auto found = state_.Find(resource.blob);
    if (!found) return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such blob");
    auto offset = static_cast<uint64_t>(request->read_offset());
    if (request->read_offset() < 0 || offset > found->size())
      return grpc::Status(grpc::StatusCode::OUT_OF_RANGE, "offset");
    if (now.ignores_read_offset) offset = 0;
    std::string bytes = state_.Spoilt(found->substr(offset));
    if (resource.is_zstd) bytes = ZstdCompress(bytes);
    bool breaks = false;
    {
      base::MutexLock lock(state_.mutex);
      if (state_.manners.break_reads > 0) {
        --state_.manners.break_reads;
        breaks = true;
      }
    }
    if (breaks) bytes.resize(bytes.size() / 2);
    for (size_t begin = 0; begin < bytes.size(); begin += kPiece) {
      bytestream::ReadResponse piece;
      piece.set_data(bytes.substr(begin, kPiece));
      if (!writer->Write(piece)) return grpc::Status(grpc::StatusCode::CANCELLED, "gone");
    }
    return breaks ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "broke") : grpc::Status::OK;
  }

  grpc::Status Write(grpc::ServerContext* context,
                     grpc::ServerReader<bytestream::WriteRequest>* reader,
                     bytestream::WriteResponse* reply) override {
    if (grpc::Status status = state_.Enter("Write", context); !status.ok()) return status;
    const FakeReapiManners now = state_.Manners();
    bytestream::WriteRequest request;
    if (!reader->Read(&request))
      return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "nothing came");
    const std::string name = request.resource_name();
    const Resource resource = ParseName(name);
    if (resource.is_zstd && (now.has_no_zstd_streams || !now.has_zstd))
      return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no zstd");
    if (!now.overwrites && state_.Find(resource.blob)) {
      reply->set_committed_size(Answer(now, resource.size, 0, true));
      return grpc::Status::OK;
    }
    std::string bytes;
    bool breaks = false;
    {
      base::MutexLock lock(state_.mutex);
      if (request.write_offset() != 0) {
        if (now.refuses_write_offset)
          return grpc::Status(grpc::StatusCode::UNKNOWN, "write_offset must be 0");
        bytes = state_.parts[name];
      }
      if (state_.manners.break_writes > 0) {
        --state_.manners.break_writes;
        breaks = true;
      }
    }
    bool is_finished = false;
    do {
      if (static_cast<uint64_t>(request.write_offset()) != bytes.size())
        return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "a gap");
      bytes += request.data();
      if (breaks && bytes.size() >= resource.size / 2) {
        base::MutexLock lock(state_.mutex);
        state_.parts[name] = bytes;
        return grpc::Status(grpc::StatusCode::UNAVAILABLE, "broke");
      }
      is_finished = request.finish_write();
    } while (!is_finished && reader->Read(&request));
    if (!is_finished) return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "not finished");
    const uint64_t received = bytes.size();
    if (resource.is_zstd) {
      auto plain = ZstdDecompress(bytes, resource.size);
      if (!plain.ok()) return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no zstd");
      bytes = *std::move(plain);
    }
    if (!state_.Keep(resource.blob, std::move(bytes)))
      return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "not those of its digest");
    reply->set_committed_size(Answer(now, resource.size, received, false));
    return grpc::Status::OK;
  }

  grpc::Status QueryWriteStatus(grpc::ServerContext* context,
                                const bytestream::QueryWriteStatusRequest* request,
                                bytestream::QueryWriteStatusResponse* reply) override {
    if (grpc::Status status = state_.Enter("QueryWriteStatus", context); !status.ok())
      return status;
    if (state_.Manners().has_no_write_status)
      return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no such thing");
    const Resource resource = ParseName(request->resource_name());
    if (state_.Find(resource.blob)) {
      reply->set_committed_size(static_cast<int64_t>(resource.size));
      reply->set_complete(true);
      return grpc::Status::OK;
    }
    base::MutexLock lock(state_.mutex);
    const auto at = state_.parts.find(request->resource_name());
    if (at == state_.parts.end()) return grpc::Status(grpc::StatusCode::NOT_FOUND, "no upload");
    reply->set_committed_size(static_cast<int64_t>(at->second.size()));
    return grpc::Status::OK;
  }

 private:
  static int64_t Answer(const FakeReapiManners& manners, uint64_t size, uint64_t received,
                        bool was_there) {
    using enum FakeReapiManners::Committed;
    switch (manners.committed) {
      case kSize:
        return static_cast<int64_t>(size);
      case kReceived:
        return static_cast<int64_t>(was_there ? size : received);
      case kMinusOne:
        return -1;
      case kNonsense:
        return 7;
    }
    return 0;
  }

  FakeReapi::State& state_;
};

void Start(FakeReapi::State& state) {
  wire::PrepareGrpc();
  grpc::ServerBuilder builder;
  int port = state.port;
  builder.AddListeningPort(fmt::format("127.0.0.1:{}", port), grpc::InsecureServerCredentials(),
                           &port);
  builder.SetMaxReceiveMessageSize(4 << 20);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 1);
  for (grpc::Service* service : {state.cas.get(), state.action_cache.get(),
                                 state.capabilities.get(), state.byte_stream.get()})
    builder.RegisterService(service);
  state.server = builder.BuildAndStart();
  state.port = port;
}

}  // namespace

FakeReapi::FakeReapi() : state_(std::make_unique<State>()) {
  state_->cas = std::make_unique<Cas>(*state_);
  state_->action_cache = std::make_unique<ActionCache>(*state_);
  state_->capabilities = std::make_unique<Capabilities>(*state_);
  state_->byte_stream = std::make_unique<ByteStream>(*state_);
  Start(*state_);
}

FakeReapi::~FakeReapi() { Kill(); }

std::string FakeReapi::url() const { return fmt::format("grpc://127.0.0.1:{}", state_->port); }

void FakeReapi::Kill() {
  if (state_->server == nullptr) return;
  state_->LetGo(/*ends=*/true);
  state_->server->Shutdown(std::chrono::system_clock::now());
  state_->server.reset();
}

void FakeReapi::Restart() {
  Kill();
  state_->LetGo(/*ends=*/false);
  Start(*state_);
}

void FakeReapi::Set(const FakeReapiManners& manners) {
  state_->LetGo(/*ends=*/false);
  base::MutexLock lock(state_->mutex);
  state_->manners = manners;
}

void FakeReapi::Put(const Digest& digest, std::string_view bytes) {
  base::MutexLock lock(state_->mutex);
  state_->blobs[digest.ToString()] = std::string(bytes);
}

std::optional<std::string> FakeReapi::Get(const Digest& digest) const {
  return state_->Find(digest.ToString());
}

size_t FakeReapi::blob_count() const {
  base::MutexLock lock(state_->mutex);
  return state_->blobs.size();
}

void FakeReapi::Empty() {
  base::MutexLock lock(state_->mutex);
  state_->blobs.clear();
  state_->results.clear();
}

void FakeReapi::Drop(const Digest& digest) {
  base::MutexLock lock(state_->mutex);
  state_->blobs.erase(digest.ToString());
}

void FakeReapi::PutResult(const Digest& key, std::string_view result) {
  base::MutexLock lock(state_->mutex);
  state_->results[key.ToString()] = std::string(result);
}

std::optional<std::string> FakeReapi::GetResult(const Digest& key) const {
  base::MutexLock lock(state_->mutex);
  const auto at = state_->results.find(key.ToString());
  return at == state_->results.end() ? std::nullopt : std::optional(at->second);
}

void FakeReapi::Rot(uint64_t one_in) {
  base::MutexLock lock(state_->mutex);
  for (auto& [name, bytes] : state_->blobs) {
    if (!bytes.empty() && IsOneIn(one_in, name)) bytes[bytes.size() / 2] ^= 1;
  }
}

size_t FakeReapi::result_count() const {
  base::MutexLock lock(state_->mutex);
  return state_->results.size();
}

uint64_t FakeReapi::Calls(std::string_view method) const {
  base::MutexLock lock(state_->mutex);
  const auto at = state_->calls.find(method);
  return at == state_->calls.end() ? 0 : at->second;
}

void FakeReapi::ForgetCalls() {
  base::MutexLock lock(state_->mutex);
  state_->calls.clear();
}

}  // namespace galley::testing
