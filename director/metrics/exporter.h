// Exporter: answers Prometheus over HTTP with a director's figures.
//
// The exporter lies in a shared object of its own (galley-metrics.so), which MetricsDoor loads when
// metrics are asked for: the library for Prometheus and its web server are shared objects of
// Debian, and no command is to start slower because of them.
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
  // Called for each answer, on threads of the web server, one at a time or several.
  std::function<Figures()> read;
};

// The program and the shared object were built together if they agree on this number.
inline constexpr uint64_t kExporterLayout = (sizeof(Figures) << 8) + 1;

// OpenExporter: the function that the shared object offers. Null: `error` says why.
using OpenExporter = Exporter* (*)(uint64_t layout, const ExporterAsk* ask, std::string* error);
inline constexpr const char* kOpenExporter = "galley_open_exporter";
inline constexpr const char* kExporterFile = "galley-metrics.so";

}  // namespace galley::metrics
