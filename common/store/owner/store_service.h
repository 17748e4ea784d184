// StoreService: the gRPC service galley.v1.Store over any Store. Includes gRPC headers: only for
// .cc files of this folder.
#pragma once

#include "common/store/interface/store_admin.h"
#include "galley/v1/store.grpc.pb.h"
#include "grpcpp/grpcpp.h"

namespace galley::store {

class StoreService final : public v1::Store::Service {
 public:
  explicit StoreService(StoreDirectory& store) : store_(store) {}

  using ChunkStream = grpc::ServerReaderWriter<v1::Chunk, v1::Chunk>;
  using ChunkReader = grpc::ServerReader<v1::Chunk>;
  using ChunkWriter = grpc::ServerWriter<v1::Chunk>;

  grpc::Status Info(grpc::ServerContext*, const v1::InfoRequest*, v1::InfoReply* reply) override;
  grpc::Status FindMissing(grpc::ServerContext*, ChunkStream* stream) override;
  grpc::Status FindLost(grpc::ServerContext*, ChunkStream* stream) override;
  grpc::Status Get(grpc::ServerContext*, const v1::GetRequest* request,
                   ChunkWriter* writer) override;
  grpc::Status Put(grpc::ServerContext*, grpc::ServerReader<v1::PutChunk>* reader,
                   v1::Done*) override;
  grpc::Status ObservationSets(grpc::ServerContext*, ChunkStream* stream) override;
  grpc::Status Results(grpc::ServerContext*, ChunkStream* stream) override;
  grpc::Status RecordedResults(grpc::ServerContext*, ChunkStream* stream) override;
  grpc::Status ActionResults(grpc::ServerContext*, ChunkStream* stream) override;
  grpc::Status AllocateSegment(grpc::ServerContext*, const v1::AllocateSegmentRequest*,
                               v1::AllocateSegmentReply* reply) override;
  grpc::Status Locate(grpc::ServerContext*, ChunkStream* stream) override;
  grpc::Status Commit(grpc::ServerContext*, ChunkReader* reader, v1::Done*) override;
  grpc::Status Publish(grpc::ServerContext*, const v1::Root* request,
                       v1::PublishReply* reply) override;
  grpc::Status Roots(grpc::ServerContext*, const v1::RootsRequest* request,
                     ChunkWriter* writer) override;
  grpc::Status Forget(grpc::ServerContext*, ChunkReader* reader, v1::Done*) override;
  grpc::Status Revoke(grpc::ServerContext*, const v1::RevokeRequest* request,
                      ChunkWriter* writer) override;
  grpc::Status Revocations(grpc::ServerContext*, const v1::RevocationsRequest*,
                           ChunkWriter* writer) override;
  grpc::Status ChangeLeases(grpc::ServerContext*, ChunkReader* reader, v1::Done*) override;
  grpc::Status Leases(grpc::ServerContext*, const v1::LeasesRequest*, ChunkWriter* writer) override;
  grpc::Status Stats(grpc::ServerContext*, const v1::StatsRequest*, v1::StatsReply* reply) override;
  grpc::Status Verify(grpc::ServerContext*, const v1::VerifyRequest*, ChunkWriter* writer) override;
  grpc::Status Collect(grpc::ServerContext*, const v1::CollectRequest* request,
                       v1::CollectReply* reply) override;
  grpc::Status Why(grpc::ServerContext*, const v1::WhyRequest* request,
                   ChunkWriter* writer) override;

 private:
  StoreDirectory& store_;
};

}  // namespace galley::store
