// WorkerCalls: answers the calls of proto/galley/v1/worker.proto, which DirectorDoor passes on.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "galley/v1/worker.grpc.pb.h"

namespace galley::director {

class WorkerCalls {
 public:
  // Only Attach uses gRPC's callback API, because a stream lasts as long as its worker, and there
  // may be thousands. The other calls are short, and each holds a thread.
  using Stream = grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker>;
  virtual ~WorkerCalls() = default;
  // `over`: called after the call is over and its stream is deleted.
  virtual Stream* Attach(grpc::CallbackServerContext* context, std::function<void()> over) = 0;
  virtual grpc::Status Ask(const v1::PackageQuestion& question, v1::PackageAnswer* answer) = 0;
  virtual grpc::Status Fetch(grpc::ServerContext* context, const v1::FetchRequest& request,
                             grpc::ServerWriter<v1::FetchPiece>& writer) = 0;
  virtual grpc::Status FindMissing(grpc::ServerContext* context,
                                   const v1::FindMissingRequest& request,
                                   v1::FindMissingAnswer* answer) = 0;
  virtual grpc::Status Upload(grpc::ServerContext* context,
                              grpc::ServerReader<v1::UploadPiece>& reader,
                              v1::UploadAnswer* answer) = 0;
  // Issue: makes a certificate (PEM) for a request (PEM) and a name.
  using Issue = std::function<absl::StatusOr<std::string>(const std::string& request,
                                                          const std::string& name)>;
  virtual grpc::Status Enroll(grpc::ServerContext* context, const v1::EnrollRequest& request,
                              const Issue& issue, v1::EnrollAnswer* answer) = 0;
  virtual grpc::Status Renew(grpc::ServerContext* context, const v1::EnrollRequest& request,
                             const Issue& issue, v1::EnrollAnswer* answer) = 0;
};

}  // namespace galley::director
