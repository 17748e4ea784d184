// Checks: what must hold (the reference's I1 to I12 as far as the simulation holds what they speak
// of). The first that is broken is kept; it begins with "safety:" or "liveness:".
//
// Also the trace: a hash over all that was decided, so that two runs of one seed can be compared;
// with `is_told` it is also printed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "common/base/digest.h"

namespace galley::simulation {

class Checks {
 public:
  explicit Checks(bool is_told) : is_told_(is_told) {}

  void Break(const std::string& what) {
    if (broken_.empty()) broken_ = what;
  }
  const std::string& broken() const { return broken_; }

  void set_now(absl::Duration now) { now_ = now; }
  void Trace(std::string_view line);
  template <typename... T>
  void Trace(std::string_view kind, T... numbers) {
    std::string line(kind);
    ((line += " " + std::to_string(static_cast<uint64_t>(numbers))), ...);
    Trace(std::string_view(line));
  }
  uint64_t trace() const { return trace_; }

  // Promised to be durable.
  std::set<Digest> promised;
  // Bits of these blobs turned.
  std::set<Digest> rotten;

 private:
  const bool is_told_;
  absl::Duration now_;
  std::string broken_;
  uint64_t trace_ = 0xcbf29ce484222325;
};

}  // namespace galley::simulation
