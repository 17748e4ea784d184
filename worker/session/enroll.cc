#include "worker/session/enroll.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/wire/certificate_authority.h"
#include "common/wire/channel.h"
#include "common/wire/tls_probe.h"
#include "fmt/format.h"
#include "galley/v1/worker.grpc.pb.h"
#include "worker/session/reconnect_pacing.h"

namespace galley::worker {
namespace {

using Exchange = grpc::Status (v1::Director::Stub::*)(grpc::ClientContext*,
                                                      const v1::EnrollRequest&, v1::EnrollAnswer*);

constexpr absl::Duration kTryMin = absl::Seconds(1);

// `tls`: shown with the request. DEADLINE_EXCEEDED: nobody answers.
absl::StatusOr<wire::ClientTls> Ask(Exchange exchange, const EnrollOptions& options,
                                    const wire::ClientTls& tls, wire::KeyAndRequest made) {
  const auto stub =
      v1::Director::NewStub(wire::OpenChannel(options.director, tls, /*is_far=*/true));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);  // waits for a director that is about to listen
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

// Finds out why there is no handshake, which gRPC would not say.
absl::Status ProbeDirector(const EnrollOptions& options, absl::Duration wait_max) {
  if (options.authority.empty()) return absl::OkStatus();
  return wire::ProbeTls(options.director, {.ca = options.authority}, wait_max);
}

}  // namespace

absl::StatusOr<wire::ClientTls> Enroll(const EnrollOptions& options) {
  // Every try repeats the same request, so that the director knows that no other process has the
  // token.
  ASSIGN_OR_RETURN(const wire::KeyAndRequest made, wire::NewKeyAndRequest());
  SystemClock clock;
  const absl::Time until = clock.Monotonic() + options.wait_max;
  ReconnectPacing pacing(std::hash<std::string>()(made.request));
  absl::StatusOr<wire::ClientTls> given = absl::DeadlineExceededError("");
  std::string unreached;
  for (absl::Duration left = options.wait_max; left > absl::ZeroDuration();) {
    const absl::Status probed = ProbeDirector(options, std::min(left, 2 * kTryMin));
    if (absl::IsFailedPrecondition(probed))
      return Annotate(probed, fmt::format("the director at {} is not believed", options.director));
    if (!probed.ok()) {
      unreached = MessageOf(probed);
      absl::SleepFor(std::min(left, pacing.Next(/*was_answered=*/false)));
      left = until - clock.Monotonic();
      continue;
    }
    // A try uses only a part of the time, since its answer may be lost.
    EnrollOptions one = options;
    one.wait_max = std::min(left, std::max(left / 2, kTryMin));
    given = Ask(&v1::Director::Stub::Enroll, one, {.ca = options.authority}, made);
    left = until - clock.Monotonic();
    if (absl::IsDeadlineExceeded(given.status())) continue;
    if (!absl::IsUnavailable(given.status())) break;
    absl::SleepFor(std::min(left, pacing.Next(/*was_answered=*/false)));
    left = until - clock.Monotonic();
  }
  if (absl::IsDeadlineExceeded(given.status())) {
    return UnavailableError(
        "no director answers at {} within {} s{}{}: can this machine reach that address ([farm] "
        "advertise)?",
        options.director, absl::ToInt64Seconds(options.wait_max), unreached.empty() ? "" : ": ",
        unreached);
  }
  if (!given.ok())
    return Annotate(given.status(),
                    fmt::format("the director at {} gives no certificate", options.director));
  return given;
}

absl::StatusOr<wire::ClientTls> Renew(const EnrollOptions& options,
                                      const wire::ClientTls& present) {
  ASSIGN_OR_RETURN(wire::KeyAndRequest made, wire::NewKeyAndRequest());
  absl::StatusOr<wire::ClientTls> given =
      Ask(&v1::Director::Stub::Renew, options, present, std::move(made));
  if (absl::IsDeadlineExceeded(given.status()))
    return UnavailableError("no director answers at {} within {} s", options.director,
                            absl::ToInt64Seconds(options.wait_max));
  return given;
}

}  // namespace galley::worker
