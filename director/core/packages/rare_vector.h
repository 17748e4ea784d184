// RareVector: a vector that is mostly empty. An empty RareVector has the size of a pointer, and no
// heap block. `clear` frees the heap block.
//
// Threads: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace galley::director {

template <typename T>
class RareVector {
 public:
  using iterator = T*;
  using const_iterator = const T*;

  RareVector() = default;
  RareVector(RareVector&&) = default;
  RareVector& operator=(RareVector&&) = default;
  RareVector& operator=(std::vector<T> items) {
    if (items.empty()) {
      items_.reset();
    } else {
      items_ = std::make_unique<std::vector<T>>(std::move(items));
    }
    return *this;
  }

  bool empty() const { return size() == 0; }
  size_t size() const { return items_ == nullptr ? 0 : items_->size(); }
  iterator begin() { return items_ == nullptr ? nullptr : items_->data(); }
  iterator end() { return begin() + size(); }
  const_iterator begin() const { return items_ == nullptr ? nullptr : items_->data(); }
  const_iterator end() const { return begin() + size(); }
  T& operator[](size_t i) { return (*items_)[i]; }
  const T& operator[](size_t i) const { return (*items_)[i]; }

  void clear() { items_.reset(); }
  void resize(size_t size) { Items().resize(size); }
  void push_back(T item) { Items().push_back(std::move(item)); }
  void insert(const_iterator at, T item) {
    const std::ptrdiff_t place = at - begin();
    Items().insert(Items().begin() + place, std::move(item));
  }
  template <typename Predicate>
  void EraseIf(Predicate predicate) {
    if (items_ != nullptr) std::erase_if(*items_, predicate);
  }
  // Returns the items; the vector is empty from now on.
  std::vector<T> Take() {
    const std::unique_ptr<std::vector<T>> items = std::move(items_);
    return items == nullptr ? std::vector<T>() : std::move(*items);
  }

 private:
  std::vector<T>& Items() {
    if (items_ == nullptr) items_ = std::make_unique<std::vector<T>>();
    return *items_;
  }

  std::unique_ptr<std::vector<T>> items_;
};

}  // namespace galley::director
