// Tasks: runs long work away from the director's loop, in the order of posting: the product has a
// thread (TaskThread), the simulation has closures that it schedules.
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
