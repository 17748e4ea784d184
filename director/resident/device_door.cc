#include "director/resident/device_door.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/descriptor_limit.h"
#include "common/base/digest.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/listen/listen_address.h"
#include "director/host/outcome_status.h"
#include "director/launch/worker_token.h"
#include "director/serve/http/http_problem.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kUrlBytesMax = 256;
constexpr absl::Duration kOpeningRetry = absl::Seconds(1);

std::string StateFile(const project::Project& project, const char* name) {
  return JoinPath(project.state_directory(), name);
}

absl::Status CheckPlatforms(const project::Project& project) {
  for (const project::Platform& platform : project.platforms) {
    if (platform.name != "sessions" && platform.name != "page") continue;
    return InvalidArgumentError(
        "[director] http, or --http: the platform `{}` has the name of something else under /v1 "
        "(docs/http.md): expected another name",
        platform.name);
  }
  return absl::OkStatus();
}

// Other names of this machine, by which clients of other machines may call it.
std::vector<std::string> OwnHosts(const project::Project& project) {
  std::vector<std::string> hosts;
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0')
    hosts.emplace_back(name.data());
  const std::optional<std::string_view> advertised = listen::HostOf(project.farm.advertise);
  if (advertised && advertised->find(':') == std::string_view::npos && !advertised->empty())
    hosts.emplace_back(*advertised);
  return hosts;
}

absl::StatusOr<HttpDoor::Options> OptionsOf(const project::Project& project) {
  HttpDoor::Options options{.address = project.director.http};
  options.limits.connections_max = DeviceConnectionsMax(CurrentDescriptorLimit().soft);
  if (listen::IsLocalAddress(options.address)) return options;
  options.tls = {.certificate = project.farm.tls_cert, .key = project.farm.tls_key};
  options.hosts = OwnHosts(project);
  ASSIGN_OR_RETURN(const std::string token, KeptToken(StateFile(project, kHttpTokenFile)));
  options.token_sha256 = std::string(Digest::Of(token).hash());
  return options;
}

}  // namespace

absl::Status CheckDeviceDoor(const project::Project& project) {
  const std::string& address = project.director.http;
  if (address.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckPlatforms(project));
  if (listen::IsUnixAddress(address) || !listen::HostOf(address)) {
    return InvalidArgumentError(
        "[director] http = \"{}\": expected HOST:PORT, as in \"127.0.0.1:8080\"", address);
  }
  const bool has_tls = !project.farm.tls_cert.empty() && !project.farm.tls_key.empty();
  if (has_tls || listen::IsLocalAddress(address)) return absl::OkStatus();
  return InvalidArgumentError(
      "[director] http = \"{}\": others than this machine may reach it, which needs TLS and a "
      "token: expected [farm] tls_cert and tls_key, or a loopback address, as in "
      "\"127.0.0.1:8080\"",
      address);
}

size_t DeviceConnectionsMax(uint64_t descriptors) {
  return std::clamp<uint64_t>(descriptors / 2, 1, 16'384);
}

std::string DeviceUrl(const project::Project& project) {
  const auto url = ReadFile(StateFile(project, kHttpUrlFile), kUrlBytesMax);
  return url.ok() ? url->substr(0, url->find('\n')) : "";
}

DeviceDoor::DeviceDoor(std::string url_file, store::Store& store)
    : url_file_(std::move(url_file)),
      blobs_(std::make_shared<VerifiedBlobs>(store, VerifiedBlobs::Options{})),
      gate_(blobs_) {}

absl::StatusOr<std::unique_ptr<DeviceDoor>> DeviceDoor::Open(const project::Project& project,
                                                             store::Store& store) {
  const std::string url_file = StateFile(project, kHttpUrlFile);
  ::unlink(url_file.c_str());  // left by a director that was killed
  if (project.director.http.empty()) return nullptr;
  if (const absl::Status checked = CheckDeviceDoor(project); !checked.ok())
    return WrongUse(checked);
  absl::StatusOr<HttpDoor::Options> options = OptionsOf(project);
  if (!options.ok()) return WrongUse(options.status());
  const bool has_tls = !options->tls.certificate.empty();
  auto door = std::unique_ptr<DeviceDoor>(new DeviceDoor(url_file, store));
  auto opened = HttpDoor::Open(*std::move(options), door->gate_, door->clock_);
  if (absl::IsInvalidArgument(opened.status())) return WrongUse(opened.status());
  if (!opened.ok()) return Infrastructure(opened.status());
  door->door_ = *std::move(opened);
  door->url_ = fmt::format("http{}://{}", has_tls ? "s" : "", door->door_->address());
  LogInfo("devices url={}", door->url_);
  RETURN_IF_ERROR(WriteFileAtomic(url_file, door->url_ + "\n"));
  return door;
}

void DeviceDoor::Serve(DeviceCalls& calls) { gate_.Serve(calls); }

void DeviceDoor::Look() {
  if (is_closed_) return;
  door_->LookAtCertificates();
  blobs_->LetGoOfDropped();
}

void DeviceDoor::Close() {
  if (door_ == nullptr || is_closed_) return;
  is_closed_ = true;
  ::unlink(url_file_.c_str());
  door_->Stop();
  blobs_->Stop();
}

void DeviceDoor::Gate::Serve(DeviceCalls& calls) {
  face_ = std::make_unique<DeviceFace>(calls, blobs_);
  ready_ = face_.get();
}

void DeviceDoor::Gate::Answer(HttpRequest request, HttpResponder responder) {
  if (DeviceFace* const face = ready_.load())
    return face->Answer(std::move(request), std::move(responder));
  responder.Answer(MakeProblem(
      {.status = 503, .text = "The director is starting.", .retry_after = kOpeningRetry}));
}

}  // namespace galley::director
