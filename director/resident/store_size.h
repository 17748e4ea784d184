// StoreSize: how large the store is, for those who ask for the director's status. The store's index
// knows, but a look waits for what is being committed, so no question waits for a look: the
// director looks now and then, if somebody asked since.
//
// Threads: LookIfAsked: one; AskForBytes: any.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "common/store/interface/store_admin.h"

namespace galley::director {

class StoreSize {
 public:
  explicit StoreSize(store::StoreAdmin& store) : store_(store) {}

  void LookIfAsked();
  // As of the last look; 0: there was none. The next look is due.
  uint64_t AskForBytes() {
    is_asked_for_ = true;
    return bytes_;
  }

 private:
  store::StoreAdmin& store_;
  absl::Time looked_at_ = absl::InfinitePast();
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<bool> is_asked_for_ = true;  // since the last look
};

}  // namespace galley::director
