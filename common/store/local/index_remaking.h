// IndexRemaking: reports to people that an index is made anew: progress from time to time, and at
// the end the damage, the place of the damaged index, and the time that the making took.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/store/local/layout.h"

namespace galley::store {

class IndexRemaking {
 public:
  IndexRemaking(std::string store_directory, std::function<absl::Time()> boot_time)
      : store_directory_(std::move(store_directory)), boot_time_(std::move(boot_time)) {}

  // The owner's segments among `segments` will be read.
  void Begin(const std::vector<SegmentListing>& segments);
  bool has_begun() const { return begun_ != absl::InfiniteFuture(); }
  // Notes the path to which the damaged index was moved.
  void set_aside(std::string path) { aside_ = std::move(path); }
  // Notes that `bytes` of a segment were read.
  void NoteRead(uint64_t bytes);
  // Reports that the index is made; `why`: the damage.
  void Tell(const absl::Status& why) const;

 private:
  const std::string store_directory_;
  const std::function<absl::Time()> boot_time_;
  std::string aside_;  // empty: there was no index
  absl::Time begun_ = absl::InfiniteFuture(), told_;
  uint64_t segment_bytes_ = 0, read_bytes_ = 0, looked_bytes_ = 0;
};

}  // namespace galley::store
