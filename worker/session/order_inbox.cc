#include "worker/session/order_inbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace galley::worker {

OrderInbox::OrderInbox() : wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void OrderInbox::Post(Order order) {
  {
    const base::MutexLock lock(mutex_);
    orders_.push_back(std::move(order));
    if (orders_.size() > 1) return;  // the thread was woken, and takes all orders
  }
  Wake();
}

void OrderInbox::Close() {
  {
    const base::MutexLock lock(mutex_);
    is_closed_ = true;
  }
  Wake();
}

bool OrderInbox::TakeOrders(std::deque<Order>& orders) {
  orders.clear();
  const base::MutexLock lock(mutex_);
  orders.swap(orders_);
  return !is_closed_;
}

void OrderInbox::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &one, sizeof(one));
}

void OrderInbox::Drain() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t drained = ::read(wakeup_.get(), &count, sizeof(count));
}

}  // namespace galley::worker
