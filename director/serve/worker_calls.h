// WorkerCalls: the calls of proto/galley/v1/worker.proto, as DirectorDoor passes them on.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "galley/v1/worker.grpc.pb.h"

namespace galley::director {

class WorkerCalls {
 public:
  using Stream = grpc::ServerReaderWriter<v1::ToWorker, v1::FromWorker>;
  virtual ~WorkerCalls() = default;
  virtual grpc::Status Attach(grpc::ServerContext* context, Stream* stream) = 0;
  virtual grpc::Status Ask(const v1::PackageQuestion& question, v1::PackageAnswer* answer) = 0;
  virtual grpc::Status Fetch(grpc::ServerContext* context, const v1::FetchRequest& request,
                             grpc::ServerWriter<v1::FetchPiece>& writer) = 0;
  virtual grpc::Status FindMissing(grpc::ServerContext* context,
                                   const v1::FindMissingRequest& request,
                                   v1::FindMissingAnswer* answer) = 0;
  virtual grpc::Status Upload(grpc::ServerContext* context,
                              grpc::ServerReader<v1::UploadPiece>& reader,
                              v1::UploadAnswer* answer) = 0;
  // `issue`: makes a certificate (PEM) for a request (PEM) and a name.
  virtual grpc::Status Enroll(grpc::ServerContext* context, const v1::EnrollRequest& request,
                              const std::function<absl::StatusOr<std::string>(
                                  const std::string& request, const std::string& name)>& issue,
                              v1::EnrollAnswer* answer) = 0;
};

}  // namespace galley::director
