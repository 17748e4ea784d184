// OrderInbox: what other threads want done on a thread that polls descriptors.
//
// Threads: Post and Close from any; the rest from the thread that polls.
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
  // Orders that were not taken are dropped.
  void Close();

  // The orders since the last call; false: closed.
  bool TakeOrders(std::deque<Order>& orders);
  // To be polled: readable when there are orders, or it was closed, until Drain.
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
