#include "common/store/owner/store_service.h"

#include <optional>
#include <thread>
#include <utility>

#include "common/base/cancellation.h"
#include "common/base/status_macros.h"
#include "common/store/owner/store_wire.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

v1::ResultsReply ToWire(const std::vector<std::optional<std::string>>& results) {
  v1::ResultsReply reply;
  for (const std::optional<std::string>& result : results) {
    v1::MaybeResult& wire = *reply.add_keys();
    wire.set_is_present(result.has_value());
    if (result.has_value()) wire.set_result(*result);
  }
  return reply;
}

template <typename Reader>
absl::StatusOr<std::vector<Digest>> ReadDigests(Reader& reader) {
  ASSIGN_OR_RETURN(const auto list, ParseMessage<v1::DigestList>(ReadChunks(reader)));
  return FromWire(list.digests());
}

// The outcome of a call.
template <typename Call>
grpc::Status Answer(const Call& call) {
  return ToGrpc(call());
}

// The digest of a Put: in its first chunk, and there only.
absl::Status NoteDigest(const v1::PutChunk& chunk, std::optional<Digest>& digest) {
  if (digest.has_value() == chunk.has_digest()) {
    return absl::InvalidArgumentError(digest.has_value()
                                          ? "a second digest in one Put"
                                          : "the first chunk of a Put names no digest");
  }
  if (digest.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(digest, RawDigestOf(chunk.digest()));
  return absl::OkStatus();
}

}  // namespace

grpc::Status StoreService::Info(grpc::ServerContext*, const v1::InfoRequest*,
                                v1::InfoReply* reply) {
  const absl::StatusOr<StoreInfo> info = store_.Info();
  if (!info.ok()) return ToGrpc(info.status());
  reply->set_directory(info->directory);
  reply->set_store_id(info->store_id);
  reply->set_loss_epoch(info->loss_epoch);
  reply->set_commits(info->commits);
  reply->set_disputed_epoch_and_one(info->disputed_epoch + 1);
  return grpc::Status::OK;
}

grpc::Status StoreService::FindMissing(grpc::ServerContext*, ChunkStream* stream) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Digest> digests, ReadDigests(*stream));
    ASSIGN_OR_RETURN(const std::vector<Digest> missing, store_.FindMissing(digests));
    return WriteChunks(*stream, ToWire(missing).SerializeAsString());
  });
}

grpc::Status StoreService::FindLost(grpc::ServerContext*, ChunkStream* stream) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Digest> digests, ReadDigests(*stream));
    ASSIGN_OR_RETURN(const std::vector<Digest> lost, store_.FindLost(digests));
    return WriteChunks(*stream, ToWire(lost).SerializeAsString());
  });
}

grpc::Status StoreService::Get(grpc::ServerContext*, const v1::GetRequest* request,
                               ChunkWriter* writer) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const Digest digest, RawDigestOf(*request));
    ASSIGN_OR_RETURN(const std::unique_ptr<BlobReader> reader,
                     store_.NewReader(digest, request->offset()));
    while (true) {
      ASSIGN_OR_RETURN(const std::string_view piece, reader->Next(kChunkBytesMax));
      if (piece.empty()) return absl::OkStatus();
      RETURN_IF_ERROR(WriteChunks(*writer, piece));
    }
  });
}

grpc::Status StoreService::Put(grpc::ServerContext*, grpc::ServerReader<v1::PutChunk>* reader,
                               v1::Done*) {
  return Answer([&]() -> absl::Status {
    v1::PutChunk chunk;
    std::optional<Digest> digest;
    std::unique_ptr<BlobWriter> writer;
    while (reader->Read(&chunk)) {
      RETURN_IF_ERROR(NoteDigest(chunk, digest));
      if (writer == nullptr) {
        ASSIGN_OR_RETURN(writer, store_.NewWriter(*digest));
      }
      RETURN_IF_ERROR(writer->Append(chunk.data()));
    }
    if (writer == nullptr) return absl::InvalidArgumentError("a Put without a chunk");
    return writer->Finish();
  });
}

grpc::Status StoreService::ObservationSets(grpc::ServerContext*, ChunkStream* stream) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Digest> keys, ReadDigests(*stream));
    ASSIGN_OR_RETURN(const auto found, store_.ObservationSets(keys));
    v1::SetsReply reply;
    for (const std::vector<std::string>& sets : found) {
      v1::ObservationSetList& list = *reply.add_keys();
      for (const std::string& set : sets) list.add_sets(set);
    }
    return WriteChunks(*stream, reply.SerializeAsString());
  });
}

