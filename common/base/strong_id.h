// StrongId<Tag>: a 32-bit index that cannot be mistaken for another kind of index.
//
//   using PackageId = StrongId<struct PackageTag>;
//
// Ids are dense and given out from 0, so they index vectors and chunks. Default-constructed:
// invalid.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace galley {

template <typename Tag>
class StrongId {
 public:
  static constexpr uint32_t kInvalid = UINT32_MAX;

  constexpr StrongId() = default;
  constexpr explicit StrongId(uint32_t value) : value_(value) {}

  constexpr uint32_t value() const { return value_; }
  constexpr size_t index() const { return value_; }
  constexpr bool valid() const { return value_ != kInvalid; }

  constexpr auto operator<=>(const StrongId&) const = default;

  template <typename H>
  friend H AbslHashValue(H h, const StrongId& id) {
    return H::combine(std::move(h), id.value_);
  }

 private:
  uint32_t value_ = kInvalid;
};

}  // namespace galley

template <typename Tag>
struct std::hash<galley::StrongId<Tag>> {
  size_t operator()(const galley::StrongId<Tag>& id) const noexcept { return id.value(); }
};
