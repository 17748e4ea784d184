// NodeBacklog: results of cooks for which the trees of devices have no node yet, in the order in
// which they came.
//
// A node takes about 25 us: to be encoded, hashed and stored with its folders. A cook of 100,000
// small packages takes ten times as much for each, and must not become a tenth slower because a
// device has a session open. So nodes that nobody waits for are made as follows:
//
//   of a small cook    at once, up to kBurst
//   of a large cook    kRate a second, as long as results keep coming
//   after the cook     kBatchMax every kBatchInterval, when no result has come for kQuiet
//
// A package that somebody reads gets its node at once, and does not come here.
//
// Memory: about 100 bytes an entry. Cost: O(1) an entry.
// Threads: none; time is an argument, and never goes back.
// Source: the costs are estimates from those of docs/performance.md, "The store over gRPC".
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace galley::director {

class NodeBacklog {
 public:
  static constexpr size_t kBurst = 1'024;
  static constexpr int kRate = 64;  // nodes a second; after kBurst / kRate seconds kBurst are free
  static constexpr size_t kBatchMax = 8'192;
  static constexpr absl::Duration kBatchInterval = absl::Milliseconds(100);
  static constexpr absl::Duration kQuiet = absl::Seconds(5);

  struct Entry {
    std::string platform;
    std::string package;
    bool operator==(const Entry&) const = default;
  };

  void Add(Entry entry, absl::Time now);
  // Removes and returns the entries of which the nodes are to be made now.
  std::vector<Entry> Take(absl::Time now);
  // When Take next returns some, if no more are added; infinite future: there are none.
  absl::Time due_at() const;
  size_t size() const { return entries_.size(); }

 private:
  static constexpr absl::Duration kNodeTime = absl::Microseconds(1'000'000 / kRate);

  // How many nodes may be made while results keep coming.
  size_t RoomAt(absl::Time now) const;

  std::deque<Entry> entries_;
  absl::Time added_ = absl::InfinitePast();    // the last one
  absl::Time taken_ = absl::InfinitePast();    // the last ones
  absl::Time full_at_ = absl::InfinitePast();  // when there is room for kBurst again
};

}  // namespace galley::director