grpc::Status StoreService::Results(grpc::ServerContext*, ChunkStream* stream) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Digest> keys, ReadDigests(*stream));
    ASSIGN_OR_RETURN(const auto found, store_.Results(keys));
    return WriteChunks(*stream, ToWire(found).SerializeAsString());
  });
}

grpc::Status StoreService::RecordedResults(grpc::ServerContext*, ChunkStream* stream) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Digest> keys, ReadDigests(*stream));
    ASSIGN_OR_RETURN(const auto found, store_.RecordedResults(keys));
    return WriteChunks(*stream, ToWire(found).SerializeAsString());
  });
}

grpc::Status StoreService::ActionResults(grpc::ServerContext*, ChunkStream* stream) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const auto request,
                     ParseMessage<v1::ActionResultsRequest>(ReadChunks(*stream)));
    ASSIGN_OR_RETURN(const std::vector<Digest> actions, FromWire(request.actions()));
    ASSIGN_OR_RETURN(const auto found, store_.ActionResults(request.instance(), actions));
    return WriteChunks(*stream, ToWire(found).SerializeAsString());
  });
}

grpc::Status StoreService::AllocateSegment(grpc::ServerContext*, const v1::AllocateSegmentRequest*,
                                           v1::AllocateSegmentReply* reply) {
  const absl::StatusOr<uint64_t> segment = store_.AllocateSegment();
  if (segment.ok()) reply->set_segment(*segment);
  return ToGrpc(segment.status());
}

grpc::Status StoreService::Locate(grpc::ServerContext*, ChunkStream* stream) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Digest> digests, ReadDigests(*stream));
    ASSIGN_OR_RETURN(const auto found, store_.Locate(digests));
    v1::LocateReply reply;
    for (const std::optional<BlobLocation>& location : found) {
      v1::MaybeLocation& wire = *reply.add_digests();
      wire.set_is_present(location.has_value());
      wire.set_segment(location.value_or(BlobLocation{}).segment);
      wire.set_offset(location.value_or(BlobLocation{}).offset);
    }
    return WriteChunks(*stream, reply.SerializeAsString());
  });
}

grpc::Status StoreService::Commit(grpc::ServerContext*, ChunkReader* reader, v1::Done*) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const auto request, ParseMessage<v1::CommitRequest>(ReadChunks(*reader)));
    ASSIGN_OR_RETURN(const CommitBatch batch, FromWire(request));
    return store_.Commit(batch);
  });
}

grpc::Status StoreService::Publish(grpc::ServerContext*, const v1::Root* request,
                                   v1::PublishReply* reply) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const PublishedRoot root, FromWire(*request));
    ASSIGN_OR_RETURN(const uint64_t sequence, store_.Publish(root));
    reply->set_sequence(sequence);
    return absl::OkStatus();
  });
}

grpc::Status StoreService::Roots(grpc::ServerContext*, const v1::RootsRequest* request,
                                 ChunkWriter* writer) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<PublishedRoot> roots, store_.Roots(request->project_id()));
    v1::RootsReply reply;
    for (const PublishedRoot& root : roots) *reply.add_roots() = ToWire(root);
    return WriteChunks(*writer, reply.SerializeAsString());
  });
}

grpc::Status StoreService::Forget(grpc::ServerContext*, ChunkReader* reader, v1::Done*) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Digest> keys, ReadDigests(*reader));
    return store_.Forget(keys);
  });
}

grpc::Status StoreService::Revoke(grpc::ServerContext*, const v1::RevokeRequest* request,
                                  ChunkWriter* writer) {
  return Answer([&]() -> absl::Status {
    RevokeOptions options{.what = {.worker = request->worker()}, .is_dry = request->is_dry()};
    if (request->has_since_us()) options.what.since = absl::FromUnixMicros(request->since_us());
    ASSIGN_OR_RETURN(const RevokeReport report, store_.Revoke(options));
    return WriteChunks(*writer, ToWire(report).SerializeAsString());
  });
}

grpc::Status StoreService::Revocations(grpc::ServerContext*, const v1::RevocationsRequest*,
                                       ChunkWriter* writer) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<record::Revocation> all, store_.Revocations());
    v1::RevocationsReply reply;
    reply.set_revoked(record::EncodeRevocations(all));
    return WriteChunks(*writer, reply.SerializeAsString());
  });
}

grpc::Status StoreService::ChangeLeases(grpc::ServerContext*, ChunkReader* reader, v1::Done*) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const auto request, ParseMessage<v1::LeaseChanges>(ReadChunks(*reader)));
    ASSIGN_OR_RETURN(const LeaseChanges changes, FromWire(request));
    return store_.ChangeLeases(changes);
  });
}

