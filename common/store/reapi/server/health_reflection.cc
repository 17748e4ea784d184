#include "common/store/reapi/server/health_reflection.h"

#include <set>
#include <string>
#include <vector>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "google/bytestream/bytestream.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"

namespace galley::store {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

// The files whose services are served.
std::vector<const google::protobuf::FileDescriptor*> ServedFiles() {
  return {build::bazel::remote::execution::v2::Digest::descriptor()->file(),
          google::bytestream::ReadRequest::descriptor()->file(),
          HealthCheckRequest::descriptor()->file(), ServerReflectionRequest::descriptor()->file()};
}

std::set<std::string> Services() {
  std::set<std::string> names;
  for (const google::protobuf::FileDescriptor* file : ServedFiles())
    for (int i = 0; i < file->service_count(); ++i) names.insert(file->service(i)->full_name());
  return names;
}

template <typename Request>
absl::StatusOr<Request> Parse(std::string_view message) {
  Request request;
  if (!request.ParseFromArray(message.data(), static_cast<int>(message.size())))
    return absl::InvalidArgumentError("no " + request.GetTypeName());
  return request;
}

bool IsServed(const std::string& service) {
  return service.empty() || Services().contains(service);
}

std::string Health(HealthCheckResponse::ServingStatus status) {
  HealthCheckResponse response;
  response.set_status(status);
  return response.SerializeAsString();
}

class HealthWatch final : public CallHandler {
 public:
  Step OnMessage(std::string_view message) override {
    const auto request = Parse<HealthCheckRequest>(message);
    if (!request.ok()) return Step{.status = request.status()};
    return Step{
        .reply = Health(IsServed(request->service()) ? HealthCheckResponse::SERVING
                                                     : HealthCheckResponse::SERVICE_UNKNOWN),
        .next = Step::Next::kWait};
  }
};

// A file and all that it imports, each once.
void AppendFiles(const google::protobuf::FileDescriptor& file,
                 std::set<const google::protobuf::FileDescriptor*>& seen,
                 grpc::reflection::v1alpha::FileDescriptorResponse& response) {
  if (!seen.insert(&file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response.add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i)
    AppendFiles(*file.dependency(i), seen, response);
}

void AnswerFile(const google::protobuf::FileDescriptor* file, ServerReflectionResponse& response) {
  if (file == nullptr) {
    response.mutable_error_response()->set_error_code(
        static_cast<int>(absl::StatusCode::kNotFound));
    response.mutable_error_response()->set_error_message("not known");
    return;
  }
  std::set<const google::protobuf::FileDescriptor*> seen;
  AppendFiles(*file, seen, *response.mutable_file_descriptor_response());
}

void Answer(const ServerReflectionRequest& request, ServerReflectionResponse& response) {
  const google::protobuf::DescriptorPool& pool =
      *google::protobuf::DescriptorPool::generated_pool();
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices:
      for (const std::string& name : Services())
        response.mutable_list_services_response()->add_service()->set_name(name);
      return;
    case ServerReflectionRequest::kFileByFilename:
      return AnswerFile(pool.FindFileByName(request.file_by_filename()), response);
    case ServerReflectionRequest::kFileContainingSymbol:
      return AnswerFile(pool.FindFileContainingSymbol(request.file_containing_symbol()), response);
    default:  // none of these files has extensions
      return AnswerFile(nullptr, response);
  }
}

class Reflection final : public CallHandler {
 public:
  Step OnMessage(std::string_view message) override {
    const auto request = Parse<ServerReflectionRequest>(message);
    if (!request.ok()) return Step{.status = request.status()};
    ServerReflectionResponse response;
    response.set_valid_host(request->host());
    *response.mutable_original_request() = *request;
    Answer(*request, response);
    return Step{.reply = response.SerializeAsString(), .next = Step::Next::kRead};
  }
  Step OnHalfClose() override { return Step{}; }
};

}  // namespace

std::unique_ptr<CallHandler> NewHealthCheck() {
  return std::make_unique<UnaryHandler>(
      [](std::string_view message) -> absl::StatusOr<UnaryHandler::Answer> {
        ASSIGN_OR_RETURN(const auto request, Parse<HealthCheckRequest>(message));
        if (!IsServed(request.service()))
          return absl::NotFoundError("the service is not known here");
        return UnaryHandler::Answer{.reply = Health(HealthCheckResponse::SERVING)};
      });
}
std::unique_ptr<CallHandler> NewHealthWatch() { return std::make_unique<HealthWatch>(); }
std::unique_ptr<CallHandler> NewReflection() { return std::make_unique<Reflection>(); }

}  // namespace galley::store
