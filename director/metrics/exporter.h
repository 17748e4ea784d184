// Exporter: answers Prometheus over HTTP with a director's figures.
//
// The exporter is in a shared object, galley-metrics.so, which MetricsDoor loads when metrics are
// configured: Debian's prometheus-cpp and its web server are shared libraries, which would slow the
// start of every command.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "director/metrics/figures.h"

namespace galley::metrics {

class Exporter {
 public:
  virtual ~Exporter() = default;  // ends all answers
  virtual int port() const = 0;
};

struct ExporterAsk {
  std::string address;  // "127.0.0.1:9464", "[::1]:0"
  // Called for each answer, on threads of the web server, maybe at the same time.
  std::function<Figures()> read;
};

// The program and the shared object were built together if they agree on this number.
inline constexpr uint64_t kExporterLayout = (sizeof(Figures) << 8) + 1;

// OpenExporter: the function that the shared object exports. Returns null on failure; then `error`
// says why.
using OpenExporter = Exporter* (*)(uint64_t layout, const ExporterAsk* ask, std::string* error);
inline constexpr const char* kOpenExporter = "galley_open_exporter";
inline constexpr const char* kExporterFile = "galley-metrics.so";

}  // namespace galley::metrics
