// ReplacedSessions: processes of workers whose name another process has taken, as when Slurm runs a
// task again elsewhere. Such a process is refused for good: it may be dead, and its messages come
// late, or it was cut off for a while; two live processes would take the name from each other for
// ever. The jobs of the process were given to others when it lost the name. Not thread-safe.
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
  // False: another process has taken the name from this process. True: the process has the name
  // from now on. `session`: the number that a process drew (Hello.session); 0: no number, always
  // true.
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
