// IndexRemaking: what a person is told of an index that is made anew: a line now and then while it
// takes long, and at the end what was wrong, where it is now, and how long the making took.
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

  // `segments`: what will be read, as far as it is the owner's.
  void Begin(const std::vector<SegmentListing>& segments);
  bool has_begun() const { return begun_ != absl::InfiniteFuture(); }
  // The path at which the damaged one is now.
  void set_aside(std::string path) { aside_ = std::move(path); }
  // So many bytes of a segment were read.
  void NoteRead(uint64_t bytes);
  // Tells that the index is made, and why it had to be.
  void Tell(const absl::Status& why) const;

 private:
  const std::string store_directory_;
  const std::function<absl::Time()> boot_time_;
  std::string aside_;  // empty: there was none
  absl::Time begun_ = absl::InfiniteFuture(), told_;
  uint64_t segment_bytes_ = 0, read_bytes_ = 0, looked_bytes_ = 0;
};

}  // namespace galley::store
