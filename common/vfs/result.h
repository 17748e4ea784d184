// Result: a value, or why there is none. The library neither throws nor uses absl, so that it can
// be linked into any game.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "common/vfs/galley_vfs.h"

namespace galley::vfs {

// Codes of faults inside the library, beside those of galley_vfs_result.
// kNotCached: the cache does not have a blob, and neither has whoever was asked for it.
// kStopped: whoever took an answer wants no more of it.
// kNotAFile: a link, a folder or a device lies in place of a file.
inline constexpr int kNotCached = -100;
inline constexpr int kStopped = -101;
inline constexpr int kNotAFile = -102;

// Fault: `text` is for people.
struct Fault {
  int code = GALLEY_VFS_INTERNAL;
  std::string text;
  bool is_cut = false;   // a connection ended too early: another try may succeed
  bool is_away = false;  // the director could not be reached, or fell silent
};

template <typename Value>
class [[nodiscard]] Result {
 public:
  Result(Value value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Fault fault) : held_(std::in_place_index<1>, std::move(fault)) {}

  bool ok() const { return held_.index() == 0; }
  // REQUIRES: ok().
  Value& operator*() & { return std::get<0>(held_); }
  const Value& operator*() const& { return std::get<0>(held_); }
  Value&& operator*() && { return std::get<0>(std::move(held_)); }
  Value* operator->() { return &std::get<0>(held_); }
  const Value* operator->() const { return &std::get<0>(held_); }
  // REQUIRES: !ok().
  const Fault& fault() const { return std::get<1>(held_); }

 private:
  std::variant<Value, Fault> held_;
};

// nullopt: it went well.
using Outcome = std::optional<Fault>;

}  // namespace galley::vfs