grpc::Status StoreService::Leases(grpc::ServerContext*, const v1::LeasesRequest*,
                                  ChunkWriter* writer) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<RootLease> leases, store_.Leases());
    v1::LeasesReply reply;
    for (const RootLease& lease : leases) *reply.add_leases() = ToWire(lease);
    return WriteChunks(*writer, reply.SerializeAsString());
  });
}

grpc::Status StoreService::Stats(grpc::ServerContext*, const v1::StatsRequest* request,
                                 v1::StatsReply* reply) {
  const absl::StatusOr<StoreStats> stats =
      store_.Stats({.counts_unadopted = !request->leaves_out_unadopted()});
  if (!stats.ok()) return ToGrpc(stats.status());
  reply->set_blobs(stats->blobs);
  reply->set_blob_bytes(stats->blob_bytes);
  reply->set_results(stats->results);
  reply->set_observation_sets(stats->observation_sets);
  reply->set_segments(stats->segments);
  reply->set_segment_bytes(stats->segment_bytes);
  reply->set_files(stats->files);
  reply->set_file_bytes(stats->file_bytes);
  reply->set_roots(stats->roots);
  reply->set_quarantined(stats->quarantined);
  reply->set_unadopted_files(stats->unadopted_files);
  reply->set_unadopted_bytes(stats->unadopted_bytes);
  reply->set_temporary_files(stats->temporary_files);
  reply->set_temporary_bytes(stats->temporary_bytes);
  return grpc::Status::OK;
}

grpc::Status StoreService::Verify(grpc::ServerContext* context, const v1::VerifyRequest* request,
                                  ChunkWriter* writer) {
  const auto tell = [&](const VerifyProgress& progress) {
    v1::Chunk chunk;
    v1::VerifyProgress& wire = *chunk.mutable_verify_progress();
    wire.set_phase(progress.phase);
    wire.set_blobs(progress.blobs);
    wire.set_bytes(progress.bytes);
    wire.set_bytes_total(progress.bytes_total);
    wire.set_problems(progress.problems);
    return !context->IsCancelled() && writer->Write(chunk);
  };
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const VerifyReport report,
                     store_.Verify({.bytes_per_second = request->bytes_per_second(),
                                    .restart = request->restart(),
                                    .on_progress = tell}));
    v1::VerifyReply reply;
    reply.set_blobs(report.blobs);
    reply.set_bytes(report.bytes);
    for (const std::string& problem : report.problems) reply.add_problems(problem);
    if (report.resumed.has_value()) reply.set_resumed_s(absl::ToUnixSeconds(*report.resumed));
    return WriteChunks(*writer, reply.SerializeAsString());
  });
}

grpc::Status StoreService::Collect(grpc::ServerContext* context, const v1::CollectRequest* request,
                                   v1::CollectReply* reply) {
  GcOptions options{.bytes_max = request->bytes_max(), .is_dry = request->is_dry()};
  if (request->has_age_max_s()) options.age_max = absl::Seconds(request->age_max_s());
  // The caller may go away.
  Cancellation cancellation, answered;
  options.cancellation = &cancellation;
  std::thread watch([&] {
    for (; !answered.is_cancelled(); answered.Pause(absl::Milliseconds(200))) {
      if (context->IsCancelled()) return cancellation.Cancel();
    }
  });
  const absl::StatusOr<GcReport> report = store_.Collect(options);
  answered.Cancel();
  watch.join();
  if (!report.ok()) return ToGrpc(report.status());
  reply->set_blobs(report->blobs);
  reply->set_bytes(report->bytes);
  reply->set_results(report->results);
  reply->set_dropped_blobs(report->dropped_blobs);
  reply->set_dropped_bytes(report->dropped_bytes);
  reply->set_dropped_results(report->dropped_results);
  reply->set_freed_bytes(report->freed_bytes);
  reply->set_moved_bytes(report->moved_bytes);
  reply->set_left_files(report->left_files);
  reply->set_left_bytes(report->left_bytes);
  for (const std::string& session : report->held_by) reply->add_held_by(session);
  return grpc::Status::OK;
}

grpc::Status StoreService::Why(grpc::ServerContext*, const v1::WhyRequest* request,
                               ChunkWriter* writer) {
  return Answer([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const Digest digest, RawDigestOf(request->digest()));
    ASSIGN_OR_RETURN(const WhyReport report, store_.Why(digest, request->limit()));
    return WriteChunks(*writer, ToWire(report).SerializeAsString());
  });
}

}  // namespace galley::store
