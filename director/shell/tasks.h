// Tasks: runs what takes time away from the director's loop, in the order in which it is posted:
// the product has a thread (TaskThread), the simulation has closures that it schedules.
#pragma once

#include <functional>

namespace galley::director {

class Tasks {
 public:
  virtual ~Tasks() = default;
  // Any thread.
  virtual void Post(std::function<void()> task) = 0;
};

}  // namespace galley::director
