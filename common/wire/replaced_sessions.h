// ReplacedSessions: processes of workers whose name another process has by now, as when Slurm ran a
// task again elsewhere. Such a process is refused for good: it may be dead and only its words come
// late, or it was cut off for a while; and two that live would take the name from each other for
// ever. What it had in hand was given to others when its name went. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace galley::wire {

class ReplacedSessions {
 public:
  // False: another process took the name from this one. True: the process has the name from now on.
  // `session`: the number that a process drew (Hello.session); 0: it says none, and has no part in
  // this.
  bool Take(const std::string& name, uint64_t session) {
    if (session == 0) return true;
    Holders& holders = by_name_[name];
    if (std::ranges::find(holders.before, session) != holders.before.end()) return false;
    if (holders.present != 0 && holders.present != session) {
      holders.before.push_back(holders.present);
      if (holders.before.size() > kRememberedMax) holders.before.pop_front();
    }
    holders.present = session;
    return true;
  }

 private:
  static constexpr size_t kRememberedMax = 16;  // of each name
  struct Holders {
    uint64_t present = 0;  // 0: none yet
    std::deque<uint64_t> before;
  };
  std::map<std::string, Holders> by_name_;
};

}  // namespace galley::wire
