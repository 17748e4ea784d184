// Inbox: the messages to the loop of a director. The loop takes messages in the order in which they
// are posted; messages that are left when the director stops are dropped.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "director/core/events.h"

namespace galley::director {

class Inbox {
 public:
  using Task = std::function<void()>;
  virtual ~Inbox() = default;

  // Gives the event to the core. Any thread.
  virtual void PostEvent(Event event) = 0;
  // Runs the task on the loop. Any thread.
  virtual void PostTask(Task task) = 0;
  // Runs `task` on the loop, then calls `then`, which is also called when the message was dropped.
  // No later task of the caller's thread runs before `then`. RunOnLoop must be the last statement
  // of a task, because only the product waits in the call; the simulation has no second thread to
  // wait on. Any thread but the loop's.
  virtual void RunOnLoop(Task task, Task then) {
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> ran = done->get_future();
    PostTask([task = std::move(task), done = std::move(done)] {
      task();
      done->set_value();
    });
    ran.wait();  // also ends when the message is dropped
    then();
  }
  // Gives the event to the core at once, and carries its effects out. Loop thread.
  virtual void HandleNow(const Event& event) = 0;
};

}  // namespace galley::director
