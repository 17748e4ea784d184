#include "director/serve/package_query_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>
#include <vector>

#include "common/wire/channel.h"
#include "director/serve/socket_probe.h"
#include "galley/v1/worker.grpc.pb.h"

namespace galley::director {
namespace {

// Longer than the director takes to say that it is too busy.
constexpr std::chrono::seconds kAskWait{7};

class RemoteCook final : public PackageQueryClient {
 public:
  explicit RemoteCook(const std::string& address, const wire::ClientTls& tls = {})
      : stub_(v1::Director::NewStub(wire::OpenChannel(address, tls))) {}

  absl::StatusOr<v1::PackageAnswer> Ask(const std::string& package, size_t limit) override {
    std::vector<v1::PackageAnswer::Reason> reasons;  // of all pages
    v1::PackageQuestion question;
    question.set_package(package);
    while (true) {
      question.set_limit(static_cast<uint32_t>(limit - reasons.size()));
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kAskWait);
      v1::PackageAnswer page;
      const grpc::Status status = stub_->Ask(&context, question, &page);
      if (!status.ok()) return wire::FromGrpc(status);
      reasons.insert(reasons.end(), page.reasons().begin(), page.reasons().end());
      if (page.next_cook() == 0 || reasons.size() >= limit) {
        page.mutable_reasons()->Assign(reasons.begin(), reasons.end());
        return page;
      }
      question.set_cook(page.next_cook());
      question.set_reason(page.next_reason());
    }
  }

 private:
  const std::unique_ptr<v1::Director::Stub> stub_;
};

}  // namespace

std::unique_ptr<PackageQueryClient> PackageQueryClient::Find(const std::string& socket_path) {
  const SocketProbe probe = ProbeSocket(socket_path);
  if (probe.listening != Listening::kSomebody) return nullptr;
  return std::make_unique<RemoteCook>("unix:" + probe.path);
}

std::unique_ptr<PackageQueryClient> PackageQueryClient::At(const std::string& address,
                                                           const wire::ClientTls& tls) {
  return std::make_unique<RemoteCook>(address, tls);
}

}  // namespace galley::director
