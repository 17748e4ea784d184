// Acknowledged: lines of text, one for each thing that a store acknowledged as durable, and a check
// whether a store still has the thing.
//
//   blob <digest>
//   result <action key> <digest of the encoded result>
//   set <weak key> <digest of the set>
//   foreign <action> <digest of the ActionResult>
//   root <platform> <sequence> <root>
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/store/interface/store.h"

namespace galley::store {

inline constexpr std::string_view kDriverInstance = "driver";
inline constexpr std::string_view kDriverProject = "driver";

std::string BlobLine(const Digest& digest);
std::string ResultLine(const PutResult& put);
std::string SetLine(const PutResult& put);
std::string ForeignLine(const PutActionResult& put);
std::string RootLine(const PublishedRoot& root);

// Asks the store for the thing that `line` names. NOT_FOUND: the thing is absent; DATA_LOSS: it is
// different. Any other error is the store's, which could not tell.
absl::Status CheckAcknowledged(Store& store, std::string_view line);
// Whether `status` is a wrong answer, as opposed to no answer.
bool IsWrong(const absl::Status& status);

}  // namespace galley::store
