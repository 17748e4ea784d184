#include "director/metrics/exporter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "director/metrics/families.h"
#include "prometheus/collectable.h"
#include "prometheus/exposer.h"

namespace galley::metrics {
namespace {

class Collector final : public prometheus::Collectable {
 public:
  explicit Collector(std::function<Figures()> read) : read_(std::move(read)) {}
  std::vector<prometheus::MetricFamily> Collect() const override { return FamiliesOf(read_()); }

 private:
  const std::function<Figures()> read_;
};

// The web server's options: a client that connects and says nothing holds one of few threads only
// for a short time, and no file is served.
std::vector<std::string> WebOptions(const std::string& address) {
  return {"listening_ports",    address, "num_threads",           "4",
          "request_timeout_ms", "5000",  "keep_alive_timeout_ms", "1000"};
}

// Connects, and closes the connection. `address`: our address, with its port.
void Knock(const std::string& address) {
  const size_t colon = address.rfind(':');
  const auto port = htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = port;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = port;
  v6.sin6_addr = in6addr_loopback;
  const bool is_v4 = ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &v4.sin_addr) == 1;
  const int socket =
      ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return;
  if (is_v4) {
    (void)::connect(socket, reinterpret_cast<const sockaddr*>(&v4), sizeof(v4));
  } else {
    (void)::connect(socket, reinterpret_cast<const sockaddr*>(&v6), sizeof(v6));
  }
  ::close(socket);
}

class WebExporter final : public Exporter {
 public:
  explicit WebExporter(const ExporterAsk& ask)
      : collector_(std::make_shared<Collector>(ask.read)),
        exposer_(std::make_unique<prometheus::Exposer>(WebOptions(ask.address))),
        address_(ask.address.substr(0, ask.address.rfind(':') + 1) + std::to_string(port())) {
    exposer_->RegisterCollectable(collector_);
  }
  // The web server checks whether it is to end when somebody connects, otherwise only every two
  // seconds.
  ~WebExporter() override {
    std::atomic<bool> has_ended = false;
    std::thread knocks([this, &has_ended] {
      while (!has_ended) {
        Knock(address_);
        std::this_thread::sleep_for(kKnockInterval);
      }
    });
    exposer_.reset();
    has_ended = true;
    knocks.join();
  }
  int port() const override { return exposer_->GetListeningPorts().at(0); }

 private:
  static constexpr std::chrono::milliseconds kKnockInterval{5};

  const std::shared_ptr<Collector> collector_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  const std::string address_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) Exporter* galley_open_exporter(
    uint64_t layout, const ExporterAsk* ask, std::string* error) {
  if (layout != kExporterLayout) {
    *error = "it belongs to another build of galley";
    return nullptr;
  }
  try {
    return new WebExporter(*ask);  // the caller owns it, in a unique_ptr
  } catch (const std::exception& thrown) {
    *error = thrown.what();
    return nullptr;
  }
}

}  // namespace galley::metrics
