// DigestPrefix: a digest that a person did not copy whole, looked up among those that were printed.
//
// Pure.
// Cost: O(1) for each digest offered.
// Threads: none.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley::cli {

class DigestPrefix {
 public:
  // `text`: hex digits, also with a slash and the beginning of the size; dots at its end are those
  // of a digest that was printed short ("3f9a41..").
  explicit DigestPrefix(std::string_view text);

  // False: it cannot be a prefix of any digest.
  bool is_valid() const { return is_valid_; }
  // `what` it is of, for people: "output of /Game/a.png". The first one that is offered stays.
  void Offer(const Digest& digest, std::string_view what);
  // INVALID_ARGUMENT: none was offered (`where_listed` says where they are printed), or several,
  // which are named.
  absl::StatusOr<Digest> Found(std::string_view where_listed) const;

 private:
  std::string text_;
  bool is_valid_ = false;
  std::map<Digest, std::string> found_;
};

}  // namespace galley::cli
