// Tasks: runs long work away from the director's loop, in the order of posting: in the product on a
// thread (TaskThread), in the simulation as scheduled closures.
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
