#include <chrono>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/owner/call_watchdog.h"
#include "common/store/owner/connect.h"
#include "common/store/owner/store_wire.h"
#include "common/wire/channel.h"
#include "fmt/format.h"
#include "galley/v1/store.grpc.pb.h"
#include "grpcpp/grpcpp.h"

namespace galley::store {
namespace {

constexpr size_t kDigestsAtOnce = 16'384;

v1::GetRequest ToGet(const Digest& digest, uint64_t offset) {
  v1::GetRequest request;
  SetRawDigest(digest, &request);
  request.set_offset(offset);
  return request;
}

class StreamReader final : public BlobReader {
 public:
  StreamReader(std::unique_ptr<grpc::ClientContext> context,
               std::unique_ptr<grpc::ClientReader<v1::Chunk>> stream)
      : context_(std::move(context)), stream_(std::move(stream)) {}
  ~StreamReader() override {
    if (is_open_) context_->TryCancel();
    static_cast<void>(Close());
  }

  absl::StatusOr<std::string_view> Next(size_t bytes_max) override {
    RETURN_IF_ERROR(Fill());
    const std::string_view piece = rest_.substr(0, bytes_max);
    rest_.remove_prefix(piece.size());
    return piece;
  }
  // Waits for the next chunk, or the end.
  absl::Status Fill() {
    while (rest_.empty() && is_open_) {
      if (!stream_->Read(&chunk_)) return Close();
      rest_ = chunk_.data();
    }
    return outcome_;
  }

 private:
  absl::Status Close() {
    if (is_open_) outcome_ = FromGrpc(stream_->Finish());
    is_open_ = false;
    return outcome_;
  }

  const std::unique_ptr<grpc::ClientContext> context_;
  const std::unique_ptr<grpc::ClientReader<v1::Chunk>> stream_;
  bool is_open_ = true;
  absl::Status outcome_;
  v1::Chunk chunk_;
  std::string_view rest_;
};

class StreamWriter final : public BlobWriter {
 public:
  StreamWriter(v1::Store::Stub& stub, std::unique_ptr<grpc::ClientContext> context,
               const Digest& digest)
      : digest_(digest), context_(std::move(context)), stream_(stub.Put(context_.get(), &done_)) {
    SetRawDigest(digest, chunk_.mutable_digest());
  }
  ~StreamWriter() override {
    if (!is_open_) return;
    context_->TryCancel();
    static_cast<void>(stream_->Finish());
  }

  absl::Status Append(std::string_view bytes) override {
    RETURN_IF_ERROR(CheckFits(digest_, written_, bytes.size()));
    written_ += bytes.size();
    for (size_t begin = 0; begin < bytes.size(); begin += kChunkBytesMax)
      RETURN_IF_ERROR(Send(bytes.substr(begin, kChunkBytesMax)));
    return absl::OkStatus();
  }
  absl::Status Finish() override {
    if (written_ == 0) RETURN_IF_ERROR(Send(""));
    stream_->WritesDone();
    return Close();
  }

 private:
  absl::Status Send(std::string_view bytes) {
    chunk_.set_data(std::string(bytes));
    const bool is_sent = stream_->Write(chunk_);
    chunk_.clear_digest();
    return is_sent ? absl::OkStatus() : Close();
  }
  absl::Status Close() {
    if (!is_open_) return outcome_;
    is_open_ = false;
    return outcome_ = FromGrpc(stream_->Finish());
  }

