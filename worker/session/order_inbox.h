// OrderInbox: the orders that other threads have for a thread that polls descriptors.
//
// Threads: Post and Close from any; the other functions from the polling thread.
#pragma once

#include <deque>
#include <functional>

#include "common/base/file.h"
#include "common/base/mutex.h"

namespace galley::worker {

class OrderInbox {
 public:
  using Order = std::function<void()>;

  OrderInbox();

  void Post(Order order);
  // Drops orders that were not taken.
  void Close();

  // Takes the orders since the last call; false: the inbox is closed.
  bool TakeOrders(std::deque<Order>& orders);
  // A descriptor to be polled: readable, until Drain, when there are orders or the inbox was
  // closed.
  int descriptor() const { return wakeup_.get(); }
  void Drain();

 private:
  void Wake();

  const FileDescriptor wakeup_;  // eventfd
  base::Mutex mutex_;
  bool is_closed_ GALLEY_GUARDED_BY(mutex_) = false;
  std::deque<Order> orders_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::worker
