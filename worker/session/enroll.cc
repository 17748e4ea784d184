#include "worker/session/enroll.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>

#include "common/base/status_macros.h"
#include "common/wire/certificate_authority.h"
#include "common/wire/channel.h"
#include "fmt/format.h"
#include "galley/v1/worker.grpc.pb.h"

namespace galley::worker {

absl::StatusOr<wire::ClientTls> Enroll(const EnrollOptions& options) {
  ASSIGN_OR_RETURN(wire::KeyAndRequest made, wire::NewKeyAndRequest());
  const auto stub = v1::Director::NewStub(
      wire::OpenChannel(options.director, {.ca = options.authority}, /*is_far=*/true));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);  // (a director that is about to listen is waited for)
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoMilliseconds(options.wait_max));
  v1::EnrollRequest request;
  request.mutable_caller()->set_worker_id(options.worker_id);
  request.mutable_caller()->set_token(options.token);
  request.set_certificate_request(made.request);
  v1::EnrollAnswer answer;
  const absl::Status asked = wire::FromGrpc(stub->Enroll(&context, request, &answer));
  if (absl::IsDeadlineExceeded(asked)) {
    return absl::UnavailableError(fmt::format(
        "no director answers at {} within {} s: can this machine reach that address, and is its "
        "certificate for that name, and of the authority that [farm] tls_ca names?",
        options.director, absl::ToInt64Seconds(options.wait_max)));
  }
  if (!asked.ok())
    return Annotate(asked,
                    fmt::format("the director at {} gives no certificate", options.director));
  return wire::ClientTls{
      .ca = options.authority, .certificate = answer.certificate(), .key = std::move(made.key)};
}

}  // namespace galley::worker
