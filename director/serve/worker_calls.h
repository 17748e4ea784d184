// WorkerCalls: the calls of proto/galley/v1/worker.proto, as DirectorDoor passes them on.
#pragma once

#include <grpcpp/grpcpp.h>

#include "galley/v1/worker.grpc.pb.h"

namespace galley::director {

class WorkerCalls {
 public:
  using Stream = grpc::ServerReaderWriter<v1::ToWorker, v1::FromWorker>;
  virtual ~WorkerCalls() = default;
  virtual grpc::Status Attach(grpc::ServerContext* context, Stream* stream) = 0;
  virtual grpc::Status Ask(const v1::PackageQuestion& question, v1::PackageAnswer* answer) = 0;
};

}  // namespace galley::director
