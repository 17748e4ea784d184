// StoreSize: the size of the store for the director's status, from the last look. A look at the
// store's index waits for a running commit, so a status never looks: the director looks now and
// then, if somebody asked since the last look.
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
  // Returns the size at the last look; 0: there was none. Makes the next look due.
  uint64_t AskForBytes() {
    is_asked_for_ = true;
    return bytes_;
  }

 private:
  store::StoreAdmin& store_;
  absl::Time looked_at_ = absl::InfinitePast();
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<bool> is_asked_for_ = true;  // somebody asked since the last look
};

}  // namespace galley::director
