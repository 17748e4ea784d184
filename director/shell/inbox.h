// Inbox: what there is to do for the loop of a director. The loop takes messages in the order in
// which they are posted; what is posted when the director stops is dropped.
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

  // The core takes the event. Any thread.
  virtual void PostEvent(Event event) = 0;
  // The loop runs the task. Any thread.
  virtual void PostTask(Task task) = 0;
  // Has the loop run `task`; then `then` is called, also where the message was dropped. No later
  // task of the caller's thread runs before that. The last statement of a task: the product waits
  // in the call; the simulation, which has no second thread to wait on, does not. Any thread but
  // the loop's.
  virtual void RunOnLoop(Task task, Task then) {
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> ran = done->get_future();
    PostTask([task = std::move(task), done = std::move(done)] {
      task();
      done->set_value();
    });
    ran.wait();  // it ends, too, when the message is dropped
    then();
  }
  // The core takes the event now, and its effects are carried out. Loop thread.
  virtual void HandleNow(const Event& event) = 0;
};

}  // namespace galley::director
