// AddressBook: the addresses of the hosts of one handle. A name is looked up by the system, which
// may take long and cannot be interrupted; so a look-up is done once and kept, and where it fails
// it is not done again for kAgainMs.
//
// "localhost" and the names that end in ".localhost" are this machine, without a look-up.
// Source: RFC 6761, 6.3.
//
// Threads: any. A look-up holds up other threads that want one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace galley::vfs {

class AddressBook {
 public:
  static constexpr uint64_t kAgainMs = 30'000;

  struct Found {
    std::vector<std::string> addresses;  // numeric
    std::string error;                   // why there are none
  };
  using LookUp = std::function<Found(const std::string& host)>;

  // `host`: a name or an address. After NoteUnreached the name is looked up again, at most once in
  // kAgainMs; where that fails, the addresses that are known stay. `now_ms` never goes back.
  Found Find(const std::string& host, uint64_t now_ms, const LookUp& look_up);
  // No address of the host could be connected to: it may have others by now.
  void NoteUnreached(const std::string& host);

 private:
  struct Entry {
    Found found;
    uint64_t looked_up_ms = 0;
    bool is_unreached = false;
  };

  std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // guarded by mutex_
};

}  // namespace galley::vfs
