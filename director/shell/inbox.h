// Inbox: the way to the loop of a director, which steps the core. Messages are taken in the order
// in which they are posted; what is posted when the director stops is dropped.
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
  // Has the loop run the task, and waits until it has run or was dropped: what is posted behind the
  // caller on its own thread comes later. Any thread but the loop's. (The simulation has no second
  // thread to wait on: nothing that needs the task may stand behind the call.)
  virtual void RunOnLoop(Task task) {
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> ran = done->get_future();
    PostTask([task = std::move(task), done = std::move(done)] {
      task();
      done->set_value();
    });
    ran.wait();  // it ends, too, when the message is dropped
  }
  // The core takes the event now, and its effects are carried out. Loop thread.
  virtual void StepCore(const Event& event) = 0;
};

}  // namespace galley::director