  const Digest digest_;
  const std::unique_ptr<grpc::ClientContext> context_;
  v1::Done done_;
  const std::unique_ptr<grpc::ClientWriter<v1::PutChunk>> stream_;
  v1::PutChunk chunk_;
  uint64_t written_ = 0;
  bool is_open_ = true;
  absl::Status outcome_;
};

class RemoteStore final : public StoreDirectory {
 public:
  RemoteStore(std::string directory, ConnectOptions options)
      : directory_(std::move(directory)), options_(options) {
    wire::PrepareGrpc();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(4 << 20);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);  // what a connection may take
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub_ = v1::Store::NewStub(grpc::CreateCustomChannel(
        SocketTarget(SocketPath(directory_)), grpc::InsecureChannelCredentials(), arguments));
  }

  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) override {
    return AskWhich(digests, &Stub::FindMissing);
  }

  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests) override {
    auto lost = AskWhich(digests, &Stub::FindLost);
    // An older owner: what its index says is all that it can tell.
    return absl::IsUnimplemented(lost.status()) ? FindMissing(digests) : lost;
  }

  absl::StatusOr<Blob> Get(const Digest& digest) override {
    if (digest == Digest()) return MakeBlob("");
    const v1::GetRequest request = ToGet(digest, 0);
    ASSIGN_OR_RETURN(std::string bytes, Receive(digest.size_bytes(), [&](auto& context) {
                       return stub_->Get(&context, request);
                     }));
    if (Digest::Of(bytes) != digest)
      return DataLossError("blob {}: its bytes changed on the store's socket", digest.ToString());
    return MakeBlob(std::move(bytes));
  }

  // Whoever reads or writes in pieces begins again himself when the owner goes away.
  absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                        uint64_t offset) override {
    RETURN_IF_ERROR(CheckOffset(digest, offset));
    auto context = std::make_unique<grpc::ClientContext>();
    Prepare(*context, digest.size_bytes());
    auto stream = stub_->Get(context.get(), ToGet(digest, offset));
    auto reader = std::make_unique<StreamReader>(std::move(context), std::move(stream));
    RETURN_IF_ERROR(reader->Fill());  // so that what is absent is told at once
    return reader;
  }
  absl::StatusOr<std::unique_ptr<BlobWriter>> NewWriter(const Digest& digest) override {
    auto context = std::make_unique<grpc::ClientContext>();
    Prepare(*context, digest.size_bytes());
    return std::make_unique<StreamWriter>(*stub_, std::move(context), digest);
  }

  absl::Status Put(const Digest& digest, std::string_view bytes) override {
    return Retried([&]() -> absl::Status {
      grpc::ClientContext context;
      Prepare(context, bytes.size());
      v1::Done done;
      auto writer = stub_->Put(&context, &done);
      v1::PutChunk chunk;
      SetRawDigest(digest, chunk.mutable_digest());
      for (size_t begin = 0; begin == 0 || begin < bytes.size(); begin += kChunkBytesMax) {
        chunk.set_data(std::string(bytes.substr(begin, kChunkBytesMax)));
        if (!writer->Write(chunk)) break;  // Finish says why
        chunk.clear_digest();
      }
      writer->WritesDone();
      return FromGrpc(writer->Finish());
    });
  }

  absl::StatusOr<std::vector<std::vector<std::string>>> ObservationSets(
      std::span<const Digest> weak_keys) override {
    std::vector<std::vector<std::string>> answer;
    RETURN_IF_ERROR(AskOfEach<v1::SetsReply>(
        weak_keys, kKeysAtOnce, &Stub::ObservationSets, AsList, [&](const v1::SetsReply& reply) {
          for (const auto& list : reply.keys())
            answer.emplace_back(list.sets().begin(), list.sets().end());
          return reply.keys_size();
        }));
    return answer;
  }

  absl::StatusOr<std::vector<std::optional<std::string>>> Results(
      std::span<const Digest> action_keys) override {
    return AskForResults(action_keys, &Stub::Results, AsList);
  }

  absl::StatusOr<std::vector<std::optional<std::string>>> RecordedResults(
      std::span<const Digest> action_keys) override {
    auto results = AskForResults(action_keys, &Stub::RecordedResults, AsList);
    // An older owner tells only what is whole.
    return absl::IsUnimplemented(results.status()) ? Results(action_keys) : results;
  }

  absl::StatusOr<std::vector<std::optional<std::string>>> ActionResults(
      std::string_view instance, std::span<const Digest> actions) override {
    return AskForResults(actions, &Stub::ActionResults, [&](std::span<const Digest> part) {
      v1::ActionResultsRequest request;
      request.set_instance(std::string(instance));
      for (const Digest& action : part) SetRawDigest(action, request.add_actions());
      return request;
    });
  }

  absl::StatusOr<StoreInfo> Info() override {
    v1::InfoReply reply;
    RETURN_IF_ERROR(
        Retried([&] { return Call(v1::InfoRequest(), reply, &v1::Store::Stub::Info); }));
    return StoreInfo{.directory = reply.directory(),
                     .store_id = reply.store_id(),
                     .loss_epoch = reply.loss_epoch(),
                     .disputed_epoch = reply.disputed_epoch_and_one() == 0
                                           ? reply.loss_epoch()
                                           : reply.disputed_epoch_and_one() - 1,
                     .commits = reply.commits()};
  }

  absl::StatusOr<uint64_t> AllocateSegment() override {
    v1::AllocateSegmentReply reply;
    RETURN_IF_ERROR(Call(v1::AllocateSegmentRequest(), reply, &v1::Store::Stub::AllocateSegment));
    return reply.segment();
  }

  absl::StatusOr<std::vector<std::optional<BlobLocation>>> Locate(
      std::span<const Digest> digests) override {
    std::vector<std::optional<BlobLocation>> answer;
    RETURN_IF_ERROR(AskOfEach<v1::LocateReply>(
        digests, kDigestsAtOnce, &Stub::Locate, AsList, [&](const v1::LocateReply& reply) {
          for (const auto& at : reply.digests()) {
            answer.push_back(at.is_present() ? std::optional(BlobLocation{.segment = at.segment(),
                                                                          .offset = at.offset()})
                                             : std::nullopt);
          }
          return reply.digests_size();
        }));
    return answer;
  }

  absl::Status Commit(const CommitBatch& batch) override {
    return Send(ToWire(batch).SerializeAsString(),
                [&](auto& context, auto& done) { return stub_->Commit(&context, &done); });
  }

  absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) override {
    v1::PublishReply reply;
    RETURN_IF_ERROR(Call(ToWire(root), reply, &v1::Store::Stub::Publish));
    return reply.sequence();
  }

  absl::StatusOr<std::vector<PublishedRoot>> Roots(std::string_view project_id) override {
    v1::RootsRequest request;
    request.set_project_id(std::string(project_id));
    ASSIGN_OR_RETURN(const auto reply, ParseMessage<v1::RootsReply>(
                                           Receive(kChunkedMessageBytesMax, [&](auto& context) {
                                             return stub_->Roots(&context, request);
                                           })));
    std::vector<PublishedRoot> roots;
    for (const v1::Root& wire : reply.roots()) {
      ASSIGN_OR_RETURN(PublishedRoot root, FromWire(wire));
      roots.push_back(std::move(root));
    }
    return roots;
  }

  absl::Status Forget(std::span<const Digest> action_keys) override {
    return Send(ToWire(action_keys).SerializeAsString(),
                [&](auto& context, auto& done) { return stub_->Forget(&context, &done); });
  }

  absl::StatusOr<StoreStats> Stats(const StatsOptions& options) override {
    v1::StatsRequest request;
    request.set_leaves_out_unadopted(!options.counts_unadopted);
    v1::StatsReply reply;
    RETURN_IF_ERROR(Retried([&] { return Call(request, reply, &v1::Store::Stub::Stats); }));
    return StoreStats{.blobs = reply.blobs(),
                      .blob_bytes = reply.blob_bytes(),
                      .results = reply.results(),
                      .observation_sets = reply.observation_sets(),
                      .segments = reply.segments(),
                      .segment_bytes = reply.segment_bytes(),
                      .files = reply.files(),
                      .file_bytes = reply.file_bytes(),
                      .roots = reply.roots(),
                      .quarantined = reply.quarantined(),
                      .unadopted_files = reply.unadopted_files(),
                      .unadopted_bytes = reply.unadopted_bytes(),
                      .temporary_files = reply.temporary_files(),
                      .temporary_bytes = reply.temporary_bytes()};
  }

  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options) override {
    v1::VerifyRequest request;
    request.set_bytes_per_second(options.bytes_per_second);
    request.set_restart(options.restart);
    grpc::ClientContext context;
    // A verify may take any time while it says how far it is.
    CallWatchdog watchdog(context, options_.verify_deadline);
    auto reader = stub_->Verify(&context, request);
    std::string bytes;
    bool is_stopped = false;
    v1::Chunk chunk;
    while (bytes.size() <= kChunkedMessageBytesMax && reader->Read(&chunk)) {
      watchdog.Reset(options_.deadline);
      bytes += chunk.data();
      if (!chunk.has_verify_progress() || !options.on_progress || is_stopped) continue;
      const v1::VerifyProgress& progress = chunk.verify_progress();
      is_stopped = !options.on_progress({.phase = progress.phase(),
                                         .blobs = progress.blobs(),
                                         .bytes = progress.bytes(),
                                         .bytes_total = progress.bytes_total(),
                                         .problems = progress.problems()});
      if (is_stopped) context.TryCancel();
    }
    if (bytes.size() > kChunkedMessageBytesMax) context.TryCancel();
    const absl::Status status = FromGrpc(reader->Finish());
    if (is_stopped)
      return absl::AbortedError("the verify was stopped; the next one goes on from there");
    if (watchdog.has_fired())
      return absl::DeadlineExceededError("the verify has not said for long how far it is");
    RETURN_IF_ERROR(Annotated(status));
    ASSIGN_OR_RETURN(const auto reply, ParseMessage<v1::VerifyReply>(bytes));
    VerifyReport report{.blobs = reply.blobs(),
                        .bytes = reply.bytes(),
                        .problems = {reply.problems().begin(), reply.problems().end()}};
    if (reply.has_resumed_s()) report.resumed = absl::FromUnixSeconds(reply.resumed_s());
    return report;
  }

  absl::StatusOr<RevokeReport> Revoke(const RevokeOptions& options) override {
    v1::RevokeRequest request;
    request.set_worker(options.what.worker);
    if (options.what.since != absl::InfinitePast())
      request.set_since_us(absl::ToUnixMicros(options.what.since));
    request.set_is_dry(options.is_dry);
    grpc::ClientContext context;
    PrepareForLong(context);
    auto reader = stub_->Revoke(&context, request);
    ASSIGN_OR_RETURN(const auto reply, ParseMessage<v1::RevokeReply>(Finished(context, *reader)));
    return FromWire(reply);
  }

  absl::StatusOr<std::vector<record::Revocation>> Revocations() override {
    grpc::ClientContext context;
    Prepare(context, 0);
    auto reader = stub_->Revocations(&context, v1::RevocationsRequest());
    const auto reply = ParseMessage<v1::RevocationsReply>(Finished(context, *reader));
    if (absl::IsUnimplemented(reply.status())) return std::vector<record::Revocation>();
    RETURN_IF_ERROR(reply.status());
    return record::DecodeRevocations(reply->revoked());
  }

  absl::Status ChangeLeases(const LeaseChanges& changes) override {
    return Send(ToWire(changes).SerializeAsString(),
                [&](auto& context, auto& done) { return stub_->ChangeLeases(&context, &done); });
  }

  absl::StatusOr<std::vector<RootLease>> Leases() override {
    const auto reply =
        ParseMessage<v1::LeasesReply>(Receive(kChunkedMessageBytesMax, [&](auto& context) {
          return stub_->Leases(&context, v1::LeasesRequest());
        }));
    if (absl::IsUnimplemented(reply.status())) return std::vector<RootLease>();
    RETURN_IF_ERROR(reply.status());
    return FromWire(reply->leases());
  }

  absl::StatusOr<WhyReport> Why(const Digest& digest, size_t limit) override {
    v1::WhyRequest request;
    SetRawDigest(digest, request.mutable_digest());
    request.set_limit(static_cast<uint32_t>(limit));
    grpc::ClientContext context;
    PrepareForLong(context);
    auto reader = stub_->Why(&context, request);
    ASSIGN_OR_RETURN(const auto reply, ParseMessage<v1::WhyReply>(Finished(context, *reader)));
    return FromWire(reply);
  }

  absl::StatusOr<GcReport> Collect(const GcOptions& options) override {
    v1::CollectRequest request;
    request.set_bytes_max(options.bytes_max);
    request.set_is_dry(options.is_dry);
    if (options.age_max != absl::InfiniteDuration())
      request.set_age_max_s(absl::ToInt64Seconds(options.age_max));
    grpc::ClientContext context;
    PrepareForLong(context);
    const Cancellation::Hook hook(options.cancellation, [&] { context.TryCancel(); });
    v1::CollectReply reply;
    RETURN_IF_ERROR(Annotated(FromGrpc(stub_->Collect(&context, request, &reply))));
    return GcReport{.blobs = reply.blobs(),
                    .bytes = reply.bytes(),
                    .results = reply.results(),
                    .dropped_blobs = reply.dropped_blobs(),
                    .dropped_bytes = reply.dropped_bytes(),
                    .dropped_results = reply.dropped_results(),
                    .freed_bytes = reply.freed_bytes(),
                    .moved_bytes = reply.moved_bytes(),
                    .left_files = reply.left_files(),
                    .left_bytes = reply.left_bytes(),
                    .held_by = {reply.held_by().begin(), reply.held_by().end()}};
  }

 private:
  using Stub = v1::Store::Stub;
  using ChunkCall = std::unique_ptr<grpc::ClientReaderWriter<v1::Chunk, v1::Chunk>> (Stub::*)(
      grpc::ClientContext*);
  static constexpr size_t kKeysAtOnce = 4096;
  static v1::DigestList AsList(std::span<const Digest> keys) { return ToWire(keys); }

  void PrepareForLong(grpc::ClientContext& context) const {
    context.set_deadline(std::chrono::system_clock::now() +
                         absl::ToChronoSeconds(options_.verify_deadline));
  }
  void Prepare(grpc::ClientContext& context, uint64_t bytes) const {
    const absl::Duration allowed =
        options_.deadline + absl::Seconds(static_cast<double>(bytes) / (4 << 20));
    context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoMicroseconds(allowed));
  }

  static absl::Status CheckCount(size_t asked, int answered) {
    if (asked == static_cast<size_t>(answered)) return absl::OkStatus();
    return InternalError("the store's owner answered {} of {} keys", answered, asked);
  }

  // Calls `once` again while the owner is away, for a while.
  template <typename Once>
  absl::Status Retried(const Once& once) {
    const auto end =
        std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(options_.reconnect_time);
    while (true) {
      const absl::Status status = once();
      if (status.code() != absl::StatusCode::kUnavailable ||
          std::chrono::steady_clock::now() >= end)
        return Annotated(status);
      WaitForOwner(end);
    }
  }
  // Until the channel is up again, a little at least.
  void WaitForOwner(std::chrono::steady_clock::time_point end) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    const auto left = std::min<std::chrono::steady_clock::duration>(
        end - std::chrono::steady_clock::now(), std::chrono::milliseconds(200));
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::duration_cast<std::chrono::system_clock::duration>(left));
    v1::InfoReply reply;
    // The outcome says nothing that the call itself, sent again, does not say.
    static_cast<void>(stub_->Info(&context, v1::InfoRequest(), &reply));
  }
  absl::Status Annotated(const absl::Status& status) const {
    if (status.code() != absl::StatusCode::kUnavailable) return status;
    return Annotate(status, fmt::format("the owner of store {} cannot be reached", directory_));
  }

  template <typename Request, typename Reply>
  absl::Status Call(const Request& request, Reply& reply,
                    grpc::Status (v1::Store::Stub::*method)(grpc::ClientContext*, const Request&,
                                                            Reply*)) {
    grpc::ClientContext context;
    Prepare(context, 0);
    return Annotated(FromGrpc(((*stub_).*method)(&context, request, &reply)));
  }

  template <typename Stream>
  static absl::StatusOr<std::string> Finished(grpc::ClientContext& context, Stream& stream,
                                              size_t size_bytes_max = kChunkedMessageBytesMax) {
    absl::StatusOr<std::string> bytes = ReadChunks(stream, size_bytes_max);
    if (!bytes.ok()) context.TryCancel();
    const absl::Status status = FromGrpc(stream.Finish());
    if (!bytes.ok()) return bytes;
    RETURN_IF_ERROR(status);
    return bytes;
  }

  template <typename Start>
  absl::StatusOr<std::string> Receive(size_t size_bytes_max, const Start& start) {
    std::string answer;
    RETURN_IF_ERROR(Retried([&]() -> absl::Status {
      grpc::ClientContext context;
      Prepare(context, size_bytes_max);
      auto reader = start(context);
      ASSIGN_OR_RETURN(answer, Finished(context, *reader, size_bytes_max));
      return absl::OkStatus();
    }));
    return answer;
  }

  template <typename Start>
  absl::Status Send(const std::string& bytes, const Start& start) {
    return Retried([&]() -> absl::Status {
      grpc::ClientContext context;
      Prepare(context, bytes.size());
      v1::Done done;
      auto writer = start(context, done);
      static_cast<void>(WriteChunks(*writer, bytes));  // Finish says why
      writer->WritesDone();
      return FromGrpc(writer->Finish());
    });
  }

  // Returns the digests that the owner names in its answers.
  absl::StatusOr<std::vector<Digest>> AskWhich(std::span<const Digest> digests, ChunkCall call) {
    std::vector<Digest> named;
    for (size_t begin = 0; begin < digests.size(); begin += kDigestsAtOnce) {
      const auto part = digests.subspan(begin, std::min(kDigestsAtOnce, digests.size() - begin));
      ASSIGN_OR_RETURN(const auto reply, Exchange<v1::DigestList>(ToWire(part), call));
      ASSIGN_OR_RETURN(const std::vector<Digest> of_part, FromWire(reply.digests()));
      named.insert(named.end(), of_part.begin(), of_part.end());
    }
    return named;
  }
  // Asks for an answer of each key, at most `at_once` at a time. `take` takes the answers of a
  // reply, and returns their number.
  template <typename Reply, typename ToRequest, typename Take>
  absl::Status AskOfEach(std::span<const Digest> keys, size_t at_once, ChunkCall call,
                         const ToRequest& to_request, const Take& take) {
    for (size_t begin = 0; begin < keys.size(); begin += at_once) {
      const auto part = keys.subspan(begin, std::min(at_once, keys.size() - begin));
      ASSIGN_OR_RETURN(const Reply reply, Exchange<Reply>(to_request(part), call));
      RETURN_IF_ERROR(CheckCount(part.size(), take(reply)));
    }
    return absl::OkStatus();
  }
  template <typename ToRequest>
  absl::StatusOr<std::vector<std::optional<std::string>>> AskForResults(
      std::span<const Digest> keys, ChunkCall call, const ToRequest& to_request) {
    std::vector<std::optional<std::string>> answer;
    RETURN_IF_ERROR(AskOfEach<v1::ResultsReply>(
        keys, kKeysAtOnce, call, to_request, [&](const v1::ResultsReply& reply) {
          for (const auto& key : reply.keys())
            answer.push_back(key.is_present() ? std::optional(key.result()) : std::nullopt);
          return reply.keys_size();
        }));
    return answer;
  }
  template <typename Reply>
  absl::StatusOr<Reply> Exchange(const google::protobuf::Message& message, ChunkCall call) {
    const std::string request = message.SerializeAsString();
    std::string answer;
    RETURN_IF_ERROR(Retried([&]() -> absl::Status {
      grpc::ClientContext context;
      Prepare(context, request.size());
      auto stream = ((*stub_).*call)(&context);
      static_cast<void>(WriteChunks(*stream, request));  // Finish says why
      stream->WritesDone();
      ASSIGN_OR_RETURN(answer, Finished(context, *stream));
      return absl::OkStatus();
    }));
    return ParseMessage<Reply>(std::move(answer));
  }

  const std::string directory_;
  const ConnectOptions options_;
  std::unique_ptr<v1::Store::Stub> stub_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<StoreDirectory>> ConnectStore(const std::string& directory) {
  return ConnectStore(directory, ConnectOptions());
}

absl::StatusOr<std::unique_ptr<StoreDirectory>> ConnectStore(const std::string& directory,
                                                             const ConnectOptions& options) {
  const std::string absolute = AbsolutePath(directory);
  const std::string path = SocketPath(absolute);
  if (path.empty() || path.size() > kSocketPathBytesMax || !FileExists(path)) {
    return UnavailableError("nobody serves the store {}: there is no socket {}", absolute, path);
  }
  auto store = std::make_unique<RemoteStore>(absolute, options);
  RETURN_IF_ERROR(store->Info().status());
  return std::unique_ptr<StoreDirectory>(std::move(store));
}

}  // namespace galley::store
