// Inbox: the queue of messages to a director's loop. The loop takes messages in the order of
// posting; messages that are left when the director stops are dropped.
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
  // Runs `task` on the loop, and then calls `then`, also if the message was dropped. No later task
  // of the caller's thread runs before `then`. RunOnLoop must be the last statement of a task: the
  // product waits in the call, but the simulation, which has one thread, does not. Any thread but
  // the loop's.
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
  // Gives the event to the core at once, and carries out its effects. Loop thread.
  virtual void HandleNow(const Event& event) = 0;
};

}  // namespace galley::director
