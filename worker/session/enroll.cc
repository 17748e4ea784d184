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
namespace {

using Exchange = grpc::Status (v1::Director::Stub::*)(grpc::ClientContext*,
                                                      const v1::EnrollRequest&, v1::EnrollAnswer*);

// `tls`: shown with the request. DEADLINE_EXCEEDED: nobody answers.
absl::StatusOr<wire::ClientTls> Ask(Exchange exchange, const EnrollOptions& options,
                                    const wire::ClientTls& tls) {
  ASSIGN_OR_RETURN(wire::KeyAndRequest made, wire::NewKeyAndRequest());
  const auto stub =
      v1::Director::NewStub(wire::OpenChannel(options.director, tls, /*is_far=*/true));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);  // (a director that is about to listen is waited for)
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoMilliseconds(options.wait_max));
  v1::EnrollRequest request;
  request.mutable_caller()->set_worker_id(options.worker_id);
  request.mutable_caller()->set_token(options.token);
  request.set_certificate_request(made.request);
  v1::EnrollAnswer answer;
  RETURN_IF_ERROR(wire::FromGrpc((stub.get()->*exchange)(&context, request, &answer)));
  return wire::ClientTls{
      .ca = options.authority, .certificate = answer.certificate(), .key = std::move(made.key)};
}

}  // namespace

absl::StatusOr<wire::ClientTls> Enroll(const EnrollOptions& options) {
  absl::StatusOr<wire::ClientTls> given =
      Ask(&v1::Director::Stub::Enroll, options, {.ca = options.authority});
  if (absl::IsDeadlineExceeded(given.status())) {
    return absl::UnavailableError(fmt::format(
        "no director answers at {} within {} s: can this machine reach that address, and is its "
        "certificate for that name, and of the authority that [farm] tls_ca names?",
        options.director, absl::ToInt64Seconds(options.wait_max)));
  }
  if (!given.ok())
    return Annotate(given.status(),
                    fmt::format("the director at {} gives no certificate", options.director));
  return given;
}

absl::StatusOr<wire::ClientTls> Renew(const EnrollOptions& options,
                                      const wire::ClientTls& present) {
  absl::StatusOr<wire::ClientTls> given = Ask(&v1::Director::Stub::Renew, options, present);
  if (absl::IsDeadlineExceeded(given.status()))
    return absl::UnavailableError(fmt::format("no director answers at {} within {} s",
                                              options.director,
                                              absl::ToInt64Seconds(options.wait_max)));
  return given;
}

}  // namespace galley::worker
