// DigestPrefix: finds a digest by its first digits among the digests that were printed, since a
// person may copy only a part.
//
// Pure.
// Cost: O(1) for each offered digest.
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
  // `text`: hex digits, also with a slash and the start of the size; dots at its end belong to a
  // digest that was printed short ("3f9a41..").
  explicit DigestPrefix(std::string_view text);

  // False: the text cannot be a prefix of any digest.
  bool is_valid() const { return is_valid_; }
  // `what`: the thing with this digest, for people: "output of /Game/a.png". The first offer stays.
  void Offer(const Digest& digest, std::string_view what);
  // INVALID_ARGUMENT: no offered digest has the prefix, and the text names `where_listed`; or
  // several have, and the text names them.
  absl::StatusOr<Digest> Found(std::string_view where_listed) const;

 private:
  std::string text_;
  bool is_valid_ = false;
  std::map<Digest, std::string> found_;
};

}  // namespace galley::cli
