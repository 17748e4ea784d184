#include "director/metrics/metrics_door.h"

#include <dlfcn.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/listen/listen_address.h"
#include "common/listen/listening_socket.h"
#include "fmt/format.h"

namespace galley::metrics {
namespace {

constexpr std::string_view kDefaultHost = "127.0.0.1";

struct HostPort {
  std::string host;  // for the web server: no name
  std::string port;
};

absl::StatusOr<HostPort> Parse(std::string_view address) {
  const auto host = listen::HostOf(address);
  const size_t colon = address.rfind(':');
  const std::string_view port = colon == address.npos ? "" : address.substr(colon + 1);
  uint32_t number = 0;
  const bool is_port =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == port.npos &&
      absl::SimpleAtoi(absl::string_view(port.data(), port.size()), &number) && number <= 65'535;
  if (!host.has_value() || listen::IsUnixAddress(address) || !is_port) {
    return InvalidArgumentError(
        "metrics address \"{}\": expected HOST:PORT, as in \"127.0.0.1:9464\"", address);
  }
  if (!listen::IsLocalAddress(address)) {
    return InvalidArgumentError(
        "metrics address \"{}\": others than this machine may reach it, and metrics are served "
        "without TLS: expected a loopback address, as in \"127.0.0.1:9464\"; docs/metrics.md says "
        "how a Prometheus on another machine reads them",
        address);
  }
  if (*host == "localhost") return HostPort{std::string(kDefaultHost), std::string(port)};
  return HostPort{host->find(':') == host->npos ? std::string(*host) : fmt::format("[{}]", *host),
                  std::string(port)};
}

absl::StatusOr<OpenExporter> Load(const std::string& library) {
  // Never unloaded, because its threads may still be about to end.
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return UnavailableError(
        "metrics need {}, which cannot be loaded: {}; it needs the Debian package "
        "libprometheus-cpp-pull1.0",
        library, ::dlerror());
  }
  void* const found = ::dlsym(handle, kOpenExporter);
  if (found == nullptr) return UnavailableError("{} belongs to another build of galley", library);
  return reinterpret_cast<OpenExporter>(found);
}

// Says why the web server cannot listen, which the web server does not say.
absl::Status WhyNot(const std::string& address, const std::string& said) {
  const absl::Status why = listen::ListenOnTcp(address).status();
  return UnavailableError(
      "metrics: {}; give another address with --metrics or [director] metrics, or end the program "
      "that listens there",
      why.ok() ? fmt::format("{} cannot be listened on: {}", address, said)
               : std::string(MessageOf(why)));
}

}  // namespace

absl::Status CheckAddress(std::string_view address) {
  return address.empty() ? absl::OkStatus() : Parse(address).status();
}

MetricsDoor::MetricsDoor(std::unique_ptr<Exporter> exporter, std::string address, std::string file)
    : exporter_(std::move(exporter)), address_(std::move(address)), file_(std::move(file)) {}

MetricsDoor::~MetricsDoor() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

absl::StatusOr<std::unique_ptr<MetricsDoor>> MetricsDoor::Open(Options options) {
  ASSIGN_OR_RETURN(const HostPort at, Parse(options.address));
  const std::string library = options.library.empty()
                                  ? JoinPath(ProgramDirectory(), "../lib/galley/") + kExporterFile
                                  : options.library;
  ASSIGN_OR_RETURN(const OpenExporter open, Load(library));
  const ExporterAsk ask{.address = fmt::format("{}:{}", at.host, at.port),
                        .read = std::move(options.read)};
  std::string error;
  std::unique_ptr<Exporter> exporter(open(kExporterLayout, &ask, &error));
  if (exporter == nullptr) return WhyNot(ask.address, error);
  std::string address = fmt::format("{}:{}", at.host, exporter->port());
  if (!options.address_file.empty())
    RETURN_IF_ERROR(WriteFileAtomic(options.address_file, address + "\n"));
  return std::unique_ptr<MetricsDoor>(
      new MetricsDoor(std::move(exporter), std::move(address), std::move(options.address_file)));
}

}  // namespace galley::metrics
